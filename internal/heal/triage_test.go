package heal

import (
	"strings"
	"testing"

	"tas-service/internal/attempt"
	"tas-service/internal/evidence"
	"tas-service/internal/relocate"
)

// step makes a step of a test that was done at a line.
func step(line int, method, locator string, change ...func(*evidence.Step)) evidence.Step {
	s := evidence.Step{Method: method, Locator: locator, Selector: locator, URL: "http://127.0.0.1:1/shop", Stack: []evidence.Frame{{File: "tests/a.spec.ts", Line: line, Column: 3}}}
	if method == "expect" {
		s.Matcher = "to.have.text"
	}
	s.Page = []relocate.Element{{Tag: "button", Role: "button", Name: "Save", Path: "/html[1]/body[1]/button[1]", TestID: "save"}}
	s.Target = &s.Page[0]
	for _, c := range change {
		c(&s)
	}
	return s
}

func failed(s *evidence.Step) { s.Error, s.Target = "Timeout", nil }

func at(url string) func(*evidence.Step) { return func(s *evidence.Step) { s.URL = url } }

func calls(cs ...evidence.Call) func(*evidence.Step) {
	return func(s *evidence.Step) { s.Effect.Calls = cs }
}

// TestTriage puts failures into their classes, the first that fits.
func TestTriage(t *testing.T) {
	t.Parallel()
	model, err := relocate.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	fine := evidence.Test{Steps: []evidence.Step{step(1, "click", "getByTestId('open')", calls(evidence.Call{Method: "POST", Path: "loopback/cart", Status: 201})), step(2, "click", "getByTestId('save')")}}
	seen := []evidence.Test{fine}
	was := func(change ...func(*evidence.Step)) evidence.Test {
		return evidence.Test{Steps: []evidence.Step{step(1, "click", "getByTestId('open')", change...), step(2, "click", "getByTestId('save')", failed)}}
	}
	posted := calls(evidence.Call{Method: "POST", Path: "loopback/cart", Status: 201})
	more := func(s *evidence.Step) {
		s.Page = append(s.Page, relocate.Element{Tag: "p", Text: "Opened", Path: "/html[1]/body[1]/p[1]"})
	}
	opened := evidence.Test{Steps: []evidence.Step{fine.Steps[0], step(2, "click", "getByTestId('save')", more)}}
	waiting := "TimeoutError: locator.click: Timeout 2000ms exceeded.\nCall log:\n  - waiting for getByTestId('save')\n"
	for name, c := range map[string]struct {
		c    Case
		want Class
	}{
		"refused": {Case{Message: "page.goto: net::ERR_CONNECTION_REFUSED at http://x", Step: -1}, Environment},
		"no name": {Case{Message: "getaddrinfo ENOTFOUND shop", Step: -1}, Environment},
		"crashed": {Case{Message: "locator.click: Target page, context or browser has been closed", Step: -1}, Environment},
		"sign-in": {Case{Message: waiting, Failed: evidence.Test{Steps: []evidence.Step{step(2, "click", "getByTestId('save')", failed, at("https://h/login?to=x"))}}, Step: 0, Passing: seen}, Environment},
		"asks a password": {Case{Message: waiting, Failed: evidence.Test{Steps: []evidence.Step{step(2, "click", "getByTestId('save')", failed, func(s *evidence.Step) {
			s.Page = []relocate.Element{{Tag: "input", Type: "password", Path: "/html[1]/body[1]/input[1]"}}
		})}}, Step: 0, Passing: seen}, Environment},
		"nobody answers":                {Case{Message: waiting, Failed: was(calls(evidence.Call{Method: "POST", Path: "loopback/cart", Unreached: true})), Step: 1, Passing: seen}, Environment},
		"nobody answers what never did": {Case{Message: waiting, Failed: was(calls(evidence.Call{Method: "POST", Path: "loopback/cart", Status: 201}, evidence.Call{Method: "POST", Path: "ads.example/", Unreached: true})), Step: 1, Passing: seen}, Timing},
		"the browser's page":            {Case{Message: waiting, Failed: evidence.Test{Steps: []evidence.Step{step(2, "click", "getByTestId('save')", failed, at("chrome-error://chromewebdata/"))}}, Step: 0, Passing: seen}, Environment},
		"a page that is not there": {Case{Message: waiting, Failed: was(func(s *evidence.Step) {
			s.Effect = evidence.Effect{Calls: []evidence.Call{{Method: "GET", Path: "loopback/nowhere", Status: 404}}, Navigated: "loopback/nowhere"}
		}), Step: 1, Passing: seen}, ApplicationBug},
		"500":                                {Case{Message: waiting, Failed: was(calls(evidence.Call{Method: "POST", Path: "loopback/cart", Status: 500})), Step: 1, Passing: seen}, ApplicationBug},
		"new 404":                            {Case{Message: waiting, Failed: was(calls(evidence.Call{Method: "POST", Path: "loopback/cart", Status: 404})), Step: 1, Passing: seen}, ApplicationBug},
		"uncaught":                           {Case{Message: waiting, Failed: was(posted, func(s *evidence.Step) { s.Effect.Uncaught = 1 }), Step: 1, Passing: seen}, ApplicationBug},
		"no effect":                          {Case{Message: waiting, Failed: was(), Step: 1, Passing: seen}, ApplicationBug},
		"disabled":                           {Case{Message: waiting + "  - locator resolved to <button disabled>Save</button>\n  - attempting click action\n    - element is not enabled", Step: -1}, ApplicationBug},
		"hidden":                             {Case{Message: waiting + "  - locator resolved to <button>Save</button>\n    - element is not visible", Step: -1}, ApplicationBug},
		"number":                             {Case{Message: "expect(locator).toHaveText(expected) failed\n\nExpected: \"Total 12.00\"\nReceived: \"Total 13.00\"", Step: -1}, ApplicationBug},
		"count":                              {Case{Message: "Expected: 3\nReceived: 2", Step: -1}, ApplicationBug},
		"something else":                     {Case{Message: "Expected string: \"Thank you\"\nReceived string: \"Card declined\"", Step: -1}, ApplicationBug},
		"wording":                            {Case{Message: "Expected: \"Your order was placed\"\nReceived: \"Your order has been placed\"", Step: -1}, Wording},
		"not found":                          {Case{Message: "Expected: visible\nReceived: <element(s) not found>", Step: -1}, Unknown},
		"covered":                            {Case{Message: waiting + "  - <div class=\"cookies\">Cookies</div> intercepts pointer events", Step: -1}, Overlay},
		"before":                             {Case{Message: waiting, Failed: was(posted), Step: 1, Passing: seen, Before: "Run x of main"}, PreExisting},
		"another page":                       {Case{Message: waiting, Failed: evidence.Test{Steps: []evidence.Step{step(1, "click", "getByTestId('open')", posted), step(2, "click", "getByTestId('save')", failed, at("http://127.0.0.1:1/terms"))}}, Step: 1, Passing: seen}, Flow},
		"never seen":                         {Case{Message: waiting, Failed: was(posted), Step: 1}, Unknown},
		"no trace":                           {Case{Message: waiting, Step: -1, Passing: seen}, Unknown},
		"too late":                           {Case{Message: waiting, Failed: was(posted), Step: 1, Passing: seen}, Timing},
		"a click that changes nothing":       {Case{Message: waiting, Failed: evidence.Test{Steps: []evidence.Step{step(1, "click", "getByTestId('open')", posted), step(2, "click", "getByTestId('save')", failed)}}, Step: 1, Passing: []evidence.Test{opened}}, ApplicationBug},
		"a click that changes something":     {Case{Message: waiting, Failed: evidence.Test{Steps: []evidence.Step{step(1, "click", "getByTestId('open')", posted), step(2, "click", "getByTestId('save')", failed, more)}}, Step: 1, Passing: []evidence.Test{opened}}, Timing},
		"a click that never changed a thing": {Case{Message: waiting, Failed: was(posted), Step: 1, Passing: []evidence.Test{opened, fine}}, Timing},
		"sent, but later":                    {Case{Message: waiting, Failed: evidence.Test{Steps: []evidence.Step{step(1, "click", "getByTestId('open')"), step(2, "click", "getByTestId('save')", failed, posted)}}, Step: 1, Passing: seen}, Timing},
	} {
		j := Triage(model, c.c)
		if j.Class != c.want || j.Why == "" {
			t.Errorf("%s: %s (%s), want %s", name, j.Class, j.Why, c.want)
		}
		if (j.Class == Environment || j.Class == ApplicationBug) && len(j.Evidence) == 0 {
			t.Errorf("%s: no evidence", name)
		}
	}
}

