package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func without(files map[string]string, name string, more ...string) map[string]string {
	out := map[string]string{}
	for k, v := range files {
		if k != name {
			out[k] = v
		}
	}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

var ready = map[string]string{"package.json": `{"devDependencies": {"@playwright/test": "^1.56.0", "tas-runner": "http://x/runner/tas-runner-4.4.0.tgz"}}`,
	"package-lock.json": "{}", "playwright.config.ts": "", "tests/a.spec.ts": "test('a', () => {});\n// test.only('left out', …)\n"}

// TestInitRefuses says what a repository lacks, and changes nothing.
func TestInitRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no package":    {nil, "no package.json"},
		"not JSON":      {without(ready, "package.json", "package.json", "{"), "cannot be read"},
		"no Playwright": {without(ready, "package.json", "package.json", "{}"), "npm install --save-dev @playwright/test"},
		"an old one":    {without(ready, "package.json", "package.json", `{"dependencies": {"@playwright/test": "~1.44.1"}}`), "1.50 and later"},
		"no lockfile":   {without(ready, "package-lock.json"), "no package-lock.json"},
		"yarn":          {without(ready, "package-lock.json", "yarn.lock", ""), "yarn.lock"},
		"no config":     {without(ready, "playwright.config.ts"), "playwright.config"},
		"focused":       {without(ready, "", "tests/b.spec.ts", "  test.only('b', () => {});\n"), "test.only"},
		"no address":    {without(ready, "package.json", "package.json", `{"devDependencies": {"@playwright/test": "1.60.0"}}`), "SERVICE_BASE_URL"},
	} {
		dir := folder(t, c.files)
		got := run(t, os.Environ(), "init", dir)
		if entries, err := os.ReadDir(dir); got.code != 2 || !strings.Contains(got.err, c.want) || err != nil || len(entries) > len(c.files) {
			t.Errorf("%s: %+v, %v", name, got, entries)
		}
	}
}

// TestInit adds what is missing, once, and nothing when it is only asked.
func TestInit(t *testing.T) {
	t.Parallel()
	dir := folder(t, without(ready, "", ".gitignore", "/node_modules\n*.log"))
	if got := run(t, os.Environ(), "init", "--dry-run", "--ci", "github", dir); got.code != 0 || !strings.Contains(got.out, "would add test-results/, playwright-report/, blob-report/ to .gitignore") {
		t.Errorf("dry run: %+v", got)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(text) != "/node_modules\n*.log" { //nolint:errcheck // compared
		t.Errorf("a dry run changed .gitignore: %s", text)
	}
	if got := run(t, os.Environ(), "init", "--ci", "github", dir); got.code != 0 || !strings.Contains(got.out, "write .github/workflows/tas.yml") {
		t.Errorf("init: %+v", got)
	}
	text, _ := os.ReadFile(filepath.Join(dir, ".gitignore")) //nolint:errcheck // compared
	if string(text) != "/node_modules\n*.log\ntest-results/\nplaywright-report/\nblob-report/\n" {
		t.Errorf(".gitignore: %q", text)
	}
	if got := run(t, os.Environ(), "init", "--ci", "github", dir); got.code != 0 || !strings.Contains(got.out, "Nothing to do") {
		t.Errorf("again: %+v", got)
	}
}
