package v1

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/server/api"
	"tas-service/internal/server/route"
)

func (a *API) mountTestRuns(h huma.API) {
	get := func(id, path, summary string, more ...int) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"Test runs"},
			Errors: route.Statuses(append(more, http.StatusNotFound)...)}
	}
	list := get("list-runs", "/test-runs", "List the project's runs, newest first")
	list.Errors = route.Statuses()
	huma.Register(h, list, route.Handle(a.listRuns))
	huma.Register(h, get("get-latest-run", "/test-runs/latest", "Read the latest finished run that was not started by hand"), route.Handle(a.latest))
	huma.Register(h, get("list-results", "/test-runs/{id}/results", "List the results of a run, one for each test and Playwright project"), route.Handle(a.results))
	huma.Register(h, get("get-report", "/test-runs/{id}/report", "Get the address of a run's HTML report", http.StatusConflict), route.Handle(a.report))
	huma.Register(h, get("list-attachments", "/test-runs/{id}/tests/{serviceTestId}/attachments", "List traces, screenshots and videos of a test in a run"), route.Handle(a.attachments))
}

// TestRun is a run as the latest-run endpoint answers it: its status, with its ID as id.
type TestRun struct {
	ID      string `json:"id" format:"uuid" doc:"For results, report, attachments and healing"`
	Trigger string `json:"trigger" enum:"api,ci,schedule,mcp,manual"`
	api.Status
}

type latestOut struct{ Body TestRun }

func (a *API) latest(ctx context.Context, _ *struct{}) (*latestOut, error) {
	r, err := a.Runs.Latest(ctx, route.ActorOf(ctx))
	if err != nil {
		return nil, err
	}
	shards, err := a.Runs.Shards(ctx, r)
	if err != nil {
		return nil, err
	}
	return &latestOut{Body: TestRun{ID: r.ID, Trigger: string(r.Trigger), Status: api.StatusOf(r, shards, a.Runs.PageURL)}}, nil
}

// Page are the parameters of every list.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many to answer at most"`
	Cursor string `query:"cursor" doc:"nextCursor of the page before"`
}

type resultsIn struct {
	ID     string `path:"id" doc:"The run: its runId, or its id in the list"`
	Status string `query:"status" doc:"Only these, separated by commas: passed, failed, flaky, skipped, recovered, bug, pending, running"`
	Page
}

// Location is a place in the tests repository.
type Location struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// ResultError is why a test failed.
type ResultError struct {
	Message  string    `json:"message"`
	Stack    string    `json:"stack"`
	Snippet  string    `json:"snippet"`
	Location *Location `json:"location"`
	Code     string    `json:"code" doc:"timeout, assertion, not-reported …"`
}

// Attempt is one try of a test.
type Attempt struct {
	Status     string       `json:"status" doc:"passed, failed, timedOut, skipped, interrupted, running"`
	DurationMs int64        `json:"durationMs"`
	StartedAt  time.Time    `json:"startedAt"`
	Error      *ResultError `json:"error"`
}

// Result is what came of one test in one Playwright project.
type Result struct {
	ServiceTestID  string       `json:"serviceTestId" format:"uuid"`
	Title          string       `json:"title"`
	TitlePath      []string     `json:"titlePath" doc:"The describes and the title"`
	File           string       `json:"file"`
	Line           int          `json:"line"`
	Browser        string       `json:"browser" doc:"The Playwright project"`
	Status         string       `json:"status" enum:"pending,running,passed,failed,flaky,skipped,recovered,bug"`
	DurationMs     int64        `json:"durationMs" doc:"Of all attempts together"`
	Retries        int          `json:"retries"`
	Attempts       []Attempt    `json:"attempts"`
	Error          *ResultError `json:"error"`
	Verdict        *string      `json:"verdict"`
	BugKey         *string      `json:"bugKey"`
	Owner          *string      `json:"owner" doc:"From the test's owner annotation"`
	Quarantined    bool         `json:"quarantined" doc:"Its failure does not fail this run"`
	Tags           []string     `json:"tags"`
	AttachmentsURL string       `json:"attachmentsUrl"`
}

type resultsOut struct {
	Body struct {
		Results    []Result `json:"results"`
		NextCursor *string  `json:"nextCursor"`
	}
}

