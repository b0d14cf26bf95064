package heal

import (
	"slices"
	"testing"

	"tas-service/internal/relocate"
)

// TestParts takes locators apart as Playwright writes them.
func TestParts(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		`getByRole('article').getByRole('button', { name: 'Add. (to) cart', exact: true })`: {`getByRole('article')`, `getByRole('button', { name: 'Add. (to) cart', exact: true })`},
		`getByText('it\'s').first()`: {`getByText('it\'s')`, `first()`},
		`getByRole('listitem').filter({ has: page.getByText('x.y') }).getByTestId('a.b')`: {`getByRole('listitem')`, `filter({ has: page.getByText('x.y') })`, `getByTestId('a.b')`},
		`getByText(/a.b\/c/i).nth(1)`: {`getByText(/a.b\/c/i)`, `nth(1)`},
		`locator('#a .b')`:            {`locator('#a .b')`},
		``:                            nil, `page`: nil, `getByText('x`: nil, `getByText('x').`: nil, `process.exit(1)`: {`process`}, `a-b('x')`: nil,
	} {
		var got []string
		for _, p := range Parts(code) {
			got = append(got, p.Code)
		}
		if code == `process.exit(1)` {
			want = nil // process is no call
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", code, got)
		}
	}
}

// TestLocatorIn finds the locator in what a person writes.
func TestLocatorIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"it is page.getByRole('button', { name: 'Save (all)' }), I think": "getByRole('button', { name: 'Save (all)' })",
		"try `locator('#a')` (or not)":                                    "locator('#a')",
		"getByRole('main').getByText('x')":                                "getByRole('main').getByText('x')",
		"the small one":                                                   "",
		"getByRole('button'":                                              "",
		"getBy(it)":                                                       "",
	} {
		if got := locatorIn(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// FuzzParts never panics, and loses nothing of what it takes apart.
func FuzzParts(f *testing.F) {
	for _, s := range []string{`getByRole('a').getByText("b")`, `getByText(/x/)`, `filter({ hasText: 'x' })`, `getByText('\`, "getByText(`", `a(('b'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		for _, p := range Parts(code) {
			p.finds(&relocate.Element{Name: code, Text: code, Role: "button"})
		}
	})
}

// TestFinds knows what a part finds by itself, and what it does not know.
func TestFinds(t *testing.T) {
	t.Parallel()
	e := relocate.Element{Tag: "button", Role: "button", Name: "Save all", TestID: "save", Text: "Save  all", Title: "Keep", Hint: "h", Alt: "a"}
	hidden := e
	hidden.Hidden = true
	for code, want := range map[string][2]bool{
		`getByRole('button')`: {true, true}, `getByRole('button', { name: 'save' })`: {true, true}, `getByRole('button', { name: 'Save', exact: true })`: {false, true}, `getByRole('button', { name: 'Save all', exact: true })`: {true, true},
		`getByRole('link', { name: 'Save all' })`: {false, true}, `getByRole('button', { name: /save/i })`: {false, false}, `getByTestId('save')`: {true, true}, `getByTestId('sav')`: {false, true}, `getByTestId(/sav/)`: {false, false},
		`getByText('save all')`: {true, true}, `getByTitle('Keep')`: {true, true}, `getByPlaceholder('x')`: {false, true}, `getByAltText('A')`: {true, true}, `locator('#x')`: {false, false}, `first()`: {false, false}, `getByLabel('Save')`: {true, true},
	} {
		found, known := Parts(code)[0].finds(&e)
		if found != want[0] || known != want[1] {
			t.Errorf("%s: %v, known %v", code, found, known)
		}
	}
	if found, _ := Parts(`getByRole('button')`)[0].finds(&hidden); found {
		t.Error("a role finds what is hidden")
	}
}
