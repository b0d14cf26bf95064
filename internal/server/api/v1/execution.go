package v1

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/server/api"
	"tas-service/internal/server/route"
)

func (a *API) mountExecution(h huma.API) {
	start := func(id, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodPost, Path: path, Summary: summary, Tags: []string{"Execution"},
			DefaultStatus: http.StatusCreated, Errors: route.Statuses(http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)}
	}
	huma.Register(h, start("run-suite", "/execution/suite", "Run the whole suite"), route.Handle(a.runSuite))
	huma.Register(h, start("run-tests", "/execution/tests", "Run specific tests"), route.Handle(a.runTests))
	grep := start("run-grep", "/execution/grep", "Run tests by name pattern (legacy)")
	grep.Description = "Takes grep only. New integrations use version 2, which also takes branch, envOverrides, shardCount, workers and autoHeal."
	grep.Metadata = map[string]any{route.AdviceOnInvalid: "This version of the call takes the field grep only: for branch, envOverrides, shardCount, workers or autoHeal use POST /public-api/v2/execution/grep."}
	huma.Register(h, grep, route.Handle(a.runGrep))
	huma.Register(h, huma.Operation{OperationID: "get-run-status", Method: http.MethodGet, Path: "/execution/status/run/{runId}", Tags: []string{"Execution"},
		Summary: "Read the status of a run", Description: "Poll until isTerminal is true, every 10 to 30 seconds or with wait, then gate on verdict.",
		Errors: route.Statuses(http.StatusNotFound)}, route.Handle(a.status))
	huma.Register(h, huma.Operation{OperationID: "get-job-status", Method: http.MethodGet, Path: "/execution/status/{jobName}", Tags: []string{"Execution"},
		Summary: "Read the status of a run by its job name", Errors: route.Statuses(http.StatusNotFound)}, route.Handle(a.jobStatus))
}

// SuiteIn starts a run without naming tests.
type SuiteIn struct {
	api.Origin
	Body *struct {
		api.Sharding
		api.ForPull
		AutoHeal *api.AutoHeal `json:"autoHeal,omitempty"`
	}
}

func (a *API) runSuite(ctx context.Context, in *SuiteIn) (*api.Started, error) {
	start := run.StartInput{Selection: run.Selection{Kind: run.SelectSuite}}
	if in.Body != nil {
		in.Body.Fill(&start)
		in.Body.FillPull(&start)
		start.AutoHeal = in.Body.AutoHeal.Input()
	}
	return a.start(ctx, in.Origin, start)
}

type testsIn struct {
	api.Origin
	Body struct {
		TestIDs []string `json:"testIds" minItems:"1" maxItems:"5000" doc:"serviceTestIds, as GET /tests lists them"`
		api.Sharding
		api.ForPull
		AutoHeal *api.AutoHeal `json:"autoHeal,omitempty"`
	}
}

func (a *API) runTests(ctx context.Context, in *testsIn) (*api.Started, error) {
	start := run.StartInput{Selection: run.Selection{Kind: run.SelectTests, TestIDs: in.Body.TestIDs}, AutoHeal: in.Body.AutoHeal.Input()}
	in.Body.Fill(&start)
	in.Body.FillPull(&start)
	return a.start(ctx, in.Origin, start)
}

type grepIn struct {
	api.Origin
	Body struct {
		Grep string `json:"grep" doc:"JavaScript regular expression, or a part of the test's name"`
	}
}

func (a *API) runGrep(ctx context.Context, in *grepIn) (*api.Started, error) {
	return a.start(ctx, in.Origin, run.StartInput{Selection: run.Selection{Kind: run.SelectGrep, Grep: in.Body.Grep}})
}

func (a *API) start(ctx context.Context, origin api.Origin, in run.StartInput) (*api.Started, error) {
	origin.Fill(&in)
	r, err := a.Runs.Start(ctx, route.ActorOf(ctx), in)
	if err != nil {
		return nil, err
	}
	return api.Start(r, a.Runs.PageURL), nil
}

type statusIn struct {
	RunID string `path:"runId" doc:"The runId that the call which started the run answered"`
	Wait  string `query:"wait" doc:"Hold the answer until something changes, at most this long: 30s, up to 60s" example:"30s"`
}

type statusOut struct{ Body api.Status }

func (a *API) status(ctx context.Context, in *statusIn) (*statusOut, error) {
	wait, err := parseWait(in.Wait)
	if err != nil {
		return nil, err
	}
	r, err := a.Runs.Wait(ctx, route.ActorOf(ctx), in.RunID, wait)
	if err != nil {
		return nil, err
	}
	shards, err := a.Runs.Shards(ctx, r)
	if err != nil {
		return nil, err
	}
	return &statusOut{Body: api.StatusOf(r, shards, a.Runs.PageURL)}, nil
}

// parseWait reads "30s", or a plain number of seconds.
func parseWait(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		if n, nerr := strconv.Atoi(s); nerr == nil && len(s) < 6 {
			d, err = time.Duration(n)*time.Second, nil
		}
	}
	if err != nil || d < 0 || d > run.MaxWait {
		return 0, fault.New(fault.Invalid, "The parameter wait cannot be used.").WithFix("Send a time such as wait=30s, up to 60s.").
			At("query.wait", "%.40q is no time from 0s to 60s", s)
	}
	return d, nil
}

type jobStatusIn struct {
	JobName string `path:"jobName" doc:"The name that the call which started the run answered"`
}

type jobStatusOut struct{ Body api.JobStatus }

func (a *API) jobStatus(ctx context.Context, in *jobStatusIn) (*jobStatusOut, error) {
	r, err := a.Runs.ByName(ctx, route.ActorOf(ctx), strings.TrimSpace(in.JobName))
	if err != nil {
		return nil, err
	}
	return &jobStatusOut{Body: api.JobStatusOf(r)}, nil
}
