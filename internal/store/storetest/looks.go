package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/dispatch"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/store"
)

// ended stores a run of the default branch with a result for each status, and ends it.
func ended(t *testing.T, db *store.DB, p project.Project, at time.Time, took time.Duration, statuses ...run.Status) run.Run {
	t.Helper()
	ctx := context.Background()
	id, err := uuid.NewV7()
	must(t, err)
	r := run.Run{ID: id.String(), ProjectID: p.ID, Name: id.String()[20:], Phase: run.Queued, Verdict: run.Pending, Branch: "main", OnDefault: true, Commit: "c", Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: at}
	_, err = db.CreateRun(ctx, &r, nil)
	must(t, err)
	a := dispatch.Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: p.ID, Number: 1, Kind: dispatch.ForTests, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: at, CreatedAt: at}
	must(t, db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }))
	var rs []run.Result
	for i, s := range statuses {
		x := run.Result{RunID: r.ID, PlaywrightID: fmt.Sprint(i), TestID: fmt.Sprint("t", i), Browser: "b", Position: i, Title: "t", TitlePath: []string{"t"}, File: "a.ts", Unit: -1, Status: s,
			Tries: []run.Try{{Status: "passed", Expected: "passed", Duration: took}}}
		if s == run.StatusFailed {
			x.Error = &run.Error{Message: "Error: boom"}
			x.Tries[0].Status, x.Tries[0].Error = "failed", x.Error
		}
		rs = append(rs, x)
	}
	must(t, db.Plan(ctx, a.ID, rs, nil, func(_ *dispatch.Attempt, r *run.Run) (bool, error) {
		r.Total = len(rs)
		return true, r.MoveTo(run.Running)
	}))
	must(t, (&bug.Service{Store: db, Clock: func() time.Time { return at }}).File(ctx, r.ID))
	must(t, db.UpdateRun(ctx, r.ID, func(r *run.Run) error {
		end := at.Add(time.Minute)
		r.FinishedAt, r.Ending = &end, &run.Ending{Complete: true, Status: "failed"}
		if err := r.MoveTo(run.Merging); err != nil {
			return err
		}
		r.Verdict = run.Fail
		return r.MoveTo(run.Failed)
	}))
	r, err = db.Run(ctx, r.ID)
	must(t, err)
	return r
}

// looks answers what pages compare and sum up.
func looks(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	p, _, err := db.CreateProject(ctx, project.Project{Name: "Looks"})
	must(t, err)
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	before := ended(t, db, p, at, time.Second, run.StatusPassed, run.StatusFailed, run.StatusFailed, run.StatusFlaky, run.StatusPassed)
	now := ended(t, other, p, at.Add(time.Hour), 9*time.Second, run.StatusFailed, run.StatusFailed, run.StatusPassed, run.StatusFlaky, run.StatusPassed, run.StatusSkipped)
	if b, err := db.RunBefore(ctx, now); err != nil || b.ID != before.ID {
		t.Errorf("before: %s, %v", b.ID, err)
	}
	if _, err := db.RunBefore(ctx, before); fault.KindOf(err) != fault.NotFound {
		t.Errorf("before the first: %v", err)
	}
	changes, err := db.Changes(ctx, now.ID, before.ID, 10)
	must(t, err)
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s %s %s", c.TestID, c.Before, c.Now))
	}
	if want := []string{"t0 passed failed", "t1 failed failed", "t2 failed passed"}; !slices.Equal(got, want) {
		t.Errorf("changes: %q", got)
	}
	slower, err := db.Slower(ctx, now.ID, before.ID, 10)
	if err != nil || len(slower) != 1 || slower[0].TestID != "t4" || slower[0].NowIn != 9*time.Second || slower[0].BeforeIn != time.Second {
		t.Errorf("slower: %+v, %v", slower, err)
	}
	groups, err := db.Failures(ctx, now.ID, 10, 1)
	if err != nil || len(groups) != 2 || groups[0].BugKey != "BUG-1" || groups[0].N != 2 || len(groups[0].First) != 1 || !groups[1].Flaky || groups[1].N != 1 {
		t.Errorf("failures: %+v, %v", groups, err)
	}
	past, err := db.Past(ctx, run.PastQuery{ProjectID: p.ID, TestID: "t0", Browser: "b", Branch: "main", UpTo: now.ID, Limit: 5})
	if err != nil || len(past) != 2 || past[0].RunID != now.ID || past[1].Status != run.StatusPassed || past[1].Duration != time.Second {
		t.Errorf("past: %+v, %v", past, err)
	}
	ends, err := db.Ends(ctx, run.EndQuery{ProjectID: p.ID, Since: at, Limit: 5})
	if err != nil || len(ends) != 2 || !ends[0].At.After(ends[1].At) {
		t.Errorf("ends: %+v, %v", ends, err)
	}
	branches, err := db.Branches(ctx, p.ID, 5)
	if err != nil || !slices.Equal(branches, []string{"main"}) {
		t.Errorf("branches: %q, %v", branches, err)
	}
	seen, err := db.Seen(ctx, p.ID, "BUG-1", 5)
	if err != nil || len(seen) != 2 || seen[0].RunID != now.ID || seen[0].N != 2 {
		t.Errorf("seen: %+v, %v", seen, err)
	}
	if on, err := db.SeenOn(ctx, p.ID, "main", at); err != nil || !on["BUG-1"] {
		t.Errorf("seen on main: %v, %v", on, err)
	}
	if on, err := db.SeenOn(ctx, p.ID, "topic", at); err != nil || len(on) > 0 {
		t.Errorf("seen on topic: %v, %v", on, err)
	}
	if rs, err := db.Runs(ctx, run.Query{ProjectID: p.ID, Text: now.ID[:30], Limit: 5}); err != nil || len(rs) != 1 {
		t.Errorf("by text: %d, %v", len(rs), err)
	}
	sums(t, db, p, now, at)
}

