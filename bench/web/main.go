// Command web measures what the web app's pages cost: with 10,000 runs, 5,000 tests and
// 1,000,000 results in SQLite it asks for each page several times and prints the median
// time of the server and the bytes that are transferred, next to a page that is empty.
// It ends with an error where a page is slower or larger than is promised.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/artifact"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/dispatch"
	"tas-service/internal/event"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/secret"
	"tas-service/internal/server/web"
	"tas-service/internal/store"
)

// What is promised of each page.
const (
	mostTime  = 200 * time.Millisecond
	mostBytes = 100 << 10
)

func main() {
	runs := flag.Int("runs", 10_000, "runs that are stored")
	tests := flag.Int("tests", 5_000, "tests of the catalog")
	results := flag.Int("results", 1_000_000, "results that are stored, 5,000 of them of one run")
	keep := flag.String("data", "", "folder to keep the database in, and to take it from")
	flag.Parse()
	if err := measure(*runs, *tests, *results, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// site is the pages on a database.
type site struct {
	db      *store.DB
	app     *web.App
	handler http.Handler
	p       project.Project
}

func open(ctx context.Context, dir string) (*site, error) {
	keys, err := secret.NewKeyring(make([]byte, secret.KeySize))
	if err != nil {
		return nil, err
	}
	db, err := store.OpenSQLite(ctx, filepath.Join(dir, "tas.db"), keys)
	if err != nil {
		return nil, err
	}
	s := &site{db: db}
	tests := &catalog.Service{Store: db, Sets: db, Held: db, History: db, Sums: db, Clock: time.Now}
	s.app = &web.App{Projects: db, Store: db, Keys: keys, AppURL: "http://tas.example", BaseURL: "http://tas.example", Now: time.Now, Log: slog.Default(), Tests: tests,
		Bugs: &bug.Service{Store: db, Clock: time.Now},
		Runs: &run.Service{Store: db, Projects: db, Environments: db, Collections: tests, Patterns: &run.JavaScript{}, Watcher: event.NewHub(), Clock: time.Now, Wake: func() {},
			Links: artifact.Links{Keys: keys, ContentURL: "http://content.example", TTL: time.Hour, Now: time.Now}},
		Viewer: func(*http.Request) (account.Viewer, error) {
			return account.Viewer{Person: account.Person{ID: "ada", Name: "Ada"}, Projects: []account.Membership{{ProjectID: s.p.ID, PersonID: "ada", Role: account.RoleMember}}}, nil
		},
		CSRF: func(*http.Request) string { return "token" }}
	mux := http.NewServeMux()
	s.handler = mux
	return s, s.app.Mount(mux)
}

func measure(runs, tests, results int, dir string) (err error) {
	ctx := context.Background()
	if dir == "" {
		if dir, err = os.MkdirTemp("", "tas-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // temporary
	}
	s, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer s.db.Close() //nolint:errcheck // the bench is over
	known, err := s.db.Projects(ctx)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		fmt.Printf("storing %d runs, %d tests and %d results …\n", runs, tests, results)
		if s.p, _, err = s.db.CreateProject(ctx, project.Project{Name: "Bench", Repository: project.Repository{URL: "file:///nowhere", Branch: "main"}}); err != nil {
			return err
		}
		if err := s.seed(ctx, runs, tests, results); err != nil {
			return err
		}
	} else {
		s.p = known[0]
	}
	return s.walk(ctx)
}

// walk asks for every page and prints what it costs.
func (s *site) walk(ctx context.Context) error {
	rs, err := s.db.Runs(ctx, run.Query{ProjectID: s.p.ID, Phases: []run.Phase{run.Failed}, Limit: 1})
	if err != nil || len(rs) == 0 {
		return errors.Join(err, errors.New("no run failed"))
	}
	red := rs[0].ID
	large, err := s.db.RunByName(ctx, s.p.ID, "bench-large")
	if err != nil {
		return err
	}
	failed, err := s.db.Results(ctx, run.ResultQuery{RunID: red, After: -1, Limit: 1, Statuses: []run.Status{run.StatusFailed}})
	if err != nil || len(failed) == 0 {
		return errors.Join(err, errors.New("no result failed"))
	}
	test := failed[0].TestID
	base := "/projects/bench"
	sets, err := s.db.Collections(ctx, s.p.ID)
	if err != nil || len(sets) == 0 {
		return errors.Join(err, errors.New("there is no collection"))
	}
	set := sets[0]
	figures := map[string]any{"benchmark": "web"}
	fmt.Printf("%-44s %10s %12s\n", "page", "median", "transferred")
	var late []string
	for _, page := range []struct{ name, path string }{
		{"an empty page", "/problems/unauthenticated"},
		{"runs", base + "/runs"}, {"runs of a branch that failed", base + "/runs?branch=topic&state=failed"}, {"runs by a text that few have", base + "/runs?q=bench-000007"},
		{"runs by a text that none has", base + "/runs?q=nothing"}, {"start a run", base + "/runs/new"},
		{"a run that failed", base + "/runs/" + red}, {"a run of 5,000 tests", base + "/runs/" + large.ID}, {"its flaky tests", base + "/runs/" + large.ID + "?status=flaky"},
		{"a test in a run", base + "/runs/" + red + "/tests/" + test}, {"tests", base + "/tests"}, {"tests with a tag and a text", base + "/tests?tag=%40slow&q=product+4"},
		{"a test", base + "/tests/" + test}, {"collections", base + "/collections"}, {"a collection with its preview", base + "/collections/new?tags=%40slow"},
		{"health", base + "/health"}, {"health, 14 days of all branches", base + "/health?days=14&branch=*"}, {"health of a tag and a branch", base + "/health?tag=%40slow&branch=topic&days=14"},
		{"health, 30 days", base + "/health?days=30"}, {"health, 90 days", base + "/health?days=90"}, {"health, 90 days of all branches", base + "/health?days=90&branch=*"}, {"health, 90 days of a branch", base + "/health?days=90&branch=topic"},
		{"health, 90 days of a tag", base + "/health?tag=%40slow&days=90&branch=*"}, {"health, 90 days of all tests by a tag", base + "/health?tag=%40smoke&days=90&branch=*"}, {"health, 30 days of a collection", base + "/health?days=30&collection=" + set.ID},
		{"a bug", base + "/bugs/BUG-1"},
	} {
		var times []time.Duration
		size := 0
		for range 7 {
			w := httptest.NewRecorder()
			began := time.Now()
			s.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, page.path, http.NoBody))
			times = append(times, time.Since(began))
			if w.Code != http.StatusOK {
				return fmt.Errorf("%s: status %d: %.300s", page.name, w.Code, w.Body)
			}
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write(w.Body.Bytes()); err != nil || z.Close() != nil {
				return errors.Join(err, errors.New("compress"))
			}
			size = b.Len()
		}
		slices.Sort(times)
		took := times[len(times)/2]
		fmt.Printf("%-44s %7.1f ms %9.1f KB\n", page.name, float64(took.Microseconds())/1000, float64(size)/1024)
		figures[page.name] = map[string]any{"ms": float64(took.Microseconds()) / 1000, "bytes": size}
		if took > mostTime || size > mostBytes {
			late = append(late, page.name)
		}
	}
	text, err := json.Marshal(figures)
	fmt.Println("RESULT " + string(text))
	if err == nil && len(late) > 0 {
		err = fmt.Errorf("slower than %s or larger than %d bytes: %q", mostTime, mostBytes, late)
	}
	return err
}

