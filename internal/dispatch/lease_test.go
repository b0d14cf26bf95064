package dispatch

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"tas-service/internal/attempt"
	"tas-service/internal/run"
)

func waitingUnits(ms ...int) View {
	var v View
	for i, n := range ms {
		d := time.Duration(n) * time.Millisecond
		v.Waiting = append(v.Waiting, Unit{Position: i, Predicted: d, Tests: []string{string(rune('a' + i))}})
		v.WaitingIn += d
	}
	v.WaitingN, v.Open, v.Workers = len(ms), len(ms), 2
	return v
}

// TestShare hands out portions that shrink, and nothing in advance near the end.
func TestShare(t *testing.T) {
	many := make([]int, 80)
	for i := range many {
		many[i] = 50
	}
	long := make([]int, 20)
	for i := range long {
		long[i] = 900
	}
	for name, c := range map[string]struct {
		v            View
		free, queued int
		way          time.Duration
		want         int
	}{
		"what is worth the way":         {waitingUnits(many...), 1, 0, 0, 8},
		"for each free worker":          {waitingUnits(many...), 2, 0, 0, 16},
		"a long way":                    {waitingUnits(many...), 1, 0, 22 * time.Millisecond, 9},
		"a fourth of the fair share":    {waitingUnits(many...), 1, 0, time.Hour, 10},
		"in advance":                    {waitingUnits(many...), 0, 0, 0, 8},
		"nothing more in advance":       {waitingUnits(many...), 0, 1, 0, 0},
		"nothing long in advance":       {waitingUnits(900, 900, 900, 900, 900, 900), 0, 0, 0, 0},
		"a long one while much waits":   {waitingUnits(long...), 0, 0, 0, 1},
		"no longer one while less does": {waitingUnits(long[:14]...), 0, 0, 0, 0},
		"long ones after a long way":    {waitingUnits(900, 900, 900, 900, 900, 900), 0, 0, time.Second, 1},
		"long ones alone":               {waitingUnits(900, 900, 900, 900, 900, 900), 1, 0, 0, 1},
		"the last one":                  {waitingUnits(100), 1, 0, 0, 1},
		"the last ones, one by one":     {waitingUnits(100, 100, 100), 1, 0, 0, 1},
		"not in advance at the end":     {waitingUnits(100, 100, 100), 0, 0, 0, 0},
		"nothing is left":               {waitingUnits(), 3, 0, 0, 0},
		"nothing is left in advance":    {waitingUnits(), 0, 0, 0, 0},
		"nothing is known":              {waitingUnits(0, 0, 0), 1, 0, 0, 1},
	} {
		if got := share(c.v, c.free, c.queued, c.way); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestShareGoesOn hands everything out in the end, whoever asks.
func TestShareGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := waitingUnits(rapid.SliceOfN(rapid.IntRange(0, 100_000), 1, 60).Draw(t, "units")...)
		v.Workers = rapid.IntRange(0, 80).Draw(t, "workers")
		for len(v.Waiting) > 0 {
			n := share(v, rapid.IntRange(1, 8).Draw(t, "free"), rapid.IntRange(0, 8).Draw(t, "queued"), time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "way")))
			if n < 1 || n > len(v.Waiting) {
				t.Fatalf("%d of %d", n, len(v.Waiting))
			}
			for _, u := range v.Waiting[:n] {
				v.WaitingIn -= u.Predicted
			}
			v.Waiting, v.WaitingN = v.Waiting[n:], v.WaitingN-n
		}
	})
}

func TestClosed(t *testing.T) {
	left := func(browsers ...string) View { return View{Open: len(browsers), Browsers: browsers} }
	for name, c := range map[string]struct {
		v    View
		w    attempt.Want
		want bool
	}{
		"something waits":                        {waitingUnits(5), attempt.Want{Offered: []string{"b"}}, false},
		"something did not arrive":               {View{Again: []Unit{{}}}, attempt.Want{Offered: []string{"b"}}, false},
		"all is done":                            {left(), attempt.Want{Offered: []string{"b"}}, true},
		"others hold units, which may come back": {left("b"), attempt.Want{Offered: []string{"b"}}, false},
		"more projects are to come":              {left("b", "later"), attempt.Want{Offered: []string{"b"}}, true},
		"only what passed by is held":            {left("b"), attempt.Want{Offered: []string{"c"}, Passed: []string{"b"}}, true},
		"of both":                                {left("b", "c"), attempt.Want{Offered: []string{"c"}, Passed: []string{"b"}}, false},
	} {
		if got := closed(c.v, c.w); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestGiveBack gives units of a lost shard to others, once.
func TestGiveBack(t *testing.T) {
	r := &run.Run{ShardCount: 2, Total: 6, Ending: &run.Ending{}}
	results := map[string]*run.Result{}
	add := func(unit int, id string, status run.Status, tries ...run.Try) {
		results[id] = &run.Result{PlaywrightID: id, Unit: unit, Status: status, Tries: tries, AttemptID: "dead"}
		if status.Final() {
			r.Executed++
			r.Counts.Add(status, 1)
		}
	}
	passed := run.Try{Status: "passed", Expected: "passed"}
	add(0, "a1", run.StatusPassed, passed)
	add(0, "a2", run.StatusRunning, run.Try{Status: "running"})
	add(1, "s1", run.StatusPassed, passed)
	add(1, "s2", run.StatusRunning, run.Try{Status: "running"})
	add(2, "n1", run.StatusPending)
	add(-1, "setup", run.StatusRunning, run.Try{AttemptID: "alive", Status: "passed", Expected: "passed"}, run.Try{AttemptID: "dead", Status: "running"})
	unit := func(n int, serial bool, ids ...string) *Unit {
		return &Unit{Position: n, State: Held, AttemptID: "dead", Serial: serial, Tests: ids}
	}
	held := []*Unit{unit(0, false, "a1", "a2"), unit(1, true, "s1", "s2"), unit(2, false, "n1")}
	giveBack(r, "dead", held, results, "It was killed.")
	if u := held[0]; u.State != Waiting || u.Losses != 1 || len(u.Tests) != 1 || u.AttemptID != "" || results["a1"].Status != run.StatusPassed || results["a2"].AttemptID != "" {
		t.Errorf("what ended counts, the rest waits: %+v %+v", u, results["a2"])
	}
	if u := held[1]; len(u.Tests) != 2 || results["s1"].Status != run.StatusPending || len(results["s1"].Tries) != 0 {
		t.Errorf("a serial group begins anew: %+v %+v", u, results["s1"])
	}
	if u := held[2]; u.Losses != 0 || u.State != Waiting {
		t.Errorf("what had not begun is no loss: %+v", u)
	}
	if s := results["setup"]; s.Status != run.StatusPassed || len(s.Tries) != 1 {
		t.Errorf("set-up of the others counts: %+v", s)
	}
	results["a2"].Tries, results["a2"].Status, held[0].State = []run.Try{{Status: "running"}}, run.StatusRunning, Held
	giveBack(r, "dead too", held[:1], results, "It was killed.")
	if u, a2 := held[0], results["a2"]; u.State != GivenUp || a2.Status != run.StatusFailed || a2.Error.Code != run.CodeShardLost || results["a1"].Status != run.StatusPassed {
		t.Errorf("the second time: %+v %+v", u, a2)
	}
	if r.Counts != (run.Counts{Passed: 2, Failed: 1}) || r.Executed != 3 {
		t.Errorf("counters: %+v, %d executed", r.Counts, r.Executed)
	}
}
