package run

import (
	"slices"
	"testing"
)

// TestArrows refuses every move that docs/run-states.md does not draw.
func TestArrows(t *testing.T) {
	drawn := map[Phase][]Phase{
		Queued:    {Preparing, ProcessError, Cancelled},
		Preparing: {Queued, Running, Merging, ProcessError, Cancelled},
		Running:   {Merging, ProcessError, Cancelled},
		Merging:   {Passed, Healed, Failed, ProcessError, Cancelled},
	}
	for _, from := range Phases() {
		for _, to := range append(Phases(), "nonsense", "") {
			r := Run{Phase: from}
			err := r.MoveTo(to)
			if legal := slices.Contains(drawn[from], to); legal != (err == nil) {
				t.Errorf("%s → %s: %v", from, to, err)
			} else if !legal && r.Phase != from {
				t.Errorf("%s → %s was refused and done all the same", from, to)
			}
		}
		if from.Final() != (len(drawn[from]) == 0) {
			t.Errorf("%s is final: %v", from, from.Final())
		}
	}
}

// TestJudge tries every combination of what a verdict depends on. It passes in exactly
// one way: complete, by the runner's own word, with something passed and nothing wrong.
func TestJudge(t *testing.T) {
	few := []int{0, 1, 3}
	for _, complete := range []bool{false, true} {
		for _, status := range []string{"", "passed", "failed", "timedout", "interrupted", "PASSED"} {
			for _, errs := range [][]Error{nil, {{Message: "boom"}}} {
				for _, passed := range few {
					for _, failed := range few {
						for _, other := range []struct{ flaky, skipped, recovered, bug, open, notRun int }{
							{}, {flaky: 1}, {skipped: 1}, {recovered: 1}, {bug: 1}, {open: 1}, {notRun: 1, skipped: 1},
						} {
							end := &Ending{Complete: complete, Status: status, Errors: errs}
							c := Counts{Passed: passed, Failed: failed, Flaky: other.flaky, Skipped: other.skipped, Recovered: other.recovered, Bug: other.bug}
							tally := tallyOf(c, other.open, other.notRun)
							j := Judge(end, nil, tally)
							want := complete && status == "passed" && errs == nil && failed == 0 && other.bug == 0 && other.open == 0 && other.notRun == 0 &&
								passed+other.flaky+other.recovered > 0
							if (j.Verdict == Pass) != want {
								t.Fatalf("%+v %+v: %+v, want a pass: %v", end, tally, j, want)
							}
							if passes := j.Phase == Passed || j.Phase == Healed; passes != want || (j.Phase == Healed) != (want && other.recovered > 0) {
								t.Fatalf("%+v %+v: phase %s with verdict %s", end, tally, j.Phase, j.Verdict)
							}
							if j.Verdict == Fail && j.Error == nil && failed+other.bug == 0 {
								t.Fatalf("%+v %+v: fails without a reason", end, tally)
							}
							if !slices.Contains([]Verdict{Pass, Fail}, j.Verdict) || !j.Phase.Final() {
								t.Fatalf("%+v: no end", j)
							}
						}
					}
				}
			}
		}
	}
	if j := Judge(nil, nil, Tally{Counts: Counts{Passed: 5}, Selected: 5}); j.Verdict != Fail || j.Phase != ProcessError {
		t.Errorf("a run without an ending: %+v", j)
	}
	if j := Judge(&Ending{Complete: true, Status: "passed"}, nil, Tally{}); j.Verdict != Fail || j.Error.Code != CodeNoTests {
		t.Errorf("an empty selection: %+v", j)
	}
	// Companions alone are nothing that was checked.
	if j := Judge(&Ending{Complete: true, Status: "passed"}, nil, Tally{Counts: Counts{Flaky: 1}}); j.Verdict != Fail {
		t.Errorf("only a set-up ran: %+v", j)
	}
}

