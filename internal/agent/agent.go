// Package agent is sessions: pieces of longer work, such as healing the failures of a run,
// that are moved on step by step by their reconciler.
//
// A session is a record with a state. Each step looks at it, does the next thing and saves it,
// with what it did and why as events: a crash, a restart and a session that waits for hours
// are one path. States:
//
//	queued → cloning → running → verifying → completed | failed | cancelled
//
// with waiting-for-input before the end where a person has to decide.
package agent

import (
	"encoding/json"
	"time"
)

// Kind is what a session is for.
type Kind string

// Heal repairs failing tests.
const Heal Kind = "heal"

// Status is where a session is.
type Status string

// The statuses. Those from Completed on are final.
const (
	Queued    Status = "queued"
	Cloning   Status = "cloning" // a working copy is made
	Running   Status = "running" // it finds out
	Waiting   Status = "waiting-for-input"
	Verifying Status = "verifying" // it proves what it found
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Statuses lists every status.
func Statuses() []Status {
	return []Status{Queued, Cloning, Running, Waiting, Verifying, Completed, Failed, Cancelled}
}

// Final reports whether nothing comes after the status.
func (s Status) Final() bool { return s == Completed || s == Failed || s == Cancelled }

// Wish is what the caller of a batch asked for.
type Wish struct {
	AutoCreatePR bool           `json:"autoCreatePR"`
	Branch       string         `json:"branch,omitempty"`   // that a pull request is to be merged into; "" for the run's own
	RepoName     string         `json:"repoName,omitempty"` // of the pull request that is told
	PRNumber     int            `json:"prNumber,omitempty"` // that is told; 0 for none
	Metadata     map[string]any `json:"metadata,omitempty"` // the caller's own
}

// Batch is sessions that were asked for together.
type Batch struct {
	ID        string
	ProjectID string
	Kind      Kind
	RunID     string
	Wish      Wish
	AskedBy   string // as account.Actor names itself
	CreatedAt time.Time
}

// Outcome is what came of one test in a session.
type Outcome struct {
	TestID     string   `json:"testId"`
	Browser    string   `json:"browser,omitempty"`
	Title      string   `json:"title"`
	Outcome    Verdict  `json:"outcome"`
	Class      string   `json:"class,omitempty"` // why it failed: see package heal
	Confidence float64  `json:"confidence"`      // from 0 to 1
	Evidence   []string `json:"evidence"`        // in words
}

// Verdict is what a session concludes of a test.
type Verdict string

// The verdicts.
const (
	Healed         Verdict = "healed"
	ApplicationBug Verdict = "application-bug"
	Flaky          Verdict = "flaky"
	Environment    Verdict = "environment"
	NotHealable    Verdict = "not-healable"
)

// Verdicts lists them.
func Verdicts() []Verdict {
	return []Verdict{Healed, ApplicationBug, Flaky, Environment, NotHealable}
}

// FileChange is how much of a file a session changes.
type FileChange struct {
	Path      string `json:"path"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
}

// PullRequest is the one that a session asked for.
type PullRequest struct {
	ActionID string `json:"actionId"` // that opens it
	Key      string `json:"key"`      // of that action
	Draft    bool   `json:"draft,omitempty"`
	Repo     string `json:"repo,omitempty"`
	Number   int    `json:"number,omitempty"` // 0 until it is open
	URL      string `json:"url,omitempty"`
	State    string `json:"state"` // "requested", "open", "merged", "closed", "refused"
}

// Problem is why a session could not do its work.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Usage is what a session has used up.
type Usage struct {
	InputTokens  int64   `json:"inputTokens"`
	OutputTokens int64   `json:"outputTokens"`
	CostUSD      float64 `json:"costUsd"`
	Trials       int     `json:"trials"`     // runs that it started
	Executions   int     `json:"executions"` // of tests in them
}

// Decision is what a person decided of a session's result.
type Decision struct {
	Word string    `json:"word"` // "approved", "rejected"
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// Session is one piece of work of a batch: all that has one cause.
type Session struct {
	ID         string
	BatchID    string
	ProjectID  string
	RunID      string
	Kind       Kind
	Status     Status
	Stage      string // of its kind's own; "" before the first step
	Title      string // in few words, what it is about
	TestIDs    []string
	Outcomes   []Outcome
	Summary    string // in words, once there is something to say
	Patch      string // unified diff against the run's commit; "" for none
	Changes    []FileChange
	Pull       *PullRequest
	Problem    *Problem
	Usage      Usage
	Decision   *Decision
	State      json.RawMessage // of its kind's own
	Tries      int             // of the present step
	NotBefore  time.Time       // of the next step
	Version    int64           // counts changes
	CancelBy   string          // who wants it ended; "" for nobody
	CreatedAt  time.Time
	StartedAt  *time.Time
	FinishedAt *time.Time
	ResumedAt  *time.Time // a person had it go on after it was over; nil else
}

// EventKind says what an event tells.
type EventKind string

// The kinds.
const (
	Read    EventKind = "read"    // something was looked at
	Ran     EventKind = "ran"     // tests were executed
	Changed EventKind = "changed" // a file
	Decided EventKind = "decided" // and why
	Said    EventKind = "said"    // by a person
	Trouble EventKind = "trouble"
)

// Event is one thing that a session did, and why.
type Event struct {
	SessionID string
	Seq       int64 // counts from 1 in each session
	At        time.Time
	Kind      EventKind
	Text      string
	RunID     string // of the trial that it is about, "" for none
}
