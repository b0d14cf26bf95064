package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// tas is the real program, built once.
var tas = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "tas-cli")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "tas")
	if out, err := exec.Command("go", "build", "-o", path, "tas-service/cmd/tas").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build tas: %v\n%s", err, out))
	}
	return path
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	os.RemoveAll(filepath.Dir(tas())) //nolint:errcheck // a temporary folder
	os.Exit(code)
}

const (
	key   = "tas_key_of_the_fake"
	runID = "0199a0c0-0000-7000-8000-000000000001"
	test1 = "0199a0c0-0000-7000-8000-0000000000a1"
	test2 = "0199a0c0-0000-7000-8000-0000000000a2"
)

// call is one request that the fake got.
type call struct {
	method, path, body string
	header             http.Header
}

// fake is a service of recorded answers: each path answers its list in turn, the last one
// for ever.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string][]http.HandlerFunc
	calls   []call
}

func newFake(t *testing.T) *fake {
	f := &fake{answers: map[string][]http.HandlerFunc{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() { f.CloseClientConnections(); f.Close() })
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	at := r.Method + " " + r.URL.Path
	f.mu.Lock()
	f.calls = append(f.calls, call{r.Method, r.URL.RequestURI(), string(body), r.Header.Clone()})
	list := f.answers[at]
	if len(list) > 1 {
		f.answers[at] = list[1:]
	}
	f.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+key:
		problem(401, "The API key is not known. Check SERVICE_API_KEY.")(w, r)
	case len(list) == 0:
		problem(404, "There is no such thing.")(w, r)
	default:
		list[0](w, r)
	}
}

// on sets the answers of "METHOD /path".
func (f *fake) on(at string, answers ...http.HandlerFunc) *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[at] = answers
	return f
}

// to answers the requests that a path got.
func (f *fake) to(path string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []call
	for _, c := range f.calls {
		if strings.HasPrefix(c.path, path) {
			out = append(out, c)
		}
	}
	return out
}

func answer(status int, body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(body) //nolint:errcheck // the caller is gone
	}
}

func problem(status int, detail string, fields ...map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, //nolint:errcheck // see above
			"detail": detail, "requestId": "req-1", "errors": fields})
	}
}

// hangUp ends the connection without an answer, as a service that is killed.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// m is an object of JSON.
type m = map[string]any

// with answers a copy with some fields changed.
func with(base m, changes m) m {
	out := m{}
	for k, v := range base {
		out[k] = v
	}
	for k, v := range changes {
		out[k] = v
	}
	return out
}

var (
	began   = m{"runId": runID, "name": "shop-abc", "sharded": false, "shardCount": nil, "testRunUrl": "https://tas.example.com/runs/" + runID}
	running = m{"runId": runID, "name": "shop-abc", "isTerminal": false, "verdict": "pending", "phase": "running", "status": "running",
		"executedCount": 2, "totalCount": 4, "passed": 2, "failed": 0, "flaky": 0, "skipped": 0, "recovered": 0, "bug": 0,
		"shards": []m{}, "plan": nil, "warnings": []m{}, "error": nil, "createdAt": "2026-11-21T06:00:00Z", "startedAt": "2026-11-21T06:00:01Z",
		"finishedAt": nil, "durationMs": nil, "branch": "main", "commit": "abc123", "isolation": "bubblewrap", "healBatchId": nil,
		"testRunUrl": "https://tas.example.com/runs/" + runID}
	queued = with(running, m{"phase": "queued", "executedCount": 0, "totalCount": 0, "passed": 0})
	passed = with(running, m{"isTerminal": true, "verdict": "pass", "phase": "passed", "executedCount": 4, "passed": 4,
		"finishedAt": "2026-11-21T06:01:05Z", "durationMs": 65000})
	failed = with(passed, m{"verdict": "fail", "phase": "failed", "passed": 1, "failed": 1, "flaky": 1, "skipped": 1})
	tooOld = with(running, m{"warnings": []m{{"code": "runner-too-old", "message": "The branch has tas-runner 4.3.0; shards need 4.4.0 or later."}}})

	good  = result(test1, "adds an item", "passed", nil)
	wrong = result(test2, "counts the total", "failed", m{"message": "Error: expect(received).toBe(expected)\n\nExpected: 3\nReceived: 2", "stack": "Error: expect\n    at /x.ts:12:3",
		"snippet": "> 12 | expect(total).toBe(3)", "code": "assertion", "location": m{"file": "tests/cart.spec.ts", "line": 12, "column": 3}})
	shaky = with(result(test2, "sometimes <works> & \"not\"", "flaky", nil), m{"retries": 1, "attempts": []m{
		{"status": "failed", "durationMs": 500, "startedAt": "2026-11-21T06:00:02Z", "error": m{"message": "Error: late"}},
		{"status": "passed", "durationMs": 700, "startedAt": "2026-11-21T06:00:03Z", "error": nil}}})
	left = with(result(test1, "is left out", "skipped", nil), m{"file": "tests/pay.spec.ts", "durationMs": 0, "attempts": []m{}})
)

func result(id, title, status string, err any) m {
	if e, ok := err.(m); ok && e == nil {
		err = nil
	}
	return m{"serviceTestId": id, "title": title, "titlePath": []string{"cart", title}, "file": "tests/cart.spec.ts", "line": 10, "browser": "chromium",
		"status": status, "durationMs": 1200, "retries": 0, "attempts": []m{{"status": status, "durationMs": 1200, "startedAt": "2026-11-21T06:00:02Z", "error": err}},
		"error": err, "verdict": nil, "bugKey": nil, "owner": nil, "tags": []string{}, "attachmentsUrl": "/a"}
}

const (
	suitePath   = "/public-api/v1/execution/suite"
	testsPath   = "/public-api/v1/execution/tests"
	grepPath    = "/public-api/v2/execution/grep"
	statusPath  = "/public-api/v1/execution/status/run/" + runID
	resultsPath = "/public-api/v1/test-runs/" + runID + "/results"
	reportPath  = "/public-api/v1/test-runs/" + runID + "/report"
)

// plays sets everything of a run that goes through these states.
func (f *fake) plays(results []m, states ...m) *fake {
	var list []http.HandlerFunc
	for _, s := range states {
		list = append(list, answer(200, s))
	}
	f.on("GET "+statusPath, list...)
	for _, p := range []string{suitePath, testsPath, grepPath} {
		f.on("POST "+p, answer(201, began))
	}
	f.on("GET "+reportPath, answer(200, m{"url": "https://content.example.com/r/index.html?sig=1", "expiresAt": "2026-11-22T06:00:00Z"}))
	f.on("GET "+resultsPath, func(w http.ResponseWriter, r *http.Request) {
		out := []m{}
		for _, x := range results {
			if q := r.URL.Query().Get("status"); q == "" || strings.Contains(q, x["status"].(string)) {
				out = append(out, x)
			}
		}
		answer(200, m{"results": out, "nextCursor": nil})(w, r)
	})
	return f
}

// said is what a program left.
type said struct {
	out, err string
	code     int
}

// environment is that of every call: nothing of the machine's own shows.
func environment(f *fake, more ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "SERVICE_API_KEY=" + key}
	if f != nil {
		env = append(env, "SERVICE_BASE_URL="+f.URL)
	}
	return append(env, more...)
}

// run calls the program to its end.
func run(t *testing.T, env []string, args ...string) said {
	t.Helper()
	cmd := exec.Command(tas(), args...)
	cmd.Env = env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// golden compares with a recorded file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test ./internal/cli -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./internal/cli -update writes it anew, look at the difference then.\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}
