// Package harness runs the whole system for tests: a real service on a free port with a
// real database, real workers, real git repositories, real Playwright in real Chromium.
package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tas-service/internal/project"
	"tas-service/internal/server"
	"tas-service/internal/store/storetest"
)

// Binary builds the tas binary once for all tests of a process and answers its path.
var Binary = sync.OnceValue(func() string {
	path := filepath.Join(Root(), "bin", "tas-test")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/tas")
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build tas: %v\n%s", err, out))
	}
	return path
})

// Root answers the root of the source tree.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// System is a running service with one project and its tests repository.
type System struct {
	URL       string
	Key       string
	ProjectID string
	Repo      *Repo
	Data      string
	Server    *server.Server // nil when it runs as a process of its own
}

// Options change what Start starts.
type Options struct {
	Config  func(*server.Config)
	Project func(*project.Project)
	Files   map[string]string // of the default branch, beside package.json and the lockfile
	Log     io.Writer         // gets all of the service's log; default: warnings, when verbose
}

// Start runs a service inside the test's process until the test ends.
func Start(t testing.TB, o Options) *System {
	t.Helper()
	data := dataDir(t)
	repo := NewRepo(t, o.Files)
	cfg := server.Config{Addr: "127.0.0.1:0", DataDir: data, Program: []string{Binary()}, MaxAttempts: 2, DatabaseURL: database(t)}
	if o.Config != nil {
		o.Config(&cfg)
	}
	log := slog.New(slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if o.Log != nil {
		log = slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	ctx, cancel := context.WithCancel(context.Background())
	s, err := server.New(ctx, cfg, log)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	p := project.Project{Name: "Case", Repository: project.Repository{URL: repo.URL()}}
	if o.Project != nil {
		o.Project(&p)
	}
	p, key, err := s.Store().CreateProject(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, func() bool { return true }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the service ended with an error: %v", err)
		}
	})
	return &System{URL: s.BaseURL(), Key: key, ProjectID: p.ID, Repo: repo, Data: cfg.DataDir, Server: s}
}

// database answers where records are kept: in a new PostgreSQL database when
// TAS_TEST_DATABASE says "postgres", else in the default, "".
func database(t testing.TB) string {
	t.Helper()
	if os.Getenv("TAS_TEST_DATABASE") != "postgres" {
		return ""
	}
	return storetest.Database(t)
}

// Another creates one more project and answers the system as its key sees it.
func (s *System) Another(t testing.TB, p project.Project) *System {
	t.Helper()
	p, key, err := s.Server.Store().CreateProject(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	other := *s
	other.Key, other.ProjectID = key, p.ID
	return &other
}

// dataDir answers a folder that other users get through, as the service's own default is.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// logTo sends the service's warnings to the test's log, which is shown when it fails.
type logTo struct{ t testing.TB }

func (l logTo) Write(p []byte) (int, error) {
	fmt.Fprint(os.Stderr, "") // the test may be over: t.Log would panic
	if !l.t.Failed() && testing.Verbose() {
		os.Stderr.Write(p) //nolint:errcheck // a log
	}
	return len(p), nil
}

// Answer is an HTTP answer with its JSON body.
type Answer struct {
	Status int
	Header http.Header
	Body   map[string]any
	Text   string

	Forbidden error // the API's document does not have this answer
}

// Call sends a request with the project's key and holds the answer to the API's document; body may be nil, a string (sent as it
// is) or a value (sent as JSON). Headers come in pairs and win over the defaults.
func (s *System) Call(t testing.TB, method, path string, body any, headers ...string) Answer {
	t.Helper()
	a, err := s.Try(method, path, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	hold(t, a.Forbidden)
	return a
}

// Try is Call for a service that may not answer.
func (s *System) Try(method, path string, body any, headers ...string) (Answer, error) {
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return Answer{}, err
		}
		r = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, s.URL+path, r)
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Text: string(text)}
	if resp.Header.Get("Content-Encoding") == "" {
		a.Forbidden = Allowed(req, resp.StatusCode, resp.Header, text)
	}
	json.Unmarshal(text, &a.Body) //nolint:errcheck // not every answer is JSON
	return a, nil
}

// Suite starts a run of the default branch's whole suite and waits for its end.
func (s *System) Suite(t testing.TB) map[string]any {
	t.Helper()
	return s.Wait(t, s.Begin(t, "/public-api/v1/execution/suite", nil))
}

