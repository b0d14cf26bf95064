package forgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tas-service/internal/forge"
)

// Double is a hosted forge of our own: it keeps real git repositories, serves them over
// HTTP with tokens, and speaks one forge's API as far as the clients use it. Its methods do
// what a person would do in a browser.
type Double struct {
	URL  string
	Kind forge.Kind

	t      *testing.T
	server *httptest.Server
	root   string
	git    http.Handler
	// check looks at each answer of the API, where it is set.
	check func(r *http.Request, status int, header http.Header, body []byte)

	mu       sync.Mutex
	accounts []*account
	repos    []*hosted
	last     int64 // number that was given to anything
	now      time.Time
	trouble  func(call int, r *http.Request) Trouble
	calls    int
	hooks    []hook
	editing  map[int64]int // comments that are being edited, and by how many
	app      *app          // of GitHub
}

// account is somebody at the double.
type account struct {
	id           int64
	login, token string
	bot          bool
}

// hosted is a repository at the double.
type hosted struct {
	id     int64
	name   string // "owner/repo"
	dir    string
	roles  map[int64]string // by account: "read", "write" or "admin"
	gone   bool
	number int
	pulls  []*pull
	status map[string][]status
}

type pull struct {
	id               int64
	number           int
	state            forge.State
	draft            bool
	title, body      string
	from             *hosted
	head, base       string
	headSHA, baseSHA string
	author           *account
	created, updated time.Time
	merged           *time.Time
	mergeSHA         string
	comments         []*comment
}

type comment struct {
	id               int64
	body             string
	author           *account
	created, updated time.Time
	marks            []mark
}

type mark struct {
	id   int64
	by   *account
	sign string
}

type status struct {
	state, context, description, url string
}

// newDouble starts a forge with the service's account, a reader, and one repository with a
// commit on main.
func newDouble(t *testing.T, kind forge.Kind, api func(d *Double) http.Handler) *Double {
	t.Helper()
	d := &Double{Kind: kind, t: t, root: t.TempDir(), editing: map[int64]int{}, now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	exe, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	d.git = &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(exe)), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + d.root, "GIT_HTTP_EXPORT_ALL=1",
		"REMOTE_USER=somebody", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", "GIT_CONFIG_KEY_1=http.receivepack", "GIT_CONFIG_VALUE_1=true"}}
	for _, login := range []string{"tas-bot", "reader", "owner"} {
		d.accounts = append(d.accounts, &account{id: d.next(), login: login, token: "token-of-" + login + "-s3cret"})
	}
	handler := api(d)
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.serve(handler, w, r) }))
	t.Cleanup(d.server.Close)
	d.URL = d.server.URL
	d.addRepo("shop/tests", map[int64]string{d.account("tas-bot").id: "write", d.account("reader").id: "read", d.account("owner").id: "admin"})
	d.Commit(t, "shop/tests", "main", map[string]string{"README.md": "# Tests\n", "tests/cart.spec.ts": strings.Repeat("line\n", 30), "tests/old.spec.ts": "old\n"})
	return d
}

func (d *Double) next() int64 { d.last++; return d.last + 1000 }

// tick answers a time a second after the last one. The lock is held.
func (d *Double) tick() time.Time { d.now = d.now.Add(time.Second); return d.now }

func (d *Double) account(login string) *account {
	for _, a := range d.accounts {
		if strings.EqualFold(a.login, login) {
			return a
		}
	}
	return nil
}

// Token answers somebody's token.
func (d *Double) Token(login string) string { return d.account(login).token }

// addRepo makes a bare repository.
func (d *Double) addRepo(name string, roles map[int64]string) *hosted {
	r := &hosted{id: d.next(), name: name, dir: filepath.Join(d.root, filepath.FromSlash(name)+".git"), roles: roles, status: map[string][]status{}}
	d.run(nil, "", "init", "--quiet", "--bare", "--initial-branch=main", r.dir)
	d.repos = append(d.repos, r)
	return r
}

func (d *Double) repo(name string) *hosted {
	for _, r := range d.repos {
		if strings.EqualFold(r.name, name) && !r.gone {
			return r
		}
	}
	return nil
}

// run answers git's output; the tests end where git fails.
func (d *Double) run(stdin []byte, dir string, args ...string) string {
	out, err := gitOutput(stdin, dir, args...)
	if err != nil {
		d.t.Errorf("git %v: %v", args, err)
	}
	return out
}

func gitOutput(stdin []byte, dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.invalid", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.invalid")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said.String())
	}
	return string(out), err
}

// CommitTo makes a commit in a bare repository: files by path, "" for one that is removed.
// A branch that is not there begins at main.
func CommitTo(dir, branch string, files map[string]string) (string, error) {
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter T <t@example.invalid> 1790000000 +0000\ndata 1\nc\n", branch)
	for _, from := range []string{branch, "main"} {
		if _, err := gitOutput(nil, dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+from); err == nil {
			fmt.Fprintf(&in, "from refs/heads/%s^0\n", from)
			break
		}
	}
	for path, content := range files {
		if content == "" {
			fmt.Fprintf(&in, "D %s\n", path)
		} else {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
		}
	}
	if _, err := gitOutput(in.Bytes(), dir, "fast-import", "--quiet", "--force"); err != nil {
		return "", err
	}
	out, err := gitOutput(nil, dir, "rev-parse", "refs/heads/"+branch)
	return strings.TrimSpace(out), err
}

