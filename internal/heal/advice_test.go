package heal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/llm"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
)

// mouth is a model that says what it is told to, in order, and then its last word again.
type mouth struct {
	says  []any // texts, llm.Reply, errors
	asked []llm.Request
}

func (m *mouth) Name() string { return "parrot" }

func (m *mouth) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	m.asked = append(m.asked, r)
	switch say := m.says[min(len(m.asked), len(m.says))-1].(type) {
	case string:
		return llm.Reply{Text: say, Stop: llm.Done, Usage: llm.Usage{Input: 1000, Output: 100}}, nil
	case llm.Reply:
		return say, nil
	default:
		return llm.Reply{}, say.(error)
	}
}

// shop is what a session needs of the service, with one run in which nothing else happens.
type shop struct {
	Sessions
	Records
	run.Store
	used   agent.Usage
	values map[string]string
	gone   error
}

func (s *shop) CountSessions(context.Context, string, time.Time) (int, agent.Usage, error) {
	return 1, s.used, nil
}
func (s *shop) Run(_ context.Context, id string) (run.Run, error) {
	return run.Run{ID: id, ProjectID: "p", Commit: "abc", EnvOverrides: map[string]string{"TOKEN": "override-secret"}}, nil
}

// recordsOf keeps the two methods named Run apart.
type recordsOf struct {
	Records
	s *shop
}

func (r recordsOf) Run(ctx context.Context, id string) (run.Run, error) { return r.s.Run(ctx, id) }

type trials struct {
	run.Store
	s *shop
}

func (r trials) Run(ctx context.Context, id string) (run.Run, error) { return r.s.Run(ctx, id) }

func serviceWith(m llm.Model, s *shop) *Service {
	return &Service{Store: s, Records: recordsOf{s: s}, Runs: &run.Service{Store: trials{s: s}}, Log: slog.New(slog.DiscardHandler), Clock: time.Now,
		SessionURL: func(id string) string { return "https://tas/s/" + id }, RunURL: func(id string) string { return "https://tas/r/" + id },
		Adviser: &Adviser{Model: m, Price: llm.Price{Input: 3, Output: 15}, SessionTokens: 50_000, DayBudget: 5,
			Values: func(context.Context, string, string) (map[string]string, error) { return s.values, s.gone }}}
}

func element(name string, change ...func(*relocate.Element)) *relocate.Element {
	e := &relocate.Element{Tag: "button", Role: "button", Name: name, Path: "/html[1]/body[1]/button[1]", TestID: strings.ToLower(name)}
	for _, c := range change {
		c(e)
	}
	return e
}

// unsure makes a finding of a step with three candidates: the first one proposed or reported,
// the second with a veto, the third free. change alters it before the question is made.
func unsure(t *testing.T, st *state, outcome relocate.Outcome, p float64, hide hiding, change ...func(*Finding, *Judgement)) {
	t.Helper()
	if hide == nil {
		hide = clean
	}
	j := Judgement{Class: Drift, Proposal: &Proposal{Part: 0, Outcome: outcome, Answer: relocate.Answer{Outcome: outcome, P: p, Candidates: []relocate.Candidate{
		{Element: element("Store"), Share: 0.8}, {Element: element("Delete"), Share: 0.15, Vetoes: []string{"a destructive word"}}, {Element: element("Keep"), Share: 0.05}}}}}
	j.Proposal.Was.Target = element("Save")
	f := Finding{TestID: "t", Browser: "chromium", Title: "pays", Class: Drift, Before: "getByText('Save')", Outcome: outcome, P: p, Edit: -1, Part: 0, RunID: "r",
		Step: &StepSeen{Method: "click", Locator: "getByText('Save')", File: "a.ts", Line: 3}, Stack: []attempt.Location{{File: "a.ts", Line: 3, Column: 1}}}
	for _, c := range change {
		c(&f, &j)
	}
	for _, c := range j.Proposal.Answer.Candidates {
		f.Candidates = append(f.Candidates, CandidateSeen{Label: labelOf(c.Element), Path: c.Element.Path, Rival: fmt.Sprintf("getByTestId('%s')", c.Element.TestID), Share: c.Share, Vetoes: c.Vetoes})
	}
	if f.Outcome == relocate.Propose || f.Outcome == relocate.Heal {
		f.After, f.Edit = "getByText('Store')", len(st.Edits)
		st.Edits = append(st.Edits, attempt.Edit{Stack: f.Stack, Locator: f.Step.Locator, Replacement: f.After})
	}
	var err error
	if f.Question, err = question(f, j, hide, ""); err != nil {
		t.Fatal(err)
	}
	st.Failures = append(st.Failures, failure{TestID: f.TestID, Browser: f.Browser, Title: f.Title})
	st.Findings = append(st.Findings, f)
}

