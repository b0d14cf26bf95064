package run

import (
	"slices"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
)

// Phase is where a run is.
type Phase string

// The phases. Those from Passed on are final.
const (
	Queued       Phase = "queued"
	Preparing    Phase = "preparing"
	Running      Phase = "running"
	Merging      Phase = "merging"
	Passed       Phase = "passed"
	Healed       Phase = "healed" // passed only because a test was recovered while it ran
	Failed       Phase = "failed"
	ProcessError Phase = "process-error" // checkout, install, browser, merge or worker failed
	Cancelled    Phase = "cancelled"
)

// Phases lists every phase in the order in which a run can meet them.
func Phases() []Phase {
	return []Phase{Queued, Preparing, Running, Merging, Passed, Healed, Failed, ProcessError, Cancelled}
}

// Final reports whether nothing comes after the phase.
func (p Phase) Final() bool {
	switch p {
	case Passed, Healed, Failed, ProcessError, Cancelled:
		return true
	default:
		return false
	}
}

// arrows are the legal moves.
var arrows = map[Phase][]Phase{
	Queued:    {Preparing, ProcessError, Cancelled},
	Preparing: {Queued, Running, Merging, ProcessError, Cancelled}, // back to queued: its worker could not be started
	Running:   {Merging, ProcessError, Cancelled},
	Merging:   {Passed, Healed, Failed, ProcessError, Cancelled},
}

// Verdict is the one word that callers gate on.
type Verdict string

// The verdicts. Pending until the run is terminal.
const (
	Pending Verdict = "pending"
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
)

// Trigger says what started a run.
type Trigger string

// The triggers.
const (
	TriggerAPI      Trigger = "api"
	TriggerCI       Trigger = "ci"
	TriggerSchedule Trigger = "schedule"
	TriggerMCP      Trigger = "mcp"
	TriggerManual   Trigger = "manual"  // a person in the web app
	TriggerRefresh  Trigger = "refresh" // no run for anybody: see Refresh
	TriggerTrial    Trigger = "trial"   // tries a repair out: see Trial
)

// Selection says which tests of the branch a run executes.
type Selection struct {
	Kind    SelectionKind `json:"kind"`
	TestIDs []string      `json:"testIds,omitempty"`
	Grep    string        `json:"grep,omitempty"`
	// Of a collection: which, and what it was when the run started.
	CollectionID string        `json:"collectionId,omitempty"`
	Rule         *catalog.Rule `json:"rule,omitempty"`
}

// SelectionKind is how tests are selected.
type SelectionKind string

// The kinds.
const (
	SelectSuite SelectionKind = "suite"
	SelectTests SelectionKind = "tests"
	SelectGrep  SelectionKind = "grep"
	// SelectCollection is TestIDs and what Rule fits.
	SelectCollection SelectionKind = "collection"
	// SelectNothing lists the tests, and ends.
	SelectNothing SelectionKind = "nothing"
)

// Scope names what of a project a selection speaks for: "" for all of it, one collection,
// or "selected" for whatever was picked this time. A verdict on less says nothing of more.
// The pattern by which callers ask for all tests of a branch is all of them.
func (s Selection) Scope() string {
	switch {
	case s.Kind == SelectSuite, s.Kind == SelectGrep && (s.Grep == "." || s.Grep == ".*"):
		return ""
	case s.Kind == SelectCollection:
		return "collection/" + s.CollectionID
	default:
		return "selected"
	}
}

// Pull is the pull request that a run is for.
type Pull struct {
	Repo   string `json:"repo"` // "owner/repo": the tests repository, or one of the application's
	Number int    `json:"number"`
}

// AutoHeal asks for healing when the run ends failed.
type AutoHeal struct {
	AutoCreatePR bool           `json:"autoCreatePR"`
	Branch       string         `json:"branch,omitempty"`
	RepoName     string         `json:"repoName,omitempty"`
	PRNumber     int            `json:"prNumber,omitempty"`
	Metadata     map[string]any `json:"metadata,omitempty"`
}

