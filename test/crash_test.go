package test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tas-service/test/harness"
)

// gate is where runs wait until a test lets them go: at GET /NAME, and at the git
// repository that it serves below /git while the name "git" is shut.
type gate struct {
	*httptest.Server
	mu    sync.Mutex
	doors map[string]*door
}

type door struct {
	arrived, open chan struct{}
	once          sync.Once
}

func newGate(t *testing.T, repo *harness.Repo) *gate {
	t.Helper()
	g := &gate{doors: map[string]*door{}}
	backend := newGitServer(t, repo, "token").Config.Handler
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if d := g.door(name, false); d != nil {
			d.once.Do(func() { close(d.arrived) })
			<-d.open
		}
		if name == "git" {
			r.URL.Path = "/" + path
			r.SetBasicAuth("x-access-token", "token")
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gate) door(name string, shut bool) *door {
	g.mu.Lock()
	defer g.mu.Unlock()
	if shut {
		g.doors[name] = &door{arrived: make(chan struct{}), open: make(chan struct{})}
	}
	return g.doors[name]
}

// release lets everybody through from now on.
func (g *gate) release(name string) {
	d := g.door(name, false)
	g.mu.Lock()
	delete(g.doors, name)
	g.mu.Unlock()
	close(d.open)
}

// gated is a suite of two tests that calls at the gate where the variable HOLD says:
// "test", while a test runs, or "end", when all tests are through.
func gated(url string) map[string]string {
	call := "await fetch('" + url + "/' + process.env.HOLD);"
	return map[string]string{
		"playwright.config.ts": config("globalTeardown: './down.ts',"),
		"down.ts":              "export default async () => { if (process.env.HOLD === 'end') " + call + " };\n",
		"tests/sum.spec.ts":    harness.Test("adds"),
		"tests/gate.spec.ts":   spec("test.setTimeout(0); spawn('sh', ['-c', 'sleep 600; : " + marker + "-crash'], { detached: true, stdio: 'ignore' }).unref(); if (process.env.HOLD === 'test') " + call),
	}
}

// crash is a service with its gate. Its runs are served one at a time.
type crash struct {
	*harness.Process
	gate *gate
}

const oneAtATime = "TAS_MAX_ATTEMPTS=1"

func newCrash(t *testing.T) *crash {
	t.Helper()
	p := harness.StartProcess(t, nil, oneAtATime)
	g := newGate(t, p.Repo)
	p.Repo.Commit(t, "Wait at the gate", gated(g.URL))
	cmd := exec.Command(harness.Binary(), "project", "set", p.ProjectID, "--repo", g.URL+"/git/.git", "--data-dir", p.Data)
	cmd.Env = p.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("set the repository: %v\n%s", err, out)
	}
	return &crash{Process: p, gate: g}
}

func (c *crash) begin(t *testing.T, hold string) string {
	t.Helper()
	return c.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": ".", "envOverrides": map[string]string{"HOLD": hold}})
}

// hold begins a run and answers when it has come to a door: "git" while it prepares,
// "test" while it runs, "end" when all tests have ended.
func (c *crash) hold(t *testing.T, at string) string {
	t.Helper()
	d := c.gate.door(at, true)
	id := c.begin(t, at)
	<-d.arrived
	return id
}

// attempt answers the process ID of the worker.
func (c *crash) attempt(t *testing.T) int {
	t.Helper()
	pids := withArgument("--work\x00" + c.Data + "/work\x00")
	if len(pids) != 1 {
		t.Fatalf("these are the workers: %v", pids)
	}
	return atoi(t, pids[0])
}

func (c *crash) killAttempt(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(c.attempt(t), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// clean fails the test unless nothing of any sandbox is left.
func (c *crash) clean(t *testing.T) {
	t.Helper()
	gone(t, c.Data+"/work/runs/")
	gone(t, marker+"-crash")
}

// TestServiceCrash ends the service while a run is in each phase. Workers live on and
// find the next service, so every run passes as if nothing had happened.
func TestServiceCrash(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		for _, phase := range []string{"git", "test", "end"} {
			t.Run(fmt.Sprintf("%v at %s", sig, phase), func(t *testing.T) {
				id := c.hold(t, phase)
				queued := c.begin(t, "")
				c.Stop(sig)
				c.gate.release(phase)
				if phase == "end" { // it uploads to nobody now
					gone(t, c.Data+"/work/runs/")
				}
				c.Launch(t, oneAtATime)
				for _, id := range []string{id, queued} {
					st := c.Wait(t, id)
					harness.Ledger(t, st)
					if st["verdict"] != "pass" || st["passed"] != 2.0 {
						t.Errorf("status: %v", st)
					}
				}
				c.clean(t)
			})
		}
	}
	t.Run("interrupt ends attempts too", func(t *testing.T) {
		id := c.hold(t, "test")
		c.Stop(os.Interrupt)
		c.clean(t)
		c.gate.release("test")
		c.Launch(t, oneAtATime)
		wantError(t, c.Wait(t, id), "worker-stopped", "stopped")
	})
	t.Run("the worker dies while there is no service", func(t *testing.T) {
		id := c.hold(t, "test")
		c.Stop(syscall.SIGKILL)
		c.killAttempt(t)
		c.Launch(t, oneAtATime)
		wantError(t, c.Wait(t, id), "worker-lost", "not running")
		c.gate.release("test")
		c.clean(t)
	})
}

// TestWorkerCrash kills the worker in each phase: the run says so, and nothing of its
// sandbox survives.
func TestWorkerCrash(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	for _, k := range []struct {
		phase         string
		total, passed float64
		serviceIsGone bool
	}{
		{phase: "git"},
		{phase: "test", total: 2},
		{phase: "end", total: 2, passed: 2},
		{phase: "end", total: 2, passed: 2, serviceIsGone: true}, // while it uploads
	} {
		t.Run(fmt.Sprintf("%s, service gone: %v", k.phase, k.serviceIsGone), func(t *testing.T) {
			id := c.hold(t, k.phase)
			if k.passed > 0 {
				c.Until(t, id, func(st map[string]any) bool { return st["passed"] == k.passed })
			}
			if k.serviceIsGone {
				c.Stop(syscall.SIGKILL)
				c.gate.release(k.phase)
				gone(t, c.Data+"/work/runs/")
			}
			c.killAttempt(t)
			if k.serviceIsGone {
				c.Launch(t, oneAtATime)
			} else {
				defer c.gate.release(k.phase)
			}
			st := c.Wait(t, id)
			wantError(t, st, "worker-lost", "without reporting")
			if st["totalCount"] != k.total || k.passed > 0 && st["passed"] != k.passed {
				t.Errorf("status: %v", st)
			}
			c.clean(t)
		})
	}
	t.Run("and the next run is as ever", func(t *testing.T) {
		if st := c.Wait(t, c.begin(t, "")); st["verdict"] != "pass" {
			t.Errorf("status: %v", st)
		}
	})
}
