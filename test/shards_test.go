package test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tas-service/internal/server"
	"tas-service/runner"
	"tas-service/test/harness"
)

// waiting answers a test file whose tests wait for so long each, in milliseconds.
func waiting(mode string, ms ...int) string {
	var b strings.Builder
	b.WriteString("import { test, expect } from '@playwright/test';\n")
	if mode != "" {
		fmt.Fprintf(&b, "test.describe.configure({ mode: '%s' });\n", mode)
	}
	for i, n := range ms {
		fmt.Fprintf(&b, "test('waits %d', async () => { await new Promise(r => setTimeout(r, %d)); expect(1).toBe(1); });\n", i, n)
	}
	return b.String()
}

func fourAtOnce(c *server.Config) { c.MaxAttempts = 4 }

// TestShards splits a run into shards: every test has one result, and the report is one.
func TestShards(t *testing.T) {
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("tests/file%d.spec.ts", i)] = waiting("", 100, 100)
	}
	files["tests/parallel.spec.ts"] = waiting("parallel", 50, 50, 50, 50)
	files["tests/serial.spec.ts"] = waiting("serial", 50, 50)
	s := harness.Start(t, harness.Options{Files: files, Config: fourAtOnce})
	a := s.Call(t, "POST", "/public-api/v1/execution/suite", map[string]any{"shardCount": 3})
	if a.Status != 201 || a.Body["sharded"] != true || a.Body["name"] != nil || a.Body["shardCount"] != 3.0 {
		t.Fatalf("start: %s", a.Text)
	}
	st := s.Wait(t, a.Body["runId"].(string))
	harness.Ledger(t, st)
	if st["verdict"] != "pass" || st["passed"] != 18.0 || st["totalCount"] != 18.0 {
		t.Fatalf("status: %v", st)
	}
	shards, given := st["shards"].([]any), 0.0
	for _, x := range shards {
		x := x.(map[string]any)
		given += x["totalCount"].(float64)
		if x["phase"] != "finished" || x["lost"] != false || x["executedCount"] != x["totalCount"] {
			t.Errorf("shard: %v", x)
		}
	}
	if len(shards) != 3 || given != 18 {
		t.Errorf("shards: %v", shards)
	}
}

// TestShardIsKilled kills the worker of a shard while the run is under way: what it held
// is executed by others, and no test is missing or counted twice.
func TestShardIsKilled(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("tests/file%d.spec.ts", i)] = waiting("", 400, 400)
	}
	s := harness.Start(t, harness.Options{Files: files, Config: fourAtOnce})
	id := s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 3})
	s.Until(t, id, func(st map[string]any) bool {
		for _, x := range st["shards"].([]any) {
			if x.(map[string]any)["totalCount"] == 0.0 {
				return false
			}
		}
		return st["phase"] == "running"
	})
	workers := withArgument("--work\x00" + s.Data + "/work\x00")
	if len(workers) != 3 {
		t.Fatalf("workers: %v", workers)
	}
	if err := syscall.Kill(atoi(t, workers[1]), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	st := s.Wait(t, id)
	harness.Ledger(t, st)
	if st["verdict"] != "pass" || st["passed"] != 16.0 {
		t.Fatalf("status: %v", st)
	}
	if rs := s.Results(t, id); len(rs) != 16 {
		t.Errorf("%d results", len(rs))
	}
}

// TestShardKillers holds a test that kills its worker each time to its own failure: it
// fails as shard-lost, and every other test has its result.
func TestShardKillers(t *testing.T) {
	files := map[string]string{"tests/killer.spec.ts": "import { test } from '@playwright/test';\n" +
		"test('kills', async () => { process.kill(process.ppid, 'SIGKILL'); await new Promise(r => setTimeout(r, 60_000)); });\n"}
	for i := range 4 {
		files[fmt.Sprintf("tests/file%d.spec.ts", i)] = waiting("", 50, 50)
	}
	s := harness.Start(t, harness.Options{Files: files, Config: fourAtOnce})
	st := s.Wait(t, s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 2}))
	harness.Ledger(t, st)
	if st["verdict"] != "fail" || st["phase"] != "failed" || st["failed"] != 1.0 || st["passed"] != 8.0 {
		t.Fatalf("status: %v", st)
	}
	e := s.Results(t, st["runId"].(string))["tests/killer.spec.ts › kills [chromium]"]["error"].(map[string]any)
	if e["code"] != "shard-lost" {
		t.Errorf("error: %v", e)
	}
}

