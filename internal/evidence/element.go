package evidence

import (
	"fmt"
	"slices"
	"strings"

	"tas-service/internal/relocate"
)

// maxElements bounds the elements of a page that are kept; maxText what is kept of a text,
// in characters.
const (
	maxElements = 5000
	maxText     = 200
	maxNear     = 4
)

// unseen are elements that nobody sees and no locator means.
var unseen = []string{"script", "style", "meta", "link", "head", "base", "title", "noscript", "template", "br", "wbr", "source", "track", "param", "path", "g", "defs", "use", "symbol", "circle", "rect", "line", "polyline", "polygon"}

// reader makes elements of a page's nodes.
type reader struct {
	testID string
	byID   map[string]*Node
	labels map[string]string // texts of <label for=…>, by the ID that they are for
	out    []relocate.Element
	nodes  []*Node // of out
	heads  []string
	levels []int
	more   bool
}

// elements answers a page's elements in the order of the document, and which of them is the
// target, -1 for none.
func elements(root *Node, testID string, box *relocate.Box) (all []relocate.Element, target int, more bool) {
	r := &reader{testID: testID, byID: map[string]*Node{}, labels: map[string]string{}}
	r.index(root)
	r.walk(root, "", "", false)
	target = -1
	for i, n := range r.nodes {
		if n.target && target < 0 {
			target = i
			r.out[i].Box = box
		}
	}
	return r.out, target, r.more
}

// index finds what others refer to.
func (r *reader) index(n *Node) {
	if id := n.Attrs["id"]; id != "" && r.byID[id] == nil {
		r.byID[id] = n
	}
	if to := n.Attrs["for"]; n.Tag == "label" && to != "" && r.labels[to] == "" {
		r.labels[to] = labelText(n)
	}
	for _, k := range n.Kids {
		r.index(k)
	}
}

// walk goes through the elements. path is that of the parent, anchored the same from the
// nearest ancestor with an ID.
func (r *reader) walk(n *Node, path, anchored string, hidden bool) {
	if n.Tag == "" || slices.Contains(unseen, n.Tag) {
		return
	}
	step := fmt.Sprintf("/%s[%d]", n.Tag, place(n))
	path += step
	if anchored += step; n.Attrs["id"] != "" {
		anchored = fmt.Sprintf("id(%q)", n.Attrs["id"])
	}
	hidden = hidden || isHidden(n)
	if len(r.out) >= maxElements {
		r.more = true
		return
	}
	r.out = append(r.out, r.element(n, path, anchored, hidden))
	r.nodes = append(r.nodes, n)
	if level := headingLevel(n); level > 0 {
		for len(r.levels) > 0 && r.levels[len(r.levels)-1] >= level {
			r.levels, r.heads = r.levels[:len(r.levels)-1], r.heads[:len(r.heads)-1]
		}
		r.levels, r.heads = append(r.levels, level), append(r.heads, text(n))
	}
	for _, k := range n.Kids {
		r.walk(k, path, anchored, hidden)
	}
}

// place counts from 1 among the siblings of the same name, as XPath does.
func place(n *Node) int {
	at := 1
	if n.Parent == nil {
		return at
	}
	for _, k := range n.Parent.Kids {
		if k == n {
			break
		}
		if k.Tag == n.Tag {
			at++
		}
	}
	return at
}

