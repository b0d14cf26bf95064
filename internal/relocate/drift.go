package relocate

import (
	"slices"
	"strings"
)

// What is known of an element that changed a little on a page that hardly changed, as from one
// commit to the next. The weights are learned from pages years apart, on which such elements
// are few; these two rules are about the others.

// signature answers all by which an element is known but its place and its looks: classes are
// renamed by the page.
func signature(e *prepared) word {
	return hashOf(strings.Join([]string{e.Tag, e.role, e.label, e.TestID, e.ID, e.NameAttr, e.href, e.Type, e.RowKey, e.Form}, "\x00"))
}

// settled reports whether a candidate is an old element other than the target, of which
// nothing changed: the only one like this on both pages, or at the same place among as many
// as before. The target cannot be it: occupancy.
func (f *Finder) settled(target, now *prepared) bool {
	if !hasName(now) {
		return false // a box that nothing tells from others
	}
	was := f.old.signatures[now.sign]
	if len(was) == 0 || len(was) != len(f.now.signatures[now.sign]) || target.sign == now.sign {
		return false
	}
	if len(was) == 1 {
		return true
	}
	return slices.ContainsFunc(was, func(o int) bool { return now.Path != "" && f.old.elements[o].Path == now.Path })
}

// stayed reports whether a candidate is another old element, just like the target, which stands
// where it stood as it was, while another one of the target's sort stands where the target stood.
func (f *Finder) stayed(target, now *prepared) bool {
	other, there := f.old.paths[now.Path]
	own, still := f.now.paths[target.Path]
	if !there || !still || now.Path == target.Path || target.sign != now.sign || f.old.elements[other].sign != now.sign {
		return false
	}
	e := &f.now.elements[own]
	return e.Tag == target.Tag && e.role == target.role && e.sign != target.sign
}

// identifiers are what a program names an element by, "" for what it has not.
func (e *prepared) identifiers() [4]string { return [...]string{e.TestID, e.ID, e.NameAttr, e.href} }

// hasName reports whether an element has something by which it can be told from others.
func hasName(e *prepared) bool {
	return e.label != "" || e.identifiers() != [4]string{}
}

// itself reports whether a candidate is the only one on its page of which nothing but its place
// among its siblings, or that it was wrapped, and its looks differs from the target, as the target
// was the only one on its own.
func (f *Finder) itself(target, now *prepared) bool {
	return target.sign == now.sign && hasName(now) && len(f.old.signatures[now.sign]) == 1 && len(f.now.signatures[now.sign]) == 1 &&
		len(target.steps) > 1 && len(target.steps) <= len(now.steps) && common(target.steps, now.steps) >= len(target.steps)-1
}

// driftedP is the probability of an element of which little changed.
const driftedP = 0.98

// drifted reports whether so much of an element stayed as it was that what changed does not
// matter: it is of the same sort, in the same row and form, and enough of what names it or
// tells its place is the same. Neither words nor a place are enough by themselves.
func drifted(old, now *prepared, oldPage, newPage *Page) bool {
	same := old.label != "" && old.label == now.label
	// A control may have become a plain box that still can be pressed.
	plainBox := old.kind == press && now.kind == box && same && (now.Attributes["tabindex"] != "" || old.Class != "" && old.Class == now.Class)
	if !plainBox && (old.kind != now.kind || old.role != now.role && !(same && (old.kind == press || old.kind == box))) {
		return false
	}
	if differ(old.RowKey, now.RowKey) || differ(old.Form, now.Form) && !same || differ(pathOf(old.href), pathOf(now.href)) && !same {
		return false
	}
	ids, had, kept := 0, 0, 0
	there := now.identifiers()
	for i, id := range old.identifiers() {
		had, kept = had+int(bit(id != "")), kept+int(bit(id != "" && id == there[i]))
		if id != "" && id == there[i] && oldPage.only(id) && newPage.only(id) {
			ids++
		}
	}
	placed := 0
	for _, p := range [][2]string{{old.Path, now.Path}, {old.Class, now.Class}, {old.RowKey, now.RowKey}, {old.Form, now.Form}, {old.Landmark, now.Landmark}} {
		if p[0] != "" && p[0] == p[1] {
			placed++
		}
	}
	if near, _ := share(&old.near, &now.near); near > 0.6 {
		placed++
	}
	if len(old.steps) > 1 && len(old.steps) == len(now.steps) && common(old.steps, now.steps) == len(old.steps)-1 {
		placed++ // in the same parent, among its children of another place or sort
	}
	if old.tag == now.tag && old.Class == now.Class && wrapped(old.steps, now.steps) {
		placed++
	}
	if _, part := share(&old.text, &now.text); !same && part > 0.9 && len(old.text.bag) > 1 {
		placed++ // its words and more, or some of them
	}
	if oldPage.Len() == 1 { // nothing is known of the others, so only an identifier tells it from them
		return ids > 0 && same && placed >= 2
	}
	alone := lone(old, now, oldPage, newPage)
	switch {
	case plainBox:
		return placed >= 3
	case ids > 0:
		return same || alone || placed >= 3
	case same && oldPage.apart(old) && placed >= 3:
		return true // as it was, and where it was; if its like came, then elsewhere
	case same && old.Path != "" && old.Path == now.Path && placed >= 4 && oldPage.labels[old.labelHash] == newPage.labels[now.labelHash]:
		return true // one of several as before, in its place
	case same && oldPage.apart(old) && newPage.apart(now):
		return old.role == now.role && placed >= 1 || alone || placed >= 3
	case same || old.label == "" && now.label == "":
		return alone && placed >= 1
	}
	// Other words: something else that names it must have stayed, if anything did, or it stands
	// where it stood.
	return alone && placed >= 3 && (had == 0 || kept > 0 || old.Path != "" && old.Path == now.Path)
}

