package heal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/artifact"
	"tas-service/internal/attempt"
	"tas-service/internal/evidence"
	"tas-service/internal/fault"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
)

// examine finds out why each failing result of a trial fails, and gathers the edits that would
// repair them. A finding replaces an earlier one of the same test.
func (s *Service) examine(ctx context.Context, x *agent.Step, st *state, r, t run.Run, results []run.Result) error {
	before := len(st.Edits)
	for _, f := range st.Failures {
		i := slices.IndexFunc(results, func(o run.Result) bool {
			return o.TestID == f.TestID && o.Browser == f.Browser && o.RepeatEach == 0
		})
		// Of several repetitions the one that failed tells.
		if j := slices.IndexFunc(results, func(o run.Result) bool {
			return o.TestID == f.TestID && o.Browser == f.Browser && o.Status == run.StatusFailed
		}); j >= 0 {
			i = j
		}
		if i < 0 {
			continue
		}
		found, edit, err := s.find(ctx, x, r, t, f, results[i])
		if err != nil {
			return err
		}
		if edit != nil {
			found.Edit = slices.IndexFunc(st.Edits, func(e attempt.Edit) bool { return sameEdit(e, *edit) })
			if found.Edit < 0 {
				st.Edits, found.Edit = append(st.Edits, *edit), len(st.Edits)
			}
		}
		st.keep(found)
		x.NoteRun(t.ID, agent.Decided, "%s: %s. %s %s", found.Title, found.Class, found.Why, strings.Join(found.Evidence, " "))
	}
	if len(st.Edits) > before {
		for _, said := range jointly(st.Findings) {
			x.NoteRun(t.ID, agent.Decided, "%s", said)
		}
	}
	return nil
}

// jointly raises proposals that one rename explains: the same part of a locator, in several
// tests, of which each found by itself that the same other one is likely, clearly ahead of all
// rivals and with nothing against it. That they are all wrong together is as unlikely as the
// product of their doubts. It answers in words what it raised.
func jointly(findings []Finding) (said []string) {
	same := map[[2]string][]int{}
	for i, f := range findings {
		if f.Edit >= 0 && f.Outcome == relocate.Propose && !f.Chosen && f.Margin >= relocate.DefaultLimits().Margin && len(f.Candidates) > 0 && len(f.Candidates[0].Vetoes) == 0 && f.Step != nil && f.Step.Matcher == "" {
			key := [2]string{f.Before, f.After}
			same[key] = append(same[key], i)
		}
	}
	for key, at := range same {
		tests := map[string]bool{}
		doubt := 1.0
		for _, i := range at {
			if !tests[findings[i].TestID] {
				tests[findings[i].TestID] = true
				doubt *= 1 - findings[i].P
			}
		}
		if len(tests) < 2 || 1-doubt < relocate.DefaultLimits().Heal {
			continue
		}
		for _, i := range at {
			findings[i].P, findings[i].Confidence = 1-doubt, 1-doubt
			if !findings[i].ByDeed {
				findings[i].Outcome = relocate.Heal
			}
			findings[i].Why = fmt.Sprintf("One rename explains %d failures.", len(tests))
		}
		said = append(said, fmt.Sprintf("%s became %s in %d tests, each of which found so by itself: together that is sure enough (%.3f).", quoted(key[0]), quoted(key[1]), len(tests), 1-doubt))
	}
	slices.Sort(said)
	return said
}

// keep puts a finding in place of an earlier one of the same test and browser; one that led to
// a repair stays beside what was found behind it.
func (st *state) keep(f Finding) {
	for i, o := range st.Findings {
		if o.TestID == f.TestID && o.Browser == f.Browser && o.Edit < 0 {
			st.Findings[i] = f
			return
		}
	}
	st.Findings = append(st.Findings, f)
}

func sameEdit(a, b attempt.Edit) bool {
	return len(a.Stack) > 0 && len(b.Stack) > 0 && a.Stack[0] == b.Stack[0] && a.Locator == b.Locator && a.Part == b.Part && a.Through == b.Through && a.Replacement == b.Replacement
}

// find finds out why one result fails.
func (s *Service) find(ctx context.Context, x *agent.Step, r, t run.Run, f failure, res run.Result) (Finding, *attempt.Edit, error) {
	out := Finding{TestID: f.TestID, Browser: f.Browser, Title: f.Title, File: f.File, RunID: t.ID, Edit: -1, Part: -1, Environment: evidence.Environment(r)}
	if !res.Status.Failing() {
		if res.Status == run.StatusSkipped {
			out.Class, out.Why = Unknown, "It was skipped when it was executed again."
			return out, nil, nil
		}
		out.Class, out.Confidence, out.Why = Flaky, 0.8, "It passed when it was executed again, unchanged."
		return out, nil, nil
	}
	c := Case{Message: f.Message, Step: -1}
	if res.Error != nil {
		c.Message = res.Error.Message
	}
	var err error
	if c.Failed, err = s.traceOf(ctx, t.ID, res); err != nil {
		return out, nil, err
	}
	c.Step = failing(c.Failed, res.Error)
	if _, c.Passing, err = s.Shelf.Of(ctx, r.ProjectID, f.TestID, f.Browser, evidence.Environment(r)); err != nil {
		return out, nil, err
	}
	if c.Before, err = s.before(ctx, r, f); err != nil {
		return out, nil, err
	}
	j := Triage(s.Model, c)
	out.Class, out.Confidence, out.Why, out.Evidence = j.Class, j.Confidence, j.Why, j.Evidence
	if c.Step >= 0 {
		out.Step = stepSeen(c.Failed, c.Step)
	}
	var edit *attempt.Edit
	if j.Proposal != nil {
		edit = out.propose(j.Proposal, c)
	}
	if s.Adviser == nil {
		return out, edit, nil
	}
	hide, err := s.hider(ctx, r)
	if err != nil && fault.Permanent(err) {
		x.Note(agent.Trouble, "No model is asked, since nobody knows what must be hidden from it: %s", fault.As(err).Public())
		return out, edit, nil
	}
	if err != nil {
		return out, nil, err
	}
	out.Question, err = question(out, j, hide, c.Message)
	return out, edit, err
}

