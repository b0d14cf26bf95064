package v1

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/server/route"
)

func (a *API) mountBugs(h huma.API) {
	huma.Register(h, huma.Operation{OperationID: "submit-verdicts", Method: http.MethodPost, Path: "/test-runs/{id}/report/verdicts", Tags: []string{"Test runs"},
		Summary:     "Judge results of a finished run",
		Description: "All verdicts are taken or none. The run's counts and its verdict are computed anew with them. A bug verdict opens a bug, or links the test to the one with the same signature.",
		Errors:      route.Statuses(http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)}, route.Handle(a.verdicts))
	huma.Register(h, huma.Operation{OperationID: "list-bugs", Method: http.MethodGet, Path: "/health-dashboard/bugs", Tags: []string{"Health dashboard"},
		Summary: "List the project's bugs, the newest first", Description: "Failures of one cause are one bug. The API only reads bugs; what is decided about them is decided in the web app, and by verdicts.",
		Errors: route.Statuses()}, route.Handle(a.bugs))
}

// VerdictInput is what is said of one test.
type VerdictInput struct {
	ServiceTestID string `json:"serviceTestId" doc:"A test of the run; in all Playwright projects that it ran in"`
	Verdict       string `json:"verdict" enum:"bug,not-bug,flaky,passed,failed"`
	Severity      string `json:"severity,omitempty" enum:"critical,major,minor" doc:"Of the bug"`
	Comment       string `json:"comment,omitempty" maxLength:"4000"`
	Source        string `json:"source,omitempty" enum:"human,automation" doc:"Default human. A human's bug verdict confirms the bug."`
}

type verdictsIn struct {
	ID   string `path:"id" doc:"The run: its runId, or its id in the list"`
	Body struct {
		Verdicts []VerdictInput `json:"verdicts" minItems:"1" maxItems:"1000"`
	}
}

// Counts are a run's results by status.
type Counts struct {
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Flaky     int `json:"flaky"`
	Skipped   int `json:"skipped"`
	Recovered int `json:"recovered"`
	Bug       int `json:"bug"`
}

type verdictsOut struct {
	Body struct {
		Updated int    `json:"updated" doc:"Tests that were judged"`
		Counts  Counts `json:"counts"`
		Verdict string `json:"verdict" enum:"pass,fail" doc:"Of the run, now"`
	}
}

func (a *API) verdicts(ctx context.Context, in *verdictsIn) (*verdictsOut, error) {
	if _, err := a.Runs.Get(ctx, route.ActorOf(ctx), in.ID); err != nil {
		return nil, err
	}
	sayings := make([]bug.Saying, 0, len(in.Body.Verdicts))
	for _, v := range in.Body.Verdicts {
		sayings = append(sayings, bug.Saying{TestID: v.ServiceTestID, Word: run.Word(v.Verdict), Severity: bug.Severity(v.Severity), Comment: v.Comment, Source: bug.Source(v.Source)})
	}
	judged, err := a.Bugs.Submit(ctx, route.ActorOf(ctx), strings.ToLower(in.ID), route.RemoteAddress(ctx), sayings)
	if err != nil {
		return nil, err
	}
	out := &verdictsOut{}
	out.Body.Updated, out.Body.Counts, out.Body.Verdict = judged.Updated, Counts(judged.Run.Counts), string(judged.Run.Verdict)
	return out, nil
}

type bugsIn struct {
	Status        string `query:"status" doc:"Only these, separated by commas: needs-triage, confirmed, fixed, not-bug, snoozed"`
	Severity      string `query:"severity" doc:"Only these, separated by commas: critical, major, minor"`
	ServiceTestID string `query:"serviceTestId" doc:"Only bugs that this test met"`
	Page
}

// Bug is failures of one cause.
type Bug struct {
	Key            string    `json:"key" example:"BUG-42"`
	Title          string    `json:"title"`
	Status         string    `json:"status" enum:"needs-triage,confirmed,fixed,not-bug,snoozed"`
	Severity       string    `json:"severity" enum:"critical,major,minor"`
	Outage         bool      `json:"outage" doc:"It failed most of a run at once"`
	Signature      string    `json:"signature" doc:"Equal for failures of one cause"`
	ServiceTestIDs []string  `json:"serviceTestIds" doc:"Tests that met it"`
	Occurrences    int       `json:"occurrences" doc:"Failed results"`
	FirstSeenAt    time.Time `json:"firstSeenAt"`
	LastSeenAt     time.Time `json:"lastSeenAt"`
	FirstRunID     string    `json:"firstRunId" format:"uuid"`
	LastRunID      string    `json:"lastRunId" format:"uuid"`
	URL            string    `json:"url" doc:"The bug in the web app"`
}

type bugsOut struct {
	Body struct {
		Bugs       []Bug   `json:"bugs"`
		NextCursor *string `json:"nextCursor"`
	}
}

func (a *API) bugs(ctx context.Context, in *bugsIn) (*bugsOut, error) {
	q := bug.Query{TestID: strings.ToLower(in.ServiceTestID), Limit: in.Limit}
	if err := route.ReadCursor(in.Cursor, &q.Before); err != nil {
		return nil, err
	}
	bad := fault.New(fault.Invalid, "The bugs cannot be listed as asked for.").WithFix("Correct the parameters named in errors.")
	q.States = words(in.Status, bug.States(), "query.status", bad)
	q.Severities = words(in.Severity, bug.Severities(), "query.severity", bad)
	if len(bad.Details) > 0 {
		return nil, bad
	}
	bs, next, err := a.Bugs.List(ctx, route.ActorOf(ctx), q)
	if err != nil {
		return nil, err
	}
	out := &bugsOut{}
	out.Body.Bugs = make([]Bug, 0, len(bs))
	for _, b := range bs {
		out.Body.Bugs = append(out.Body.Bugs, Bug{Key: b.Key(), Title: b.Title, Status: string(b.State), Severity: string(b.Severity), Outage: b.Outage, Signature: b.Signature,
			ServiceTestIDs: some(b.TestIDs), Occurrences: b.Occurrences, FirstSeenAt: b.FirstSeen, LastSeenAt: b.LastSeen, FirstRunID: b.FirstRunID, LastRunID: b.LastRunID,
			URL: a.BugURL(b)})
	}
	if next > 0 {
		out.Body.NextCursor = route.Cursor(next)
	}
	return out, nil
}
