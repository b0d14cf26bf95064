package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tas-service/internal/checkout"
	"tas-service/internal/checkout/git"
	"tas-service/internal/fault"
)

// readable makes a repository with files and links, and answers it at its commit.
func readable(t *testing.T) (*git.Mirrors, checkout.Source) {
	t.Helper()
	dir := strings.TrimPrefix(repository(t, map[string]string{"e2e/tests/a.spec.ts": "one\n  two: 'x'\r\nthree [x]\n", "e2e/pages/a b.ts": "two\n", "e2e/:odd:1:.ts": "two\n",
		"big.ts": strings.Repeat("x", checkout.MaxFile+1), "picture.png": "\x89PNG\x00two\x00", "latin.ts": "caf\xe9 two\n", "secret/key": "two\n"}), "file://")
	for to, at := range map[string]string{"/etc/passwd": "e2e/out.ts", "../secret": "e2e/linked", "tests/a.spec.ts": "e2e/alias.ts"} {
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	sh(t, dir, "add", "-A")
	sh(t, dir, "commit", "-q", "-m", "links")
	commit := sh(t, dir, "rev-parse", "HEAD")
	// What came later is not read.
	if err := os.WriteFile(filepath.Join(dir, "e2e/later.ts"), []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sh(t, dir, "add", "-A")
	sh(t, dir, "commit", "-q", "-m", "later")
	return &git.Mirrors{Root: t.TempDir()}, checkout.Source{Key: "p", URL: "file://" + dir, Commit: commit}
}

// TestReads reads a commit without a working copy, and nothing outside of it.
func TestReads(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, src := readable(t)
	files, more, err := m.Files(ctx, src, "e2e/")
	var names []string
	for _, f := range files {
		names = append(names, fmt.Sprintf("%s %d", f.Path, f.Size))
	}
	if want := []string{"e2e/:odd:1:.ts 4", "e2e/pages/a b.ts 4", "e2e/tests/a.spec.ts 26"}; err != nil || more || !slices.Equal(names, want) {
		t.Errorf("%q, %v, %v", names, more, err)
	}
	if all, _, err := m.Files(ctx, src, ""); err != nil || len(all) != 7 {
		t.Errorf("%v, %v", all, err)
	}
	if text, err := m.Text(ctx, src, "e2e/tests/a.spec.ts"); err != nil || text != "one\n  two: 'x'\r\nthree [x]\n" {
		t.Errorf("%q, %v", text, err)
	}
	found, more, err := m.Search(ctx, src, "e2e", "two")
	if want := []checkout.Place{{Path: "e2e/:odd:1:.ts", Line: 1, Text: "two"}, {Path: "e2e/pages/a b.ts", Line: 1, Text: "two"}, {Path: "e2e/tests/a.spec.ts", Line: 2, Text: "  two: 'x'\r"}}; err != nil || more || !slices.Equal(found, want) {
		t.Errorf("%+v, %v, %v", found, more, err)
	}
	// A text is what is written, and no pattern; and no option.
	for text, n := range map[string]int{"[x]": 1, "t.o": 0, "--no-index": 0, "-e": 0, "/etc/passwd": 0} {
		if found, _, err := m.Search(ctx, src, "", text); err != nil || len(found) != n {
			t.Errorf("%s: %+v, %v", text, found, err)
		}
	}
	for name, kind := range map[string]fault.Kind{"../x": fault.Invalid, "/etc/passwd": fault.Invalid, "e2e/../secret/key": fault.Invalid, "e2e//tests/a.spec.ts": fault.Invalid, ".git/config": fault.Invalid, "a\x00b": fault.Invalid, `e2e\tests`: fault.Invalid,
		"e2e/out.ts": fault.NotFound, "e2e/linked": fault.NotFound, "e2e/linked/key": fault.NotFound, "e2e/alias.ts": fault.NotFound, "e2e": fault.NotFound, "": fault.NotFound, "*": fault.NotFound, ":(glob)**": fault.NotFound, "e2e/later.ts": fault.NotFound,
		"-r": fault.NotFound, "big.ts": fault.Invalid, "picture.png": fault.Invalid, "latin.ts": fault.Invalid} {
		if text, err := m.Text(ctx, src, name); fault.KindOf(err) != kind {
			t.Errorf("%q: %.40q, %v", name, text, err)
		}
	}
	for _, dir := range []string{"..", "/", "e2e/../secret"} {
		if all, _, err := m.Files(ctx, src, dir); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v, %v", dir, all, err)
		}
		if all, _, err := m.Search(ctx, src, dir, "two"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v, %v", dir, all, err)
		}
	}
	for _, dir := range []string{"e2e/linked", "nowhere", "*", ":(glob)**"} {
		if all, _, err := m.Files(ctx, src, dir); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%q: %v, %v", dir, all, err)
		}
		if all, _, err := m.Search(ctx, src, dir, "two"); err != nil || len(all) != 0 {
			t.Errorf("%q: %v, %v", dir, all, err)
		}
	}
	for _, text := range []string{"", "a\nb", strings.Repeat("x", checkout.MaxSought+1)} {
		if _, _, err := m.Search(ctx, src, "", text); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	src.Commit = "HEAD"
	if _, err := m.Text(ctx, src, "big.ts"); fault.KindOf(err) != fault.Internal {
		t.Errorf("a commit that is none: %v", err)
	}
}
