package dispatch

import (
	"context"
	"errors"
	"fmt"

	"tas-service/internal/artifact"
	"tas-service/internal/run"
)

// cancel ends a run that somebody wants to be over, wherever it is. Its attempts are closed
// first, which refuses what they still send, and their processes ended; then what has no
// result is accounted for. What failed before stays a failure, and has its bug.
func (d *Dispatcher) cancel(ctx context.Context, r run.Run) error {
	attempts, err := d.Store.RunAttempts(ctx, r.ID)
	if err != nil {
		return err
	}
	why := run.WasCancelled // who did it stands in the record, by ID: a name may change
	var errs []error
	for _, a := range attempts {
		if a.State.Open() {
			errs = append(errs, d.callOff(ctx, a, why))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	err = d.Store.CloseOpen(ctx, r.ID, func(_ *run.Run, open []*run.Result, _ bool) error {
		run.CloseCancelled(open)
		return nil
	})
	if err != nil {
		return err
	}
	if err := d.fileBugs(ctx, r); err != nil {
		return err
	}
	tally, err := d.Store.Tally(ctx, r.ID)
	if err != nil {
		return err
	}
	if r.Sharded() {
		within, done := context.WithTimeout(ctx, sweepIn)
		defer done()
		if err := d.Blobs.DeleteAll(within, artifact.RunPrefix(r.ID)+shardReports); err != nil {
			d.Log.Warn("the reports of a run's shards are not removed", "run", r.ID, "error", err)
		}
	}
	return d.end(ctx, r.ID, r.Phase, func(r *run.Run) run.Judgement {
		r.Counts, r.Total, r.Executed = tally.Counts, tally.Counts.Sum(), tally.Counts.Sum()
		e := &run.Error{Code: run.CodeCancelled, Message: why}
		if n := tally.Counts.Failed + tally.Counts.Bug; n > 0 {
			e.Message += fmt.Sprintf(" %d tests had failed by then.", n)
		}
		return run.Judgement{Phase: run.Cancelled, Verdict: run.Fail, Error: e}
	})
}

// callOff closes one attempt and has its process ended. What it held is nobody's.
func (d *Dispatcher) callOff(ctx context.Context, a Attempt, why string) error {
	err := d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, _ *run.Run) error {
		if a.State.Open() {
			now := d.Clock()
			a.State, a.Reason, a.FinishedAt = Cancelled, why, &now
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.queueChanged(a.RunID)
	return d.Executor.Cancel(ctx, a.ID)
}
