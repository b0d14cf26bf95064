package heal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/evidence"
	"tas-service/internal/run"
)

// Sabotage is one way in which the application is broken on purpose under a repaired test.
type Sabotage struct {
	Order attempt.Sabotage `json:"order"`
	What  string           `json:"what"`            // in words
	Test  string           `json:"test,omitempty"`  // ID of the repaired test
	Edit  int              `json:"edit,omitempty"`  // of the session's edits, that it is about
	Done  bool             `json:"done"`            // it was broken when the test came there
	Found bool             `json:"found"`           // the test failed
	Error string           `json:"error,omitempty"` // with this
	// Beyond says that it failed where another element was looked at than the one that was broken.
	Beyond bool `json:"beyond,omitempty"`
}

// Survived reports whether the test did not notice.
func (s Sabotage) Survived() bool {
	return !s.Found || !s.Done && s.Order.Kind != attempt.SabotageRequest
}

// Limits of the steps of a sabotaged test: so many times as long as its slowest step took,
// and at least so long.
const (
	sabotageFactor  = 5
	sabotageLeastMs = 3000
)

// mostSabotaged bounds the tests of a session that are put to the test.
const mostSabotaged = 4

// sabotage plans how repaired tests are put to the test, by traces of their repaired selves: as
// few of them as have all edits of the session among them. Nothing where there is no trace.
func (s *Service) sabotage(ctx context.Context, st *state, t run.Run, results []run.Result) (plan []Sabotage, err error) {
	planned, tests := map[int]bool{}, []string{}
	for _, f := range st.Findings {
		if f.Edit < 0 || planned[f.Edit] || !slices.Contains(tests, f.TestID) && len(tests) == mostSabotaged {
			continue
		}
		j := slices.IndexFunc(results, func(o run.Result) bool { return o.TestID == f.TestID && o.Browser == f.Browser })
		if j < 0 {
			continue
		}
		trace, err := s.traceOf(ctx, t.ID, results[j])
		if err != nil {
			return nil, err
		}
		ways := PlanSabotage(trace, f)
		for i := range ways {
			ways[i].Test, ways[i].Edit = f.TestID, f.Edit
			if len(st.Edits) > 1 {
				ways[i].What += " (" + quoted(f.After) + ")"
			}
		}
		if len(ways) == 0 {
			continue
		}
		if planned[f.Edit] = true; !slices.Contains(tests, f.TestID) {
			tests = append(tests, f.TestID)
		}
		plan = append(plan, ways...)
	}
	return plan, nil
}

// bySabotaged answers the tests of a plan with what is planned of each, in their order.
func bySabotaged(plan []Sabotage) (tests []string, of map[string][]*Sabotage) {
	of = map[string][]*Sabotage{}
	for i := range plan {
		b := &plan[i]
		if of[b.Test] == nil {
			tests = append(tests, b.Test)
		}
		of[b.Test] = append(of[b.Test], b)
	}
	return tests, of
}

// sabotageTrial names the trial of the n-th sabotaged test.
func sabotageTrial(n int) string {
	if n == 0 {
		return "sabotage"
	}
	return fmt.Sprintf("sabotage-%d", n+1)
}

// PlanSabotage answers in which ways the application is to be broken at the repaired step.
func PlanSabotage(t evidence.Test, f Finding) (out []Sabotage) {
	at, ok := stepOf(t, f)
	if !ok {
		return nil
	}
	return planAt(t, at, f.Candidates)
}

