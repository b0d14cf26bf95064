package dispatch

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tas-service/internal/attempt"
	"tas-service/internal/run"
)

func chosen(id, browser, file, unit, hash string) attempt.ChosenTest {
	return attempt.ChosenTest{Test: attempt.Test{PlaywrightID: id + browser, Browser: browser, File: file, Unit: unit, BodyHash: hash}, TestID: id}
}

func history(id, browser, file, hash string, ms ...int64) History {
	h := History{TestID: id, Browser: browser, File: file}
	for _, n := range ms {
		h.Learn("run", Sample{Ms: n, BodyHash: hash})
	}
	return h
}

// TestPrediction tells how long tests take by what is known of them.
func TestPrediction(t *testing.T) {
	p := newPredictor([]History{
		history("a", "chromium", "a.ts", "h", 1000, 1100, 60_000, 900, 1000), // one slow machine
		history("b", "chromium", "a.ts", "h", 9, 9, 9, 9, 9, 3000, 3000, 3000, 3000, 3000),
		history("c", "chromium", "c.ts", "h", 500),
		history("d", "chromium", "a.ts", "h", 2000),
	})
	for name, c := range map[string]struct {
		test  attempt.ChosenTest
		ms    int64
		known bool
	}{
		"an outlier does not count":               {chosen("a", "chromium", "a.ts", "", "h"), 1000, true},
		"only the last five count":                {chosen("b", "chromium", "a.ts", "", "h"), 3000, true},
		"a changed one is at least as its file's": {chosen("a", "chromium", "a.ts", "", "new"), 2000, true},
		"a changed one that was longer":           {chosen("b", "chromium", "a.ts", "", "new"), 3000, true},
		"another browser":                         {chosen("c", "firefox", "c.ts", "", "h"), 500, true},
		"a new test":                              {chosen("x", "chromium", "a.ts", "", "h"), 2000, false},
		"a new file":                              {chosen("x", "chromium", "x.ts", "", "h"), 2000, false},
	} {
		if d, known := p.of(c.test); d.Milliseconds() != c.ms || known != c.known {
			t.Errorf("%s: %s, known %v; want %d ms, %v", name, d, known, c.ms, c.known)
		}
	}
	if d, known := newPredictor(nil).of(chosen("x", "", "x.ts", "", "")); d != unknownTest || known {
		t.Errorf("nothing is known: %s, %v", d, known)
	}
}

// TestPlanUnits gathers tests into units, longest first.
func TestPlanUnits(t *testing.T) {
	p := newPredictor([]History{history("a", "b", "a.ts", "", 1000), history("s1", "b", "s.ts", "", 700), history("s2", "b", "s.ts", "", 800), history("c", "b", "c.ts", "", 100)})
	serial := chosen("s2", "b", "s.ts", "s", "")
	serial.SerialGroup = "group"
	setup := chosen("setup", "setup", "setup.ts", "", "")
	setup.Setup = true
	units, plan := planUnits("run", []attempt.ChosenTest{setup, chosen("c", "b", "c.ts", "c", ""), chosen("a", "b", "a.ts", "", ""), chosen("s1", "b", "s.ts", "s", ""), serial}, p, 2)
	if len(units) != 3 || units[0].File != "s.ts" || fmt.Sprint(units[0].Tests) != "[s1b s2b]" || !units[0].Serial || units[0].Predicted != 1500*time.Millisecond ||
		units[1].File != "a.ts" || units[1].Serial || units[2].Position != 2 {
		t.Errorf("units: %+v", units)
	}
	if plan != (run.Plan{Units: 3, Known: 4, Tests: 4, TotalMs: 2600, PredictedMs: 1500, LongestMs: 1500, LongestFile: "s.ts"}) {
		t.Errorf("plan: %+v", plan)
	}
	if units, plan := planUnits("run", []attempt.ChosenTest{setup}, p, 2); len(units) != 0 || plan.Tests != 0 || plan.PredictedMs != 0 {
		t.Errorf("nothing but set-up: %v %+v", units, plan)
	}
}

// TestMakespan holds the prediction to the bounds of list scheduling: no shorter than the
// longest unit and the mean load, no longer than twice the larger.
func TestMakespan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers := rapid.IntRange(1, 40).Draw(t, "workers")
		var units []Unit
		var sum, longest time.Duration
		for _, n := range rapid.SliceOf(rapid.IntRange(1, 1000)).Draw(t, "units") {
			d := time.Duration(n) * time.Millisecond
			units, sum, longest = append(units, Unit{Predicted: d}), sum+d, max(longest, d)
		}
		bound := max(longest, sum/time.Duration(workers))
		if got := makespan(units, workers); got < bound || got > 2*bound {
			t.Fatalf("%s with %d workers, bound %s", got, workers, bound)
		}
	})
}

func TestAdvice(t *testing.T) {
	{
		r := &run.Run{ShardCount: 4, Plan: &run.Plan{Units: 9}}
		if adviseShards(r, 3); len(r.Warnings) != 1 || r.Warnings[0].Code != "few-workers" {
			t.Errorf("no room: %v", r.Warnings)
		}
	}
	for name, c := range map[string]struct {
		plan  run.Plan
		warns int
	}{
		"all of use":          {run.Plan{Units: 9, Known: 9, TotalMs: 9000, LongestMs: 1000}, 0},
		"one is too long":     {run.Plan{Units: 9, Known: 9, TotalMs: 9000, LongestMs: 4500}, 1},
		"nothing to go by":    {run.Plan{Units: 9, TotalMs: 9000, LongestMs: 4500}, 0},
		"fewer parts":         {run.Plan{Units: 2, Known: 2, TotalMs: 2000, LongestMs: 1000}, 1},
		"nothing is to do":    {run.Plan{}, 0},
		"no time is foretold": {run.Plan{Units: 1}, 0},
	} {
		r := &run.Run{ShardCount: 4, Plan: &c.plan}
		if adviseShards(r, 4); len(r.Warnings) != c.warns {
			t.Errorf("%s: %v", name, r.Warnings)
		}
	}
}