// tallyOf counts results of selected tests with these outcomes.
func tallyOf(c Counts, open, notRun int) Tally {
	var t Tally
	for status, n := range map[Status]int{StatusPassed: c.Passed, StatusFailed: c.Failed, StatusFlaky: c.Flaky, StatusSkipped: c.Skipped - notRun,
		StatusRecovered: c.Recovered, StatusBug: c.Bug, StatusPending: open} {
		t.Add(Result{Status: status}, n)
	}
	t.Add(Result{Status: StatusSkipped, Error: &Error{Code: CodeDidNotRun}}, notRun)
	return t
}

// TestJudgeSetup takes a set-up that ran before tests that did not for nothing checked.
func TestJudgeSetup(t *testing.T) {
	for name, c := range map[string]struct {
		results []Result
		want    Verdict
	}{
		"set-up ran, tests were skipped":    {[]Result{{Setup: true, Status: StatusPassed}, {Status: StatusSkipped}}, Fail},
		"the same, told the other way":      {[]Result{{Status: StatusSkipped}, {Setup: true, Status: StatusPassed}}, Fail},
		"set-up and one test ran":           {[]Result{{Setup: true, Status: StatusPassed}, {Status: StatusSkipped}, {Status: StatusPassed}}, Pass},
		"only set-up was selected, and ran": {[]Result{{Setup: true, Status: StatusPassed}}, Pass},
		"only set-up was selected, skipped": {[]Result{{Setup: true, Status: StatusSkipped}}, Fail},
		"a companion ran, tests did not":    {[]Result{{Setup: true, Companion: true, Status: StatusPassed}, {Status: StatusSkipped}}, Fail},
		"a companion is flaky, a test ran":  {[]Result{{Setup: true, Companion: true, Status: StatusFlaky}, {Status: StatusPassed}}, Pass},
		"a companion failed, a test passed": {[]Result{{Setup: true, Companion: true, Status: StatusFailed}, {Status: StatusPassed}}, Fail},
	} {
		var tally Tally
		for _, r := range c.results {
			tally.Add(r, 1)
		}
		if j := Judge(&Ending{Complete: true, Status: "passed"}, nil, tally); j.Verdict != c.want {
			t.Errorf("%s: %+v", name, j)
		}
	}
}

func TestSettle(t *testing.T) {
	try := func(status, expected string) Try { return Try{Status: status, Expected: expected} }
	again := func(x Try) Try { x.WillRetry = true; return x }
	for _, c := range []struct {
		name  string
		tries []Try
		want  Status
		code  string
	}{
		{"nothing yet", nil, StatusPending, ""},
		{"runs", []Try{try("running", "")}, StatusRunning, ""},
		{"passed", []Try{try("passed", "passed")}, StatusPassed, ""},
		{"failed", []Try{try("failed", "passed")}, StatusFailed, ""},
		{"timed out", []Try{try("timedOut", "passed")}, StatusFailed, ""},
		{"fails as expected", []Try{try("failed", "failed")}, StatusPassed, ""},
		{"passes although it should fail", []Try{try("passed", "failed")}, StatusFailed, ""},
		{"will be tried again", []Try{again(try("failed", "passed"))}, StatusRunning, ""},
		{"is tried again", []Try{again(try("failed", "passed")), try("running", "")}, StatusRunning, ""},
		{"flaky", []Try{again(try("failed", "passed")), try("passed", "passed")}, StatusFlaky, ""},
		{"flaky the other way", []Try{try("passed", "passed"), try("failed", "passed")}, StatusFlaky, ""},
		{"failed twice", []Try{again(try("failed", "passed")), try("timedOut", "passed")}, StatusFailed, ""},
		{"skipped", []Try{try("skipped", "skipped")}, StatusSkipped, ""},
		{"did not run", []Try{try("skipped", "passed")}, StatusSkipped, CodeDidNotRun},
		{"failed, then did not run", []Try{try("failed", "passed"), try("skipped", "passed")}, StatusFailed, ""},
		{"interrupted", []Try{try("interrupted", "passed")}, StatusFailed, CodeInterrupted},
		{"interrupted on its retry", []Try{again(try("failed", "passed")), try("interrupted", "passed")}, StatusFailed, ""},
		{"a status that there is not", []Try{try("PASSED", "passed")}, StatusFailed, ""},
		{"no expectation", []Try{try("passed", "")}, StatusFailed, ""},
		{"unknown words", []Try{try("fine", "fine")}, StatusFailed, ""},
		{"empty words", []Try{try("", "")}, StatusFailed, ""},
	} {
		r := Result{Tries: c.tries}
		r.Settle()
		if r.Status != c.want || c.code != "" && (r.Error == nil || r.Error.Code != c.code) || r.Status == StatusFailed && r.Error == nil {
			t.Errorf("%s: %s, %+v", c.name, r.Status, r.Error)
		}
	}
	r := Result{}
	r.Record(try("passed", "passed")) // retry 0
	r.Record(Try{Retry: 2, Status: "passed", Expected: "passed"})
	r.Settle()
	if len(r.Tries) != 3 || r.Status != StatusPassed {
		t.Errorf("tries out of order: %+v", r)
	}
}

