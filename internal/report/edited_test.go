package report

import (
	"errors"
	"strings"
	"testing"

	"tas-service/internal/attempt"
)

const onePatch = "diff --git a/a b.ts b/a b.ts\n--- a/a b.ts\n+++ b/a b.ts\n@@ -1,3 +1,3 @@\n x\n--- a/a b.ts\n+++ b/a b.ts\n y\n@@ -9 +9 @@\n-p\n\\ No newline at end of file\n+q\n\\ No newline at end of file\n"

// TestEdited puts the package's folder before paths and nowhere else, and bounds the rest.
func TestEdited(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	m := Message{Type: "edited", Patch: onePatch + strings.ReplaceAll(onePatch, "a b.ts", "c/d.ts"), Edits: make([]attempt.EditDone, 300), Offences: make([]attempt.Offence, 300)}
	m.Edits[0] = attempt.EditDone{File: long, Before: long, After: long, Code: long, Why: long}
	m.Offences[0] = attempt.Offence{Rule: long, File: long, Message: long}
	e, err := m.Edited("packages/./shop/")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("git a/a b.ts b/a b.ts\n--- a/a b.ts\n+++ b/a b.ts\n@@", "git a/packages/shop/a b.ts b/packages/shop/a b.ts\n--- a/packages/shop/a b.ts\n+++ b/packages/shop/a b.ts\n@@",
		"git a/c/d.ts b/c/d.ts\n--- a/c/d.ts\n+++ b/c/d.ts\n@@", "git a/packages/shop/c/d.ts b/packages/shop/c/d.ts\n--- a/packages/shop/c/d.ts\n+++ b/packages/shop/c/d.ts\n@@").Replace(m.Patch)
	if e.Patch != want {
		t.Errorf("%s", e.Patch)
	}
	if len(e.Edits) != maxEdits || len(e.Offences) != maxOffences || len(e.Edits[0].After) > 3<<10 || len(e.Edits[0].Why) > 3<<10 || len(e.Offences[0].Message) > 3<<10 {
		t.Errorf("%d edits, %d offences: not bounded", len(e.Edits), len(e.Offences))
	}
	for _, dir := range []string{"", ".", "/"} {
		if e, err := (Message{Patch: onePatch}).Edited(dir); err != nil || e.Patch != onePatch {
			t.Errorf("%q: %v", dir, err)
		}
	}
	for name, patch := range map[string]string{
		"no patch": "hello\n", "cut off": onePatch[:60], "a line too many": onePatch + "+x\n", "renamed": strings.Replace(onePatch, "b/a b.ts", "b/a c.ts", 1),
		"another file": strings.Replace(onePatch, "+++ b/a b.ts\n@@", "+++ b/a c.ts\n@@", 1), "above": strings.ReplaceAll(onePatch, "a b.ts", "../x.ts"),
		"absolute": strings.ReplaceAll(onePatch, "a/a b.ts", "a//etc/x"), "a mode": strings.Replace(onePatch, "--- ", "new file mode 120000\n--- ", 1), "a hunk without end": strings.Replace(onePatch, "@@ -9 +9 @@", "@@ -9 +9,99999999999999999999 @@", 1),
	} {
		if e, err := (Message{Patch: patch}).Edited("dir"); !errors.Is(err, ErrGarbled) {
			t.Errorf("%s: %v\n%s", name, err, e.Patch)
		}
	}
}

// FuzzEdited lets through only patches whose files all lie in the folder.
func FuzzEdited(f *testing.F) {
	f.Add(onePatch)
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+y\n")
	f.Fuzz(func(t *testing.T, patch string) {
		e, err := (Message{Patch: patch}).Edited("dir")
		if err != nil {
			return
		}
		for line := range strings.Lines(e.Patch) {
			if strings.HasPrefix(line, "diff ") && (!strings.HasPrefix(line, "diff --git a/dir/") || strings.Contains(line, "/../")) {
				t.Fatalf("%q of %q", line, patch)
			}
		}
		if again, err := (Message{Patch: patch}).Edited(""); err != nil || again.Patch != patch {
			t.Fatalf("%q became %q, %v", patch, again.Patch, err)
		}
	})
}
