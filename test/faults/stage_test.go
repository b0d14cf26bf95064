package faults

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"tas-service/internal/store/storetest"
	"tas-service/test/harness"
)

// stage is one service with its workers, and hands that reach for them.
type stage struct {
	*harness.Process
	proxy     *proxy
	collector *collector
	postgres  bool
	titles    []string
}

// collector counts executions of tests, told by the tests themselves.
type collector struct {
	*httptest.Server
	mu sync.Mutex
	n  int
}

func newCollector() *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.n++
	}))
	return c
}

func (c *collector) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = 0
}

func (c *collector) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

const config = `import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: './tests', retries: 1, workers: 1,
  projects: [{ name: 'setup', testMatch: /.*\.setup\.ts/ }, { name: 'main', testMatch: /.*\.spec\.ts/, dependencies: ['setup'] }] });
`

// file answers a test file; its tests wait a little, and fail when the environment says so.
func file(collector, mode string, titles []string) string {
	var b strings.Builder
	b.WriteString("import { test } from '@playwright/test';\nconst named = (list: string | undefined, title: string) => (list ?? '').split(',').includes(title);\n")
	if mode != "" {
		fmt.Fprintf(&b, "test.describe.configure({ mode: '%s' });\n", mode)
	}
	for i, title := range titles {
		fmt.Fprintf(&b, `test('%s', async ({}, info) => {
  await fetch('%s').catch(() => {});
  await new Promise(r => setTimeout(r, %d));
  if (named(process.env.FAIL, info.title)) throw new Error('told to fail');
  if (info.retry === 0 && named(process.env.FLAKY, info.title)) throw new Error('told to fail at first');
});
`, title, collector, 50+i*70)
	}
	return b.String()
}

func newStage(t *testing.T, postgres bool) *stage {
	t.Helper()
	s := &stage{postgres: postgres, collector: newCollector()}
	t.Cleanup(s.collector.Close)
	files := map[string]string{"playwright.config.ts": config, "tests/all.setup.ts": "import { test } from '@playwright/test';\ntest('set up', async () => {});\n"}
	add := func(name, mode string, n int) {
		var titles []string
		for i := range n {
			titles = append(titles, fmt.Sprintf("%s-%d", name, i))
		}
		s.titles = append(s.titles, titles...)
		files["tests/"+name+".spec.ts"] = file(s.collector.URL, mode, titles)
	}
	for i := range 4 {
		add(fmt.Sprintf("file%d", i), "", 3)
	}
	add("parallel", "parallel", 6)
	add("serial", "serial", 3)
	env := []string{"TAS_MAX_ATTEMPTS=4", "TAS_LOST_AFTER=3s", "TAS_ORPHAN_AFTER=20s"}
	if postgres {
		env = append(env, "TAS_DATABASE_URL="+storetest.Database(t))
	}
	s.proxy = newProxy("")
	t.Cleanup(s.proxy.Close)
	s.Process = harness.StartProcess(t, files, append(env, "TAS_WORKER_URL="+s.proxy.URL)...)
	s.proxy.target = s.URL
	return s
}

// workers answers the process IDs of the attempts under way.
func (s *stage) workers() (pids []int) {
	for _, pid := range processes() {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(text), "--work\x00"+s.Data+"/work\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// runners answers the process IDs of the test runners: descendants of the workers.
func (s *stage) runners() (pids []int) {
	parents := map[int]int{}
	for _, pid := range processes() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 1 {
			parents[pid], _ = strconv.Atoi(f[1])
		}
	}
	ours := map[int]bool{}
	for _, pid := range s.workers() {
		ours[pid] = true
	}
	for pid := range parents {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !strings.Contains(string(text), "/dist/main.js") || strings.HasPrefix(string(text), "bwrap") {
			continue
		}
		for up := parents[pid]; up > 1; up = parents[up] {
			if ours[up] {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

func processes() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(d)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// do does a deed to whoever is there.
func (s *stage) do(t *testing.T, d deed) {
	t.Helper()
	switch d.what {
	case "kill worker":
		if pids := s.workers(); len(pids) > 0 {
			syscall.Kill(pids[int(d.span)%len(pids)], syscall.SIGKILL) //nolint:errcheck // it may have ended
		}
	case "kill runner":
		if pids := s.runners(); len(pids) > 0 {
			syscall.Kill(pids[int(d.span)%len(pids)], syscall.SIGKILL) //nolint:errcheck // it may have ended
		}
	case "pause worker":
		if pids := s.workers(); len(pids) > 0 {
			pid := pids[int(d.span)%len(pids)]
			if syscall.Kill(pid, syscall.SIGSTOP) == nil {
				time.AfterFunc(d.span, func() { syscall.Kill(pid, syscall.SIGCONT) }) //nolint:errcheck // it may have ended
			}
		}
	case "cut network":
		s.proxy.sever(true)
		time.AfterFunc(d.span, func() { s.proxy.sever(false) })
	case "kill service":
		s.Stop(syscall.SIGKILL)
		time.Sleep(d.span / 4)
		s.Launch(t)
	case "restart database":
		if s.postgres {
			storetest.Restart(t)
		}
	case "stall database":
		if !s.postgres {
			s.stall(t, d.span/2)
		}
	}
}

// stall keeps SQLite's file locked for a while, as a disk does that does not answer.
func (s *stage) stall(t *testing.T, span time.Duration) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.Data, "tas.db")+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return // it is busy enough
	}
	time.Sleep(span)
	tx.Rollback() //nolint:errcheck // nothing was done
}

// await waits until a run has ended, whatever the service answers meanwhile.
func (s *stage) await(t *testing.T, id string) map[string]any {
	t.Helper()
	var last map[string]any
	for deadline := time.Now().Add(endsWithin); time.Now().Before(deadline); {
		a, err := s.Try(http.MethodGet, "/public-api/v1/execution/status/run/"+id+"?wait=5s", nil)
		if err != nil || a.Status != http.StatusOK {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		if last = a.Body; last["isTerminal"] == true {
			return last
		}
	}
	return last
}
