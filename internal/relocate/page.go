package relocate

import (
	"math"
	"strings"
)

// Page is the elements of a page, prepared for comparing: words are cut, counted and hashed
// once. It may be used by many at once and is not changed after Prepare.
type Page struct {
	elements []prepared
	count    map[word]int // in how many elements a word is, over all that is compared
	labels   map[word]int // how many elements have a label
	owners   map[word]int // how many have a test ID, ID, name or address
	// signatures are the elements by all that is known of them but their place.
	signatures map[word][]int
	paths      map[string]int
	sorts      map[word][]int // by tag, role and type
	called     map[word][]int // by label
	rows       map[string]bool
	forms      map[string]bool
	height     float64 // the lowest edge that is known
	width      float64
}

// prepared is an element with all that is read from it again and again.
type prepared struct {
	*Element
	tag       word
	kind      kind
	role      string
	label     string
	labelHash word
	text      weighed // words of the label
	grams     bag     // of the label
	idWords   weighed
	classes   weighed // whole classes
	classWord weighed // the words in them
	all       weighed // every word that says what it is
	aux       weighed // title, alt, hint, value, other attributes
	near      weighed
	anchor    weighed // words of the identifier that its path begins at
	region    region
	href      string
	hrefTail  weighed
	steps     []step
	sign      word
}

// Prepare reads the elements of a page. Order does not matter.
func Prepare(elements []Element) *Page {
	p := &Page{elements: make([]prepared, len(elements)), count: map[word]int{}, labels: map[word]int{}, owners: map[word]int{}, signatures: make(map[word][]int, len(elements)), paths: make(map[string]int, len(elements)), sorts: map[word][]int{}, called: map[word][]int{}, rows: map[string]bool{}, forms: map[string]bool{}}
	for i := range elements {
		p.elements[i] = prepare(&elements[i])
		e := &p.elements[i]
		for _, w := range e.all.bag {
			p.count[w]++
		}
		for _, w := range e.classes.bag {
			p.count[w]++
		}
		for _, w := range e.near.bag {
			if _, has := p.count[w]; !has {
				p.count[w] = 1
			}
		}
		if e.label != "" {
			p.labels[e.labelHash]++
			p.called[e.labelHash] = append(p.called[e.labelHash], i)
		}
		for _, s := range e.identifiers() {
			if s != "" {
				p.owners[hashOf(s)]++
			}
		}
		if e.RowKey != "" {
			p.rows[plain(e.RowKey)] = true
		}
		if e.Form != "" {
			p.forms[e.Form] = true
		}
		e.sign = signature(e)
		p.signatures[e.sign] = append(p.signatures[e.sign], i)
		if e.Path != "" {
			p.paths[e.Path] = i
		}
		p.sorts[sortOf(e)] = append(p.sorts[sortOf(e)], i)
		if b := e.Box; b != nil {
			p.height, p.width = max(p.height, b.Y+b.Height), max(p.width, b.X+b.Width)
		}
	}
	for i := range p.elements {
		p.weigh(&p.elements[i])
	}
	return p
}

// Len answers how many elements the page has.
func (p *Page) Len() int { return len(p.elements) }

// Element answers one of them.
func (p *Page) Element(i int) *Element { return p.elements[i].Element }

func (p *Page) weigh(e *prepared) {
	n := float64(len(p.elements))
	for _, b := range []*weighed{&e.text, &e.idWords, &e.classes, &e.classWord, &e.all, &e.aux, &e.near, &e.anchor, &e.hrefTail} {
		if len(b.bag) == 0 {
			continue
		}
		b.weight, b.total = make([]float64, len(b.bag)), 0
		for i, w := range b.bag {
			b.weight[i] = 0.3 + math.Log((n+2)/(float64(p.count[w])+1))
			b.total += b.weight[i]
		}
	}
}

