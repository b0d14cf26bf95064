// Package v2 is version 2 of the public API: runs by name pattern with all options, and
// the status by job name that also tells the run's ID.
package v2

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/account"
	"tas-service/internal/run"
	"tas-service/internal/server/api"
	"tas-service/internal/server/route"
)

// Prefix of every path.
const Prefix = "/public-api/v2"

// API is what version 2 serves.
type API struct {
	Runs   *run.Service
	Auth   *account.Authenticator
	Limits *route.Limits
}

// Mount registers every operation.
func (a *API) Mount(mux *http.ServeMux) huma.API {
	h := route.NewAPI(mux, route.Version{Prefix: Prefix, Number: "2.0.0", About: "Version 2 of what changed since version 1; everything else is there.",
		Tags: []*huma.Tag{{Name: "Execution", Description: "Start runs and poll them until they are terminal."}}, Auth: a.Auth, Limits: a.Limits})
	huma.Register(h, huma.Operation{OperationID: "run-grep", Method: http.MethodPost, Path: "/execution/grep", Summary: "Run tests by name pattern",
		Tags: []string{"Execution"}, DefaultStatus: http.StatusCreated,
		Errors: route.Statuses(http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)}, route.Handle(a.runGrep))
	huma.Register(h, huma.Operation{OperationID: "get-job-status", Method: http.MethodGet, Path: "/execution/status/{jobName}",
		Summary: "Read the status of a run by its job name", Tags: []string{"Execution"}, Errors: route.Statuses(http.StatusNotFound)}, route.Handle(a.jobStatus))
	route.AllowNull(h)
	return h
}

type grepIn struct {
	api.Origin
	Body struct {
		Grep         string            `json:"grep" doc:"JavaScript regular expression, or a part of the test's name; matches serviceTestIds too"`
		Branch       string            `json:"branch,omitempty" doc:"Branch of the tests repository; default: its default branch"`
		EnvOverrides map[string]string `json:"envOverrides,omitempty" doc:"Application variables; CI and names that begin with SERVICE_ are reserved"`
		api.Sharding
		api.ForPull
		AutoHeal *api.AutoHeal `json:"autoHeal,omitempty"`
	}
}

func (a *API) runGrep(ctx context.Context, in *grepIn) (*api.Started, error) {
	start := run.StartInput{Selection: run.Selection{Kind: run.SelectGrep, Grep: in.Body.Grep}, Branch: in.Body.Branch,
		EnvOverrides: in.Body.EnvOverrides, AutoHeal: in.Body.AutoHeal.Input()}
	in.Body.Fill(&start)
	in.Body.FillPull(&start)
	in.Origin.Fill(&start)
	r, err := a.Runs.Start(ctx, route.ActorOf(ctx), start)
	if err != nil {
		return nil, err
	}
	return api.Start(r, a.Runs.PageURL), nil
}

type jobStatusIn struct {
	JobName string `path:"jobName" doc:"The name that the call which started the run answered"`
}

type jobStatusOut struct {
	Body struct {
		api.JobStatus
		TestRunID *string `json:"testRunId,omitempty" format:"uuid" doc:"The run's ID, once it is terminal; pass this to POST /auto-heal"`
	}
}

func (a *API) jobStatus(ctx context.Context, in *jobStatusIn) (*jobStatusOut, error) {
	r, err := a.Runs.ByName(ctx, route.ActorOf(ctx), in.JobName)
	if err != nil {
		return nil, err
	}
	out := &jobStatusOut{}
	out.Body.JobStatus = api.JobStatusOf(r)
	if r.Terminal() {
		out.Body.TestRunID = &r.ID
	}
	return out, nil
}
