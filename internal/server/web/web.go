// Package web is what a person sees in a browser: today the page of a run, which opens
// through a signed link, and the pages that explain problems.
package web

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/secret"
	"tas-service/internal/server/route"
)

//go:embed pages/*.html pages/style.css
var files embed.FS

// App serves the pages.
type App struct {
	Runs  *run.Service
	Bugs  *bug.Service
	Store interface {
		Run(ctx context.Context, id string) (run.Run, error)
	}
	Documents []*huma.OpenAPI // of the API's versions
	Keys      *secret.Keyring
	AppURL    string
	BaseURL   string // under which the API is called
	Now       func() time.Time
	Log       *slog.Logger

	templates *template.Template
}

// Links to the pages of runs and bugs are signed for one of them: whoever has one may see
// it until it expires.
const (
	linkPurpose = "run-page"
	bugPurpose  = "bug-page"
	linkTTL     = 30 * 24 * time.Hour
)

// RunURL answers the address of a run's page.
func RunURL(appURL string, keys *secret.Keyring, now func() time.Time) func(runID string) string {
	return func(runID string) string {
		return fmt.Sprintf("%s/runs/%s/%s", appURL, runID, keys.Sign(linkPurpose, runID, expiry(now())))
	}
}

// expiry goes by the day, so that the address of a page does not change with every poll.
func expiry(now time.Time) time.Time { return now.Truncate(24 * time.Hour).Add(linkTTL) }

// Mount registers the pages.
func (a *App) Mount(mux *http.ServeMux) error {
	t, err := template.New("").Funcs(template.FuncMap{"ms": showDuration, "join": strings.Join, "percent": percent,
		"millis": func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }, "add": func(a, b int) int { return a + b }}).ParseFS(files, "pages/*.html")
	if err != nil {
		return err
	}
	a.templates = t
	mux.HandleFunc("GET /{$}", a.home)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=300")
		http.ServeFileFS(w, r, files, "pages/style.css")
	})
	mux.HandleFunc("GET /runs/{id}/{token}", a.run)
	mux.HandleFunc("GET /bugs/{project}/{key}/{token}", a.bug)
	mux.HandleFunc("GET /reference", a.reference)
	mux.HandleFunc("GET /problems/{slug}", a.problem)
	return nil
}

// policy: our pages have no script and load only their own style.
const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (a *App) show(w http.ResponseWriter, status int, name string, data any) {
	var b strings.Builder
	if err := a.templates.ExecuteTemplate(&b, name, data); err != nil {
		a.Log.Error("a page could not be made", "page", name, "error", err)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write([]byte(b.String())) //nolint:errcheck // the reader is gone
}

func (a *App) home(w http.ResponseWriter, _ *http.Request) {
	a.show(w, http.StatusOK, "home.html", a.BaseURL)
}

func (a *App) problem(w http.ResponseWriter, r *http.Request) {
	for _, k := range route.Kinds() {
		if k.Slug == r.PathValue("slug") {
			a.show(w, http.StatusOK, "problem.html", k)
			return
		}
	}
	a.notFound(w, "There is no such kind of problem.")
}

func (a *App) notFound(w http.ResponseWriter, message string) {
	a.show(w, http.StatusNotFound, "notfound.html", message)
}

// runPage is what the page of a run shows.
type runPage struct {
	Run       run.Run
	Name      string
	Refresh   bool
	ReportURL string
	Failed    []run.Result
	More      bool
	Running   []run.Result
	All       []run.Result
	Shards    []run.Shard
	Now       time.Time
	Took      time.Duration
	bugURL    func(bug.Bug) string
}

// BugLink answers where the bug of a failure is shown.
func (p *runPage) BugLink(key string) string {
	n, err := bug.NumberOf(key)
	if err != nil {
		return ""
	}
	return p.bugURL(bug.Bug{ProjectID: p.Run.ProjectID, Number: n})
}

// ShardTime answers how long a shard has been at work, or was.
func (p *runPage) ShardTime(s run.Shard) string {
	if s.StartedAt == nil {
		return ""
	}
	end := p.Now
	if s.FinishedAt != nil {
		end = *s.FinishedAt
	}
	return showDuration(end.Sub(*s.StartedAt))
}

// maxShown bounds the failures and the tests on the page; the report has all.
const (
	maxShown = 100
	maxTests = 1000
)

func (a *App) run(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if err := a.Keys.Verify(linkPurpose, id, r.PathValue("token"), a.Now()); err != nil {
		a.notFound(w, "This link is not valid, or it has expired. Ask the API for the run's status to get a new one.")
		return
	}
	x, err := a.Store.Run(r.Context(), id)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			a.notFound(w, "This run does not exist any more.")
			return
		}
		route.Write(w, r, err)
		return
	}
	actor := account.Actor{ProjectID: x.ProjectID, Via: account.ViaKey}
	p := runPage{Run: x, Name: x.Name, Refresh: !x.Terminal() && !x.Parked, Now: a.Now(), bugURL: BugURL(a.AppURL, a.Keys, a.Now)}
	if x.Sharded() {
		// It has no job name that anybody could use.
		p.Name = fmt.Sprintf("Run %.8s in %d shards", x.ID, x.ShardCount)
	}
	var lerr error
	list := func(limit int, statuses ...run.Status) []run.Result {
		rs, next, rerr := a.Runs.Results(r.Context(), actor, run.ResultQuery{RunID: id, After: -1, Limit: limit, Statuses: statuses})
		if rerr != nil {
			err = rerr
		}
		p.More = p.More || next >= 0
		return rs
	}
	p.Failed = list(maxShown, run.StatusFailed, run.StatusBug)
	p.Running = list(20, run.StatusRunning)
	p.All = list(maxTests)
	if p.Shards, lerr = a.Runs.Shards(r.Context(), x); lerr != nil {
		err = lerr
	}
	if err != nil {
		route.Write(w, r, err)
		return
	}
	if x.HasReport && x.Terminal() {
		p.ReportURL, _, _ = a.Runs.Report(r.Context(), actor, id)
	}
	end := a.Now()
	if x.FinishedAt != nil {
		end = *x.FinishedAt
	}
	p.Took = end.Sub(x.CreatedAt)
	a.show(w, http.StatusOK, "run.html", &p) // run.Run's methods want a pointer
}

func showDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

func percent(n, of int) int {
	if of <= 0 {
		return 0
	}
	return n * 100 / of
}
