// Package storetest is what the store has to pass on every database.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/catalog"
	"tas-service/internal/dispatch"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/store"
)

// Run holds a store to its interface. Each call of open answers a new database, twice: as
// two services open it that know nothing of each other.
func Run(t *testing.T, open func(t *testing.T) (one, other *store.DB)) {
	for name, test := range map[string]func(t *testing.T, db, other *store.DB){
		"updates are kept": updatesAreKept, "errors undo": errorsUndo, "two listings": twoListings, "lookups": lookups,
		"queue": queue, "lost shards": lostShards, "once": onceFromTwo, "order": order, "pages": pages, "odd text": oddText, "history": durations, "leader": leader,
		"bugs": bugs, "judged": judged, "collections": collections, "outcomes": outcomes, "looks": looks,
		"links": links, "administrators": administrators, "sessions": sessions, "audit": audit, "slugs": slugs, "actions": actions, "claims": claims, "policies": policies, "connections": connections, "deliveries": deliveries, "refreshes": refreshes, "pull runs": pullRuns, "pull numbers": pullNumbers, "pull records": pullRecords, "announced": announced, "destinations": destinations, "agent sessions": agentSessions, "batch once": batchOnce, "evidence": keptEvidence, "trials": hidden,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, other := open(t)
			test(t, db, other)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fill(t *testing.T, db *store.DB) (project.Project, run.Run, dispatch.Attempt) {
	t.Helper()
	ctx := context.Background()
	p, _, err := db.CreateProject(ctx, project.Project{Name: "Case", Env: map[string]string{"A": "b"}, Repository: project.Repository{URL: "/x", Token: "s3cret"}})
	must(t, err)
	r, a := begun(t, db, run.Run{ProjectID: p.ID})
	return p, r, a
}

// begun adds a run with an attempt.
func begun(t *testing.T, db *store.DB, r run.Run) (run.Run, dispatch.Attempt) {
	t.Helper()
	ctx := context.Background()
	r.ID, r.Name, r.Phase, r.Verdict, r.CreatedAt = uuid.NewString(), "case-"+uuid.NewString()[:8], run.Queued, run.Pending, time.Now()
	must(t, second(db.CreateRun(ctx, &r, nil)))
	a := dispatch.Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: r.ProjectID, Number: 1, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: time.Now(), CreatedAt: time.Now()}
	must(t, db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }))
	return r, a
}

// updatesAreKept changes one record from many sides at once: none is lost.
func updatesAreKept(t *testing.T, db, other *store.DB) {
	_, r, a := fill(t, db)
	ctx := context.Background()
	const n = 200
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			db := []*store.DB{db, other}[i/2%2]
			err := db.UpdateRun(ctx, r.ID, func(r *run.Run) error { r.Executed++; return nil })
			if i%2 == 0 {
				err = errors.Join(err, db.UpdateAttempt(ctx, a.ID, func(a *dispatch.Attempt, r *run.Run) error { a.Seq++; r.Counts.Passed++; return nil }))
			}
			if _, rerr := db.Run(ctx, r.ID); rerr != nil || err != nil {
				t.Error(err, rerr)
			}
		})
	}
	wait.Wait()
	got, err := db.Run(ctx, r.ID)
	must(t, err)
	open, err := db.OpenAttempts(ctx)
	must(t, err)
	if got.Executed != n || got.Counts.Passed != n/2 || len(open) != 1 || open[0].Seq != n/2 {
		t.Errorf("executed %d, passed %d, attempts %+v", got.Executed, got.Counts.Passed, open)
	}
}