// advance moves a session on until it asks no more, as the reconciler would, and answers how
// often it had to wait.
func advance(t *testing.T, s *Service, st *state) (*agent.Step, *state, int) {
	t.Helper()
	now := time.Now()
	x := &agent.Step{Session: agent.Session{ID: "s", ProjectID: "p", RunID: "r", TestIDs: []string{"t"}, Stage: stageAdvise, StartedAt: &now, State: st.save()}, Now: now}
	waits := 0
	for range 50 {
		if x.Stage != stageAdvise || x.Status.Final() {
			break
		}
		x.NotBefore = time.Time{}
		if err := s.Advance(context.Background(), x); err != nil {
			t.Fatal(err)
		}
		if x.Stage == stageAdvise && x.NotBefore.After(x.Now) {
			waits++
		}
	}
	out, err := load(x.State)
	if err != nil {
		t.Fatal(err)
	}
	return x, &out, waits
}

func told(x *agent.Step, kind agent.EventKind) (out string) {
	for _, e := range x.Events() {
		if e.Kind == kind {
			out += e.Text + "\n"
		}
	}
	return out
}

// TestChoose holds each answer to what may come of it.
func TestChoose(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome relocate.Outcome
		p       float64
		says    []any
		change  func(*Finding, *Judgement)
		// What comes of it.
		want                      relocate.Outcome
		after                     string // "" where nothing is tried
		byModel, seconded, noEdit bool
		asked                     int
	}{
		"agrees":                  {outcome: relocate.Propose, p: 0.9, says: []any{`{"choice":"1","reason":"same"}`}, want: relocate.Propose, after: "getByText('Store')", seconded: true, asked: 1},
		"agrees, less likely":     {outcome: relocate.Propose, p: 0.84, says: []any{`{"choice":"1","reason":"same"}`}, want: relocate.Propose, after: "getByText('Store')", asked: 1},
		"takes another":           {outcome: relocate.Propose, p: 0.9, says: []any{`{"choice":"3","reason":"x"}`}, want: relocate.Propose, after: "getByTestId('keep')", byModel: true, asked: 1},
		"takes none":              {outcome: relocate.Propose, p: 0.96, says: []any{`{"choice":"none","reason":"x"}`}, want: relocate.Report, noEdit: true, asked: 1},
		"takes one of a report":   {outcome: relocate.Report, p: 0.3, says: []any{`{"choice":"1","reason":"x"}`}, want: relocate.Propose, after: "getByTestId('store')", byModel: true, asked: 1},
		"none of a report":        {outcome: relocate.Report, p: 0.3, says: []any{`{"choice":"none","reason":"x"}`}, want: relocate.Report, noEdit: true, asked: 1},
		"one with a veto":         {outcome: relocate.Propose, p: 0.9, says: []any{`{"choice":"2","reason":"x"}`}, want: relocate.Propose, after: "getByText('Store')", asked: 2},
		"out of range":            {outcome: relocate.Report, p: 0.3, says: []any{`{"choice":"7","reason":"x"}`}, want: relocate.Report, noEdit: true, asked: 2},
		"index 0":                 {outcome: relocate.Report, p: 0.3, says: []any{`{"choice":"0","reason":"x"}`}, want: relocate.Report, noEdit: true, asked: 2},
		"garbage, then an answer": {outcome: relocate.Propose, p: 0.9, says: []any{"I think it is 1", `{"choice":"1","reason":"x"}`}, want: relocate.Propose, after: "getByText('Store')", seconded: true, asked: 2},
		"more than was asked":     {outcome: relocate.Propose, p: 0.9, says: []any{`{"choice":"1","reason":"x","outcome":"heal"}`}, want: relocate.Propose, after: "getByText('Store')", asked: 2},
		"two answers":             {outcome: relocate.Propose, p: 0.9, says: []any{`{"choice":"1","reason":"x"}{"choice":"3","reason":"x"}`}, want: relocate.Propose, after: "getByText('Store')", asked: 2},
		"nothing":                 {outcome: relocate.Propose, p: 0.9, says: []any{""}, want: relocate.Propose, after: "getByText('Store')", asked: 2},
		"refuses":                 {outcome: relocate.Propose, p: 0.9, says: []any{llm.Reply{Stop: llm.Refused}}, want: relocate.Propose, after: "getByText('Store')", asked: 1},
		"endless":                 {outcome: relocate.Propose, p: 0.9, says: []any{fault.New(fault.TooLarge, "too long")}, want: relocate.Propose, after: "getByText('Store')", asked: 1},
		"a heal":                  {outcome: relocate.Heal, p: 0.99, want: relocate.Heal, after: "getByText('Store')"},
		"a bug":                   {outcome: relocate.Report, p: 0.3, change: func(f *Finding, _ *Judgement) { f.Class = ApplicationBug }, want: relocate.Report, noEdit: true},
		"flaky":                   {outcome: relocate.Report, p: 0.3, change: func(f *Finding, _ *Judgement) { f.Class = Flaky }, want: relocate.Report, noEdit: true},
		"the environment":         {outcome: relocate.Report, p: 0.3, change: func(f *Finding, _ *Judgement) { f.Class = Environment }, want: relocate.Report, noEdit: true},
		"an assertion":            {outcome: relocate.Propose, p: 0.9, change: func(f *Finding, _ *Judgement) { f.Step.Method, f.Step.Matcher = "expect", "to.be.visible" }, want: relocate.Propose, after: "getByText('Store')"},
		"only vetoes": {outcome: relocate.Propose, p: 0.9, change: func(_ *Finding, j *Judgement) {
			j.Proposal.Answer.Candidates = j.Proposal.Answer.Candidates[1:2]
		}, want: relocate.Propose, after: "getByText('Store')"},
		"a veto on the first": {outcome: relocate.Propose, p: 0.9, says: []any{`{"choice":"1","reason":"x"}`}, change: func(_ *Finding, j *Judgement) {
			j.Proposal.Answer.Candidates[0].Vetoes = []string{"another row"}
		}, want: relocate.Propose, after: "getByText('Store')", asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, st := &mouth{says: c.says}, &state{}
			if c.change == nil {
				c.change = func(*Finding, *Judgement) {}
			}
			unsure(t, st, c.outcome, c.p, nil, c.change)
			if (st.Findings[0].Question == nil) != (c.asked == 0) {
				t.Fatalf("the question is %+v", st.Findings[0].Question)
			}
			if c.asked == 0 {
				return
			}
			x, st, _ := advance(t, serviceWith(m, &shop{}), st)
			f := st.Findings[0]
			if f.Outcome != c.want || f.After != c.after || f.ByModel != c.byModel || f.Seconded != c.seconded || len(m.asked) != c.asked {
				t.Errorf("%s to %q, by the model: %v, seconded: %v; asked %d times", f.Outcome, f.After, f.ByModel, f.Seconded, len(m.asked))
			}
			if c.noEdit != (len(st.Edits) == 0) || c.noEdit != (x.Stage != stageProve) || !c.noEdit && (len(st.Edits) != 1 || st.Edits[0].Replacement != c.after || f.Edit != 0) {
				t.Errorf("it goes on to %q with %+v", x.Stage, st.Edits)
			}
			if f.Outcome == relocate.Heal && c.outcome != relocate.Heal {
				t.Error("a model made a heal")
			}
			// Whatever it said, all of it was noted, and counted.
			text := told(x, agent.Decided) + told(x, agent.Trouble)
			if !strings.Contains(text, "The model parrot was asked which of") || (x.Usage.InputTokens < int64(c.asked) || x.Usage.OutputTokens == 0 || x.Usage.CostUSD <= 0) {
				t.Errorf("%+v: %s", x.Usage, text)
			}
		})
	}
}

