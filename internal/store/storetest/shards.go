package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/dispatch"
	"tas-service/internal/run"
	"tas-service/internal/store"
)

// shard adds an attempt of a sharded run.
func shard(t *testing.T, db *store.DB, r run.Run, n int) dispatch.Attempt {
	t.Helper()
	now := time.Now()
	a := dispatch.Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: r.ProjectID, Number: n + 2, Kind: dispatch.ForTests, Shard: n, State: dispatch.Active,
		TokenHash: uuid.NewString(), HeartbeatAt: now, CreatedAt: now, ClaimedAt: &now}
	must(t, db.CreateAttempt(context.Background(), a, func(*run.Run) error { return nil }))
	return a
}

// planned makes a run with so many units of two tests each.
func planned(t *testing.T, db *store.DB, units int) (run.Run, dispatch.Attempt) {
	t.Helper()
	ctx := context.Background()
	p, _, _ := fill(t, db)
	r, a := begun(t, db, run.Run{ProjectID: p.ID, ShardCount: 4})
	var us []dispatch.Unit
	var rs []run.Result
	for i := range units {
		u := dispatch.Unit{RunID: r.ID, Position: i, Browser: "b", State: dispatch.Waiting, Predicted: time.Second}
		for j := range 2 {
			id := fmt.Sprintf("%d-%d", i, j)
			u.Tests = append(u.Tests, id)
			rs = append(rs, run.Result{RunID: r.ID, PlaywrightID: id, TestID: id, Browser: "b", File: "f", Unit: i, Position: 2*i + j, Status: run.StatusPending})
		}
		us = append(us, u)
	}
	must(t, db.Plan(ctx, a.ID, rs, us, func(_ *dispatch.Attempt, r *run.Run) (bool, error) {
		r.Total, r.Ending = len(rs), &run.Ending{}
		return true, r.MoveTo(run.Running)
	}))
	r, err := db.Run(ctx, r.ID)
	must(t, err)
	return r, a
}

// grant takes up to n units for an attempt.
func grant(ctx context.Context, db *store.DB, a dispatch.Attempt, n int) (got []dispatch.Unit, err error) {
	err = db.Lease(ctx, a.ID, []string{"b"}, 1<<30, func(a *dispatch.Attempt, _ *run.Run, v dispatch.View) ([]dispatch.Unit, error) {
		got = v.Waiting[:min(n, len(v.Waiting))]
		now := time.Now()
		for i := range got {
			got[i].State, got[i].AttemptID, got[i].Grant, got[i].GrantedAt = dispatch.Held, a.ID, 1, &now
		}
		return got, nil
	})
	return got, err
}

