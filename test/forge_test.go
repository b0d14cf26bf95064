package test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tas-service/internal/project"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// gitServer is a real git server over HTTP that asks for a token.
type gitServer struct {
	*httptest.Server
	token string
	mu    sync.Mutex
	seen  []string // tokens seen in process arguments while it served
}

func newGitServer(t *testing.T, repo *harness.Repo, token string) *gitServer {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + repo.Dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	f := &gitServer{token: token}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, password, ok := r.BasicAuth(); {
		case strings.HasPrefix(r.URL.Path, "/moved/"):
			http.Redirect(w, r, "/elsewhere.git/info/refs", http.StatusMovedPermanently)
		case !ok || password != f.token:
			w.Header().Set("WWW-Authenticate", `Basic realm="forge"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			f.mu.Lock()
			f.seen = append(f.seen, append(withArgument(token), withArgument(basic(token))...)...)
			f.mu.Unlock()
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func basic(token string) string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestRepositories clones from addresses that answer, refuse and are not there. The
// token of a private repository is told to nobody.
func TestRepositories(t *testing.T) {
	const token, wrong = "s3cret-token-that-is-right", "s3cret-token-that-is-wrong"
	log := &syncBuffer{}
	s := harness.Start(t, harness.Options{Log: log})
	f := newGitServer(t, s.Repo, token)
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, c := range []struct{ name, url, token, code, says string }{
		{name: "right token", url: f.URL + "/.git", token: token},
		{name: "wrong token", url: f.URL + "/.git", token: wrong, code: "clone-failed", says: "token"},
		{name: "no token", url: f.URL + "/.git", code: "clone-failed", says: "token"},
		{name: "not there", url: f.URL + "/none.git", token: token, code: "clone-failed", says: "no git repository"},
		{name: "moved", url: f.URL + "/moved/.git", token: token, code: "clone-failed", says: "moved"},
		{name: "nobody answers", url: closed.URL + "/.git", code: "clone-failed", says: "cannot be reached"},
		{name: "path that is not there", url: "/nowhere/at/all", code: "clone-failed", says: "/nowhere/at/all"},
		{name: "file that is no repository", url: "file:///etc", code: "clone-failed", says: "no git repository"},
		{name: "a way to run a program", url: "ext::sh -c touch% /tmp/tas-owned", code: "clone-failed", says: "transport"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := s.Another(t, project.Project{Name: "Forge", Repository: project.Repository{URL: c.url, Token: c.token}})
			st := p.Suite(t)
			if c.code == "" {
				if st["verdict"] != "pass" {
					t.Errorf("status: %v", st)
				}
			} else {
				wantError(t, st, c.code, c.says)
			}
			if said := fmt.Sprint(st); strings.Contains(said, "s3cret") {
				t.Errorf("the status tells the token: %s", said)
			}
		})
	}
	if len(f.seen) > 0 {
		t.Errorf("the token was an argument of processes %v", f.seen)
	}
	if strings.Contains(log.String(), "s3cret") || strings.Contains(log.String(), basic(token)) {
		t.Error("the token is in the log")
	}
	if file := holding(t, s.Data, []string{"/installs/", "/npm/"}, "s3cret", basic(token), basic(wrong)); file != "" {
		t.Errorf("the token is in %s", file)
	}
}

// holding answers a file below dir that holds one of the texts, "" for none; those whose
// path has one of aside in it are not looked into.
func holding(t *testing.T, dir string, aside []string, texts ...string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.ContainsFunc(aside, func(part string) bool { return strings.Contains(path, part) }) {
			return nil //nolint:nilerr // files come and go
		}
		content, err := os.ReadFile(path)
		for _, text := range texts {
			if err == nil && bytes.Contains(content, []byte(text)) {
				found = path
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestQueue queues more runs than there are workers, of two projects: each project's in
// order, and the projects in turn.
func TestQueue(t *testing.T) {
	hold := make(chan struct{})
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.MaxAttempts = 1 }})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-hold
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(slow.Close)
	repository := project.Repository{URL: slow.URL + "/.git"}
	a := s.Another(t, project.Project{Name: "A", Repository: repository})
	b := s.Another(t, project.Project{Name: "B", Repository: repository})
	names := map[string]string{}
	begin := func(p *harness.System, name string) string {
		id := p.Begin(t, "/public-api/v1/execution/suite", nil)
		names[id] = name
		return id
	}
	first := begin(a, "A1")
	a.Until(t, first, func(st map[string]any) bool { return st["phase"] == "preparing" })
	ids := []string{first, begin(a, "A2"), begin(a, "A3"), begin(b, "B1"), begin(b, "B2")}
	close(hold)
	began := map[string]time.Time{}
	for i, id := range ids {
		p := a
		if i > 2 {
			p = b
		}
		st := p.Wait(t, id)
		wantError(t, st, "clone-failed", "")
		at, err := time.Parse(time.RFC3339Nano, st["startedAt"].(string))
		if err != nil {
			t.Fatal(err)
		}
		began[names[id]] = at
	}
	want := []string{"A1", "B1", "A2", "B2", "A3"}
	for i := 1; i < len(want); i++ {
		if !began[want[i-1]].Before(began[want[i]]) {
			t.Fatalf("they began at %v, want them in the order %v", began, want)
		}
	}
}