// TestLift makes a heal of a seconded proposal only with the whole proof.
func TestLift(t *testing.T) {
	t.Parallel()
	fine := func() *Proof {
		return &Proof{Passed: true, Sabotage: []Sabotage{{What: "the element is removed", Done: true, Found: true}, {What: "its handler is dead", Done: true, Found: true}}}
	}
	for name, c := range map[string]struct {
		change func(*state)
		want   bool
	}{
		"all of it":           {func(*state) {}, true},
		"nobody agreed":       {func(st *state) { st.Findings[0].Seconded = false }, false},
		"less likely":         {func(st *state) { st.Findings[0].P = 0.849 }, false},
		"chosen by the model": {func(st *state) { st.Findings[0].ByModel = true }, false},
		"not proved":          {func(st *state) { st.Proof.Passed = false }, false},
		"no proof":            {func(st *state) { st.Proof = nil }, false},
		"nothing was broken":  {func(st *state) { st.Proof.Sabotage = nil }, false},
		"one survived":        {func(st *state) { st.Proof.Sabotage[1].Found = false }, false},
		"one was not done":    {func(st *state) { st.Proof.Sabotage[0].Done = false }, false},
		"another test breaks": {func(st *state) { st.Proof.SharedFailed = []string{"x"} }, false},
		"another was sabotaged": {func(st *state) {
			st.Findings = append([]Finding{{Edit: 1, Outcome: relocate.Heal, P: 0.99}}, st.Findings...)
			st.Proof.Sabotage[0].Edit, st.Proof.Sabotage[1].Edit = 1, 1
		}, false},
	} {
		st := &state{Findings: []Finding{{Edit: 0, Outcome: relocate.Propose, P: 0.9, Seconded: true, After: "x"}}, Proof: fine()}
		c.change(st)
		st.lift(&agent.Step{})
		last := st.Findings[len(st.Findings)-1]
		if (last.Outcome == relocate.Heal) != c.want {
			t.Errorf("%s: %s", name, last.Outcome)
		}
		if draft, why := st.doubtful(); draft == c.want {
			t.Errorf("%s: a draft: %v, %s", name, draft, why)
		}
	}
	// An effect outside the page excuses what a test was blind to before, but not here.
	st := &state{Findings: []Finding{{Edit: 0, Outcome: relocate.Propose, P: 0.9, Seconded: true, ByModel: true}}, Proof: fine()}
	if draft, why := st.doubtful(); !draft || !strings.Contains(why, "a model chose") {
		t.Errorf("%v, %s", draft, why)
	}
}