func TestCloseOpen(t *testing.T) {
	done := &Ending{Complete: true, Status: "failed"}
	for _, c := range []struct {
		name   string
		r      Result
		end    *Ending
		failed bool
		want   Status
		code   string
	}{
		{"has its result", Result{Status: StatusPassed}, nil, false, StatusPassed, ""},
		{"never heard of", Result{Status: StatusPending}, nil, false, StatusFailed, CodeNotReported},
		{"never heard of, all said to be well", Result{Status: StatusPending}, &Ending{Complete: true, Status: "passed"}, false, StatusFailed, CodeNotReported},
		{"never heard of, all said to be well, another failed", Result{Status: StatusPending}, &Ending{Complete: true, Status: "passed"}, true, StatusFailed, CodeNotReported},
		{"left out after a failure", Result{Status: StatusPending}, done, true, StatusSkipped, CodeDidNotRun},
		{"left out without a failure", Result{Status: StatusPending}, done, false, StatusFailed, CodeNotReported},
		{"left out, the runner broke down", Result{Status: StatusPending}, &Ending{Status: "failed"}, true, StatusFailed, CodeNotReported},
		{"began", Result{Status: StatusRunning, Tries: []Try{{Status: "running"}}}, done, true, StatusFailed, CodeInterrupted},
		{"was to be tried again", Result{Status: StatusRunning, Tries: []Try{{Status: "failed", WillRetry: true}}}, done, true, StatusFailed, CodeInterrupted},
	} {
		r := c.r
		CloseOpen([]*Result{&r}, c.end, "why", c.failed)
		if r.Status != c.want || c.code != "" && (r.Error == nil || r.Error.Code != c.code) {
			t.Errorf("%s: %s, %+v", c.name, r.Status, r.Error)
		}
		if len(r.Tries) > 0 && (r.Tries[0].Status == "running" || r.Tries[0].WillRetry) {
			t.Errorf("%s: its try is still open: %+v", c.name, r.Tries)
		}
	}
}

func TestPatterns(t *testing.T) {
	js := &JavaScript{}
	for pattern, ok := range map[string]bool{
		"plain": true, "a.b": true, "(?<=x)y": true, "/a/i": true, "/a/gi": true, "a{1,2}": true, "(a+)+$": true, "ä ›": true, "/": true, "//": true,
		"": false, "  ": false, "(": false, "[": false, "*": false, "/(/": false, "(?<n>a)(?<n>b)": false, "a{2,1}": false, `\`: false,
	} {
		if err := js.CheckPattern(pattern); (err == nil) != ok {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	if js.CheckPattern(string(make([]byte, maxPattern+1))) == nil {
		t.Error("a pattern of any length is taken")
	}
}
