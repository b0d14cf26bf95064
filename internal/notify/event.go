package notify

import (
	"time"

	"tas-service/internal/run"
)

// Event is one thing that happened, in the words that webhooks are sent.
type Event struct {
	ID        string    `json:"-"` // never another event's; the webhook-id
	Type      Type      `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      Data      `json:"data"`
}

// Data is what an event tells, by its type: run.finished has a run, bugs have the bug and
// the run that met it.
type Data struct {
	Project Project  `json:"project"`
	Run     *Run     `json:"run,omitempty"`
	Bug     *Bug     `json:"bug,omitempty"`
	Session *Session `json:"session,omitempty"`
	Message string   `json:"message,omitempty"` // of a test
}

// Project is whose event it is.
type Project struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Run is a run that has ended.
type Run struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Branch      string      `json:"branch"`
	Commit      string      `json:"commit"`
	Environment string      `json:"environment,omitempty"`
	Trigger     run.Trigger `json:"trigger"`
	Phase       run.Phase   `json:"phase"`
	Verdict     run.Verdict `json:"verdict"`
	Before      run.Verdict `json:"verdictBefore,omitempty"` // of the run before on the same branch, of the same tests
	Total       int         `json:"total"`
	Counts      run.Counts  `json:"counts"`
	Error       string      `json:"error,omitempty"` // why the run as a whole failed
	Failures    []Failure   `json:"failures"`        // the first ones
	URL         string      `json:"url"`
	StartedAt   *time.Time  `json:"startedAt,omitempty"`
	FinishedAt  *time.Time  `json:"finishedAt,omitempty"`
}

// Changed reports whether the verdict is news: another one than before, or a first failure.
func (r *Run) Changed() bool {
	if r.Before == "" {
		return r.Verdict == run.Fail
	}
	return r.Before != r.Verdict
}

// Failed answers how many tests failed.
func (r *Run) Failed() int { return r.Counts.Failed + r.Counts.Bug }

// Failure is a test that failed.
type Failure struct {
	Title string `json:"title"`
	File  string `json:"file"`
	Error string `json:"error"` // its first line
	Bug   string `json:"bug,omitempty"`
}

// Bug is a bug that was opened or reopened.
type Bug struct {
	Key      string `json:"key"`
	Title    string `json:"title"`
	Severity string `json:"severity"`
	State    string `json:"state"`
	URL      string `json:"url"`
}

// Session is a session of healing or generation that has ended.
type Session struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Outcome     string `json:"outcome"`
	PullRequest string `json:"pullRequest,omitempty"` // its address
	URL         string `json:"url"`
}
