package executortest

import (
	"context"
	"errors"
	"sync"

	"tas-service/internal/executor"
)

// Dummy is an executor that executes nothing. It does what a test tells it to.
type Dummy struct {
	changed chan struct{}

	mu      sync.Mutex
	seen    map[string]executor.Observation
	tokens  map[string]string
	refuse  error
	failing error
	starts  int
}

var _ executor.Executor = (*Dummy)(nil)

// NewDummy answers a dummy whose attempts stay until they are cancelled or Exit.
func NewDummy() *Dummy {
	return &Dummy{changed: make(chan struct{}, 1), seen: map[string]executor.Observation{}, tokens: map[string]string{}}
}

// Refuse makes starts fail with err from now on; nil lets them succeed again.
func (d *Dummy) Refuse(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = err
}

// Fail makes Observe fail with err from now on; nil lets it succeed again.
func (d *Dummy) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing = err
}

// Exit ends an attempt.
func (d *Dummy) Exit(id, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.seen[id]; ok {
		d.seen[id] = executor.Observation{ID: id, State: executor.Exited, Reason: reason}
		d.tell()
	}
}

// Vanish forgets an attempt, as a machine that is gone does.
func (d *Dummy) Vanish(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.seen, id)
}

// Started answers the tokens of all attempts that were started, by ID.
func (d *Dummy) Started() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]string{}
	for id, token := range d.tokens {
		out[id] = token
	}
	return out
}

// Starts answers how often a start was asked for.
func (d *Dummy) Starts() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.starts
}

func (d *Dummy) tell() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// Start notes the attempt. A spec named "ends" exits at once.
func (d *Dummy) Start(_ context.Context, spec executor.Spec) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.starts++
	if d.refuse != nil {
		return d.refuse
	}
	if _, ok := d.tokens[spec.ID]; ok {
		return nil
	}
	d.tokens[spec.ID] = spec.Token
	d.seen[spec.ID] = executor.Observation{ID: spec.ID, State: executor.Running}
	if spec.Name == "ends" {
		d.seen[spec.ID] = executor.Observation{ID: spec.ID, State: executor.Exited, Reason: "it was named so"}
		d.tell()
	}
	return nil
}

// Cancel ends the attempt at once.
func (d *Dummy) Cancel(_ context.Context, id string) error {
	d.Exit(id, "cancelled")
	return nil
}

// Observe lists what was started and not reaped.
func (d *Dummy) Observe(context.Context) ([]executor.Observation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []executor.Observation
	for _, o := range d.seen {
		out = append(out, o)
	}
	return out, d.failing
}

// Changed receives when an attempt has exited.
func (d *Dummy) Changed() <-chan struct{} { return d.changed }

// Reap forgets an attempt that has exited.
func (d *Dummy) Reap(_ context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[id].State == executor.Running {
		return errors.New("the attempt still runs")
	}
	delete(d.seen, id)
	return nil
}