// renamed reports whether nothing that named an element names another one: neither an
// identifier, nor its words or most of them. What had no name to lose counts as renamed where
// its class is not its own either.
func renamed(old, now *prepared) bool {
	names, there := [][2]string{{old.label, now.label}}, now.identifiers()
	for i, id := range old.identifiers() {
		names = append(names, [2]string{id, there[i]})
	}
	if old.label == "" || now.label == "" { // what people call it is what else it says
		names = append(names, [][2]string{{old.Text, now.Text}, {old.Hint, now.Hint}, {old.Title, now.Title}, {old.Alt, now.Alt}}...)
	}
	for _, p := range names {
		if p[0] != "" && p[0] == p[1] {
			return false
		}
	}
	if old.label == "" && now.label == "" && old.Class != "" && old.Class == now.Class {
		return false
	}
	if old.identifiers() != [4]string{} {
		return true // it lost its identifiers, and its words are others
	}
	both, contained := share(&old.text, &now.text)
	return both < 0.6 && contained < 0.99
}

// relabelled reports whether a candidate is another old element that only has another name now:
// it stands where that one stood, as that one is, and the target was of another look.
func (f *Finder) relabelled(target, now *prepared) bool {
	i, there := f.old.paths[now.Path]
	if !there || now.Path == target.Path {
		return false
	}
	was := &f.old.elements[i]
	like := func(e *prepared) bool {
		return e.Tag == now.Tag && e.role == now.role && e.Class == now.Class && e.ID == now.ID && e.TestID == now.TestID && e.href == now.href && e.RowKey == now.RowKey && e.Form == now.Form
	}
	return was.label != now.label && hasName(was) && like(was) && !like(target)
}

func differ(a, b string) bool { return a != "" && b != "" && plain(a) != plain(b) }

// lone reports whether of all elements of a sort these two alone changed: there are as many as
// before, and each other one is as it was, but for its looks and identifiers.
func lone(old, now *prepared, oldPage, newPage *Page) bool {
	a, b := oldPage.sorts[sortOf(old)], newPage.sorts[sortOf(now)]
	if old.tag != now.tag || len(a) != len(b) {
		return false
	}
	for _, o := range a {
		if e := &oldPage.elements[o]; e != old && !newPage.hasLike(e) {
			return false
		}
	}
	for _, n := range b {
		if e := &newPage.elements[n]; e != now && !oldPage.hasLike(e) {
			return false
		}
	}
	return true
}

// hasLike reports whether a page has an element of the same words, or of the same signature
// where it has no words: identifiers are renamed by the page as well.
func (p *Page) hasLike(e *prepared) bool {
	if len(p.signatures[e.sign]) > 0 {
		return true
	}
	return e.label != "" && slices.ContainsFunc(p.called[e.labelHash], func(i int) bool {
		o := &p.elements[i]
		return o.tag == e.tag && o.role == e.role && o.Type == e.Type && o.href == e.href && o.RowKey == e.RowKey && o.Form == e.Form
	})
}

// apart reports whether words tell an element from all others of its kind on a page: what
// contains it or is in it does not count, nor what is in another row.
func (p *Page) apart(e *prepared) bool {
	for _, i := range p.called[e.labelHash] {
		o := &p.elements[i]
		if o != e && o.kind == e.kind && !related(o.steps, e.steps) && !differ(o.RowKey, e.RowKey) {
			return false
		}
	}
	return true
}

// sortOf answers what elements of one sort share.
func sortOf(e *prepared) word { return hashOf(e.Tag + "\x00" + e.role + "\x00" + e.Type) }

// only reports whether an identifier or address is that of one element alone.
func (p *Page) only(s string) bool { return p.owners[hashOf(s)] == 1 }
