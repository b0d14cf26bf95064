package test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tas-service/internal/server"
	"tas-service/test/harness"
)

// TestFullDisk lets the service's disk run full: what it cannot keep it refuses, and it
// goes on by itself when there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=40m,mode=0711"); err != nil {
		t.Skipf("a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.DataDir = filepath.Join(dir, "data") }})
	// Npm has no room for what it installs, and the worker sees that the disk is nearly full.
	st := s.Suite(t)
	harness.Ledger(t, st)
	if st["phase"] != "process-error" || st["verdict"] != "fail" || harness.ErrorCode(st) != "disk-full" && harness.ErrorCode(st) != "install-failed" {
		t.Errorf("status: %v", st)
	}
	ballast := filepath.Join(dir, "ballast")
	fill := func() {
		t.Helper()
		f, err := os.OpenFile(ballast, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
	}
	fill()
	// The database has a little room of its own: it takes runs until that is used up.
	deadline := time.Now().Add(30 * time.Second)
	var last harness.Answer
	for last.Status != http.StatusServiceUnavailable {
		last = s.Call(t, http.MethodPost, v2Root+"/execution/grep", map[string]any{"grep": "nothing", "branch": "none", "envOverrides": map[string]string{"A": string(make16k())}})
		if last.Status != http.StatusCreated && last.Status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			t.Fatalf("a start on the full disk: %d %s", last.Status, last.Text)
		}
	}
	problem(t, last, http.StatusServiceUnavailable)
	if last.Header.Get("Retry-After") == "" {
		t.Error("there is no Retry-After")
	}
	// What the service itself gives back, as the database does at times, is room again.
	for s.Call(t, http.MethodGet, "/readyz", nil).Status != http.StatusServiceUnavailable {
		if fill(); time.Now().After(deadline) {
			t.Fatal("ready on a full disk")
		}
	}
	if a := s.Call(t, http.MethodGet, v1Root+"/me", nil); a.Status != http.StatusOK {
		t.Errorf("reading on a full disk: %d %s", a.Status, a.Text)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	id := s.Begin(t, v2Root+"/execution/grep", map[string]any{"grep": ".", "branch": "none"})
	wantError(t, s.Wait(t, id), "branch-not-found", "none")
}

func make16k() []byte {
	b := make([]byte, 16<<10)
	for i := range b {
		b[i] = 'x'
	}
	return b
}
