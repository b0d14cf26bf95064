// Package api is what both versions of the public API share: the shapes of runs as
// callers see them.
package api

import (
	"time"

	"tas-service/internal/run"
)

// Sharding are the optional fields of every call that starts a run.
type Sharding struct {
	ShardCount *int `json:"shardCount,omitempty" minimum:"2" maximum:"40" doc:"Split the run into this many shards"`
	Workers    *int `json:"workers,omitempty" minimum:"1" maximum:"8" doc:"Playwright workers (in each shard); default: the project's setting"`
}

// ForPull are the optional fields by which a run is for a pull request.
type ForPull struct {
	PRNumber *int   `json:"prNumber,omitempty" minimum:"1" doc:"Pull request that the run is for: its result is told there, as the status of its commit and in one comment"`
	RepoName string `json:"repoName,omitempty" maxLength:"200" doc:"owner/repo that the pull request is in: the tests repository, or one of the application's in the project's settings; needed where there are several"`
}

// FillPull sets the pull request of a start request.
func (p ForPull) FillPull(in *run.StartInput) {
	if p.PRNumber == nil && p.RepoName == "" {
		return
	}
	in.Pull = &run.Pull{Repo: p.RepoName}
	if p.PRNumber != nil {
		in.Pull.Number = *p.PRNumber
	}
}

// AutoHeal asks for healing when the run ends failed.
type AutoHeal struct {
	AutoCreatePR *bool          `json:"autoCreatePR,omitempty" doc:"Open a pull request with the repaired tests; default true"`
	Branch       string         `json:"branch,omitempty" maxLength:"244" doc:"Branch of the tests repository that the pull request is for"`
	RepoName     string         `json:"repoName,omitempty" maxLength:"200" doc:"owner/repo of the pull request that started this"`
	PRNumber     int            `json:"prNumber,omitempty" minimum:"1" doc:"Its number"`
	Metadata     map[string]any `json:"metadata,omitempty" doc:"Kept with the batch and answered as it was sent"`
}

// Input answers what the domain takes; nil stays nil.
func (a *AutoHeal) Input() *run.AutoHeal {
	if a == nil {
		return nil
	}
	return &run.AutoHeal{AutoCreatePR: a.AutoCreatePR == nil || *a.AutoCreatePR, Branch: a.Branch, RepoName: a.RepoName, PRNumber: a.PRNumber, Metadata: a.Metadata}
}

// Fill sets the sharding fields of a start request.
func (s Sharding) Fill(in *run.StartInput) {
	if s.ShardCount != nil {
		in.ShardCount = *s.ShardCount
	}
	if s.Workers != nil {
		in.Workers = *s.Workers
	}
}

// Started is the answer of every call that starts a run.
type Started struct {
	Location string `header:"Location" doc:"Address of the run's status"`
	Body     StartedBody
}

// StartedBody tells where to look for the run.
type StartedBody struct {
	RunID      string  `json:"runId" format:"uuid" doc:"For status, results, report and healing"`
	Name       *string `json:"name" doc:"Job name; null for a sharded run"`
	Sharded    bool    `json:"sharded"`
	ShardCount *int    `json:"shardCount" doc:"null when the run is in one piece"`
	TestRunURL string  `json:"testRunUrl" doc:"The run in the web app"`
}

// Start answers a new run.
func Start(r run.Run, pageURL func(string) string) *Started {
	body := StartedBody{RunID: r.ID, Name: jobName(r), Sharded: r.Sharded(), TestRunURL: pageURL(r.ID)}
	if r.Sharded() {
		body.ShardCount = &r.ShardCount
	}
	return &Started{Location: "/public-api/v1/execution/status/run/" + r.ID, Body: body}
}

// jobName answers a run's name as callers know it: a sharded run has none.
func jobName(r run.Run) *string {
	if r.Sharded() {
		return nil
	}
	return &r.Name
}

// Warning is something that a person should know.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Shard is the state of one shard.
type Shard struct {
	Index         int        `json:"index"`
	Phase         string     `json:"phase" enum:"queued,preparing,running,finished"`
	ExecutedCount int        `json:"executedCount"`
	TotalCount    int        `json:"totalCount" doc:"Tests that it was given so far: shards take them from a common queue"`
	StartedAt     *time.Time `json:"startedAt"`
	FinishedAt    *time.Time `json:"finishedAt"`
	Lost          bool       `json:"lost" doc:"Its workers died; other shards took its tests"`
}

// Plan is what was expected of a sharded run when it began.
type Plan struct {
	Units         int    `json:"units" doc:"Parts that the tests are handed out in: files, serial groups, parallel tests"`
	TotalMs       int64  `json:"totalMs" doc:"Predicted for all tests, one after the other"`
	PredictedMs   int64  `json:"predictedMs" doc:"From the first test's begin to the last one's end"`
	ActualMs      *int64 `json:"actualMs" doc:"The same as it came; null until the run is terminal"`
	LongestMs     int64  `json:"longestMs" doc:"Predicted for the longest part: no number of shards is quicker"`
	LongestFile   string `json:"longestFile"`
	TestsTimed    int    `json:"testsTimed" doc:"Tests whose duration is known from earlier runs"`
	TestsNotTimed int    `json:"testsNotTimed"`
}

