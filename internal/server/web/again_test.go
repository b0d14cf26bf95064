package web_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/dispatch"
	"tas-service/internal/run"
)

// TestRunFailedAfterSetUp runs what a failed set-up kept from running, and not the set-up
// alone: that would pass without a test.
func TestRunFailedAfterSetUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.catalog(6)
	r := s.planned([]run.Result{
		{TestID: testID(0), Status: run.StatusFailed, Setup: true, Companion: true, Error: &run.Error{Message: "Error: no sign-in"}},
		{TestID: testID(1), Status: run.StatusSkipped, Error: &run.Error{Code: run.CodeDidNotRun, Message: "The test did not run because of an earlier failure."}},
		{TestID: testID(2), Status: run.StatusSkipped, Error: &run.Error{Code: run.CodeDidNotRun, Message: "The test did not run because of an earlier failure."}},
		{TestID: testID(3), Status: run.StatusSkipped},
		{TestID: testID(4), Status: run.StatusPassed},
		{TestID: testID(5), Status: run.StatusFailed, Error: &run.Error{Message: "Error: broken"}},
	})
	if got := s.again(r.ID); !slices.Equal(got, []string{testID(1), testID(2), testID(5)}) {
		t.Errorf("runs %v", got)
	}
	// Where nothing but what came along failed, that is all there is to run.
	r = s.planned([]run.Result{{TestID: testID(0), Status: run.StatusFailed, Setup: true, Companion: true, Error: &run.Error{Message: "Error: x"}}, {TestID: testID(1), Status: run.StatusPassed}})
	if got := s.again(r.ID); !slices.Equal(got, []string{testID(0)}) {
		t.Errorf("runs %v", got)
	}
	s.post(shop+"/runs", url.Values{"workers": {"100000"}}).ok(http.StatusBadRequest, "workers")
}

// TestRunFailedOfMany does not leave failures out without a word.
func TestRunFailedOfMany(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.catalog(run.MaxTestIDs + 1)
	rs := make([]run.Result, run.MaxTestIDs+1)
	for i := range rs {
		rs[i] = run.Result{TestID: testID(i), Status: run.StatusFailed, Error: &run.Error{Message: "Error: down"}}
	}
	r := s.planned(rs)
	s.post(shop+"/runs/"+r.ID+"/again", url.Values{"what": {"failed"}}).ok(http.StatusConflict, "5001 tests failed")
}

// planned is a run that is over, with these results.
func (s *site) planned(rs []run.Result) run.Run {
	s.t.Helper()
	ctx := context.Background()
	id := uuid.Must(uuid.NewV7()).String()
	r := run.Run{ID: id, ProjectID: s.p.ID, Name: "shop-" + id[24:], Trigger: run.TriggerCI, Branch: "main", Phase: run.Queued, Verdict: run.Pending, Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: s.now}
	if _, err := s.db.CreateRun(ctx, &r, nil); err != nil {
		s.t.Fatal(err)
	}
	a := dispatch.Attempt{ID: uuid.NewString(), RunID: id, ProjectID: s.p.ID, Number: 1, Kind: dispatch.ForTests, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: s.now, CreatedAt: s.now}
	if err := s.db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }); err != nil {
		s.t.Fatal(err)
	}
	for i := range rs {
		x := &rs[i]
		x.RunID, x.PlaywrightID, x.Browser, x.Position, x.Unit = id, uuid.NewString(), "chromium", i, -1
		x.Title, x.TitlePath, x.File = x.TestID, []string{x.TestID}, "tests/a.spec.ts"
	}
	err := s.db.Plan(ctx, a.ID, rs, nil, func(_ *dispatch.Attempt, r *run.Run) (bool, error) {
		for i := range rs {
			if rs[i].Counted() {
				r.Counts.Add(rs[i].Status, 1)
			}
		}
		return true, r.MoveTo(run.Running)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.end(r, time.Minute)
}

// again asks for a run of what failed and answers which tests it is of.
func (s *site) again(runID string) []string {
	s.t.Helper()
	a := s.post(shop+"/runs/"+runID+"/again", url.Values{"what": {"failed"}})
	if a.code != http.StatusSeeOther {
		s.t.Fatalf("%d %s", a.code, a.text)
	}
	rs, err := s.db.Runs(context.Background(), run.Query{ProjectID: s.p.ID, Phases: []run.Phase{run.Queued}, Limit: 1})
	if err != nil || len(rs) != 1 {
		s.t.Fatalf("%d runs, %v", len(rs), err)
	}
	s.now = s.now.Add(time.Minute)
	return rs[0].Selection.TestIDs
}