// TestDoesTheSame makes a heal of what only its names speak against once it was seen to do what
// the step did, and forgives a test for what it could not see before.
func TestDoesTheSame(t *testing.T) {
	t.Parallel()
	order := func(kind attempt.SabotageKind, found bool) Sabotage {
		return Sabotage{What: string(kind), Order: attempt.Sabotage{Kind: kind}, Done: true, Found: found}
	}
	for name, c := range map[string]struct {
		change func(st *state)
		want   bool
	}{
		"it fails when it does nothing":  {func(*state) {}, true},
		"it passes when it does nothing": {func(st *state) { st.Proof.Sabotage[1].Found = false }, false},
		"the same request":               {func(st *state) { st.Proof.Sabotage[1].Found, st.Findings[0].EffectSeen = false, true }, true},
		"a field whose text is missed elsewhere": {func(st *state) {
			st.Findings[0].Step.Method, st.Findings[0].Carried, st.Proof.Sabotage[1].Beyond = "fill", true, true
		}, true},
		"a field whose text only it is asked for": {func(st *state) { st.Findings[0].Step.Method, st.Findings[0].Carried = "fill", true }, false},
		"a field whose text arrives under another name": {func(st *state) {
			st.Findings[0].Step.Method, st.Proof.Sabotage[1].Beyond = "fill", true
		}, false},
		"a box that is checked": {func(st *state) {
			st.Findings[0].Step.Method, st.Findings[0].Carried, st.Proof.Sabotage[1].Beyond = "check", true, true
		}, false},
		"not clearly ahead":    {func(st *state) { st.Findings[0].Margin = 0.4 }, false},
		"not likely enough":    {func(st *state) { st.Findings[0].P = 0.96 }, false},
		"something against it": {func(st *state) { st.Findings[0].Candidates[0].Vetoes = []string{"x"} }, false},
		"a person must judge":  {func(st *state) { st.Findings[0].ByDeed = false }, false},
		"a person chose":       {func(st *state) { st.Findings[0].Chosen = true }, false},
		"not proved":           {func(st *state) { st.Proof.Passed = false }, false},
		"a check, its text seen": {func(st *state) {
			st.Findings[0].Step.Method, st.Proof.Sabotage[1] = "expect", order(attempt.SabotageText, true)
		}, true},
		"a check, its text not seen": {func(st *state) { st.Findings[0].Step.Method = "expect" }, false},
		"another repair was not put to the test": {func(st *state) {
			st.Findings = append(st.Findings, Finding{Edit: 1, Outcome: relocate.Heal, P: 0.99})
		}, false},
		"another repair lets what it guards go": {func(st *state) {
			st.Findings = append(st.Findings, Finding{Edit: 1, Outcome: relocate.Heal, P: 0.99})
			st.Proof.Sabotage = append(st.Proof.Sabotage, Sabotage{What: "x", Edit: 1, Done: true, Order: attempt.Sabotage{Kind: attempt.SabotageRemove}})
		}, false},
		"another repair put to the test": {func(st *state) {
			st.Findings = append(st.Findings, Finding{Edit: 1, Outcome: relocate.Heal, P: 0.99})
			st.Proof.Sabotage = append(st.Proof.Sabotage, Sabotage{What: "x", Edit: 1, Done: true, Found: true, Order: attempt.Sabotage{Kind: attempt.SabotageRemove}})
		}, true},
		"named still, and blind as before": {func(st *state) {
			st.Findings[0].ByDeed, st.Findings[0].Outcome, st.Proof.Sabotage[1].Found = false, relocate.Heal, false
		}, true},
		"named still, and blind to its end": {func(st *state) {
			st.Findings[0].ByDeed, st.Findings[0].Outcome, st.Proof.Sabotage[0].Found = false, relocate.Heal, false
		}, false},
	} {
		st := &state{Findings: []Finding{{Edit: 0, Outcome: relocate.Propose, P: 0.98, Margin: 0.9, ByDeed: true, After: "x", Step: &StepSeen{Method: "click"}, Candidates: []CandidateSeen{{Label: "x"}}}},
			Proof: &Proof{Passed: true, Sabotage: []Sabotage{order(attempt.SabotageRemove, true), order(attempt.SabotageHandler, true)}}}
		c.change(st)
		st.lift(&agent.Step{})
		if draft, why := st.doubtful(); draft == c.want {
			t.Errorf("%s: a draft: %v, %s", name, draft, why)
		}
	}
}