func (r *reader) element(n *Node, path, anchored string, hidden bool) relocate.Element {
	a := n.Attrs
	e := relocate.Element{Key: path, Tag: n.Tag, Role: roleOf(n), TestID: a[r.testID], ID: a["id"], Class: a["class"], NameAttr: a["name"], Type: strings.ToLower(a["type"]),
		Href: a["href"], Alt: a["alt"], Title: a["title"], Hint: a["placeholder"], Text: clip(text(n)), OwnText: clip(ownText(n)), Path: path, Anchored: anchored,
		Hidden: hidden, Disabled: isDisabled(n), Landmark: landmarkOf(n), RowKey: rowKey(n), Form: formOf(n), Near: near(n)}
	if n.Tag == "input" && (e.Type == "submit" || e.Type == "button" || e.Type == "reset") {
		e.Value = clip(a["value"])
	}
	e.Name = clip(r.nameOf(n, e.Role))
	for i := len(r.heads) - 1; i >= 0; i-- {
		e.Headings = append(e.Headings, clip(r.heads[i]))
	}
	for name, value := range a {
		if strings.HasPrefix(name, "__playwright") || known[name] || name == r.testID || name == "style" || value == "" || strings.HasPrefix(name, "on") {
			continue
		}
		if e.Attributes == nil {
			e.Attributes = map[string]string{}
		}
		e.Attributes[name] = clip(value)
	}
	return e
}

// known are the attributes that elements have fields for, and values, which people type.
var known = map[string]bool{"id": true, "class": true, "name": true, "type": true, "href": true, "alt": true, "title": true, "placeholder": true, "value": true, "disabled": true, "hidden": true}

// nameOf answers the accessible name, by the steps of "Accessible Name and Description
// Computation" (W3C) that a snapshot allows: no styles, no generated content.
func (r *reader) nameOf(n *Node, role string) string {
	a := n.Attrs
	if ids := strings.Fields(a["aria-labelledby"]); len(ids) > 0 {
		var parts []string
		for _, id := range ids {
			if to := r.byID[id]; to != nil {
				parts = append(parts, text(to))
			}
		}
		if s := strings.TrimSpace(strings.Join(parts, " ")); s != "" {
			return s
		}
	}
	if s := strings.TrimSpace(a["aria-label"]); s != "" {
		return s
	}
	switch n.Tag {
	case "img", "area":
		if a["alt"] != "" {
			return a["alt"]
		}
	case "input", "select", "textarea", "meter", "progress", "output":
		switch strings.ToLower(a["type"]) {
		case "submit", "button", "reset":
			return first(a["value"], a["title"])
		case "image":
			return first(a["alt"], a["title"])
		}
		if s := r.labels[a["id"]]; a["id"] != "" && s != "" {
			return s
		}
		for p := n.Parent; p != nil; p = p.Parent {
			if p.Tag == "label" {
				return labelText(p)
			}
		}
		return first(a["title"], a["placeholder"])
	case "fieldset", "table", "figure":
		inner := map[string]string{"fieldset": "legend", "table": "caption", "figure": "figcaption"}[n.Tag]
		for _, k := range n.Kids {
			if k.Tag == inner {
				return text(k)
			}
		}
	}
	if fromContent[role] {
		if s := text(n); s != "" {
			return s
		}
	}
	return a["title"]
}