func (s *site) seed(ctx context.Context, runs, tests, results int) error {
	span := 100 * 24 * time.Hour
	first := time.Now().Add(-span)
	ids := make([]string, tests)
	for i := range ids {
		ids[i] = uuid.NewString()
	}
	err := s.db.SyncCatalog(ctx, s.p.ID, "c", true, func([]catalog.Test) (save []catalog.Test, err error) {
		for i, id := range ids {
			tags := []string{"@smoke"}
			if i%5 == 0 {
				tags = []string{"@slow", "@checkout"}
			}
			save = append(save, catalog.Test{ID: id, ProjectID: s.p.ID, File: fmt.Sprintf("tests/f%04d.spec.ts", i/20), TitlePath: []string{"cart", fmt.Sprint("adds product ", i)}, Line: i % 20, Tags: tags, Owner: fmt.Sprint("team ", i%7), Present: true, FirstSeen: first, LastSeen: first})
		}
		return save, nil
	})
	if err != nil {
		return err
	}
	ada := account.Actor{ProjectID: s.p.ID, Name: "Ada", Role: account.RoleMember, Via: account.ViaSession}
	if _, err := s.app.Tests.Create(ctx, ada, catalog.Collection{ProjectID: s.p.ID, Name: "Many", Rule: &catalog.Rule{Title: "1"}}); err != nil {
		return err
	}
	each, next := max(1, (results-tests)/max(1, runs-1)), 0
	for i := range runs {
		name, n := fmt.Sprintf("bench-%06d", i), each
		if i == runs/2 {
			name, n = "bench-large", tests
		}
		if err := s.one(ctx, name, i, n, &next, ids, first.Add(span/time.Duration(runs)*time.Duration(i))); err != nil {
			return err
		}
	}
	return nil
}

