package git_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tas-service/internal/checkout"
	"tas-service/internal/checkout/git"
	"tas-service/internal/fault"
)

const secret = "tok-s3cret-77"

// sh runs git in a folder and answers what it said.
func sh(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "safe.directory=*"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// hosted is a bare repository behind a git server that asks for a token.
type hosted struct {
	dir  string
	src  checkout.Source
	base string
	mu   sync.Mutex
	trip func(r *http.Request) bool // answers 502 after the request was carried out
}

func newHosted(t *testing.T) *hosted {
	t.Helper()
	work := strings.TrimPrefix(repository(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "dir/b.txt": "b\n"}), "file://")
	h := &hosted{dir: filepath.Join(t.TempDir(), "shop.git")}
	sh(t, "/", "clone", "-q", "--bare", work, h.dir)
	sh(t, h.dir, "config", "http.receivepack", "true")
	h.base = sh(t, h.dir, "rev-parse", "main")
	path := sh(t, "/", "--exec-path")
	backend := &cgi.Handler{Path: filepath.Join(path, "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(h.dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != secret {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.mu.Lock()
		trip := h.trip
		h.mu.Unlock()
		if trip != nil && trip(r) {
			backend.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	h.src = checkout.Source{Key: "p", URL: server.URL + "/shop.git", Token: secret}
	return h
}

// breaks has requests answered with 502 after they were carried out.
func (h *hosted) breaks(trip func(*http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trip = trip
}

func (h *hosted) at(t *testing.T, branch string) string {
	t.Helper()
	return sh(t, h.dir, "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
}

func change(base string) checkout.Change {
	return checkout.Change{Base: base, Patch: "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n",
		Message: "Say it in German\n\nAs the page does.", Author: checkout.Person{Name: "TAS", Email: "tas@example.com"}, Committer: checkout.Person{Name: "TAS (committer)", Email: "c@example.com"}, At: time.Unix(1_800_000_000, 0)}
}

// TestCommitAndPush makes a commit, which comes out the same each time, pushes it once
// however often it is asked to, and leaves the token nowhere.
func TestCommitAndPush(t *testing.T) {
	t.Parallel()
	ctx, h, m := context.Background(), newHosted(t), &git.Mirrors{Root: t.TempDir()}
	commit, err := m.Commit(ctx, h.src, change(h.base))
	if err != nil {
		t.Fatal(err)
	}
	again, err := (&git.Mirrors{Root: t.TempDir()}).Commit(ctx, h.src, change(h.base))
	if err != nil || again != commit {
		t.Fatalf("made again: %s, %v; was %s", again, err, commit)
	}
	dir := filepath.Join(t.TempDir(), "copy")
	src := h.src
	src.Branch, src.Commit = "main", commit
	if _, err := m.Make(ctx, src, dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "one\nzwei\nthree\n" {
		t.Errorf("%q, %v", text, err)
	}
	for range 2 {
		if err := m.Push(ctx, h.src, checkout.Branch{Name: "tas/heal-1", Commit: commit}); err != nil {
			t.Fatal(err)
		}
	}
	if got := sh(t, h.dir, "log", "-1", "--format=%an|%ae|%cn|%ce|%at|%P|%B", "tas/heal-1"); got != "TAS|tas@example.com|TAS (committer)|c@example.com|1800000000|"+h.base+"|Say it in German\n\nAs the page does." {
		t.Errorf("%s", got)
	}
	diff, err := m.Diff(ctx, h.src, h.base, commit)
	if err != nil || !strings.HasPrefix(diff, "diff --git a/a.txt b/a.txt") || !strings.Contains(diff, "+zwei") {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := m.Drop(ctx, h.src, "tas/heal-1", commit); err != nil || h.at(t, "tas/heal-1") != "" {
		t.Errorf("dropped: %v, %s", err, h.at(t, "tas/heal-1"))
	}
	if err := m.Drop(ctx, h.src, "tas/heal-1", commit); err != nil {
		t.Errorf("dropped again: %v", err)
	}
	err = filepath.WalkDir(m.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("the token is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPushOnlyItsOwn refuses every branch that is not the service's own, and one that
// somebody else has moved.
func TestPushOnlyItsOwn(t *testing.T) {
	t.Parallel()
	ctx, h, m := context.Background(), newHosted(t), &git.Mirrors{Root: t.TempDir()}
	commit, err := m.Commit(ctx, h.src, change(h.base))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main", "feature", "tas", "tas/", "xtas/a", "tas/a..b", "tas/-a:refs/heads/main", "refs/heads/main", "tas/../main", "+main", "", "tas/.a", "tas/a.lock", "tas/a\nb"} {
		if err := m.Push(ctx, h.src, checkout.Branch{Name: name, Commit: commit}); kind(err) != fault.Invalid {
			t.Errorf("push to %q: %v", name, err)
		}
		if err := m.Drop(ctx, h.src, name, h.base); kind(err) != fault.Invalid {
			t.Errorf("drop of %q: %v", name, err)
		}
	}
	if got := sh(t, h.dir, "for-each-ref", "--format=%(refname) %(objectname)"); got != "refs/heads/main "+h.base {
		t.Errorf("the repository has %s", got)
	}
	sh(t, h.dir, "update-ref", "refs/heads/tas/theirs", h.base)
	for _, b := range []checkout.Branch{{Name: "tas/theirs", Commit: commit}, {Name: "tas/theirs", Commit: commit, Was: commit[:39] + "0"}} {
		if err := m.Push(ctx, h.src, b); kind(err) != fault.Conflict {
			t.Errorf("%+v: %v", b, err)
		}
	}
	if err := m.Drop(ctx, h.src, "tas/theirs", commit); kind(err) != fault.Conflict || h.at(t, "tas/theirs") != h.base {
		t.Errorf("drop: %v", err)
	}
	if err := m.Push(ctx, h.src, checkout.Branch{Name: "tas/theirs", Commit: commit, Was: h.base}); err != nil || h.at(t, "tas/theirs") != commit {
		t.Errorf("as expected: %v", err)
	}
	sh(t, h.dir, "symbolic-ref", "HEAD", "refs/heads/tas/theirs")
	if err := m.Push(ctx, h.src, checkout.Branch{Name: "tas/theirs", Commit: h.base, Was: commit}); kind(err) != fault.Invalid || h.at(t, "tas/theirs") != commit {
		t.Errorf("push to the default branch: %v", err)
	}
	wrong := h.src
	wrong.Token = "tok-s3cret-wrong"
	err = m.Push(ctx, wrong, checkout.Branch{Name: "tas/other", Commit: commit})
	if kind(err) != fault.External || strings.Contains(err.Error(), wrong.Token) {
		t.Errorf("with another token: %v", err)
	}
}

// TestPushWhoseAnswerIsLost is done once, and known to be done.
func TestPushWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	ctx, h, m := context.Background(), newHosted(t), &git.Mirrors{Root: t.TempDir()}
	commit, err := m.Commit(ctx, h.src, change(h.base))
	if err != nil {
		t.Fatal(err)
	}
	var pushes atomic.Int32
	var down atomic.Bool // after the push
	h.breaks(func(r *http.Request) bool {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "git-receive-pack") && r.ContentLength != 4 {
			pushes.Add(1)
			return true
		}
		return pushes.Load() > 0 && down.Load()
	})
	if err := m.Push(ctx, h.src, checkout.Branch{Name: "tas/x", Commit: commit}); err != nil || h.at(t, "tas/x") != commit || pushes.Load() != 1 {
		t.Fatalf("%v, pushed %d times", err, pushes.Load())
	}
	pushes.Store(0)
	down.Store(true)
	if err := m.Push(ctx, h.src, checkout.Branch{Name: "tas/y", Commit: commit}); kind(err) != fault.Unavailable || h.at(t, "tas/y") != commit {
		t.Fatalf("where nothing answers any more: %v", err)
	}
	down.Store(false)
	if err := m.Push(ctx, h.src, checkout.Branch{Name: "tas/y", Commit: commit}); err != nil || pushes.Load() != 1 {
		t.Fatalf("again: %v, pushed %d times", err, pushes.Load())
	}
}

// TestPushAtOnce lets one of many win.
func TestPushAtOnce(t *testing.T) {
	t.Parallel()
	ctx, h := context.Background(), newHosted(t)
	var wait sync.WaitGroup
	won := make(chan string, 8)
	for i := range cap(won) {
		wait.Go(func() {
			m := &git.Mirrors{Root: filepath.Join(t.TempDir(), fmt.Sprint(i))}
			c := change(h.base)
			c.Message = fmt.Sprintf("Change %d", i)
			commit, err := m.Commit(ctx, h.src, c)
			if err != nil {
				t.Error(err)
				return
			}
			if err := m.Push(ctx, h.src, checkout.Branch{Name: "tas/race", Commit: commit}); err == nil {
				won <- commit
			} else if kind(err) != fault.Conflict {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	close(won)
	if len(won) != 1 || <-won != h.at(t, "tas/race") {
		t.Errorf("%d won", len(won))
	}
}

// TestCommitRefuses what cannot be a commit, and leaves nothing.
func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	ctx, h, m := context.Background(), newHosted(t), &git.Mirrors{Root: t.TempDir()}
	for name, edit := range map[string]func(*checkout.Change){
		"nothing":      func(c *checkout.Change) { c.Patch = "\n" },
		"does not fit": func(c *checkout.Change) { c.Patch = strings.Replace(c.Patch, "-two", "-zwo", 1) },
		"no patch":     func(c *checkout.Change) { c.Patch = "please change it\n" },
		"out of it":    func(c *checkout.Change) { c.Patch = strings.ReplaceAll(c.Patch, "a.txt", "../a.txt") },
		"git's own": func(c *checkout.Change) {
			c.Patch = "diff --git a/.git/config b/.git/config\nnew file mode 100644\n--- /dev/null\n+++ b/.git/config\n@@ -0,0 +1 @@\n+x\n"
		},
		"no message":    func(c *checkout.Change) { c.Message = " \n" },
		"forged author": func(c *checkout.Change) { c.Author.Name = "A <a@b> \n" },
		"no address":    func(c *checkout.Change) { c.Committer.Email = "nobody" },
	} {
		c := change(h.base)
		edit(&c)
		if commit, err := m.Commit(ctx, h.src, c); kind(err) != fault.Invalid {
			t.Errorf("%s: %s, %v", name, commit, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(m.Root, "commit-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v stayed, %v", left, err)
	}
}

// TestSignedCommit can be verified with the public key, and a key that cannot be used is
// said without being told.
func TestSignedCommit(t *testing.T) {
	t.Parallel()
	ctx, h, m := context.Background(), newHosted(t), &git.Mirrors{Root: t.TempDir()}
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "tas", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	private, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	c := change(h.base)
	c.SigningKey = string(private)
	commit, err := m.Commit(ctx, h.src, c)
	if err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, append([]byte("c@example.com "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	sh(t, filepath.Join(m.Root, "p.git"), "-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", commit)
	c.SigningKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nQUJD\n-----END OPENSSH PRIVATE KEY-----"
	if _, err := m.Commit(ctx, h.src, c); kind(err) != fault.External || strings.Contains(err.Error(), "QUJD") {
		t.Errorf("%v", err)
	}
}

// TestHead asks for exactly one branch.
func TestHead(t *testing.T) {
	t.Parallel()
	ctx, h, m := context.Background(), newHosted(t), &git.Mirrors{Root: t.TempDir()}
	sh(t, h.dir, "update-ref", "refs/heads/x/refs/heads/y", h.base)
	for branch, want := range map[string]string{"main": h.base, "": h.base, "y": "", "mai*": ""} {
		if got, err := m.Head(ctx, h.src, branch); err != nil || got != want {
			t.Errorf("%s: %q, %v", branch, got, err)
		}
	}
	if _, err := m.Head(ctx, checkout.Source{URL: "file:///nonexistent/x"}, "main"); kind(err) != fault.External {
		t.Errorf("%v", err)
	}
}

func kind(err error) fault.Kind {
	var f *fault.Error
	if err == nil || !errors.As(err, &f) {
		return -1
	}
	return f.Kind
}
