package heal

import (
	"strings"
	"testing"

	"tas-service/internal/attempt"
	"tas-service/internal/evidence"
	"tas-service/internal/relocate"
)

const (
	pageThen = `["html",{},["head",{}],["body",{},["header",{},["nav",{"aria-label":"Main"},["a",{"href":"/shop"},"Shop"]," ",["a",{"href":"/orders"},"Orders"]," ",["a",{"href":"/help"},"Help"]]],["main",{"id":"main"},["h1",{},"Your basket"],["p",{},"Two things are in it."],["form",{"id":"add"},["label",{},"How many ",["input",{"name":"n","type":"number"}]],["button",{"type":"button","class":"quiet"},"Update"]],["ul",{"class":"lines"},["li",{"class":"line"},["h2",{},"Tea"],["span",{},"4.50"]," ",["button",{"data-testid":"drop-tea","class":"quiet drop"},"Remove tea"]],["li",{"class":"line"},["h2",{},"Mug"],["span",{},"14.00"]," ",["button",{"data-testid":"drop-mug","name":"drop","value":"2","class":"quiet drop"},"Remove mug"]]],["button",{"data-testid":"checkout","class":"main"},"Check out"],["p",{"role":"status"}]],["footer",{},["a",{"href":"/imprint"},"Imprint"]]]]`
	dropMug  = "getByRole('main').getByTestId('drop-mug')"
	selector = `internal:role=main >> internal:testid=[data-testid="drop-mug"s]`
)

// TestAnswer answers where a healed test would be offered without doubt, and nowhere else.
func TestAnswer(t *testing.T) {
	t.Parallel()
	model, err := relocate.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	page, err := evidence.ReadPage(pageThen, "data-testid")
	if err != nil {
		t.Fatal(err)
	}
	clicked := evidence.Step{Method: "click", Locator: dropMug, Selector: selector, URL: "http://127.0.0.1:1/basket", Page: page,
		Stack: []evidence.Frame{{File: "tests/a.spec.ts", Line: 4, Column: 5}}, Effect: evidence.Effect{Calls: []evidence.Call{{Method: "GET", Path: "loopback/lines", Status: 200}}}}
	for i := range page {
		if page[i].TestID == "drop-mug" {
			clicked.Target = &clicked.Page[i]
		}
	}
	passing := evidence.Test{TestIDs: "data-testid", Steps: []evidence.Step{clicked}}
	ask := func(change func(*attempt.Ask)) attempt.Ask {
		a := attempt.Ask{Method: "click", Selector: selector, URL: "http://127.0.0.1:2/basket", Frames: []attempt.Frame{{Location: attempt.Location{File: "tests/a.spec.ts", Line: 4, Column: 5}}},
			Page: strings.Replace(pageThen, `"drop-mug"`, `"remove-mug"`, 1)}
		change(&a)
		return a
	}
	found, known := Answer(model, ask(func(*attempt.Ask) {}), passing)
	if !known || found.Locator != "getByRole('main').getByTestId('remove-mug')" || found.Before != dropMug || found.Why == "" {
		t.Fatalf("%+v %v", found, known)
	}
	for name, c := range map[string]struct {
		change func(*attempt.Ask)
		known  bool
	}{
		"removed": {func(a *attempt.Ask) {
			a.Page = strings.Replace(pageThen, `,["li",{"class":"line"},["h2",{},"Mug"],["span",{},"14.00"]," ",["button",{"data-testid":"drop-mug","name":"drop","value":"2","class":"quiet drop"},"Remove mug"]]`, "", 1)
		}, true},
		"switched off": {func(a *attempt.Ask) {
			a.Page = strings.Replace(a.Page, `"remove-mug"`, `"remove-mug","disabled":""`, 1)
		}, true},
		"there":        {func(a *attempt.Ask) { a.Page = pageThen }, true},
		"another page": {func(a *attempt.Ask) { a.URL = "http://127.0.0.1:2/login" }, true},
		"no page":      {func(a *attempt.Ask) { a.Page = "[" }, true},
		"a request fails": {func(a *attempt.Ask) {
			a.Failed = []attempt.FailedCall{{Method: "GET", Path: "loopback/lines", Status: 404}}
		}, true},
		"an error":             {func(a *attempt.Ask) { a.Uncaught = 1 }, true},
		"another step":         {func(a *attempt.Ask) { a.Selector = "css=a" }, false},
		"another method":       {func(a *attempt.Ask) { a.Method = "fill" }, false},
		"an assertion":         {func(a *attempt.Ask) { a.Method = "expect" }, false},
		"once more":            {func(a *attempt.Ask) { a.Earlier = []attempt.Place{{Line: 4, Column: 5}} }, false},
		"another file":         {func(a *attempt.Ask) { a.Frames[0].File = "tests/b.spec.ts" }, false},
		"outside of the tests": {func(a *attempt.Ask) { a.Frames[0].File = "/tests/a.spec.ts" }, false},
		"no place":             {func(a *attempt.Ask) { a.Frames = nil }, false},
		"nothing":              {func(a *attempt.Ask) { *a = attempt.Ask{} }, false},
	} {
		found, known := Answer(model, ask(c.change), passing)
		if found.Locator != "" || known != c.known {
			t.Errorf("%s: %+v, known %v", name, found, known)
		}
	}
}
