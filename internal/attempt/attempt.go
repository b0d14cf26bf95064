// Package attempt is what a worker and the service say to each other about one
// attempt at a run, over HTTP with the attempt's own token. The worker executes, the
// service decides: selection, identity, outcome and verdict are the service's.
package attempt

import "time"

// Paths of the exchange, below Prefix. All are POST but Artifact, which is PUT.
const (
	Prefix    = "/attempt/v1"
	Claim     = "/claim"          // → Job
	Heartbeat = "/heartbeat"      // Beat → Orders
	Pin       = "/pin"            // Pinned → Pinned
	Join      = "/join"           // of a shard, before Plan: {} → Selection
	Plan      = "/plan"           // Listing → Selection
	Selected  = "/selected"       // Chosen → Orders
	EditsMade = "/edited"         // Edited → Orders, of a trial with edits or rewrites, before Plan
	Lease     = "/lease"          // Want → Grant
	Orphans   = "/orphans"        // GET → Orphan, one JSON object a line
	Events    = "/events"         // Batch → Orders
	Artifact  = "/artifact"       // bytes, described by its query → ArtifactAnswer
	Begin     = "/artifact/begin" // Upload → UploadTo, where Job.DirectUploads says so
	End       = "/artifact/end"   // Upload → ArtifactAnswer
	Recover   = "/recover"        // Ask → Found, where Job.Recover says so
	Finish    = "/finish"         // Outcome → Orders
)

// ShardReport is the name under which a shard uploads its report.
const ShardReport = "shard.zip"

// FirstMergingRunner is the first version of tas-runner that can merge the reports of
// shards (section 8 of the specification).
const FirstMergingRunner = "4.4.0"

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
	// DirectUploads says that artifacts are put into their store by the worker itself.
	DirectUploads bool `json:"directUploads"`
	// Shards is how many shards the run has, 0 for a run in one piece.
	Shards int `json:"shards"`
	// Merge, when set, asks for the shards' reports to be made one, and for no tests.
	Merge *Merge `json:"merge,omitempty"`
	// Recover says that locators which find nothing may be asked for.
	Recover bool `json:"recover,omitempty"`
	// Trial, when set, tries something out.
	Trial *Trial `json:"trial,omitempty"`
}

// Merge names what one report is to be made of.
type Merge struct {
	Blobs []Blob `json:"blobs"`
	// Unreported says that Orphans answers results of shards that left no report.
	Unreported bool `json:"unreported"`
	// OwnRunner says that the branch has a tas-runner which can merge: it is used.
	OwnRunner bool `json:"ownRunner"`
}

// Blob is the report of one shard, to be read from Artifact by its key.
type Blob struct {
	Shard int    `json:"shard"`
	Key   string `json:"key"`
}

// Pinned is the commit that every shard of a run executes: the first to check the
// branch out says which, and all of them hear it.
type Pinned struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}

// Repository says what to check out. Token is a secret.
type Repository struct {
	URL    string `json:"url"`
	Branch string `json:"branch"`
	Dir    string `json:"dir"`
	Token  string `json:"token,omitempty"`
	// Commit, when set, is what to check out, wherever the branch stands by now.
	Commit string `json:"commit,omitempty"`
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
	// Unit is equal for tests that one shard must run in one go; "" for set-up.
	Unit        string `json:"unit,omitempty"`
	SerialGroup string `json:"serialGroup,omitempty"`
}

// Selection tells the worker what to run; see the runner's protocol. Exactly one of
// All, Include and Grep is set.
type Selection struct {
	IDs     map[string]string `json:"ids"` // Playwright's ID → serviceTestId
	All     bool              `json:"all,omitempty"`
	Include []string          `json:"include,omitzero"`
	Grep    string            `json:"grep,omitempty"`
	// Make says that this shard makes the plan of its run: it sends its listing.
	Make bool `json:"make,omitempty"`
	// Wait says that another shard is making the plan: ask again.
	Wait bool `json:"wait,omitempty"`
	// Planned says that the run has its plan already, of which IDs and Include are: nobody
	// asks what this shard lists, or chose. What it does not list it leaves out.
	Planned bool `json:"planned,omitempty"`
	// Nothing says that no work is left for this shard.
	Nothing bool `json:"nothing,omitempty"`
	// Record asks for a trace of every test, without pictures and sources, as evidence of
	// how the tests pass.
	Record bool `json:"record,omitempty"`
}

