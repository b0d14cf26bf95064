package relocate

import (
	"strings"
	"testing"
)

func TestVetoes(t *testing.T) {
	button := func(text string) Element { return Element{Tag: "button", Text: text} }
	for _, c := range []struct {
		name      string
		old, now  Element
		others    []Element // on the new page
		want      string    // a part of the veto; "" for none
		wantCount int
	}{
		{name: "nothing against it", old: button("Save"), now: button("Store")},
		{name: "destructive word new", old: button("Save"), now: button("Delete"), want: "delete"},
		{name: "destructive in the title only", old: button("Save"), now: Element{Tag: "button", Text: "OK", Title: "Remove all"}, want: "remove"},
		{name: "destructive before as well", old: button("Delete order"), now: button("Delete the order")},
		{name: "destructive by its identifier before", old: Element{Tag: "button", ID: "delete-order"}, now: button("Delete")},
		{name: "harmful word inside of another", old: button("Save"), now: button("Dropdown")},
		{name: "destructive in German", old: button("Speichern"), now: button("Löschen"), want: "löschen"},
		{name: "a name that is none", old: button("Go to checkout"), now: button("Unknown"), want: "is none"},
		{name: "a key for a name", old: button("Go to checkout"), now: button("cart.checkout.label"), want: "is none"},
		{name: "a template for a name", old: button("Hello Ada"), now: button("Hello {{name}}"), want: "is none"},
		{name: "an object for a name", old: button("Ada"), now: button("[object Object]"), want: "is none"},
		{name: "no name before as well", old: button("Unknown"), now: button("None")},
		{name: "a name with a word of it", old: button("Save"), now: button("Unknown sender")},
		{name: "field for a button", old: button("Search"), now: Element{Tag: "input", Type: "search", Hint: "Search"}, want: "textbox"},
		{name: "button for a field", old: Element{Tag: "textarea"}, now: button("Comment"), want: "button"},
		{name: "button for a link", old: Element{Tag: "a", Text: "Buy"}, now: button("Buy")},
		{name: "submitting input for a button", old: button("Buy"), now: Element{Tag: "input", Type: "submit", Value: "Buy"}},
		{name: "box for a button", old: button("Buy"), now: Element{Tag: "div", Text: "Buy"}},
		{name: "role says more than the tag", old: Element{Tag: "div", Role: "textbox"}, now: button("Comment"), want: "button"},
		{name: "checkbox for a text field", old: Element{Tag: "input", Type: "text"}, now: Element{Tag: "input", Type: "checkbox"}, want: "checkbox"},
		{name: "e-mail field for a text field", old: Element{Tag: "input", Type: "text"}, now: Element{Tag: "input", Type: "email"}},
		{name: "type not known", old: Element{Tag: "input"}, now: Element{Tag: "input", Type: "checkbox"}},
		{name: "hidden", old: button("Save"), now: Element{Tag: "button", Text: "Save", Hidden: true}, want: "visible"},
		{name: "hidden before as well", old: Element{Tag: "button", Hidden: true}, now: Element{Tag: "button", Hidden: true}},
		{name: "disabled", old: button("Save"), now: Element{Tag: "button", Text: "Save", Disabled: true}, want: "disabled"},
		{name: "disabled before as well", old: Element{Tag: "button", Disabled: true}, now: Element{Tag: "button", Disabled: true}},
		{name: "other address, the old one stands", old: Element{Tag: "a", Href: "/a"}, now: Element{Tag: "a", Href: "/b"}, others: []Element{{Tag: "a", Href: "https://shop.example/a"}, {Tag: "a", Href: "/a/"}}, want: "still links /a"},
		{name: "other address, the old one is gone", old: Element{Tag: "a", Href: "/a"}, now: Element{Tag: "a", Href: "/b"}, others: []Element{{Tag: "a", Href: "/c"}}},
		{name: "other query", old: Element{Tag: "a", Href: "/a?x=1"}, now: Element{Tag: "a", Href: "/a?x=2"}, others: []Element{{Tag: "a", Href: "/a?x=1"}}},
		{name: "address not known", old: Element{Tag: "a", Href: "/a"}, now: Element{Tag: "a"}, others: []Element{{Tag: "a", Href: "/a"}}},
		{name: "other row, the old one stands", old: Element{Tag: "button", RowKey: "Ada"}, now: Element{Tag: "button", RowKey: "Grace"}, others: []Element{{Tag: "td", RowKey: "ada"}}, want: "“Ada” is still there"},
		{name: "other row, the old one is gone", old: Element{Tag: "button", RowKey: "Ada"}, now: Element{Tag: "button", RowKey: "Grace"}, others: []Element{{Tag: "td", RowKey: "Alan"}}},
		{name: "row not known", old: Element{Tag: "button", RowKey: "Ada"}, now: button(""), others: []Element{{Tag: "td", RowKey: "Ada"}}},
		{name: "other form, the old one stands", old: Element{Tag: "button", Form: "billing"}, now: Element{Tag: "button", Form: "shipping"}, others: []Element{{Tag: "input", Form: "billing"}}, want: "form “billing”"},
		{name: "other form, the old one is gone", old: Element{Tag: "button", Form: "billing"}, now: Element{Tag: "button", Form: "shipping"}},
		{name: "two at once", old: button("Save"), now: Element{Tag: "button", Text: "Delete", Disabled: true}, want: "delete", wantCount: 2},
	} {
		page := Prepare(append([]Element{c.now}, c.others...))
		oldPage := Prepare([]Element{c.old})
		got := vetoes(&oldPage.elements[0], &page.elements[0], oldPage, page)
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: vetoed: %q", c.name, got)
		case c.want != "" && (len(got) == 0 || !strings.Contains(got[0], c.want)):
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		case len(got) != c.wantCount && c.wantCount > 0:
			t.Errorf("%s: %q, want %d", c.name, got, c.wantCount)
		}
	}
}

