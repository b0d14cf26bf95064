package worker

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tas-service/internal/sandbox"
)

// TestOpenOnlyOwnFiles holds uploads to regular files below what test code may write,
// and never waits for one.
func TestOpenOnlyOwnFiles(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "own"), []byte("x"), 0o600))
	must(os.Symlink("own", filepath.Join(dir, "link")))
	must(os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "absolute")))
	must(os.Symlink(outside, filepath.Join(dir, "folder")))
	must(os.Symlink("../"+filepath.Base(outside)+"/secret", filepath.Join(dir, "relative")))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	u := &uploads{binds: []sandbox.Bind{{Host: dir, Inside: "/tas/out"}}}
	for path, ok := range map[string]bool{
		"/tas/out/own": true, "/tas/out/link": true, "/tas/out/./x/../own": true,
		"/tas/out": false, "/tas/out/pipe": false, "/tas/out/absolute": false, "/tas/out/folder/secret": false, "/tas/out/relative": false,
		"/tas/out/../../etc/passwd": false, "/tas/outer/own": false, "/etc/passwd": false, "own": false, "": false, "/tas/out/none": false,
	} {
		f, err := u.open(path)
		if (err == nil) != ok || err != nil && !errors.Is(err, errUnreadable) {
			t.Errorf("open %q: %v, want it to open: %v", path, err, ok)
		}
		if err == nil {
			f.Close()
		}
	}
}
