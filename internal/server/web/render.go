package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/server/route"
)

//go:embed pages
var pageFiles embed.FS

// Signal is what a page's icon shows in a background tab.
type Signal string

// The signals.
const (
	Quiet     Signal = ""
	IsPassed  Signal = "pass"
	IsFailed  Signal = "fail"
	IsRunning Signal = "running"
)

// Page is what every page has around its own content, which is made from Data.
type Page struct {
	Title  string // without the service's name; says the state where there is one
	Signal Signal
	Area   string // entry of the navigation that the page belongs to
	Crumbs []Crumb
	Live   string // address that tells of changes; "" for a page that does not change by itself
	Wide   bool
	Data   any
}

// Crumb is one step of the way to a page; the last one, the page itself, has no address.
type Crumb struct{ Name, URL string }

// Flash is what came of the form that was sent before.
type Flash struct {
	Text string
	Bad  bool
}

// view is what templates see.
type view struct {
	*Page
	Viewer   *account.Viewer // nil where nobody is signed in
	Projects []project.Project
	Project  *project.Project // nil outside of one
	Role     account.Role     // in the project
	Open     string           // beginning of the addresses of a signed link, "" behind the sign-in
	CSRF     string
	Path     string
	Waiting  int // actions of the project that wait for a person
	Heals    bool
	Flash    *Flash
	Now      time.Time
	nameOf   func(by string) string
	names    map[string]string
}

// Base answers the beginning of the addresses of the project's pages.
func (v *view) Base() string {
	if v.Project == nil {
		return ""
	}
	return projectURL(v.Project.Slug)
}

// Can reports whether the viewer may do in the project what a role may.
func (v *view) Can(role string) bool {
	return v.Open == "" && v.Project != nil && v.Role.Includes(account.Role(role))
}

func projectURL(slug string) string { return "/projects/" + url.PathEscape(slug) }

// part is what a partial is called with: the whole view and one value.
type part struct {
	View *view
	X    any
}

// loadPages parses every page below pages: pages/shell is the frame that all have, and
// files called parts.html are partials of all.
func loadPages(funcs template.FuncMap) (map[string]*template.Template, error) {
	base := template.New("").Funcs(funcs)
	var names []string
	err := fs.WalkDir(pageFiles, "pages", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := pageFiles.ReadFile(at)
		if err != nil {
			return err
		}
		if strings.HasPrefix(at, "pages/shell/") || path.Base(at) == "parts.html" {
			_, err = base.New(at).Parse(string(text))
			return err
		}
		names = append(names, at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := map[string]*template.Template{}
	for _, at := range names {
		text, err := pageFiles.ReadFile(at)
		if err != nil {
			return nil, err
		}
		t, err := base.Clone()
		if err != nil {
			return nil, err
		}
		if _, err := t.New(at).Parse(string(text)); err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(strings.TrimPrefix(at, "pages/"), ".html")] = t
	}
	return out, nil
}

// policy: pages load what the service itself serves and nothing else, and run no script
// that stands in them.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// show answers a page: name is its file below pages, without .html.
func (a *App) show(w http.ResponseWriter, r *http.Request, status int, name string, p Page) {
	v := &view{Page: &p, Path: r.URL.Path, Flash: takeFlash(w, r), Now: a.Now(), names: map[string]string{},
		nameOf: func(by string) string { return a.nameOf(r.Context(), by) }}
	if x := visitOf(r.Context()); x != nil {
		v.Viewer, v.Projects, v.Project, v.Role, v.Open = x.Viewer, x.Projects, x.Project, x.Actor.Role, x.Open
	}
	v.Waiting, v.Heals = a.waiting(r.Context(), v), a.Healing != nil
	if a.CSRF != nil && v.Viewer != nil {
		v.CSRF = a.CSRF(r)
	}
	var b bytes.Buffer
	t := a.pages[name]
	if t == nil {
		a.Log.Error("there is no such page", "page", name)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	if err := t.ExecuteTemplate(&b, "page", v); err != nil {
		a.Log.Error("a page could not be made", "page", name, "error", err)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(unsteered(b.Bytes())) //nolint:errcheck // the reader is gone
}

// problemPage is what the page of an error shows.
type problemPage struct {
	Title, Message, Fix string
	Details             []fault.Detail
	RequestID           string
	Status              int
	Back                string
}

// fail answers an error as a page: the one place where the pages' errors are rendered.
func (a *App) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := route.ProblemOf(r.Context(), err)
	x := problemPage{Title: p.Title, Message: p.Detail, RequestID: p.RequestID, Status: p.Status}
	if f := fault.As(err); f != nil && f.Kind != fault.Internal {
		x.Message, x.Fix, x.Details = f.Message, f.Fix, f.Details
	}
	if r.Method != http.MethodGet {
		x.Back = r.Header.Get("Referer")
	}
	a.show(w, r, p.Status, "open/error", Page{Title: p.Title, Data: x})
}

// flashCookie carries what came of a form to the page that follows.
const flashCookie = "tas_flash"

// SetFlash has the next page say what came of a form.
func SetFlash(w http.ResponseWriter, r *http.Request, f Flash) {
	kind := "+"
	if f.Bad {
		kind = "-"
	}
	http.SetCookie(w, &http.Cookie{Name: flashCookie, Value: url.QueryEscape(kind + f.Text), Path: "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil})
}

func takeFlash(w http.ResponseWriter, r *http.Request) *Flash {
	c, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: flashCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	text, err := url.QueryUnescape(c.Value)
	if err != nil || len(text) < 2 || len(text) > 1000 {
		return nil
	}
	return &Flash{Text: text[1:], Bad: text[0] == '-'}
}

// done sends the browser on after a form, with a word on what came of it.
func done(w http.ResponseWriter, r *http.Request, to, text string) {
	if text != "" {
		SetFlash(w, r, Flash{Text: text})
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
