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
	Done  bool             `json:"done"`            // it was broken when the test came there
	Found bool             `json:"found"`           // the test failed
	Error string           `json:"error,omitempty"` // with this
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

// sabotage plans how the first repaired test is put to the test, by a trace of its repaired
// self; nothing where there is none.
func (s *Service) sabotage(ctx context.Context, st *state, t run.Run, results []run.Result) (plan []Sabotage, testID string, err error) {
	i := slices.IndexFunc(st.Findings, func(f Finding) bool { return f.Edit >= 0 })
	if i < 0 {
		return nil, "", nil
	}
	f := st.Findings[i]
	j := slices.IndexFunc(results, func(o run.Result) bool { return o.TestID == f.TestID && o.Browser == f.Browser })
	if j < 0 {
		return nil, "", nil
	}
	trace, err := s.traceOf(ctx, t.ID, results[j])
	if err != nil {
		return nil, "", err
	}
	return PlanSabotage(trace, f), f.TestID, nil
}

// PlanSabotage answers in which ways the application is to be broken at the repaired step.
func PlanSabotage(t evidence.Test, f Finding) (out []Sabotage) {
	at, ok := stepOf(t, f)
	if !ok {
		return nil
	}
	limit := int64(sabotageLeastMs)
	for i := range t.Steps {
		limit = max(limit, sabotageFactor*(t.Steps[i].End-t.Steps[i].Start).Milliseconds())
	}
	order := func(kind attempt.SabotageKind, step int) attempt.Sabotage {
		x := &t.Steps[step]
		turn := 0
		for i := range t.Steps[:step] {
			if t.Steps[i].Selector == x.Selector && t.Steps[i].Method == x.Method {
				turn++
			}
		}
		return attempt.Sabotage{Kind: kind, Selector: x.Selector, Method: x.Method, Turn: turn, LimitMs: limit}
	}
	x := &t.Steps[at]
	out = append(out, Sabotage{What: "the element is removed", Order: order(attempt.SabotageRemove, at)})
	if !x.Assertion() {
		out = append(out, Sabotage{What: "what is done to the element has no effect", Order: order(attempt.SabotageHandler, at)})
	}
	var calls []attempt.SabotageCall
	for _, c := range x.Effect.Calls {
		if c.Method != "GET" && c.Method != "HEAD" && c.Method != "OPTIONS" {
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
	if len(f.Candidates) > 1 {
		if rival := f.Candidates[1]; rival.Rival != "" {
			o := order(attempt.SabotageRival, at)
			o.Rival = rival.Rival
			out = append(out, Sabotage{What: "the next best element, " + rival.Label + ", is taken instead", Order: o})
		}
	}
	return out
}

func orders(plan []Sabotage) (out []attempt.Sabotage) {
	for _, p := range plan {
		out = append(out, p.Order)
	}
	return out
}

// judgeSabotage notes which ways of breaking the application the test noticed, in each browser.
func judgeSabotage(x *agent.Step, p *Proof, t run.Run, results []run.Result) {
	for i := range p.Sabotage {
		b := &p.Sabotage[i]
		seen := false
		for _, o := range results {
			if o.RepeatEach != i || o.Companion || len(o.Tries) == 0 {
				continue
			}
			last := o.Tries[len(o.Tries)-1]
			failed := o.Status.Failing()
			if !seen {
				b.Done, b.Found, seen = last.Sabotaged, failed, true
			} else {
				b.Done, b.Found = b.Done && last.Sabotaged, b.Found && failed
			}
			if failed && o.Error != nil {
				b.Error = firstLine(o.Error.Message)
			}
		}
	}
	found := 0
	for _, b := range p.Sabotage {
		if !b.Survived() {
			found++
		} else {
			x.NoteRun(t.ID, agent.Decided, "With the repair the test does not notice when %s.", b.What)
		}
	}
	x.NoteRun(t.ID, agent.Ran, "The application was broken on purpose in %d ways, and the test noticed %d of them.", len(p.Sabotage), found)
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
