package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// split is the suite as a pipeline runs it without the service: a clone, npm ci, and one
// playwright test for each shard, with arguments that say which tests are its own.
type split struct {
	c    *course
	dir  string
	args [][]string // by shard
}

func newSplit(c *course) (*split, error) {
	st, err := c.stage(c.durations.now)
	if err != nil {
		return nil, err
	}
	s := &split{c: c, dir: st.Repo(), args: make([][]string, c.shards)}
	cmd := exec.Command("npm", "ci", "--silent", "--no-audit", "--no-fund")
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return s, nil
}

// byCount is Playwright's own --shard.
func byCount(c *course, s scenario) (time.Time, int, error) {
	x, err := newSplit(c)
	if err != nil {
		return time.Time{}, 0, err
	}
	for i := range x.args {
		x.args[i] = []string{fmt.Sprintf("--shard=%d/%d", i+1, c.shards)}
	}
	return x.run(s)
}

// byDuration is a static split by what was recorded: the longest first to the shard that
// has the least (longest processing time, Graham 1969).
func byDuration(c *course, s scenario) (time.Time, int, error) {
	x, err := newSplit(c)
	if err != nil {
		return time.Time{}, 0, err
	}
	order := make([]int, len(c.durations.before))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(c.durations.before[b] - c.durations.before[a]) })
	load, lists := make([]time.Duration, c.shards), make([]strings.Builder, c.shards)
	for _, i := range order {
		least := slices.Index(load, slices.Min(load))
		load[least] += c.durations.before[i]
		fmt.Fprintf(&lists[least], "wait.spec.ts › %s\n", title(i))
	}
	for i := range x.args {
		name := filepath.Join(x.dir, fmt.Sprintf("list-%d.txt", i))
		if err := os.WriteFile(name, []byte(lists[i].String()), 0o644); err != nil {
			return time.Time{}, 0, err
		}
		x.args[i] = []string{"--test-list=" + name}
	}
	return x.run(s)
}

// run executes every shard at once; one that is killed begins anew.
func (x *split) run(s scenario) (last time.Time, passed int, err error) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	for i := range x.args {
		wait.Go(func() {
			end, n, serr := x.shard(i, s.kill && i == 1)
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, serr)
			passed += n
			if end.After(last) {
				last = end
			}
		})
	}
	wait.Wait()
	return last, passed, err
}

func (x *split) shard(i int, kill bool) (time.Time, int, error) {
	report := filepath.Join(x.dir, fmt.Sprintf("report-%d.json", i))
	start := func() *exec.Cmd {
		cmd := exec.Command("npx", append([]string{"playwright", "test", "--reporter=json", fmt.Sprintf("--output=out-%d", i)}, x.args[i]...)...)
		cmd.Dir = x.dir
		cmd.Env = append(os.Environ(), "CI=1", "COURSE_URL="+x.c.url, "PLAYWRIGHT_JSON_OUTPUT_FILE="+report)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return cmd
	}
	cmd := start()
	if kill {
		if err := cmd.Start(); err != nil {
			return time.Time{}, 0, err
		}
		time.Sleep(time.Until(x.c.released().Add(x.c.bound() / 2)))
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it is a group of our own
		cmd.Wait()                                      //nolint:errcheck // it was killed
		cmd = start()
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return time.Time{}, 0, fmt.Errorf("shard %d: %w\n%s", i+1, err, out)
	}
	return lastOf(report)
}

// lastOf reads from Playwright's JSON report when the last test ended.
func lastOf(report string) (last time.Time, passed int, err error) {
	text, err := os.ReadFile(report)
	if err != nil {
		return last, 0, err
	}
	type suite struct {
		Suites []json.RawMessage `json:"suites"`
		Specs  []struct {
			Tests []struct {
				Results []struct {
					Status    string    `json:"status"`
					StartTime time.Time `json:"startTime"`
					Duration  int64     `json:"duration"`
				} `json:"results"`
			} `json:"tests"`
		} `json:"specs"`
	}
	var visit func(text []byte) error
	visit = func(text []byte) error {
		var s suite
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		for _, spec := range s.Specs {
			for _, t := range spec.Tests {
				for _, r := range t.Results {
					if end := r.StartTime.Add(time.Duration(r.Duration) * time.Millisecond); end.After(last) {
						last = end
					}
					if r.Status == "passed" {
						passed++
					}
				}
			}
		}
		for _, inner := range s.Suites {
			if err := visit(inner); err != nil {
				return err
			}
		}
		return nil
	}
	return last, passed, visit(text)
}