// TestCompare sees each way in which a repaired test does less, or something else, than before.
func TestCompare(t *testing.T) {
	t.Parallel()
	post := evidence.Call{Method: "POST", Path: "h/orders", Status: 201}
	was := evidence.Test{Steps: []evidence.Step{step(1, "goto", ""), step(2, "click", "getByTestId('old')", calls(post)), step(3, "expect", "getByRole('status')"), step(4, "expect", "getByRole('alert')", func(s *evidence.Step) { s.Matcher = "to.be.hidden" })}}
	f := Finding{Step: &StepSeen{Method: "click", Locator: "getByTestId('old')", File: "tests/a.spec.ts", Line: 2}}
	good := func() evidence.Test {
		x := evidence.Test{Steps: append([]evidence.Step{}, was.Steps...)}
		x.Steps[1] = step(2, "click", "getByTestId('new')", calls(post))
		return x
	}
	for name, c := range map[string]struct {
		change func(*evidence.Test)
		broken string
	}{
		"as before":      {func(*evidence.Test) {}, ""},
		"one step less":  {func(x *evidence.Test) { x.Steps = x.Steps[1:] }, "steps"},
		"no assertion":   {func(x *evidence.Test) { x.Steps = x.Steps[:3] }, "assertions"},
		"another effect": {func(x *evidence.Test) { x.Steps[1].Effect = evidence.Effect{} }, "effect"},
		"another status": {func(x *evidence.Test) {
			x.Steps[1].Effect.Calls = []evidence.Call{{Method: "POST", Path: "h/orders", Status: 422}}
		}, "effect"},
		"it throws":   {func(x *evidence.Test) { x.Steps[1].Effect.Uncaught = 2 }, "effect"},
		"not reached": {func(x *evidence.Test) { x.Steps[1].Stack = nil; x.Steps = append(x.Steps, step(9, "click", "x")) }, "effect"},
	} {
		x := good()
		c.change(&x)
		for _, k := range Compare([]evidence.Test{was}, x, f) {
			if k.OK != (k.What != c.broken) {
				t.Errorf("%s: %s is %v: %s", name, k.What, k.OK, k.Note)
			}
		}
	}
}

