package heal

import (
	"slices"
	"strings"
	"testing"

	"tas-service/internal/evidence"
	"tas-service/internal/relocate"
)

// shelf is a page with two rows that have the same buttons, and a form.
func shelf() []relocate.Element {
	el := func(path, tag, role, name, text string, more ...func(*relocate.Element)) relocate.Element {
		e := relocate.Element{Key: path, Path: path, Tag: tag, Role: role, Name: name, Text: text, OwnText: text}
		for _, m := range more {
			m(&e)
		}
		return e
	}
	class := func(s string) func(*relocate.Element) { return func(e *relocate.Element) { e.Class = s } }
	row := func(s string) func(*relocate.Element) { return func(e *relocate.Element) { e.RowKey = s } }
	box := func(e *relocate.Element) { e.OwnText = "" }
	return []relocate.Element{
		el("/html[1]/body[1]", "body", "", "", ""),
		el("/html[1]/body[1]/main[1]", "main", "main", "", ""),
		el("/html[1]/body[1]/main[1]/h1[1]", "h1", "heading", "Shelf", "Shelf"),
		el("/html[1]/body[1]/main[1]/ul[1]", "ul", "list", "", "", class("lines")),
		el("/html[1]/body[1]/main[1]/ul[1]/li[1]", "li", "listitem", "", "Tea Add", class("line"), box),
		el("/html[1]/body[1]/main[1]/ul[1]/li[1]/h2[1]", "h2", "heading", "Tea", "Tea", row("Tea")),
		el("/html[1]/body[1]/main[1]/ul[1]/li[1]/button[1]", "button", "button", "Add", "Add", class("soft"), row("Tea")),
		el("/html[1]/body[1]/main[1]/ul[1]/li[2]", "li", "listitem", "", "Mug Add", class("line"), box),
		el("/html[1]/body[1]/main[1]/ul[1]/li[2]/h2[1]", "h2", "heading", "Mug", "Mug", row("Mug")),
		el("/html[1]/body[1]/main[1]/ul[1]/li[2]/button[1]", "button", "button", "Add", "Add", class("soft"), row("Mug")),
		el("/html[1]/body[1]/main[1]/form[1]", "form", "", "", "", class("code")),
		el("/html[1]/body[1]/main[1]/form[1]/input[1]", "input", "textbox", "Code", "", func(e *relocate.Element) { e.ID, e.NameAttr, e.Hint = "code", "code", "AB12" }),
		el("/html[1]/body[1]/main[1]/form[1]/button[1]", "button", "button", "Apply", "Apply", class("soft main"), func(e *relocate.Element) { e.Form = "code" }),
		el("/html[1]/body[1]/main[1]/dl[1]/dt[1]", "dt", "term", "", "Subtotal"),
		el("/html[1]/body[1]/main[1]/dl[1]/dd[1]", "dd", "definition", "", "4.50"),
		el("/html[1]/body[1]/main[1]/dl[1]/dt[2]", "dt", "term", "", "Total"),
		el("/html[1]/body[1]/main[1]/dl[1]/dd[2]", "dd", "definition", "", "9.00", func(e *relocate.Element) { e.TestID = "total" }),
		el("/html[1]/body[1]/main[1]/em[1]", "em", "", "", "Your goods", func(e *relocate.Element) { e.TestID = "title" }),
		el("/html[1]/body[1]/main[1]/em[2]", "em", "", "", "Theirs"),
		el("/html[1]/body[1]/main[1]/span[1]", "span", "", "", "1", func(e *relocate.Element) { e.TestID = "count" }),
	}
}

