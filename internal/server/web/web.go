// Package web is what a person sees in a browser. Pages are made on the server and can be
// read without scripts; assets has what makes them handier, pages their texts, a folder for
// each area.
package web

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/secret"
	"tas-service/internal/server/route"
)

// App serves the pages.
type App struct {
	Runs     *run.Service
	Bugs     *bug.Service
	Tests    *catalog.Service
	Projects interface {
		Projects(ctx context.Context) ([]project.Project, error) // by name
		Project(ctx context.Context, id string) (project.Project, error)
	}
	Store interface {
		Run(ctx context.Context, id string) (run.Run, error)
	}
	// People signs people in. Where it is set, Viewer, CSRF and SignIn are its own.
	People   *account.People
	Settings *project.Settings
	Provider account.Provider // that people may sign in with, nil for none
	SignUp   bool             // whoever it vouches for may come in without an invitation
	Levels   []string         // of isolation, that a project may demand
	KeepDays int              // of artifacts, where a project does not say
	// Viewer answers who asks: fault.Unauthenticated for nobody that is known. Where it is
	// nil nobody can sign in, and the pages behind the sign-in are closed.
	Viewer func(r *http.Request) (account.Viewer, error)
	// CSRF answers the token that the viewer's forms carry.
	CSRF func(r *http.Request) string
	// SignIn answers where one signs in to come to an address after it.
	SignIn    func(to string) string
	Documents []*huma.OpenAPI // of the API's versions
	Keys      *secret.Keyring
	AppURL    string
	BaseURL   string // under which the API is called
	Now       func() time.Time
	Log       *slog.Logger

	pages  map[string]*template.Template
	assets *assets
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
func (a *App) Mount(mux *http.ServeMux) (err error) {
	if a.assets, err = loadAssets(); err != nil {
		return err
	}
	if a.pages, err = loadPages(a.funcs()); err != nil {
		return err
	}
	if a.People != nil {
		a.mountAccounts(mux)
	} else {
		mux.HandleFunc("GET /{$}", a.home)
	}
	mux.HandleFunc("GET /assets/{name}", a.asset)
	mux.HandleFunc("GET /runs/{id}/{token}", a.run)
	mux.HandleFunc("GET /bugs/{project}/{key}/{token}", a.bug)
	mux.HandleFunc("GET /reference", a.reference)
	mux.HandleFunc("GET /problems/{slug}", a.open(a.problem))
	return nil
}

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	if v, err := a.visit(r); err == nil {
		r = withVisit(r, v)
	}
	a.show(w, r, http.StatusOK, "open/home", Page{Title: "Start", Data: a.BaseURL})
}

func (a *App) problem(w http.ResponseWriter, r *http.Request) error {
	for _, k := range route.Kinds() {
		if k.Slug == r.PathValue("slug") {
			a.show(w, r, http.StatusOK, "open/problem", Page{Title: k.Title, Data: k})
			return nil
		}
	}
	return fault.New(fault.NotFound, "There is no such kind of problem.")
}

func (a *App) notFound(w http.ResponseWriter, r *http.Request, message string) {
	a.fail(w, r, fault.New(fault.NotFound, "%s", message))
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
		a.notFound(w, r, "This link is not valid, or it has expired. Ask the API for the run's status to get a new one.")
		return
	}
	x, err := a.Store.Run(r.Context(), id)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			a.notFound(w, r, "This run does not exist any more.")
			return
		}
		a.fail(w, r, err)
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
		a.fail(w, r, err)
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
	a.show(w, r, http.StatusOK, "run", Page{Title: string(x.Phase) + " · " + p.Name, Data: &p}) // run.Run's methods want a pointer
}
