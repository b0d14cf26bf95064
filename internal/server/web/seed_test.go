package web_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/artifact"
	"tas-service/internal/catalog"
	"tas-service/internal/dispatch"
	"tas-service/internal/run"
)

// hostile is what a stranger may call a test.
const hostile = "<script>alert('x')</script> \x1b[31mred\x1b[0m \u202etxt"

// told is what a test of a seeded run told.
type told struct {
	n       int // of the test
	status  run.Status
	message string
	took    time.Duration
}

// testID answers the ID of the nth test.
func testID(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", n) }

// catalog lists so many tests; the first has a hostile title.
func (s *site) catalog(n int) {
	s.t.Helper()
	err := s.db.SyncCatalog(context.Background(), s.p.ID, "c0", true, func([]catalog.Test) (save []catalog.Test, err error) {
		for i := range n {
			t := catalog.Test{ID: testID(i), ProjectID: s.p.ID, File: fmt.Sprintf("tests/area%02d.spec.ts", i/10), TitlePath: []string{"cart", fmt.Sprintf("adds product %d", i)}, Line: i%10 + 3,
				Tags: []string{"@smoke"}, Owner: "ada", Browsers: []string{"chromium"}, Present: true, FirstSeen: s.now, LastSeen: s.now}
			if i == 0 {
				t.TitlePath = []string{hostile}
			}
			if i%3 == 1 {
				t.Tags, t.Owner = []string{"@slow", "@checkout"}, "bob"
			}
			save = append(save, t)
		}
		return save, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// begin queues a run and plans tests for it that have no result yet.
func (s *site) begin(branch, commit string, change func(*run.Run), plan []told) run.Run {
	s.t.Helper()
	ctx := context.Background()
	id, err := uuid.NewV7()
	if err != nil {
		s.t.Fatal(err)
	}
	r := run.Run{ID: id.String(), ProjectID: s.p.ID, Name: "shop-" + id.String()[24:], Trigger: run.TriggerCI, Branch: branch, Commit: strings.Repeat(commit, 10), OnDefault: branch == "main", Phase: run.Queued,
		Verdict: run.Pending, Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: s.now}
	if change != nil {
		change(&r)
	}
	if _, err := s.db.CreateRun(ctx, &r, nil); err != nil {
		s.t.Fatal(err)
	}
	a := dispatch.Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: s.p.ID, Number: 1, Kind: dispatch.ForTests, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: s.now, CreatedAt: s.now}
	if err := s.db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }); err != nil {
		s.t.Fatal(err)
	}
	rs := make([]run.Result, len(plan))
	for i, x := range plan {
		y := &rs[i]
		*y = run.Result{RunID: r.ID, PlaywrightID: fmt.Sprint("p", x.n), TestID: testID(x.n), Browser: "chromium", Position: i, Title: fmt.Sprintf("adds product %d", x.n), TitlePath: []string{"cart", fmt.Sprintf("adds product %d", x.n)},
			File: fmt.Sprintf("tests/area%02d.spec.ts", x.n/10), Line: x.n%10 + 3, Tags: []string{"@smoke"}, Unit: -1, Status: x.status}
		if x.n == 0 {
			y.Title, y.TitlePath = hostile, []string{hostile}
		}
		try := run.Try{Status: string(x.status), Expected: "passed", StartedAt: s.now, Duration: x.took}
		if x.message != "" {
			y.Error = &run.Error{Message: x.message, Stack: "Error: x\n    at tests/area.spec.ts:7:3", Snippet: "  5 | test('adds', async () => {\n> 7 |   await expect(page).toHaveTitle('<b>Cart</b>');\n    |         ^",
				Location: &run.Location{File: y.File, Line: 7, Column: 9}, Steps: []string{"add to the cart", "Expect \"toHaveTitle\""}}
			try.Error = y.Error
		}
		switch x.status {
		case run.StatusFlaky:
			try.Status = "failed"
			y.Tries = []run.Try{try, {Retry: 1, Status: "passed", Expected: "passed", StartedAt: s.now, Duration: x.took}}
		case run.StatusRecovered:
			try.Status = "passed"
			try.Recovered = []run.Recovered{{Method: "click", Before: "getByTestId('old')", After: "getByTestId('<b>new')", File: "tests/cart.ts", Line: 12, Why: "It is the same button."}}
			y.Tries = []run.Try{try}
		case run.StatusPending, run.StatusSkipped:
		default:
			y.Tries = []run.Try{try}
		}
	}
	err = s.db.Plan(ctx, a.ID, rs, nil, func(a *dispatch.Attempt, r *run.Run) (bool, error) {
		started := s.now
		r.StartedAt, r.Total, r.Isolation, r.Playwright = &started, len(plan), "bubblewrap", "1.65.1"
		for i := range rs {
			if rs[i].Status.Final() {
				r.Executed++
				r.Counts.Add(rs[i].Status, 1)
			}
		}
		return true, r.MoveTo(run.Running)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	r, err = s.db.Run(ctx, r.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// end brings a run to its verdict, and files what failed.
func (s *site) end(r run.Run, took time.Duration) run.Run {
	s.t.Helper()
	ctx := context.Background()
	if err := s.app.Bugs.File(ctx, r.ID); err != nil {
		s.t.Fatal(err)
	}
	err := s.db.UpdateRun(ctx, r.ID, func(r *run.Run) error {
		at := r.CreatedAt.Add(took)
		r.FinishedAt, r.Phase, r.Verdict = &at, run.Passed, run.Pass
		r.Ending = &run.Ending{Complete: true, Status: "passed"}
		if r.Counts.Failed > 0 {
			r.Phase, r.Verdict, r.Ending.Status = run.Failed, run.Fail, "failed"
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if r, err = s.db.Run(ctx, r.ID); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// results answers what so many tests tell that pass, but for those that are given.
func results(n int, but ...told) []told {
	out := make([]told, n)
	for i := range out {
		out[i] = told{n: i, status: run.StatusPassed, took: time.Duration(i%7+1) * 400 * time.Millisecond}
	}
	for _, x := range but {
		if x.took == 0 {
			x.took = time.Second
		}
		out[x.n] = x
	}
	return out
}

// finish is a run from its start to its verdict; the time goes on by an hour.
func (s *site) finish(branch, commit string, what []told) run.Run {
	s.t.Helper()
	r := s.end(s.begin(branch, commit, nil, what), 3*time.Minute)
	s.now = s.now.Add(time.Hour)
	return r
}

// attach keeps an artifact of a test's first attempt.
func (s *site) attach(r run.Run, n int, name, contentType, body string) string {
	s.t.Helper()
	ctx := context.Background()
	as, err := s.db.RunAttempts(ctx, r.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	id := uuid.NewString()
	x := artifact.Artifact{ID: id, RunID: r.ID, TestID: fmt.Sprint("p", n), Name: name, Kind: artifact.KindOf(name, contentType), ContentType: contentType, Key: artifact.RunPrefix(r.ID) + "tests/" + id + "/" + name, CreatedAt: s.now}
	if x.Size, err = s.app.Blobs.Put(ctx, x.Key, contentType, strings.NewReader(body)); err != nil {
		s.t.Fatal(err)
	}
	if err := s.db.AddArtifact(ctx, as[0].ID, x, func(*dispatch.Attempt, *run.Run) error { return nil }); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// story is a week of a shop: two bugs, a flaky test, one that was mended and one that runs.
func (s *site) story() (red, live run.Run) {
	s.t.Helper()
	s.catalog(40)
	bad := told{n: 0, status: run.StatusFailed, message: "Error: expect(locator).toHaveText(expected) failed\n\n<img src=x onerror=alert(1)> \x1b[31mGoodbye\x1b[39m"}
	flaky := told{n: 5, status: run.StatusFlaky, message: "Error: page.click: Timeout 5000ms exceeded.", took: 4 * time.Second}
	s.finish("main", "a1", results(40))
	s.finish("main", "a2", results(40, flaky))
	s.finish("main", "a3", results(40, bad, told{n: 9, status: run.StatusFailed, message: "TypeError: total is not a function"}))
	s.finish("topic/basket", "b1", results(20))
	red = s.finish("main", "a4", results(40, bad, flaky, told{n: 7, status: run.StatusFailed, message: "Error: net::ERR_CONNECTION_REFUSED at http://shop.example/api"}, told{n: 12, status: run.StatusSkipped},
		told{n: 3, status: run.StatusPassed, took: 30 * time.Second}))
	open := results(40, bad)
	for i := 15; i < 40; i++ {
		open[i].status = run.StatusPending
	}
	open[15].status = run.StatusRunning
	live = s.begin("main", "a5", func(r *run.Run) { r.StartedBy, r.Trigger = "person:ada", run.TriggerManual }, open)
	s.now = s.now.Add(2 * time.Minute)
	return red, live
}
