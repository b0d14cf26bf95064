package web_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"tas-service/internal/account"
	"tas-service/internal/event"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/secret"
	"tas-service/internal/server/web"
	"tas-service/internal/store"
)

// site is the pages on a real store, seen by a person whose role a test chooses.
type site struct {
	t       *testing.T
	app     *web.App
	db      *store.DB
	handler http.Handler
	p       project.Project
	role    account.Role // in p; "" for nobody who is signed in
	now     time.Time
	hub     *event.Hub
}

func newSite(t *testing.T) *site {
	t.Helper()
	keys, err := secret.NewKeyring(make([]byte, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenSQLite(context.Background(), filepath.Join(t.TempDir(), "tas.db"), keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	p, _, err := db.CreateProject(context.Background(), project.Project{Name: "Web <Shop>", Repository: project.Repository{URL: "file:///nowhere", Branch: "main"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, db: db, p: p, role: account.RoleMember, now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	s.app = &web.App{Projects: db, Store: db, Keys: keys, AppURL: "http://tas.example", BaseURL: "http://tas.example",
		Now: func() time.Time { return s.now }, Log: slog.New(slog.NewTextHandler(noted{t}, nil)),
		Viewer: func(*http.Request) (account.Viewer, error) {
			if s.role == "" {
				return account.Viewer{}, fault.New(fault.Unauthenticated, "Nobody is signed in.")
			}
			return account.Viewer{Person: account.Person{ID: "ada", Name: "Ada", Email: "ada@example.com"}, Projects: []account.Membership{{ProjectID: p.ID, PersonID: "ada", Role: s.role}}}, nil
		},
		CSRF:   func(*http.Request) string { return "the-token" },
		SignIn: func(to string) string { return "/sign-in?to=" + url.QueryEscape(to) },
	}
	s.wire()
	mux := http.NewServeMux()
	if err := s.app.Mount(mux); err != nil {
		t.Fatal(err)
	}
	s.handler = mux
	return s
}

// answer is a page that was asked for.
type answer struct {
	t      *testing.T
	code   int
	header http.Header
	text   string
	doc    *html.Node
}

func (s *site) get(path string) *answer {
	s.t.Helper()
	return s.ask(httptest.NewRequest(http.MethodGet, path, http.NoBody))
}

// post sends a form.
func (s *site) post(path string, form url.Values) *answer {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.ask(r)
}

func (s *site) ask(r *http.Request) *answer {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	a := &answer{t: s.t, code: w.Code, header: w.Header(), text: w.Body.String()}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && w.Body.Len() > 0 && w.Code != http.StatusSeeOther {
		doc, err := html.Parse(strings.NewReader(a.text))
		if err != nil {
			s.t.Fatal(err)
		}
		a.doc = doc
		a.sound(r.Method + " " + r.URL.String())
	}
	return a
}

// sound holds a page to what all pages promise.
func (a *answer) sound(what string) {
	a.t.Helper()
	csp := a.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(csp, want) || strings.Contains(csp, "unsafe") {
			a.t.Errorf("%s: the policy is %q", what, csp)
		}
	}
	ids := map[string]bool{}
	for n := range a.doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" && attr(n, "src") == "" || n.Data == "style" || n.Data == "base" {
			a.t.Errorf("%s: has a <%s> of its own", what, n.Data)
		}
		for _, x := range n.Attr {
			if x.Key == "style" || strings.HasPrefix(x.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(x.Val)), "javascript:") {
				a.t.Errorf("%s: <%s %s=%q>", what, n.Data, x.Key, x.Val)
			}
		}
		if id := attr(n, "id"); id != "" {
			if ids[id] {
				a.t.Errorf("%s: two elements are #%s", what, id)
			}
			ids[id] = true
		}
		if n.Data == "form" && strings.EqualFold(attr(n, "method"), "post") && !slices.ContainsFunc(all(n, "input"), func(i *html.Node) bool { return attr(i, "name") == "csrf" && attr(i, "value") != "" }) {
			a.t.Errorf("%s: the form to %s has no token", what, attr(n, "action"))
		}
	}
	for n := range a.doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "input", "select", "textarea":
			if kind := attr(n, "type"); kind == "hidden" || kind == "submit" || attr(n, "aria-label") != "" || under(n, "label") {
				continue
			}
			if id := attr(n, "id"); id == "" || a.count(`label`, "for", id) == 0 {
				a.t.Errorf("%s: <%s name=%q> has no label", what, n.Data, attr(n, "name"))
			}
		case "img":
			if !slices.ContainsFunc(n.Attr, func(x html.Attribute) bool { return x.Key == "alt" }) {
				a.t.Errorf("%s: an image has no alternative", what)
			}
		}
	}
	for _, want := range []string{"main", "h1", "title", "header"} {
		found := slices.DeleteFunc(all(a.doc, want), func(n *html.Node) bool { return under(n, "svg") })
		if len(found) != 1 {
			a.t.Errorf("%s: has %d <%s>", what, len(found), want)
		}
	}
}

func attr(n *html.Node, key string) string {
	for _, x := range n.Attr {
		if x.Key == key {
			return x.Val
		}
	}
	return ""
}

func under(n *html.Node, tag string) bool {
	for p := range n.Ancestors() {
		if p.Data == tag {
			return true
		}
	}
	return false
}

// all answers the elements with a tag.
func all(n *html.Node, tag string) (out []*html.Node) {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == tag {
			out = append(out, c)
		}
	}
	return out
}

func (a *answer) count(tag, key, value string) (n int) {
	for _, e := range all(a.doc, tag) {
		if attr(e, key) == value {
			n++
		}
	}
	return n
}

// words is what a reader sees of an element, blanks as one.
func words(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode && !under(c, "noscript") {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (a *answer) title() string { return words(all(a.doc, "title")[0]) }

// body is what a reader sees of the page's content.
func (a *answer) body() string { return words(all(a.doc, "main")[0]) }

// ok holds the page to a status and to words that it must have.
func (a *answer) ok(code int, want ...string) *answer {
	a.t.Helper()
	if a.code != code {
		a.t.Fatalf("status %d, not %d: %.600s", a.code, code, a.text)
	}
	for _, w := range want {
		if !strings.Contains(a.body(), w) {
			a.t.Errorf("the page %q does not say %q: %s", a.title(), w, a.body())
		}
	}
	return a
}

// without holds the page to words that it must not have.
func (a *answer) without(words ...string) *answer {
	a.t.Helper()
	for _, w := range words {
		if strings.Contains(a.body(), w) {
			a.t.Errorf("the page %q says %q: %s", a.title(), w, a.body())
		}
	}
	return a
}

// noted fails a test when the pages log an error: each is a page that could not be made.
type noted struct{ t *testing.T }

func (n noted) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "level=ERROR") {
		n.t.Errorf("logged: %s", line)
	}
	return len(line), nil
}