// TestCheckPatch takes the edits that were ordered and nothing else.
func TestCheckPatch(t *testing.T) {
	t.Parallel()
	good := attempt.Edited{Edits: []attempt.EditDone{{File: "tests/a.ts", Before: "'old'", After: "'new'"}},
		Patch: "diff --git a/e2e/tests/a.ts b/e2e/tests/a.ts\n--- a/e2e/tests/a.ts\n+++ b/e2e/tests/a.ts\n@@ -1,2 +1,2 @@\n import x\n-await page.getByTestId('old').click();\n+await page.getByTestId('new').click();\n"}
	ordered := []attempt.Edit{{Replacement: "getByTestId('new')"}}
	if err := CheckPatch(good, ordered, "e2e"); err != nil {
		t.Error(err)
	}
	twice := good
	twice.Edits = append(twice.Edits, good.Edits[0])
	if err := CheckPatch(twice, append(ordered, ordered...), "e2e"); err != nil {
		t.Errorf("ordered twice: %v", err)
	}
	over := attempt.Edited{Edits: []attempt.EditDone{{File: "tests/a.ts", Before: "getByRole('region')\n  .getByTestId('buy')", After: "getByRole('form').getByTestId('order')"}},
		Patch: "diff --git a/e2e/tests/a.ts b/e2e/tests/a.ts\n--- a/e2e/tests/a.ts\n+++ b/e2e/tests/a.ts\n@@ -1,2 +1,1 @@\n-await page.getByRole('region')\n-  .getByTestId('buy').click();\n+await page.getByRole('form').getByTestId('order').click();\n"}
	if err := CheckPatch(over, []attempt.Edit{{Part: 0, Through: 1, Replacement: "getByRole('form').getByTestId('order')"}}, "e2e"); err != nil {
		t.Errorf("over two lines: %v", err)
	}
	for name, change := range map[string]func(e *attempt.Edited){
		"one line more": func(e *attempt.Edited) { e.Patch += "+test.skip();\n" },
		"one line less": func(e *attempt.Edited) { e.Patch += "-await expect(x).toBeVisible();\n" },
		"something beside": func(e *attempt.Edited) {
			e.Patch = strings.Replace(e.Patch, "'new').click()", "'new').click({ force: true })", 1)
		},
		"another file": func(e *attempt.Edited) { e.Patch = strings.ReplaceAll(e.Patch, "tests/a.ts", ".ci/run") },
		"another edit": func(e *attempt.Edited) { e.Edits[0].After = "'other'" },
		"a new mode": func(e *attempt.Edited) {
			e.Patch = strings.Replace(e.Patch, "--- a", "old mode 100644\nnew mode 100755\n--- a", 1)
		},
		"other words": func(e *attempt.Edited) {
			e.Edits[0].After = "'x'"
			e.Patch = strings.ReplaceAll(e.Patch, "'new'", "'x'")
		},
		"no source": func(e *attempt.Edited) {
			e.Edits[0].File = "tests/a.yml"
			e.Patch = strings.ReplaceAll(e.Patch, "a.ts", "a.yml")
		},
		"a hidden folder": func(e *attempt.Edited) {
			e.Edits[0].File = ".github/a.ts"
			e.Patch = strings.ReplaceAll(e.Patch, "tests/a.ts", ".github/a.ts")
		},
		"nothing ordered": func(e *attempt.Edited) { e.Edits = nil },
	} {
		e := good
		e.Edits = append([]attempt.EditDone{}, good.Edits...)
		change(&e)
		if CheckPatch(e, ordered, "e2e") == nil {
			t.Errorf("%s is let through", name)
		}
	}
}

