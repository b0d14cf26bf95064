package test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tas-service/internal/project"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// spec answers a test file with one test of this body.
func spec(body string) string {
	return "import { test, expect } from '@playwright/test';\nimport * as fs from 'fs';\nimport { spawn, execSync } from 'child_process';\n" +
		"test('trouble', async () => {\n" + body + "\n});\n"
}

// config answers the usual Playwright configuration with more in it.
func config(more string) string {
	return strings.Replace(harness.Config, "retries: 0,", "retries: 0, "+more, 1)
}

// trouble is a branch that brings something bad, and how its run has to end. Each ends
// with all tests accounted for.
type trouble struct {
	name  string
	files map[string]string // beside tests/sum.spec.ts, which passes
	phase string
	code  string // of the run's error
	says  string // a part of the run's error, or of the result of "trouble"
	check func(t *testing.T, s *harness.System, st map[string]any)
}

const marker = "tas-trouble-marker"

func troubles() []trouble {
	counts := func(passed, failed float64) func(*testing.T, *harness.System, map[string]any) {
		return func(t *testing.T, _ *harness.System, st map[string]any) {
			if st["passed"] != passed || st["failed"] != failed {
				t.Errorf("passed %v, failed %v; want %v and %v: %v", st["passed"], st["failed"], passed, failed, st)
			}
		}
	}
	return []trouble{
		{name: "out-of-step lockfile", phase: "process-error", code: "install-failed", says: "npm ci",
			files: map[string]string{"package.json": `{"name":"case","version":"1.0.0","devDependencies":{"@playwright/test":"` + harness.PlaywrightVersion + `","left-pad":"1.3.0"}}`}},
		{name: "no lockfile", phase: "process-error", code: "no-lockfile", says: "npm install",
			files: map[string]string{"package-lock.json": ""}},
		{name: "no package", phase: "process-error", code: "no-package", says: "package.json",
			files: map[string]string{"package.json": ""}},
		{name: "lockfile that is no JSON", phase: "process-error", code: "install-failed", says: "lockfile",
			files: map[string]string{"package-lock.json": "<<<<<<< HEAD\n"}},
		{name: "config throws", phase: "process-error", code: "bad-config", says: "no configuration today",
			files: map[string]string{"playwright.config.ts": "throw new Error('no configuration today');\n"}},
		{name: "config ends the process", phase: "process-error", says: "process.exit",
			files: map[string]string{"playwright.config.ts": "process.exit(0);\n"}},
		{name: "config is killed", phase: "process-error", code: "runner-died",
			files: map[string]string{"playwright.config.ts": "process.kill(process.pid, 'SIGKILL');\n"}},
		{name: "global set-up aborts as without memory", phase: "process-error", code: "runner-died",
			files: map[string]string{"playwright.config.ts": config("globalSetup: './setup.ts',"), "setup.ts": "export default () => process.abort();\n"}},
		{name: "global set-up throws", phase: "process-error", code: "bad-config", says: "the database is down",
			files: map[string]string{"playwright.config.ts": config("globalSetup: './setup.ts',"), "setup.ts": "export default () => { throw new Error('the database is down'); };\n"},
			check: counts(0, 0)},
		{name: "global tear-down throws", phase: "failed", says: "the tear-down is broken",
			files: map[string]string{"playwright.config.ts": config("globalTeardown: './down.ts',"), "down.ts": "export default () => { throw new Error('the tear-down is broken'); };\n"},
			check: counts(1, 0)},
		{name: "syntax error", phase: "failed", code: "load-error", says: "bad.spec.ts",
			files: map[string]string{"tests/bad.spec.ts": "import { test } from '@playwright/test';\ntest('never', async () => {{{\n"},
			check: counts(1, 0)},
		{name: "import of what is not there", phase: "failed", code: "load-error", says: "not-there",
			files: map[string]string{"tests/bad.spec.ts": "import './not-there';\n"}, check: counts(1, 0)},
		{name: "process.exit in a test", phase: "failed", says: "worker process exited",
			files: map[string]string{"tests/bad.spec.ts": spec("process.exit(0);")}, check: counts(1, 1)},
		{name: "process.exit while a file loads", phase: "process-error", says: "process.exit",
			files: map[string]string{"tests/bad.spec.ts": "process.exit(0);\n"}},
		{name: "kills the runner", phase: "process-error", code: "runner-died",
			files: map[string]string{"tests/bad.spec.ts": spec("process.kill(process.ppid, 'SIGKILL'); await new Promise(() => {});")}},
		{name: "hangs in a busy loop", phase: "failed", says: "stuck",
			files: map[string]string{"playwright.config.ts": strings.Replace(harness.Config, "10_000", "1_000", 1), "tests/bad.spec.ts": spec("for (;;);")}, check: counts(1, 1)},
		{name: "all skipped", phase: "failed", code: "no-test-executed", says: "skipped",
			files: map[string]string{"tests/sum.spec.ts": "import { test } from '@playwright/test';\ntest.skip('a', async () => {});\ntest.skip('b', async () => {});\n"}},
		{name: "no tests at all", phase: "failed", code: "no-tests-selected",
			files: map[string]string{"tests/sum.spec.ts": ""}, check: counts(0, 0)},
		{name: "prints 100 MB", phase: "passed",
			files: map[string]string{"tests/loud.spec.ts": spec("const s = 'x'.repeat(1 << 20) + '\\n'; for (let i = 0; i < 100; i++) { process.stdout.write(s); if (i % 10 === 0) await new Promise(r => setImmediate(r)); }")}},
		{name: "leaves detached children", phase: "passed",
			files: map[string]string{"tests/fork.spec.ts": spec("for (let i = 0; i < 5; i++) spawn('sh', ['-c', 'sleep 600; : " + marker + "'], { detached: true, stdio: 'ignore' }).unref();")},
			check: func(t *testing.T, _ *harness.System, _ map[string]any) { gone(t, marker) }},
		{name: "attachments from outside", phase: "passed", check: attachmentsFromOutside,
			files: map[string]string{"tests/attach.spec.ts": spec(`
const at = (name: string, path: string, contentType = 'text/plain') => test.info().attachments.push({ name, path, contentType });
const out = test.info().outputPath.bind(test.info());
at('passwd', '/etc/passwd');
at('dotted', out('.') + '/../../../../../../etc/passwd');
fs.symlinkSync('/etc/hosts', out('link')); at('link', out('link'));
fs.symlinkSync('../../../..', out('up')); at('up', out('up', 'master.key'));
at('folder', out('.'));
fs.writeFileSync(out('good'), 'kept'); at('good', out('good'));
at('odd/../name\n', out('good'), 'text/plain\nX-Odd: 1');
`)}},
		{name: "install script leads out", phase: "process-error", code: "install-failed",
			files: map[string]string{"package.json": `{"name":"case","version":"1.0.0","devDependencies":{"@playwright/test":"` + harness.PlaywrightVersion + `"},
				"scripts":{"postinstall":"rm -rf node_modules; ln -s /etc node_modules"}}`},
			check: func(t *testing.T, _ *harness.System, _ map[string]any) {
				if _, err := os.Stat("/etc/.cache"); err == nil {
					os.Remove("/etc/.cache") //nolint:errcheck // the test fails
					t.Error("the worker wrote through the link that an install script made")
				}
			}},
	}
}

