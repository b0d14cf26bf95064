package heal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// The stages of a session. Each but the first and the last waits for trials.
const (
	stageBegin     = ""
	stageReproduce = "reproduce" // the failing tests, unchanged
	stageProve     = "prove"     // with the repair, three times
	stageVerify    = "verify"    // tests that share what was changed; and what the repaired one still detects
	stageDeliver   = "deliver"
)

// Bounds of a session.
const (
	maxReproduced = 20 // tests that are run unchanged
	maxShared     = 60 // tests that are run because they share what was changed
	maxRounds     = 5  // repairs one upon the other
	proofRuns     = 3
)

// Patience with trials between looks; the end of one wakes the reconciler.
const (
	lookEvery    = 2 * time.Second
	deliverFor   = 30 // looks at a pull request that is not open yet
	deliverEvery = time.Second
)

// again are errors after which a trial is begun again, as often as maxAgain: they say nothing
// of what was tried.
var again = []string{run.CodeWorkerLost, "worker-stopped"}

const maxAgain = 3

// Advance moves a session on by one step; see agent.Worker.
func (s *Service) Advance(ctx context.Context, x *agent.Step) error {
	st, err := load(x.State)
	if err != nil {
		return err
	}
	if st.Trials == nil {
		st.Trials = map[string]string{}
	}
	r, err := s.Records.Run(ctx, x.RunID)
	if err != nil {
		return err
	}
	switch x.Stage {
	case stageBegin:
		err = s.begin(ctx, x, &st, r)
	case stageReproduce:
		err = s.reproduced(ctx, x, &st, r)
	case stageProve:
		err = s.proved(ctx, x, &st, r)
	case stageVerify:
		err = s.verified(ctx, x, &st, r)
	case stageAdvise:
		err = s.advised(ctx, x, &st, r)
	case stageWork:
		err = s.worked(ctx, x, &st, r)
	case stageDeliver:
		err = s.deliver(ctx, x, &st, r)
	default:
		err = fault.New(fault.Conflict, "The session is at a stage %q that this version of the service does not know.", x.Stage)
	}
	x.State = st.save()
	return err
}

// Abandon ends the trials that a session has under way.
func (s *Service) Abandon(ctx context.Context, x agent.Session) error {
	st, err := load(x.State)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range st.Trials {
		errs = append(errs, s.Runs.CancelTrial(ctx, id, string(account.ViaService)))
	}
	return errors.Join(errs...)
}

// try starts a trial, or finds the one that was started before a crash.
func (s *Service) try(ctx context.Context, x *agent.Step, st *state, r run.Run, what string, tests []string, t attempt.Trial) error {
	id := trialID(x.ID, what)
	if n := st.Again[what]; n > 0 {
		id = trialID(x.ID, fmt.Sprintf("%s/%d", what, n))
	}
	if _, err := s.Runs.Try(ctx, run.TrialInput{ID: id, Of: r, Session: x.ID, TestIDs: tests, Trial: t}); err != nil {
		return err
	}
	if st.Trials[what] != id {
		st.Trials[what] = id
		x.Usage.Trials++
		x.Usage.Executions += len(tests) * max(1, t.Repeat, len(t.Sabotage))
	}
	return nil
}

// awaited answers a trial once it is over; false while it is not.
func (s *Service) awaited(ctx context.Context, x *agent.Step, st *state, what string) (run.Run, []run.Result, bool, error) {
	t, over, err := s.ended(ctx, x, st, what)
	if err != nil || !over {
		return t, nil, false, err
	}
	out, err := s.resultsOf(ctx, t.ID)
	return t, out, err == nil, err
}

func (s *Service) resultsOf(ctx context.Context, runID string) (out []run.Result, err error) {
	for res, err := range run.AllResults(ctx, s.Records, run.ResultQuery{RunID: runID}) {
		if err != nil {
			return nil, err
		}
		out = append(out, res)
	}
	return out, nil
}