// TestFind follows locators as Playwright does, and knows what it cannot follow.
func TestFind(t *testing.T) {
	t.Parallel()
	p := newPage(shelf(), "data-testid")
	for code, want := range map[string][]int{
		`getByRole('listitem').filter({ hasText: 'mug' }).getByRole('button')`:                               {9},
		`getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Tea' }) }).getByText('Add')`: {6},
		`getByRole('button', { name: 'Add' })`:                                                               {6, 9},
		`getByRole('button', { name: 'Add' }).nth(1)`:                                                        {9},
		`getByRole('button').last()`:                                                                         {12},
		`getByRole('heading', { level: 1 })`:                                                                 {2},
		`getByLabel('Code')`:                                                                                 {11},
		`getByLabel('Apply')`:                                                                                {},
		`locator('#code')`:                                                                                   {11},
		`locator('form.code button.soft')`:                                                                   {12},
		`locator('ul > li > button.soft')`:                                                                   {6, 9},
		`locator('main > button')`:                                                                           {},
		`locator('li:has-text("Mug") button')`:                                                               {9},
		`locator('h1 ~ form input[name="code"], h2')`:                                                        {5, 8, 11},
		`locator('h2:text-is("Mug") + button')`:                                                              {9},
		`locator('h2 + button')`:                                                                             {6, 9},
		`locator('[placeholder^="AB"]')`:                                                                     {11},
		`getByText('Mug')`:                                                                                   {8}, // the row has it too, further out
		`locator('main').getByRole('list').getByRole('listitem')`:                                            {4, 7},
		`getByRole('button', { name: /Add/ })`:                                                               nil,
		`locator('li:nth-child(2) button')`:                                                                  nil,
		`locator('//button')`:                                                                                nil,
		`locator('li', { hasText: 'Mug' })`:                                                                  nil,
		`getByRole('button', { pressed: true })`:                                                             nil,
		`getByRole('listitem').filter({ hasText: /Mug/ })`:                                                   nil,
	} {
		f := p.find(Parts(code))
		if f.known != (want != nil) {
			t.Errorf("%s: known %v", code, f.known)
		} else if want != nil && !slices.Equal(f.last(), want) && len(f.last())+len(want) > 0 {
			t.Errorf("%s: %v, want %v", code, f.last(), want)
		}
	}
}

// FuzzCSS never panics.
func FuzzCSS(f *testing.F) {
	for _, s := range []string{"#a .b", "a > b + c ~ d, e", `[a="b"]`, `li:has-text("x") b`, ">", "a,", "[a", "*"} {
		f.Add(s)
	}
	p := newPage(shelf(), "data-testid")
	f.Fuzz(func(t *testing.T, s string) {
		if c, ok := parseCSS(s); ok && len(s) < 200 {
			for i := range p.all {
				c.matches(p, i)
			}
		}
	})
}

