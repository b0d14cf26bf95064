package run

import (
	"slices"

	"tas-service/internal/fault"
)

// Word is what a person, or an automation on their behalf, says of a test's result.
type Word string

// The words.
const (
	WordBug    Word = "bug"     // the application is at fault
	WordNotBug Word = "not-bug" // it failed, and the application is not at fault
	WordFlaky  Word = "flaky"   // it fails now and then, and means nothing
	WordPassed Word = "passed"
	WordFailed Word = "failed"
)

// Words lists every word.
func Words() []Word { return []Word{WordBug, WordNotBug, WordFlaky, WordPassed, WordFailed} }

// unaccounted are codes of results that no test gave: nothing is known of what it would
// have found.
var unaccounted = []string{CodeNotReported, CodeInterrupted, CodeDidNotRun, CodeShardLost, CodeCancelled}

// Unaccounted reports whether the test never came to an end of its own.
func (r *Result) Unaccounted() bool {
	return !r.Status.Final() || r.Error != nil && slices.Contains(unaccounted, r.Error.Code)
}

// Failing reports whether the result fails the run, quarantine aside.
func (r *Result) Failing() bool { return r.Status.Failing() }

// shielded reports whether quarantine keeps a failure from failing the run: one of the
// test's own, that nobody has called a bug.
func (r *Result) shielded() bool {
	return r.Quarantined && r.Status == StatusFailed && r.failedItself() && !r.Unaccounted()
}

// Overrule gives a result the status that a word says, whatever it was before. Nobody can
// say that a test passed which never ended: fault.Conflict.
func (r *Result) Overrule(w Word) error {
	switch {
	case r.Status == StatusSkipped:
		return fault.New(fault.Conflict, "The test was skipped, so there is no result to judge.").WithFix("Run it, and judge that run.")
	case r.Unaccounted() && w != WordFailed && w != WordNotBug:
		return fault.New(fault.Conflict, "The test never came to its end (%s), so nobody can tell.", codeOf(r)).WithFix("Run it again.")
	case w == WordNotBug && !r.Failing():
		return fault.New(fault.Conflict, "The test is %s, so there is no failure that could be no bug.", r.Status).WithFix("Say passed, flaky or failed instead.")
	}
	failed := r.failedItself()
	r.Verdict = string(w)
	switch w {
	case WordBug:
		r.Status = StatusBug
	case WordNotBug, WordFailed:
		r.Status = StatusFailed
	case WordFlaky:
		r.Status = StatusFlaky
	case WordPassed:
		r.Status = StatusPassed
	}
	r.Overruled = failed != r.Failing()
	return nil
}

// failedItself reports whether the test failed, whatever was said of it since.
func (r *Result) failedItself() bool { return r.Overruled != r.Failing() }

func codeOf(r *Result) string {
	if r.Error == nil {
		return string(r.Status)
	}
	return r.Error.Code
}

// Rejudge decides a finished run again after its results were overruled. What broke down
// as a whole, or was cancelled, stays so.
func (r *Run) Rejudge(t Tally) {
	r.Counts, r.Total, r.Executed = t.Counts, t.Counts.Sum(), t.Counts.Sum()
	switch r.Phase {
	case Passed, Healed, Failed:
		j := Judge(r.Ending, r.Plan, t)
		r.Phase, r.Verdict, r.Error = j.Phase, j.Verdict, j.Error
	case Queued, Preparing, Running, Merging, ProcessError, Cancelled:
	}
}