// ended answers a trial, and whether it is over. One that was lost is begun again.
func (s *Service) ended(ctx context.Context, x *agent.Step, st *state, what string) (run.Run, bool, error) {
	t, err := s.Records.Run(ctx, st.Trials[what])
	if err != nil {
		return t, false, err
	}
	if !t.Terminal() {
		if x.Status == agent.Cloning && (t.Phase == run.Running || t.Phase == run.Merging) {
			x.Status = agent.Running
		}
		x.Wait(lookEvery)
		return t, false, nil
	}
	if e := t.Error; t.Phase == run.ProcessError && e != nil && slices.Contains(again, e.Code) && st.Again[what] < maxAgain {
		x.NoteRun(t.ID, agent.Trouble, "The trial was lost, and is begun again: %s", e.Message)
		if st.Again == nil {
			st.Again = map[string]int{}
		}
		st.Again[what]++
		x.Wait(lookEvery)
		return t, false, s.try(ctx, x, st, t, what, t.Selection.TestIDs, t.Trial.Trial)
	}
	return t, true, nil
}

// begin has the failing tests executed again, unchanged: some pass then, and of the others a
// trace is needed.
func (s *Service) begin(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	if len(st.Edits) > 0 { // a person chose what is tried
		return s.prove(ctx, x, st, r)
	}
	if st.Left > 0 {
		x.Note(agent.Decided, "%d further failures of the same kind are left out.", st.Left)
	}
	tests := slices.Clone(x.TestIDs)
	if len(tests) > maxReproduced {
		x.Note(agent.Decided, "%d tests fail in the same way: %d of them are looked at first.", len(tests), maxReproduced)
		tests = tests[:maxReproduced]
	}
	if err := s.try(ctx, x, st, r, "reproduce", tests, attempt.Trial{Trace: true}); err != nil {
		return err
	}
	x.NoteRun(st.Trials["reproduce"], agent.Ran, "The failing tests are executed once more, unchanged, at commit %.10s, and a trace of each is recorded.", r.Commit)
	x.Status, x.Stage = agent.Cloning, stageReproduce
	x.Wait(lookEvery)
	return nil
}

// reproduced reads what the failing tests showed, and proposes repairs.
func (s *Service) reproduced(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	t, results, over, err := s.awaited(ctx, x, st, "reproduce")
	if err != nil || !over {
		return err
	}
	x.Status = agent.Running
	if t.Phase == run.ProcessError {
		return s.conclude(ctx, x, st, r, "The failing tests could not be executed again: "+reasonOf(t))
	}
	if err := s.examine(ctx, x, st, r, t, results); err != nil {
		return err
	}
	if st.Wish != "" { // a reviewer wants something else than was tried
		st.Edits = nil
		for i := range st.Findings {
			st.Findings[i].Edit, st.Findings[i].Question = -1, nil
		}
		return s.conclude(ctx, x, st, r, "")
	}
	return s.advise(ctx, x, st, r, 0, "")
}

func reasonOf(t run.Run) string {
	if t.Error != nil {
		return t.Error.Message
	}
	return "the trial ended as " + string(t.Phase) + "."
}

// prove has the repaired tests executed three times, without retries.
func (s *Service) prove(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	what := st.proof()
	trial := attempt.Trial{Edits: st.Edits, Repeat: proofRuns, Trace: true}
	if st.writing() {
		trial.Edits, trial.Rewrites = nil, st.Work.Rewrites
	}
	if err := s.try(ctx, x, st, r, what, st.repaired(), trial); err != nil {
		return err
	}
	x.NoteRun(st.Trials[what], agent.Ran, "The repair is written into the source, and the tests are executed %d times without retries.", proofRuns)
	x.Status, x.Stage = agent.Verifying, stageProve
	x.Wait(lookEvery)
	return nil
}

// proof answers what the trial of the repair is called.
func (st *state) proof() string { return st.named(fmt.Sprintf("prove-%d", st.Round)) }

