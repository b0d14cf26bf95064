package main

import (
	"regexp"
	"slices"
	"strings"

	"tas-service/internal/heal"
	"tas-service/internal/relocate"
)

// operator is a way to change a page.
type operator struct {
	name   string
	page   bool           // it changes all of the page
	breaks *regexp.Regexp // locators that it may break; nil for any
	// when says to which steps it may apply; nil for all. The page has the last word: this
	// only saves the way there.
	when func(verb string, e *relocate.Element) bool
	// class is why a test fails under it, of those after which the failure is to be reported;
	// an application's bug where it is not said.
	class heal.Class
}

var (
	byID    = regexp.MustCompile(`#`)
	byClass = regexp.MustCompile(`locator\('[^']*\.[A-Za-z]`)
	byTest  = regexp.MustCompile(`getByTestId|data-testid`)
	byWords = regexp.MustCompile(`name: '|getByText|getByLabel|getByTitle|getByPlaceholder`)
	byExact = regexp.MustCompile(`exact: true`)
	bySteps = regexp.MustCompile(`locator\('[^']* > `)
	byTag   = regexp.MustCompile(`getByRole|locator\('[a-z]`)
	byRow   = regexp.MustCompile(`listitem`)
	byScope = regexp.MustCompile(`getByRole\('(main|navigation|article|region|complementary|form|banner|group|list)'.*\)\.|^locator\('main `)
	byLabel = regexp.MustCompile(`getByLabel|name: '`)
	byPlace = regexp.MustCompile(`getByPlaceholder`)
	byTitle = regexp.MustCompile(`getByTitle|name: '`)
	nested  = regexp.MustCompile(`name: .*\)\.`)
)

func hasID(_ string, e *relocate.Element) bool     { return e.ID != "" }
func hasClass(_ string, e *relocate.Element) bool  { return e.Class != "" }
func hasTestID(_ string, e *relocate.Element) bool { return e.TestID != "" }
func hasHint(_ string, e *relocate.Element) bool   { return e.Hint != "" }
func hasTitle(_ string, e *relocate.Element) bool  { return e.Title != "" }
func hasRow(_ string, e *relocate.Element) bool    { return e.RowKey != "" }
func isLink(_ string, e *relocate.Element) bool    { return e.Tag == "a" && e.Href != "" }
func isButton(_ string, e *relocate.Element) bool  { return e.Tag == "button" }
func isHeading(_ string, e *relocate.Element) bool { return e.Role == "heading" }
func isField(_ string, e *relocate.Element) bool {
	return slices.Contains([]string{"input", "select", "textarea", "output"}, e.Tag)
}
func isControl(_ string, e *relocate.Element) bool {
	return slices.Contains([]string{"input", "select", "textarea", "button"}, e.Tag)
}
func isInput(_ string, e *relocate.Element) bool {
	return e.Tag == "input" && (e.Type == "search" || e.Type == "email" || e.Type == "number")
}
func checking(verb string) bool {
	return slices.Contains([]string{"text", "contains", "visible"}, verb)
}
func acting(verb string, _ *relocate.Element) bool { return !checking(verb) }
func wordy(verb string, e *relocate.Element) bool {
	return e.Name+e.Text+e.Hint != "" && (!checking(verb) || isField(verb, e))
}
func twoWords(verb string, e *relocate.Element) bool {
	return wordy(verb, e) && strings.Contains(e.Name+e.Text+e.Hint, " ")
}
func pressable(verb string, e *relocate.Element) bool { return !checking(verb) && !isField(verb, e) }
func labelled(verb string, e *relocate.Element) bool {
	return isField(verb, e) && e.Attributes["aria-label"] == ""
}
func ariaLabelled(verb string, e *relocate.Element) bool {
	return e.Attributes["aria-label"] != "" && wordy(verb, e)
}
func ariaAndText(verb string, e *relocate.Element) bool {
	return pressable(verb, e) && e.Attributes["aria-label"] != "" && e.Text != ""
}
func textual(verb string, e *relocate.Element) bool {
	return pressable(verb, e) && e.Text != "" && e.Attributes["aria-label"] == ""
}
func numbered(verb string, e *relocate.Element) bool {
	return e.Tag == "output" || !isField(verb, e) && strings.ContainsAny(e.Text, "0123456789")
}
func said(verb string, e *relocate.Element) bool { return !isControl(verb, e) && len(e.Text) > 2 }
func worded(verb string, e *relocate.Element) bool {
	return (verb == "text" || verb == "contains") && !isField(verb, e)
}