// Branch commits files on a new branch, runs all of its tests and waits for the end.
func (s *System) Branch(t testing.TB, branch string, files map[string]string) map[string]any {
	t.Helper()
	s.Repo.Branch(t, branch, files)
	return s.Wait(t, s.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": ".", "branch": branch}))
}

// Begin starts a run and answers its ID.
func (s *System) Begin(t testing.TB, path string, body any) string {
	t.Helper()
	a := s.Call(t, http.MethodPost, path, body)
	if a.Status != http.StatusCreated {
		t.Fatalf("POST %s: %d %s", path, a.Status, a.Text)
	}
	return a.Body["runId"].(string)
}

// Wait polls a run until it is terminal and answers its status.
func (s *System) Wait(t testing.TB, runID string) map[string]any {
	t.Helper()
	return s.Until(t, runID, func(st map[string]any) bool { return st["isTerminal"] == true })
}

// Until polls a run until its status is as wanted. It gives up after four minutes.
func (s *System) Until(t testing.TB, runID string, wanted func(map[string]any) bool) map[string]any {
	t.Helper()
	deadline := time.Now().Add(4 * time.Minute)
	for wait := "0s"; ; wait = "20s" {
		st := s.Status(t, runID, wait)
		if wanted(st) {
			return st
		}
		if time.Now().After(deadline) || st["isTerminal"] == true {
			t.Fatalf("the run did not get there: %v", st)
		}
	}
}

// Status answers a run's status.
func (s *System) Status(t testing.TB, runID, wait string) map[string]any {
	t.Helper()
	a := s.Call(t, http.MethodGet, "/public-api/v1/execution/status/run/"+runID+"?wait="+wait, nil)
	if a.Status != http.StatusOK {
		t.Fatalf("status of %s: %d %s", runID, a.Status, a.Text)
	}
	return a.Body
}

// Results answers every result of a run by "file › title path [browser]".
func (s *System) Results(t testing.TB, runID string) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	cursor := ""
	for {
		a := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+runID+"/results?limit=200"+cursor, nil)
		if a.Status != http.StatusOK {
			t.Fatalf("results of %s: %d %s", runID, a.Status, a.Text)
		}
		for _, r := range a.Body["results"].([]any) {
			m := r.(map[string]any)
			var path []string
			for _, p := range m["titlePath"].([]any) {
				path = append(path, p.(string))
			}
			key := fmt.Sprintf("%s › %s", m["file"], strings.Join(path, " › "))
			if b := m["browser"].(string); b != "" {
				key += " [" + b + "]"
			}
			if out[key] != nil {
				t.Errorf("two results are called %q", key)
			}
			out[key] = m
		}
		next, ok := a.Body["nextCursor"].(string)
		if !ok {
			return out
		}
		cursor = "&cursor=" + next
	}
}

// Ledger fails the test unless the counts of a terminal run add up to its total.
func Ledger(t testing.TB, st map[string]any) {
	t.Helper()
	sum := 0.0
	for _, k := range []string{"passed", "failed", "flaky", "skipped", "recovered", "bug"} {
		sum += st[k].(float64)
	}
	if sum != st["totalCount"].(float64) || st["executedCount"] != st["totalCount"] {
		t.Errorf("the counts do not add up: %v", st)
	}
}

// ErrorCode answers the code of a run's own error, "" for none.
func ErrorCode(st map[string]any) string {
	e, ok := st["error"].(map[string]any)
	if !ok {
		return ""
	}
	return e["code"].(string)
}

// Process is a service that runs as a process of its own, to be killed and started again.
type Process struct {
	*System
	cmd *exec.Cmd
	env []string
}

// StartProcess runs `tas serve` on a free port, the same one after every restart.
func StartProcess(t testing.TB, files map[string]string, env ...string) *Process {
	t.Helper()
	data := dataDir(t)
	repo := NewRepo(t, files)
	p := &Process{System: &System{URL: "http://" + freeAddr(t), Repo: repo, Data: data}}
	if at := database(t); at != "" {
		env = append(env, "TAS_DATABASE_URL="+at)
	}
	p.env = env
	create := exec.Command(Binary(), "project", "create", "Case", "--data-dir", data, "--repo", repo.URL())
	create.Env = p.Environ()
	out, err := create.CombinedOutput()
	if err != nil {
		t.Fatalf("create the project: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "key" {
			p.Key = f[1]
		} else if len(f) == 2 && f[0] == "project" {
			p.ProjectID = f[1]
		}
	}
	p.Launch(t)
	t.Cleanup(func() { p.Stop(os.Interrupt) })
	return p
}

// Environ answers the environment for commands on this service's data.
func (p *Process) Environ() []string { return append(os.Environ(), p.env...) }

// Beside runs another service on the database of the first, with a data folder of its own.
func (p *Process) Beside(t testing.TB) *Process {
	t.Helper()
	other := &Process{System: &System{URL: "http://" + freeAddr(t), Repo: p.Repo, Data: dataDir(t), Key: p.Key, ProjectID: p.ProjectID},
		env: append(p.env, "TAS_MASTER_KEY_FILE="+filepath.Join(p.Data, "master.key"))}
	other.Launch(t)
	t.Cleanup(func() { other.Stop(os.Interrupt) })
	return other
}

// Launch starts the service, with these settings beside its own, and waits until it is ready.
func (p *Process) Launch(t testing.TB, env ...string) {
	t.Helper()
	p.cmd = exec.Command(Binary(), "serve")
	p.cmd.Env = append(os.Environ(), "TAS_DATA_DIR="+p.Data, "TAS_ADDR="+strings.TrimPrefix(p.URL, "http://"))
	p.cmd.Env = append(append(p.cmd.Env, p.env...), env...)
	if testing.Verbose() {
		p.cmd.Stderr = os.Stderr
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		resp, err := http.Get(p.URL + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the service is not ready: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Stop sends a signal and waits for the process to end.
func (p *Process) Stop(sig os.Signal) {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Signal(sig) //nolint:errcheck // it may have ended
	if err := p.cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		panic(err)
	}
	p.cmd = nil
}
