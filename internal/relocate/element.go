// Package relocate answers which element of a page is the one that a locator used to find.
//
// It is given the fingerprint of an element as it was, the other elements of the old page as
// far as they are known, and the elements of the new page. It answers a ranking with calibrated
// probabilities, in words why each candidate stands where it does, and an outcome: heal, propose
// or report. It reaches nothing outside: no network, no records, no process, no clock.
//
// Read in this order: Element (what is compared), Page (prepared once, used for many targets),
// Finder.Find (the whole of the method), pairFeatures and contextFeatures (the evidence), Model
// (what weighs it), vetoes (what no score outweighs).
package relocate

// Element is the fingerprint of one element of a page. Every field may be empty: that means
// "not known", which is not taken for a difference.
type Element struct {
	Key        string // the caller's own name for it, for answers; not compared
	Tag        string // lower-case: "button", "a", "svg"
	Role       string // of accessibility: "button", "link"
	Name       string // accessible name
	TestID     string
	ID         string
	Class      string // the list as written, separated by blanks
	NameAttr   string // the attribute "name", of fields
	Type       string // of inputs and buttons
	Href       string
	Alt        string
	Title      string
	Hint       string // placeholder
	Value      string
	Attributes map[string]string // others, by name; compared as words
	Text       string            // its text, with that of its descendants
	OwnText    string            // without that of its descendants
	Headings   []string          // above it, nearest first
	Landmark   string            // the region it is in: "navigation", "main"
	RowKey     string            // what names its row in a table or list
	Form       string            // what names the form it belongs to
	Near       []string          // texts beside, above and below it
	Path       string            // absolute XPath: /html[1]/body[1]/div[2]/a[1]
	Anchored   string            // XPath from the nearest ancestor with an ID
	Box        *Box              // where it was, nil if not known
	Hidden     bool
	Disabled   bool
}

// Box is a place on the page in CSS pixels, from the page's top left corner.
type Box struct{ X, Y, Width, Height float64 }

// label is what a person would call the element: its accessible name, else its text, else what
// stands in for text.
func (e *Element) label() string {
	for _, s := range []string{e.Name, e.Text, e.OwnText, e.Alt, e.Title, e.Hint, e.Value} {
		if s != "" {
			return s
		}
	}
	return ""
}