// Want asks for tests: Free Playwright workers have nothing to do, Queued units that were
// granted have not begun. An answer is held back for some time while there is nothing.
type Want struct {
	Free    int      `json:"free"`
	Queued  int      `json:"queued"`
	Offered []string `json:"offered"` // Playwright projects whose tests can be granted now
	Passed  []string `json:"passed"`  // those whose time is over in this shard
	WayMs   int64    `json:"wayMs"`   // how long an answer took lately, when it was not held back
	// Received is the number of the last grant that arrived: what was granted since then
	// is granted again, so that a lost answer loses no test.
	Received int64 `json:"received"`
	// Refused are tests of a grant that the shard does not have, said once; Lacks are all
	// that it ever refused, which it is not granted again.
	Refused []string `json:"refused,omitempty"`
	Lacks   []string `json:"lacks,omitempty"`
}

// Grant hands out tests.
type Grant struct {
	Number int64      `json:"number"`
	Units  [][]string `json:"units,omitempty"` // Playwright's IDs, each list to be run in one go
	// Close says that what is offered will get nothing more.
	Close bool `json:"close,omitempty"`
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
	Over  []string   `json:"over,omitempty"` // tests that were granted together, and will not be tried again
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
	// Sabotaged says that the trial's sabotage was done to this try.
	Sabotaged bool `json:"sabotaged,omitempty"`
	// Recovered are steps that the try owes to an answer of the service.
	Recovered []Recovered `json:"recovered,omitempty"`
}

// Error is one error as Playwright reports it.
type Error struct {
	Message  string    `json:"message"`
	Stack    string    `json:"stack,omitempty"`
	Snippet  string    `json:"snippet,omitempty"`
	Location *Location `json:"location,omitempty"`
	Code     string    `json:"code,omitempty"`
	Steps    []string  `json:"steps,omitempty"` // the step that failed, after those that it is part of
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

// Upload describes an artifact that is sent. Test is Playwright's ID, "" for what belongs
// to the run as a whole.
type Upload struct {
	ID          string `json:"id"` // that Begin answered
	Name        string `json:"name"`
	Test        string `json:"test"`
	Retry       int    `json:"retry"`
	ContentType string `json:"contentType"`
	Size        int64  `json:"size"` // bytes
}

// UploadTo is where to PUT it, with exactly this Content-Type. Whoever has the URL can put
// it there, so it is kept from test code.
type UploadTo struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	ContentType string `json:"contentType"`
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

// Orphan is the result of a test whose shard left no report, as the merge shows it.
type Orphan struct {
	PlaywrightID string      `json:"id"`
	Browser      string      `json:"project"`
	File         string      `json:"file"`
	Line         int         `json:"line"`
	Column       int         `json:"column"`
	Title        string      `json:"title"`
	TitlePath    []string    `json:"titlePath"`
	Tags         []string    `json:"tags"`
	Retries      int         `json:"retries"`
	RepeatEach   int         `json:"repeatEachIndex"`
	Expected     string      `json:"expectedStatus"`
	Tries        []OrphanTry `json:"tries"`
	Note         string      `json:"note"`
}

// OrphanTry is one try of an orphan.
type OrphanTry struct {
	Retry      int       `json:"retry"`
	Status     string    `json:"status"`
	StartedAt  time.Time `json:"startedAt"`
	DurationMs int64     `json:"durationMs"`
	Errors     []Error   `json:"errors"`
}
