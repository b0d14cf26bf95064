package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Lease is what several services agree by which of them does what only one may do.
type Lease interface {
	// Hold takes or renews a lease for a time from now on and reports whether holder has it.
	Hold(ctx context.Context, name, holder string, d time.Duration) (bool, error)
	// LetGo gives it up.
	LetGo(ctx context.Context, name, holder string) error
}

// Election keeps at most one of several services leading. A service that cannot renew its
// lease stops leading before the lease ends and another one can take it.
type Election struct {
	Lease  Lease
	Name   string // of the lease
	Holder string // this service, unlike all others
	For    time.Duration
	Every  time.Duration // a third of For or less
	Log    *slog.Logger
	// Changed hears when this service begins to lead.
	Changed func()

	mu    sync.Mutex
	until time.Time // leading until then
}

// Leading reports whether this service leads now.
func (e *Election) Leading() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Now().Before(e.until)
}

// Run takes part until ctx is done, then gives the lease up.
func (e *Election) Run(ctx context.Context) {
	tick := time.NewTicker(e.Every)
	defer tick.Stop()
	for {
		e.try(ctx)
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		break
	}
	e.mu.Lock()
	e.until = time.Time{}
	e.mu.Unlock()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.Every)
	defer cancel()
	if err := e.Lease.LetGo(last, e.Name, e.Holder); err != nil {
		e.Log.Warn("the lease is not given up: another service takes over when it ends", "lease", e.Name, "error", err)
	}
}

func (e *Election) try(ctx context.Context) {
	asked := time.Now() // the lease runs from later than this
	short, cancel := context.WithTimeout(ctx, e.For/2)
	defer cancel()
	held, err := e.Lease.Hold(short, e.Name, e.Holder, e.For)
	if err != nil {
		if ctx.Err() == nil {
			e.Log.Warn("the lease cannot be renewed", "lease", e.Name, "error", err)
		}
		return // leading ends by itself
	}
	before := e.Leading()
	e.mu.Lock()
	e.until = time.Time{}
	if held {
		e.until = asked.Add(e.For * 4 / 5)
	}
	e.mu.Unlock()
	if held && !before {
		e.Log.Info("this service leads", "lease", e.Name)
		e.Changed()
	}
}
