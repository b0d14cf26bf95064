package dispatch

import (
	"slices"
	"time"

	"tas-service/internal/run"
)

// UnitState is where a unit is.
type UnitState string

// The states. A unit goes waiting → held → done; when the shard that holds it is lost it
// waits again, and is given up when that happens twice.
const (
	Waiting UnitState = "waiting"
	Held    UnitState = "held"
	Done    UnitState = "done"
	GivenUp UnitState = "lost"
)

// Unit is tests of a sharded run that one shard executes in one go: a file in
// Playwright's default mode, a serial group, or a single test in parallel mode.
type Unit struct {
	RunID     string
	Position  int // order of being handed out: longest first
	Browser   string
	File      string
	Serial    bool     // its tests build on each other: half of it is worth nothing
	Tests     []string // Playwright's IDs of those that have no result yet, in their order
	Predicted time.Duration
	State     UnitState
	AttemptID string // who holds it or has done it
	Grant     int64  // the number of that grant
	Losses    int    // how many shards were lost while they executed it
	GrantedAt *time.Time
	DoneAt    *time.Time
}

// maxLosses is how many shards may be lost over one unit.
const maxLosses = 2

// giveBack takes what an attempt held from it: what ended counts, the rest waits for
// others. Only units that had begun count as lost with the shard, since one of their
// tests may be what killed it; the tests of those for which it was the second time fail.
func giveBack(r *run.Run, attemptID string, held []*Unit, results map[string]*run.Result, why string) {
	for _, u := range held {
		begun := slices.ContainsFunc(u.Tests, func(id string) bool { t := results[id]; return t != nil && len(t.Tries) > 0 })
		if begun {
			u.Losses++
		}
		var left []string
		for _, id := range u.Tests {
			if t := results[id]; t != nil && !t.Status.Final() {
				left = append(left, id)
			}
		}
		if len(left) == 0 {
			u.State = Done
			continue
		}
		if u.Serial && slices.ContainsFunc(u.Tests, func(id string) bool { t := results[id]; return t != nil && t.Status == run.StatusFailed }) {
			// It has failed, and no retry was to come: what ended counts, and the rest of it never runs.
			u.State = Done
			for _, id := range left {
				count(r, results[id], func(t *run.Result) {
					run.CloseOpen([]*run.Result{t}, &run.Ending{Complete: true, Status: "failed"}, why, true)
				})
			}
			continue
		}
		if u.Serial {
			left = u.Tests
		}
		u.AttemptID, u.Grant, u.GrantedAt = "", 0, nil
		if u.State, u.Tests = Waiting, left; u.Losses >= maxLosses {
			u.State = GivenUp
		}
		for _, id := range left {
			count(r, results[id], func(t *run.Result) {
				if u.State == Waiting {
					t.Tries, t.Status, t.Error, t.AttemptID, t.Shard = nil, run.StatusPending, nil, "", 0
					return
				}
				loseTest(t, why)
			})
		}
	}
	for _, t := range results {
		if t.Unit < 0 {
			count(r, t, func(t *run.Result) { t.Forget(attemptID) })
		}
	}
}

// loseTest ends a test that no shard could bring to its end.
func loseTest(t *run.Result, why string) {
	for i := range t.Tries {
		if t.Tries[i].Status == string(run.StatusRunning) {
			t.Tries[i].Status = "interrupted"
		}
		t.Tries[i].WillRetry = false
	}
	t.Status = run.StatusFailed
	t.Error = &run.Error{Code: run.CodeShardLost, Message: "No shard could bring this test to its end. " + why}
}
