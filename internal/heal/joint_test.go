package heal

import (
	"testing"

	"tas-service/internal/relocate"
)

// TestJointly raises what one rename explains in several tests, and nothing that has something
// against it.
func TestJointly(t *testing.T) {
	t.Parallel()
	one := func(test string, p float64, change ...func(*Finding)) Finding {
		f := Finding{TestID: test, Before: "a", After: "b", P: p, Margin: 0.9, Outcome: relocate.Propose, Edit: 0, Step: &StepSeen{Method: "click"}, Candidates: []CandidateSeen{{Label: "b"}}}
		for _, c := range change {
			c(&f)
		}
		return f
	}
	for name, c := range map[string]struct {
		findings []Finding
		raised   int
	}{
		"three tests":              {[]Finding{one("1", 0.83), one("2", 0.83), one("3", 0.83)}, 3},
		"two that are almost":      {[]Finding{one("1", 0.9), one("2", 0.9)}, 2},
		"two that are not":         {[]Finding{one("1", 0.6), one("2", 0.6)}, 0},
		"one test in two browsers": {[]Finding{one("1", 0.9), one("1", 0.9)}, 0},
		"another rename":           {[]Finding{one("1", 0.9), one("2", 0.9, func(f *Finding) { f.After = "c" })}, 0},
		"something against it":     {[]Finding{one("1", 0.9), one("2", 0.9, func(f *Finding) { f.Candidates[0].Vetoes = []string{"x"} })}, 0},
		"a rival":                  {[]Finding{one("1", 0.9), one("2", 0.9, func(f *Finding) { f.Margin = 0.2 })}, 0},
		"an assertion":             {[]Finding{one("1", 0.9), one("2", 0.9, func(f *Finding) { f.Step = &StepSeen{Method: "expect", Matcher: "to.be.visible"} })}, 0},
		"a person chose":           {[]Finding{one("1", 0.9), one("2", 0.9, func(f *Finding) { f.Chosen = true })}, 0},
	} {
		jointly(c.findings)
		n := 0
		for _, f := range c.findings {
			if f.Outcome == relocate.Heal && f.P >= 0.97 {
				n++
			}
		}
		if n != c.raised {
			t.Errorf("%s: %d raised, want %d", name, n, c.raised)
		}
	}
}
