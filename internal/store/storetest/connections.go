package storetest

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/checkout"
	"tas-service/internal/dispatch"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	forges "tas-service/internal/pull"
	"tas-service/internal/run"
	"tas-service/internal/store"
)

// connections are kept whole, changed one at a time, and empty where nothing was set.
func connections(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	c, err := db.Connection(ctx, p.ID)
	must(t, err)
	if !reflect.DeepEqual(c, forges.Connection{ProjectID: p.ID}) {
		t.Errorf("before anything is set: %+v", c)
	}
	want := forges.Connection{ProjectID: p.ID, Kind: forge.Gitea, URL: "https://git.example.com/x", Token: "t-s3cret", App: forges.App{ID: 1, InstallationID: 2, Key: "k-s3cret"}, SecretsFor: "https://git.example.com", HookSecret: "h-s3cret",
		Sources: []string{"shop/web"}, Author: checkout.Person{Name: "A", Email: "a@b"}, Committer: checkout.Person{Name: "C", Email: "c@d"}, SigningKey: "s-s3cret", Quiet: true, Deaf: true, ChangedAt: time.UnixMilli(1_790_000_000_000).UTC()}
	must(t, db.UpdateConnection(ctx, p.ID, func(c *forges.Connection) error { *c = want; return nil }))
	if c, err = other.Connection(ctx, p.ID); err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v", c, err)
	}
	if err := db.UpdateConnection(ctx, uuid.NewString(), func(*forges.Connection) error { return nil }); fault.KindOf(err) != fault.NotFound {
		t.Errorf("of no project: %v", err)
	}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			err := []*store.DB{db, other}[i%2].UpdateConnection(ctx, p.ID, func(c *forges.Connection) error {
				c.Sources = append(c.Sources, fmt.Sprint("shop/", i))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if c, err = db.Connection(ctx, p.ID); err != nil || len(c.Sources) != 21 || c.Token != want.Token {
		t.Errorf("%+v, %v", c, err)
	}
}

// deliveries are known by forge, project and ID, until they are forgotten.
func deliveries(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	q, _, _ := fill(t, db)
	ctx, now := context.Background(), time.Now()
	for range 2 {
		must(t, db.TakeDelivery(ctx, forge.GitHub, p.ID, "one", now, now.Add(-time.Hour)))
	}
	for _, c := range []struct {
		kind  forge.Kind
		id    string
		what  string
		taken bool
	}{{forge.GitHub, p.ID, "one", true}, {forge.Gitea, p.ID, "one", false}, {forge.GitHub, q.ID, "one", false}, {forge.GitHub, p.ID, "two", false}} {
		if taken, err := other.TakenDelivery(ctx, c.kind, c.id, c.what); err != nil || taken != c.taken {
			t.Errorf("%+v: %v, %v", c, taken, err)
		}
	}
	must(t, db.TakeDelivery(ctx, forge.GitHub, p.ID, "two", now.Add(2*time.Hour), now.Add(time.Hour)))
	if taken, err := db.TakenDelivery(ctx, forge.GitHub, p.ID, "one"); err != nil || taken {
		t.Errorf("what is to be forgotten: %v, %v", taken, err)
	}
}

// refreshes begin once for all wishes that came before, and leave no run.
func refreshes(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx, now := context.Background(), time.Now()
	must(t, db.AskRefresh(ctx, p.ID, now))
	must(t, other.AskRefresh(ctx, p.ID, now))
	var begun atomic.Int32
	var last atomic.Value
	var wait sync.WaitGroup
	begin := func(db *store.DB) {
		r := run.Run{ID: uuid.NewString(), ProjectID: p.ID, Name: "look-" + uuid.NewString()[:8], Trigger: run.TriggerRefresh, Phase: run.Queued, Verdict: run.Pending, CreatedAt: now}
		ok, err := db.BeginRefresh(ctx, &r)
		if err != nil {
			t.Error(err)
		}
		if ok {
			begun.Add(1)
			last.Store(r.ID)
		}
	}
	for i := range 10 {
		wait.Go(func() { begin([]*store.DB{db, other}[i%2]) })
	}
	wait.Wait()
	look, err := db.Refresh(ctx, p.ID)
	if begun.Load() != 1 || err != nil || !look.Pending || !look.DoneAt.IsZero() {
		t.Fatalf("%d were begun; %+v, %v", begun.Load(), look, err)
	}
	id := last.Load().(string)
	must(t, db.AskRefresh(ctx, p.ID, now)) // meanwhile
	a := dispatch.Attempt{ID: uuid.NewString(), RunID: id, ProjectID: p.ID, Number: 1, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: now, CreatedAt: now}
	must(t, db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }))
	runs, err := db.Runs(ctx, run.Query{ProjectID: p.ID, Limit: 10})
	if err != nil || len(runs) != 1 {
		t.Errorf("%d runs are listed, %v", len(runs), err)
	}
	must(t, db.UpdateAttempt(ctx, a.ID, func(a *dispatch.Attempt, r *run.Run) error {
		a.State, a.FinishedAt, r.Commit, r.FinishedAt = dispatch.Cancelled, &now, "c0ffee", &now
		r.Error = &run.Error{Code: "load-error", Message: "no"}
		return r.MoveTo(run.Cancelled)
	}))
	if _, err := db.Run(ctx, id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the run is there: %v", err)
	}
	open, err := db.OpenAttempts(ctx)
	if err != nil || len(open) != 1 {
		t.Errorf("%d attempts are open, %v", len(open), err)
	}
	look, err = other.Refresh(ctx, p.ID)
	if err != nil || !look.Pending || look.Commit != "c0ffee" || look.DoneAt.IsZero() || look.Trouble == nil || look.Trouble.Message != "no" {
		t.Errorf("%+v, %v", look, err)
	}
	if wanted, err := db.WantedRefreshes(ctx); err != nil || len(wanted) != 1 || wanted[0] != p.ID {
		t.Errorf("the wish that came meanwhile: %v, %v", wanted, err)
	}
}