func attachmentsFromOutside(t *testing.T, s *harness.System, st map[string]any) {
	id := st["runId"].(string)
	r := s.Results(t, id)["tests/attach.spec.ts › trouble [chromium]"]
	if r == nil {
		t.Fatal("there is no result")
	}
	a := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+id+"/tests/"+r["serviceTestId"].(string)+"/attachments", nil)
	names := map[string]bool{}
	for _, x := range a.Body["attachments"].([]any) {
		at := x.(map[string]any)
		names[at["name"].(string)] = true
		resp, err := http.Get(at["url"].(string))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		text.ReadFrom(resp.Body) //nolint:errcheck // compared below
		resp.Body.Close()
		if text.String() != "kept" || resp.Header.Get("X-Odd") != "" {
			t.Errorf("attachment %q holds %q with headers %v", at["name"], text.String(), resp.Header)
		}
	}
	if len(names) != 2 || !names["good"] {
		t.Errorf("these attachments were kept: %v", names)
	}
	if !strings.Contains(fmt.Sprint(st["warnings"]), "attachments-missing") {
		t.Errorf("nothing warns of the attachments that were left out: %v", st["warnings"])
	}
}

// TestTrouble runs one branch for each thing that test code and repositories do to
// those who run them.
func TestTrouble(t *testing.T) {
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.HangGrace = time.Second }})
	t.Run("two runs at once on a fresh project", func(t *testing.T) {
		ids := []string{s.Begin(t, "/public-api/v1/execution/suite", nil), s.Begin(t, "/public-api/v1/execution/suite", nil)}
		for _, id := range ids {
			st := s.Wait(t, id)
			harness.Ledger(t, st)
			if st["verdict"] != "pass" || st["passed"] != 1.0 {
				t.Errorf("status: %v", st)
			}
		}
	})
	for i, c := range troubles() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := s.Branch(t, fmt.Sprintf("trouble-%d", i), c.files)
			harness.Ledger(t, st)
			if st["phase"] != c.phase || (st["verdict"] == "pass") != (c.phase == "passed") {
				t.Errorf("phase %v, verdict %v; want %v: %v", st["phase"], st["verdict"], c.phase, st["error"])
			}
			if c.code != "" && harness.ErrorCode(st) != c.code {
				t.Errorf("error %v, want code %q", st["error"], c.code)
			}
			if said := fmt.Sprint(st["error"], s.Results(t, st["runId"].(string))); c.says != "" && !strings.Contains(said, c.says) {
				t.Errorf("nothing says %q: %s", c.says, said)
			}
			if c.check != nil {
				c.check(t, s, st)
			}
		})
	}
	t.Run("branch that does not exist", func(t *testing.T) {
		t.Parallel()
		st := s.Wait(t, s.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": ".", "branch": "no/such-branch"}))
		wantError(t, st, "branch-not-found", `"no/such-branch"`)
	})
	t.Run("branch below one that is gone", func(t *testing.T) {
		t.Parallel()
		if st := s.Branch(t, "side", nil); st["verdict"] != "pass" {
			t.Fatalf("status: %v", st)
		}
		s.Repo.Git(t, "branch", "--quiet", "-D", "side")
		if st := s.Branch(t, "side/way", nil); st["verdict"] != "pass" {
			t.Errorf("status: %v", st)
		}
	})
}

