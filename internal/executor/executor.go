// Package executor is a place where an attempt can run: start it, see how it is,
// stop it. It never learns what an attempt found out: that comes from the attempt
// itself, over HTTP; an executor's word is a back-stop that can only say "gone".
package executor

import (
	"context"
	"time"
)

// Spec is one attempt to start.
type Spec struct {
	ID     string // the attempt's ID
	RunID  string
	Name   string // the run's name, at most 50 characters
	Server string // base address under which the attempt reaches the service
	Token  string // opens the service for this attempt only; never on a command line
	Limit  time.Duration
}

// State of an attempt as its place sees it.
type State string

// The states.
const (
	Running State = "running"
	Exited  State = "exited"
)

// Observation is what a place knows about one attempt.
type Observation struct {
	ID     string
	State  State
	Reason string // for Exited, where it is known: "exit status 1", "killed"
}

// Executor runs attempts. All methods are safe for concurrent use.
type Executor interface {
	// Start starts an attempt. Starting the same ID again is no error and no second start.
	Start(ctx context.Context, spec Spec) error
	// Cancel ends an attempt with everything that it started. Unknown IDs are no error.
	Cancel(ctx context.Context, id string) error
	// Observe lists every attempt that was started here and not reaped, also those that
	// an earlier process of the service started.
	Observe(ctx context.Context) ([]Observation, error)
	// Changed receives when an observation may have changed; it is never closed.
	Changed() <-chan struct{}
	// Reap forgets an attempt that has exited and frees what it held. Unknown IDs are no error.
	Reap(ctx context.Context, id string) error
}