// pullRuns keep the pull request that they are for, and are compared with runs of the
// default branch that are for none.
func pullRuns(t *testing.T, db, _ *store.DB) {
	p, first, _ := fill(t, db)
	ctx := context.Background()
	end := func(r run.Run) {
		t.Helper()
		must(t, db.UpdateRun(ctx, r.ID, func(r *run.Run) error {
			now := time.Now()
			r.Phase, r.Verdict, r.Total, r.FinishedAt = run.Failed, run.Fail, 1, &now
			return nil
		}))
	}
	end(first)
	usual, _ := begun(t, db, run.Run{ProjectID: p.ID, OnDefault: true})
	end(usual)
	proposed, _ := begun(t, db, run.Run{ProjectID: p.ID, OnDefault: true, Pull: &run.Pull{Repo: "shop/web", Number: 7}})
	end(proposed)
	few, _ := begun(t, db, run.Run{ProjectID: p.ID, OnDefault: true, Selection: run.Selection{Kind: run.SelectGrep, Grep: "cart"}})
	end(few)
	now, _ := begun(t, db, run.Run{ProjectID: p.ID})
	again, _ := begun(t, db, run.Run{ProjectID: p.ID, Selection: few.Selection, Pull: proposed.Pull})
	if base, err := db.DefaultRunBefore(ctx, again); err != nil || base.ID != few.ID {
		t.Errorf("of few tests, compared with %s, %v", base.Name, err)
	}
	if all, err := db.PullRuns(ctx, p.ID, *proposed.Pull, 10); err != nil || len(all) != 2 || all[0].ID != again.ID || all[1].ID != proposed.ID {
		t.Errorf("%d runs for the pull request, %v", len(all), err)
	}
	if all, err := db.PullRuns(ctx, p.ID, run.Pull{Repo: "shop/web", Number: 8}, 10); err != nil || len(all) != 0 {
		t.Errorf("%d runs for another one, %v", len(all), err)
	}
	got, err := db.Run(ctx, proposed.ID)
	if err != nil || got.Pull == nil || *got.Pull != (run.Pull{Repo: "shop/web", Number: 7}) {
		t.Errorf("%+v, %v", got.Pull, err)
	}
	if base, err := db.DefaultRunBefore(ctx, now); err != nil || base.ID != usual.ID {
		t.Errorf("compared with %s, %v", base.Name, err)
	}
	if base, err := db.DefaultRunBefore(ctx, usual); fault.KindOf(err) != fault.NotFound {
		t.Errorf("compared with %s, %v", base.Name, err)
	}
}
