package heal

import (
	"context"
	"fmt"
	"path"
	"strings"

	"tas-service/internal/attempt"
	"tas-service/internal/evidence"
	"tas-service/internal/fault"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
)

// recoverAtOnce bounds the questions that are answered at once: each reads a passing run's
// evidence. One that waits too long gets no answer.
const recoverAtOnce = 2

// Recover answers which element the locator of a step means that finds nothing while its run
// is under way: only where a healed test would be offered without doubt, on the same page as
// when the test passed, and with no sign that the application is at fault. No answer is no
// error.
func (s *Service) Recover(ctx context.Context, r run.Run, x run.Result, ask attempt.Ask) (attempt.Found, error) {
	none := attempt.Found{}
	s.recovering.once.Do(func() { s.recovering.places = make(chan struct{}, recoverAtOnce) })
	select {
	case s.recovering.places <- struct{}{}:
		defer func() { <-s.recovering.places }()
	case <-ctx.Done():
		return none, nil
	}
	kept, err := s.Shelf.Records.Evidence(ctx, r.ProjectID, x.TestID, x.Browser, evidence.Environment(r))
	if err != nil {
		return none, err
	}
	for _, k := range kept {
		passing, err := s.Shelf.Open(ctx, k)
		switch {
		case ctx.Err() != nil, fault.KindOf(err) == fault.Unavailable:
			return none, err
		case err != nil:
			continue // what cannot be read is left out, as Shelf.Of does
		}
		if found, known := Answer(s.Model, ask, passing); known {
			if found.Locator != "" {
				s.Log.Info("a locator is recovered", "run", r.ID, "test", x.TestID, "before", found.Before, "after", found.Locator)
			}
			return found, nil
		}
	}
	return none, nil
}

// Answer answers a question by what one passing run knows of the test; known reports whether
// that run did the step.
func Answer(model *relocate.Model, ask attempt.Ask, passing evidence.Test) (found attempt.Found, known bool) {
	failed, ok := asked(ask, passing)
	if !ok {
		return found, false
	}
	step := len(failed.Steps) - 1
	f := &failed.Steps[step]
	was, ok := Counterpart(failed, step, []evidence.Test{passing})
	if !ok {
		return found, false
	}
	if placeOf(was.URL) != placeOf(f.URL) {
		return found, true
	}
	var err error
	if f.Page, err = evidence.ReadPage(ask.Page, passing.TestIDs); err != nil {
		return found, true
	}
	if _, atFault := ofApplication(Case{Failed: failed, Step: step, Passing: []evidence.Test{passing}}); atFault {
		return found, true
	}
	p := Propose(model, failed, step, []evidence.Test{passing})
	if p.Outcome != relocate.Heal || p.After == "" || len(p.Answer.Candidates) == 0 {
		return found, true
	}
	return attempt.Found{Locator: p.Whole(), Before: f.Locator,
		Why: fmt.Sprintf("%s finds nothing. %s finds what it found when the test passed: %s, with probability %.3f.", quoted(p.Before), quoted(p.After), labelOf(p.Answer.Candidates[0].Element), p.Answer.P)}, true
}

// asked makes of a question the last step of a test that fails there, after those of the same
// kind that came before; false where no step of the passing run is like it. The locator is
// what the passing run calls the selector.
func asked(ask attempt.Ask, passing evidence.Test) (evidence.Test, bool) {
	step := evidence.Step{Method: ask.Method, Selector: ask.Selector, URL: ask.URL, Error: "it finds nothing"}
	for _, f := range ask.Frames {
		if f.File == "" || path.IsAbs(f.File) || strings.HasPrefix(f.File, "../") || strings.HasPrefix(f.File, "node_modules/") {
			continue
		}
		step.Stack = append(step.Stack, evidence.Frame{File: f.File, Line: f.Line, Column: f.Column, Function: f.Function})
	}
	for i := range passing.Steps {
		if s := &passing.Steps[i]; s.Method == step.Method && s.Selector == step.Selector && !s.Assertion() && s.Locator != "" {
			step.Locator = s.Locator
			break
		}
	}
	if len(step.Stack) == 0 || step.Locator == "" || step.Selector == "" {
		return evidence.Test{}, false
	}
	out := evidence.Test{TestIDs: passing.TestIDs}
	for _, at := range ask.Earlier {
		e := step
		e.Stack = []evidence.Frame{step.Stack[0]}
		e.Stack[0].Line, e.Stack[0].Column = at.Line, at.Column
		out.Steps = append(out.Steps, e)
	}
	step.Effect.Uncaught = ask.Uncaught
	for _, c := range ask.Failed {
		step.Effect.Calls = append(step.Effect.Calls, evidence.Call{Method: c.Method, Path: c.Path, Status: c.Status})
	}
	out.Steps = append(out.Steps, step)
	return out, true
}