// TestWordingAdvice notes what a model says of a wording, and changes nothing.
func TestWordingAdvice(t *testing.T) {
	t.Parallel()
	message := "Expected: \"Your order was placed\"\nReceived: \"Your order has been placed\""
	for name, c := range map[string]struct {
		matcher, says, want string
		asked               int
	}{
		"same":      {"to.have.text", `{"meaning":"same meaning","reason":"tense"}`, "same meaning. “tense” No assertion is changed.", 1},
		"different": {"to.have.text", `{"meaning":"different","reason":"x"}`, "different.", 1},
		"garbage":   {"to.have.text", `{"meaning":"heal it","reason":"x"}`, "", 2},
		"typed":     {"to.have.value", ``, "", 0},
	} {
		f := Finding{TestID: "t", Title: "pays", Class: Wording, Edit: -1, Step: &StepSeen{Method: "expect", Matcher: c.matcher}}
		var err error
		if f.Question, err = question(f, Judgement{Class: Wording}, clean, message); err != nil {
			t.Fatal(err)
		}
		m := &mouth{says: []any{c.says}}
		x, st, _ := advance(t, serviceWith(m, &shop{}), &state{Failures: []failure{{TestID: "t"}}, Findings: []Finding{f}})
		got := st.Findings[0]
		if len(m.asked) != c.asked || !strings.Contains(strings.Join(got.Evidence, " "), c.want) || c.want == "" && len(got.Evidence) > 0 {
			t.Errorf("%s: asked %d times: %q", name, len(m.asked), got.Evidence)
		}
		if got.Class != Wording || len(st.Edits) > 0 || x.Status != agent.Completed || x.Outcomes[0].Outcome != agent.NotHealable {
			t.Errorf("%s: %s, %+v", name, got.Class, x.Outcomes)
		}
	}
}