// TestPlanSabotage plans what can be broken at the repaired step.
func TestPlanSabotage(t *testing.T) {
	t.Parallel()
	x := evidence.Test{Steps: []evidence.Step{step(1, "goto", ""), step(2, "click", "new"), step(2, "click", "new", calls(evidence.Call{Method: "POST", Path: "h/x", Status: 200}, evidence.Call{Method: "GET", Path: "h/y", Status: 200})), step(3, "expect", "said")}}
	f := Finding{Step: &StepSeen{Method: "click", File: "tests/a.spec.ts", Line: 2, Turn: 1}, Candidates: []CandidateSeen{{Label: "a", Path: "/form[1]/label[1]/input[1]"}, {Label: "its label", Path: "/form[1]/label[1]", Rival: "getByText('a')"},
		{Label: "another label", Path: "/form[1]/label[2]", Rival: "getByText('c')"}, {Label: "b", Path: "/form[1]/input[1]", Rival: "getByText('b')"}}}
	plan := PlanSabotage(x, f)
	var kinds []string
	for _, p := range plan {
		kinds = append(kinds, string(p.Order.Kind))
	}
	if got := strings.Join(kinds, " "); got != "remove handler request text rival" {
		t.Fatal(got)
	}
	if o := plan[0].Order; o.Turn != 1 || o.Selector != "new" || o.LimitMs < sabotageLeastMs {
		t.Errorf("%+v", o)
	}
	if cs := plan[2].Order.Calls; len(cs) != 1 || cs[0].Method != "POST" {
		t.Errorf("%+v", cs)
	}
	if o := plan[4].Order; o.Rival != "getByText('b')" {
		t.Errorf("the rival is %s", o.Rival)
	}
	if o := plan[3].Order; o.Selector != "said" || o.Method != "expect" {
		t.Errorf("%+v", o)
	}
	f.Step.Method, f.Step.Line, f.Step.Turn = "expect", 3, 0
	if plan := PlanSabotage(x, f); len(plan) != 3 || plan[1].Order.Kind != attempt.SabotageText {
		t.Errorf("of an assertion: %+v", plan)
	}
}

