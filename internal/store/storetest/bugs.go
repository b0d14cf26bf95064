package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/dispatch"
	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/store"
)

// failing adds a run that has ended, with so many results that failed over one thing.
func failing(t *testing.T, db *store.DB, projectID, message string, n int) string {
	t.Helper()
	r, a := begun(t, db, run.Run{ProjectID: projectID, OnDefault: true})
	var rs []run.Result
	for i := range n {
		rs = append(rs, run.Result{RunID: r.ID, PlaywrightID: fmt.Sprint("p", i), TestID: fmt.Sprintf("test-%d", i), Position: i, Title: fmt.Sprint("t", i), Unit: -1,
			Status: run.StatusFailed, Error: &run.Error{Message: message}})
	}
	must(t, db.Plan(context.Background(), a.ID, rs, nil, func(a *dispatch.Attempt, r *run.Run) (bool, error) {
		r.Ending = &run.Ending{Complete: true, Status: "failed"}
		a.State = dispatch.Finished
		return true, errors.Join(r.MoveTo(run.Running), r.MoveTo(run.Merging), r.MoveTo(run.Failed))
	}))
	return r.ID
}

// bugs files the failures of many runs at once through two services: one cause is one bug,
// nothing is filed twice, numbers have no gap.
func bugs(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	const n = 12
	var runs []string
	for i := range n {
		runs = append(runs, failing(t, db, p.ID, fmt.Sprintf("Error: cause %c", 'a'+i%3), 2))
	}
	var wait sync.WaitGroup
	for i := range 2 * n { // each run twice
		wait.Go(func() {
			s := bug.Service{Store: []*store.DB{db, other}[i%2], Clock: time.Now}
			if err := s.File(ctx, runs[i/2]); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	all, err := db.Bugs(ctx, bug.Query{ProjectID: p.ID, Limit: 10})
	must(t, err)
	if len(all) != 3 || all[0].Number != 3 || all[2].Number != 1 {
		t.Fatalf("bugs: %+v", all)
	}
	for _, b := range all {
		if b.Occurrences != 2*n/3 || len(b.TestIDs) != 2 {
			t.Errorf("%s: %+v", b.Key(), b)
		}
	}
	got, err := db.Bugs(ctx, bug.Query{ProjectID: p.ID, States: []bug.State{bug.NeedsTriage}, Severities: []bug.Severity{bug.Major}, TestID: "test-1", Before: 3, Limit: 1})
	must(t, err)
	if len(got) != 1 || got[0].Number != 2 {
		t.Errorf("a filtered page: %+v", got)
	}
	must(t, other.UpdateBug(ctx, p.ID, 2, func(b *bug.Bug) error { b.Rate(bug.Minor, bug.Event{By: "me"}); return nil }))
	if b, err := db.Bug(ctx, p.ID, 2); err != nil || b.Severity != bug.Minor || len(b.History) != 2 || b.History[1].By != "me" {
		t.Errorf("after a change: %+v, %v", b, err)
	}
	if _, err := db.Bug(ctx, uuid.NewString(), 2); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another project's bug: %v", err)
	}
}

// judged overrules results of one run from many sides at once: every word counts, and the
// run's verdict is that of all.
func judged(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	const n = 20
	id := failing(t, db, p.ID, "Error: cause", n)
	actor := account.Actor{ProjectID: p.ID, Via: account.ViaKey, KeyID: "k"}
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			s := bug.Service{Store: []*store.DB{db, other}[i%2], Clock: time.Now}
			if _, err := s.Submit(ctx, actor, id, "127.0.0.1", []bug.Saying{{TestID: fmt.Sprintf("test-%d", i), Word: run.WordPassed}}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	r, err := db.Run(ctx, id)
	must(t, err)
	if r.Verdict != run.Pass || r.Phase != run.Passed || r.Counts.Passed != n || r.Counts.Failed != 0 {
		t.Errorf("%s %s %+v", r.Phase, r.Verdict, r.Counts)
	}
	s := bug.Service{Store: db, Clock: time.Now}
	_, err = s.Submit(ctx, actor, id, "", []bug.Saying{{TestID: "test-0", Word: run.WordFailed}, {TestID: "nothing", Word: run.WordFailed}})
	if r, rerr := db.Run(ctx, id); rerr != nil || fault.KindOf(err) != fault.Invalid || r.Verdict != run.Pass || r.Counts.Failed != 0 {
		t.Errorf("half of it was taken: %+v, %v", r, err)
	}
}

// collections keeps them, one of a name, and quarantines no more tests than allowed.
func collections(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	now := time.Now()
	c := catalog.Collection{ID: uuid.NewString(), ProjectID: p.ID, Name: "Smoke", TestIDs: []string{"a"}, Rule: &catalog.Rule{Tags: []string{"@x"}}, CreatedAt: now, UpdatedAt: now}
	must(t, db.SaveCollection(ctx, c))
	twin := c
	twin.ID = uuid.NewString()
	if err := other.SaveCollection(ctx, twin); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a second one of the name: %v", err)
	}
	c.Name, c.Rule = "Slow", nil
	must(t, other.SaveCollection(ctx, c))
	got, err := db.Collection(ctx, p.ID, c.ID)
	if err != nil || got.Name != "Slow" || got.Rule != nil || len(got.TestIDs) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	must(t, db.DropCollection(ctx, p.ID, c.ID))
	if all, err := db.Collections(ctx, p.ID); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}

	var wait sync.WaitGroup
	var mu sync.Mutex
	set := 0
	full := errors.New("full")
	for i := range 20 {
		wait.Go(func() {
			err := []*store.DB{db, other}[i%2].SetQuarantine(ctx, catalog.Quarantine{ProjectID: p.ID, TestID: fmt.Sprint("t", i), Owner: "me", Reason: "r", CreatedAt: now, ExpiresAt: now.Add(time.Hour)},
				func(others, _ int) error {
					if others >= 5 {
						return full
					}
					return nil
				})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				set++
			}
		})
	}
	wait.Wait()
	qs, err := db.Quarantines(ctx, p.ID, now)
	if err != nil || len(qs) != 5 || set != 5 {
		t.Fatalf("%d of 5 in quarantine, %d were told so: %v", len(qs), set, err)
	}
	if later, err := db.Quarantines(ctx, p.ID, now.Add(time.Hour)); err != nil || len(later) != 0 {
		t.Errorf("it does not end: %+v, %v", later, err)
	}
	if had, err := db.DropQuarantine(ctx, p.ID, qs[0].TestID); err != nil || !had {
		t.Errorf("release: %v, %v", had, err)
	}
}

// outcomes answers a test's latest runs on the default branch, newest first.
func outcomes(t *testing.T, db, _ *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	var ids []string
	for range 3 {
		ids = append(ids, failing(t, db, p.ID, "Error: cause", 1))
	}
	got, err := db.Outcomes(ctx, p.ID, []string{"test-0", "nothing"})
	must(t, err)
	seen := map[string]bool{}
	for _, o := range got["test-0"] {
		seen[o.RunID] = o.Result == catalog.OutcomeFailed
	}
	if len(got["test-0"]) != 3 || len(got["nothing"]) != 0 || !seen[ids[0]] || !seen[ids[1]] || !seen[ids[2]] {
		t.Errorf("%+v", got)
	}
}
