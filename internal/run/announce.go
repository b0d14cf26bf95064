package run

import (
	"context"
	"errors"
	"fmt"

	"tas-service/internal/fault"
)

// Unannounced is what Announcer needs of the store.
type Unannounced interface {
	// Unannounced answers runs that have ended, or were judged anew since, and that not
	// everybody was told of, in the order of their IDs, behind after.
	Unannounced(ctx context.Context, after string, limit int) ([]Run, error)
	// Announced notes that everybody was told of a run as it is given; one that was judged
	// anew meanwhile is told again.
	Announced(ctx context.Context, told Run) error
}

// Announcer tells listeners that runs have ended. Each is told at least once of every run,
// again after a crash or another one's failure, and when a run was judged anew: so they do
// nothing twice.
type Announcer struct {
	Store     Unannounced
	Listeners []func(ctx context.Context, r Run) error
	// Leading, when set, reports whether this one of several services announces.
	Leading func() bool
}

// announceAtOnce is how many runs are read at once.
const announceAtOnce = 100

// Step is for a reconcile.Loop. A run of which a listener cannot be told is left for the
// next step and holds no other one back.
func (a *Announcer) Step(ctx context.Context) error {
	if a.Leading != nil && !a.Leading() {
		return nil
	}
	var errs []error
	for after := ""; ; {
		rs, err := a.Store.Unannounced(ctx, after, announceAtOnce)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, r := range rs {
			if err := a.announce(ctx, r); err != nil {
				errs = append(errs, fmt.Errorf("announce the end of run %s: %w", r.ID, err))
			}
			after = r.ID
		}
		if len(rs) < announceAtOnce || ctx.Err() != nil {
			return errors.Join(errs...)
		}
	}
}

func (a *Announcer) announce(ctx context.Context, r Run) error {
	var errs []error
	for _, listen := range a.Listeners {
		errs = append(errs, tell(ctx, listen, r))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return a.Store.Announced(ctx, r)
}

func tell(ctx context.Context, listen func(context.Context, Run) error, r Run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "a listener panicked: %v", p)
		}
	}()
	return listen(ctx, r)
}