// Commit pushes a commit, see CommitTo.
func (d *Double) Commit(t *testing.T, repo, branch string, files map[string]string) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.repo(repo)
	hash, err := CommitTo(h.dir, branch, files)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func (h *hosted) commit(branch string) string {
	out, err := gitOutput(nil, h.dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// Fork copies a repository for the reader.
func (d *Double) Fork(t *testing.T, repo string) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.repo(repo)
	_, name, _ := strings.Cut(repo, "/")
	f := d.addRepo("reader/"+name, map[int64]string{d.account("reader").id: "admin", d.account("tas-bot").id: "read"})
	d.run(nil, f.dir, "fetch", "--quiet", h.dir, "+refs/heads/*:refs/heads/*")
	return f.name
}

// open adds a pull request. The lock is held.
func (d *Double) open(into, from *hosted, head, base, title, body string, draft bool, by *account) *pull {
	into.number++
	at := d.tick()
	p := &pull{id: d.next(), number: into.number, state: forge.Open, draft: draft, title: title, body: body, from: from, head: head, base: base, author: by, created: at, updated: at}
	into.pulls = append(into.pulls, p)
	d.refresh(into, p)
	d.notice(into, p, "opened", nil, by)
	return p
}

// OpenPull opens one as a person, perhaps from a fork; it answers the number.
func (d *Double) OpenPull(t *testing.T, repo, from, head, base string) int {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open(d.repo(repo), d.repo(from), head, base, "By hand", "", false, d.account("reader")).number
}

// refresh brings the commits of an open pull request up to date. The lock is held.
func (d *Double) refresh(into *hosted, p *pull) {
	if p.state != forge.Open {
		return
	}
	if p.from != nil && !p.from.gone {
		if c := p.from.commit(p.head); c != "" {
			p.headSHA = c
			if p.from != into {
				d.run(nil, into.dir, "fetch", "--quiet", p.from.dir, "+refs/heads/"+p.head+":refs/pull/"+strconv.Itoa(p.number)+"/head")
			}
		}
	}
	if c := into.commit(p.base); c != "" {
		p.baseSHA = c
	}
}

func (d *Double) pull(repo string, number int) (*hosted, *pull) {
	h := d.repo(repo)
	if h == nil {
		return nil, nil
	}
	for _, p := range h.pulls {
		if p.number == number {
			d.refresh(h, p)
			return h, p
		}
	}
	return h, nil
}

// Merge merges one as its owner would.
func (d *Double) Merge(t *testing.T, repo string, number int) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	h, p := d.pull(repo, number)
	tree := strings.TrimSpace(d.run(nil, h.dir, "merge-tree", "--write-tree", p.baseSHA, p.headSHA))
	p.mergeSHA = strings.TrimSpace(d.run([]byte("Merge\n"), h.dir, "commit-tree", "-p", p.baseSHA, "-p", p.headSHA, tree))
	d.run(nil, h.dir, "update-ref", "refs/heads/"+p.base, p.mergeSHA, p.baseSHA)
	at := d.tick()
	p.state, p.merged, p.updated = forge.Merged, &at, at
	d.notice(h, p, "merged", nil, d.account("owner"))
}

// Close closes one without merging it.
func (d *Double) Close(t *testing.T, repo string, number int) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	h, p := d.pull(repo, number)
	p.state, p.updated = forge.Closed, d.tick()
	d.notice(h, p, "closed", nil, d.account("owner"))
}

// Reopen opens a closed one again.
func (d *Double) Reopen(t *testing.T, repo string, number int) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	h, p := d.pull(repo, number)
	p.state, p.updated = forge.Open, d.tick()
	d.notice(h, p, "reopened", nil, d.account("owner"))
}

// Remove deletes a repository.
func (d *Double) Remove(repo string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.repo(repo).gone = true
}

// Say comments as somebody; it answers the comment's ID.
func (d *Double) Say(repo string, number int, login, body string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, p := d.pull(repo, number)
	return strconv.FormatInt(d.say(h, p, d.account(login), body).id, 10)
}

func (d *Double) say(h *hosted, p *pull, by *account, body string) *comment {
	at := d.tick()
	c := &comment{id: d.next(), body: body, author: by, created: at, updated: at}
	p.comments = append(p.comments, c)
	d.notice(h, p, "commented", c, by)
	return c
}

func (d *Double) comment(repo string, id int64) (*pull, *comment) {
	h := d.repo(repo)
	if h == nil {
		return nil, nil
	}
	for _, p := range h.pulls {
		for _, c := range p.comments {
			if c.id == id {
				return p, c
			}
		}
	}
	return nil, nil
}

// RemoveComment deletes a comment.
func (d *Double) RemoveComment(repo, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.repo(repo).pulls {
		for i, c := range p.comments {
			if strconv.FormatInt(c.id, 10) == id {
				p.comments = append(p.comments[:i], p.comments[i+1:]...)
				return
			}
		}
	}
}

// Marks answers the reactions to a comment, as the forge names them.
func (d *Double) Marks(repo, id string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, _ := strconv.ParseInt(id, 10, 64)
	var out []string
	if _, c := d.comment(repo, n); c != nil {
		for _, m := range c.marks {
			out = append(out, m.sign)
		}
	}
	return out
}

// Statuses answers what was said of a commit, the oldest first.
func (d *Double) Statuses(repo, commit string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, s := range d.repo(repo).status[commit] {
		out = append(out, s.context+" "+s.state+" "+s.description+" "+s.url)
	}
	return out
}

// reply writes JSON.
func reply(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b) //nolint:errcheck // a recorder
}

// obj is a JSON object.
type obj = map[string]any

// page answers one page of a list and whether there are more.
func page[T any](list []T, number, size int) (part []T, more bool) {
	from := min(max(number-1, 0)*size, len(list))
	to := min(from+size, len(list))
	return list[from:to], to < len(list)
}

func number(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return n
	}
	return otherwise
}