// wantError fails the test unless a run ended as process-error with this reason.
func wantError(t *testing.T, st map[string]any, code, says string) {
	t.Helper()
	harness.Ledger(t, st)
	if st["phase"] != "process-error" || st["verdict"] != "fail" || harness.ErrorCode(st) != code || !strings.Contains(fmt.Sprint(st["error"]), says) {
		t.Errorf("want a process error %q that says %q, got %v", code, says, st)
	}
}

// gone fails the test unless no process has mark in its command line, now or soon.
func gone(t *testing.T, mark string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		left := withArgument(mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes with %q are still there: %v", mark, left)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// withArgument answers the processes that have text in their command line.
func withArgument(text string) (pids []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range paths {
		if args, err := os.ReadFile(p); err == nil && bytes.Contains(args, []byte(text)) && p != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) {
			pids = append(pids, filepath.Base(filepath.Dir(p)))
		}
	}
	return pids
}

// TestLimits exceeds what a project may use.
func TestLimits(t *testing.T) {
	s := harness.Start(t, harness.Options{Project: func(p *project.Project) { p.DiskQuota = 200 << 20 }, Files: map[string]string{
		"tests/fill.spec.ts": spec("test.setTimeout(60_000); for (let i = 0; ; i++) { fs.writeFileSync('/tmp/' + i, Buffer.alloc(8 << 20, 1)); await new Promise(r => setTimeout(r, 20)); }"),
		"tests/wait.spec.ts": harness.Test("adds") + "test('waits', async () => { test.setTimeout(0); await new Promise(() => {}); });\n",
	}})
	t.Run("disk quota", func(t *testing.T) {
		wantError(t, s.Wait(t, s.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": "trouble"})), "disk-quota", "200.0 MiB")
	})
	t.Run("run limit", func(t *testing.T) {
		if err := s.Server.Store().UpdateProject(context.Background(), s.ProjectID, func(p *project.Project) error {
			p.RunLimit = 10 * time.Second
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		st := s.Wait(t, s.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": "adds|waits"}))
		wantError(t, st, "run-time-limit", "10s")
	})
}
