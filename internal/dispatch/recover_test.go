package dispatch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"

	"tas-service/internal/attempt"
	"tas-service/internal/dispatch"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// knows answers every question alike, and counts them.
type knows struct{ asked int }

func (k *knows) Recover(_ context.Context, r run.Run, x run.Result, ask attempt.Ask) (attempt.Found, error) {
	k.asked++
	return attempt.Found{Locator: x.PlaywrightID + " " + ask.Method, Before: r.ID}, nil
}

// TestRecover lets runs ask whose project wants that, so often, and nobody else.
func TestRecover(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newSharded(t, 2, 3)
	k := &knows{}
	b.Recovery = k
	wants := func(recovery bool) {
		t.Helper()
		if err := b.db.UpdateProject(ctx, b.run(t).ProjectID, func(p *project.Project) error { p.Recovery = recovery; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	b.step(t, 0)
	shards := b.claimAll(t)
	mine, other := shards[0], shards[1]
	b.list(t, mine, listing(2))
	granted := b.lease(t, mine, want)
	id := granted.Units[0][0]
	job := func() bool {
		t.Helper()
		j, err := b.Claim(ctx, mine)
		if err != nil {
			t.Fatal(err)
		}
		return j.Recover
	}
	ask := func(a dispatch.Attempt, in attempt.Ask) (string, error) {
		found, err := b.Recover(ctx, a, in)
		return found.Locator, err
	}
	if found, err := ask(mine, attempt.Ask{Test: id, Method: "click"}); found != "" || err != nil || k.asked > 0 || job() {
		t.Errorf("nobody wants it: %q %v, job %v", found, err, job())
	}
	wants(true)
	if found, err := ask(mine, attempt.Ask{Test: id, Method: "click"}); found != id+" click" || err != nil || !job() {
		t.Errorf("%q %v, job %v", found, err, job())
	}
	for name, c := range map[string]struct {
		a    dispatch.Attempt
		ask  attempt.Ask
		kind fault.Kind
	}{
		"another shard":   {other, attempt.Ask{Test: id}, fault.Invalid},
		"an unknown test": {mine, attempt.Ask{Test: "x"}, fault.NotFound},
		"a large page":    {mine, attempt.Ask{Test: id, Page: strings.Repeat("x", 5<<20)}, fault.Invalid},
		"a long file":     {mine, attempt.Ask{Test: id, Frames: []attempt.Frame{{Location: attempt.Location{File: strings.Repeat("x", 1<<20)}}}}, fault.Invalid},
		"many places":     {mine, attempt.Ask{Test: id, Earlier: make([]attempt.Place, 1000)}, fault.Invalid},
	} {
		if found, err := ask(c.a, c.ask); found != "" || fault.KindOf(err) != c.kind {
			t.Errorf("%s: %q, %v", name, found, err)
		}
	}
	k.asked = 0
	for range 150 {
		if _, err := ask(mine, attempt.Ask{Test: id}); err != nil {
			t.Fatal(err)
		}
	}
	if k.asked == 0 || k.asked >= 100 {
		t.Errorf("a run asked %d times after it had asked before", k.asked)
	}

	// What came of it is counted, and the run with it.
	with := []attempt.Recovered{{Method: "click", Before: "a", After: "b"}, {}, {}, {}}
	batch := attempt.Batch{Seq: 1, Events: []attempt.Event{{End: &attempt.TestEnd{ID: id, Status: "passed", ExpectedStatus: "passed", StartedAt: b.now, Recovered: with}}, {Over: []string{id}}}}
	if _, err := b.TakeBatch(ctx, mine, batch); err != nil {
		t.Fatal(err)
	}
	if r := b.run(t); r.Counts.Recovered != 1 || r.Executed != 1 {
		t.Errorf("%+v, %d executed", r.Counts, r.Executed)
	}
	x, err := b.db.PlannedResult(ctx, b.runID, id)
	if err != nil || x.Status != run.StatusRecovered || len(x.Recovered()) != run.MaxRecovered || x.Recovered()[0].After != "b" {
		t.Errorf("%+v %v", x, err)
	}

	// A trial shows what a test does by itself.
	r := run.Run{ID: uuid.NewString(), ProjectID: b.run(t).ProjectID, Name: "trial", Phase: run.Queued, Verdict: run.Pending, Trial: &run.Trial{Session: "s"}, Commit: "c",
		Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: b.now}
	if _, err := b.db.CreateRun(ctx, &r, nil); err != nil {
		t.Fatal(err)
	}
	b.runID = r.ID
	b.step(t, 0)
	of := b.claimAll(t)
	if len(of) != 1 {
		t.Fatalf("%d attempts at the trial", len(of))
	}
	if j, err := b.Claim(ctx, of[0]); err != nil || j.Recover {
		t.Errorf("a trial is recovered: %v", err)
	}
	asked := k.asked
	if found, err := ask(of[0], attempt.Ask{Test: id}); found != "" || err != nil || k.asked != asked {
		t.Errorf("a trial asks: %q %v", found, err)
	}
}
