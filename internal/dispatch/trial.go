package dispatch

import (
	"context"

	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Bounds of what a trial's worker may say of its edits.
const (
	maxEdits     = 100
	maxEditPatch = 1 << 20 // bytes: an edit replaces one part of one locator
	maxEditText  = 4 << 10
)

// TakeEdited takes in what became of a trial's edits, as often as it is said: the answer
// may be lost. fault.Invalid for more than a trial can have made.
func (d *Dispatcher) TakeEdited(ctx context.Context, a Attempt, e attempt.Edited) (attempt.Orders, error) {
	if err := checkEdited(e); err != nil {
		return attempt.Orders{}, err
	}
	return attempt.Orders{}, d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, r *run.Run) error {
		switch {
		case !a.State.Open():
			return superseded(*a)
		case r.Trial == nil || !r.Trial.Changes():
			return fault.New(fault.Conflict, "This run has no edits to make.")
		}
		a.HeartbeatAt, r.Edited = d.Clock(), &e
		return nil
	})
}

// checkEdited holds what a worker says to bounds: strangers' programs ran beside it.
func checkEdited(e attempt.Edited) error {
	most := 0
	for _, x := range e.Edits {
		most = max(most, len(x.File), len(x.Before), len(x.After), len(x.Code), len(x.Why))
	}
	for _, o := range e.Offences {
		most = max(most, len(o.Rule), len(o.File), len(o.Message))
	}
	if len(e.Edits) > maxEdits || len(e.Offences) > maxEdits || len(e.Patch) > maxEditPatch || most > maxEditText {
		return fault.New(fault.Invalid, "A trial's edits are at most %d, in a patch of %d KiB.", maxEdits, maxEditPatch>>10)
	}
	return nil
}