func (a *API) results(ctx context.Context, in *resultsIn) (*resultsOut, error) {
	q := run.ResultQuery{RunID: in.ID, After: -1, Limit: in.Limit}
	if err := route.ReadCursor(in.Cursor, &q.After); err != nil {
		return nil, err
	}
	bad := fault.New(fault.Invalid, "The results cannot be listed as asked for.").WithFix("Correct the parameters named in errors.")
	if q.Statuses = words(in.Status, run.ResultStatuses(), "query.status", bad); len(bad.Details) > 0 {
		return nil, bad
	}
	rs, next, err := a.Runs.Results(ctx, route.ActorOf(ctx), q)
	if err != nil {
		return nil, err
	}
	out := &resultsOut{}
	out.Body.Results = make([]Result, 0, len(rs))
	for _, r := range rs {
		out.Body.Results = append(out.Body.Results, resultOf(r))
	}
	if next >= 0 {
		out.Body.NextCursor = route.Cursor(next)
	}
	return out, nil
}

func resultOf(r run.Result) Result {
	out := Result{ServiceTestID: r.TestID, Title: r.Title, TitlePath: r.TitlePath, File: r.File, Line: r.Line, Browser: r.Browser,
		Status: string(r.Status), DurationMs: r.Duration().Milliseconds(), Retries: r.Retries(), Attempts: make([]Attempt, 0, len(r.Tries)),
		Error: errorOf(r.Error), Verdict: optional(r.Verdict), BugKey: optional(r.BugKey), Owner: optional(r.Owner), Tags: some(r.Tags), Quarantined: r.Quarantined,
		AttachmentsURL: Prefix + "/test-runs/" + r.RunID + "/tests/" + r.TestID + "/attachments"}
	for _, t := range r.Tries {
		out.Attempts = append(out.Attempts, Attempt{Status: t.Status, DurationMs: t.Duration.Milliseconds(), StartedAt: t.StartedAt, Error: errorOf(t.Error)})
	}
	return out
}

func errorOf(e *run.Error) *ResultError {
	if e == nil {
		return nil
	}
	out := &ResultError{Message: e.Message, Stack: e.Stack, Snippet: e.Snippet, Code: e.Code}
	if e.Location != nil {
		out.Location = &Location{File: e.Location.File, Line: e.Location.Line, Column: e.Location.Column}
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type reportIn struct {
	ID string `path:"id" doc:"The run: its runId, or its id in the list"`
}

type reportOut struct {
	Body struct {
		URL       string    `json:"url" doc:"Opens in a browser without sign-in until it expires"`
		ExpiresAt time.Time `json:"expiresAt"`
	}
}

func (a *API) report(ctx context.Context, in *reportIn) (*reportOut, error) {
	url, expires, err := a.Runs.Report(ctx, route.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	out := &reportOut{}
	out.Body.URL, out.Body.ExpiresAt = url, expires
	return out, nil
}

type attachmentsIn struct {
	ID            string `path:"id" doc:"The run: its runId, or its id in the list"`
	ServiceTestID string `path:"serviceTestId" doc:"A test of the run"`
}

// Attachment is a file that a test left behind.
type Attachment struct {
	Name           string    `json:"name"`
	Kind           string    `json:"kind" enum:"trace,screenshot,video,har,log,other"`
	ContentType    string    `json:"contentType"`
	SizeBytes      int64     `json:"sizeBytes"`
	Attempt        int       `json:"attempt" doc:"0 for the first try, then the retry's number"`
	Browser        string    `json:"browser" doc:"The Playwright project"`
	URL            string    `json:"url"`
	ExpiresAt      time.Time `json:"expiresAt"`
	TraceViewerURL string    `json:"traceViewerUrl,omitempty" doc:"Opens a trace in the trace viewer"`
}

type attachmentsOut struct {
	Body struct {
		Attachments []Attachment `json:"attachments"`
	}
}

func (a *API) attachments(ctx context.Context, in *attachmentsIn) (*attachmentsOut, error) {
	as, err := a.Runs.Attachments(ctx, route.ActorOf(ctx), in.ID, in.ServiceTestID)
	if err != nil {
		return nil, err
	}
	out := &attachmentsOut{}
	out.Body.Attachments = make([]Attachment, 0, len(as))
	for _, x := range as {
		out.Body.Attachments = append(out.Body.Attachments, Attachment{Name: x.Name, Kind: string(x.Kind), ContentType: x.ContentType,
			SizeBytes: x.Size, Attempt: x.Retry, Browser: x.Browser, URL: x.URL, ExpiresAt: x.ExpiresAt, TraceViewerURL: x.ViewerURL})
	}
	return out, nil
}

func some(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
