// Command memory measures the resident memory of the service while the results of a run
// of 5,000 real Playwright tests stream in, over what it takes when idle. With -shards the
// run is split, all shards at once, and their reports are merged: -tests 20000 -shards 40
// takes some minutes and 10 GiB for the shards themselves.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tas-service/client"
	"tas-service/demo/stage"
)

func main() {
	tests := flag.Int("tests", 5000, "tests of the run")
	shards := flag.Int("shards", 0, "shards that the run is split into")
	flag.Parse()
	if err := measure(*tests, *shards); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

const perFile = 100

func measure(tests, shards int) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	files := map[string]string{"playwright.config.ts": "import { defineConfig } from '@playwright/test';\nexport default defineConfig({ testDir: './tests', fullyParallel: true });\n"}
	for f := range (tests + perFile - 1) / perFile {
		var b strings.Builder
		b.WriteString("import { test, expect } from '@playwright/test';\n")
		for i := range min(perFile, tests-f*perFile) {
			fmt.Fprintf(&b, "test('sum %d of %d', async () => { expect(%d + 1).toBe(%d); });\n", i, f, i, i+1)
		}
		files[fmt.Sprintf("tests/sums%03d.spec.ts", f)] = b.String()
	}
	st := stage.At(root, "bench-memory")
	if err := stage.RepositoryOf(root, st.Repo(), files); err != nil {
		return err
	}
	p, err := st.Project("Bench", nil)
	if err != nil {
		return err
	}
	addr, err := stage.FreeAddress()
	if err != nil {
		return err
	}
	ctx := context.Background()
	service, err := st.Start(ctx, addr, fmt.Sprintf("TAS_MAX_ATTEMPTS=%d", max(1, shards)))
	if err != nil {
		return err
	}
	defer service.Stop()
	c := &client.Client{BaseURL: "http://" + addr, APIKey: p.Key}
	if _, err := c.Me(ctx); err != nil {
		return err
	}
	idle := resident(service.PID())
	var peak, merging atomic.Int64 // merging: the peak while the reports are merged
	var inMerge atomic.Bool
	stop := make(chan struct{})
	go func() {
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-stop:
				return
			case <-tick.C:
				now := resident(service.PID())
				peak.Store(max(peak.Load(), now))
				if inMerge.Load() {
					merging.Store(max(merging.Load(), now))
				}
			}
		}
	}()
	began := time.Now()
	started, err := c.RunSuite(ctx, client.StartOptions{ShardCount: shards})
	if err != nil {
		return err
	}
	var end client.Status
	var before int64 // what it took when the merge began
	for !end.IsTerminal {
		if end, err = c.Status(ctx, started.RunID, 30*time.Second); err != nil {
			return err
		}
		if end.Phase == "merging" && !inMerge.Swap(true) {
			before = resident(service.PID())
		}
		fmt.Printf("  %-10s %5d/%d  %4d MiB\n", end.Phase, end.ExecutedCount, end.TotalCount, resident(service.PID())>>20)
	}
	close(stop)
	if end.Verdict != "pass" || end.Passed != tests {
		return fmt.Errorf("the run did not pass: %+v", end)
	}
	text, err := json.Marshal(map[string]any{"benchmark": "memory", "tests": tests, "idleMiB": idle >> 20, "peakMiB": peak.Load() >> 20,
		"peakOverIdle": float64(peak.Load()*100/max(1, idle)) / 100, "seconds": int(time.Since(began).Seconds()),
		"shards": shards, "beforeMergeMiB": before >> 20, "mergePeakMiB": merging.Load() >> 20})
	if err != nil {
		return err
	}
	fmt.Println("RESULT " + string(text))
	return nil
}

// resident answers a process's resident memory in bytes, 0 where it is not known.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}
