package run

import (
	"context"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// WasCancelled begins the error of a run that somebody ended.
const WasCancelled = "The run was cancelled."

// Cancel asks for a run's end: what waits is not begun any more, what runs is ended, and
// each test that has no result yet is accounted for as cancelled. The reconcilers do it.
// Errors: fault.NotFound, fault.Forbidden below a member, fault.Conflict for a run that is
// over. Asking twice changes nothing.
func (s *Service) Cancel(ctx context.Context, actor account.Actor, id string) error {
	r, err := s.Get(ctx, actor, id)
	if err != nil {
		return err
	}
	if err := actor.MayAs(account.RoleMember, r.ProjectID, "run"); err != nil {
		return err
	}
	err = s.Store.UpdateRun(ctx, r.ID, func(r *Run) error {
		switch {
		case r.Terminal():
			return fault.New(fault.Conflict, "The run is over: it is %s.", r.Phase).WithFix("There is nothing left to cancel.")
		case r.Cancel == nil:
			r.Cancel = &Cancellation{By: actor.By(), At: s.Clock().UTC()}
			r.Parked = false // it may have been left as it was; now there is an end for it
		}
		return nil
	})
	if err == nil {
		s.changed(&r)
		s.Wake()
	}
	return err
}

// CloseCancelled gives every result that is still open its final status: nobody knows what
// the test would have found.
func CloseCancelled(results []*Result) {
	for _, r := range results {
		if r.Status.Final() {
			continue
		}
		if n := len(r.Tries); n > 0 {
			last := &r.Tries[n-1]
			if last.Status == string(StatusRunning) {
				last.Status = "interrupted"
			}
			last.WillRetry = false
		}
		r.Status = StatusSkipped
		r.Error = &Error{Code: CodeCancelled, Message: "The run was cancelled before the test had ended."}
	}
}
