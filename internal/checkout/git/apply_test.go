package git_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tas-service/internal/checkout"
	"tas-service/internal/checkout/git"
	"tas-service/internal/fault"
)

// patched is a copy of a small repository with a link in it.
func patched(t *testing.T) (m *git.Mirrors, src checkout.Source, dir string) {
	t.Helper()
	url := repository(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "e2e/b.txt": "b\n"})
	work := strings.TrimPrefix(url, "file://")
	must(t, os.Symlink("e2e", filepath.Join(work, "link")))
	must(t, os.Symlink(t.TempDir(), filepath.Join(work, "out")))
	sh(t, work, "add", "-A")
	sh(t, work, "commit", "-qm", "Link")
	m, src, dir = &git.Mirrors{Root: t.TempDir()}, checkout.Source{Key: "p", URL: url}, filepath.Join(t.TempDir(), "copy")
	_, err := m.Make(context.Background(), src, dir)
	must(t, err)
	return m, src, dir
}

func added(name, mode, text string) string {
	return "diff --git a/" + name + " b/" + name + "\nnew file mode " + mode + "\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+" + text + "\n"
}

const toGerman = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"

// TestApply changes, adds and removes files of a copy, and the next copy has nothing of it.
func TestApply(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, src, dir := patched(t)
	fresh := files(t, dir)
	patch := toGerman + added("e2e/new.txt", "100644", "new") + added(".gitattributes", "100644", "* text eol=crlf") +
		"diff --git a/e2e/b.txt b/e2e/b.txt\ndeleted file mode 100644\n--- a/e2e/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
	must(t, m.Apply(ctx, src, dir, ""))
	must(t, m.Apply(ctx, src, dir, patch))
	for name, want := range map[string]string{"a.txt": "one\nzwei\nthree\n", "e2e/new.txt": "new\n", "e2e/b.txt": ""} {
		if text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) != want {
			t.Errorf("%s: %q", name, text)
		}
	}
	must(t, m.Discard(ctx, src, dir))
	if spares, _ := filepath.Glob(filepath.Join(m.Root, "*.spare", "*")); len(spares) != 0 {
		t.Errorf("it became a spare: %v", spares)
	}
	if left, _ := filepath.Glob(filepath.Join(m.Root, "commit-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	_, err := m.Make(ctx, src, dir)
	must(t, err)
	if got := files(t, dir); !slices.Equal(got, fresh) {
		t.Errorf("the next copy: %q", got)
	}
	must(t, m.Discard(ctx, src, dir))
	if spares, _ := filepath.Glob(filepath.Join(m.Root, "*.spare", "*")); len(spares) != 1 {
		t.Errorf("a copy without a patch did not become a spare: %v", spares)
	}
}

// TestApplyRefuses leaves the copy as it was for patches that do not fit or reach too far.
func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	m, src, dir := patched(t)
	before := files(t, dir)
	for name, patch := range map[string]string{
		"no patch":                "hello",
		"of another text":         strings.Replace(toGerman, "-two", "-drei", 1),
		"a file that is there":    added("a.txt", "100644", "x"),
		"above":                   added("../above.txt", "100644", "x"),
		"above, from below":       added("e2e/../../above.txt", "100644", "x"),
		"absolute":                added("/tmp/absolute.txt", "100644", "x"),
		"through a link":          added("link/x.txt", "100644", "x"),
		"out through a link":      added("out/x.txt", "100644", "x"),
		"a new link":              added("evil", "120000", "/etc"),
		"a link and then through": added("evil", "120000", "/tmp") + added("evil/x.txt", "100644", "x"),
		"the end of a link":       "diff --git a/link b/link\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-e2e\n\\ No newline at end of file\n+/etc\n\\ No newline at end of file\n",
		"a submodule":             added("sub", "160000", "Subproject commit "+strings.Repeat("a", 40)),
		"git's own":               added(".git/hooks/post-checkout", "100755", "x"),
		"git's own, elsewhere":    added("e2e/.GIT/config", "100644", "x"),
		"one that fits, and not":  toGerman + added("a.txt", "100644", "x"),
		"too large":               toGerman + strings.Repeat("\n", checkout.MaxPatch),
	} {
		err := m.Apply(context.Background(), src, dir, patch)
		if f := fault.As(err); f == nil || f.Kind != fault.Invalid || f.Code != "patch-refused" {
			t.Errorf("%s: %v", name, err)
		}
		if got := files(t, dir); !slices.Equal(got, before) {
			t.Fatalf("%s: %q", name, got)
		}
	}
	if err := m.Apply(context.Background(), src, t.TempDir(), toGerman); fault.KindOf(err) != fault.Internal {
		t.Errorf("no copy of it: %v", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "above.txt")); err == nil {
		t.Error("a file was written beside the copy")
	}
}
