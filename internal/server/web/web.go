// Package web is what a person sees in a browser. Pages are made on the server and can be
// read without scripts; assets has what makes them handier, pages their texts, a folder for
// each area.
package web

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/artifact"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/heal"
	"tas-service/internal/notify"
	"tas-service/internal/project"
	"tas-service/internal/pull"
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
	Blobs artifact.Blobs
	// People signs people in. Where it is set, Viewer, CSRF and SignIn are its own.
	People    *account.People
	Settings  *project.Settings
	Pulls     *pull.Service
	Refresher *run.Refresher  // brings catalogs up to date
	Actions   *action.Service // what is done to the outside
	Notify    *notify.Service
	Healing   *heal.Service    // nil: nothing is healed
	Provider  account.Provider // that people may sign in with, nil for none
	SignUp    bool             // whoever it vouches for may come in without an invitation
	Levels    []string         // of isolation, that a project may demand
	KeepDays  int              // of artifacts, where a project does not say
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
	// Separate says that what test code left behind has an origin of its own, where it may
	// run scripts, and with them the trace viewer.
	Separate bool
	Now      func() time.Time
	Log      *slog.Logger

	pages    map[string]*template.Template
	assets   *assets
	traces   traces
	pictures pictures
}

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
		a.mountOutside(mux)
	} else {
		mux.HandleFunc("GET /{$}", a.home)
	}
	mux.HandleFunc("GET /assets/{name}", a.asset)
	mux.HandleFunc("GET /reference", a.reference)
	mux.HandleFunc("GET /problems/{slug}", a.open(a.problem))
	a.mountRuns(mux)
	a.mountLinks(mux)
	a.mountTests(mux)
	a.mountHealth(mux)
	if a.Healing != nil {
		a.mountSessions(mux)
	}
	if a.Pulls != nil {
		a.mountPulls(mux)
		a.mountConnection(mux)
	}
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

// act makes a handler of a form that members of the project may send.
func (a *App) act(h func(w http.ResponseWriter, r *http.Request, v *visit) error) http.HandlerFunc {
	return a.inProject(func(w http.ResponseWriter, r *http.Request, v *visit) error {
		if err := v.Actor.MayAs(account.RoleMember, v.Project.ID, "project"); err != nil {
			return err
		}
		if err := form(w, r); err != nil {
			return err
		}
		return h(w, r, v)
	})
}
