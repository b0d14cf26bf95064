package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tas-service/client"
	"tas-service/demo/stage"
)

// byService is a sharded run of the service, which has seen the suite once before.
func byService(c *course, s scenario) (last time.Time, passed int, err error) {
	ctx := context.Background()
	st, err := c.stage(c.durations.before)
	if err != nil {
		return last, 0, err
	}
	p, err := st.Project("Bench", map[string]string{"COURSE_URL": c.url})
	if err != nil {
		return last, 0, err
	}
	addr, err := stage.FreeAddress()
	if err != nil {
		return last, 0, err
	}
	service, err := st.Start(ctx, addr, fmt.Sprintf("TAS_MAX_ATTEMPTS=%d", c.shards+1))
	if err != nil {
		return last, 0, err
	}
	defer service.Stop()
	api := &client.Client{BaseURL: "http://" + addr, APIKey: p.Key}

	// History is what a run recorded, without waiting for each other.
	c.meet(1, false)
	if _, err := sharded(ctx, api, c.shards, nil); err != nil {
		return last, 0, fmt.Errorf("record the durations: %w", err)
	}
	if err := stage.RepositoryOf(c.root, st.Repo(), c.files(c.durations.now)); err != nil {
		return last, 0, err
	}
	c.begin(s)
	rs, err := sharded(ctx, api, c.shards, func() {
		if s.kill {
			go func() {
				time.Sleep(time.Until(c.released().Add(c.bound() / 2)))
				if err := killOne(st.Data()); err != nil {
					fmt.Fprintln(os.Stderr, "shards: nobody was killed:", err)
				}
			}()
		}
	})
	for _, r := range rs {
		for _, a := range r.Attempts {
			if end := a.StartedAt.Add(time.Duration(a.DurationMs) * time.Millisecond); end.After(last) {
				last = end
			}
		}
		if r.Status == "passed" {
			passed++
		}
	}
	return last, passed, err
}

func sharded(ctx context.Context, api *client.Client, shards int, started func()) ([]client.Result, error) {
	run, err := api.RunSuite(ctx, client.StartOptions{ShardCount: shards})
	if err != nil {
		return nil, err
	}
	if started != nil {
		started()
	}
	for {
		st, err := api.Status(ctx, run.RunID, 30*time.Second)
		switch {
		case err != nil:
			return nil, err
		case !st.IsTerminal:
			continue
		case st.Verdict != "pass" && (st.Error == nil || st.Error.Code != "merge-failed"):
			return nil, fmt.Errorf("the run did not pass: %+v", st)
		}
		return api.Results(ctx, run.RunID)
	}
}

// killOne kills one of the workers of a service.
func killOne(data string) error {
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err
	}
	var pids []int
	for _, f := range dirs {
		text, err := os.ReadFile(f)
		if err != nil || !strings.Contains(string(text), "--work\x00"+data+"/work\x00") {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(f, "/proc/%d/cmdline", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) < 2 {
		return fmt.Errorf("%d workers", len(pids))
	}
	return syscall.Kill(pids[1], syscall.SIGKILL)
}
