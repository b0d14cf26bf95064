package heal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tas-service/internal/evidence"
	"tas-service/internal/run"
)

// Vacuous answers assertions that something is not there which cannot fail any more: what
// they look for was on a page of the test in an earlier passing run, and is on none now, under
// that name. They pass whatever the application does. older are passing runs, in any order.
func Vacuous(now evidence.Test, older []evidence.Test) (out []string) {
	seen := map[string]bool{}
	for i := range now.Steps {
		s := &now.Steps[i]
		if !assertsAbsence(s) || s.Locator == "" || seen[s.Locator] {
			continue
		}
		seen[s.Locator] = true
		parts := Parts(s.Locator)
		if len(parts) == 0 {
			continue
		}
		there, known := anywhere(now, parts)
		if there || !known {
			continue
		}
		for _, o := range older {
			if was, _ := anywhere(o, parts); was {
				at := s.At()
				out = append(out, fmt.Sprintf("%s:%d asserts that %s is not there, and nothing has that name any more: what it guards against has another name now, or is gone.", at.File, at.Line, quoted(s.Locator)))
				break
			}
		}
	}
	return out
}

// assertsAbsence reports whether a step asserts that something is not there.
func assertsAbsence(s *evidence.Step) bool {
	switch {
	case !s.Assertion():
		return false
	case s.Negative:
		return strings.Contains(s.Matcher, "visible") || strings.Contains(s.Matcher, "attached")
	}
	return strings.Contains(s.Matcher, "hidden") || strings.Contains(s.Matcher, "detached") || strings.Contains(s.Matcher, "count") && s.Expected == "0"
}

// anywhere reports whether a locator finds something on any page of a test; known is false
// where a list of elements does not tell.
func anywhere(t evidence.Test, parts []Part) (there, known bool) {
	for i := range t.Steps {
		f := newPage(t.Steps[i].Page, t.TestIDs).find(parts)
		there, known = there || f.known && len(f.last()) > 0, known || f.known
	}
	return there, known
}

// CodeVacuous is the warning of a run in which an assertion cannot fail any more.
const CodeVacuous = "vacuous-assertion"

// WarnOfVacuous has a run say which assertions of a test that passed cannot fail any more. It
// is for an evidence.Gatherer.
func (s *Service) WarnOfVacuous(ctx context.Context, r run.Run, x run.Result, now evidence.Test, older func() ([]evidence.Test, error)) error {
	if !slices.ContainsFunc(now.Steps, func(x evidence.Step) bool { return assertsAbsence(&x) }) {
		return nil
	}
	before, err := older()
	if err != nil {
		return err
	}
	found := Vacuous(now, before)
	if len(found) == 0 {
		return nil
	}
	return s.Records.UpdateRun(ctx, r.ID, func(r *run.Run) error {
		for _, f := range found {
			r.Warn(CodeVacuous, nameOf(x)+": "+f)
		}
		return nil
	})
}
