package v1

import (
	"context"
	"slices"
	"strings"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/server/route"
)

// RunSummary is a run in a list: its status without what takes a look at its shards.
type RunSummary struct {
	ID            string     `json:"id" format:"uuid" doc:"For status, results, report, attachments and healing"`
	Name          *string    `json:"name" doc:"Job name; null for a sharded run"`
	Trigger       string     `json:"trigger" enum:"api,ci,schedule,mcp,manual"`
	IsTerminal    bool       `json:"isTerminal"`
	Verdict       string     `json:"verdict" enum:"pending,pass,fail"`
	Phase         string     `json:"phase" enum:"queued,preparing,running,merging,passed,healed,failed,process-error,cancelled"`
	Status        string     `json:"status" doc:"Equal to phase"`
	Sharded       bool       `json:"sharded"`
	ShardCount    *int       `json:"shardCount"`
	ExecutedCount int        `json:"executedCount"`
	TotalCount    int        `json:"totalCount"`
	Passed        int        `json:"passed"`
	Failed        int        `json:"failed"`
	Flaky         int        `json:"flaky"`
	Skipped       int        `json:"skipped"`
	Recovered     int        `json:"recovered"`
	Bug           int        `json:"bug"`
	Branch        string     `json:"branch"`
	Commit        string     `json:"commit"`
	CreatedAt     time.Time  `json:"createdAt"`
	StartedAt     *time.Time `json:"startedAt"`
	FinishedAt    *time.Time `json:"finishedAt"`
	DurationMs    *int64     `json:"durationMs"`
	TestRunURL    string     `json:"testRunUrl"`
}

func summaryOf(r run.Run, pageURL func(string) string) RunSummary {
	s := RunSummary{ID: r.ID, Trigger: string(r.Trigger), IsTerminal: r.Terminal(), Verdict: string(r.Verdict), Phase: string(r.Phase), Status: string(r.Phase),
		Sharded: r.Sharded(), ExecutedCount: r.Executed, TotalCount: r.Total, Passed: r.Counts.Passed, Failed: r.Counts.Failed, Flaky: r.Counts.Flaky,
		Skipped: r.Counts.Skipped, Recovered: r.Counts.Recovered, Bug: r.Counts.Bug, Branch: r.Branch, Commit: r.Commit, CreatedAt: r.CreatedAt,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, TestRunURL: pageURL(r.ID)}
	if r.Sharded() {
		s.ShardCount = &r.ShardCount
	} else {
		s.Name = &r.Name
	}
	if r.FinishedAt != nil {
		d := r.FinishedAt.Sub(r.CreatedAt).Milliseconds()
		s.DurationMs = &d
	}
	return s
}

type listRunsIn struct {
	Status  string `query:"status" doc:"Only these phases, separated by commas: queued, preparing, running, merging, passed, healed, failed, process-error, cancelled"`
	Branch  string `query:"branch" maxLength:"244" doc:"Only runs of this branch"`
	Trigger string `query:"trigger" doc:"Only runs that were started so: api, ci, schedule, mcp, manual"`
	Page
}

type listRunsOut struct {
	Body struct {
		TestRuns   []RunSummary `json:"testRuns"`
		NextCursor *string      `json:"nextCursor"`
	}
}

func (a *API) listRuns(ctx context.Context, in *listRunsIn) (*listRunsOut, error) {
	q := run.Query{Branch: in.Branch, Limit: in.Limit}
	bad := fault.New(fault.Invalid, "The runs cannot be listed as asked for.").WithFix("Correct the parameters named in errors.")
	q.Phases = words(in.Status, run.Phases(), "query.status", bad)
	if q.Trigger = run.Trigger(in.Trigger); in.Trigger != "" && !slices.Contains(run.Triggers(), q.Trigger) {
		bad.At("query.trigger", "%.40q starts no runs: api, ci, schedule, mcp or manual", in.Trigger)
	}
	if len(bad.Details) > 0 {
		return nil, bad
	}
	if in.Cursor != "" {
		q.After = &run.Cursor{}
		if err := route.ReadCursor(in.Cursor, q.After); err != nil {
			return nil, err
		}
	}
	rs, next, err := a.Runs.List(ctx, route.ActorOf(ctx), q)
	if err != nil {
		return nil, err
	}
	out := &listRunsOut{}
	out.Body.TestRuns = make([]RunSummary, 0, len(rs))
	for _, r := range rs {
		out.Body.TestRuns = append(out.Body.TestRuns, summaryOf(r, a.Runs.PageURL))
	}
	if next != nil {
		out.Body.NextCursor = route.Cursor(next)
	}
	return out, nil
}

// words reads a list such as "failed,cancelled" and notes in bad what is none of known.
func words[T ~string](list string, known []T, at string, bad *fault.Error) (out []T) {
	for s := range strings.SplitSeq(list, ",") {
		switch w := T(s); {
		case s == "":
		case slices.Contains(known, w):
			out = append(out, w)
		default:
			names := make([]string, len(known))
			for i, k := range known {
				names[i] = string(k)
			}
			bad.At(at, "%.40q is none of %s", s, strings.Join(names, ", "))
		}
	}
	return out
}
