package dispatch

import (
	"context"
	"fmt"
	"slices"

	"tas-service/internal/attempt"
	"tas-service/internal/run"
)

// TakeOutcome closes the attempt and sends the run to its judgement.
func (d *Dispatcher) TakeOutcome(ctx context.Context, a Attempt, o attempt.Outcome) (attempt.Orders, error) {
	err := d.Store.Release(ctx, a.ID, func(a *Attempt, r *run.Run, held []*Unit, results map[string]*run.Result) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		now := d.Clock()
		a.State, a.FinishedAt, a.HeartbeatAt = Finished, &now, now
		for _, w := range o.Warnings {
			r.Warn(w.Code, w.Message)
		}
		if r.Sharded() {
			return endShard(a, r, held, results, o)
		}
		if r.Ending == nil {
			r.Ending = &run.Ending{}
		}
		r.Ending.Complete, r.Ending.Status = o.Complete && r.Phase == run.Running, o.Status
		switch {
		case o.Error != nil:
			e := runError(*o.Error)
			r.Error = &e
		case o.Batches != a.Seq:
			r.Error = &run.Error{Code: run.CodeIncomplete, Message: fmt.Sprintf("The worker sent %d batches of results and %d arrived.", o.Batches, a.Seq)}
		case !r.Ending.Complete:
			r.Error = &run.Error{Code: run.CodeIncomplete, Message: "The worker stopped before the runner was done."}
		}
		return r.MoveTo(run.Merging)
	})
	if err == nil {
		d.changed(a.RunID, a.ProjectID)
		d.queueChanged(a.RunID)
		d.Wake()
	}
	return attempt.Orders{}, err
}

// endShard closes an attempt of a sharded run. What ended counts, whatever became of the
// rest: an attempt that broke down is lost, and others take its tests; one that stopped by
// itself (maxFailures, a global time limit) says why its tests did not run.
func endShard(a *Attempt, r *run.Run, held []*Unit, results map[string]*run.Result, o attempt.Outcome) error {
	failure := ""
	switch {
	case o.Error != nil && (o.Error.Code == run.CodeTimeLimit || r.Phase == run.Preparing && !slices.Contains(machineTrouble, o.Error.Code)):
		// Time is over for all of them; and where nothing is planned yet, what stops one shard
		// stops the others too.
		return giveUp(r, o.Error.Code, o.Error.Message)
	case o.Error != nil:
		failure = o.Error.Message
	case o.Batches != a.Seq:
		failure = fmt.Sprintf("The worker sent %d batches of results and %d arrived.", o.Batches, a.Seq)
	case !o.Complete:
		failure = "The worker stopped before the runner was done."
	}
	switch a.Status = o.Status; {
	case failure != "":
		a.State, a.Reason = Lost, failure
		if o.Error != nil && a.Seq > 0 && !slices.Contains(machineTrouble, o.Error.Code) {
			noteError(r, runError(*o.Error)) // the tests' own doing: another shard does not make it good
		}
		dropShard(a, r, held, results, failure)
	case a.Kind == ForMerge:
		r.Merged = true
	case o.Status == "passed":
		dropShard(a, r, held, results, "The shard ended without them.")
	default:
		stopShard(r, held, results, o.Status)
	}
	return nil
}

// machineTrouble are codes of errors that another machine, or another moment, may not
// have: a shard that ends with one is begun anew like one that was lost.
var machineTrouble = []string{"", "runner-died", "worker-failed", "worker-stopped", "disk-full", "no-node"}

// dropShard takes a lost attempt's tests back, and lets another one make the plan if it
// was about to.
func dropShard(a *Attempt, r *run.Run, held []*Unit, results map[string]*run.Result, why string) {
	if r.Planner == a.ID && r.Phase == run.Preparing {
		r.Planner = ""
	}
	if a.Kind == ForTests {
		giveBack(r, a.ID, held, results, why)
	}
}

// stopShard ends the tests of a shard that stopped in good order before it was through.
func stopShard(r *run.Run, held []*Unit, results map[string]*run.Result, status string) {
	end := &run.Ending{Complete: true, Status: status}
	failed := r.Counts.Failed > 0
	for _, u := range held {
		u.State = Done
		for _, id := range u.Tests {
			if t := results[id]; t != nil && !t.Status.Final() {
				count(r, t, func(t *run.Result) {
					run.CloseOpen([]*run.Result{t}, end, "Playwright ended with status "+status+".", failed)
				})
			}
		}
	}
}
