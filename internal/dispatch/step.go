package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tas-service/internal/executor"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// Step looks at every open run and moves each one on by what is possible now.
func (d *Dispatcher) Step(ctx context.Context) error {
	leads := d.lead()
	// What the places say is read before the records: an attempt that finished and then
	// exited is seen as finished.
	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}
	now := d.Clock() // before the heartbeats are read: what takes long from here on is no silence of theirs
	attempts, err := d.Store.OpenAttempts(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range attempts {
		errs = append(errs, d.check(ctx, a, seen, leads, now))
	}
	if !leads {
		return errors.Join(append(errs, d.reap(ctx, seen))...)
	}
	runs, err := d.Store.OpenRuns(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	errs = append(errs, d.abandoned(ctx, runs, attempts))
	var next []start
	for _, r := range runs {
		starts, err := d.advance(ctx, r)
		next, errs = append(next, starts...), append(errs, err)
	}
	return errors.Join(append(errs, d.startNext(ctx, next), d.reap(ctx, seen))...)
}

// advance moves one run on and answers the attempts that it could use.
func (d *Dispatcher) advance(ctx context.Context, r run.Run) ([]start, error) {
	switch {
	case r.Cancel != nil:
		return nil, d.cancel(ctx, r)
	case d.Clock().Before(d.notBefore[r.ID]):
		return nil, nil
	case r.Sharded():
		return d.advanceShards(ctx, r)
	case r.Phase == run.Merging:
		return nil, d.conclude(ctx, r.ID)
	case r.Phase == run.Queued:
		return []start{{run: r, kind: ForTests}}, nil
	default:
		return nil, nil
	}
}

func (d *Dispatcher) observe(ctx context.Context) (map[string]executor.Observation, error) {
	list, err := d.Executor.Observe(ctx)
	if err != nil {
		return nil, fmt.Errorf("observe the executor: %w", err)
	}
	seen := make(map[string]executor.Observation, len(list))
	for _, o := range list {
		seen[o.ID] = o
	}
	return seen, nil
}

// check gives an attempt up that has exited without a word, gone silent or outstayed. Only
// the executor that started it can know that it is gone; only a leader minds the rest.
func (d *Dispatcher) check(ctx context.Context, a Attempt, seen map[string]executor.Observation, leads bool, now time.Time) error {
	o, known := seen[a.ID]
	elsewhere := a.Place != d.Place
	heard := a.HeartbeatAt
	if heard.Before(d.began) {
		heard = d.began
	}
	switch silent := now.Sub(heard); {
	case elsewhere && !leads:
		return nil
	case known && o.State == executor.Exited:
		return d.lose(ctx, a, Lost, run.CodeWorkerLost, "The worker ended without reporting ("+cmp.Or(o.Reason, "no reason known")+").")
	case !leads:
		return nil
	case !elsewhere && a.State == Starting && !known && now.Sub(a.CreatedAt) > d.Timing.Retry:
		// The service stopped between recording the attempt and starting it.
		return d.lose(ctx, a, Lost, "", "")
	case !elsewhere && a.State == Active && !known && silent > d.Timing.Heartbeat*2:
		return d.lose(ctx, a, Lost, run.CodeWorkerLost, "The worker is gone.")
	case a.State == Starting && silent > d.Timing.StartBy || a.State == Active && silent > d.Timing.LostAfter:
		return d.lose(ctx, a, Lost, run.CodeWorkerLost, fmt.Sprintf("The worker has not been heard of for %s.", silent.Round(time.Second)))
	}
	p, err := d.Projects.Project(ctx, a.ProjectID)
	if err != nil {
		return err
	}
	if limit := runLimit(p); now.Sub(a.CreatedAt) > limit+d.Timing.Grace {
		return d.lose(ctx, a, Cancelled, run.CodeTimeLimit, fmt.Sprintf("The run took longer than its limit of %s.", limit))
	}
	return nil
}

func runLimit(p project.Project) time.Duration { return cmp.Or(p.RunLimit, project.DefaultRunLimit) }

// lose closes an attempt and, with it, its run; without a code the attempt never began
// and the run queues again.
func (d *Dispatcher) lose(ctx context.Context, a Attempt, state AttemptState, code, reason string) error {
	reported := false
	err := d.Store.Release(ctx, a.ID, func(a *Attempt, r *run.Run, held []*Unit, results map[string]*run.Result) error {
		if reported = !a.State.Open() || code == "" && a.State != Starting; reported {
			return nil // after all
		}
		now := d.Clock()
		a.State, a.Reason, a.FinishedAt = state, reason, &now
		switch {
		case r.Sharded() && code == run.CodeTimeLimit:
			return giveUp(r, code, reason)
		case r.Sharded():
			dropShard(a, r, held, results, reason)
			return nil
		case code == "":
			return requeue(r)
		}
		return giveUp(r, code, reason)
	})
	if err != nil || reported {
		return err
	}
	d.Log.Warn("an attempt is given up", "run", a.RunID, "attempt", a.ID, "state", a.State, "reason", reason)
	d.changed(a.RunID, a.ProjectID)
	d.queueChanged(a.RunID)
	d.Wake()
	return d.Executor.Cancel(ctx, a.ID)
}

func requeue(r *run.Run) error {
	if r.Phase != run.Preparing {
		return nil
	}
	return r.MoveTo(run.Queued)
}

// giveUp sends a run to its judgement without an ending: it can only fail.
func giveUp(r *run.Run, code, reason string) error {
	if r.Terminal() {
		return nil
	}
	r.Error = &run.Error{Code: code, Message: reason}
	if r.Phase == run.Merging {
		return nil
	}
	return r.MoveTo(run.Merging)
}

// abandoned gives up runs in one piece that nobody executes: no path leads there, so that none that
// is ever added can leave a run hanging. The attempts were read before the runs.
func (d *Dispatcher) abandoned(ctx context.Context, runs []run.Run, attempts []Attempt) error {
	executed := map[string]bool{}
	for _, a := range attempts {
		executed[a.RunID] = true
	}
	var errs []error
	for _, r := range runs {
		if executed[r.ID] || r.Sharded() || r.Cancel != nil || r.Phase != run.Preparing && r.Phase != run.Running {
			continue
		}
		d.Log.Error("a run has no attempt", "run", r.ID, "phase", r.Phase)
		err := d.Store.UpdateRun(ctx, r.ID, func(r *run.Run) error {
			if r.Phase != run.Preparing && r.Phase != run.Running {
				return nil
			}
			return giveUp(r, run.CodeWorkerLost, "The run had no worker any more.")
		})
		if fault.KindOf(err) != fault.NotFound { // a look at the tests is no more once it is over
			errs = append(errs, err)
		}
		d.changed(r.ID, r.ProjectID)
		d.Wake()
	}
	return errors.Join(errs...)
}

// reap frees what exited attempts held, once their records are closed.
func (d *Dispatcher) reap(ctx context.Context, seen map[string]executor.Observation) error {
	open, err := d.Store.OpenAttempts(ctx)
	if err != nil {
		return err
	}
	isOpen := map[string]bool{}
	for _, a := range open {
		isOpen[a.ID] = true
	}
	var errs []error
	for id, o := range seen {
		switch {
		case isOpen[id]:
		case o.State == executor.Exited:
			delete(d.closedSince, id)
			d.forgetMeter(id)
			errs = append(errs, d.Executor.Reap(ctx, id))
		case d.closedSince[id].IsZero():
			d.closedSince[id] = d.Clock() // it tidies up and ends by itself
		case d.Clock().Sub(d.closedSince[id]) > d.Timing.LostAfter:
			d.Log.Warn("an attempt does not end", "attempt", id)
			errs = append(errs, d.Executor.Cancel(ctx, id))
		}
	}
	return errors.Join(errs...)
}

// conclude closes what is still open and has the run judged.
func (d *Dispatcher) conclude(ctx context.Context, runID string) error {
	err := d.Store.CloseOpen(ctx, runID, func(r *run.Run, open []*run.Result, failed bool) error {
		why := ""
		if r.Error != nil {
			why = r.Error.Message
		}
		run.CloseOpen(open, r.Ending, why, failed)
		return nil
	})
	if err != nil {
		return err
	}
	r, err := d.Store.Run(ctx, runID)
	if err != nil {
		return err
	}
	if err := d.fileBugs(ctx, r); err != nil {
		return err
	}
	tally, err := d.Store.Tally(ctx, runID)
	if err != nil {
		return err
	}
	return d.end(ctx, runID, run.Merging, func(r *run.Run) run.Judgement {
		j := run.Judge(r.Ending, r.Plan, tally)
		if r.Error != nil {
			// The run as a whole broke down: whatever its tests said, that is the reason.
			j = run.Judgement{Phase: run.ProcessError, Verdict: run.Fail, Error: r.Error}
		}
		r.Counts, r.Total, r.Executed = tally.Counts, tally.Counts.Sum(), tally.Counts.Sum()
		if n := tally.Quarantined; n > 0 {
			r.Warn("quarantined-failures", fmt.Sprintf("%d failures do not count because their tests are in quarantine.", n))
		}
		return j
	})
}

// fileBugs files failures under their bugs. Only a database that is out of reach holds the
// verdict up for that.
func (d *Dispatcher) fileBugs(ctx context.Context, r run.Run) error {
	if d.Bugs == nil || r.Trial != nil {
		return nil
	}
	runID := r.ID
	err := d.Bugs.File(ctx, runID)
	if err == nil || fault.KindOf(err) == fault.Unavailable {
		return err
	}
	d.Log.Error("a run's failures are not filed", "run", runID, "error", err)
	return d.Store.UpdateRun(ctx, runID, func(r *run.Run) error {
		r.Warn("bugs-not-filed", "The failures were not filed under bugs: the service's log tells why.")
		return nil
	})
}

// end makes a run terminal, if it still is where it was seen.
func (d *Dispatcher) end(ctx context.Context, runID string, from run.Phase, decide func(*run.Run) run.Judgement) error {
	var ended run.Run
	err := d.Store.UpdateRun(ctx, runID, func(r *run.Run) error {
		if ended = (run.Run{}); r.Phase != from {
			return nil
		}
		j, now := decide(r), d.Clock()
		if r.Cancel != nil && j.Phase != run.Cancelled {
			return errMoved // somebody was told meanwhile that it is being cancelled, and it will be
		}
		r.Verdict, r.Error, r.FinishedAt = j.Verdict, j.Error, &now
		if err := r.MoveTo(j.Phase); err != nil {
			return err
		}
		ended = *r
		return nil
	})
	if errors.Is(err, errMoved) {
		d.Wake()
		return nil
	}
	if err != nil || ended.ID == "" {
		return err
	}
	if ended.Trigger == run.TriggerRefresh {
		d.changed(runID, ended.ProjectID)
		return nil
	}
	d.Log.Info("a run ended", "run", runID, "phase", ended.Phase, "verdict", ended.Verdict,
		"total", ended.Total, "failed", ended.Counts.Failed, "flaky", ended.Counts.Flaky)
	if d.Ended != nil {
		d.Ended(ended)
	}
	d.changed(runID, ended.ProjectID)
	d.Wake()
	if ended.Trial != nil {
		return nil
	}
	if err := d.Store.LearnDurations(ctx, runID); err != nil {
		d.Log.Warn("the durations of a run's tests are not learnt", "run", runID, "error", err)
	}
	return nil
}