// queue has many shards take units at once through two services: each unit is granted
// once, none is missing, and each is done when its tests have ended.
func queue(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	const units = 60
	r, _ := planned(t, db, units)
	var mu sync.Mutex
	seen := map[int]int{}
	var wait sync.WaitGroup
	for n := range 6 {
		a := shard(t, db, r, n)
		db := []*store.DB{db, other}[n%2]
		wait.Go(func() {
			for seq := int64(1); ; seq++ {
				got, err := grant(ctx, db, a, 1+n%3)
				if err != nil {
					t.Error(err)
					return
				}
				if len(got) == 0 {
					return
				}
				var ids []string
				mu.Lock()
				for _, u := range got {
					seen[u.Position]++
					ids = append(ids, u.Tests...)
				}
				mu.Unlock()
				err = db.Record(ctx, a.ID, ids, func(a *dispatch.Attempt, r *run.Run, rs map[string]*run.Result) error {
					a.Seq = seq
					for _, x := range rs {
						if x.AttemptID != a.ID || x.Shard != a.Shard {
							t.Errorf("%s is held by %q", x.PlaywrightID, x.AttemptID)
						}
						x.Status = run.StatusPassed
						r.Executed++
						r.Counts.Passed++
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	waiting, held, err := db.Unfinished(ctx, r.ID)
	must(t, err)
	got, err := db.Run(ctx, r.ID)
	must(t, err)
	tally, err := db.Tally(ctx, r.ID)
	must(t, err)
	if len(seen) != units || waiting+held != 0 || got.Executed != 2*units || got.Counts.Passed != 2*units || tally.InUnits != 2*units || tally.OpenN != 0 {
		t.Errorf("%d units granted, %d wait, %d are held; executed %d; tally %+v", len(seen), waiting, held, got.Executed, tally)
	}
	for p, n := range seen {
		if n != 1 {
			t.Errorf("unit %d was granted %d times", p, n)
		}
	}
	shards, err := db.Shards(ctx, got)
	must(t, err)
	total := 0
	for _, s := range shards {
		total += s.Executed
	}
	if last, err := db.LastUnitDone(ctx, r.ID); err != nil || last.IsZero() || len(shards) != 4 || total == 0 {
		t.Errorf("last done at %s, %v; shards %+v", last, err, shards)
	}
}

// lostShards shows a release what an attempt holds, and grants again what was given back.
func lostShards(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	r, _ := planned(t, db, 3)
	a := shard(t, db, r, 0)
	got, err := grant(ctx, db, a, 2)
	must(t, err)
	var again []dispatch.Unit
	must(t, db.Lease(ctx, a.ID, []string{"b"}, 0, func(_ *dispatch.Attempt, _ *run.Run, v dispatch.View) ([]dispatch.Unit, error) {
		again = v.Again
		if v.Open != 3 || v.WaitingN != 1 || v.Workers != 1 || len(v.Browsers) != 1 {
			t.Errorf("view: %+v", v)
		}
		return nil, nil
	}))
	if len(got) != 2 || len(again) != 2 {
		t.Fatalf("granted %d, again %d", len(got), len(again))
	}
	must(t, other.Release(ctx, a.ID, func(a *dispatch.Attempt, _ *run.Run, held []*dispatch.Unit, rs map[string]*run.Result) error {
		if len(held) != 2 || len(rs) != 4 {
			t.Errorf("%d units, %d results", len(held), len(rs))
		}
		for _, u := range held {
			u.State, u.AttemptID, u.Losses = dispatch.Waiting, "", 1
		}
		a.State = dispatch.Lost
		return nil
	}))
	if open, err := db.Beat(ctx, a.ID, time.Now(), "running"); err != nil || open {
		t.Errorf("a lost attempt beats: %v, %v", open, err)
	}
	b := shard(t, db, r, 1)
	if got, err := grant(ctx, db, b, 9); err != nil || len(got) != 3 || got[0].Losses != 1 {
		t.Errorf("granted again: %+v, %v", got, err)
	}
	n := 0
	must(t, db.Unreported(ctx, r.ID, func(run.Result) error { n++; return nil }))
	if n != 6 {
		t.Errorf("%d results are unreported", n)
	}
	all, err := db.RunAttempts(ctx, r.ID)
	if tests, perr := db.PlannedTests(ctx, r.ID); err != nil || perr != nil || len(all) != 3 || len(tests) != 6 {
		t.Errorf("%d attempts, %d tests, %v %v", len(all), len(tests), err, perr)
	}
}

// durations learns what passed, once for each run, from two runs at once.
func durations(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	p, r, a := fill(t, db)
	finish := func(r run.Run, a dispatch.Attempt) {
		rs := []run.Result{{RunID: r.ID, PlaywrightID: "1", TestID: "t", Browser: "b", File: "f", BodyHash: "h", Status: run.StatusPassed, Tries: []run.Try{{Duration: time.Second}}},
			{RunID: r.ID, PlaywrightID: "2", TestID: "u", Browser: "b", File: "f", Status: run.StatusFailed}}
		must(t, db.Plan(ctx, a.ID, rs, nil, func(*dispatch.Attempt, *run.Run) (bool, error) { return true, nil }))
	}
	finish(r, a)
	second := run.Run{ID: uuid.NewString(), ProjectID: p.ID, Name: uuid.NewString(), Phase: run.Queued, Verdict: run.Pending, CreatedAt: time.Now()}
	if _, err := db.CreateRun(ctx, &second, nil); err != nil {
		t.Fatal(err)
	}
	finish(second, shard(t, db, second, 0))
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if err := []*store.DB{db, other}[i%2].LearnDurations(ctx, []string{r.ID, second.ID}[i/4]); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	hs, err := db.Histories(ctx, p.ID)
	if err != nil || len(hs) != 1 || hs[0].TestID != "t" || len(hs[0].Recent) < 2 || hs[0].Recent[0] != (dispatch.Sample{Ms: 1000, BodyHash: "h"}) {
		t.Errorf("%+v, %v", hs, err)
	}
}

// leader gives a lease to one holder at a time, by the database's clock.
func leader(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	hold := func(db *store.DB, who string, d time.Duration) bool {
		ok, err := db.Hold(ctx, "lead", who, d)
		must(t, err)
		return ok
	}
	if !hold(db, "a", time.Minute) || hold(other, "b", time.Minute) || !hold(db, "a", time.Minute) {
		t.Error("the first does not keep it")
	}
	must(t, other.LetGo(ctx, "lead", "b"))
	if hold(other, "b", time.Minute) {
		t.Error("who does not have it gave it up")
	}
	must(t, db.LetGo(ctx, "lead", "a"))
	if !hold(other, "b", time.Millisecond) {
		t.Error("it was given up and cannot be taken")
	}
	for deadline := time.Now().Add(10 * time.Second); !hold(db, "a", time.Minute); {
		if time.Now().After(deadline) {
			t.Fatal("it never ends")
		}
		time.Sleep(5 * time.Millisecond)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	holders := 0
	for i := range 10 {
		wait.Go(func() {
			ok, err := []*store.DB{db, other}[i%2].Hold(ctx, "race", fmt.Sprint(i), time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if ok {
				holders++
			}
		})
	}
	wait.Wait()
	if holders != 1 {
		t.Errorf("%d hold it", holders)
	}
}
