package dispatch_test

import (
	"context"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/attempt"
	"tas-service/internal/dispatch"
	"tas-service/internal/executor"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// cancel asks for the run's end as a person does.
func (b *bench) cancel(t *testing.T, role account.Role) error {
	t.Helper()
	runs := &run.Service{Store: b.db, Projects: b.db, Clock: func() time.Time { return b.now }, Wake: func() {}}
	return runs.Cancel(context.Background(), account.Actor{ProjectID: b.run(t).ProjectID, PersonID: "ada", Name: "Ada", Role: role, Via: account.ViaSession}, b.runID)
}

// cancelled holds the run to having ended as somebody wished, with so many of each.
func (b *bench) cancelled(t *testing.T, r run.Run, counts run.Counts) {
	t.Helper()
	ctx := context.Background()
	if r.Phase != run.Cancelled || r.Verdict != run.Fail || r.FinishedAt == nil || r.Error == nil || r.Error.Code != run.CodeCancelled {
		t.Fatalf("phase %s, verdict %s, %+v", r.Phase, r.Verdict, r.Error)
	}
	if r.Counts != counts || r.Total != counts.Sum() || r.Executed != r.Total {
		t.Errorf("counts %+v of %d, not %+v", r.Counts, r.Total, counts)
	}
	rs, err := b.db.Results(ctx, run.ResultQuery{RunID: b.runID, After: -1, Limit: 99})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range rs {
		if !x.Status.Final() || x.Status == run.StatusSkipped && (x.Error == nil || x.Error.Code != run.CodeCancelled) {
			t.Errorf("%s is %s, %+v", x.PlaywrightID, x.Status, x.Error)
		}
	}
	if open, err := b.db.OpenAttempts(ctx); err != nil || len(open) > 0 {
		t.Errorf("%d attempts are open, %v", len(open), err)
	}
	seen, err := b.dummy.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range seen {
		if o.State == executor.Running {
			t.Errorf("the process of attempt %s still runs", o.ID)
		}
	}
	if starts := b.dummy.Starts(); b.step(t, time.Hour).Phase != run.Cancelled || b.dummy.Starts() != starts {
		t.Errorf("something was started after the end")
	}
	if err := b.cancel(t, account.RoleMember); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a run that is over can be cancelled: %v", err)
	}
}

func TestCancelQueued(t *testing.T) {
	b := newBench(t)
	b.Limits.Attempts = 0
	b.step(t, 0)
	if err := b.cancel(t, account.RoleViewer); fault.KindOf(err) != fault.Forbidden {
		t.Fatalf("a viewer cancels: %v", err)
	}
	if err := b.cancel(t, account.RoleMember); err != nil {
		t.Fatal(err)
	}
	b.Limits.Attempts = 1 // room comes too late
	b.cancelled(t, b.step(t, time.Second), run.Counts{})
	if b.dummy.Starts() != 0 {
		t.Error("it was begun all the same")
	}
}

func TestCancelRunning(t *testing.T) {
	b := newBench(t)
	b.step(t, 0)
	a := b.claim(t)
	ctx := context.Background()
	b.choose(t, a, listing(4))
	end := func(id, status string) attempt.Event {
		return attempt.Event{End: &attempt.TestEnd{ID: id, Status: status, ExpectedStatus: "passed", StartedAt: b.now}}
	}
	events := []attempt.Event{end("t0", "passed"), end("t1", "failed"), {Begin: &attempt.TestBegin{ID: "t2", StartedAt: b.now}}}
	if _, err := b.TakeBatch(ctx, a, attempt.Batch{Seq: 1, Events: events}); err != nil {
		t.Fatal(err)
	}
	if err := b.cancel(t, account.RoleMember); err != nil {
		t.Fatal(err)
	}
	if err := b.cancel(t, account.RoleMember); err != nil {
		t.Errorf("asking twice: %v", err)
	}
	r := b.step(t, time.Second)
	// What the worker still says is refused, so that nothing changes any more.
	if _, err := b.TakeBatch(ctx, a, attempt.Batch{Seq: 2, Events: []attempt.Event{end("t2", "passed")}}); fault.KindOf(err) != fault.Superseded {
		t.Errorf("a batch after the end: %v", err)
	}
	if _, err := b.TakeOutcome(ctx, a, attempt.Outcome{Complete: true, Status: "passed", Batches: 2}); fault.KindOf(err) != fault.Superseded {
		t.Errorf("an outcome after the end: %v", err)
	}
	if _, err := b.Heartbeat(ctx, a, attempt.Beat{}); fault.KindOf(err) != fault.Superseded {
		t.Errorf("a heartbeat after the end: %v", err)
	}
	b.cancelled(t, r, run.Counts{Passed: 1, Failed: 1, Skipped: 2})
}

