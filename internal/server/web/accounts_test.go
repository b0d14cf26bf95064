package web_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/notify"
	"tas-service/internal/notify/httpcall"
	"tas-service/internal/project"
	"tas-service/internal/secret"
	"tas-service/internal/server/route"
	"tas-service/internal/server/web"
	"tas-service/internal/store"
)

// house is the pages with their sign-in on a real store, over real HTTP.
type house struct {
	t      *testing.T
	db     *store.DB
	people *account.People
	url    string
	p      project.Project
	key    string
	now    func() time.Time
	app    *web.App
}

const password = "correct horse battery"

func newHouse(t *testing.T) *house {
	t.Helper()
	return newHouseWith(t, func(*web.App) {})
}

func newHouseWith(t *testing.T, change func(*web.App)) *house {
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
	h := &house{t: t, db: db, now: time.Now}
	if h.p, h.key, err = db.CreateProject(context.Background(), project.Project{Name: "Web <Shop>", Repository: project.Repository{URL: "file:///nowhere", Branch: "main", Token: "repo-s3cret"}}); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return h.now() }
	h.people = &account.People{Records: db, Hasher: account.NewHasher(2), Tries: account.NewTries(clock), Clock: clock}
	srv := httptest.NewUnstartedServer(nil)
	srv.Start()
	t.Cleanup(srv.Close)
	h.url = srv.URL
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	h.app = &web.App{Projects: db, Store: db, Keys: keys, AppURL: srv.URL, BaseURL: srv.URL, Now: clock, Log: log, People: h.people}
	(&site{t: t, db: db, app: h.app}).wire()
	h.wireAccounts()
	change(h.app)
	mux := http.NewServeMux()
	if err := h.app.Mount(mux); err != nil {
		t.Fatal(err)
	}
	if srv.Config.Handler, err = h.app.Protect(route.Base{BaseURL: srv.URL, Log: log}.Wrap(mux)); err != nil {
		t.Fatal(err)
	}
	return h
}

// wireAccounts gives the pages what those of accounts show beside people.
func (h *house) wireAccounts() {
	h.app.Settings = &project.Settings{Records: h.db, Notes: h.people, Checker: looks{}}
	h.app.Levels = []string{"bubblewrap", "none"}
	actions := &action.Service{Store: h.db, Notes: h.people, Clock: h.app.Now, Log: slog.New(slog.DiscardHandler)}
	h.app.Actions = actions
	h.app.Notify = &notify.Service{Store: h.db, Actions: actions, Projects: h.db, Runs: h.db, Bugs: h.db, Notes: h.people, Caller: httpcall.New(true), Insecure: true, Clock: h.app.Now}
}

// looks is a checker that finds one thing wrong.
type looks struct{}

func (looks) CheckRepository(_ context.Context, _ string, r project.Repository) []project.Finding {
	return []project.Finding{{What: "repository", OK: true, Said: "answers at " + r.URL}, {What: "branch", Said: "there is none called " + r.Branch, Fix: "Push it."}}
}

// person adds somebody who can sign in, with a role in the project unless it is empty.
func (h *house) person(email string, administrator bool, role account.Role) account.Person {
	h.t.Helper()
	ctx := context.Background()
	path, err := h.people.OperatorLink(ctx, "")
	if err != nil {
		h.t.Fatal(err)
	}
	name, _, _ := strings.Cut(email, "@")
	if _, err := h.people.Enter(ctx, path[strings.LastIndex(path, "/")+1:], account.Entrant{Email: email, Name: name, Password: password}, account.Client{}); err != nil {
		h.t.Fatal(err)
	}
	who, _, err := h.db.PersonByEmail(ctx, email)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.db.UpdatePerson(ctx, who.ID, func(p *account.Person, _ int) error { p.Administrator = administrator; return nil }); err != nil {
		h.t.Fatal(err)
	}
	if role != "" {
		path, err := h.people.Invite(ctx, account.Viewer{Person: account.Person{Administrator: true}, Projects: []account.Membership{{ProjectID: h.p.ID, Role: account.RoleAdministrator}}}, h.p.ID, role, "")
		if err != nil {
			h.t.Fatal(err)
		}
		if err := h.people.Accept(ctx, account.Viewer{Person: who}, path[strings.LastIndex(path, "/")+1:]); err != nil {
			h.t.Fatal(err)
		}
	}
	who.Administrator = administrator
	return who
}

// browser keeps cookies and follows no redirects.
type browser struct {
	h      *house
	client *http.Client
	from   http.Header // sent with every request
}

func (h *house) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &browser{h: h, from: http.Header{}, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// as answers a browser in which somebody signed in.
func (h *house) as(email string) *browser {
	h.t.Helper()
	b := h.browser()
	if a := b.post("/sign-in", url.Values{"email": {email}, "password": {password}}); a.code != http.StatusSeeOther {
		h.t.Fatalf("%s cannot sign in: %d %s", email, a.code, a.text)
	}
	return b
}

func (b *browser) get(path string) *answer {
	b.h.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

// post sends a form as it is.
func (b *browser) post(path string, form url.Values) *answer {
	b.h.t.Helper()
	return b.do(http.MethodPost, path, form)
}

// send sends a form of a page, with the token of that page.
func (b *browser) send(page, path string, form url.Values) *answer {
	b.h.t.Helper()
	form.Set("csrf", b.token(page))
	return b.post(path, form)
}

// token answers the token that a page's forms carry.
func (b *browser) token(page string) string {
	b.h.t.Helper()
	a := b.get(page)
	if a.doc == nil {
		b.h.t.Fatalf("%s is no page: %d", page, a.code)
	}
	for _, i := range all(a.doc, "input") {
		if attr(i, "name") == "csrf" {
			return attr(i, "value")
		}
	}
	b.h.t.Fatalf("%s has no form: %d %.300s", page, a.code, a.text)
	return ""
}

func (b *browser) do(method, path string, form url.Values) *answer {
	b.h.t.Helper()
	r, err := http.NewRequest(method, b.h.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.h.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for k, v := range b.from {
		r.Header[k] = v
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.h.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.h.t.Fatal(err)
	}
	a := &answer{t: b.h.t, code: resp.StatusCode, header: resp.Header, text: string(text)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		if a.doc, err = html.Parse(strings.NewReader(a.text)); err != nil {
			b.h.t.Fatal(err)
		}
	}
	return a
}
