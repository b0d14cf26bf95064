// Package attempt is what a worker and the service say to each other about one
// attempt at a run, over HTTP with the attempt's own token. The worker executes, the
// service decides: selection, identity, outcome and verdict are the service's.
package attempt

import "time"

// Paths of the exchange, below Prefix. All are POST but Artifact, which is PUT.
const (
	Prefix    = "/attempt/v1"
	Claim     = "/claim"     // → Job
	Heartbeat = "/heartbeat" // Beat → Orders
	Plan      = "/plan"      // Listing → Selection
	Selected  = "/selected"  // Chosen → Orders
	Events    = "/events"    // Batch → Orders
	Artifact  = "/artifact"  // bytes, described by its query → ArtifactAnswer
	Finish    = "/finish"    // Outcome → Orders
)

// Job is all that a worker needs to execute an attempt.
type Job struct {
	RunID        string            `json:"runId"`
	AttemptID    string            `json:"attemptId"`
	ProjectID    string            `json:"projectId"`
	Name         string            `json:"name"`
	Repository   Repository        `json:"repository"`
	Env          map[string]string `json:"env"`
	Workers      int               `json:"workers"` // 0: the worker's machine decides
	MinIsolation string            `json:"minIsolation"`
	LimitMs      int64             `json:"limitMs"`
	DiskQuota    int64             `json:"diskQuota"` // bytes
	HeartbeatMs  int64             `json:"heartbeatMs"`
}

// Repository says what to check out. Token is a secret.
type Repository struct {
	URL    string `json:"url"`
	Branch string `json:"branch"`
	Dir    string `json:"dir"`
	Token  string `json:"token,omitempty"`
	// Known are commits that earlier listings were made at; the worker answers the files
	// renamed since then in Listing.Renames.
	KnownCommit string `json:"knownCommit,omitempty"`
	// Default says that the run asked for no other branch than the project's own; the
	// worker says so of its listing.
	Default bool `json:"default"`
}

// Beat says that the worker lives and what it is doing.
type Beat struct {
	Phase string `json:"phase"` // "checkout", "install", "list", "running", "uploading"
}

// Orders is the service's answer to everything: Cancel tells the worker to stop at once.
type Orders struct {
	Cancel bool `json:"cancel"`
}

// Listing is what the repository turned out to hold.
type Listing struct {
	Commit            string            `json:"commit"`
	Branch            string            `json:"branch"`
	Default           bool              `json:"default"`
	Isolation         string            `json:"isolation"`
	Workers           int               `json:"workers"`
	PlaywrightVersion string            `json:"playwrightVersion"`
	RunnerVersion     string            `json:"runnerVersion"`    // the one that is used
	RepositoryRunner  string            `json:"repositoryRunner"` // the one installed in the repository, "" for none
	Renames           map[string]string `json:"renames"`          // old file → new file since Repository.KnownCommit
	Tests             []Test            `json:"tests"`
	Errors            []Error           `json:"errors"`
	Warnings          []Warning         `json:"warnings"`
	// Focused says that test.only hides the other tests of the repository.
	Focused bool `json:"focused"`
}

// Test is one listed test, in one Playwright project.
type Test struct {
	PlaywrightID string   `json:"id"`
	Title        string   `json:"title"`
	TitlePath    []string `json:"titlePath"`
	File         string   `json:"file"`
	Line         int      `json:"line"`
	Browser      string   `json:"project"`
	Tags         []string `json:"tags"`
	Owner        string   `json:"owner"`
	RepeatEach   int      `json:"repeatEachIndex"`
	Retries      int      `json:"retries"`
	Setup        bool     `json:"setup"`
	BodyHash     string   `json:"bodyHash"`
}

// Selection tells the worker what to run; see the runner's protocol. Exactly one of
// All, Include and Grep is set.
type Selection struct {
	IDs     map[string]string `json:"ids"` // Playwright's ID → serviceTestId
	All     bool              `json:"all,omitempty"`
	Include []string          `json:"include,omitzero"`
	Grep    string            `json:"grep,omitempty"`
}

// Chosen is what the runner will execute, set-up that comes along included.
type Chosen struct {
	Tests []ChosenTest `json:"tests"`
}

// ChosenTest is a listed test that will be executed.
type ChosenTest struct {
	Test
	TestID    string `json:"testId"`    // serviceTestId, as Selection.IDs gave it
	Companion bool   `json:"companion"` // not selected: brought along because others depend on it
}

// Batch is a sequence of events. Seq counts from 1 in each attempt; a batch that comes
// twice (its answer was lost) is taken once.
type Batch struct {
	Seq    int64   `json:"seq"`
	Events []Event `json:"events"`
}

// Event is one thing that happened. Exactly one field is set.
type Event struct {
	Begin *TestBegin `json:"begin,omitempty"`
	End   *TestEnd   `json:"end,omitempty"`
	Error *Error     `json:"error,omitempty"`
}

// TestBegin says that a try of a test has begun.
type TestBegin struct {
	ID        string    `json:"id"`
	Retry     int       `json:"retry"`
	StartedAt time.Time `json:"startedAt"`
}

// TestEnd says how a try of a test ended.
type TestEnd struct {
	ID             string    `json:"id"`
	Retry          int       `json:"retry"`
	Status         string    `json:"status"`         // passed, failed, timedOut, skipped, interrupted
	ExpectedStatus string    `json:"expectedStatus"` // passed, failed, skipped
	StartedAt      time.Time `json:"startedAt"`
	DurationMs     int64     `json:"durationMs"`
	WillRetry      bool      `json:"willRetry"`
	Errors         []Error   `json:"errors,omitempty"`
}

// Error is one error as Playwright reports it.
type Error struct {
	Message  string    `json:"message"`
	Stack    string    `json:"stack,omitempty"`
	Snippet  string    `json:"snippet,omitempty"`
	Location *Location `json:"location,omitempty"`
	Code     string    `json:"code,omitempty"`
}

// Location is a place in the tests repository.
type Location struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Warning is something that a person should know though the run goes on.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ArtifactAnswer names a stored artifact.
type ArtifactAnswer struct {
	ID   string `json:"id"`
	Size int64  `json:"size"`
}

// Outcome ends an attempt. Complete is true only when the runner said by itself that it
// was done and everything that it sent was delivered; nothing else may become a pass.
type Outcome struct {
	Complete bool      `json:"complete"`
	Status   string    `json:"status"` // Playwright's own word: passed, failed, timedout, interrupted
	Error    *Error    `json:"error,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	Batches  int64     `json:"batches"` // how many batches were sent: fewer received is a loss
}
