// Command pages measures whether the lists of the API page in constant time: with 10,000
// runs and 1,000,000 results stored it reads each list from its first page to its last and
// prints what the first, the middle and the last pages cost. Records are kept in SQLite, or
// in the empty PostgreSQL database that TAS_DATABASE_URL names.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/catalog"
	"tas-service/internal/dispatch"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/server"
	"tas-service/internal/store"
)

func main() {
	runs := flag.Int("runs", 10_000, "runs that are stored")
	results := flag.Int("results", 1_000_000, "results that are stored, a fifth of them of one run")
	tests := flag.Int("tests", 10_000, "tests of the catalog")
	flag.Parse()
	if err := measure(*runs, *results, *tests); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

func measure(runs, results, tests int) (err error) {
	dir, err := os.MkdirTemp("", "tas-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	database := os.Getenv("TAS_DATABASE_URL")
	s, err := server.New(ctx, server.Config{Addr: "127.0.0.1:0", DataDir: dir, RateLimit: 1 << 30, DatabaseURL: database}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return err
	}
	p, key, err := s.Store().CreateProject(ctx, project.Project{Name: "Bench", Repository: project.Repository{URL: "file:///nowhere"}})
	if err != nil {
		return err
	}
	name := "SQLite"
	if database != "" {
		name = "PostgreSQL"
	}
	fmt.Printf("%s: storing %d runs, %d results and %d tests …\n", name, runs, results, tests)
	big, err := seed(ctx, s.Store(), p, runs, results, tests)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- s.Run(ctx, nil) }()
	figures := map[string]any{"benchmark": "pages", "database": name, "runs": runs, "results": results, "tests": tests}
	fmt.Printf("%-34s %7s %10s %10s %10s   last over first\n", "list, 200 a page", "pages", "first", "middle", "last")
	for _, list := range []struct{ name, path, field string }{
		{"runs", "/public-api/v1/test-runs", "testRuns"},
		{"runs of a branch", "/public-api/v1/test-runs?branch=topic", "testRuns"},
		{"failed runs, one in 100", "/public-api/v1/test-runs?status=failed", "testRuns"},
		{"results of the largest run", "/public-api/v1/test-runs/" + big + "/results", "results"},
		{"its failures, one in 100", "/public-api/v1/test-runs/" + big + "/results?status=failed", "results"},
		{"tests, with their health", "/public-api/v1/tests", "tests"},
	} {
		times, err := walk(ctx, s.BaseURL()+list.path, key, list.field)
		if err != nil {
			return fmt.Errorf("%s: %w", list.name, err)
		}
		n := max(1, min(5, len(times)/3))
		first, middle, last := median(times[:n]), median(times[(len(times)-n)/2:(len(times)-n)/2+n]), median(times[len(times)-n:])
		ratio := float64(last) / float64(first)
		fmt.Printf("%-34s %7d %7.1f ms %7.1f ms %7.1f ms   %.2f\n", list.name, len(times), ms(first), ms(middle), ms(last), ratio)
		figures[list.name] = map[string]any{"pages": len(times), "lastOverFirst": ratio, "middleOverFirst": float64(middle) / float64(first), "firstMs": ms(first)}
	}
	cancel()
	if err := <-served; err != nil {
		return err
	}
	text, err := json.Marshal(figures)
	fmt.Println("RESULT " + string(text))
	return err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(of []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// walk reads a list to its end, twice, and answers the shorter time of each page.
func walk(ctx context.Context, address, key, field string) (best []time.Duration, err error) {
	for range 2 {
		var times []time.Duration
		for cursor := ""; ; {
			u, err := url.Parse(address)
			if err != nil {
				return nil, err
			}
			q := u.Query()
			q.Set("limit", "200")
			if cursor != "" {
				q.Set("cursor", cursor)
			}
			u.RawQuery = q.Encode()
			began := time.Now()
			page, err := get(ctx, u.String(), key)
			if err != nil {
				return nil, err
			}
			times = append(times, time.Since(began))
			var items []json.RawMessage
			if err := json.Unmarshal(page[field], &items); err != nil || len(items) == 0 && len(times) > 1 {
				return nil, errors.Join(err, fmt.Errorf("a page has %d items", len(items)))
			}
			if cursor = ""; json.Unmarshal(page["nextCursor"], &cursor) != nil || cursor == "" {
				break
			}
		}
		if best == nil {
			best = times
		}
		for i := range min(len(best), len(times)) {
			best[i] = min(best[i], times[i])
		}
	}
	return best, nil
}

func get(ctx context.Context, address, key string) (page map[string]json.RawMessage, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", resp.Status, text)
	}
	if err != nil {
		return nil, err
	}
	return page, json.Unmarshal(text, &page)
}

// seed stores tests, and finished runs of them, as the service itself would. It answers the
// run with a fifth of all results.
func seed(ctx context.Context, db *store.DB, p project.Project, runs, results, tests int) (big string, err error) {
	now := time.Now().Add(-time.Duration(runs) * time.Minute)
	ids := make([]string, tests)
	for i := range ids {
		ids[i] = uuid.NewString()
	}
	err = db.SyncCatalog(ctx, p.ID, "c", true, func([]catalog.Test) (save []catalog.Test, err error) {
		for i, id := range ids {
			save = append(save, catalog.Test{ID: id, ProjectID: p.ID, File: fmt.Sprintf("tests/f%04d.spec.ts", i/20), TitlePath: []string{fmt.Sprint("test ", i)}, Line: i % 20, Present: true, FirstSeen: now, LastSeen: now})
		}
		return save, nil
	})
	if err != nil {
		return "", err
	}
	each := results * 4 / 5 / max(1, runs-1)
	next := 0
	for i := range runs {
		n := each
		if i == runs/2 {
			n = results / 5
		}
		at := now.Add(time.Duration(i) * time.Minute)
		id, err := uuid.NewV7()
		if err != nil {
			return "", err
		}
		branch := "main"
		if i%2 == 0 {
			branch = "topic"
		}
		r := run.Run{ID: id.String(), ProjectID: p.ID, Name: fmt.Sprintf("bench-%06d", i), Trigger: run.TriggerAPI, Branch: branch, OnDefault: true, Phase: run.Queued,
			Verdict: run.Pending, Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: at}
		if _, err := db.CreateRun(ctx, &r, nil); err != nil {
			return "", err
		}
		a := dispatch.Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: p.ID, Number: 1, Kind: dispatch.ForTests, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: at, CreatedAt: at}
		if err := db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }); err != nil {
			return "", err
		}
		rs := make([]run.Result, n)
		for j := range rs {
			status := run.StatusPassed
			if j%100 == 99 {
				status = run.StatusFailed
			}
			rs[j] = run.Result{RunID: r.ID, PlaywrightID: fmt.Sprint(j), TestID: ids[next%tests], Browser: "chromium", Position: j, Title: "test", TitlePath: []string{"test"},
				File: "a.spec.ts", Line: j, Unit: -1, Status: status, Tries: []run.Try{{Status: string(status), Expected: "passed", StartedAt: at, Duration: time.Second}}}
			next++
		}
		err = db.Plan(ctx, a.ID, rs, nil, func(a *dispatch.Attempt, r *run.Run) (bool, error) {
			if a.State, r.Phase, r.Verdict, r.FinishedAt = dispatch.Finished, run.Passed, run.Pass, &at; i%100 == 0 {
				r.Phase, r.Verdict = run.Failed, run.Fail
			}
			r.Total, r.Executed, r.Counts.Passed = n, n, n
			return true, nil
		})
		if err != nil {
			return "", err
		}
		if i == runs/2 {
			big = r.ID
		}
	}
	return big, nil
}