// sums are added to when runs end, and corrected when one is judged anew.
func sums(t *testing.T, db *store.DB, p project.Project, now run.Run, at time.Time) {
	t.Helper()
	ctx := context.Background()
	ask := catalog.SumQuery{ProjectID: p.ID, Since: at}
	sumOf := func(id string) catalog.TestSum {
		got, err := db.TestSums(ctx, catalog.SumQuery{ProjectID: p.ID, Since: at, TestIDs: []string{id}})
		must(t, err)
		if len(got) != 1 {
			return catalog.TestSum{}
		}
		return got[0]
	}
	// Every test that has results is in the catalog, as it is when they are made.
	must(t, db.SyncCatalog(ctx, p.ID, "c", true, func([]catalog.Test) (save []catalog.Test, err error) {
		for i := range 8 {
			id := fmt.Sprint("t", i)
			save = append(save, catalog.Test{ID: id, ProjectID: p.ID, File: "a.spec.ts", TitlePath: []string{id}, Line: i + 1, Present: true, FirstSeen: at, LastSeen: at})
		}
		return save, nil
	}))
	if s := sumOf("t0"); s.Passed != 1 || s.Failed != 1 || s.Timed != 1 || s.Mean() != time.Second {
		t.Errorf("t0: %+v", s)
	}
	if s := sumOf("t3"); s.Flaky != 2 || s.Mean() != 5*time.Second {
		t.Errorf("t3: %+v", s)
	}
	if s := sumOf("t5"); s.N() != 0 {
		t.Errorf("a skipped test: %+v", s)
	}
	actor := account.Actor{ProjectID: p.ID, Name: "Ada", Role: account.RoleMember, Via: account.ViaSession}
	_, err := (&bug.Service{Store: db, Clock: func() time.Time { return at }}).Submit(ctx, actor, now.ID, "", []bug.Saying{{TestID: "t0", Word: run.WordFlaky}})
	must(t, err)
	if s := sumOf("t0"); s.Passed != 1 || s.Failed != 0 || s.Flaky != 1 || s.Timed != 2 {
		t.Errorf("t0 after a verdict: %+v", s)
	}
	days, err := db.DaySums(ctx, ask)
	if err != nil || len(days) != 1 || days[0].Passed+days[0].Failed+days[0].Flaky != 10 {
		t.Errorf("days: %+v, %v", days, err)
	}
	// A tag may stand for more tests than a statement takes values.
	many := make([]string, 70_000)
	for i := range many {
		many[i] = fmt.Sprint("no such test ", i)
	}
	many[0], many[len(many)-1] = "t0", "t1"
	few := catalog.SumQuery{ProjectID: p.ID, Since: at, TestIDs: []string{"t0", "t1"}}
	some, err := db.DaySums(ctx, few)
	must(t, err)
	few.TestIDs = many
	if got, err := db.TestSums(ctx, few); err != nil || len(got) != 2 {
		t.Errorf("of many: %d tests, %v", len(got), err)
	}
	if got, err := db.DaySums(ctx, few); err != nil || !slices.Equal(got, some) || len(some) != 1 {
		t.Errorf("of many: %+v, not %+v, %v", got, some, err)
	}
	for name, q := range map[string]catalog.SumQuery{
		"all branches": {ProjectID: p.ID, Since: at, Every: true}, "main": {ProjectID: p.ID, Since: at, Branch: "main"}, "by weeks": {ProjectID: p.ID, Since: at, Weekly: true},
		"by weeks, from long ago": {ProjectID: p.ID, Since: at.AddDate(0, 0, -60), Weekly: true, Every: true},
	} {
		if got, err := db.DaySums(ctx, q); err != nil || len(got) != 1 || got[0].Passed != days[0].Passed || got[0].Failed != days[0].Failed || got[0].Flaky != days[0].Flaky || got[0].Day.Before(q.Since.Truncate(24*time.Hour)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	chosen := catalog.SumQuery{ProjectID: p.ID, Since: at, TestIDs: []string{"t0"}}
	if got, err := db.DaySums(ctx, chosen); err != nil || len(got) != 1 || got[0].Passed != 1 || got[0].Flaky != 1 || got[0].Failed != 0 {
		t.Errorf("days of a test: %+v, %v", got, err)
	}
	for i := range 600 {
		chosen.TestIDs = append(chosen.TestIDs, fmt.Sprint("another ", i))
	}
	// Since any day of the weeks before: each is counted once, by its week or by its day.
	for back := range 15 {
		chosen.Since = at.AddDate(0, 0, -back)
		if got, err := db.TestSums(ctx, chosen); err != nil || len(got) != 1 || got[0].TestID != "t0" || got[0].N() != 2 {
			t.Errorf("one of many tests, %d days back: %+v, %v", back, got, err)
		}
	}
	for branch, n := range map[string]int{"main": 5, "topic": 0} {
		if got, err := db.TestSums(ctx, catalog.SumQuery{ProjectID: p.ID, Since: at, Branch: branch}); err != nil || len(got) != n {
			t.Errorf("%s: %d tests, %v", branch, len(got), err)
		}
	}
	if got, err := db.TestSums(ctx, catalog.SumQuery{ProjectID: p.ID, Since: at.AddDate(0, 0, 2)}); err != nil || len(got) != 0 {
		t.Errorf("later: %d tests, %v", len(got), err)
	}
}
