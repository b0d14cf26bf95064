package test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"tas-service/internal/project"
	"tas-service/test/harness"
)

// warned reports whether a status has a warning.
func warned(st map[string]any, code string) bool {
	for _, w := range st["warnings"].([]any) {
		if w.(map[string]any)["code"] == code {
			return true
		}
	}
	return false
}

// packageWith answers the usual package.json with one more part.
func packageWith(t *testing.T, key string, value any) string {
	t.Helper()
	p := map[string]any{"name": "case", "version": "1.0.0", "private": true,
		"devDependencies": map[string]string{"@playwright/test": harness.PlaywrightVersion}, key: value}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOwnInstallScripts installs in each run where the repository's own scripts take part:
// what they write beside node_modules is there every time, and is no other branch's.
func TestOwnInstallScripts(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{"postinstall": "node -e \"require('fs').writeFileSync('made.json', '{}')\""}
	s := harness.Start(t, harness.Options{Files: map[string]string{
		"package.json": packageWith(t, "scripts", scripts),
		"tests/made.spec.ts": `import { test, expect } from '@playwright/test';
import * as fs from 'fs';
test('finds what the install made', async () => { expect(fs.existsSync('made.json')).toBe(true); });
`}})
	for range 2 {
		if st := s.Suite(t); st["verdict"] != "pass" || !warned(st, "install-not-shared") {
			t.Errorf("status: %v", st)
		}
	}
}

// TestLinkedPackage follows no link to the package, wherever it leads.
func TestLinkedPackage(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Project: func(p *project.Project) { p.Repository.Dir = "e2e" }})
	s.Repo.Git(t, "checkout", "--quiet", "-b", "linked")
	s.Repo.Git(t, "config", "core.symlinks", "true")
	symlink(t, s.Repo.Dir+"/e2e", s.Data)
	s.Repo.Commit(t, "Lead out", nil)
	s.Repo.Git(t, "checkout", "--quiet", "main")
	st := s.Wait(t, s.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": ".", "branch": "linked"}))
	if harness.ErrorCode(st) != "no-package" {
		t.Errorf("status: %v", st)
	}
}

// TestAttachments keeps what can be kept, passes over what cannot, and is held up by none.
func TestAttachments(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{})
	st := s.Branch(t, "odd", map[string]string{"tests/odd.spec.ts": `import { test } from '@playwright/test';
import { execFileSync } from 'child_process';
test('attaches', async ({}, info) => {
  for (const name of ['x.attrs', 'n'.repeat(400), '../../up', 'späte Änderung', 'a/b'])
    await info.attach(name, { body: name, contentType: 'no/such/type;;' });
  const pipe = info.outputPath('pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/etc/passwd', info.outputPath('missing')])
    info.attachments.push({ name: 'odd', path, contentType: 'text/plain' });
});
`, "tests/sum.spec.ts": ""})
	if st["verdict"] != "pass" || !warned(st, "attachments-missing") {
		t.Fatalf("status: %v", st)
	}
	id := st["runId"].(string)
	for _, r := range s.Results(t, id) {
		a := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+id+"/tests/"+r["serviceTestId"].(string)+"/attachments", nil)
		if a.Body["attachments"] == nil || len(a.Body["attachments"].([]any)) != 5 {
			t.Fatalf("attachments: %s", a.Text)
		}
		for _, x := range a.Body["attachments"].([]any) {
			at := x.(map[string]any)
			resp := get(t, at["url"].(string), "")
			if resp.StatusCode != http.StatusOK || body(t, resp) == "" {
				t.Errorf("%v does not open: %d", at["name"], resp.StatusCode)
			}
		}
	}
}

// TestBrokenSetup tells why a set-up that the selected test needs cannot run.
func TestBrokenSetup(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{})
	s.Repo.Branch(t, "setup", map[string]string{
		"playwright.config.ts": `import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: './tests', projects: [{ name: 'setup', testMatch: /.*\.setup\.ts/ }, { name: 'all', dependencies: ['setup'] }] });
`,
		"tests/sign.setup.ts": "throw new Error('the real reason');\n",
	})
	st := s.Wait(t, s.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": "adds", "branch": "setup"}))
	e, _ := st["error"].(map[string]any)
	if st["verdict"] != "fail" || e == nil || !strings.Contains(e["message"].(string), "the real reason") {
		t.Errorf("status: %v", st)
	}
}

func symlink(t *testing.T, at, to string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