func TestCancelShards(t *testing.T) {
	b := newSharded(t, 3, 2) // the third shard waits
	b.step(t, 0)
	shards := b.claimAll(t)
	b.list(t, shards[0], listing(6))
	b.list(t, shards[1], listing(6))
	b.pass(t, shards[0], 1, b.lease(t, shards[0], want).Units)
	b.lease(t, shards[1], want)
	if err := b.cancel(t, account.RoleMember); err != nil {
		t.Fatal(err)
	}
	r := b.step(t, time.Second)
	passed := r.Counts.Passed
	if passed == 0 || passed == 6 {
		t.Fatalf("%d tests had passed", passed)
	}
	for _, a := range shards {
		if _, err := b.Lease(context.Background(), a, want); fault.KindOf(err) != fault.Superseded {
			t.Errorf("shard %d is given tests after the end: %v", a.Shard, err)
		}
	}
	b.cancelled(t, r, run.Counts{Passed: passed, Skipped: 6 - passed})
	attempts, err := b.Store.RunAttempts(context.Background(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range dispatch.ShardsOf(r, attempts) {
		if s.Lost || s.Phase != run.ShardFinished {
			t.Errorf("a shard of a cancelled run: %+v", s)
		}
	}
}

// A run that would stay without a verdict for ever can be ended.
func TestCancelParked(t *testing.T) {
	b := newSharded(t, 2, 2)
	if err := b.db.UpdateRun(context.Background(), b.runID, func(r *run.Run) error { r.Parked = true; return nil }); err != nil {
		t.Fatal(err)
	}
	b.step(t, 0)
	if err := b.cancel(t, account.RoleMember); err != nil {
		t.Fatal(err)
	}
	b.cancelled(t, b.step(t, time.Second), run.Counts{})
}

// An attempt that another service's executor runs is closed here, and refused from then on.
func TestCancelElsewhere(t *testing.T) {
	b := newBench(t)
	b.step(t, 0)
	a := b.claim(t)
	b.dummy.Vanish(a.ID)
	b.Place = "another"
	if err := b.cancel(t, account.RoleMember); err != nil {
		t.Fatal(err)
	}
	b.cancelled(t, b.step(t, time.Second), run.Counts{})
}

// counting cancels a run between the count of its results and its verdict.
type counting struct {
	dispatch.Store
	once func()
}

func (c *counting) Tally(ctx context.Context, runID string) (run.Tally, error) {
	t, err := c.Store.Tally(ctx, runID)
	if c.once != nil {
		c.once()
		c.once = nil
	}
	return t, err
}

// Who was told that a run is being cancelled does not find it passed a moment later.
func TestCancelWhileJudged(t *testing.T) {
	b := newBench(t)
	b.step(t, 0)
	a := b.claim(t)
	ctx := context.Background()
	b.choose(t, a, listing(1))
	end := attempt.Event{End: &attempt.TestEnd{ID: "t0", Status: "passed", ExpectedStatus: "passed", StartedAt: b.now}}
	if _, err := b.TakeBatch(ctx, a, attempt.Batch{Seq: 1, Events: []attempt.Event{end}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.TakeOutcome(ctx, a, attempt.Outcome{Complete: true, Status: "passed", Batches: 1}); err != nil {
		t.Fatal(err)
	}
	b.dummy.Exit(a.ID, "")
	b.Store = &counting{Store: b.db, once: func() {
		if err := b.cancel(t, account.RoleMember); err != nil {
			t.Error(err)
		}
	}}
	b.cancelled(t, b.step(t, time.Second), run.Counts{Passed: 1})
}