// TestProposeOnPages changes a page between a passing and a failing run.
func TestProposeOnPages(t *testing.T) {
	t.Parallel()
	model, err := relocate.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	const total = "/html[1]/body[1]/main[1]/dl[1]/dd[2]"
	const count = "/html[1]/body[1]/main[1]/span[1]"
	const title = "/html[1]/body[1]/main[1]/em[1]"
	const apply, mugAdd = "/html[1]/body[1]/main[1]/form[1]/button[1]", "/html[1]/body[1]/main[1]/ul[1]/li[2]/button[1]"
	at := func(all []relocate.Element, path string) *relocate.Element {
		return &all[slices.IndexFunc(all, func(e relocate.Element) bool { return e.Path == path })]
	}
	for _, c := range []struct {
		what, method, locator, target string
		change                        func(all []relocate.Element) []relocate.Element
		outcome                       relocate.Outcome
		part                          int
		after                         string
	}{
		{"a class of CSS renamed", "click", "locator('form.code .main')", apply, func(all []relocate.Element) []relocate.Element {
			at(all, apply).Class = "soft primary"
			return all
		}, relocate.Heal, 0, "getByRole('button', { name: 'Apply' })"},
		{"in a row, nothing names it alone", "click", "getByRole('listitem').filter({ hasText: 'Mug' }).getByTestId('add')", mugAdd, func(all []relocate.Element) []relocate.Element {
			at(all, mugAdd).TestID = ""
			return all
		}, relocate.Heal, 2, "getByRole('button', { name: 'Add' })"},
		{"the row is a box now", "click", "getByRole('listitem').filter({ hasText: 'Mug' }).getByRole('button', { name: 'Add' })", mugAdd, func(all []relocate.Element) []relocate.Element {
			for i := range all {
				if all[i].Role == "listitem" {
					all[i].Role = ""
				}
			}
			return all
		}, relocate.Heal, 0, "locator('.line')"},
		{"all rows are boxes in other places now", "click", "getByRole('listitem').filter({ hasText: 'Mug' }).getByText('Add')", mugAdd, func(all []relocate.Element) []relocate.Element {
			for i := range all {
				if all[i].Role == "listitem" {
					all[i].Role, all[i].Tag = "", "div"
				}
				all[i].RowKey = ""
				all[i].Path = strings.Replace(strings.Replace(all[i].Path, "/ul[1]", "/div[1]", 1), "/li[", "/div[", 1)
			}
			return all
		}, relocate.Heal, 0, "locator('.line')"},
		{"another one of the name came", "click", "getByRole('button', { name: 'Apply' })", apply, func(all []relocate.Element) []relocate.Element {
			return append(all, relocate.Element{Path: "/html[1]/body[1]/aside[1]/button[1]", Tag: "button", Role: "button", Name: "Apply for a job", Text: "Apply for a job"})
		}, relocate.Heal, 0, "getByRole('button', { name: 'Apply', exact: true })"},
		{"other words, in a check", "expect", "getByRole('button', { name: 'Apply' })", apply, func(all []relocate.Element) []relocate.Element {
			at(all, apply).Name, at(all, apply).Text, at(all, apply).OwnText = "Use code", "Use code", "Use code"
			return all
		}, relocate.Propose, 0, "getByRole('button', { name: 'Use code' })"},
		{"another number, in a check, and a test ID beside it", "expect", "getByText('1', { exact: true })", count, func(all []relocate.Element) []relocate.Element {
			at(all, count).Text, at(all, count).OwnText = "14", "14"
			return all
		}, relocate.Propose, 0, "getByTestId('count')"},
		{"only what is checked names it", "expect-text", "getByTestId('title')", title, func(all []relocate.Element) []relocate.Element {
			at(all, title).TestID = ""
			return all
		}, relocate.Propose, 0, "getByText('Your goods')"},
		{"told by what stands beside it alone", "expect", "getByTestId('total')", total, func(all []relocate.Element) []relocate.Element {
			at(all, total).TestID = ""
			return all
		}, relocate.Heal, 0, `locator('dt:text-is("Total") + dd')`},
		{"other words, to press", "click", "getByRole('button', { name: 'Apply' })", apply, func(all []relocate.Element) []relocate.Element {
			at(all, apply).Name, at(all, apply).Text, at(all, apply).OwnText = "Use code", "Use code", "Use code"
			return all
		}, relocate.Propose, 0, "getByRole('button', { name: 'Use code' })"},
		{"gone", "click", "getByRole('button', { name: 'Apply' })", apply, func(all []relocate.Element) []relocate.Element {
			return slices.DeleteFunc(all, func(e relocate.Element) bool { return e.Path == apply })
		}, relocate.Report, 0, ""},
		{"gone, and the like is in the rows", "click", "getByTestId('add')", mugAdd, func(all []relocate.Element) []relocate.Element {
			return slices.DeleteFunc(all, func(e relocate.Element) bool { return e.Path == mugAdd })
		}, relocate.Report, 0, ""},
		{"the area and the words changed", "click", "getByRole('main').getByRole('button', { name: 'Apply' })", apply, func(all []relocate.Element) []relocate.Element {
			at(all, "/html[1]/body[1]/main[1]").Role = ""
			at(all, apply).Name, at(all, apply).Text, at(all, apply).OwnText = "Apply code", "Apply code", "Apply code"
			return all
		}, relocate.Heal, 0, "getByRole('button', { name: 'Apply code' })"},
		{"its like came elsewhere", "click", "getByRole('button', { name: 'Apply', exact: true })", apply, func(all []relocate.Element) []relocate.Element {
			at(all, apply).Name, at(all, apply).Text, at(all, apply).OwnText = "Apply …", "Apply …", "Apply …"
			return append(all, relocate.Element{Key: "like", Path: "/html[1]/body[1]/aside[1]/button[1]", Tag: "button", Role: "button", Name: "Apply …", Text: "Apply …", OwnText: "Apply …"})
		}, relocate.Heal, 0, "getByRole('main').getByRole('button', { name: 'Apply …' })"},
		{"nothing changed", "click", "getByRole('button', { name: 'Apply' })", apply, func(all []relocate.Element) []relocate.Element { return all }, relocate.Report, -1, ""},
	} {
		was := shelf()
		if c.locator != "getByRole('button', { name: 'Apply' })" {
			at(was, mugAdd).TestID = "add"
		}
		now := slices.Clone(was)
		if Parts(c.locator)[0].method == "getByTestId" {
			at(now, mugAdd).TestID = "gone"
		}
		step := evidence.Step{Method: c.method, Locator: c.locator}
		if c.method == "expect-text" {
			step.Method, step.Matcher = "expect", "to.have.text"
		}
		passed, failed := step, step
		passed.Page, passed.Target = was, at(was, c.target)
		failed.Page, failed.Error = c.change(now), "Timeout"
		if c.method == "expect" {
			passed.Matcher, failed.Matcher = "to.be.visible", "to.be.visible"
		}
		p := Propose(model, evidence.Test{TestIDs: "data-testid", Steps: []evidence.Step{failed}}, 0, []evidence.Test{{Steps: []evidence.Step{passed}}})
		if p.Outcome != c.outcome || p.Part != c.part || p.After != c.after {
			t.Errorf("%s: %s, part %d, %q: %s (P %.3f)", c.what, p.Outcome, p.Part, p.After, p.Why, p.Answer.P)
		}
		if deed := p.ByDeed(relocate.DefaultLimits()); deed != (c.what == "other words, to press") {
			t.Errorf("%s: that what it does decides: %v", c.what, deed)
		}
	}
}

