// Package locator writes Playwright locators: for an element of a page the ones that find it
// and nothing else there, the ones first that outlast changes of the page.
package locator

import (
	"regexp"
	"slices"
	"strings"

	"tas-service/internal/relocate"
)

// Strategy is what a locator goes by.
type Strategy string

// The strategies, in the order in which they are preferred: what the authors of a page
// promise to tests, then what people see and hear, never a place.
const (
	ByTestID      Strategy = "getByTestId"
	ByRole        Strategy = "getByRole"
	ByLabel       Strategy = "getByLabel"
	ByPlaceholder Strategy = "getByPlaceholder"
	ByAltText     Strategy = "getByAltText"
	ByTitle       Strategy = "getByTitle"
	ByText        Strategy = "getByText"
)

// Strategies lists them, the best first.
func Strategies() []Strategy {
	return []Strategy{ByTestID, ByRole, ByLabel, ByPlaceholder, ByAltText, ByTitle, ByText}
}

// Locator is one way to name an element.
type Locator struct {
	Strategy Strategy
	Code     string // getByRole('button', { name: 'Save' })
}

// StrategyOf answers by what a part of a locator goes, "" for none of these: CSS, XPath,
// or a part that only narrows.
func StrategyOf(code string) Strategy {
	name, _, _ := strings.Cut(strings.TrimSpace(code), "(")
	if s := Strategy(name); slices.Contains(Strategies(), s) {
		return s
	}
	return ""
}

// For answers the locators that find an element of a page and no other one, the best first.
// A locator of the strategy that is preferred comes before all others. Texts that will be
// others tomorrow are left out, and so is what only differs in letter case from something
// else on the page unless it can be asked for exactly.
func For(e *relocate.Element, page []relocate.Element, prefer Strategy) []Locator {
	return instead(e, page, prefer, "")
}

// ForInstead is For in place of a locator that is given as code: what it names in so many words,
// such as the number of an order, may be named again.
func ForInstead(e *relocate.Element, page []relocate.Element, was string) []Locator {
	return instead(e, page, StrategyOf(was), was)
}

// instead is both.
func instead(e *relocate.Element, page []relocate.Element, prefer Strategy, was string) []Locator {
	var out []Locator
	for _, s := range Strategies() {
		if code, ok := write(s, e, page, was); ok {
			out = append(out, Locator{Strategy: s, Code: code})
		}
	}
	slices.SortStableFunc(out, func(a, b Locator) int {
		switch {
		case a.Strategy == prefer && b.Strategy != prefer:
			return -1
		case b.Strategy == prefer && a.Strategy != prefer:
			return 1
		}
		return 0
	})
	return out
}

// write answers the locator of a strategy; false where it would find nothing, or more than
// the element.
func write(s Strategy, e *relocate.Element, page []relocate.Element, was string) (string, bool) {
	steady := func(s string) bool { return steady(without(s, was)) }
	switch s {
	case ByTestID:
		only := one(page, func(x *relocate.Element) bool { return x.TestID == e.TestID })
		return "getByTestId(" + Quote(e.TestID) + ")", steady(e.TestID) && only
	case ByRole:
		if e.Role == "" || !role.MatchString(e.Role) || e.Hidden || e.Role == "presentation" || e.Role == "none" {
			return "", false
		}
		same := func(x *relocate.Element) bool { return x.Role == e.Role && !x.Hidden }
		if steady(e.Name) {
			if one(page, func(x *relocate.Element) bool { return same(x) && Fits(x.Name, e.Name, false) }) {
				return "getByRole(" + Quote(e.Role) + ", { name: " + Quote(e.Name) + " })", true
			}
			return "getByRole(" + Quote(e.Role) + ", { name: " + Quote(e.Name) + ", exact: true })", one(page, func(x *relocate.Element) bool { return same(x) && Fits(x.Name, e.Name, true) })
		}
		return "getByRole(" + Quote(e.Role) + ")", singular[e.Role] && one(page, same)
	case ByLabel:
		return texted(s, e.Name, was, page, labelled(e), func(x *relocate.Element) string {
			if !labelled(x) {
				return ""
			}
			return x.Name
		})
	case ByPlaceholder:
		return texted(s, e.Hint, was, page, true, func(x *relocate.Element) string { return x.Hint })
	case ByAltText:
		return texted(s, e.Alt, was, page, true, func(x *relocate.Element) string { return x.Alt })
	case ByTitle:
		return texted(s, e.Title, was, page, true, func(x *relocate.Element) string { return x.Title })
	case ByText:
		// Playwright takes the innermost elements that hold a text.
		return texted(s, e.OwnText, was, page, e.OwnText == e.Text, func(x *relocate.Element) string { return x.OwnText })
	}
	return "", false
}

