package dispatch

import (
	"context"
	"sync"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Recovery answers which element a locator means that finds nothing any more, or nothing.
type Recovery interface {
	Recover(ctx context.Context, r run.Run, x run.Result, ask attempt.Ask) (attempt.Found, error)
}

// Bounds of what may be asked.
const (
	maxAsks      = 100 // of one run
	maxAsksRuns  = 1000
	maxAskPage   = 4 << 20 // bytes
	maxAskText   = 16 << 10
	maxAskPlaces = 200
	recoverFor   = 2 * time.Second
)

// asks counts the questions of runs under way. They live in this process: after a restart a
// run may ask as often again.
type asks struct {
	mu sync.Mutex
	of map[string]int
}

// take reports whether a run may ask once more.
func (a *asks) take(runID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil || len(a.of) >= maxAsksRuns && a.of[runID] == 0 {
		a.of = map[string]int{}
	}
	a.of[runID]++
	return a.of[runID] <= maxAsks
}

// Recover answers which element a locator means, if its project wants that and it is known
// surely enough; an answer that comes late is none. Errors: fault.Invalid for a question that
// is out of bounds, fault.NotFound for a test that the run does not have.
func (d *Dispatcher) Recover(ctx context.Context, a Attempt, ask attempt.Ask) (attempt.Found, error) {
	none := attempt.Found{}
	if err := checkAsk(ask); err != nil {
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, recoverFor)
	defer cancel()
	p, err := d.Projects.Project(ctx, a.ProjectID)
	if err != nil || d.Recovery == nil || !p.Recovery || a.Kind == ForMerge {
		return none, err
	}
	r, err := d.Store.Run(ctx, a.RunID)
	if err != nil || r.Trial != nil || r.Terminal() || !d.asks.take(r.ID) {
		return none, err
	}
	x, err := d.Store.PlannedResult(ctx, r.ID, ask.Test)
	if err != nil {
		return none, err
	}
	if r.Sharded() && x.Unit >= 0 && x.AttemptID != a.ID {
		return none, fault.New(fault.Invalid, "This shard was not given the test.")
	}
	found, err := d.Recovery.Recover(ctx, r, x, ask)
	if ctx.Err() != nil {
		return none, nil //nolint:nilerr // nobody waits for it any more
	}
	return found, err
}

// checkAsk holds a question to bounds: a stranger's program may have asked it.
func checkAsk(ask attempt.Ask) error {
	most := max(len(ask.Test), len(ask.Method), len(ask.Selector), len(ask.URL))
	for _, f := range ask.Frames {
		most = max(most, len(f.File), len(f.Function))
	}
	for _, c := range ask.Failed {
		most = max(most, len(c.Method), len(c.Path))
	}
	if len(ask.Page) > maxAskPage || most > maxAskText || max(len(ask.Frames), len(ask.Earlier), len(ask.Failed)) > maxAskPlaces {
		return fault.New(fault.Invalid, "A question has a page of at most %d MiB, and few words.", maxAskPage>>20)
	}
	return nil
}
