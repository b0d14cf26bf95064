// Command api measures what reading a run's status costs over HTTP, with 1,000 runs and
// 100,000 results stored, beside an empty handler of the same process under the same load.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/dispatch"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/server"
	"tas-service/internal/store"
)

func main() {
	runs := flag.Int("runs", 1000, "runs that are stored")
	results := flag.Int("results", 100, "results of each")
	seconds := flag.Int("seconds", 5, "of each measurement")
	rounds := flag.Int("rounds", 3, "of both measurements, in turn")
	clients := flag.Int("clients", 8, "connections")
	flag.Parse()
	if err := measure(*runs, *results, time.Duration(*seconds)*time.Second, *rounds, *clients); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func measure(runs, results int, span time.Duration, rounds, clients int) error {
	dir, err := os.MkdirTemp("", "tas-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := server.New(ctx, server.Config{Addr: "127.0.0.1:0", DataDir: dir, RateLimit: 1 << 30}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return err
	}
	p, key, err := s.Store().CreateProject(ctx, project.Project{Name: "Bench", Repository: project.Repository{URL: "file:///nowhere"}})
	if err != nil {
		return err
	}
	fmt.Printf("storing %d runs with %d results each …\n", runs, results)
	ids, err := seed(ctx, s.Store(), p, runs, results)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- s.Run(ctx, nil) }()
	empty, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(empty, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) })) //nolint:errcheck,gosec // ends with the program

	status := func(i int) string { return s.BaseURL() + "/public-api/v1/execution/status/run/" + ids[i%len(ids)] }
	nothing := func(int) string { return "http://" + empty.Addr().String() + "/" }
	var statusRuns, emptyRuns []load
	for range rounds {
		e, err := drive(nothing, key, span, clients)
		if err != nil {
			return err
		}
		st, err := drive(status, key, span, clients)
		if err != nil {
			return err
		}
		fmt.Printf("  status %8.0f/s p99 %6.2f ms    empty handler %8.0f/s p99 %6.2f ms    ratio %.2f\n", st.perSecond, st.p99, e.perSecond, e.p99, e.perSecond/st.perSecond)
		statusRuns, emptyRuns = append(statusRuns, st), append(emptyRuns, e)
	}
	ratio := func(i int) float64 { return emptyRuns[i].perSecond / statusRuns[i].perSecond }
	order := make([]int, rounds)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if ratio(a) < ratio(b) {
			return -1
		}
		return 1
	})
	mid := order[rounds/2]
	text, err := json.Marshal(map[string]any{"benchmark": "api", "runs": runs, "results": runs * results, "clients": clients,
		"statusPerSecond": int(statusRuns[mid].perSecond), "statusP99Ms": statusRuns[mid].p99,
		"emptyPerSecond": int(emptyRuns[mid].perSecond), "emptyP99Ms": emptyRuns[mid].p99, "emptyOverStatus": ratio(mid)})
	if err != nil {
		return err
	}
	cancel()
	if err := <-served; err != nil {
		return err
	}
	fmt.Println("RESULT " + string(text))
	return nil
}

// seed stores finished runs with their results, as the service itself would.
func seed(ctx context.Context, db *store.DB, p project.Project, runs, results int) ([]string, error) {
	var ids []string
	now := time.Now()
	for i := range runs {
		r := run.Run{ID: uuid.NewString(), ProjectID: p.ID, Name: fmt.Sprintf("bench-%06d", i), Trigger: run.TriggerAPI, Phase: run.Queued,
			Verdict: run.Pending, Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: now}
		if _, err := db.CreateRun(ctx, &r, nil); err != nil {
			return nil, err
		}
		a := dispatch.Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: p.ID, Number: 1, Kind: dispatch.ForTests, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: now, CreatedAt: now}
		if err := db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }); err != nil {
			return nil, err
		}
		rs := make([]run.Result, results)
		for j := range rs {
			rs[j] = run.Result{RunID: r.ID, PlaywrightID: fmt.Sprint(j), TestID: uuid.NewString(), Browser: "chromium", Position: j, Title: "test", TitlePath: []string{"test"},
				File: "a.spec.ts", Line: j, Status: run.StatusPassed, Tries: []run.Try{{Status: "passed", Expected: "passed", StartedAt: now, Duration: time.Second}}}
		}
		err := db.Plan(ctx, a.ID, rs, nil, func(a *dispatch.Attempt, r *run.Run) (bool, error) {
			a.State, r.Phase, r.Verdict, r.FinishedAt = dispatch.Finished, run.Passed, run.Pass, &now
			r.Total, r.Executed, r.Counts.Passed = results, results, results
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// load is what one measurement saw.
type load struct{ perSecond, p99 float64 }

// drive sends requests over a fixed number of connections, each when the one before was
// answered.
func drive(url func(int) string, key string, span time.Duration, clients int) (load, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wait sync.WaitGroup
	began := time.Now()
	for c := range clients {
		wait.Go(func() {
			var took []time.Duration
			for i := c; time.Since(began) < span; i += clients {
				one := time.Now()
				if err := get(client, url(i), key); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				took = append(took, time.Since(one))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}
	wait.Wait()
	if failed != nil {
		return load{}, failed
	}
	slices.Sort(all)
	return load{perSecond: float64(len(all)) / time.Since(began).Seconds(), p99: float64(all[len(all)*99/100].Microseconds()) / 1000}, nil
}

func get(client *http.Client, url, key string) error {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read below
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}
