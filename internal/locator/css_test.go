package locator

import (
	"slices"
	"testing"

	"tas-service/internal/relocate"
)

// TestSimple writes CSS of what a person chose, the best first, and never of what a build made.
func TestSimple(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		e    relocate.Element
		want []string
	}{
		"all of it":     {relocate.Element{Tag: "input", ID: "code", NameAttr: "voucher", Class: "wide main", Type: "text"}, []string{"#code", `input[name="voucher"]`, ".wide", ".main", ".wide.main", "input.wide.main", `input[type="text"]`, "input"}},
		"made":          {relocate.Element{Tag: "div", ID: "radix-12", Class: "css-1x2y3z sc-a1b2"}, []string{"div"}},
		"words":         {relocate.Element{Tag: "button", Title: "Close", Attributes: map[string]string{"aria-label": "Close it"}}, []string{`button[title="Close"]`, `button[aria-label="Close it"]`, "button"}},
		"quoted words":  {relocate.Element{Tag: "button", Title: `The "x"`}, []string{"button"}},
		"a price":       {relocate.Element{Tag: "button", Title: "Buy for €4.50"}, []string{"button"}},
		"no identifier": {relocate.Element{Tag: "p", Class: "w-1/2 %20"}, []string{"p"}},
	} {
		if got := Simple(&c.e); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", what, got)
		}
	}
	row := relocate.Element{Tag: "li", Text: "Mug 4.50 Add"}
	if got := Around(&row, &relocate.Element{RowKey: "Mug"}); got != `li:has-text("Mug")` {
		t.Errorf("row: %s", got)
	}
	if got := Around(&row, &relocate.Element{RowKey: "Tea"}); got != "" {
		t.Errorf("another row: %s", got)
	}
}

// TestForInstead uses a number again that the locator had, and no other one.
func TestForInstead(t *testing.T) {
	t.Parallel()
	e := relocate.Element{Tag: "select", Role: "combobox", Name: "State of ML-1004"}
	page := []relocate.Element{e}
	if all := For(&e, page, ByLabel); len(all) != 0 {
		t.Errorf("a number is a name: %v", all)
	}
	if all := ForInstead(&e, page, "getByLabel('Status of ML-1004')"); len(all) == 0 || all[0].Code != "getByLabel('State of ML-1004')" {
		t.Errorf("%v", all)
	}
	if all := ForInstead(&e, page, "getByLabel('Status of ML-1003')"); len(all) != 0 {
		t.Errorf("another number is a name: %v", all)
	}
}