// TestPlainWords keeps strangers' words from being Markdown.
func TestPlainWords(t *testing.T) {
	t.Parallel()
	if got, want := plainWords("it is “a `b` [c](d)” and *not* <b> @x #1"), "it is `` a `b` [c](d) `` and \\*not\\* &lt;b> @\u200bx #\u200b1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAtFault reports what is there and of no use, and what a check asks for and the page does not
// say, and leaves it to a person whether other words say the same.
func TestAtFault(t *testing.T) {
	t.Parallel()
	model, err := relocate.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	waiting := "TimeoutError: locator.click: Timeout 2000ms exceeded.\nCall log:\n  - waiting for %s\n"
	for name, c := range map[string]struct {
		method, locator, message string
		change                   func(e *relocate.Element)
		want                     Class
		proposes                 bool
	}{
		"not to be seen":     {"click", "getByRole('button', { name: 'Save it all' })", waiting, func(*relocate.Element) {}, ApplicationBug, false},
		"seen, and too late": {"click", "getByRole('button', { name: 'Save it all' })", waiting + "  - locator resolved to <button>…</button>\n  - element is not stable", func(*relocate.Element) {}, Timing, false},
		"renamed and hidden": {"click", "getByTestId('save')", waiting, func(e *relocate.Element) { e.TestID, e.Hidden = "keep", true }, ApplicationBug, false},
		"renamed and off":    {"click", "getByTestId('save')", waiting, func(e *relocate.Element) { e.TestID, e.Disabled = "keep", true }, ApplicationBug, false},
		"renamed":            {"click", "getByTestId('save')", waiting, func(e *relocate.Element) { e.TestID = "keep" }, Drift, true},
		"a check, other words": {"expect", "getByRole('button', { name: 'Save it all' })", "Error: element(s) not found", func(e *relocate.Element) {
			e.Name, e.Text = "Save it now", "Save it now"
		}, Wording, true},
		"a check, something else": {"expect", "getByRole('button', { name: 'Save it all' })", "Error: element(s) not found", func(e *relocate.Element) {
			e.Name, e.Text = "Try again", "Try again"
		}, ApplicationBug, false},
		"a check, another number": {"expect", "getByRole('button', { name: 'Save it all' })", "Error: element(s) not found", func(e *relocate.Element) {
			e.Name, e.Text = "Save it all 3", "Save it all 3"
		}, ApplicationBug, false},
	} {
		was := step(1, c.method, c.locator)
		was.Page = append([]relocate.Element{}, was.Page...)
		was.Page[0].Name, was.Page[0].Text = "Save it all", "Save it all"
		was.Page = append(was.Page, relocate.Element{Tag: "h1", Role: "heading", Name: "Shop", Text: "Shop", Path: "/html[1]/body[1]/h1[1]"})
		was.Target = &was.Page[0]
		now := was
		now.Page, now.Target, now.Error = append([]relocate.Element{}, was.Page...), nil, "Timeout"
		c.change(&now.Page[0])
		if c.want == ApplicationBug && strings.HasPrefix(name, "a check, another") {
			now.Page[0].TestID = was.Page[0].TestID
			now.Locator = strings.Replace(now.Locator, " })", ", exact: true })", 1)
			was.Locator, now.Selector, was.Selector = now.Locator, now.Locator, now.Locator
		}
		j := Triage(model, Case{Message: strings.Replace(c.message, "%s", c.locator, 1), Failed: evidence.Test{TestIDs: "data-testid", Steps: []evidence.Step{now}}, Step: 0, Passing: []evidence.Test{{Steps: []evidence.Step{was}}}})
		if j.Class != c.want || len(j.Evidence) == 0 || c.proposes != (j.Proposal != nil && j.Proposal.Outcome != relocate.Report) {
			t.Errorf("%s: %s, %s %v", name, j.Class, j.Why, j.Evidence)
		}
	}
}