// repaired answers the tests for which there is a repair.
func (st *state) repaired() (out []string) {
	for _, f := range st.Findings {
		if f.Repaired() && !slices.Contains(out, f.TestID) {
			out = append(out, f.TestID)
		}
	}
	return out
}

// proved reads what the repaired tests showed. Where they come further and fail at another
// locator, that one is repaired as well.
func (s *Service) proved(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	t, results, over, err := s.awaited(ctx, x, st, st.proof())
	if err != nil || !over {
		return err
	}
	if e := t.Edited; e != nil {
		st.Made = e.Edits
		x.Patch, x.Changes = e.Patch, changesOf(e.Patch)
		why, err := s.refused(ctx, st, r, *e)
		if err != nil {
			return err
		}
		if why != "" {
			x.Patch, x.Changes = "", nil
			return s.conclude(ctx, x, st, r, why)
		}
		for i, d := range e.Edits {
			if slices.Contains(e.Edits[:i], d) || st.writing() {
				continue
			}
			x.NoteRun(t.ID, agent.Changed, "%s:%d: %s became %s.", d.File, d.Line, quoted(d.Before), quoted(d.After))
		}
	}
	if t.Phase == run.ProcessError || t.Edited == nil {
		x.Patch, x.Changes = "", nil
		return s.conclude(ctx, x, st, r, "The repair could not be tried: "+reasonOf(t))
	}
	proof, err := s.judge(ctx, x, st, r, t, results)
	if err != nil {
		return err
	}
	st.Proof = proof
	if !proof.Passed {
		if st.writing() {
			x.Patch, x.Changes = "", nil
			return s.conclude(ctx, x, st, r, "The repair does not hold: "+proof.Why)
		}
		edits := len(st.Edits)
		if st.Round+1 < maxRounds && proof.Ran > 0 {
			if err := s.examine(ctx, x, st, r, t, results); err != nil {
				return err
			}
		}
		return s.advise(ctx, x, st, r, edits, "The repair does not hold: "+proof.Why)
	}
	return s.verify(ctx, x, st, r, t, results)
}

// refused answers why a repair is not used, "" where it is.
func (s *Service) refused(ctx context.Context, st *state, r run.Run, e attempt.Edited) (string, error) {
	if st.writing() {
		b, err := s.benchOf(ctx, r)
		if err != nil {
			return "", err
		}
		return s.refusedRewrites(ctx, b, e, st.Work.Rewrites)
	}
	p, err := s.Projects.Project(ctx, r.ProjectID)
	if err != nil {
		return "", err
	}
	return refusedEdit(e, st.Edits, p.Repository.Dir), nil
}

// refusedEdit answers why a repair is not used, "" where it is.
func refusedEdit(e attempt.Edited, ordered []attempt.Edit, dir string) string {
	if why := unwritten(e); why != "" {
		return why
	}
	if err := CheckPatch(e, ordered, dir); err != nil {
		return err.Error()
	}
	return ""
}

// unwritten answers why a repair cannot be written, or must not be, "" where it was.
func unwritten(e attempt.Edited) string {
	for _, d := range e.Edits {
		if d.Code != "" {
			return "The repair cannot be written into the source: " + d.Why + "."
		}
	}
	if len(e.Offences) > 0 {
		o := e.Offences[0]
		return fmt.Sprintf("The repair would do what a repair must never do (%s, %s:%d).", o.Message, o.File, o.Line)
	}
	if e.Patch == "" {
		return "The repair changes nothing."
	}
	return ""
}