// planAt answers in which ways the application is to be broken at a step; candidates are the
// elements that might have been taken, the first one was.
func planAt(t evidence.Test, at int, candidates []CandidateSeen) (out []Sabotage) {
	limit := int64(sabotageLeastMs)
	for i := range t.Steps {
		limit = max(limit, sabotageFactor*(t.Steps[i].End-t.Steps[i].Start).Milliseconds())
	}
	order := func(kind attempt.SabotageKind, step int) attempt.Sabotage {
		x := &t.Steps[step]
		turn := turnsOf(t.Steps[:step], func(o *evidence.Step) bool { return o.Selector == x.Selector && o.Method == x.Method })
		return attempt.Sabotage{Kind: kind, Selector: x.Selector, Method: x.Method, Turn: turn, LimitMs: limit}
	}
	x := &t.Steps[at]
	out = append(out, Sabotage{What: "the element is removed", Order: order(attempt.SabotageRemove, at)})
	if !x.Assertion() {
		out = append(out, Sabotage{What: "what is done to the element has no effect", Order: order(attempt.SabotageHandler, at)})
	}
	var calls []attempt.SabotageCall
	for _, c := range x.Effect.Calls {
		if c.Changes() {
			calls = append(calls, attempt.SabotageCall{Method: c.Method, Path: c.Path})
		}
	}
	if len(calls) > 0 {
		o := order(attempt.SabotageRequest, at)
		o.Calls = calls
		out = append(out, Sabotage{What: "its request is answered with an error", Order: o})
	}
	// The first text that is asserted from there on.
	for i := at; i < len(t.Steps); i++ {
		if s := &t.Steps[i]; strings.Contains(s.Matcher, "text") && !s.Negative && s.Selector != "" && s.Error == "" {
			out = append(out, Sabotage{What: fmt.Sprintf("the text that %s is expected to have is altered", quoted(s.Locator)), Order: order(attempt.SabotageText, i)})
			break
		}
	}
	if next := slices.IndexFunc(candidates, func(c CandidateSeen) bool { return c.Rival != "" && c.rivals(candidates[0]) }); next > 0 {
		rival := candidates[next]
		o := order(attempt.SabotageRival, at)
		o.Rival = rival.Rival
		out = append(out, Sabotage{What: "the next best element, " + rival.Label + ", is taken instead", Order: o})
	}
	return out
}

func orders(plan []*Sabotage) (out []attempt.Sabotage) {
	for _, p := range plan {
		out = append(out, p.Order)
	}
	return out
}

// judgeSabotage notes which ways of breaking the application one test noticed, in each browser.
func judgeSabotage(x *agent.Step, plan []*Sabotage, found []Finding, t run.Run, results []run.Result) {
	noticed := 0
	for i, b := range plan {
		seen := false
		for _, o := range results {
			if o.RepeatEach != i || o.Companion || len(o.Tries) == 0 {
				continue
			}
			last := o.Tries[len(o.Tries)-1]
			failed := o.Status.Failing()
			beyond := failed && beyondField(found, b.Edit, o.Error)
			if !seen {
				b.Done, b.Found, b.Beyond, seen = last.Sabotaged, failed, beyond, true
			} else {
				b.Done, b.Found, b.Beyond = b.Done && last.Sabotaged, b.Found && failed, b.Beyond && beyond
			}
			if failed && o.Error != nil {
				b.Error = firstLine(o.Error.Message)
			}
		}
		if !b.Survived() {
			noticed++
		} else {
			x.NoteRun(t.ID, agent.Decided, "With the repair the test does not notice when %s.", b.What)
		}
	}
	x.NoteRun(t.ID, agent.Ran, "The application was broken on purpose in %d ways, and the test noticed %d of them.", len(plan), noticed)
}

// beyondField reports whether a test failed at something else than at the field that an edit
// names: neither at a step on it nor at a check of what it holds.
func beyondField(found []Finding, edit int, e *run.Error) bool {
	i := slices.IndexFunc(found, func(f Finding) bool { return f.Edit == edit })
	return e != nil && i >= 0 && found[i].After != "" && !strings.Contains(e.Message, found[i].After) && !strings.Contains(e.Message, "toHaveValue")
}

// survivors answers in words what a repaired test no longer detects.
func (p *Proof) survivors() (out []string) {
	if p == nil {
		return nil
	}
	for _, b := range p.Sabotage {
		if b.Survived() {
			out = append(out, b.What)
		}
	}
	return out
}