// texted writes a locator that goes by one text of elements, exactly where a part of it
// would find more.
func texted(s Strategy, want, was string, page []relocate.Element, fits bool, of func(x *relocate.Element) string) (string, bool) {
	if !fits || !steady(without(want, was)) {
		return "", false
	}
	if one(page, func(x *relocate.Element) bool { return Fits(of(x), want, false) }) {
		return string(s) + "(" + Quote(want) + ")", true
	}
	return string(s) + "(" + Quote(want) + ", { exact: true })", one(page, func(x *relocate.Element) bool { return Fits(of(x), want, true) })
}

// labelled reports whether an element is a field, which getByLabel finds.
func labelled(e *relocate.Element) bool {
	switch e.Tag {
	case "input", "select", "textarea", "meter", "progress", "output":
		return e.Type != "hidden" && e.Type != "submit" && e.Type != "button" && e.Type != "reset" && e.Type != "image"
	}
	return false
}

// singular are roles of which a page has one, so that the role alone names it.
var singular = map[string]bool{"main": true, "banner": true, "contentinfo": true, "search": true, "dialog": true, "alertdialog": true, "alert": true, "status": true, "navigation": true}

// role is what a role looks like.
var role = regexp.MustCompile(`^[a-z]{2,30}$`)

// one reports whether exactly one element of a page fits.
func one(page []relocate.Element, fits func(x *relocate.Element) bool) bool {
	n := 0
	for i := range page {
		if fits(&page[i]) {
			if n++; n > 1 {
				return false
			}
		}
	}
	return n == 1
}

// fold writes blanks as Playwright compares them.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Fits reports whether a text is what a locator asks for, as Playwright compares them: blanks
// folded, and where it is not asked for exactly, a part of it in any letter case.
func Fits(s, want string, exact bool) bool {
	if exact {
		return fold(s) == fold(want)
	}
	return strings.Contains(strings.ToLower(fold(s)), strings.ToLower(fold(want)))
}

// FitsAttribute reports whether an attribute is what a locator asks for, as Playwright compares
// them: blanks as they are, and where it is not asked for exactly, a part of it in any letter case.
func FitsAttribute(s, want string, exact bool) bool {
	if exact {
		return s == want
	}
	return strings.Contains(strings.ToLower(s), strings.ToLower(want))
}

// maxSteady bounds a text that names something: longer ones are edited.
const maxSteady = 60

// passing are texts that will be others tomorrow: numbers and prices, times and dates, counts,
// and IDs that a program made.
var passing = []*regexp.Regexp{
	regexp.MustCompile(`\d{3,}`),
	regexp.MustCompile(`\d[.,:/-]\d`),
	regexp.MustCompile(`(?i)^\W*\d+(?:\s+\p{L}+)?\W*$|\b\d+\s*(?:items?|results?|left|new|unread|min(?:utes?)?|hours?|days?|seconds?|ago|st|nd|rd|th|%|€|\$|£)`),
	regexp.MustCompile(`[€$£¥]\s*\d`),
	regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-`),
	regexp.MustCompile(`(?i)\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{4,}\b`),
	regexp.MustCompile(`(?i)^(?:radix-|mui-|headlessui-|ember|react-|:r|css-|jss|sc-|ext-gen|ng-|__)`),
	regexp.MustCompile(`(?i)\b(?:today|yesterday|tomorrow|just now)\b`),
}

// steady reports whether a text can be told to name the same thing tomorrow.
func steady(s string) bool {
	s = fold(s)
	return s != "" && len([]rune(s)) <= maxSteady && !slices.ContainsFunc(passing, func(r *regexp.Regexp) bool { return r.MatchString(s) })
}

// without answers a text without the words with digits that a locator has already.
func without(s, was string) string {
	if was == "" {
		return s
	}
	has := strings.Fields(notWord.ReplaceAllString(was, " "))
	words := strings.Fields(s)
	for i, w := range words {
		if bare := strings.Trim(w, `.,:;!?…()[]"'`); strings.ContainsAny(bare, "0123456789") && slices.Contains(has, bare) {
			words[i] = "x"
		}
	}
	return strings.Join(words, " ")
}

var notWord = regexp.MustCompile(`[^\p{L}\p{N}_.,:/#€$£-]+`)

// Quote writes a text as a JavaScript string in single quotes.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch r {
		case '\\', '\'':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\u2028':
			b.WriteString(`\u2028`)
		case '\u2029':
			b.WriteString(`\u2029`)
		default:
			if r < ' ' || r == 0x7f {
				b.WriteByte(' ')
				continue
			}
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
