package test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tas-service/test/harness"
)

// said is what one call of the command line came to.
type said struct {
	out, err string
	code     int
}

// document decodes what --json printed.
func (s said) document(t *testing.T) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(s.out), &doc); err != nil {
		t.Fatalf("no document (%v): %s%s", err, s.out, s.err)
	}
	return doc
}

// command prepares tas as a pipeline would call it.
func command(s *harness.System, args ...string) *exec.Cmd {
	cmd := exec.Command(harness.Binary(), args...)
	cmd.Env = append(os.Environ(), "SERVICE_BASE_URL="+s.URL, "SERVICE_API_KEY="+s.Key, "NO_COLOR=1", "CI=true")
	return cmd
}

// tas calls the command line and answers what it said.
func tas(t *testing.T, s *harness.System, args ...string) said {
	t.Helper()
	cmd := command(s, args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run() //nolint:errcheck // its code is what is looked at
	return said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// TestCommandLine does a pipeline's work with the command line alone.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Config: fourAtOnce, Files: map[string]string{
		"tests/one.spec.ts": waiting("", 50, 60), "tests/two.spec.ts": waiting("", 70),
		"tests/bad.spec.ts": "import { test, expect } from '@playwright/test';\ntest('adds up', () => { expect(1 + 1).toBe(3); });\n",
	}})
	if got := tas(t, s, "me"); got.code != 0 || !strings.Contains(got.out, "Case") {
		t.Errorf("me: %+v", got)
	}
	junit := filepath.Join(t.TempDir(), "junit.xml")
	red := tas(t, s, "run", "--shards", "2", "--reporter", "junit="+junit)
	for _, want := range []string{"✗ adds up", "Expected: 3", "FAIL  3 passed, 1 failed of 4", "shard 1 ", "shard 2 ", "Report  http"} {
		if !strings.Contains(red.out, want) {
			t.Errorf("a red run does not say %q: %+v", want, red)
		}
	}
	if red.code != 1 {
		t.Errorf("a red run ends with %d", red.code)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if text, err := os.ReadFile(junit); err != nil || xml.Unmarshal(text, &suites) != nil || suites.Tests != 4 || suites.Failures != 1 {
		t.Errorf("JUnit: %+v, %v", suites, err)
	}

	doc := tas(t, s, "run", "--grep", "waits", "--json")
	green := doc.document(t)
	if doc.code != 0 || green["verdict"] != "pass" || green["passed"] != 3.0 || green["exitCode"] != 0.0 {
		t.Errorf("a green run: %d %v", doc.code, green)
	}
	id := green["runId"].(string)
	if got := tas(t, s, "status", id); got.code != 0 || !strings.Contains(got.out, "PASS") {
		t.Errorf("status: %+v", got)
	}
	if got := tas(t, s, "results", id, "--status", "failed"); got.code != 0 || strings.Contains(got.out, "waits") {
		t.Errorf("results: %+v", got)
	}
	if got := tas(t, s, "report", id); got.code != 0 || !strings.HasPrefix(got.out, "http") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("report: %+v", got)
	}

	list := tas(t, s, "tests", "--query", "two.spec")
	one := strings.Fields(list.out)
	if list.code != 0 || strings.Count(list.out, "\n") != 1 {
		t.Fatalf("tests: %+v", list)
	}
	for _, args := range [][]string{{"--test", one[0]}, {"--test", one[0], "--env", "COLOUR=red", "--branch", "main"}} {
		if got := tas(t, s, append([]string{"run", "--json"}, args...)...); got.code != 0 || got.document(t)["totalCount"] != 1.0 {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := tas(t, s, "run", "--all", "--env", "COLOUR=red", "--json"); got.code != 1 || got.document(t)["totalCount"] != 4.0 {
		t.Errorf("everything with a variable: %+v", got)
	}
	s.Call(t, "POST", v1Root+"/collections", map[string]any{"name": "Sums", "rule": map[string]any{"title": "adds"}})
	if got := tas(t, s, "collections"); got.code != 0 || !strings.Contains(got.out, "Sums  1 test") {
		t.Errorf("collections: %+v", got)
	}
	sums := tas(t, s, "run", "--collection", "Sums", "--json").document(t)
	if sums["totalCount"] != 1.0 || sums["failed"] != 1.0 {
		t.Errorf("a collection: %v", sums)
	}
	if got := tas(t, s, "run", "--collection", "Nothing"); got.code != 2 || !strings.Contains(got.err, "Nothing") {
		t.Errorf("an unknown collection: %+v", got)
	}
	if got := tas(t, s, "bugs"); got.code != 0 || !strings.HasPrefix(got.out, "BUG-1 ") || !strings.Contains(got.out, "needs-triage") {
		t.Errorf("bugs: %+v", got)
	}
	adds := strings.Fields(tas(t, s, "tests", "--query", "adds up").out)[0]
	run := sums["runId"].(string)
	if got := tas(t, s, "verdict", run, "bug", adds, "--severity", "critical", "--comment", "wrong sum"); got.code != 0 || !strings.Contains(got.out, "1 test judged. The run's verdict is FAIL: 0 passed, 1 bug") {
		t.Errorf("a bug: %+v", got)
	}
	if got := tas(t, s, "bugs", "--status", "confirmed", "--severity", "critical", "--test", adds, "--json").document(t); len(got["bugs"].([]any)) != 1 {
		t.Errorf("the bug is not confirmed: %v", got)
	}
	if got := tas(t, s, "verdict", run, "passed", adds); got.code != 0 || !strings.Contains(got.out, "PASS") {
		t.Errorf("passed: %+v", got)
	}
	if got := tas(t, s, "verdict", run, "passed", unknown); got.code != 2 {
		t.Errorf("another test: %+v", got)
	}
	if got := tas(t, s, "run", "--branch", "nowhere"); got.code != 1 || !strings.Contains(got.out, "nowhere") {
		t.Errorf("a branch that does not exist: %+v", got)
	}
	if got := tas(t, s, "run", "--test", unknown); got.code != 2 || !strings.Contains(got.err, unknown) {
		t.Errorf("an unknown test: %+v", got)
	}
	other := *s
	other.Key = "tas_wrong"
	if got := tas(t, &other, "me"); got.code != 3 {
		t.Errorf("a wrong key: %+v", got)
	}
}

// TestCommandLineOutlivesService waits for a verdict over the service's end and return.
func TestCommandLineOutlivesService(t *testing.T) {
	p := harness.StartProcess(t, map[string]string{"tests/one.spec.ts": waiting("", 1500, 1500, 1500), "tests/two.spec.ts": waiting("", 1500, 1500, 1500)}, "TAS_MAX_ATTEMPTS=2")
	cmd := command(p.System, "run", "--shards", "2", "--json")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var runs []any
	for len(runs) == 0 {
		runs = p.Call(t, "GET", "/public-api/v1/test-runs", nil).Body["testRuns"].([]any)
	}
	id := runs[0].(map[string]any)["id"].(string)
	p.Until(t, id, func(st map[string]any) bool { return st["executedCount"].(float64) > 0 })
	p.Stop(syscall.SIGKILL)
	p.Launch(t)
	cmd.Wait() //nolint:errcheck // its code is what is looked at
	doc := said{out: out.String()}.document(t)
	if cmd.ProcessState.ExitCode() != 0 || doc["runId"] != id || doc["passed"] != 6.0 {
		t.Errorf("%d: %s", cmd.ProcessState.ExitCode(), out.String())
	}
}

// TestInitRepository makes a repository one that TAS runs without a warning.
func TestInitRepository(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: map[string]string{"tests/one.spec.ts": waiting("", 10)}})
	if st := s.Suite(t); !strings.Contains(fmt.Sprint(st["warnings"]), "runner-missing") {
		t.Errorf("before: %v", st["warnings"])
	}
	if got := tas(t, s, "init", s.Repo.Dir); got.code != 0 {
		t.Fatalf("init: %+v", got)
	}
	lock, err := os.ReadFile(filepath.Join(s.Repo.Dir, "package-lock.json"))
	if err != nil || !strings.Contains(string(lock), s.URL+"/runner/tas-runner") {
		t.Errorf("tas-runner is not locked: %v", err)
	}
	s.Repo.Commit(t, "init", nil)
	if st := s.Suite(t); st["verdict"] != "pass" || strings.Contains(fmt.Sprint(st["warnings"]), "runner-missing") {
		t.Errorf("after: %v", st)
	}
}
