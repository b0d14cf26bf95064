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
	// EndedBefore answers runs that ended longer ago than their project keeps artifacts, or
	// keep where it does not say, and still have theirs. keep 0 is for ever.
	EndedBefore(ctx context.Context, now time.Time, keep time.Duration, limit int) (runIDs []string, err error)
	// Swept notes that a run's artifacts are gone.
	Swept(ctx context.Context, runID string) error
}

// Retention removes what old runs left behind. Their results and verdicts stay.
type Retention struct {
	Store Kept
	Blobs artifact.Blobs
	Keep  time.Duration // where a project does not say; 0: for ever
	Clock func() time.Time
}

// sweepAtOnce bounds one step.
const sweepAtOnce = 100

// Step is for a reconcile.Loop: it removes the artifacts of runs that ended longer
// ago than they are kept.
func (r *Retention) Step(ctx context.Context) error {
	ids, err := r.Store.EndedBefore(ctx, r.Clock(), max(0, r.Keep), sweepAtOnce)
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