// one stores a finished run, as the service itself would.
func (s *site) one(ctx context.Context, name string, i, n int, next *int, ids []string, at time.Time) error {
	branch := "main"
	if i%4 == 0 {
		branch = "topic"
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	r := run.Run{ID: id.String(), ProjectID: s.p.ID, Name: name, Trigger: run.TriggerCI, Branch: branch, Commit: fmt.Sprintf("%040x", i), OnDefault: branch == "main", Phase: run.Queued, Verdict: run.Pending, Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: at}
	if _, err := s.db.CreateRun(ctx, &r, nil); err != nil {
		return err
	}
	a := dispatch.Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: s.p.ID, Number: 1, Kind: dispatch.ForTests, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: at, CreatedAt: at}
	if err := s.db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }); err != nil {
		return err
	}
	red := i%10 == 9
	rs := make([]run.Result, n)
	for j := range rs {
		k := *next % len(ids)
		*next++
		x := &rs[j]
		*x = run.Result{RunID: r.ID, PlaywrightID: fmt.Sprint(j), TestID: ids[k], Browser: "chromium", Position: j, Title: fmt.Sprint("adds product ", k), TitlePath: []string{"cart", fmt.Sprint("adds product ", k)},
			File: fmt.Sprintf("tests/f%04d.spec.ts", k/20), Line: k % 20, Tags: []string{"@smoke"}, Unit: -1, Status: run.StatusPassed}
		try := run.Try{Status: "passed", Expected: "passed", StartedAt: at, Duration: time.Duration(k%90+1) * 100 * time.Millisecond}
		switch {
		case red && j%25 == 7:
			x.Status, try.Status = run.StatusFailed, "failed"
			try.Error = &run.Error{Message: fmt.Sprintf("Error: expect(locator('#cart-%c')).toHaveText(expected) failed", 'a'+rune(k%23)), Stack: "Error: x\n    at tests/a.spec.ts:7:3", Snippet: "> 7 | await expect(page)"}
			x.Error = try.Error
		case *next%97 == 0:
			x.Status = run.StatusFlaky
		}
		x.Tries = []run.Try{try}
	}
	err = s.db.Plan(ctx, a.ID, rs, nil, func(a *dispatch.Attempt, r *run.Run) (bool, error) {
		a.State, r.Total, r.Executed, r.StartedAt = dispatch.Finished, n, n, &at
		for j := range rs {
			r.Counts.Add(rs[j].Status, 1)
		}
		return true, errors.Join(r.MoveTo(run.Running), r.MoveTo(run.Merging))
	})
	if err != nil {
		return err
	}
	if red {
		if err := s.app.Bugs.File(ctx, r.ID); err != nil {
			return err
		}
	}
	if n >= len(ids) {
		defer func(began time.Time) {
			fmt.Printf("to end a run of %d tests takes %.1f ms\n", n, float64(time.Since(began).Microseconds())/1000)
		}(time.Now())
	}
	return s.db.UpdateRun(ctx, r.ID, func(r *run.Run) error {
		end := at.Add(time.Duration(60+i%200) * time.Second)
		r.FinishedAt, r.Verdict, r.Ending = &end, run.Pass, &run.Ending{Complete: true, Status: "passed"}
		if red {
			r.Verdict = run.Fail
			return r.MoveTo(run.Failed)
		}
		return r.MoveTo(run.Passed)
	})
}