// Warning is something that a person should know though the run goes on.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Run is one execution of a selection of tests on one commit.
type Run struct {
	ID           string
	ProjectID    string
	Name         string // job name, at most 50 characters
	Trigger      Trigger
	Phase        Phase
	Verdict      Verdict
	Selection    Selection
	Branch       string // as asked for; the resolved one once known
	Commit       string
	OnDefault    bool   // of the tests repository's default branch
	Environment  string // of the project; "" for its default
	EnvOverrides map[string]string
	ShardCount   int // 0: in one piece
	Workers      int // asked for, in each shard; the real number once known
	AutoHeal     *AutoHeal
	Pull         *Pull           // nil: for none
	HealBatch    string          // of the sessions that heal its failures, "" for none
	Trial        *Trial          // nil for all runs that people see
	Edited       *attempt.Edited // of a trial with edits, once they are made or refused
	Isolation    string
	Playwright   string // version
	Runner       string // version of tas-runner in the tests repository, "" for none
	Total        int    // tests that are counted
	Executed     int    // of these, how many have a final result
	Counts       Counts
	Warnings     []Warning
	Error        *Error // why the run as a whole failed, when it is not a test's doing
	Ending       *Ending
	Planner      string // of a sharded run: the attempt whose listing becomes the plan
	Plan         *Plan  // of a sharded run, once it is planned
	Merged       bool   // the shards' reports became one
	StartedBy    string // the person, as account.Actor names itself; "" where it was no person
	Cancel       *Cancellation
	Parked       bool // it will never end and nothing is left to do for it: see CodeRunnerTooOld
	HasReport    bool
	CreatedAt    time.Time
	StartedAt    *time.Time // first worker began
	FirstTestAt  *time.Time
	FinishedAt   *time.Time
}

// Cancellation is somebody's wish that a run ends without a verdict on the tests.
type Cancellation struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Sharded reports whether the run is split into shards.
func (r *Run) Sharded() bool { return r.ShardCount > 0 }

// Plan is what was expected of a sharded run when it began. Times are milliseconds.
type Plan struct {
	Units       int    `json:"units"`              // that tests are handed out in
	Known       int    `json:"known"`              // tests that have been timed before
	Tests       int    `json:"tests"`              // all, set-up aside
	TotalMs     int64  `json:"totalMs"`            // one after the other
	PredictedMs int64  `json:"predictedMs"`        // from the first test's begin to the last one's end
	ActualMs    int64  `json:"actualMs,omitempty"` // as it came; 0 until all tests have ended
	LongestMs   int64  `json:"longestMs"`          // of the longest unit: no number of shards is quicker
	LongestFile string `json:"longestFile"`
}

// Ending is how a run's attempts ended, as far as the verdict needs to know.
type Ending struct {
	Complete bool    `json:"complete"`         // the runner said that it was done and everything arrived
	Status   string  `json:"status,omitempty"` // Playwright's own word
	Errors   []Error `json:"errors,omitempty"` // outside any test
}

// Counts of results by status. They add up to Run.Total when the run is terminal.
type Counts struct {
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Flaky     int `json:"flaky"`
	Skipped   int `json:"skipped"`
	Recovered int `json:"recovered"`
	Bug       int `json:"bug"`
}

// Sum adds all counts up.
func (c Counts) Sum() int {
	return c.Passed + c.Failed + c.Flaky + c.Skipped + c.Recovered + c.Bug
}

// Add changes the count of a status by n. Statuses that are not final count nowhere.
func (c *Counts) Add(s Status, n int) {
	switch s {
	case StatusPassed:
		c.Passed += n
	case StatusFailed:
		c.Failed += n
	case StatusFlaky:
		c.Flaky += n
	case StatusSkipped:
		c.Skipped += n
	case StatusRecovered:
		c.Recovered += n
	case StatusBug:
		c.Bug += n
	case StatusPending, StatusRunning:
	}
}

// Terminal reports whether the run has finished.
func (r *Run) Terminal() bool { return r.Phase.Final() }

// MoveTo changes the phase along a legal arrow: fault.Internal when there is none.
func (r *Run) MoveTo(p Phase) error {
	if !slices.Contains(arrows[r.Phase], p) {
		return fault.New(fault.Internal, "a run cannot go from %s to %s", r.Phase, p)
	}
	r.Phase = p
	return nil
}

// maxWarnings bounds what a strange repository can pile up.
const maxWarnings = 50

// Warn adds a warning once.
func (r *Run) Warn(code, message string) {
	w := Warning{Code: code, Message: message}
	if len(r.Warnings) < maxWarnings && !slices.Contains(r.Warnings, w) {
		r.Warnings = append(r.Warnings, w)
	}
}
