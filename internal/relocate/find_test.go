package relocate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func shippedModel(t testing.TB) *Model {
	t.Helper()
	m, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// page draws a page as applications have them: a navigation, a form, a table whose rows have
// the same buttons. Each thing on it has a name of its own.
func page(t *rapid.T) []Element {
	nouns := rapid.SampledFrom([]string{"order", "invoice", "customer", "ticket", "shipment"})
	noun := nouns.Draw(t, "noun")
	var out []Element
	add := func(e Element) {
		e.Key = fmt.Sprint(len(out))
		if i := len(out); rapid.Bool().Draw(t, "boxed") {
			e.Box = &Box{X: float64(10 * (i % 7)), Y: float64(30 * i), Width: 90, Height: 24}
		}
		out = append(out, e)
	}
	links := []string{"home", "reports", "settings", "team", "billing", "help"}
	for i, l := range links[:rapid.IntRange(2, len(links)).Draw(t, "links")] {
		add(Element{Tag: "a", Class: "nav-link", Href: "/" + l, Text: l, Path: fmt.Sprintf("/html[1]/body[1]/nav[1]/ul[1]/li[%d]/a[1]", i+1), Landmark: "navigation"})
	}
	add(Element{Tag: "h1", Text: noun + " list", Path: "/html[1]/body[1]/main[1]/h1[1]"})
	for i, f := range []string{"street", "email", "phone"}[:rapid.IntRange(1, 3).Draw(t, "fields")] {
		add(Element{Tag: "input", Type: "text", NameAttr: f, ID: noun + "-" + f, Hint: "your " + f, Path: fmt.Sprintf("/html[1]/body[1]/main[1]/form[1]/div[%d]/input[1]", i+1), Form: "contact"})
	}
	add(Element{Tag: "button", Type: "submit", TestID: "save-" + noun, Class: "btn btn-primary", Text: "save changes", Path: "/html[1]/body[1]/main[1]/form[1]/button[1]", Form: "contact"})
	for i := range rapid.IntRange(2, 6).Draw(t, "rows") {
		row := fmt.Sprintf("/html[1]/body[1]/main[1]/table[1]/tbody[1]/tr[%d]", i+1)
		key := fmt.Sprintf("%s %d", noun, 1000+i*7)
		add(Element{Tag: "a", Class: "row-link", Href: fmt.Sprintf("/%ss/%d", noun, 1000+i*7), Text: key, Path: row + "/td[1]/a[1]", RowKey: key})
		add(Element{Tag: "button", Class: "row-edit", Text: "edit", Name: "edit " + key, Path: row + "/td[2]/button[1]", RowKey: key, Near: []string{key}})
	}
	return out
}

func finder(m *Model, old, now []Element) *Finder { return NewFinder(m, Prepare(old), Prepare(now)) }

func TestSamePageHeals(t *testing.T) {
	m := shippedModel(t)
	rapid.Check(t, func(t *rapid.T) {
		old := page(t)
		f := finder(m, old, old)
		for i := range old {
			a := f.Find(i, Limits{})
			if a.Candidates[0].Index != i || a.P < 0.97 || a.Outcome != Heal {
				t.Fatalf("%+v: %s p %.3f, first %+v", old[i], a.Outcome, a.P, *a.Candidates[0].Element)
			}
		}
	})
}

func TestOrderDoesNotCount(t *testing.T) {
	m := shippedModel(t)
	rapid.Check(t, func(t *rapid.T) {
		old := page(t)
		now := rapid.Permutation(slices.Clone(old)).Draw(t, "order")
		removed := rapid.IntRange(0, len(now)-1).Draw(t, "removed")
		now = slices.Delete(now, removed, removed+1)
		straight := slices.Clone(now)
		slices.SortFunc(straight, func(a, b Element) int { return strings.Compare(a.Path, b.Path) })
		f, g := finder(m, old, now), finder(m, old, straight)
		for i := range old {
			a, b := f.Find(i, Limits{}), g.Find(i, Limits{})
			if a.Outcome != b.Outcome || abs(a.P-b.P) > 1e-9 || len(a.Candidates) != len(b.Candidates) {
				t.Fatalf("%s %.6f, in another order %s %.6f", a.Outcome, a.P, b.Outcome, b.P)
			}
			for k := range a.Candidates {
				if a.Candidates[k].Element.Key != b.Candidates[k].Element.Key || !slices.Equal(a.Candidates[k].Why, b.Candidates[k].Why) {
					t.Fatalf("candidate %d: %s %v %v, in another order %s %v %v", k, a.Candidates[k].Element.Key, a.Candidates[k].Share, a.Candidates[k].Why, b.Candidates[k].Element.Key, b.Candidates[k].Share, b.Candidates[k].Why)
				}
			}
		}
	})
}

func TestRemovedNeverHeals(t *testing.T) {
	m := shippedModel(t)
	rapid.Check(t, func(t *rapid.T) {
		old := page(t)
		gone := rapid.IntRange(0, len(old)-1).Draw(t, "gone")
		now := slices.Delete(slices.Clone(old), gone, gone+1)
		if a := finder(m, old, now).Find(gone, Limits{}); a.Outcome == Heal {
			t.Fatalf("%+v is gone, yet healed to %+v (p %.3f)", old[gone], *a.Candidates[0].Element, a.P)
		}
		// also where the rest of the old page is not known
		if a := finder(m, old[gone:gone+1], now).Find(0, Limits{}); a.Outcome == Heal {
			t.Fatalf("%+v is gone, yet healed to %+v (p %.3f), nothing else known", old[gone], *a.Candidates[0].Element, a.P)
		}
	})
}

func abs(x float64) float64 { return max(x, -x) }

func TestDrift(t *testing.T) {
	m := shippedModel(t)
	save := Element{Key: "save", Tag: "button", ID: "save", Class: "btn primary", Text: "Save changes", Path: "/html[1]/body[1]/main[1]/form[1]/button[1]"}
	cancel := Element{Key: "back", Tag: "button", ID: "back", Class: "btn", Text: "Go back", Path: "/html[1]/body[1]/main[1]/form[1]/button[2]"}
	email := Element{Key: "email", Tag: "input", Type: "email", NameAttr: "email", ID: "email", Hint: "you@example.org", Path: "/html[1]/body[1]/main[1]/form[1]/input[1]"}
	link := Element{Key: "link", Tag: "a", Href: "/terms", Text: "Terms", Path: "/html[1]/body[1]/footer[1]/a[1]"}
	old := []Element{save, cancel, email, link}
	changed := func(change func(*Element)) []Element {
		now := slices.Clone(old)
		change(&now[0])
		return now
	}
	for _, c := range []struct {
		name string
		now  []Element
	}{
		{"renamed ID", changed(func(e *Element) { e.ID = "submit-form" })},
		{"no ID, other classes", changed(func(e *Element) { e.ID, e.Class = "", "css-1x2y3z" })},
		{"other words", changed(func(e *Element) { e.Text = "Save" })},
		{"moved", changed(func(e *Element) { e.Path = "/html[1]/body[1]/main[1]/div[2]/form[1]/div[1]/button[1]" })},
		{"a link now", changed(func(e *Element) { e.Tag = "a" })},
	} {
		a := finder(m, old, c.now).Find(0, Limits{})
		if a.Candidates[0].Element.Key != "save" || a.Outcome == Report {
			t.Errorf("%s: %s p %.3f, first %s", c.name, a.Outcome, a.P, a.Candidates[0].Element.Key)
		}
		if len(a.Candidates[0].Why) == 0 || len(a.Candidates[1].Why) == 0 {
			t.Errorf("%s: no reasons: %+v", c.name, a.Candidates)
		}
	}
}

// TestOccupied removes an element and leaves one that is much like it, but was somebody else.
func TestOccupied(t *testing.T) {
	m := shippedModel(t)
	old := []Element{
		{Tag: "button", Class: "btn", Text: "Save draft", Path: "/html[1]/body[1]/form[1]/button[1]"},
		{Tag: "button", Class: "btn", Text: "Save", Path: "/html[1]/body[1]/form[1]/button[2]"},
	}
	now := []Element{{Tag: "button", Class: "btn", Text: "Save", Path: "/html[1]/body[1]/form[1]/button[1]"}}
	alone, known := finder(m, old[:1], now).Find(0, Limits{}), finder(m, old, now).Find(0, Limits{})
	if known.P >= alone.P/2 || known.Outcome == Heal {
		t.Errorf("p %.3f where it is known to be another's, %.3f where it is not", known.P, alone.P)
	}
}

// TestRowMovedUp removes the first row of a list whose buttons are all alike: the second row's
// button is then where the first one's was, and must not pass for it.
func TestRowMovedUp(t *testing.T) {
	m := shippedModel(t)
	list := func(names ...string) []Element {
		out := []Element{{Key: "title", Tag: "h1", Text: "People", Path: "/html[1]/body[1]/h1[1]"}}
		for i, n := range names {
			row := fmt.Sprintf("/html[1]/body[1]/table[1]/tr[%d]", i+1)
			out = append(out,
				Element{Key: n, Tag: "a", Text: n, Path: row + "/td[1]/a[1]"},
				Element{Key: "edit " + n, Tag: "button", Class: "edit", Text: "Edit", Path: row + "/td[2]/button[1]"})
		}
		return out
	}
	old := list("Ada", "Grace", "Alan", "Edsger")
	if a := finder(m, old, list("Grace", "Alan", "Edsger")).Find(2, Limits{}); a.Outcome == Heal {
		t.Errorf("Ada's row is gone, yet healed to %q (p %.3f)", a.Candidates[0].Element.Key, a.P)
	}
	if a := finder(m, old[2:3], list("Grace")).Find(0, Limits{}); a.Outcome == Heal {
		t.Errorf("nothing else is known, yet healed to %q (p %.3f)", a.Candidates[0].Element.Key, a.P)
	}
	a, b := Prepare(list("Ada", "Grace")), Prepare(list("Grace"))
	if unchanged(&a.elements[2], &b.elements[2], a, b) {
		t.Error("one of two equal buttons passes for the one that is left")
	}
	if !unchanged(&a.elements[0], &b.elements[0], a, b) {
		t.Error("the title did not change")
	}
}

// TestContext looks at the features themselves: two old elements, of which one moved with its
// neighbour, and a candidate that both would take.
func TestContext(t *testing.T) {
	old := []Element{
		{Tag: "button", Text: "Save draft", Path: "/html[1]/body[1]/form[1]/div[1]/button[1]"},
		{Tag: "button", Text: "Save", Path: "/html[1]/body[1]/form[1]/div[1]/button[2]"},
	}
	now := []Element{
		{Tag: "button", Text: "Save", Path: "/html[1]/body[1]/main[1]/form[1]/div[1]/button[2]"},
		{Tag: "button", Text: "Keep", Path: "/html[1]/body[1]/main[1]/form[1]/div[1]/button[1]"},
		{Tag: "button", Text: "Help", Path: "/html[1]/body[1]/footer[1]/button[1]"},
	}
	f := finder(shippedModel(t), old, now)
	evidence := f.RankEvidence(0)
	names := RankNames()
	at := func(c int, name string) float64 { return evidence[c][slices.Index(names, name)] }
	if at(0, "occupied") < 0.5 || at(1, "occupied") != 0 || at(0, "claim") <= at(1, "claim") {
		t.Errorf("occupied %v, %v; claim %v, %v", at(0, "occupied"), at(1, "occupied"), at(0, "claim"), at(1, "claim"))
	}
	for _, n := range []string{"beside", "beside-tags", "beside-index", "order", "close"} {
		if at(1, n) < 0.99 || at(2, n) > 0.5 {
			t.Errorf("%s: %v beside the neighbour, %v in the footer", n, at(1, n), at(2, n))
		}
	}
}

// TestOrderNotKnown: between children of different tags a path tells no order, and that is not
// taken for another order.
func TestOrderNotKnown(t *testing.T) {
	link := func(text, path string) Element {
		return Element{Tag: "a", Text: text, Path: "/html[1]/body[1]/" + path}
	}
	old := []Element{link("Account", "div[1]/a[2]"), link("Orders today", "div[1]/a[1]"), link("Imprint and contact", "div[1]/a[3]")}
	now := []Element{link("Your account", "nav[1]/div[1]/a[2]"), link("Orders today", "nav[1]/div[1]/a[1]"), link("Imprint and contact", "div[1]/a[3]")}
	evidence := finder(shippedModel(t), old, now).RankEvidence(0)
	names := RankNames()
	order, ordered := evidence[0][slices.Index(names, "order")], evidence[0][slices.Index(names, "ordered")]
	if order != 1 || ordered <= 0.1 || ordered >= 0.9 {
		t.Errorf("after the one whose order is known by %v, which is %v of all", order, ordered)
	}
}

// TestNearby: of many matched elements, the nearest in the tree are asked.
func TestNearby(t *testing.T) {
	var old []Element
	for i := range 12 {
		old = append(old, Element{Tag: "a", Text: fmt.Sprintf("link %c", 'a'+i), Path: fmt.Sprintf("/html[1]/body[1]/div[%d]/ul[1]/li[1]/a[1]", i+1)})
	}
	near := Element{Tag: "a", Text: "nearest", Path: "/html[1]/body[1]/div[13]/ul[1]/li[1]/a[1]"}
	target := Element{Tag: "a", Text: "target", Path: "/html[1]/body[1]/div[13]/ul[1]/li[2]/a[1]"}
	f := finder(shippedModel(t), append(old, near, target), append(old, near, target))
	got := nearby(f.whole.rows[13], f.whole.rows)
	if len(got) != neighbours || got[0].old.Text != "nearest" || got[0].way != 4 {
		t.Errorf("%d, first %q", len(got), got[0].old.Text)
	}
}

// TestLargePage goes the way of large pages, on which not all is compared with all.
func TestLargePage(t *testing.T) {
	m := shippedModel(t)
	var old, now []Element
	for i := range 400 {
		e := Element{Key: fmt.Sprint(i), Tag: "a", Class: "item", Text: fmt.Sprintf("article %c%c %d", 'a'+i%26, 'a'+i/26, i), Href: fmt.Sprintf("/articles/%d", i), Path: fmt.Sprintf("/html[1]/body[1]/ul[1]/li[%d]/a[1]", i+1)}
		old = append(old, e)
		e.Class, e.Path = "entry", fmt.Sprintf("/html[1]/body[1]/div[1]/ul[1]/li[%d]/a[1]", i+1)
		now = append(now, e)
	}
	f := finder(m, old, now)
	if f.whole != nil {
		t.Fatal("the page is not large")
	}
	for i := 0; i < len(old); i += 37 {
		if a := f.Find(i, Limits{}); a.Outcome != Heal || a.Candidates[0].Element.Key != old[i].Key {
			t.Errorf("%d: %s p %.3f %s", i, a.Outcome, a.P, a.Candidates[0].Element.Key)
		}
	}
	f = finder(m, old, slices.Delete(slices.Clone(now), 111, 112))
	if a := f.Find(111, Limits{}); a.Outcome == Heal {
		t.Errorf("gone, yet healed to %+v", *a.Candidates[0].Element)
	}
}

func TestEmpty(t *testing.T) {
	m := shippedModel(t)
	if a := finder(m, []Element{{}}, nil).Find(0, Limits{}); a.Outcome != Report {
		t.Errorf("%+v", a)
	}
	if a := finder(m, []Element{{}}, []Element{{}, {}}).Find(0, Limits{}); a.Outcome == Heal {
		t.Errorf("nothing is known, yet %+v", a)
	}
}
