package main

import "regexp"

// operator is a way to change a page.
type operator struct {
	name   string
	page   bool           // it changes all of the page
	breaks *regexp.Regexp // locators that it may break; nil for any
}

var (
	byID    = regexp.MustCompile(`#`)
	byClass = regexp.MustCompile(`locator\('[^']*\.[A-Za-z]`)
	byTest  = regexp.MustCompile(`getByTestId|data-testid`)
	byWords = regexp.MustCompile(`name: '|getByText|getByLabel|getByTitle|getByPlaceholder`)
	byExact = regexp.MustCompile(`exact: true`)
	byCSS   = regexp.MustCompile(`locator\(`)
	bySteps = regexp.MustCompile(`locator\('[^']* > `)
	byTag   = regexp.MustCompile(`getByRole|locator\('[a-z]`)
	byRow   = regexp.MustCompile(`listitem`)
	byScope = regexp.MustCompile(`getByRole\('(main|navigation|article|region|complementary|form|banner|group|list)'.*\)\.|^locator\('main `)
	byLabel = regexp.MustCompile(`getByLabel|name: '`)
	byPlace = regexp.MustCompile(`getByPlaceholder`)
	byTitle = regexp.MustCompile(`getByTitle|name: '`)
)

// healing are the operators after which the control is still there.
var healing = []operator{
	{"id", false, byID}, {"class", false, byClass}, {"class-hashed", false, byClass}, {"testid", false, byTest}, {"testid-removed", false, byTest}, {"id-removed", false, byID},
	{"attributes-removed", false, byCSS}, {"wrap", false, bySteps}, {"wrap-deep", false, bySteps}, {"nested-deeper", false, bySteps}, {"move", false, byCSS}, {"move-within", false, bySteps},
	{"reorder", false, bySteps}, {"list-reordered", false, bySteps}, {"row-inserted", false, nil}, {"look-alike", false, byWords}, {"look-alike-longer", false, byWords},
	{"synonym", false, byWords}, {"translation", false, byWords}, {"text-longer", false, byExact}, {"text-shorter", false, byWords}, {"letter-case", false, byExact}, {"blanks", false, byExact},
	{"punctuation", false, byExact}, {"icon", false, byExact}, {"label", false, byLabel}, {"label-to-placeholder", false, byLabel}, {"aria-label", false, byWords}, {"aria-label-removed", false, byWords},
	{"placeholder", false, byPlace}, {"title", false, byTitle}, {"tag", false, byTag}, {"tag-bare", false, byTag}, {"heading-level", false, byTag}, {"input-type", false, byTag},
	{"landmark", false, byScope}, {"region-name", false, regexp.MustCompile(`name: .*\)\.`)}, {"list-to-boxes", false, byRow},
	{"testid-prefix", true, byTest}, {"ids-renamed", true, byID}, {"classes-prefixed", true, byClass},
}

// breaking are the operators after which a failure is to be reported.
var breaking = []operator{
	{name: "removed"}, {name: "removed-look-alike"}, {name: "section-removed"}, {name: "row-removed"}, {name: "rows-gone"}, {name: "disabled"}, {name: "hidden"}, {name: "hidden-by-sheet"},
	{name: "renamed-disabled"}, {name: "renamed-hidden"}, {name: "renamed-hidden-by-sheet"}, {name: "renamed-dead"}, {name: "renamed-500"}, {name: "dead"}, {name: "labels-swapped", breaks: byWords},
	{name: "request-500"}, {name: "wrong-value"}, {name: "off-by-one"}, {name: "price-changed"}, {name: "wrong-words"}, {name: "wrong-row"}, {name: "wrong-record"}, {name: "link-elsewhere"},
	{name: "renamed-link-elsewhere"}, {name: "destructive"}, {name: "became-text"}, {name: "error-banner"}, {name: "sign-in-wall"}, {name: "covered"},
}
