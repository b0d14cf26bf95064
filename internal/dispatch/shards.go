package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tas-service/internal/attempt"
	"tas-service/internal/run"
)

// maxAttempts is how often a shard, or a merge, may be begun.
const maxAttempts = 2

func (d *Dispatcher) queueChanged(runID string) { d.Hub.Publish(queueTopic(runID)) }

// queueTopic is where shards that wait for tests hear of a change.
func queueTopic(runID string) string { return "queue/" + runID }

// tries is what became of one shard, or of the merge, so far.
type tries struct {
	open     bool
	finished bool
	begun    int // claimed, and lost
	unbegun  int // never claimed, and lost
	last     string
}

func (t tries) startable() bool {
	return !t.open && !t.finished && t.begun < maxAttempts && t.unbegun < maxStarts
}

// lost reports whether no attempt brought it to an end, or will.
func (t tries) lost() bool { return !t.open && !t.finished && !t.startable() }

func triesOf(attempts []Attempt, kind AttemptKind, shard int) (t tries) {
	for _, a := range attempts {
		switch {
		case a.Kind != kind || a.Shard != shard:
		case a.State.Open():
			t.open = true
		case a.State == Finished:
			t.finished = true
		case a.ClaimedAt != nil:
			t.begun, t.last = t.begun+1, a.Reason
		default:
			t.unbegun, t.last = t.unbegun+1, a.Reason
		}
	}
	return t
}

