package git_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tas-service/internal/checkout"
	"tas-service/internal/checkout/git"
)

// repository makes one with files; no files leave it empty.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=T", "-c", "user.email=t@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q", "-b", "main")
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) > 0 {
		run("add", "-A")
		run("commit", "-q", "-m", "x")
	}
	return "file://" + dir
}

// TestLook tells precisely what keeps a repository from being run.
func TestLook(t *testing.T) {
	t.Parallel()
	const pkg = `{"devDependencies":{"@playwright/test":"1.56.0","tas-runner":"1.2.3"}}`
	whole := repository(t, map[string]string{"e2e/package.json": pkg, "e2e/package-lock.json": "{}", "e2e/playwright.config.ts": ""})
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password == "" {
			w.Header().Set("WWW-Authenticate", "Basic")
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(locked.Close)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + free.Addr().String() + "/x.git"
	free.Close()
	for name, c := range map[string]struct {
		src   checkout.Source
		dir   string
		wrong string // what and its beginning; "" for nothing
	}{
		"whole":             {checkout.Source{URL: whole}, "e2e", ""},
		"branch":            {checkout.Source{URL: whole, Branch: "main"}, "/e2e/", ""},
		"no branch":         {checkout.Source{URL: whole, Branch: "nope"}, "e2e", `branch: The branch "nope" does not exist`},
		"no folder":         {checkout.Source{URL: whole}, "other", `folder: There is no folder "/other"`},
		"no package":        {checkout.Source{URL: whole}, "", `package.json: There is none in "/"`},
		"out of it":         {checkout.Source{URL: whole}, "../..", `package.json: There is none in "/"`},
		"empty":             {checkout.Source{URL: repository(t, nil)}, "", "repository: It answers, and it is empty."},
		"no repository":     {checkout.Source{URL: "file:///nonexistent/x"}, "", "repository: There is no git repository"},
		"nobody there":      {checkout.Source{URL: nobody}, "", "repository: The tests repository cannot be reached"},
		"no such host":      {checkout.Source{URL: "http://no-such-host.invalid/x.git"}, "", "repository: The tests repository cannot be reached"},
		"not authorised":    {checkout.Source{URL: locked.URL + "/x.git", Token: "tok-s3cret"}, "", "repository: The tests repository refused the service's access"},
		"refused transport": {checkout.Source{URL: "ext::sh -c true"}, "", "repository: "},
		"no JSON":           {checkout.Source{URL: repository(t, map[string]string{"package.json": "{"})}, "", "package.json: It is no valid JSON"},
		"no Playwright":     {checkout.Source{URL: repository(t, map[string]string{"package.json": "{}", "package-lock.json": "{}", "playwright.config.js": ""})}, "", "Playwright: package.json does not depend"},
		"no lockfile":       {checkout.Source{URL: repository(t, map[string]string{"package.json": pkg, "playwright.config.js": ""})}, "", "lockfile: There is no package-lock.json"},
		"no configuration":  {checkout.Source{URL: repository(t, map[string]string{"package.json": pkg, "package-lock.json": "{}"})}, "", "configuration: There is no Playwright configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.src.Key = "p"
			var wrong []string
			seen := (&git.Mirrors{Root: t.TempDir()}).Look(context.Background(), c.src, c.dir)
			for _, s := range seen {
				if !s.OK {
					wrong = append(wrong, s.What+": "+s.Said)
				}
				if strings.Contains(s.Said+s.Fix, "tok-s3cret") {
					t.Errorf("the token is told: %+v", s)
				}
			}
			if c.wrong == "" && (len(wrong) > 0 || len(seen) < 7) || c.wrong != "" && (len(wrong) != 1 || !strings.HasPrefix(wrong[0], c.wrong)) {
				t.Errorf("%q of %+v", wrong, seen)
			}
		})
	}
}