// fits reports whether an operator may break a step that knows an element by a locator.
func (o operator) fits(verb, code string, e *relocate.Element) bool {
	return (o.breaks == nil || o.breaks.MatchString(code)) && (o.when == nil || e != nil && o.when(verb, e))
}

// healing are the operators after which the control is still there.
var healing = []operator{
	{name: "id", breaks: byID, when: hasID}, {name: "class", breaks: byClass, when: hasClass}, {name: "class-hashed", breaks: byClass, when: hasClass}, {name: "testid", breaks: byTest, when: hasTestID}, {name: "testid-removed", breaks: byTest, when: hasTestID},
	{name: "id-removed", breaks: byID, when: hasID}, {name: "attributes-removed", breaks: byClass, when: hasClass}, {name: "wrap", breaks: bySteps}, {name: "wrap-deep", breaks: bySteps}, {name: "nested-deeper", breaks: bySteps},
	{name: "move", breaks: bySteps}, {name: "move-within", breaks: bySteps}, {name: "reorder", breaks: bySteps}, {name: "list-reordered", breaks: bySteps, when: hasRow}, {name: "row-inserted", breaks: bySteps, when: hasRow},
	{name: "look-alike", breaks: byWords}, {name: "look-alike-longer", breaks: byWords, when: pressable}, {name: "synonym", breaks: byWords, when: wordy}, {name: "translation", breaks: byWords, when: wordy}, {name: "text-longer", breaks: byExact, when: wordy},
	{name: "text-shorter", breaks: byWords, when: twoWords}, {name: "letter-case", breaks: byExact, when: wordy}, {name: "blanks", breaks: byExact, when: twoWords}, {name: "punctuation", breaks: byExact, when: wordy}, {name: "icon", breaks: byExact, when: textual},
	{name: "label", breaks: byLabel, when: labelled}, {name: "label-to-placeholder", breaks: byLabel, when: labelled}, {name: "aria-label", breaks: byWords, when: ariaLabelled}, {name: "aria-label-removed", breaks: byWords, when: ariaAndText},
	{name: "placeholder", breaks: byPlace, when: hasHint}, {name: "title", breaks: byTitle, when: hasTitle}, {name: "tag", breaks: byTag}, {name: "tag-bare", breaks: byTag, when: isButton}, {name: "heading-level", breaks: byTag, when: isHeading},
	{name: "input-type", breaks: byTag, when: isInput}, {name: "landmark", breaks: byScope}, {name: "region-name", breaks: nested}, {name: "list-to-boxes", breaks: byRow, when: hasRow},
	{name: "testid-prefix", page: true, breaks: byTest, when: hasTestID}, {name: "ids-renamed", page: true, breaks: byID, when: hasID}, {name: "classes-prefixed", page: true, breaks: byClass, when: hasClass},
}

// breaking are the operators after which a failure is to be reported.
var breaking = []operator{
	{name: "removed"}, {name: "removed-look-alike"}, {name: "section-removed"}, {name: "row-removed", when: hasRow}, {name: "rows-gone", when: hasRow}, {name: "disabled", when: isControl}, {name: "hidden"},
	{name: "hidden-by-sheet"}, {name: "renamed-disabled", when: isControl}, {name: "renamed-hidden"}, {name: "renamed-hidden-by-sheet"}, {name: "renamed-dead", when: pressable}, {name: "renamed-500", when: acting},
	{name: "dead", when: pressable}, {name: "labels-swapped", breaks: byWords}, {name: "request-500", when: acting}, {name: "wrong-value", when: numbered}, {name: "off-by-one", when: numbered},
	{name: "price-changed"}, {name: "wrong-words", when: said}, {name: "wrong-row", when: hasRow}, {name: "wrong-record", when: hasRow}, {name: "link-elsewhere", when: isLink},
	{name: "renamed-link-elsewhere", when: isLink}, {name: "destructive", when: pressable}, {name: "became-text", when: isControl}, {name: "error-banner"}, {name: "sign-in-wall", class: heal.Environment}, {name: "covered", when: acting, class: heal.Overlay},
	{name: "other-page", when: isLink, class: heal.Flow}, {name: "offline", when: acting, class: heal.Environment}, {name: "unsteady", when: pressable, class: heal.Timing}, {name: "wording", when: worded, class: heal.Wording},
}
