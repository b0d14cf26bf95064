package relocate

import (
	"slices"
	"testing"
)

// rows is a list of two with the same buttons, and a form below it.
func rows() []Element {
	return []Element{
		{Tag: "h2", Text: "Tea", Path: "/html[1]/body[1]/ul[1]/li[1]/h2[1]", RowKey: "Tea"},
		{Tag: "button", Role: "button", Name: "Remove Tea", Text: "Remove", Class: "quiet", Path: "/html[1]/body[1]/ul[1]/li[1]/button[1]", RowKey: "Tea", Near: []string{"Tea"}},
		{Tag: "h2", Text: "Mug", Path: "/html[1]/body[1]/ul[1]/li[2]/h2[1]", RowKey: "Mug"},
		{Tag: "button", Role: "button", Name: "Remove Mug", Text: "Remove", Class: "quiet", Path: "/html[1]/body[1]/ul[1]/li[2]/button[1]", RowKey: "Mug", Near: []string{"Mug"}},
		{Tag: "h1", Role: "heading", Text: "Sign in", Name: "Sign in", Path: "/html[1]/body[1]/main[1]/h1[1]", Landmark: "main"},
		{Tag: "input", Role: "textbox", Name: "Email", ID: "email", NameAttr: "email", Path: "/html[1]/body[1]/main[1]/form[1]/input[1]", Form: "login", Landmark: "main"},
		{Tag: "button", Role: "button", Name: "Sign in", Text: "Sign in", Class: "main", Path: "/html[1]/body[1]/main[1]/form[1]/button[1]", Form: "login", Landmark: "main", Near: []string{"Email"}},
	}
}

// TestSettled refuses what already was somebody else on the old page.
func TestSettled(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	now := rows()
	now[6].Name, now[6].Text = "Anmelden", "Anmelden"
	a := finder(m, rows(), now).Find(6, Limits{})
	if !a.Renamed || a.P < DefaultLimits().Heal || a.Candidates[0].Index != 6 {
		t.Errorf("another language: %s (P %.3f, margin %.2f), first %q", a.Outcome, a.P, a.Margin, a.Candidates[0].Element.Path)
	}
	for _, gone := range []int{1, 3, 5, 6} {
		var rest []Element
		for i, e := range rows() {
			if i != gone {
				rest = append(rest, e)
			}
		}
		if a := finder(m, rows(), rest).Find(gone, Limits{}); a.Outcome == Heal || a.P > takenP {
			t.Errorf("%d is gone: %s (P %.3f)", gone, a.Outcome, a.P)
		}
	}
}

// TestStayed does not take another one of several that are alike, which stands where it stood, for
// the one that has another name now.
func TestStayed(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	old := append(rows(), Element{Tag: "button", Role: "button", Name: "Sign in", Text: "Sign in", Class: "main", Path: "/html[1]/body[1]/footer[1]/form[1]/button[1]", Form: "login", Landmark: "contentinfo"})
	now := slices.Clone(old)
	now[6].Name, now[6].Text = "Anmelden", "Anmelden"
	if a := finder(m, old, now).Find(6, Limits{}); a.Candidates[0].Index != 6 || a.P < DefaultLimits().Heal {
		t.Errorf("%s (P %.3f), first %q", a.Outcome, a.P, a.Candidates[0].Element.Path)
	}
	gone := slices.Delete(slices.Clone(old), 6, 7)
	if a := finder(m, old, gone).Find(6, Limits{}); a.Outcome == Heal {
		t.Errorf("gone, yet healed to %q", a.Candidates[0].Element.Path)
	}
}

// TestMarginOfDrift takes what hardly changed, though others share its words, and neither of
// two that hardly changed.
func TestMarginOfDrift(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	now := rows()
	now[5].ID, now[5].Name = "mail", "Your mail"
	if a := finder(m, rows(), now).Find(5, Limits{}); a.Outcome != Heal || a.Candidates[0].Index != 5 {
		t.Errorf("%s (P %.3f, margin %.2f): %s", a.Outcome, a.P, a.Margin, a.Why)
	}
	twin := now[5]
	twin.Path = "/html[1]/body[1]/main[1]/form[1]/input[2]"
	if a := finder(m, rows(), append(now, twin)).Find(5, Limits{}); a.Outcome == Heal {
		t.Errorf("one of two: %s (P %.3f, margin %.2f)", a.Outcome, a.P, a.Margin)
	}
}