func prepare(e *Element) prepared {
	out := prepared{Element: e, tag: hashOf(strings.ToLower(e.Tag)), role: roleOf(e), steps: stepsOf(e.Path)}
	out.kind = kindOf(e, out.role)
	label := e.label()
	out.label = plain(label)
	out.labelHash = hashOf(out.label)
	words := split(label)
	if len(words) > 40 {
		words = words[:40]
	}
	out.text.bag = bagOf(words)
	out.grams = trigrams(out.label)
	id := e.TestID
	if id == "" {
		id = e.ID
	}
	if !made(id) {
		out.idWords.bag = bagOf(stable(id + " " + e.NameAttr))
	}
	var kept []string
	for _, c := range strings.Fields(e.Class) {
		if !made(c) {
			kept = append(kept, c)
		}
	}
	whole := make([]string, len(kept))
	for i, c := range kept {
		whole[i] = "." + c
	}
	out.classes.bag = bagOf(whole)
	out.classWord.bag = bagOf(stable(strings.Join(kept, " ")))
	aux := []string{e.Title, e.Alt, e.Hint}
	for name, value := range e.Attributes {
		if len(value) < 200 {
			aux = append(aux, name+"="+value)
		}
	}
	if e.Value != label {
		aux = append(aux, e.Value)
	}
	out.aux.bag = bagOf(split(strings.Join(aux, " ")))
	anchor := anchorWords(e)
	out.anchor.bag, out.region = bagOf(anchor), regionsOf(e, anchor)
	out.href = addressOf(e.Href)
	out.hrefTail.bag = bagOf(stable(tailOf(out.href)))
	var nearby []string
	for _, t := range append(append([]string{e.RowKey, e.Landmark}, e.Headings...), e.Near...) {
		nearby = append(nearby, split(t)...)
		if len(nearby) > 60 {
			break
		}
	}
	out.near.bag = bagOf(nearby)
	out.all.bag = union(out.text.bag, out.idWords.bag, out.classWord.bag, out.aux.bag, out.hrefTail.bag)
	return out
}

// addressOf answers an address without what changes though the place does not: the scheme, the
// host's "www", a query's or fragment's values, a closing slash, the archive that it was read from.
func addressOf(href string) string {
	href = strings.ToLower(strings.TrimSpace(href))
	if strings.HasPrefix(href, "javascript:") || href == "#" {
		return ""
	}
	for _, p := range []string{"https:", "http:", "//", "web.archive.org", "www."} {
		href = strings.TrimPrefix(href, p)
	}
	if strings.HasPrefix(href, "/web/") {
		if _, rest, ok := strings.Cut(href[len("/web/"):], "/"); ok {
			return addressOf(rest)
		}
	}
	href, _, _ = strings.Cut(href, "#")
	return strings.TrimSuffix(href, "/")
}

// tailOf answers the path of an address, without its host.
func tailOf(address string) string {
	address, _, _ = strings.Cut(address, "?")
	if host, path, ok := strings.Cut(address, "/"); ok {
		if path == "" {
			return host
		}
		return path
	}
	return address
}

// kind is what sort of control an element is, coarser than its tag.
type kind int

const (
	other kind = iota
	press      // something to press: links, buttons and what is drawn inside them
	field      // something to type into or choose from
	heading
	box // a container or plain text, which may be any of them
)

// takes reports whether something can be typed into an element, or chosen from it, as far as is
// known: what is no field may still be edited.
func takes(e *prepared) bool {
	return e.kind == field || e.kind == other || e.Attributes["contenteditable"] != "" || e.Attributes["tabindex"] != ""
}

func roleOf(e *Element) string {
	if e.Role != "" {
		return strings.ToLower(e.Role)
	}
	switch strings.ToLower(e.Tag) {
	case "a":
		return "link"
	case "button", "summary":
		return "button"
	case "select":
		return "combobox"
	case "textarea":
		return "textbox"
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return "heading"
	case "input":
		switch strings.ToLower(e.Type) {
		case "submit", "button", "image", "reset":
			return "button"
		case "checkbox", "radio":
			return strings.ToLower(e.Type)
		case "":
			return "" // the attribute may only be unknown
		default:
			return "textbox"
		}
	}
	return ""
}

func kindOf(e *Element, role string) kind {
	switch role {
	case "link", "button", "menuitem", "tab", "switch":
		return press
	case "textbox", "searchbox", "combobox", "checkbox", "radio", "spinbutton", "slider", "listbox":
		return field
	case "heading":
		return heading
	}
	switch strings.ToLower(e.Tag) {
	case "input":
		return other
	case "svg", "img", "i", "path":
		return press
	case "div", "span", "li", "td", "p", "label", "th", "dt", "dd", "ul", "tr", "section", "nav":
		return box
	}
	return other
}
