// Package v1 is version 1 of the public API.
package v1

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/heal"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/server/route"
)

// Prefix of every path.
const Prefix = "/public-api/v1"

// API is what version 1 serves.
type API struct {
	Runs     *run.Service
	Tests    *catalog.Service
	Projects project.Store
	Bugs     *bug.Service
	BugURL   func(b bug.Bug) string // where a person sees a bug
	Healing  *heal.Service
	// SessionURL answers where a person sees a session.
	SessionURL func(sessionID string) string
	Auth       *account.Authenticator
	Limits     *route.Limits
}

const about = `Runs the automated end-to-end tests of a project, reports the results and gates pipelines on the verdict.

Start a run, poll its status until isTerminal is true, and treat it as passed only when verdict is "pass".`

var tags = []*huma.Tag{
	{Name: "Project", Description: "Whom the API key belongs to."},
	{Name: "Execution", Description: "Start runs and poll them until they are terminal."},
	{Name: "Test runs", Description: "What came of runs: results, reports, attachments, and verdicts on them."},
	{Name: "Tests", Description: "The tests that can be run, how they fared lately, and those whose failures do not count for a while."},
	{Name: "Collections", Description: "Groups of tests that are run together, by hand or by a rule."},
	{Name: "Healing", Description: "Sessions that find out why tests fail, and repair those that drifted."},
	{Name: "Health dashboard", Description: "Failures grouped by their cause."},
}

// Mount registers every operation.
func (a *API) Mount(mux *http.ServeMux) huma.API {
	h := route.NewAPI(mux, route.Version{Prefix: Prefix, Number: "1.0.0", About: about, Tags: tags, Auth: a.Auth, Limits: a.Limits})
	huma.Register(h, huma.Operation{OperationID: "get-me", Method: http.MethodGet, Path: "/me", Tags: []string{"Project"},
		Summary: "Check the API key", Description: "Answers the project that the API key belongs to.", Errors: route.Statuses()}, route.Handle(a.me))
	a.mountExecution(h)
	a.mountTestRuns(h)
	a.mountBugs(h)
	a.mountTests(h)
	a.mountHealing(h)
	route.AllowNull(h)
	return h
}

type meOut struct {
	Body struct {
		ID           string `json:"id" format:"uuid"`
		Name         string `json:"name"`
		HasTestsRepo bool   `json:"hasTestsRepo" doc:"Whether a tests repository is connected"`
	}
}

func (a *API) me(ctx context.Context, _ *struct{}) (*meOut, error) {
	p, err := a.Projects.Project(ctx, route.ActorOf(ctx).ProjectID)
	if err != nil {
		return nil, err
	}
	out := &meOut{}
	out.Body.ID, out.Body.Name, out.Body.HasTestsRepo = p.ID, p.Name, p.HasTestsRepo()
	return out, nil
}