// TestModelFails goes on without a model that does not answer, and waits for one that says when.
func TestModelFails(t *testing.T) {
	t.Parallel()
	busy := func(after time.Duration) error {
		e := fault.New(fault.Unavailable, "busy")
		e.RetryAfter = after
		return e
	}
	for name, c := range map[string]struct {
		says         []any
		asked, waits int
		seconded     bool
	}{
		"a wrong key":       {[]any{fault.New(fault.Forbidden, "wrong key")}, 1, 0, false},
		"no such model":     {[]any{fault.New(fault.Invalid, "unknown")}, 1, 0, false},
		"busy for a while":  {[]any{busy(5 * time.Second), busy(0), `{"choice":"1","reason":"x"}`}, 3, 2, true},
		"busy":              {[]any{busy(0)}, 3, 2, false},
		"busy for an hour":  {[]any{busy(time.Hour)}, 1, 0, false},
		"something unknown": {[]any{errors.New("pipe")}, 3, 2, false},
	} {
		m, st := &mouth{says: c.says}, &state{}
		unsure(t, st, relocate.Propose, 0.9, nil)
		unsure(t, st, relocate.Propose, 0.9, nil, func(f *Finding, _ *Judgement) { f.TestID, f.Title = "u", "another question" })
		x, st, waits := advance(t, serviceWith(m, &shop{}), st)
		want := c.asked
		if c.seconded {
			want++ // the other question
		}
		if len(m.asked) != want || waits != c.waits || st.Findings[0].Seconded != c.seconded || x.Stage != stageProve {
			t.Errorf("%s: asked %d times, waited %d times, goes on to %q: %+v", name, len(m.asked), waits, x.Stage, st.Findings[0].Advice)
		}
		if !strings.Contains(told(x, agent.Trouble), "The model parrot cannot be asked") {
			t.Errorf("%s: %q", name, told(x, agent.Trouble))
		}
	}
	// It waits as long as it was told.
	s, x := serviceWith(&mouth{says: []any{busy(90 * time.Second)}}, &shop{}), &agent.Step{Now: time.Now()}
	if _, later, err := s.put(context.Background(), x, &state{}, asking{patient: true}); !later || err != nil || x.NotBefore.Sub(x.Now) != 90*time.Second {
		t.Errorf("%v, %v, %s", later, err, x.NotBefore.Sub(x.Now))
	}
}

// TestAskedOnce asks one question for all tests that put the same one, and none again that was
// answered before a crash.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	m, st := &mouth{says: []any{`{"choice":"none","reason":"x"}`}}, &state{}
	for _, id := range []string{"t", "u", "v"} {
		unsure(t, st, relocate.Propose, 0.9, nil, func(f *Finding, _ *Judgement) { f.TestID = id })
	}
	key := st.Findings[0].Question.Key
	_, after, _ := advance(t, serviceWith(m, &shop{}), st)
	if len(m.asked) != 1 || len(after.Edits) != 0 || after.Findings[2].Outcome != relocate.Report {
		t.Errorf("asked %d times: %+v", len(m.asked), after.Findings)
	}
	st.Advice = map[string]Advice{key: {Kind: askChoose, Answer: "1", Choice: 0, Reason: "kept"}}
	_, after, _ = advance(t, serviceWith(m, &shop{}), st)
	if len(m.asked) != 1 || !after.Findings[1].Seconded || len(after.Edits) != 3 {
		t.Errorf("asked %d times: %+v", len(m.asked), after.Findings)
	}
	// No model any more, in the middle.
	s := serviceWith(m, &shop{})
	s.Adviser, st.Advice = nil, nil
	if x, after, _ := advance(t, s, st); x.Stage != stageProve || after.Findings[0].Outcome != relocate.Propose {
		t.Errorf("%s: %+v", x.Stage, after.Findings[0])
	}
}

// TestModelBudgets asks nothing beyond a budget.
func TestModelBudgets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Service, *shop)
		asked  int
		note   string
	}{
		"within":                  {func(*Service, *shop) {}, 1, ""},
		"the session's tokens":    {func(s *Service, _ *shop) { s.Adviser.SessionTokens = 900 }, 0, "the session may use 900 tokens"},
		"the project's day":       {func(_ *Service, d *shop) { d.used.CostUSD = 4.9999 }, 0, "the project may use $5.00 in 24 hours"},
		"nobody knows the prices": {func(s *Service, d *shop) { d.used.CostUSD, s.Adviser.Price = 9, llm.Price{} }, 1, ""},
	} {
		m, st, d := &mouth{says: []any{`{"choice":"1","reason":"x"}`}}, &state{}, &shop{}
		unsure(t, st, relocate.Propose, 0.9, nil)
		s := serviceWith(m, d)
		c.change(s, d)
		x, _, _ := advance(t, s, st)
		if len(m.asked) != c.asked || !strings.Contains(told(x, agent.Decided), c.note) || x.Stage != stageProve {
			t.Errorf("%s: asked %d times: %s", name, len(m.asked), told(x, agent.Decided))
		}
	}
	// The second try after garbage is held to it as well, with what the first one cost.
	m, st, d := &mouth{says: []any{llm.Reply{Text: "?", Usage: llm.Usage{Input: 1000, Output: 300_000}}}}, &state{}, &shop{used: agent.Usage{CostUSD: 0.6}}
	unsure(t, st, relocate.Propose, 0.9, nil)
	s := serviceWith(m, d)
	s.Adviser.SessionTokens = 0
	if advance(t, s, st); len(m.asked) != 1 {
		t.Errorf("asked %d times", len(m.asked))
	}
}
