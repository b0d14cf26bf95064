package heal

import (
	"slices"
	"strings"

	"tas-service/internal/relocate"
)

// page is the elements of a page, with who contains whom: locators are followed on it as
// Playwright follows them.
type page struct {
	all    []relocate.Element
	testID string         // the attribute that getByTestId looks at
	byPath map[string]int // in all
	kids   map[string][]int
}

func newPage(all []relocate.Element, testID string) *page {
	p := &page{all: all, testID: testID, byPath: make(map[string]int, len(all)), kids: make(map[string][]int, len(all))}
	for i := range all {
		p.byPath[all[i].Path] = i
		up := upper(all[i].Path)
		p.kids[up] = append(p.kids[up], i)
	}
	return p
}

func upper(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return ""
}

// parent answers the element that one is in, -1 for none.
func (p *page) parent(at int) int {
	if up, ok := p.byPath[upper(p.all[at].Path)]; ok && up != at {
		return up
	}
	return -1
}

// before answers the elements before one in its parent, the nearest first.
func (p *page) before(at int) []int {
	all := p.kids[upper(p.all[at].Path)]
	out := slices.Clone(all[:max(0, slices.Index(all, at))])
	slices.Reverse(out)
	return out
}

// within reports whether one element is in another one.
func (p *page) within(at, scope int) bool {
	return strings.HasPrefix(p.all[at].Path, p.all[scope].Path+"/")
}

// found is what a locator finds: what each of its parts leaves, up to the first one of which
// that is not known.
type found struct {
	sets  [][]int // by part
	known bool    // all parts are
}

// last answers what the whole locator finds; nil where it is not known.
func (f found) last() []int {
	if !f.known || len(f.sets) == 0 {
		return nil
	}
	return f.sets[len(f.sets)-1]
}

// find follows a locator.
func (p *page) find(parts []Part) found {
	f := found{known: true}
	var scope []int
	for i := range parts {
		set, known := p.step(&parts[i], scope, i == 0)
		if !known {
			f.known = false
			return f
		}
		f.sets = append(f.sets, set)
		scope = set
	}
	return f
}

// step answers what one part finds in what the parts before it found.
func (p *page) step(part *Part, scope []int, first bool) (out []int, known bool) {
	switch part.method {
	case "first", "last", "nth":
		at, ok := part.place(len(scope))
		switch {
		case !ok:
			return nil, false
		case at < 0 || at >= len(scope):
			return nil, true
		}
		return []int{scope[at]}, true
	case "filter":
		return p.filter(part, scope)
	}
	own, known := p.own(part)
	if !known {
		return nil, false
	}
	if first {
		return own, true
	}
	for _, at := range own {
		if slices.ContainsFunc(scope, func(s int) bool { return p.within(at, s) }) {
			out = append(out, at)
		}
	}
	return out, true
}

// own answers what a part finds on the whole page.
func (p *page) own(part *Part) (out []int, known bool) {
	if part.method == "locator" {
		if !part.plain || part.more {
			return nil, false
		}
		s, ok := parseCSS(part.text)
		if !ok || !s.known() {
			return nil, false
		}
		for i := range p.all {
			if s.matches(p, i) {
				out = append(out, i)
			}
		}
		return out, true
	}
	for i := range p.all {
		ok, k := part.finds(&p.all[i])
		known = known || k
		if part.method == "getByLabel" && !labelled(&p.all[i]) {
			continue
		}
		if ok {
			out = append(out, i)
		}
	}
	if part.method == "getByText" { // the innermost elements that hold it
		out = slices.DeleteFunc(slices.Clone(out), func(at int) bool {
			return slices.ContainsFunc(out, func(o int) bool { return o != at && p.within(o, at) })
		})
	}
	return out, known || len(p.all) == 0 && part.plain
}

// labelled reports whether an element has a label that getByLabel goes by: fields whose name
// is not only their placeholder or title, and what is labelled in so many words.
func labelled(e *relocate.Element) bool {
	if e.Name != "" && (e.Name == e.Hint || e.Name == e.Title) && e.Attributes["aria-label"] != e.Name {
		return false
	}
	switch e.Tag {
	case "input", "select", "textarea", "meter", "progress", "output":
		return true
	}
	return e.Attributes["aria-label"] != "" || e.Attributes["aria-labelledby"] != ""
}

// filter leaves those that hold a text, or something that another locator finds.
func (p *page) filter(part *Part, scope []int) (out []int, known bool) {
	for _, at := range scope {
		e := &p.all[at]
		switch {
		case part.hasText != "":
			if !contains(e.Text, part.hasText) {
				if len([]rune(e.Text)) >= longText {
					return nil, false // there is more of it than is kept
				}
				continue
			}
		case len(part.has) > 0:
			f := p.find(part.has)
			if !f.known {
				return nil, false
			}
			if !slices.ContainsFunc(f.last(), func(o int) bool { return p.within(o, at) }) {
				continue
			}
		default:
			return nil, false
		}
		out = append(out, at)
	}
	return out, part.hasText != "" || len(part.has) > 0
}

// longText is from where on a text of an element may have been cut.
const longText = 195

// narrows reports whether a part leaves some of what was found instead of finding something
// in it.
func (part *Part) narrows() bool {
	switch part.method {
	case "filter", "first", "last", "nth", "and", "or":
		return true
	}
	return false
}

// contains reports whether a text has another one in it, as Playwright compares them.
func contains(s, want string) bool {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	return strings.Contains(fold(s), fold(want))
}