// withRunner answers a package with tas-runner installed in this version: the real one
// for "", else one that is nothing but a name and a number.
func withRunner(t *testing.T, version string) map[string]string {
	t.Helper()
	var tarball bytes.Buffer
	if version == "" {
		if err := runner.WriteTarball(&tarball); err != nil {
			t.Fatal(err)
		}
	} else {
		manifest := fmt.Sprintf(`{"name": "tas-runner", "version": %q}`, version)
		z := gzip.NewWriter(&tarball)
		w := tar.NewWriter(z)
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(manifest))}),
			second(w.Write([]byte(manifest))), w.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	manifest := `{"name": "case", "version": "1.0.0", "private": true, "devDependencies": {"@playwright/test": "` + harness.PlaywrightVersion + `", "tas-runner": "file:runner.tgz"}}`
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o644), os.WriteFile(filepath.Join(dir, "runner.tgz"), tarball.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v\n%s", err, out)
	}
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"package.json": manifest, "package-lock.json": string(lock), "runner.tgz": tarball.String(), "tests/a.spec.ts": waiting("", 50, 50), "tests/b.spec.ts": waiting("", 50, 50)}
}

func second[T any](_ T, err error) error { return err }

func warns(st map[string]any, code string) bool {
	for _, w := range st["warnings"].([]any) {
		if w.(map[string]any)["code"] == code {
			return true
		}
	}
	return false
}

// TestRunnerTooOld leaves a sharded run without a verdict when the branch's tas-runner
// cannot merge: its tests run, it stays running, and says why. It keeps no place.
func TestRunnerTooOld(t *testing.T) {
	s := harness.Start(t, harness.Options{Files: withRunner(t, "4.3.9"), Config: func(c *server.Config) { c.MaxAttempts = 2 }})
	id := s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 2, "autoHeal": map[string]any{}})
	st := s.Until(t, id, func(st map[string]any) bool { return warns(st, "runner-too-old") })
	if st["phase"] != "running" || st["isTerminal"] != false || st["verdict"] != "pending" || st["executedCount"] != 4.0 || st["healBatchId"] != nil {
		t.Errorf("status: %v", st)
	}
	for _, w := range st["warnings"].([]any) {
		if w := w.(map[string]any); w["code"] == "runner-too-old" && (!strings.Contains(w["message"].(string), "4.3.9") || !strings.Contains(w["message"].(string), "4.4.0")) {
			t.Errorf("the warning is %v", w)
		}
	}
	// In one piece the same branch has its verdict, and nothing stands in its way.
	if st := s.Suite(t); st["verdict"] != "pass" {
		t.Errorf("in one piece: %v", st)
	}
	if st := s.Status(t, id, ""); st["phase"] != "running" || st["verdict"] != "pending" {
		t.Errorf("later: %v", st)
	}
}

// TestOwnRunnerMerges merges with the tas-runner that the branch itself has.
func TestOwnRunnerMerges(t *testing.T) {
	s := harness.Start(t, harness.Options{Files: withRunner(t, ""), Config: fourAtOnce})
	st := s.Wait(t, s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 2}))
	if st["verdict"] != "pass" || warns(st, "runner-missing") || warns(st, "report-missing") {
		t.Errorf("status: %v", st)
	}
	if a := s.Call(t, "GET", "/public-api/v1/test-runs/"+st["runId"].(string)+"/report", nil); a.Status != 200 {
		t.Errorf("report: %s", a.Text)
	}
}

