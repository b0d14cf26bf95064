package locator

import (
	"strings"
	"testing"

	"tas-service/internal/relocate"
)

func page(all ...relocate.Element) []relocate.Element { return all }

func button(name string) relocate.Element {
	return relocate.Element{Tag: "button", Role: "button", Name: name, Text: name, OwnText: name}
}

// TestFor names an element by the best that finds it alone.
func TestFor(t *testing.T) {
	t.Parallel()
	with := func(e relocate.Element, change func(*relocate.Element)) relocate.Element { change(&e); return e }
	field := relocate.Element{Tag: "input", Role: "textbox", Name: "E-mail", Hint: "you@example.com", Type: "email"}
	for name, c := range map[string]struct {
		page   []relocate.Element // the first one is meant
		prefer Strategy
		want   string // the best; "" for none
	}{
		"test id":                   {page(with(button("Save"), func(e *relocate.Element) { e.TestID = "save" }), button("Cancel")), "", "getByTestId('save')"},
		"the strategy as it was":    {page(with(button("Save"), func(e *relocate.Element) { e.TestID = "save" }), button("Cancel")), ByRole, "getByRole('button', { name: 'Save' })"},
		"a test id twice":           {page(with(button("Save"), func(e *relocate.Element) { e.TestID = "act" }), with(button("Drop"), func(e *relocate.Element) { e.TestID = "act" })), "", "getByRole('button', { name: 'Save' })"},
		"part of another name":      {page(button("Save"), button("Save all")), "", "getByRole('button', { name: 'Save', exact: true })"},
		"another letter case":       {page(button("Save"), button("SAVE")), "", "getByRole('button', { name: 'Save', exact: true })"},
		"the same name twice":       {page(button("Remove"), button("Remove")), "", ""},
		"a hidden one of that name": {page(button("Save"), with(button("Save"), func(e *relocate.Element) { e.Hidden, e.OwnText, e.Text = true, "", "" })), "", "getByRole('button', { name: 'Save' })"},
		"a quote":                   {page(button(`Ada's "x"`)), "", `getByRole('button', { name: 'Ada\'s "x"' })`},
		"a field":                   {page(field), "", "getByRole('textbox', { name: 'E-mail' })"},
		"a field by its label":      {page(field), ByLabel, "getByLabel('E-mail')"},
		"a password":                {page(relocate.Element{Tag: "input", Type: "password", Name: "Password"}), "", "getByLabel('Password')"},
		"a placeholder":             {page(relocate.Element{Tag: "input", Type: "password", Hint: "Secret"}), "", "getByPlaceholder('Secret')"},
		"a picture":                 {page(relocate.Element{Tag: "img", Role: "img", Name: "A cat", Alt: "A cat"}, relocate.Element{Tag: "div", Role: "img", Name: "A cat on a mat"}), ByAltText, "getByAltText('A cat')"},
		"a text":                    {page(relocate.Element{Tag: "div", Text: "Thanks", OwnText: "Thanks"}), "", "getByText('Thanks')"},
		"a text of what is inside":  {page(relocate.Element{Tag: "div", Text: "Thanks a lot", OwnText: "Thanks"}), "", ""},
		"the only region":           {page(relocate.Element{Tag: "main", Role: "main"}), "", "getByRole('main')"},
		"one of many without names": {page(relocate.Element{Tag: "li", Role: "listitem"}), "", ""},
		"a price":                   {page(button("Buy for €4.50")), "", ""},
		"a count":                   {page(button("3 items")), "", ""},
		"a made-up id":              {page(relocate.Element{Tag: "div", TestID: "item-8f14e45fceea167a"}), "", ""},
		"an id of a library":        {page(relocate.Element{Tag: "div", TestID: "radix-:r3:"}), "", ""},
		"a date":                    {page(button("2026-11-21")), "", ""},
		"a letter":                  {page(button(strings.Repeat("long ", 30))), "", ""},
		"no element":                {page(relocate.Element{}), "", ""},
		"odd role":                  {page(relocate.Element{Tag: "div", Role: "x'); evil('", Name: "N"}), "", ""},
	} {
		got := For(&c.page[0], c.page, c.prefer)
		best := ""
		if len(got) > 0 {
			best = got[0].Code
		}
		if best != c.want {
			t.Errorf("%s: %q, want %q", name, best, c.want)
		}
	}
}

// TestStrategyOf reads by what a part of a locator goes.
func TestStrategyOf(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]Strategy{"getByRole('button')": ByRole, " getByTestId('x')": ByTestID, "locator('#x')": "", "filter({ hasText: 'x' })": "", "nth(1)": "", "": "", "getByRole": ByRole, "getByRolex('y')": ""} {
		if got := StrategyOf(code); got != want {
			t.Errorf("%q: %q", code, got)
		}
	}
}

// TestQuote writes any text as one string.
func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a": `'a'`, `it's`: `'it\'s'`, `a\`: `'a\\'`, "a\nb\tc\rd": `'a\nb\tc\rd'`, "a\u2028b": `'a\u2028b'`, "a\x00b": `'a b'`, "é 猫": `'é 猫'`} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
