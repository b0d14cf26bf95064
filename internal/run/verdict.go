package run

import (
	"fmt"
	"strings"
)

// Tally is what is known of a run's results when it is judged. It is counted anew from
// the stored results, not taken from the counters that were kept while they came in.
type Tally struct {
	Counts   Counts   // of counted results
	Selected int      // results that were selected, not companions
	Proper   int      // of these, how many are no set-up of others
	Ran      int      // of the proper ones, how many were executed
	SetUp    int      // of the others, how many were executed
	Open     []string // titles of results that have no final status, at most a few
	OpenN    int      // how many those are
	NotRun   int      // skipped with CodeDidNotRun
	InUnits  int      // results that a sharded run's shards handed out among them
	// Excused failures do not fail the run: overruled by a verdict, or quarantined.
	Excused     int
	Quarantined int // of the counted failures, how many are quarantined
	Shielded    int // of the proper ones that ran, how many failed in quarantine
}

// Judgement is the end of a run.
type Judgement struct {
	Phase   Phase
	Verdict Verdict
	Error   *Error // set where the reason is not a test's own failure
}

// Judge decides a run that has done all it will do. It passes only when at least one
// test was executed, none failed, every planned test is accounted for, nothing failed
// outside the tests, and the runner itself said that it was done: neither an exit
// status nor a report is taken for that.
//
// A failure that a verdict overruled, or that was quarantined before the run began, does
// not count against it, and explains that Playwright ended with "failed". Of tests that
// were never executed because of it nothing is known: those fail the run all the same.
//
// Of a sharded run, plan is what was handed out: the outcomes must be as many.
func Judge(end *Ending, plan *Plan, t Tally) Judgement {
	fail := func(phase Phase, code, format string, args ...any) Judgement {
		return Judgement{Phase: phase, Verdict: Fail, Error: &Error{Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	switch c := t.Counts; {
	case end == nil || !end.Complete:
		return fail(ProcessError, CodeIncomplete, "The run ended before the runner said that it was done.")
	case t.OpenN > 0:
		return fail(ProcessError, CodeNotReported, "%d planned tests were never reported: %s.", t.OpenN, Sample(t.Open, t.OpenN))
	case plan != nil && plan.Tests != t.InUnits:
		return fail(ProcessError, CodePlanBroken, "%d tests were planned and %d have an outcome.", plan.Tests, t.InUnits)
	case t.Selected == 0 && len(end.Errors) == 0:
		return fail(Failed, CodeNoTests, "No test was selected, so nothing was checked.")
	case len(end.Errors) > 0:
		e := end.Errors[0]
		if e.Code == "" {
			e.Code = CodeLoadError
		}
		return Judgement{Phase: Failed, Verdict: Fail, Error: &e}
	case c.Failed+c.Bug > t.Quarantined:
		return Judgement{Phase: Failed, Verdict: Fail}
	case t.executed() == 0:
		return fail(Failed, CodeNoneExecuted, "Every selected test was skipped, so nothing was checked.")
	case t.executed() == t.Shielded:
		return fail(Failed, CodeNoneExecuted, "Every test that was executed failed in quarantine, so nothing was checked.")
	case t.NotRun > 0:
		return fail(Failed, CodeDidNotRun, "%d tests did not run although none failed.", t.NotRun)
	case end.Status != "passed" && (end.Status != "failed" || t.Excused == 0):
		return fail(Failed, "runner-"+strings.ToLower(end.Status), "No test failed, but Playwright ended with status %q.", end.Status)
	case c.Recovered > 0:
		return Judgement{Phase: Healed, Verdict: Pass}
	default:
		return Judgement{Phase: Passed, Verdict: Pass}
	}
}

// executed is how many tests checked something: a set-up that ran before tests that were
// all skipped has checked nothing, one that was selected alone has.
func (t Tally) executed() int {
	if t.Proper > 0 {
		return t.Ran
	}
	return t.SetUp
}

// Add counts n results that are alike into the tally.
func (t *Tally) Add(r Result, n int) {
	if r.Unit >= 0 && r.Status.Final() {
		t.InUnits += n
	}
	if !r.Companion {
		t.Selected += n
		executed := r.Status.Final() && r.Status != StatusSkipped
		switch {
		case !r.Setup:
			t.Proper += n
			if executed {
				t.Ran += n
			}
			if r.shielded() {
				t.Shielded += n
			}
		case executed:
			t.SetUp += n
		}
	}
	switch {
	case !r.Status.Final():
		t.OpenN += n
	case r.Counted():
		t.Counts.Add(r.Status, n)
		switch {
		case r.Overruled && !r.Failing():
			t.Excused += n
		case r.shielded():
			t.Excused += n
			t.Quarantined += n
		}
		if r.Status == StatusSkipped && r.Error != nil && r.Error.Code == CodeDidNotRun {
			t.NotRun += n
		}
	}
}

// Sample joins the first names of a long list: "a; b; and 7 more".
func Sample(names []string, total int) string {
	s := strings.Join(names, "; ")
	if more := total - len(names); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// CloseOpen gives every result that is still open its final status: tests that had
// begun failed as interrupted, tests never heard of failed as not reported, unless the
// runner ended in good order after a failure, which explains why they did not run.
func CloseOpen(results []*Result, end *Ending, why string, failedBefore bool) {
	explained := end != nil && end.Complete && end.Status != "passed" && failedBefore
	for _, r := range results {
		switch {
		case r.Status.Final():
		case len(r.Tries) > 0:
			last := &r.Tries[len(r.Tries)-1]
			if last.Status == string(StatusRunning) || last.WillRetry {
				if last.Status == string(StatusRunning) {
					last.Status = "interrupted"
				}
				last.WillRetry = false
			}
			r.Status = StatusFailed
			r.Error = &Error{Code: CodeInterrupted, Message: "The test had begun and its end was never reported. " + why}
		case explained:
			r.Status = StatusSkipped
			r.Error = &Error{Code: CodeDidNotRun, Message: "The test did not run because of an earlier failure."}
		default:
			r.Status = StatusFailed
			r.Error = &Error{Code: CodeNotReported, Message: "The test was planned and never reported. " + why}
		}
	}
}
