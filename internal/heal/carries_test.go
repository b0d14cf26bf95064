package heal

import (
	"testing"

	"tas-service/internal/evidence"
	"tas-service/internal/run"
)

// TestCarries wants values under the names under which they came each time, and nothing else.
func TestCarries(t *testing.T) {
	t.Parallel()
	test := func(calls ...evidence.Call) evidence.Test {
		return evidence.Test{Steps: []evidence.Step{{Method: "fill"}, {Method: "click", Effect: evidence.Effect{Calls: calls}}}}
	}
	post := func(names string) evidence.Call {
		return evidence.Call{Method: "POST", Path: "x/orders", Status: 201, Filled: names}
	}
	search := evidence.Call{Method: "GET", Path: "x/search?q", Status: 200, Filled: "?q"}
	for name, c := range map[string]struct {
		passing []evidence.Test
		now     evidence.Test
		want    bool
	}{
		"the same names":             {[]evidence.Test{test(post("email,name"))}, test(post("email,name")), true},
		"another one came":           {[]evidence.Test{test(post("email"))}, test(post("email,name")), true},
		"one has no value":           {[]evidence.Test{test(post("email,name"))}, test(post("name")), false},
		"it is not sent":             {[]evidence.Test{test(post("email"))}, test(), false},
		"one that is not always":     {[]evidence.Test{test(post("email,ref")), test(post("email"))}, test(post("email")), true},
		"read before names were":     {[]evidence.Test{test(post(""))}, test(post("email")), false},
		"nothing is sent":            {[]evidence.Test{test()}, test(), true},
		"a search":                   {[]evidence.Test{test(search)}, test(search), true},
		"a search for nothing":       {[]evidence.Test{test(search)}, test(evidence.Call{Method: "GET", Path: "x/search?q", Status: 200}), false},
		"no search":                  {[]evidence.Test{test(search)}, test(), false},
		"a search only now and then": {[]evidence.Test{test(search), test()}, test(), true},
		"nothing is known":           {nil, test(), false},
	} {
		if got := Carries(c.passing, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestBeyondField does not count what a test says of the field itself.
func TestBeyondField(t *testing.T) {
	t.Parallel()
	found := []Finding{{Edit: 0, After: "getByLabel('Email')"}}
	for message, want := range map[string]bool{
		"Error: expect(locator).toHaveText(expected) failed\n\nLocator: getByRole('status')":            true,
		"Error: expect(locator).toHaveValue(expected) failed\n\nLocator: locator('#mail')":              false,
		"Error: expect(locator).toBeVisible() failed\n\nLocator: page.getByLabel('Email').locator('x')": false,
		"TimeoutError: locator.fill: Timeout\nwaiting for getByLabel('Email')":                          false,
	} {
		if got := beyondField(found, 0, &run.Error{Message: message}); got != want {
			t.Errorf("%s: %v", message, got)
		}
	}
	if beyondField(found, 0, nil) || beyondField(found, 1, &run.Error{Message: "x"}) {
		t.Error("nothing is known of it")
	}
}
