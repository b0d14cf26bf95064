package catalog

import (
	"slices"
	"testing"
	"time"

	"tas-service/internal/fault"
)

// TestHealthOf tells flaky, broken and outage apart. Each letter is an outcome, the newest
// first: p passed, f failed, r passed on a retry, o failed in an outage; a space begins
// another commit.
func TestHealthOf(t *testing.T) {
	for text, want := range map[string]HealthState{
		"": Unknown, "p": Healthy, "pp pp": Healthy, "f": Broken, "ff": Broken, "f p": Broken, "ff pp": Broken, "f f p": Broken,
		"fp": Flaky, "pf": Flaky, "r": Flaky, "p r": Flaky, "p p f p": Healthy, "f r p": Flaky, "f f r p": Broken, "f fp p": Flaky,
		"o": Outage, "o p": Outage, "p o": Healthy, "po": Healthy, "p oo p": Healthy, "o f p": Outage, "p of": Healthy, "f o p": Broken,
	} {
		var outcomes []Outcome
		at, commit := time.Now(), 'a'
		for _, c := range text {
			if c == ' ' {
				commit++
				continue
			}
			at = at.Add(-time.Minute)
			o := Outcome{At: at, Commit: string(commit), Outage: c == 'o',
				Result: map[rune]OutcomeKind{'p': OutcomePassed, 'f': OutcomeFailed, 'o': OutcomeFailed, 'r': OutcomeFlaky}[c]}
			outcomes = append(outcomes, o)
		}
		h := HealthOf(outcomes)
		if h.State != want || (h.FailingSince != nil) != (want == Broken) || h.Outcomes != len(outcomes) {
			t.Errorf("%q: %+v, want %s", text, h, want)
		}
	}
}

// TestRule selects by tags, paths and titles together.
func TestRule(t *testing.T) {
	file, title, tags := "tests/cart/pay.spec.ts", []string{"Checkout", "pays by card"}, []string{"@smoke", "@slow"}
	for _, c := range []struct {
		rule *Rule
		want bool
	}{
		{nil, false}, {&Rule{Tags: []string{"@smoke"}}, true}, {&Rule{Tags: []string{"smoke"}}, true}, {&Rule{Tags: []string{"@smok"}}, false}, {&Rule{Tags: []string{"@other", "@slow"}}, true},
		{&Rule{Paths: []string{"tests/cart/**"}}, true}, {&Rule{Paths: []string{"tests/*"}}, false}, {&Rule{Paths: []string{"**/*.spec.ts"}}, true}, {&Rule{Paths: []string{"tests/cart/pay.spec.ts"}}, true},
		{&Rule{Title: "CHECKOUT › pays"}, true}, {&Rule{Title: "refund"}, false},
		{&Rule{Tags: []string{"@smoke"}, Paths: []string{"tests/other/**"}}, false}, {&Rule{Tags: []string{"@smoke"}, Paths: []string{"tests/**"}, Title: "card"}, true},
	} {
		if got := c.rule.Fits(file, title, tags); got != c.want {
			t.Errorf("%+v: %v", c.rule, got)
		}
	}
}

// TestCheckCollection names what is wrong.
func TestCheckCollection(t *testing.T) {
	many := make([]string, MaxCollectionIDs+1)
	for i := range many {
		many[i] = string(rune('a'+i%26)) + time.Duration(i).String()
	}
	for name, c := range map[string]Collection{
		"body.name":        {TestIDs: []string{"a"}},
		"body":             {Name: "x"},
		"body.rule":        {Name: "x", Rule: &Rule{}},
		"body.rule.paths":  {Name: "x", Rule: &Rule{Paths: []string{"a[/"}}},
		"body.rule.tags":   {Name: "x", Rule: &Rule{Tags: []string{"@"}}},
		"body.testIds":     {Name: "x", TestIDs: many},
		"body.description": {Name: "x", TestIDs: []string{"a"}, Description: string(make([]byte, maxDescription+1))},
	} {
		f := fault.As(c.Check())
		if f == nil || f.Kind != fault.Invalid || !slices.ContainsFunc(f.Details, func(d fault.Detail) bool { return d.Path == name }) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	c := Collection{Name: " Smoke ", TestIDs: []string{"b", "a", "b"}, Rule: &Rule{Paths: []string{"./tests/**"}}}
	if err := c.Check(); err != nil || c.Name != "Smoke" || len(c.TestIDs) != 2 || c.Rule.Paths[0] != "tests/**" {
		t.Errorf("%+v: %v", c, err)
	}
}
