package run

import "testing"

// TestSettleRecovered counts a test as recovered when it passed with what was recovered, and never when it failed.
func TestSettleRecovered(t *testing.T) {
	with := []Recovered{{Method: "click", Before: "a", After: "b"}}
	try := func(n int, status string, recovered []Recovered) Try {
		return Try{Retry: n, Status: status, Expected: "passed", Recovered: recovered}
	}
	for name, c := range map[string]struct {
		tries []Try
		want  Status
	}{
		"passed":                     {[]Try{try(0, "passed", nil)}, StatusPassed},
		"recovered":                  {[]Try{try(0, "passed", with)}, StatusRecovered},
		"recovered and failed":       {[]Try{try(0, "failed", with)}, StatusFailed},
		"recovered and timed out":    {[]Try{try(0, "timedOut", with)}, StatusFailed},
		"recovered on a retry":       {[]Try{try(0, "failed", nil), try(1, "passed", with)}, StatusRecovered},
		"a retry needed nothing":     {[]Try{try(0, "failed", with), try(1, "passed", nil)}, StatusFlaky},
		"a group was run again":      {[]Try{try(0, "passed", nil), try(1, "passed", with)}, StatusRecovered},
		"a shard's set-up recovered": {[]Try{{AttemptID: "a", Status: "passed", Expected: "passed"}, {AttemptID: "b", Status: "passed", Expected: "passed", Recovered: with}}, StatusRecovered},
		"as it should fail":          {[]Try{{Status: "failed", Expected: "failed"}}, StatusPassed},
	} {
		r := Result{Tries: c.tries}
		r.Settle()
		if r.Status != c.want || (len(r.Recovered()) > 0) != (c.want == StatusRecovered) {
			t.Errorf("%s: %s, %v", name, r.Status, r.Recovered())
		}
	}
	var tally Tally
	set := Result{Companion: true, Setup: true, Unit: -1, Tries: []Try{try(0, "passed", with)}}
	set.Settle()
	tally.Add(set, 1)
	own := Result{Tries: []Try{try(0, "passed", nil)}}
	own.Settle()
	tally.Add(own, 1)
	if j := Judge(&Ending{Complete: true, Status: "passed"}, nil, tally); j.Phase != Healed || j.Verdict != Pass {
		t.Errorf("a run whose set-up was recovered is %+v", j)
	}
}
