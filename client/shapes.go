package client

import "time"

// Project is the project that a key belongs to.
type Project struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	HasTestsRepo bool   `json:"hasTestsRepo"`
}

// StartOptions are what every call that starts a run can take.
type StartOptions struct {
	ShardCount     int       `json:"shardCount,omitempty"` // 2 to 40; 0 for a run in one piece
	Workers        int       `json:"workers,omitempty"`    // Playwright workers, in each shard; 0 for the default
	AutoHeal       *AutoHeal `json:"autoHeal,omitempty"`   // heal what fails; nil for no healing
	PRNumber       int       `json:"prNumber,omitempty"`   // pull request that the run is for; 0 for none
	RepoName       string    `json:"repoName,omitempty"`   // "owner/repo" that it is in; needed where the project has several
	Trigger        string    `json:"-"`                    // "ci" from a pipeline; "" for "api"
	IdempotencyKey string    `json:"-"`                    // makes the call safe to repeat for 24 hours
}

// AutoHeal asks for healing when the run ends failed. The zero value means the defaults.
type AutoHeal struct {
	AutoCreatePR *bool          `json:"autoCreatePR,omitempty"`
	Branch       string         `json:"branch,omitempty"`
	RepoName     string         `json:"repoName,omitempty"`
	PRNumber     int            `json:"prNumber,omitempty"`
	Metadata     map[string]any `json:"metadata,omitempty"`
}

// Grep is what only a run by pattern can take.
type Grep struct {
	Pattern      string            `json:"grep"`                   // JavaScript regular expression, or a part of the name
	Branch       string            `json:"branch,omitempty"`       // of the tests repository; "" for its default
	EnvOverrides map[string]string `json:"envOverrides,omitempty"` // application variables
}

// Started is a run that was started.
type Started struct {
	RunID      string  `json:"runId"`
	Name       *string `json:"name"` // nil for a sharded run
	Sharded    bool    `json:"sharded"`
	ShardCount *int    `json:"shardCount"` // nil for a run in one piece
	TestRunURL string  `json:"testRunUrl"`
}

// Status is the state of a run.
type Status struct {
	RunID         string     `json:"runId"`
	Name          *string    `json:"name"` // nil for a sharded run
	IsTerminal    bool       `json:"isTerminal"`
	Verdict       string     `json:"verdict"` // pending, pass, fail
	Phase         string     `json:"phase"`
	ExecutedCount int        `json:"executedCount"`
	TotalCount    int        `json:"totalCount"`
	Passed        int        `json:"passed"`
	Failed        int        `json:"failed"`
	Flaky         int        `json:"flaky"`
	Skipped       int        `json:"skipped"`
	Recovered     int        `json:"recovered"`
	Bug           int        `json:"bug"`
	Shards        []Shard    `json:"shards"`
	Plan          *Plan      `json:"plan"` // nil for a run in one piece, and until the tests are known
	Warnings      []Warning  `json:"warnings"`
	Error         *Warning   `json:"error"`
	CreatedAt     time.Time  `json:"createdAt"`
	StartedAt     *time.Time `json:"startedAt"`
	FinishedAt    *time.Time `json:"finishedAt"`
	DurationMs    *int64     `json:"durationMs"`
	Branch        string     `json:"branch"`
	Commit        string     `json:"commit"`
	Isolation     string     `json:"isolation"`
	HealBatchID   *string    `json:"healBatchId"`
	TestRunURL    string     `json:"testRunUrl"`
}

// Shard is one of the workers that share a run's tests.
type Shard struct {
	Index         int        `json:"index"` // counted from 0
	Phase         string     `json:"phase"` // queued, preparing, running, finished
	ExecutedCount int        `json:"executedCount"`
	TotalCount    int        `json:"totalCount"` // given to it so far
	StartedAt     *time.Time `json:"startedAt"`
	FinishedAt    *time.Time `json:"finishedAt"`
	Lost          bool       `json:"lost"`
}

// Plan is what was expected of a sharded run when it began.
type Plan struct {
	Units         int    `json:"units"`
	TotalMs       int64  `json:"totalMs"`     // predicted for all tests, one after the other
	PredictedMs   int64  `json:"predictedMs"` // from the first test's begin to the last one's end
	ActualMs      *int64 `json:"actualMs"`    // nil until the run is terminal
	LongestMs     int64  `json:"longestMs"`
	LongestFile   string `json:"longestFile"`
	TestsTimed    int    `json:"testsTimed"`
	TestsNotTimed int    `json:"testsNotTimed"`
}

// Warning is a code with words for people.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ResultQuery selects results of a run.
type ResultQuery struct {
	RunID    string
	Statuses []string // none for all
	Limit    int      // 1 to 200; 0 for the API's default
	Cursor   string   // "" for the first page
}

