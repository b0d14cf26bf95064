package dispatch_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/attempt"
	"tas-service/internal/dispatch"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// newSharded is a bench whose run has shards, with room for so many attempts.
func newSharded(t *testing.T, shards, room int) *bench {
	t.Helper()
	b := newBench(t)
	b.Limits.Attempts = room
	if err := b.db.UpdateRun(context.Background(), b.runID, func(r *run.Run) error {
		r.Error = &run.Error{Code: "aside"} // the bench's own run is not what this is about
		return r.MoveTo(run.ProcessError)
	}); err != nil {
		t.Fatal(err)
	}
	b.add(t, b.run(t).ProjectID, shards)
	return b
}

// add queues a sharded run, which becomes the one that the bench looks at.
func (b *bench) add(t *testing.T, projectID string, shards int) string {
	t.Helper()
	b.runID = uuid.NewString()
	r := run.Run{ID: b.runID, ProjectID: projectID, Name: b.runID[:8], Phase: run.Queued, Verdict: run.Pending, OnDefault: true, ShardCount: shards, Workers: 1,
		Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: b.now}
	if _, err := b.db.CreateRun(context.Background(), &r, nil); err != nil {
		t.Fatal(err)
	}
	return b.runID
}

// claimAll has every attempt that was started and is open claim its job, by shard.
func (b *bench) claimAll(t *testing.T) map[int]dispatch.Attempt {
	t.Helper()
	out := map[int]dispatch.Attempt{}
	for _, token := range b.dummy.Started() {
		a, err := b.Authenticate(context.Background(), token)
		if err != nil || a.RunID != b.runID {
			continue
		}
		if _, err := b.Claim(context.Background(), a); err != nil {
			t.Fatal(err)
		}
		out[a.Shard] = a
	}
	return out
}

func listing(n int) (l attempt.Listing) {
	l.Commit, l.Branch, l.Workers = "c", "main", 1
	for i := range n {
		id := fmt.Sprint("t", i)
		l.Tests = append(l.Tests, attempt.Test{PlaywrightID: id, Title: id, TitlePath: []string{id}, File: id + ".ts", Browser: "b", BodyHash: id, Unit: id})
	}
	return l
}