// TestDrifted trusts what hardly changed, and not what stands in its place.
func TestDrifted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		at     int
		change func(all []Element)
		want   bool
	}{
		{"other words", 6, func(all []Element) { all[6].Name, all[6].Text = "Log in", "Log in" }, true},
		{"other identifiers", 5, func(all []Element) { all[5].ID = "mail" }, true},
		{"another row's", 3, func(all []Element) { all[3] = all[1]; all[3].Path = rows()[3].Path }, false},
		{"two changed", 6, func(all []Element) {
			all[6].Name, all[6].Text = "Log in", "Log in"
			all[1].Name, all[1].Text = "Take out", "Take out"
		}, false},
		{"its like came elsewhere, and it was wrapped", 6, func(all []Element) {
			all[4] = Element{Tag: "button", Role: "button", Name: "Sign in", Text: "Sign in", Class: "main", Path: "/html[1]/body[1]/aside[1]/button[1]"}
			all[6].Path = "/html[1]/body[1]/main[1]/form[1]/div[1]/button[1]"
		}, true},
		{"other words, and it was wrapped", 6, func(all []Element) {
			all[6].Name, all[6].Text, all[6].Path = "Log in", "Log in", "/html[1]/body[1]/main[1]/form[1]/div[1]/p[1]/button[1]"
		}, true},
		{"other words, other looks, and it was wrapped", 6, func(all []Element) {
			all[6].Name, all[6].Text, all[6].Class, all[6].Landmark, all[6].Path = "Log in", "Log in", "quiet", "", "/html[1]/body[1]/main[1]/form[1]/div[1]/p[1]/button[1]"
		}, false},
		{"nothing that named it stayed, in its place", 5, func(all []Element) { all[5].Name, all[5].ID, all[5].NameAttr = "Help", "", "" }, true},
		{"nothing that named it stayed, elsewhere", 5, func(all []Element) {
			all[5].Name, all[5].ID, all[5].NameAttr, all[5].Path = "Help", "", "", "/html[1]/body[1]/main[1]/form[1]/div[1]/input[1]"
		}, false},
		{"a plain box now", 6, func(all []Element) {
			all[6].Tag, all[6].Role, all[6].Name, all[6].Path = "div", "", "", "/html[1]/body[1]/main[1]/form[1]/div[1]"
		}, true},
		{"a plain box elsewhere", 6, func(all []Element) {
			all[6] = Element{Tag: "div", Text: "Sign in", Path: "/html[1]/body[1]/footer[1]/div[1]"}
		}, false},
		{"a field became a button", 5, func(all []Element) { all[5].Tag, all[5].Role = "button", "button" }, false},
		{"it moved and has other words", 6, func(all []Element) {
			all[6] = Element{Tag: "button", Role: "button", Name: "Help", Text: "Help", Path: "/html[1]/body[1]/footer[1]/button[1]"}
		}, false},
	} {
		now := rows()
		c.change(now)
		old, page := Prepare(rows()), Prepare(now)
		if got := drifted(&old.elements[c.at], &page.elements[c.at], old, page); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// TestLikeInOtherRows does not let the same button of another row stand for one whose row is
// still there.
func TestLikeInOtherRows(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	old := rows()
	for i := range old {
		if old[i].RowKey != "" && old[i].Tag == "button" {
			old[i].Name = "Remove"
		}
	}
	rest := append(append([]Element{}, old[:3]...), old[4:]...)
	if a := finder(m, old, rest).Find(3, Limits{}); a.Outcome != Report {
		t.Errorf("the row has no such button any more: %s (P %.3f), %q", a.Outcome, a.P, a.Candidates[0].Element.Path)
	}
	now := append([]Element{}, old...)
	now[3].Class, now[3].Path = "link", "/html[1]/body[1]/ul[1]/li[2]/div[1]/button[1]"
	if a := finder(m, old, now).Find(3, Limits{}); a.Outcome != Heal || a.Candidates[0].Index != 3 {
		t.Errorf("it moved within its row: %s (P %.3f, margin %.2f), %q", a.Outcome, a.P, a.Margin, a.Candidates[0].Element.Path)
	}
}

// TestRenamed proposes what stands where an element stood under names that are all others, and
// never heals to it: a look-alike in its place is as like.
func TestRenamed(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	for _, c := range []struct {
		what   string
		at     int
		change func(e *Element)
		want   bool
	}{
		{"other words", 6, func(e *Element) { e.Name, e.Text = "Log in", "Log in" }, true},
		{"other words and no identifiers", 5, func(e *Element) { e.Name, e.ID, e.NameAttr = "Help", "", "" }, true},
		{"more words", 6, func(e *Element) { e.Name, e.Text = "Sign in now", "Sign in now" }, false},
		{"other identifiers", 5, func(e *Element) { e.ID = "mail" }, false},
	} {
		now := rows()
		c.change(&now[c.at])
		a := finder(m, rows(), now).Find(c.at, Limits{})
		if a.Renamed != c.want || len(a.Candidates) == 0 || a.Candidates[0].Index != c.at || (a.Outcome == Heal) == c.want {
			t.Errorf("%s: renamed %v, %s (P %.3f): %s", c.what, a.Renamed, a.Outcome, a.P, a.Why)
		}
	}
}

// TestWrapped finds what was wrapped, and not what was put around it.
func TestWrapped(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	old := []Element{
		{Tag: "main", Path: "/html[1]/body[1]/main[1]", Text: "12 left in stock Buy"},
		{Tag: "p", Path: "/html[1]/body[1]/main[1]/p[1]", TestID: "stock", Class: "stock", Text: "12 left in stock", OwnText: "12 left in stock"},
		{Tag: "button", Role: "button", Name: "Buy", Text: "Buy", Path: "/html[1]/body[1]/main[1]/button[1]"},
	}
	now := []Element{old[0], old[1], old[2], {Tag: "div", Class: "wrapper", Path: "/html[1]/body[1]/main[1]/div[1]", Text: "12 left in stock"}}
	now[1].TestID, now[1].Path = "amount", "/html[1]/body[1]/main[1]/div[1]/p[1]"
	if a := finder(m, old, now).Find(1, Limits{}); len(a.Candidates) == 0 || a.Candidates[0].Index != 1 {
		t.Errorf("%s: %+v", a.Outcome, a.Candidates)
	}
}

// TestPutInside: of two that hold the same text, plain text is the one that kept its class, and a
// control the one that kept its tag.
func TestPutInside(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	rest := []Element{{Tag: "a", Text: "Help", Href: "/help", Path: "/html[1]/body[1]/a[1]"}, {Tag: "h1", Text: "Your profile", Path: "/html[1]/body[1]/h1[1]"}}
	for _, c := range []struct{ tag, outer, inner, role string }{{"label", "label", "span", ""}, {"button", "div", "button", "button"}} {
		old := append([]Element{{Tag: c.tag, Role: c.role, Class: "caption", Text: "Your e-mail", Path: "/html[1]/body[1]/" + c.tag + "[1]"}}, rest...)
		path := "/html[1]/body[1]/" + c.outer + "[1]"
		outer := Element{Tag: c.outer, Class: "field-frame", Text: "Your e-mail", Path: path}
		inner := Element{Tag: c.inner, Role: c.role, Class: "caption", Text: "Your e-mail", Path: path + "/" + c.inner + "[1]"}
		if c.role != "" { // what was put around took the class along
			outer.Class, inner.Class = "caption", "plain"
		}
		if a := finder(m, old, append([]Element{outer, inner}, rest...)).Find(0, Limits{}); len(a.Candidates) == 0 || a.Candidates[0].Index != 1 {
			t.Errorf("%s: %+v", c.tag, a.Candidates)
		}
	}
}
