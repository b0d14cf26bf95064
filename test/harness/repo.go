package harness

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// PlaywrightVersion is what the repositories of tests have installed.
const PlaywrightVersion = "1.65.1"

// Config is the Playwright configuration of a repository unless a test brings its own.
const Config = `import { defineConfig, devices } from '@playwright/test';
export default defineConfig({
  testDir: './tests', fullyParallel: true, retries: 0, timeout: 10_000, expect: { timeout: 2_000 },
  use: { trace: 'retain-on-failure' },
  projects: [{ name: 'chromium', use: { ...devices['Desktop Chrome'] } }],
});
`

// Test answers a test file with one passing test that needs no browser.
func Test(title string) string {
	return "import { test, expect } from '@playwright/test';\ntest('" + title + "', async () => { expect(1 + 1).toBe(2); });\n"
}

const packageJSON = `{
  "name": "case",
  "version": "1.0.0",
  "private": true,
  "devDependencies": { "@playwright/test": "` + PlaywrightVersion + `" }
}
`

// lockfile is made once by npm itself, without installing anything.
var lockfile = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tas-lock-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(packageJSON), 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &exec.Error{Name: "npm install: " + string(out), Err: err}
	}
	text, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	return string(text), err
})

// Repo is a real git repository that a test writes.
type Repo struct {
	Dir string
	mu  sync.Mutex
}

// NewRepo makes a repository whose branch main holds a package with Playwright, the
// usual configuration, and files (a value of "" leaves a file out).
func NewRepo(t testing.TB, files map[string]string) *Repo {
	t.Helper()
	lock, err := lockfile()
	if err != nil {
		t.Fatalf("make a lockfile: %v", err)
	}
	r := &Repo{Dir: t.TempDir()}
	r.Git(t, "init", "--quiet", "--initial-branch=main")
	r.write(t, map[string]string{"package.json": packageJSON, "package-lock.json": lock, "playwright.config.ts": Config, ".gitignore": "node_modules/\n"})
	if files == nil {
		files = map[string]string{"tests/sum.spec.ts": Test("adds")}
	}
	r.write(t, files)
	r.commit(t, "Begin")
	return r
}

// URL answers the clone address.
func (r *Repo) URL() string { return "file://" + r.Dir }

// Git runs git in the repository and answers what it printed.
func (r *Repo) Git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=Test", "GIT_COMMITTER_EMAIL=test@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *Repo) write(t testing.TB, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(r.Dir, name)
		if text == "" {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *Repo) commit(t testing.TB, message string) {
	t.Helper()
	r.Git(t, "add", "--all")
	r.Git(t, "commit", "--quiet", "--allow-empty", "--message", message)
}

// Commit changes files on the branch that is checked out; "" removes a file.
func (r *Repo) Commit(t testing.TB, message string, files map[string]string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(t, files)
	r.commit(t, message)
}

// Branch makes a branch from main with changed files and goes back to main.
func (r *Repo) Branch(t testing.TB, branch string, files map[string]string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Git(t, "checkout", "--quiet", "-b", branch, "main")
	r.write(t, files)
	r.commit(t, "Change "+branch)
	r.Git(t, "checkout", "--quiet", "main")
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