// verify has the tests executed that share what was changed, and the repaired one sabotaged.
func (s *Service) verify(ctx context.Context, x *agent.Step, st *state, r, t run.Run, results []run.Result) error {
	shared, err := s.sharing(ctx, x, st, r)
	if err != nil {
		return err
	}
	if len(shared) > 0 {
		if err := s.try(ctx, x, st, r, st.named("share"), shared, attempt.Trial{Patch: x.Patch}); err != nil {
			return err
		}
		x.NoteRun(st.Trials[st.named("share")], agent.Ran, "%d other tests that share what was changed are executed.", len(shared))
	}
	if st.writing() {
		st.Proof.Sabotage, st.Proof.Note, err = s.sabotageWritten(ctx, x, st, r, t, results)
	} else {
		st.Proof.Sabotage, err = s.sabotage(ctx, st, t, results)
	}
	if err != nil {
		return err
	}
	tests, of := bySabotaged(st.Proof.Sabotage)
	for n, on := range tests {
		what := st.named(sabotageTrial(n))
		if err := s.try(ctx, x, st, r, what, []string{on}, attempt.Trial{Patch: x.Patch, Sabotage: orders(of[on])}); err != nil {
			return err
		}
		x.NoteRun(st.Trials[what], agent.Ran, "A repaired test is executed with the application broken on purpose in %d ways: it must fail each time.", len(of[on]))
	}
	x.Stage = stageVerify
	x.Wait(lookEvery)
	return nil
}

// verified reads what the other tests and the sabotaged one showed.
func (s *Service) verified(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	seen := map[string][]run.Result{}
	trials := map[string]run.Run{}
	sabotaged, of := bySabotaged(st.Proof.Sabotage)
	share, again := st.named("share"), st.named("share-again")
	all := []string{share, again}
	for n := range sabotaged {
		all = append(all, st.named(sabotageTrial(n)))
	}
	for _, what := range all { // nothing is judged before all are over
		if st.Trials[what] == "" {
			continue
		}
		t, over, err := s.ended(ctx, x, st, what)
		if err != nil || !over {
			return err
		}
		trials[what] = t
	}
	for what, t := range trials {
		var err error
		if seen[what], err = s.resultsOf(ctx, t.ID); err != nil {
			return err
		}
	}
	if st.Trials[again] == "" {
		if failed := st.newlyFailed(seen[share]); len(failed) > 0 {
			x.NoteRun(trials[share].ID, agent.Ran, "%d other tests fail with the repair that did not before: they are executed once more.", len(failed))
			x.Wait(lookEvery)
			return s.try(ctx, x, st, r, again, failed, attempt.Trial{Patch: x.Patch})
		}
	}
	if t, ok := trials[share]; ok {
		s.judgeShared(x, st, t, seen[share], seen[again])
	}
	for n, on := range sabotaged {
		what := st.named(sabotageTrial(n))
		if t, ok := trials[what]; ok {
			judgeSabotage(x, of[on], st.Findings, t, seen[what])
		}
	}
	if len(st.Proof.SharedFailed) > 0 {
		x.Patch, x.Changes = "", nil
		return s.conclude(ctx, x, st, r, "The repair breaks other tests: "+strings.Join(st.Proof.SharedFailed[:min(3, len(st.Proof.SharedFailed))], "; ")+".")
	}
	st.lift(x)
	return s.conclude(ctx, x, st, r, "")
}

// conclude says what came of each test, tells the application's bugs, and delivers a repair
// that was proved.
func (s *Service) conclude(ctx context.Context, x *agent.Step, st *state, r run.Run, trouble string) error {
	if s.written(x, st, trouble) {
		return nil
	}
	if x.Patch == "" {
		if began, err := s.beginWork(ctx, x, st, r, trouble); began || err != nil {
			return err
		}
	}
	x.Outcomes = outcomes(st, x.Patch != "", trouble)
	if err := s.tellBugs(ctx, x, st, r); err != nil {
		return err
	}
	x.Summary = cmp.Or(trouble, summary(st, x.Outcomes, x.Patch != ""))
	x.Note(agent.Decided, "%s", x.Summary)
	if x.Patch == "" {
		x.End(x.Summary)
		return s.remark(ctx, x, st, r)
	}
	x.Stage, x.NotBefore = stageDeliver, x.Now
	return nil
}
