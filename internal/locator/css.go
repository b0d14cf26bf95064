package locator

import (
	"regexp"
	"slices"
	"strings"

	"tas-service/internal/relocate"
)

// ident is what can be written in CSS as it is.
var ident = regexp.MustCompile(`^-?[A-Za-z_][A-Za-z0-9_-]*$`)

// hashed are classes and IDs that a build made.
var hashed = regexp.MustCompile(`\d.*\d|^(?:css|sc|jss|mui|svelte|emotion|_)-?|__?[A-Za-z0-9]*\d[A-Za-z0-9]*$|^c[a-z0-9]*\d[a-z0-9]*$`)

func chosen(s string) bool { return ident.MatchString(s) && steady(s) && !hashed.MatchString(s) }

// Simple answers CSS of one compound for an element, from what names it best to its tag alone:
// what a person may have chosen, never a place among siblings.
// Words come after classes: they are for use in a region, where the role's name is elsewhere too.
func Simple(e *relocate.Element) (out []string) {
	if chosen(e.ID) {
		out = append(out, "#"+e.ID)
	}
	if chosen(e.NameAttr) {
		out = append(out, e.Tag+`[name="`+e.NameAttr+`"]`)
	}
	var classes []string
	for _, c := range strings.Fields(e.Class) {
		if chosen(c) && !slices.Contains(classes, c) && len(classes) < 4 {
			classes = append(classes, c)
			out = append(out, "."+c)
		}
	}
	if len(classes) > 1 {
		out = append(out, "."+strings.Join(classes, "."))
	}
	if len(classes) > 0 {
		out = append(out, e.Tag+"."+strings.Join(classes, "."))
	}
	for _, a := range [][2]string{{"title", e.Title}, {"aria-label", e.Attributes["aria-label"]}} {
		if steady(a[1]) && !strings.ContainsAny(a[1], "\"\\\n") {
			out = append(out, e.Tag+"["+a[0]+`="`+a[1]+`"]`)
		}
	}
	if chosen(e.Type) {
		out = append(out, e.Tag+`[type="`+e.Type+`"]`)
	}
	return append(out, e.Tag)
}

// Around answers CSS for a row that an element is in, by what names the row; "" for what is
// no row of it, or whose name will be another one tomorrow.
func Around(row, e *relocate.Element) string {
	switch row.Tag {
	case "li", "tr", "article":
	default:
		return ""
	}
	if !steady(e.RowKey) || strings.ContainsAny(e.RowKey, `"\\`) || !Fits(row.Text, e.RowKey, false) {
		return ""
	}
	return row.Tag + `:has-text("` + fold(e.RowKey) + `")`
}

// Term answers CSS for a term, a head cell or a label by its words: what stands beside it is
// told by it. "" for all else.
func Term(e *relocate.Element) string {
	switch e.Tag {
	case "dt", "th", "label":
	default:
		return ""
	}
	if e.OwnText != e.Text || !steady(e.OwnText) || strings.ContainsAny(e.OwnText, "\"\\") {
		return ""
	}
	return e.Tag + `:text-is("` + fold(e.OwnText) + `")`
}
