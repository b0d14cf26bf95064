package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tas-service/internal/artifact"
)

// Kept is what Retention needs of the store.
type Kept interface {
	// EndedBefore answers runs that ended before a time and still have their artifacts.
	EndedBefore(ctx context.Context, t time.Time, limit int) (runIDs []string, err error)
	// Swept notes that a run's artifacts are gone.
	Swept(ctx context.Context, runID string) error
}

// Retention removes what old runs left behind. Their results and verdicts stay.
type Retention struct {
	Store Kept
	Blobs artifact.Blobs
	Keep  time.Duration // 0: for ever
	Clock func() time.Time
}

// sweepAtOnce bounds one step.
const sweepAtOnce = 100

// Step is for a reconcile.Loop: it removes the artifacts of runs that ended more than
// Keep ago.
func (r *Retention) Step(ctx context.Context) error {
	if r.Keep <= 0 {
		return nil
	}
	ids, err := r.Store.EndedBefore(ctx, r.Clock().Add(-r.Keep), sweepAtOnce)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		// The bytes first: when this breaks off in between, the next step begins anew.
		err := r.Blobs.DeleteAll(ctx, artifact.RunPrefix(id))
		if err == nil {
			err = r.Store.Swept(ctx, id)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("remove the artifacts of run %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}