// TestSoften asks a person about other words of a check, and not about the label of a field.
func TestSoften(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		now  relocate.Element
		want relocate.Outcome
	}{
		{relocate.Element{Tag: "h1", Text: "Thanks"}, relocate.Propose},
		{relocate.Element{Tag: "h1", Text: "THANK YOU"}, relocate.Heal},
		{relocate.Element{Tag: "input", Name: "Thanks"}, relocate.Heal},
	} {
		p := Proposal{Outcome: relocate.Heal, Before: "getByRole('heading', { name: 'Thank you', exact: true })", Step: evidence.Step{Method: "expect"}}
		p.soften(Parts(p.Before), &c.now)
		if p.Outcome != c.want {
			t.Errorf("%+v: %s", c.now, p.Outcome)
		}
	}
}

// TestAnotherNumber leaves it to a person whether another number is as right, whatever the step does.
func TestAnotherNumber(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]relocate.Outcome{
		"getByRole('link', { name: 'Side 2' })": relocate.Heal, "getByRole('link', { name: 'Page 3' })": relocate.Propose, "getByTestId('page-3')": relocate.Heal,
	} {
		p := Proposal{Outcome: relocate.Heal, Before: "getByRole('link', { name: 'Page 2' })", After: after, Step: evidence.Step{Method: "click"}}
		p.soften(Parts(p.Before), &relocate.Element{Name: "Page 3"})
		if p.Outcome != want {
			t.Errorf("%s: %s", after, p.Outcome)
		}
	}
}