// advanceShards moves a sharded run on. It is over when nothing waits, nothing is held and
// no attempt is open; what no shard can be found for is lost then.
func (d *Dispatcher) advanceShards(ctx context.Context, r run.Run) ([]start, error) {
	attempts, err := d.Store.RunAttempts(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if r.Phase == run.Merging {
		return d.advanceMerge(ctx, r, attempts)
	}
	waiting, held, err := d.Store.Unfinished(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	var next []start
	open, lost, finished, why := 0, 0, 0, ""
	for shard := range r.ShardCount {
		switch t := triesOf(attempts, ForTests, shard); {
		case t.open:
			open++
		case t.finished:
			finished++
		case t.lost():
			lost, why = lost+1, t.last
		case r.Phase != run.Running || len(next) < waiting:
			next = append(next, start{run: r, kind: ForTests, shard: shard})
		}
	}
	switch {
	case open > 0 && finished > 0 && waiting+held == 0 && r.Phase == run.Running:
		return nil, d.closeIdle(ctx, r, attempts)
	case open > 0 || len(next) > 0:
		return next, nil
	case r.Phase != run.Running:
		// Neither a plan nor anybody who could make one.
		return nil, d.update(ctx, r.ID, func(r *run.Run) error {
			if r.Phase == run.Running || r.Phase == run.Merging || r.Terminal() {
				return nil
			}
			if r.Phase == run.Queued {
				if err := r.MoveTo(run.Preparing); err != nil {
					return err
				}
			}
			return giveUp(r, run.CodeWorkerLost, "Every shard's worker was lost before there was a plan. "+why)
		})
	default:
		return nil, d.finishShards(ctx, r, attempts, waiting+held, lost, why)
	}
}

// finishShards sends a run whose shards are all over to its merge. Units that are left are
// nobody's: lost with the shards, unless those stopped by themselves.
func (d *Dispatcher) finishShards(ctx context.Context, r run.Run, attempts []Attempt, left, lost int, why string) error {
	// A shard that was lost after its runner had told how it ended said so all the same.
	status, said := "passed", false
	for _, a := range attempts {
		switch {
		case a.Kind != ForTests:
			continue
		case a.Status != "" && a.Status != "passed" && (a.State == Finished || a.Status != "interrupted"):
			status = a.Status
		}
		said = said || a.State == Finished
	}
	if left > 0 && lost > 0 {
		err := d.Store.CloseOpen(ctx, r.ID, func(r *run.Run, open []*run.Result, _ bool) error {
			for _, t := range open {
				count(r, t, func(t *run.Result) { loseTest(t, why) })
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	lastEnd, err := d.Store.LastUnitDone(ctx, r.ID)
	if err != nil {
		return err
	}
	return d.update(ctx, r.ID, func(r *run.Run) error {
		if r.Phase != run.Running {
			return nil
		}
		if r.Ending == nil {
			r.Ending = &run.Ending{}
		}
		r.Ending.Complete, r.Ending.Status = true, status
		if !said && r.Counts.Failed == 0 { // results alone are no proof
			return giveUp(r, run.CodeWorkerLost, "Every shard's worker was lost before its runner said that it was done. "+why)
		}
		if r.Plan != nil && r.FirstTestAt != nil && !lastEnd.IsZero() {
			r.Plan.ActualMs = lastEnd.Sub(*r.FirstTestAt).Milliseconds()
		}
		if lost > 0 {
			r.Warn(run.CodeShardLost, fmt.Sprintf("%d of the %d shards were lost. %s", lost, r.ShardCount, why))
		}
		if tooOld(r.Runner) {
			r.Parked = true
			r.Warn(run.CodeRunnerTooOld, fmt.Sprintf("The branch has tas-runner %s, which cannot merge the reports of shards: %s or later is needed. This run stays without a verdict. Update the package on the branch and start a new run.",
				r.Runner, attempt.FirstMergingRunner))
			return nil
		}
		return r.MoveTo(run.Merging)
	})
}

// update changes a run and tells everyone.
func (d *Dispatcher) update(ctx context.Context, runID string, change func(*run.Run) error) error {
	var projectID string
	err := d.Store.UpdateRun(ctx, runID, func(r *run.Run) error {
		projectID = r.ProjectID
		return change(r)
	})
	d.changed(runID, projectID)
	d.Wake()
	return err
}

// closeIdle ends attempts of a run that has all its results: those that never began, which
// nobody needs any more. Those that have begun are told so when they ask for tests. The one
// that made the plan may be about to begin: where nothing but set-up was selected, it runs it.
func (d *Dispatcher) closeIdle(ctx context.Context, r run.Run, attempts []Attempt) error {
	var errs []error
	for _, a := range attempts {
		if a.State.Open() && a.ID != r.Planner && a.Grants == 0 && a.Doing != "running" && a.Doing != "uploading" {
			errs = append(errs, d.lose(ctx, a, Cancelled, run.CodeIncomplete, "Every test has its result."))
		}
	}
	return errors.Join(errs...)
}

// closeOthers ends attempts that nobody waits for any more.
func (d *Dispatcher) closeOthers(ctx context.Context, attempts []Attempt) error {
	var errs []error
	for _, a := range attempts {
		if a.State.Open() {
			errs = append(errs, d.lose(ctx, a, Cancelled, run.CodeIncomplete, "The run is over."))
		}
	}
	return errors.Join(errs...)
}

// ShardsOf answers where the shards of a run are, by their attempts.
func ShardsOf(r run.Run, attempts []Attempt) []run.Shard {
	shards := make([]run.Shard, r.ShardCount)
	calledOff := func(a Attempt) bool { return r.Phase == run.Cancelled && a.State == Cancelled }
	for i := range shards {
		s := &shards[i]
		s.Index, s.Phase = i, run.ShardQueued
		for _, a := range attempts {
			if a.Kind != ForTests || a.Shard != i {
				continue
			}
			if s.StartedAt == nil {
				s.StartedAt = a.ClaimedAt
			}
			switch s.FinishedAt = a.FinishedAt; {
			case a.State == Starting || a.State == Active && (r.Phase == run.Preparing || a.Doing != "running" && a.Doing != "uploading"):
				s.Phase = run.ShardPreparing
			case a.State == Active:
				s.Phase = run.ShardRunning
			default:
				s.Phase = run.ShardFinished
			}
		}
		// Whose run somebody cancelled was not lost.
		t := triesOf(slices.DeleteFunc(slices.Clone(attempts), calledOff), ForTests, i)
		over := r.Phase == run.Merging || r.Terminal() || r.Parked
		s.Lost = t.begun+t.unbegun > 0 && !t.finished && !t.open && (over && r.Phase != run.Cancelled || !t.startable())
		switch {
		case !t.open && !t.finished && t.startable() && !over:
			s.Phase, s.FinishedAt = run.ShardQueued, nil
		case over && !t.open:
			s.Phase = run.ShardFinished
		}
	}
	return shards
}