// list has a shard list and, when it is the first, plan.
func (b *bench) list(t *testing.T, a dispatch.Attempt, l attempt.Listing) attempt.Selection {
	t.Helper()
	sel, err := b.Join(context.Background(), a, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if !sel.Make {
		return sel
	}
	return b.choose(t, a, l)
}

// choose has an attempt take every test that it lists.
func (b *bench) choose(t *testing.T, a dispatch.Attempt, l attempt.Listing) attempt.Selection {
	t.Helper()
	ctx := context.Background()
	sel, err := b.TakeListing(ctx, a, l)
	if err != nil {
		t.Fatal(err)
	}
	var c attempt.Chosen
	for _, x := range l.Tests {
		c.Tests = append(c.Tests, attempt.ChosenTest{Test: x, TestID: sel.IDs[x.PlaywrightID]})
	}
	if _, err := b.TakeChosen(ctx, a, c); err != nil {
		t.Fatal(err)
	}
	return sel
}

var want = attempt.Want{Free: 1, Offered: []string{"b"}}

// lease asks for tests and answers those granted.
func (b *bench) lease(t *testing.T, a dispatch.Attempt, w attempt.Want) attempt.Grant {
	t.Helper()
	g, err := b.Lease(context.Background(), a, w)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// pass reports tests as passed.
func (b *bench) pass(t *testing.T, a dispatch.Attempt, seq int64, units [][]string) {
	t.Helper()
	batch := attempt.Batch{Seq: seq}
	for _, u := range units {
		for _, id := range u {
			batch.Events = append(batch.Events, attempt.Event{End: &attempt.TestEnd{ID: id, Status: "passed", ExpectedStatus: "passed", StartedAt: b.now}})
		}
		batch.Events = append(batch.Events, attempt.Event{Over: u})
	}
	if _, err := b.TakeBatch(context.Background(), a, batch); err != nil {
		t.Fatal(err)
	}
}

func begun(id string) attempt.Batch {
	return attempt.Batch{Seq: 1, Events: []attempt.Event{{Begin: &attempt.TestBegin{ID: id, StartedAt: time.Now()}}}}
}

// TestPlannerIsLost lets another shard make the plan.
func TestPlannerIsLost(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	if len(shards) != 2 {
		t.Fatalf("%d shards", len(shards))
	}
	if sel, err := b.Join(context.Background(), shards[0], struct{}{}); err != nil || !sel.Make {
		t.Fatalf("%+v, %v", sel, err)
	}
	if _, err := b.TakeListing(context.Background(), shards[1], listing(3)); fault.KindOf(err) != fault.Conflict {
		t.Errorf("two make the plan: %v", err)
	}
	b.dummy.Exit(shards[0].ID, "killed")
	b.step(t, time.Second)
	if sel := b.list(t, shards[1], listing(3)); !sel.All {
		t.Errorf("selection: %+v", sel)
	}
	if r := b.run(t); r.Phase != run.Running || r.Plan == nil || r.Plan.Tests != 3 {
		t.Errorf("%s, plan %+v", r.Phase, r.Plan)
	}
}

// TestLostAnswerOfALease grants again what did not arrive.
func TestLostAnswerOfALease(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	a := b.claimAll(t)[0]
	b.list(t, a, listing(3))
	first := b.lease(t, a, want)
	again := b.lease(t, a, want) // it never heard of the first
	if len(first.Units) != 1 || fmt.Sprint(first) != fmt.Sprint(again) {
		t.Fatalf("%+v, then %+v", first, again)
	}
	next := want
	next.Received = again.Number
	if g := b.lease(t, a, next); len(g.Units) != 1 || g.Units[0][0] == first.Units[0][0] {
		t.Errorf("then %+v", g)
	}
}

// TestLostTwice gives a unit to another shard once, and fails its tests the second time,
// while everything else is done.
func TestLostTwice(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	b.list(t, shards[0], listing(4))
	b.list(t, shards[1], listing(4))
	killer := b.lease(t, shards[0], want).Units[0][0]
	if _, err := b.TakeBatch(context.Background(), shards[0], begun(killer)); err != nil {
		t.Fatal(err)
	}
	b.dummy.Exit(shards[0].ID, "killed")
	b.step(t, time.Second)
	if _, err := b.TakeBatch(context.Background(), shards[0], attempt.Batch{Seq: 2}); fault.KindOf(err) != fault.Superseded {
		t.Errorf("it comes back: %v", err)
	}
	seq, received, killed := int64(0), int64(0), false
	for range 8 {
		a := shards[1]
		if killed {
			a = b.claimAll(t)[0]
			b.list(t, a, listing(4))
		}
		w := want
		w.Received = received
		g := b.lease(t, a, w)
		if g.Close {
			break
		}
		seq, received = seq+1, g.Number
		if g.Units[0][0] == killer {
			if _, err := b.TakeBatch(context.Background(), a, attempt.Batch{Seq: seq, Events: begun(killer).Events}); err != nil {
				t.Fatal(err)
			}
			b.dummy.Exit(a.ID, "killed")
			b.step(t, time.Second)
			killed, seq, received = true, 0, 0
			continue
		}
		b.pass(t, a, seq, g.Units)
	}
	rs, err := b.db.Results(context.Background(), run.ResultQuery{RunID: b.runID, After: -1, Limit: 9})
	if err != nil || len(rs) != 4 {
		t.Fatalf("%d results, %v", len(rs), err)
	}
	for _, x := range rs {
		wantStatus, code := run.StatusPassed, ""
		if x.PlaywrightID == killer {
			wantStatus, code = run.StatusFailed, run.CodeShardLost
		}
		if x.Status != wantStatus || code != "" && x.Error.Code != code {
			t.Errorf("%s: %s %+v", x.PlaywrightID, x.Status, x.Error)
		}
	}
}

// TestNobodyIsLeft ends a run whose shards are all lost, every test accounted for.
func TestNobodyIsLeft(t *testing.T) {
	b := newSharded(t, 2, 2)
	planned := false
	for range 12 {
		b.step(t, time.Minute)
		if b.run(t).Phase.Final() {
			break
		}
		for _, a := range b.claimAll(t) {
			if !planned {
				b.list(t, a, listing(4))
				planned = true
			}
			b.dummy.Exit(a.ID, "killed")
		}
	}
	r := b.run(t)
	if r.Verdict != run.Fail || r.Counts.Failed != 4 || r.Total != 4 {
		t.Errorf("%s %s, %+v, %+v", r.Phase, r.Verdict, r.Counts, r.Error)
	}
	attempts, err := b.db.RunAttempts(context.Background(), b.runID)
	if err != nil || len(attempts) != 4 {
		t.Errorf("%d attempts, %v", len(attempts), err)
	}
	shards, err := b.db.Shards(context.Background(), r)
	if err != nil || len(shards) != 2 || !shards[0].Lost || !shards[1].Lost {
		t.Errorf("shards: %+v, %v", shards, err)
	}
}

// TestFairShards starts the shards of two projects by turns, within both caps.
func TestFairShards(t *testing.T) {
	b := newSharded(t, 8, 6)
	first := b.run(t).ProjectID
	p, _, err := b.db.CreateProject(context.Background(), project.Project{Name: "Other", Repository: project.Repository{URL: "/y"}})
	if err != nil {
		t.Fatal(err)
	}
	b.add(t, p.ID, 8)
	count := func() map[string]int {
		open, err := b.db.OpenAttempts(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, a := range open {
			n[a.ProjectID]++
		}
		return n
	}
	b.step(t, 0)
	if n := count(); n[first] != 3 || n[p.ID] != 3 {
		t.Errorf("started: %v", slices.Collect(maps.Values(n)))
	}
	b.Limits.Attempts, b.Limits.PerProject = 20, 4
	b.step(t, time.Millisecond)
	if n := count(); n[first] != 4 || n[p.ID] != 4 {
		t.Errorf("within the project's cap: %v", slices.Collect(maps.Values(n)))
	}
}

// TestRefused gives a unit that a shard does not list to another one, and fails its tests
// when nobody does.
func TestRefused(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	b.list(t, shards[0], listing(1))
	for i := range 2 {
		g := b.lease(t, shards[i], want)
		if len(g.Units) != 1 {
			t.Fatalf("shard %d was granted %+v", i, g)
		}
		w := want
		w.Received, w.Refused = g.Number, g.Units[0]
		w.Free = 0
		b.lease(t, shards[i], w)
	}
	rs, err := b.db.Results(context.Background(), run.ResultQuery{RunID: b.runID, After: -1, Limit: 9})
	if err != nil || len(rs) != 1 || rs[0].Status != run.StatusFailed || rs[0].Error.Code != run.CodeShardLost {
		t.Errorf("%+v, %v", rs, err)
	}
	if g := b.lease(t, shards[0], want); !g.Close {
		t.Errorf("then %+v", g)
	}
}
