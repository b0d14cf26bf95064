package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// HealOptions are what a healing can take. The zero value means the defaults.
type HealOptions struct {
	TestIDs        []string       `json:"testIds,omitempty"`      // only these of the run's failures
	AutoCreatePR   *bool          `json:"autoCreatePR,omitempty"` // nil: open a pull request with a repair
	Branch         string         `json:"branch,omitempty"`       // that a pull request is to be merged into; "" for the run's own
	RepoName       string         `json:"repoName,omitempty"`     // "owner/repo" of PRNumber
	PRNumber       int            `json:"prNumber,omitempty"`     // pull request that is told; 0 for none
	Metadata       map[string]any `json:"metadata,omitempty"`
	IdempotencyKey string         `json:"-"` // makes the call safe to repeat for 24 hours
}

// HealingStarted is a healing that was started.
type HealingStarted struct {
	BatchID    string   `json:"batchId"`
	SessionIDs []string `json:"sessionIds"`
	Links      struct {
		Session string `json:"session"`
		TestRun string `json:"testRun"`
	} `json:"links"`
}

// Healing is the progress of a healing.
type Healing struct {
	BatchID     string         `json:"batchId"`
	Kind        string         `json:"kind"`
	AllTerminal bool           `json:"allTerminal"`
	Counts      map[string]int `json:"counts"` // sessions by status
	Sessions    []Session      `json:"sessions"`
}

// Session is one session of a healing: all failures that have one cause.
type Session struct {
	SessionID   string           `json:"sessionId"`
	Kind        string           `json:"kind"`
	Status      string           `json:"status"` // queued, cloning, running, waiting-for-input, verifying, completed, failed, cancelled
	Stage       string           `json:"stage"`
	TestIDs     []string         `json:"testIds"`
	Outcome     []TestOutcome    `json:"outcome"`
	Summary     string           `json:"summary"`
	PRURL       *string          `json:"prUrl"`
	PRState     *string          `json:"prState"` // requested, open, merged, closed, refused
	FileChanges []FileChange     `json:"fileChanges"`
	Messages    []SessionMessage `json:"messages"` // the latest
	Error       *SessionError    `json:"error"`
	Usage       SessionUsage     `json:"usage"`
	StartedAt   *time.Time       `json:"startedAt"`
	FinishedAt  *time.Time       `json:"finishedAt"`
	URL         string           `json:"url"`
}

// TestOutcome is what came of one test in a session.
type TestOutcome struct {
	ServiceTestID string   `json:"serviceTestId"`
	Browser       string   `json:"browser"`
	Title         string   `json:"title"`
	Outcome       string   `json:"outcome"` // healed, application-bug, flaky, environment, not-healable
	Class         string   `json:"class"`
	Confidence    float64  `json:"confidence"` // from 0 to 1
	Evidence      []string `json:"evidence"`
}

// FileChange is how much of a file a session changes.
type FileChange struct {
	Path      string `json:"path"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
}

// SessionMessage is one thing that a session did, and why.
type SessionMessage struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	Text string    `json:"text"`
}

// SessionError is why a session could not do its work.
type SessionError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// SessionUsage is what a session has used up.
type SessionUsage struct {
	InputTokens  int64   `json:"inputTokens"`
	OutputTokens int64   `json:"outputTokens"`
	CostUSD      float64 `json:"costUsd"`
}

// Heal starts the healing of a run's failures. It is refused with status 409 while the run
// goes on, and where there is nothing to heal.
func (c *Client) Heal(ctx context.Context, runID string, o HealOptions) (HealingStarted, error) {
	var out HealingStarted
	headers := http.Header{}
	if o.IdempotencyKey != "" {
		headers.Set("Idempotency-Key", o.IdempotencyKey)
	}
	err := c.do(ctx, http.MethodPost, "/public-api/v1/auto-heal", headers, struct {
		TestRunID string `json:"testRunId"`
		HealOptions
	}{runID, o}, &out)
	return out, err
}

// Healing answers the progress of a healing.
func (c *Client) Healing(ctx context.Context, batchID string) (Healing, error) {
	var out Healing
	err := c.do(ctx, http.MethodGet, "/public-api/v1/auto-heal/batch/"+url.PathEscape(batchID), nil, nil, &out)
	return out, err
}
