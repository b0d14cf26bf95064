package heal

import (
	"testing"

	"tas-service/internal/evidence"
	"tas-service/internal/relocate"
)

// TestVacuous reports assertions of absence whose subject lost its name, and no others.
func TestVacuous(t *testing.T) {
	t.Parallel()
	page := func(ids ...string) func(*evidence.Step) {
		return func(s *evidence.Step) {
			s.Page, s.Target = nil, nil
			for _, id := range ids {
				s.Page = append(s.Page, relocate.Element{Tag: "p", TestID: id})
			}
		}
	}
	check := func(matcher string, negative bool) evidence.Step {
		return step(2, "expect", "getByTestId('error')", page("save"), func(s *evidence.Step) { s.Matcher, s.Negative = matcher, negative })
	}
	run := func(check evidence.Step, ids ...string) evidence.Test {
		return evidence.Test{Steps: []evidence.Step{step(1, "click", "getByTestId('save')", page(ids...)), check}}
	}
	hidden := check("to.be.hidden", false)
	was := []evidence.Test{run(hidden, "save"), run(hidden, "save", "error")}
	for name, c := range map[string]struct {
		now   evidence.Test
		older []evidence.Test
		want  int
	}{
		"it lost its name":     {run(hidden, "save", "failure"), was, 1},
		"not visible":          {run(check("to.be.visible", true), "save"), was, 1},
		"it is still seen":     {run(hidden, "save", "error"), was, 0},
		"it was never seen":    {run(hidden, "save"), was[:1], 0},
		"it asserts presence":  {run(check("to.be.visible", false), "save"), was, 0},
		"nothing was recorded": {run(hidden, "save"), nil, 0},
	} {
		if got := Vacuous(c.now, c.older); len(got) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
