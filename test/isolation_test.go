package test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tas-service/internal/project"
	"tas-service/internal/sandbox"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// probe is a test that tries what it must not be able to do, and tells what it could.
const probe = `
import { test, expect } from '@playwright/test';
import * as fs from 'fs';
test('probes', async () => {
  const could: string[] = [];
  const attempt = (what: string, fn: () => unknown) => { try { fn(); could.push(what); } catch {} };
  const data = process.env.DATA!;
  for (const file of ['master.key', 'tas.db', 'tas.db-wal', 'serve.lock', 'work/runs/other/secret', 'work/cache/other/poison', 'work/installs/other/poison'])
    attempt('read ' + file, () => fs.readFileSync(data + '/' + file));
  for (const dir of ['', 'executor', 'artifacts', 'work/mirrors', 'work/runs', 'work/cache/other'])
    attempt('list ' + dir, () => fs.readdirSync(data + '/' + dir));
  for (const file of ['new', 'work/new', 'work/cache/other/poison', 'work/installs/other/poison', 'work/runs/other/secret'])
    attempt('write ' + file, () => fs.writeFileSync(data + '/' + file, 'x', { flag: 'a' }));
  attempt('write node_modules', () => fs.appendFileSync(require.resolve('@playwright/test/package.json'), ' '));
  for (const file of ['/etc/shadow', process.env.PRIVATE!, '/root/.bashrc', '/dev/vda', '/dev/sda', '/dev/mem'])
    attempt('read ' + file, () => fs.closeSync(fs.openSync(file, 'r')));
  for (const file of ['/etc/tas-probe', '/usr/tas-probe', '/tas-probe'])
    attempt('write ' + file, () => { fs.writeFileSync(file, 'x'); fs.rmSync(file); });
  for (const pid of fs.readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    let text = '';
    try { text = fs.readFileSync('/proc/' + pid + '/environ', 'latin1'); } catch {}
    if (/PROBE_SECRET|TAS_/.test(text)) could.push('read the environment of ' + pid);
    for (const what of ['root/etc/hostname', 'cwd/master.key', 'fd/0'])
      if (+pid === +process.env.TARGET!) attempt(what + ' of the service', () => fs.readFileSync('/proc/' + pid + '/' + what));
  }
  attempt('signal the service', () => process.kill(+process.env.TARGET!, 0));
  attempt('signal its attempt', () => { for (const pid of fs.readdirSync('/proc').filter(name => /^\d+$/.test(name)))
    if (/attempt\0--server/.test(fs.readFileSync('/proc/' + pid + '/cmdline', 'latin1'))) return process.kill(+pid, 0); throw new Error('none'); });
  await test.info().attach('probe', { body: JSON.stringify({ could, env: process.env }), contentType: 'application/json' });
});
test('has a browser', async ({ page }) => {
  await page.setContent('<h1>Hello</h1>');
  await expect(page.getByRole('heading')).toHaveText('Hello');
});
`

// allowedEnv are the variables that test code finds: its own, Playwright's (BROWSERSLIST_…
// where it compiles), and how to find programs and certificates.
var allowedEnv = regexp.MustCompile(`^(BROWSERSLIST_IGNORE_OLD_DATA|PATH|HOME|TMPDIR|LANG|CI|USER|LOGNAME|SHELL|PWD|OLDPWD|SHLVL|_|TZ|FORCE_COLOR|DEBUG_COLORS|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|` +
	`PWTEST_.*|PLAYWRIGHT_.*|PW_.*|TEST_(WORKER|PARALLEL)_INDEX|NODE_OPTIONS|NODE_ENV|DATA|TARGET|PRIVATE|FROM_PROJECT)$`)

// TestIsolation runs test code that looks around at each level of isolation, as root.
//
// What every level keeps from it: the service's data (key, database, artifacts, mirrors),
// other runs and other projects' caches and installs, the environment and memory of the
// service and its workers, changing the machine, signals to the service. Bubblewrap also
// hides all other processes and files; Landlock also what everybody may read outside of
// system folders. No level keeps it from the network.
func TestIsolation(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("changing the user needs root")
	}
	t.Setenv("PROBE_SECRET", "x")
	t.Setenv("TAS_PROBE", "x")
	private := filepath.Join(t.TempDir(), "private")
	write := func(path string, owner int) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Dir(path)), 0o711), os.MkdirAll(filepath.Dir(path), 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := sandbox.HandOver(filepath.Dir(path), owner); err != nil {
			t.Fatal(err)
		}
	}
	write(private, 0)
	for _, level := range []sandbox.Level{sandbox.Bubblewrap, sandbox.Landlock, sandbox.OtherUser} {
		t.Run(string(level), func(t *testing.T) {
			s := harness.Start(t, harness.Options{Files: map[string]string{"tests/probe.spec.ts": probe},
				Config: func(c *server.Config) { c.Isolation = string(level) },
				Project: func(p *project.Project) {
					p.MinIsolation, p.Env = string(level), map[string]string{"FROM_PROJECT": "1"}
				}})
			for _, dir := range []string{"runs", "cache", "installs"} { // of another project, as this level leaves them
				name := map[string]string{"runs": "secret"}[dir]
				if name == "" {
					name = "poison"
				}
				owner := sandbox.UserOf("other")
				if dir == "installs" {
					owner = 0
				}
				write(filepath.Join(s.Data, "work", dir, "other", name), owner)
			}
			id := s.Begin(t, v2Root+"/execution/grep", map[string]any{"grep": ".",
				"envOverrides": map[string]string{"DATA": s.Data, "PRIVATE": private, "TARGET": strconv.Itoa(os.Getpid())}})
			st := s.Wait(t, id)
			harness.Ledger(t, st)
			if st["verdict"] != "pass" || st["passed"] != 2.0 || st["isolation"] != string(level) {
				t.Fatalf("status: %v\n%v", st, s.Results(t, id))
			}
			var told struct {
				Could []string
				Env   map[string]string
			}
			if err := json.Unmarshal(attached(t, s, id, "tests/probe.spec.ts › probes [chromium]", "probe"), &told); err != nil {
				t.Fatal(err)
			}
			if len(told.Could) > 0 {
				t.Errorf("test code could %s", strings.Join(told.Could, ", "))
			}
			for name, value := range told.Env {
				if !allowedEnv.MatchString(name) {
					t.Errorf("test code sees %s=%q", name, value)
				}
			}
			if told.Env["FROM_PROJECT"] != "1" || told.Env["PRIVATE"] != private || told.Env["CI"] != "1" {
				t.Errorf("test code misses variables: %v", told.Env)
			}
			gone(t, s.Data+"/work/runs/")
		})
	}
}

// attached answers what an attachment of a result holds.
func attached(t *testing.T, s *harness.System, runID, result, name string) []byte {
	t.Helper()
	r := s.Results(t, runID)[result]
	if r == nil {
		t.Fatalf("there is no result %q", result)
	}
	a := s.Call(t, http.MethodGet, v1Root+"/test-runs/"+runID+"/tests/"+r["serviceTestId"].(string)+"/attachments", nil)
	for _, x := range a.Body["attachments"].([]any) {
		if at := x.(map[string]any); strings.HasPrefix(at["name"].(string), name) {
			return fetch(t, at["url"].(string))
		}
	}
	t.Fatalf("there is no attachment %q: %s", name, a.Text)
	return nil
}

func fetch(t *testing.T, url string) []byte {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return text
}