// Result is what came of one test in one Playwright project.
type Result struct {
	ServiceTestID  string       `json:"serviceTestId"`
	Title          string       `json:"title"`
	TitlePath      []string     `json:"titlePath"`
	File           string       `json:"file"`
	Line           int          `json:"line"`
	Browser        string       `json:"browser"`
	Status         string       `json:"status"`
	DurationMs     int64        `json:"durationMs"` // of all attempts together
	Retries        int          `json:"retries"`
	Attempts       []Attempt    `json:"attempts"`
	Error          *ResultError `json:"error"`
	Verdict        *string      `json:"verdict"`
	BugKey         *string      `json:"bugKey"`
	Owner          *string      `json:"owner"`
	Tags           []string     `json:"tags"`
	AttachmentsURL string       `json:"attachmentsUrl"`
	Quarantined    bool         `json:"quarantined"` // its failure does not fail the run
}

// Attempt is one try of a test.
type Attempt struct {
	Status     string       `json:"status"`
	DurationMs int64        `json:"durationMs"`
	StartedAt  time.Time    `json:"startedAt"`
	Error      *ResultError `json:"error"`
}

// ResultError is why a test failed.
type ResultError struct {
	Message  string    `json:"message"`
	Stack    string    `json:"stack"`
	Snippet  string    `json:"snippet"`
	Location *Location `json:"location"`
	Code     string    `json:"code"` // assertion, timeout, not-reported …
}

// Location is a place in the tests repository.
type Location struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// TestQuery selects tests of the project.
type TestQuery struct {
	Text   string // part of the file, a title or a tag; "" for all
	Limit  int    // 1 to 200; 0 for the API's default
	Cursor string // "" for the first page
}

// Test is a test that can be run.
type Test struct {
	ServiceTestID string      `json:"serviceTestId"`
	Title         string      `json:"title"`
	TitlePath     []string    `json:"titlePath"`
	File          string      `json:"file"`
	Line          int         `json:"line"`
	Browsers      []string    `json:"browsers"`
	Tags          []string    `json:"tags"`
	Owner         *string     `json:"owner"`
	FirstSeenAt   time.Time   `json:"firstSeenAt"`
	LastSeenAt    time.Time   `json:"lastSeenAt"`
	Health        Health      `json:"health"`
	Quarantine    *Quarantine `json:"quarantine"` // nil when its failures count
}

// Report is where a run's HTML report is.
type Report struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Collection is tests that are run together.
type Collection struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	TestIDs     []string  `json:"testIds"` // named by hand
	Rule        *Rule     `json:"rule"`    // nil for none
	TestCount   int       `json:"testCount"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// Rule selects tests by what they are.
type Rule struct {
	Tags  []string `json:"tags,omitempty"`
	Paths []string `json:"paths,omitempty"`
	Title string   `json:"title,omitempty"`
}

// BugQuery asks for bugs. Empty filters let everything through.
type BugQuery struct {
	Statuses      []string // needs-triage, confirmed, fixed, not-bug, snoozed
	Severities    []string // critical, major, minor
	ServiceTestID string
	Limit         int
	Cursor        string
}

// Bug is failures of one cause.
type Bug struct {
	Key            string    `json:"key"`
	Title          string    `json:"title"`
	Status         string    `json:"status"`
	Severity       string    `json:"severity"`
	Outage         bool      `json:"outage"` // it failed most of a run at once
	Signature      string    `json:"signature"`
	ServiceTestIDs []string  `json:"serviceTestIds"`
	Occurrences    int       `json:"occurrences"`
	FirstSeenAt    time.Time `json:"firstSeenAt"`
	LastSeenAt     time.Time `json:"lastSeenAt"`
	FirstRunID     string    `json:"firstRunId"`
	LastRunID      string    `json:"lastRunId"`
	URL            string    `json:"url"`
}

// Verdict is what is said of one test of a run.
type Verdict struct {
	ServiceTestID string `json:"serviceTestId"`
	Verdict       string `json:"verdict"`            // bug, not-bug, flaky, passed, failed
	Severity      string `json:"severity,omitempty"` // of a bug: critical, major, minor
	Comment       string `json:"comment,omitempty"`
	Source        string `json:"source,omitempty"` // human, automation; "" is human
}

// Judged is what came of verdicts.
type Judged struct {
	Updated int    `json:"updated"` // tests
	Counts  Counts `json:"counts"`
	Verdict string `json:"verdict"` // of the run, now
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

// Health is what a test's latest outcomes on the default branch say.
type Health struct {
	State        string     `json:"state"` // unknown, healthy, flaky, broken, outage
	Outcomes     int        `json:"outcomes"`
	Failures     int        `json:"failures"`
	Flakes       int        `json:"flakes"`
	Outages      int        `json:"outages"`
	FlakeRate    float64    `json:"flakeRate"` // 0 to 1
	FailingSince *time.Time `json:"failingSince"`
}

// Quarantine keeps a test's failures from failing runs, for a while.
type Quarantine struct {
	Owner     string    `json:"owner"`
	Reason    string    `json:"reason"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}