// errorsUndo leaves nothing behind of a change that fails, or panics.
func errorsUndo(t *testing.T, db, _ *store.DB) {
	p, r, a := fill(t, db)
	ctx := context.Background()
	boom := errors.New("boom")
	err := db.Plan(ctx, a.ID, []run.Result{{RunID: r.ID, PlaywrightID: "1", Status: run.StatusPending}}, nil, func(a *dispatch.Attempt, r *run.Run) (bool, error) {
		a.Seq, r.Total = 9, 9
		return true, boom
	})
	if fault.KindOf(err) != fault.Internal {
		t.Errorf("the error is %v", err)
	}
	if err := db.SyncCatalog(ctx, p.ID, "new-commit", true, func([]catalog.Test) ([]catalog.Test, error) { return nil, boom }); err == nil {
		t.Error("no error")
	}
	got, err := db.Run(ctx, r.ID)
	must(t, err)
	commit, err := db.CatalogCommit(ctx, p.ID)
	must(t, err)
	if has, err := db.HasResult(ctx, r.ID, ""); err != nil || has || got.Total != 0 || commit != "" {
		t.Errorf("something was kept: total %d, result %v, commit %q, %v", got.Total, has, commit, err)
	}
	func() {
		defer func() { recover() }()                                    //nolint:errcheck // as the server's handler does
		db.UpdateRun(ctx, r.ID, func(*run.Run) error { panic("boom") }) //nolint:errcheck // it panics
	}()
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := db.UpdateRun(short, r.ID, func(r *run.Run) error { r.Total = 1; return nil }); err != nil {
		t.Errorf("a panic left the database locked: %v", err)
	}
}

// twoListings gives tests of two listings at once one identity.
func twoListings(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	listed := []catalog.Listed{{File: "a", TitlePath: []string{"x"}, BodyHash: "1"}, {File: "a", TitlePath: []string{"y"}, BodyHash: "2"}}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if err := []*store.DB{db, other}[i%2].SyncCatalog(ctx, p.ID, "c", true, func(known []catalog.Test) ([]catalog.Test, error) {
				save, _ := catalog.Sync(p.ID, known, listed, nil, catalog.Listing{Default: true, Complete: true}, time.Now(), uuid.NewString)
				return save, nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	ts, err := db.Tests(ctx, catalog.Query{ProjectID: p.ID, Limit: 100})
	if err != nil || len(ts) != 2 {
		t.Errorf("%d tests, %v", len(ts), err)
	}
	for _, text := range []string{"%", "_", `\`, "'", `"`} {
		if ts, err := db.Tests(ctx, catalog.Query{ProjectID: p.ID, Text: text, Limit: 100}); err != nil || len(ts) != 0 {
			t.Errorf("%q finds %v, %v", text, ts, err)
		}
	}
}

func lookups(t *testing.T, db, _ *store.DB) {
	p, r, a := fill(t, db)
	ctx := context.Background()
	got, err := db.Project(ctx, p.ID)
	must(t, err)
	if got.Repository.Token != "s3cret" || got.Env["A"] != "b" {
		t.Errorf("project: %+v", got)
	}
	for name, err := range map[string]error{
		"run":     second(db.Run(ctx, "none")),
		"name":    second(db.RunByName(ctx, "other project", r.Name)),
		"project": second(db.Project(ctx, "none")),
		"key":     second(db.ActiveKey(ctx, account.HashKey("none"))),
		"token":   second(db.AttemptByToken(ctx, "none")),
		"latest":  second(db.LatestRun(ctx, p.ID)),
		"update":  db.UpdateRun(ctx, "none", func(*run.Run) error { return nil }),
	} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	unknown, err := db.UnknownTests(ctx, p.ID, []string{"x", "y", "x"})
	if err != nil || !slices.Equal(unknown, []string{"x", "y", "x"}) {
		t.Errorf("unknown: %v %v", unknown, err)
	}
	// A key is active until it is rotated.
	fresh, err := db.RotateKey(ctx, p.ID)
	must(t, err)
	k, err := db.ActiveKey(ctx, account.HashKey(fresh))
	if err != nil || k.ProjectID != p.ID {
		t.Errorf("key: %+v %v", k, err)
	}
	if _, err := db.RotateKey(ctx, "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("rotate: %v", err)
	}
	// The same number of attempt, or the same token, is refused.
	for i, b := range []dispatch.Attempt{{ID: "x", RunID: r.ID, Number: 1, TokenHash: "y"}, {ID: "x", RunID: r.ID, Number: 2, TokenHash: a.TokenHash}} {
		if err := db.CreateAttempt(ctx, b, func(*run.Run) error { return nil }); err == nil {
			t.Errorf("attempt %d was taken", i)
		}
	}
	if _, err := db.Run(ctx, fmt.Sprint(r.ID, "' OR '1'='1")); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

func second[T any](_ T, err error) error { return err }