// RunError is why a run as a whole failed.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Status is the whole state of a run.
type Status struct {
	RunID         string     `json:"runId" format:"uuid"`
	Name          *string    `json:"name" doc:"Job name; null for a sharded run"`
	IsTerminal    bool       `json:"isTerminal" doc:"True when the run has finished"`
	Verdict       string     `json:"verdict" enum:"pending,pass,fail" doc:"The run passed only when this is pass"`
	Phase         string     `json:"phase" enum:"queued,preparing,running,merging,passed,healed,failed,process-error,cancelled"`
	Status        string     `json:"status" doc:"Equal to phase"`
	ExecutedCount int        `json:"executedCount" doc:"Tests that have their result"`
	TotalCount    int        `json:"totalCount" doc:"Tests that were selected; 0 until they are known"`
	Passed        int        `json:"passed"`
	Failed        int        `json:"failed"`
	Flaky         int        `json:"flaky" doc:"Failed, then passed on a retry"`
	Skipped       int        `json:"skipped"`
	Recovered     int        `json:"recovered" doc:"Passed because it was repaired while it ran"`
	Bug           int        `json:"bug" doc:"Failed, and judged to be the application's fault"`
	Shards        []Shard    `json:"shards" doc:"Empty for a run in one piece"`
	Plan          *Plan      `json:"plan" doc:"Of a sharded run, once its tests are known"`
	Warnings      []Warning  `json:"warnings"`
	Error         *RunError  `json:"error" doc:"Why the run as a whole failed, when that was no test's doing"`
	CreatedAt     time.Time  `json:"createdAt"`
	StartedAt     *time.Time `json:"startedAt" doc:"When a worker began"`
	FinishedAt    *time.Time `json:"finishedAt"`
	DurationMs    *int64     `json:"durationMs" doc:"From its creation to its end"`
	Branch        string     `json:"branch"`
	Commit        string     `json:"commit" doc:"Empty until it is checked out"`
	Isolation     string     `json:"isolation" doc:"How strongly the test code was kept apart"`
	HealBatchID   *string    `json:"healBatchId"`
	TestRunURL    string     `json:"testRunUrl"`
}

// StatusOf answers a run's state.
func StatusOf(r run.Run, shards []run.Shard, pageURL func(string) string) Status {
	s := Status{RunID: r.ID, Name: jobName(r), IsTerminal: r.Terminal(), Verdict: string(r.Verdict), Phase: string(r.Phase), Status: string(r.Phase),
		ExecutedCount: r.Executed, TotalCount: r.Total, Passed: r.Counts.Passed, Failed: r.Counts.Failed, Flaky: r.Counts.Flaky,
		Skipped: r.Counts.Skipped, Recovered: r.Counts.Recovered, Bug: r.Counts.Bug, Shards: []Shard{}, Warnings: []Warning{},
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Branch: r.Branch, Commit: r.Commit,
		Isolation: r.Isolation, TestRunURL: pageURL(r.ID)}
	for _, x := range shards {
		s.Shards = append(s.Shards, Shard{Index: x.Index, Phase: string(x.Phase), ExecutedCount: x.Executed, TotalCount: x.Total,
			StartedAt: x.StartedAt, FinishedAt: x.FinishedAt, Lost: x.Lost})
	}
	if p := r.Plan; p != nil {
		s.Plan = &Plan{Units: p.Units, TotalMs: p.TotalMs, PredictedMs: p.PredictedMs, LongestMs: p.LongestMs, LongestFile: p.LongestFile,
			TestsTimed: p.Known, TestsNotTimed: p.Tests - p.Known}
		if p.ActualMs > 0 {
			s.Plan.ActualMs = &p.ActualMs
		}
	}
	for _, w := range r.Warnings {
		s.Warnings = append(s.Warnings, Warning(w))
	}
	if r.Error != nil {
		s.Error = &RunError{Code: r.Error.Code, Message: r.Error.Message}
	}
	if r.HealBatch != "" {
		s.HealBatchID = &r.HealBatch
	}
	if r.FinishedAt != nil {
		d := r.FinishedAt.Sub(r.CreatedAt).Milliseconds()
		s.DurationMs = &d
	}
	return s
}

// JobStatus is the state of a run by its job name.
type JobStatus struct {
	Status     string `json:"status" doc:"The run's phase"`
	IsTerminal bool   `json:"isTerminal"`
	Verdict    string `json:"verdict" enum:"pending,pass,fail"`
	Passed     int    `json:"passed"`
	Failed     int    `json:"failed"`
	Recovered  int    `json:"recovered"`
	Bug        int    `json:"bug"`
}

// JobStatusOf answers a run's state by its job name.
func JobStatusOf(r run.Run) JobStatus {
	return JobStatus{Status: string(r.Phase), IsTerminal: r.Terminal(), Verdict: string(r.Verdict), Passed: r.Counts.Passed,
		Failed: r.Counts.Failed, Recovered: r.Counts.Recovered, Bug: r.Counts.Bug}
}

// Origin are the headers of every call that starts a run.
type Origin struct {
	Trigger string `header:"X-TAS-Trigger" enum:"api,ci" doc:"What starts the run; default api"`
	OnceKey string `header:"Idempotency-Key" doc:"Makes the call safe to repeat for 24 hours: the same key with the same body answers the run that was started first"`
}

// Fill sets what the headers say of a start request.
func (o Origin) Fill(in *run.StartInput) {
	in.Trigger, in.OnceKey = triggerOf(o.Trigger), o.OnceKey
}

// triggerOf answers what started a run, by what the caller says of itself.
func triggerOf(header string) run.Trigger {
	if header == string(run.TriggerCI) {
		return run.TriggerCI
	}
	return run.TriggerAPI
}
