// Command repair measures how long it takes from a failing run to a pull request that was
// proved: the application renames what one test presses, that test fails in a run with autoHeal,
// and the session reproduces, repairs, proves and sabotages it, and opens the pull request. The
// tests wait for their application as real ones do, some for a second and some for eight.
//
// The goal is a median under 9 times the failing test's own duration plus 30 s; so the figure is
// the time without those 30 s over the test's duration, and the share of what the goal allows.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"tas-service/client"
	"tas-service/demo/stage"
)

func main() {
	rounds := flag.Int("rounds", 2, "failing runs of each of the four tests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "repair:", err)
		os.Exit(1)
	}
}

// waits are how long the application takes in all under each test.
var waits = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// app is an application of which one page at a time has another name for its last button.
type app struct {
	url     string
	drifted atomic.Int64
}

func open() (*app, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &app{url: "http://" + l.Addr().String()}
	a.drifted.Store(-1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{n}", a.page)
	mux.HandleFunc("POST /{n}/steps", func(w http.ResponseWriter, r *http.Request) {
		if n, err := index(r); err == nil {
			time.Sleep(waits[n] / steps)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	go http.Serve(l, mux) //nolint:errcheck,gosec // ends with the program
	return a, nil
}

const steps = 4 // of a test, the last of which presses what drifts

func index(r *http.Request) (n int, err error) {
	_, err = fmt.Sscan(r.PathValue("n"), &n)
	if err == nil && (n < 0 || n >= len(waits)) {
		err = errors.New("there is no such page")
	}
	return n, err
}

func (a *app) page(w http.ResponseWriter, r *http.Request) {
	n, err := index(r)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	var buttons strings.Builder
	for k := range steps - 1 {
		fmt.Fprintf(&buttons, `<button type="button">Step %d</button>`, k+1)
	}
	last := "save"
	if a.drifted.Load() == int64(n) {
		last = "store-changes"
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Form %d</title><main><h1>Form %d</h1><form>%s<button type="button" data-testid="%s" class="main">Save changes</button></form><p role="status"></p></main>
<script>for (const b of document.querySelectorAll('button')) b.onclick = async () => {
  document.querySelector('[role=status]').textContent = 'Working';
  await fetch('/%d/steps', { method: 'POST' });
  document.querySelector('[role=status]').textContent = b.textContent + ': done';
};</script></html>`, n, n, buttons.String(), last, n)
}

// files is the tests repository.
func files() map[string]string {
	out := map[string]string{"playwright.config.ts": `import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: 'tests', timeout: 60_000, expect: { timeout: 5_000 }, use: { baseURL: process.env.APP, actionTimeout: 5_000 } });
`}
	for n := range waits {
		out[fmt.Sprintf("tests/form-%d.spec.ts", n)] = fmt.Sprintf(`import { expect, test } from '@playwright/test';

test('fills in form %d', async ({ page }) => {
  await page.goto('/%d');
  for (const step of ['Step 1', 'Step 2', 'Step 3']) {
    await page.getByRole('button', { name: step }).click();
    await expect(page.getByRole('status')).toHaveText(step + ': done');
  }
  await page.getByTestId('save').click();
  await expect(page.getByRole('status')).toHaveText('Save changes: done');
});
`, n, n)
	}
	return out
}

func run(ctx context.Context, rounds int) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	a, err := open()
	if err != nil {
		return err
	}
	const name = "bench-repair"
	if err := os.RemoveAll(filepath.Join(root, ".tas", name)); err != nil {
		return err
	}
	at := stage.At(root, name)
	if err := stage.RepositoryOf(root, at.Repo(), files()); err != nil {
		return err
	}
	p, err := at.Project("Repairs", map[string]string{"APP": a.url})
	if err != nil {
		return err
	}
	addr, err := stage.FreeAddress()
	if err != nil {
		return err
	}
	s, err := at.Start(ctx, addr)
	if err != nil {
		return err
	}
	defer s.Stop()
	c := &client.Client{BaseURL: "http://" + addr, APIKey: p.Key}
	started, err := c.RunSuite(ctx, client.StartOptions{})
	if err != nil {
		return err
	}
	if st, err := ended(ctx, c, started.RunID); err != nil || st.Verdict != "pass" {
		return fmt.Errorf("the suite does not pass as it is: %s %w", st.Verdict, err)
	}
	time.Sleep(10 * time.Second) // its traces are read
	var all []repair
	fmt.Printf("%-16s %10s %10s %10s %8s\n", "test", "fails in", "repaired", "goal", "of it")
	for range rounds {
		for n := range waits {
			r, err := a.repair(ctx, c, n)
			if err != nil {
				return fmt.Errorf("form %d: %w", n, err)
			}
			fmt.Printf("form %-11d %8.1f s %8.1f s %8.1f s %8.2f\n", n, r.Failed, r.Took, r.goal(), r.Took/r.goal())
			all = append(all, r)
		}
	}
	of := func(f func(repair) float64) float64 {
		v := make([]float64, len(all))
		for i, r := range all {
			v[i] = f(r)
		}
		slices.SortFunc(v, cmp.Compare[float64])
		return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	text, err := json.Marshal(map[string]any{"benchmark": "repair", "repairs": all, "medianSeconds": of(func(r repair) float64 { return r.Took }),
		"medianOverTest": of(func(r repair) float64 { return max(0, r.Took-30) / r.Failed }), "medianOfGoal": of(func(r repair) float64 { return r.Took / r.goal() })})
	if err != nil {
		return err
	}
	fmt.Println("RESULT " + string(text))
	return nil
}

// repair is one of them, in seconds.
type repair struct {
	Failed float64 `json:"failedIn"` // the failing test
	Took   float64 `json:"took"`     // from the run's end to the session's
}

func (r repair) goal() float64 { return 9*r.Failed + 30 }

// repair has one test fail and be healed.
func (a *app) repair(ctx context.Context, c *client.Client, n int) (r repair, err error) {
	a.drifted.Store(int64(n))
	defer a.drifted.Store(-1)
	started, err := c.RunGrep(ctx, client.Grep{Pattern: fmt.Sprintf("fills in form %d", n)}, client.StartOptions{AutoHeal: &client.AutoHeal{}})
	if err != nil {
		return r, err
	}
	st, err := ended(ctx, c, started.RunID)
	if err != nil {
		return r, err
	}
	failed, err := c.Results(ctx, started.RunID, "failed")
	if err != nil || len(failed) != 1 {
		return r, fmt.Errorf("%d tests failed: %w", len(failed), err)
	}
	for begin := time.Now(); st.HealBatchID == nil; time.Sleep(200 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			return r, errors.New("no healing began")
		}
		if st, err = c.Status(ctx, started.RunID, 0); err != nil {
			return r, err
		}
	}
	for {
		b, err := c.Healing(ctx, *st.HealBatchID)
		switch {
		case err != nil:
			return r, err
		case !b.AllTerminal:
			time.Sleep(200 * time.Millisecond)
			continue
		case len(b.Sessions) != 1 || b.Sessions[0].PRURL == nil || b.Sessions[0].FinishedAt == nil || st.FinishedAt == nil:
			return r, fmt.Errorf("it was not healed: %+v", b.Sessions)
		}
		return repair{Failed: float64(failed[0].DurationMs) / 1000, Took: b.Sessions[0].FinishedAt.Sub(*st.FinishedAt).Seconds()}, nil
	}
}

func ended(ctx context.Context, c *client.Client, runID string) (client.Status, error) {
	for {
		st, err := c.Status(ctx, runID, 10*time.Second)
		if err != nil || st.IsTerminal {
			return st, err
		}
	}
}