// Of the candidates so many are kept whatever they are, and more of this share at least.
const (
	leastShown = 2
	leastShare = 0.005
)

// propose puts what was proposed into a finding, and answers the edit; nil where there is none.
func (out *Finding) propose(p *Proposal, c Case) *attempt.Edit {
	out.Before, out.After, out.Outcome, out.P, out.Margin = p.Before, p.After, p.Outcome, p.Answer.P, p.Answer.Margin
	out.ByDeed = p.Answer.Renamed && !p.Words
	for i, a := range p.Answer.Candidates {
		if i >= leastShown && a.Share < leastShare {
			break
		}
		out.Candidates = append(out.Candidates, CandidateSeen{Label: labelOf(a.Element), Path: a.Element.Path, Rival: rivalOf(a.Element, c.Failed.Steps[c.Step].Page),
			Share: a.Share, Why: a.Why, Vetoes: a.Vetoes, Box: a.Element.Box})
	}
	out.Part, out.Through = p.Part, p.Through
	for _, f := range c.Failed.Steps[c.Step].Stack {
		out.Stack = append(out.Stack, attempt.Location{File: f.File, Line: f.Line, Column: f.Column})
	}
	if p.After == "" || p.Outcome == relocate.Report {
		return nil
	}
	if len(out.Stack) == 0 {
		out.Why += " The trace does not tell where the step is in the source."
		return nil
	}
	return &attempt.Edit{Stack: out.Stack, Locator: out.Step.Locator, Part: p.Part, Through: p.Through, Replacement: p.After}
}

// traceOf reads the trace of a result of a trial; nothing where there is none.
func (s *Service) traceOf(ctx context.Context, runID string, res run.Result) (evidence.Test, error) {
	all, err := s.tracesOf(ctx, runID, res)
	if err != nil || len(all) == 0 {
		return evidence.Test{}, err
	}
	return all[len(all)-1], nil
}

// tracesOf reads the traces of all repetitions of a test in a browser.
func (s *Service) tracesOf(ctx context.Context, runID string, res run.Result) (out []evidence.Test, err error) {
	arts, err := s.Records.Artifacts(ctx, runID, res.TestID)
	if err != nil {
		return nil, err
	}
	for _, a := range arts {
		if a.Browser != res.Browser || a.Kind != artifact.Trace {
			continue
		}
		t, err := evidence.Open(ctx, s.Blobs, a)
		switch {
		case errors.Is(err, evidence.ErrNoTrace), fault.KindOf(err) == fault.NotFound:
			continue
		case err != nil:
			return nil, err
		}
		t.Within(res.File)
		out = append(out, t)
	}
	return out, nil
}

// failing answers the step at which a test failed: the one at the error's place, else the
// first one that went wrong; -1 where none did.
func failing(t evidence.Test, e *run.Error) int {
	first := -1
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Error == "" {
			continue
		}
		if first < 0 {
			first = i
		}
		if e != nil && e.Location != nil && slices.ContainsFunc(s.Stack, func(f evidence.Frame) bool { return f.File == e.Location.File && f.Line == e.Location.Line }) {
			return i
		}
	}
	return first
}

func stepSeen(t evidence.Test, step int) *StepSeen {
	s := &t.Steps[step]
	at := s.At()
	turn := turnsOf(t.Steps[:step], func(o *evidence.Step) bool { return o.At() == at })
	return &StepSeen{Method: s.Method, Locator: s.Locator, Selector: s.Selector, File: at.File, Line: at.Line, Column: at.Column, Function: at.Function, Matcher: s.Matcher, Turn: turn, Error: clip(s.Error, maxMessage), URL: s.URL}
}

// before answers in words that a test of another branch fails the same on the default one.
func (s *Service) before(ctx context.Context, r run.Run, f failure) (string, error) {
	if r.OnDefault || f.BugKey == "" {
		return "", nil
	}
	p, err := s.Projects.Project(ctx, r.ProjectID)
	if err != nil || p.Repository.Branch == "" {
		return "", err
	}
	past, err := s.Records.Past(ctx, run.PastQuery{ProjectID: r.ProjectID, TestID: f.TestID, Browser: f.Browser, Branch: p.Repository.Branch, Limit: 1})
	if err != nil || len(past) == 0 || !past[0].Status.Failing() || past[0].BugKey != f.BugKey {
		return "", err
	}
	return fmt.Sprintf("Run %s of the branch %s failed with the same bug, %s.", past[0].RunName, past[0].Branch, f.BugKey), nil
}
