package run

import (
	"testing"

	"tas-service/internal/fault"
)

// TestOverrule tries every word on every kind of result. Nothing that never ended can be
// said to have passed, and nothing that was skipped can be judged.
func TestOverrule(t *testing.T) {
	after := map[Word]Status{WordBug: StatusBug, WordNotBug: StatusFailed, WordFlaky: StatusFlaky, WordPassed: StatusPassed, WordFailed: StatusFailed}
	for _, status := range []Status{StatusPending, StatusRunning, StatusPassed, StatusFailed, StatusFlaky, StatusSkipped, StatusRecovered, StatusBug} {
		for _, code := range []string{"", "assertion", CodeNotReported, CodeInterrupted, CodeShardLost, CodeDidNotRun} {
			for _, w := range Words() {
				r := Result{Status: status}
				if code != "" {
					r.Error = &Error{Code: code}
				}
				ended := status.Final() && (code == "" || code == "assertion")
				allowed := status != StatusSkipped && (ended || w == WordFailed || w == WordNotBug) && (w != WordNotBug || r.Failing())
				failing := r.Failing()
				err := r.Overrule(w)
				switch {
				case allowed != (err == nil):
					t.Errorf("%s %q, %s: %v", status, code, w, err)
				case err != nil && (fault.KindOf(err) != fault.Conflict || r.Status != status || r.Verdict != ""):
					t.Errorf("%s %q, %s was refused (%v) and done: %+v", status, code, w, err, r)
				case err == nil && (r.Status != after[w] || r.Verdict != string(w) || r.Overruled != (failing != r.Failing())):
					t.Errorf("%s %q, %s: %+v", status, code, w, r)
				}
			}
		}
	}
	r := Result{Status: StatusFailed}
	for _, w := range []Word{WordPassed, WordFlaky, WordFailed, WordPassed} {
		if err := r.Overrule(w); err != nil || r.Overruled != (w != WordFailed) {
			t.Errorf("after %s: %+v, %v", w, r, err)
		}
	}
}

// TestOverruleRemembers lets nobody excuse what never failed: called a failure and then a
// pass again, a test explains nothing of how Playwright ended.
func TestOverruleRemembers(t *testing.T) {
	r := Result{Status: StatusPassed}
	for _, w := range []Word{WordBug, WordPassed, WordFailed, WordFlaky} {
		if err := r.Overrule(w); err != nil {
			t.Fatal(err)
		}
		var tally Tally
		tally.Add(r, 1)
		if tally.Excused != 0 {
			t.Errorf("after %s it excuses a failure: %+v", w, r)
		}
	}
	r = Result{Status: StatusPassed, Quarantined: true}
	if err := r.Overrule(WordFailed); err != nil {
		t.Fatal(err)
	}
	run := Run{Phase: Passed, Verdict: Pass, Ending: &Ending{Complete: true, Status: "passed"}}
	var tally Tally
	tally.Add(r, 1)
	tally.Add(Result{Status: StatusPassed}, 1)
	if run.Rejudge(tally); run.Verdict != Fail {
		t.Error("quarantine shields what somebody says of a test that passed")
	}
}

// TestRejudge judges runs anew, and leaves those alone that broke down.
func TestRejudge(t *testing.T) {
	failed := Result{Status: StatusFailed}
	for _, c := range []struct {
		name string
		run  Run
		add  []Result
		want Phase
	}{
		{"excused", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed"}}, []Result{{Status: StatusPassed, Overruled: true}}, Passed},
		{"one is left", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed"}}, []Result{{Status: StatusPassed, Overruled: true}, failed}, Failed},
		{"nothing explains the runner's word", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed"}}, []Result{{Status: StatusPassed}}, Failed},
		{"it ran out of time", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "timedout"}}, []Result{{Status: StatusPassed, Overruled: true}}, Failed},
		{"an error outside of the tests", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed", Errors: []Error{{Message: "x"}}}}, []Result{{Status: StatusPassed, Overruled: true}}, Failed},
		{"others never ran", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed"}},
			[]Result{{Status: StatusPassed, Overruled: true}, {Status: StatusSkipped, Error: &Error{Code: CodeDidNotRun}}}, Failed},
		{"a pass becomes a failure", Run{Phase: Passed, Verdict: Pass, Ending: &Ending{Complete: true, Status: "passed"}}, []Result{{Status: StatusBug}}, Failed},
		{"it broke down", Run{Phase: ProcessError, Verdict: Fail, Error: &Error{Code: CodeIncomplete}, Ending: &Ending{Complete: true, Status: "failed"}}, []Result{{Status: StatusPassed, Overruled: true}}, ProcessError},
		{"cancelled", Run{Phase: Cancelled, Verdict: Fail}, []Result{{Status: StatusPassed, Overruled: true}}, Cancelled},
		{"quarantined", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed"}}, []Result{{Status: StatusFailed, Quarantined: true}, {Status: StatusPassed}}, Passed},
		{"all that ran is quarantined", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed"}}, []Result{{Status: StatusFailed, Quarantined: true}, {Status: StatusSkipped}}, Failed},
		{"quarantined, and it is a bug", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed"}}, []Result{{Status: StatusBug, Quarantined: true}, {Status: StatusPassed}}, Failed},
		{"quarantined, and it never ended", Run{Phase: Failed, Verdict: Fail, Ending: &Ending{Complete: true, Status: "failed"}},
			[]Result{{Status: StatusFailed, Quarantined: true, Error: &Error{Code: CodeInterrupted}}, {Status: StatusPassed}}, Failed},
	} {
		var tally Tally
		for _, r := range c.add {
			tally.Add(r, 1)
		}
		r := c.run
		r.Rejudge(tally)
		if r.Phase != c.want || (r.Verdict == Pass) != (c.want == Passed) || r.Total != len(c.add) {
			t.Errorf("%s: %s, %s, %+v", c.name, r.Phase, r.Verdict, r.Error)
		}
	}
}