// TestShardsOf holds sharded runs to what holds for others too.
func TestShardsOf(t *testing.T) {
	s := harness.Start(t, harness.Options{Config: fourAtOnce, Files: map[string]string{
		"playwright.config.ts": `import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: './tests', retries: 1, projects: [
  { name: 'setup', testMatch: /.*\.setup\.ts/, teardown: 'down' }, { name: 'down', testMatch: /.*\.down\.ts/ },
  { name: 'first', testMatch: /first.*\.spec\.ts/ },
  { name: 'then', testMatch: /then.*\.spec\.ts/, dependencies: ['setup'] }] });
`,
		"tests/all.setup.ts":   "import { test } from '@playwright/test';\ntest('set up', async () => { if (process.env.BREAK === 'setup') throw new Error('broken on purpose'); });\n",
		"tests/all.down.ts":    "import { test } from '@playwright/test';\ntest('tear down', async () => {});\n",
		"tests/first1.spec.ts": waiting("", 50, 50), "tests/first2.spec.ts": waiting("parallel", 50, 50, 50),
		"tests/then1.spec.ts": waiting("serial", 50, 50), "tests/then2.spec.ts": waiting("", 50) +
			"test('flaky', async ({}, info) => { expect(info.retry).toBe(1); });\ntest('fails', async () => { if (process.env.BREAK === 'test') expect(1).toBe(2); });\n",
	}})
	begin := func(body map[string]any) map[string]any {
		body["shardCount"] = 3
		st := s.Wait(t, s.Begin(t, "/public-api/v2/execution/grep", body))
		harness.Ledger(t, st)
		return st
	}
	env := func(what string) map[string]string { return map[string]string{"BREAK": what} }
	if st := begin(map[string]any{"grep": "."}); st["verdict"] != "pass" || st["totalCount"] != 12.0 || st["flaky"] != 1.0 {
		t.Errorf("projects that depend on set-up: %v", st)
	}
	if st := begin(map[string]any{"grep": ".", "envOverrides": env("test")}); st["verdict"] != "fail" || st["failed"] != 1.0 || st["passed"] != 10.0 || st["flaky"] != 1.0 {
		t.Errorf("a test fails: %v", st)
	}
	if st := begin(map[string]any{"grep": ".", "envOverrides": env("setup")}); st["verdict"] != "fail" || st["failed"] != 1.0 || st["passed"] != 6.0 || st["skipped"] != 5.0 {
		t.Errorf("set-up fails: %v", st)
	}
	if st := begin(map[string]any{"grep": "set up"}); st["verdict"] != "pass" || st["totalCount"] != 1.0 {
		t.Errorf("set-up alone: %v", st)
	}
	if st := begin(map[string]any{"grep": "nothing matches this"}); st["verdict"] != "fail" || harness.ErrorCode(st) != "no-tests-selected" {
		t.Errorf("nothing selected: %v", st)
	}
	if st := begin(map[string]any{"grep": ".", "branch": "none"}); st["verdict"] != "fail" || harness.ErrorCode(st) != "branch-not-found" {
		t.Errorf("no such branch: %v", st)
	}
	s.Repo.Commit(t, "Focus", map[string]string{"tests/first1.spec.ts": strings.Replace(waiting("", 50, 50), "test('waits 1'", "test.only('waits 1'", 1)})
	if st := begin(map[string]any{"grep": "."}); st["verdict"] != "fail" || harness.ErrorCode(st) != "focused-tests" {
		t.Errorf("focused: %v", st)
	}
	s.Repo.Commit(t, "Break a file", map[string]string{"tests/first1.spec.ts": "import { test } from '@playwright/test';\nnonsense(;\n"})
	if st := begin(map[string]any{"grep": "."}); st["verdict"] != "fail" || st["passed"] != 9.0 || st["error"] == nil {
		t.Errorf("a file does not load: %v", st)
	}
}
