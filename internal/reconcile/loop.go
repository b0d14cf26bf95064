// Package reconcile runs level-triggered loops: each is woken by a change and, every
// few seconds, by a clock; each time it looks at the records as they are, does the
// next step and saves. A crash, a restart and a resumed run are the same path.
package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Loop calls Step whenever it is woken and at least every Every. One Step runs at a
// time. A Step that fails or panics is logged, counted and called again after Every.
type Loop struct {
	Name  string
	Every time.Duration
	Step  func(context.Context) error
	Log   *slog.Logger
	// Failed, when set, hears of each failed step.
	Failed func(name string)

	wake chan struct{}
	once sync.Once
}

func (l *Loop) init() { l.once.Do(func() { l.wake = make(chan struct{}, 1) }) }

// Wake asks for a step soon. It never blocks; several wakes may become one step.
func (l *Loop) Wake() {
	l.init()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run steps until ctx is done. The first step comes at once.
func (l *Loop) Run(ctx context.Context) {
	l.init()
	tick := time.NewTicker(l.Every)
	defer tick.Stop()
	for {
		l.step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-tick.C:
		}
	}
}

func (l *Loop) step(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			l.Log.Error("a reconciler panicked", "loop", l.Name, "panic", p)
			l.failed()
		}
	}()
	if err := l.Step(ctx); err != nil && ctx.Err() == nil {
		l.Log.Error("a reconciler failed", "loop", l.Name, "error", err)
		l.failed()
	}
}

func (l *Loop) failed() {
	if l.Failed != nil {
		l.Failed(l.Name)
	}
}