func first(all ...string) string {
	for _, s := range all {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}

// fromContent are the roles that are named by what they hold.
var fromContent = map[string]bool{"button": true, "link": true, "heading": true, "cell": true, "columnheader": true, "rowheader": true, "row": true, "option": true, "tab": true,
	"menuitem": true, "menuitemcheckbox": true, "menuitemradio": true, "checkbox": true, "radio": true, "switch": true, "treeitem": true, "tooltip": true, "gridcell": true}

// roleOf answers the role of accessibility: the one that is written, or the element's own.
func roleOf(n *Node) string {
	if r := strings.Fields(n.Attrs["role"]); len(r) > 0 {
		return strings.ToLower(r[0])
	}
	switch n.Tag {
	case "a", "area":
		if _, ok := n.Attrs["href"]; ok {
			return "link"
		}
	case "input":
		return inputRole(n)
	case "select":
		if _, many := n.Attrs["multiple"]; many {
			return "listbox"
		}
		return "combobox"
	case "section", "form":
		if n.Attrs["aria-label"] != "" || n.Attrs["aria-labelledby"] != "" {
			return map[string]string{"section": "region", "form": "form"}[n.Tag]
		}
	case "header", "footer":
		for p := n.Parent; p != nil; p = p.Parent {
			if slices.Contains([]string{"article", "aside", "main", "nav", "section"}, p.Tag) {
				return ""
			}
		}
	case "th":
		return headerRole(n)
	case "img":
		if alt, ok := n.Attrs["alt"]; ok && alt == "" {
			return "presentation"
		}
	}
	return ownRoles[n.Tag]
}

// headerRole answers which header a cell of a table is: of what it says it is one, else of the row
// where a plain cell is beside it.
func headerRole(n *Node) string {
	switch strings.ToLower(n.Attrs["scope"]) {
	case "row", "rowgroup":
		return "rowheader"
	case "col", "colgroup":
		return "columnheader"
	}
	if n.Parent != nil && slices.ContainsFunc(n.Parent.Kids, func(k *Node) bool { return k.Tag == "td" && text(k) != "" }) {
		return "rowheader"
	}
	return "columnheader"
}

func inputRole(n *Node) string {
	switch t := strings.ToLower(n.Attrs["type"]); t {
	case "button", "submit", "reset", "image":
		return "button"
	case "checkbox", "radio":
		return t
	case "range":
		return "slider"
	case "number":
		return "spinbutton"
	case "hidden", "file", "color", "date", "datetime-local", "month", "time", "week", "password":
		return ""
	case "search":
		return "searchbox"
	}
	if n.Attrs["list"] != "" {
		return "combobox"
	}
	return "textbox"
}

// ownRoles are the roles that elements have by themselves (HTML Accessibility API Mappings, W3C).
var ownRoles = map[string]string{"button": "button", "textarea": "textbox", "h1": "heading", "h2": "heading", "h3": "heading", "h4": "heading", "h5": "heading", "h6": "heading", "img": "img",
	"nav": "navigation", "main": "main", "header": "banner", "footer": "contentinfo", "aside": "complementary", "search": "search", "ul": "list", "ol": "list", "menu": "list", "li": "listitem",
	"table": "table", "tr": "row", "td": "cell", "th": "columnheader", "thead": "rowgroup", "tbody": "rowgroup", "tfoot": "rowgroup", "dialog": "dialog", "option": "option", "article": "article",
	"fieldset": "group", "details": "group", "progress": "progressbar", "meter": "meter", "output": "status", "p": "paragraph", "hr": "separator", "figure": "figure", "dt": "term", "dd": "definition"}

func headingLevel(n *Node) int {
	if len(n.Tag) == 2 && n.Tag[0] == 'h' && n.Tag[1] >= '1' && n.Tag[1] <= '6' {
		return int(n.Tag[1] - '0')
	}
	if strings.EqualFold(n.Attrs["role"], "heading") {
		if l := n.Attrs["aria-level"]; len(l) == 1 && l[0] >= '1' && l[0] <= '9' {
			return int(l[0] - '0')
		}
		return 2
	}
	return 0
}

// isHidden goes by what is written; a snapshot has no computed styles.
func isHidden(n *Node) bool {
	a := n.Attrs
	if _, ok := a["hidden"]; ok || strings.EqualFold(a["type"], "hidden") || a["aria-hidden"] == "true" {
		return true
	}
	style := strings.ReplaceAll(strings.ToLower(a["style"]), " ", "")
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

func isDisabled(n *Node) bool {
	for p := n; p != nil; p = p.Parent {
		_, off := p.Attrs["disabled"]
		if off && (p == n || p.Tag == "fieldset") || p.Attrs["aria-disabled"] == "true" {
			return true
		}
	}
	return false
}

var landmarks = map[string]bool{"banner": true, "complementary": true, "contentinfo": true, "form": true, "main": true, "navigation": true, "region": true, "search": true, "dialog": true, "alertdialog": true}

// landmarkOf answers the nearest region, with its name where it has one.
func landmarkOf(n *Node) string {
	for p := n.Parent; p != nil; p = p.Parent {
		if role := roleOf(p); landmarks[role] {
			return strings.TrimSpace(role + " " + p.Attrs["aria-label"])
		}
	}
	return ""
}

// rowKey answers what tells the row of a table or list that an element is in from the others: the
// first text of a table's row, elsewhere the heading or the first text, that is not the element's
// own.
func rowKey(n *Node) string {
	for p := n.Parent; p != nil; p = p.Parent {
		role := roleOf(p)
		switch role {
		case "row", "listitem", "article", "treeitem":
		default:
			continue
		}
		var found, head string
		var visit func(k *Node)
		visit = func(k *Node) {
			if k == n || head != "" || role == "row" && found != "" {
				return
			}
			if headingLevel(k) > 0 {
				head = text(k)
				return
			}
			if k.Tag == "" && found == "" {
				found = strings.TrimSpace(k.Text)
			}
			for _, x := range k.Kids {
				visit(x)
			}
		}
		visit(p)
		if role == "row" {
			head, found = found, head // headings of its cells name what the cells hold
		}
		if s := first(head, found); s != "" {
			return clip(s)
		}
	}
	return ""
}

func formOf(n *Node) string {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Tag == "form" {
			return clip(first(p.Attrs["id"], p.Attrs["name"], p.Attrs["aria-label"], p.Attrs["action"], "form"))
		}
	}
	return ""
}

// near answers the texts that stand beside an element, the nearest first.
func near(n *Node) (out []string) {
	for at := n; at.Parent != nil && len(out) < maxNear; at = at.Parent {
		i := slices.Index(at.Parent.Kids, at)
		for d := 1; d <= 2 && len(out) < maxNear; d++ {
			for _, j := range []int{i - d, i + d} {
				if j < 0 || j >= len(at.Parent.Kids) {
					continue
				}
				if slices.Contains(unseen, at.Parent.Kids[j].Tag) {
					continue
				}
				if s := text(at.Parent.Kids[j]); s != "" && !slices.Contains(out, clip(s)) && len(out) < maxNear {
					out = append(out, clip(s))
				}
			}
		}
	}
	return out
}

// text answers what is to be read of a node, with blanks folded.
func text(n *Node) string { return textBut(n) }

// labelText answers what a label says beside the fields that are in it.
func labelText(n *Node) string {
	return textBut(n, "select", "textarea", "output", "meter", "progress")
}

// textBut answers a text without that of some elements.
func textBut(n *Node, leave ...string) string {
	var b strings.Builder
	var visit func(n *Node)
	visit = func(n *Node) {
		switch {
		case b.Len() > 4*maxText:
		case n.Tag == "":
			b.WriteString(n.Text)
		case n.Tag == "br":
			b.WriteByte(' ')
		case n.Tag == "wbr": // a word may be parted there, and is one
		case slices.Contains(unseen, n.Tag), slices.Contains(leave, n.Tag):
		case n.Tag == "img":
			b.WriteString(" " + n.Attrs["alt"] + " ")
		default:
			if isHidden(n) {
				return
			}
			if !inline[n.Tag] {
				b.WriteByte(' ')
			}
			for _, k := range n.Kids {
				visit(k)
			}
			if !inline[n.Tag] {
				b.WriteByte(' ')
			}
		}
	}
	visit(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// inline elements do not part words.
var inline = map[string]bool{"a": true, "abbr": true, "b": true, "bdi": true, "cite": true, "code": true, "em": true, "i": true, "kbd": true, "mark": true, "q": true, "s": true, "small": true, "span": true, "strong": true, "sub": true, "sup": true, "u": true, "var": true, "time": true, "label": true}

func ownText(n *Node) string {
	var parts []string
	for _, k := range n.Kids {
		if k.Tag == "" {
			parts = append(parts, k.Text)
		}
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	if r := []rune(s); len(r) > maxText {
		return string(r[:maxText])
	}
	return s
}