func TestDecide(t *testing.T) {
	l := DefaultLimits()
	for _, c := range []struct {
		name      string
		p, margin float64
		vetoes    []string
		want      Outcome
	}{
		{"sure", 0.98, 0.9, nil, Heal},
		{"sure, but vetoed", 0.99, 0.9, []string{"it is disabled"}, Propose},
		{"sure, but another is as likely", 0.98, 0.1, nil, Propose},
		{"not sure enough", 0.96, 0.9, nil, Propose},
		{"unlikely", 0.49, 0.9, nil, Report},
		{"unlikely and vetoed", 0.1, 0.9, []string{"it is disabled"}, Report},
	} {
		got, why := decide(Answer{P: c.p, Margin: c.margin, Candidates: []Candidate{{Vetoes: c.vetoes}}}, l)
		if got != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", c.name, got, why, c.want)
		}
	}
}

// TestVetoHoldsBackHeal goes all the way: the same element, but it cannot be used.
func TestVetoHoldsBackHeal(t *testing.T) {
	m := shippedModel(t)
	old := []Element{{Tag: "button", ID: "save", Text: "Save", Path: "/html[1]/body[1]/form[1]/button[1]"}, {Tag: "h1", Text: "Order", Path: "/html[1]/body[1]/h1[1]"}}
	now := []Element{old[0], old[1]}
	if a := finder(m, old, now).Find(0, Limits{}); a.Outcome != Heal {
		t.Fatalf("%s p %.3f", a.Outcome, a.P)
	}
	now[0].Disabled = true
	if a := finder(m, old, now).Find(0, Limits{}); a.Outcome != Propose || !strings.Contains(a.Why, "disabled") {
		t.Errorf("%s: %s", a.Outcome, a.Why)
	}
}

// TestSwapped proposes at most where two controls have each other's names, and takes the one
// that was moved with its name for what it is.
func TestSwapped(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	old := rows()
	old[6].Class = "main"
	now := append([]Element{}, old...)
	other := Element{Tag: "button", Role: "button", Name: "Help", Text: "Help", Class: "quiet", Path: "/html[1]/body[1]/footer[1]/button[1]"}
	old, now = append(old, other), append(now, other)
	last := len(now) - 1
	now[6].Name, now[6].Text, now[last].Name, now[last].Text = "Help", "Help", "Sign in", "Sign in"
	if a := finder(m, old, now).Find(6, Limits{}); a.Outcome == Heal {
		t.Errorf("the names were swapped: %s to %q: %s", a.Outcome, a.Candidates[0].Element.Path, a.Why)
	}
	now[6], now[last] = old[6], old[last]
	now[6].Path, now[last].Path = old[last].Path, old[6].Path
	if a := finder(m, old, now).Find(6, Limits{}); a.Outcome == Report || a.Candidates[0].Index != 6 {
		t.Errorf("they changed places: %s (P %.3f) to %q", a.Outcome, a.P, a.Candidates[0].Element.Path)
	}
}

// TestSwappedNames does not take a control for the one that it is called by now, whatever the boxes
// around them say.
func TestSwappedNames(t *testing.T) {
	t.Parallel()
	page := func(first, second string) []Element {
		return []Element{
			{Tag: "p", Text: first, Path: "/html[1]/body[1]/p[1]"},
			{Tag: "button", Role: "button", Name: first, Text: first, Path: "/html[1]/body[1]/p[1]/button[1]"},
			{Tag: "button", Role: "tab", Name: second, Text: second, Path: "/html[1]/body[1]/div[1]/button[1]"},
		}
	}
	for now, want := range map[string]string{"More": "as something else was", "Shut all": ""} {
		second := "More"
		if now == "More" {
			second = "Close all"
		}
		old, page := Prepare(page("Close all", "More")), Prepare(page(now, second))
		if got := otherName(&old.elements[1], &page.elements[1], old, page); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("it is called %s now: %q", now, got)
		}
	}
}
