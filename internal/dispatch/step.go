package dispatch

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/executor"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// Step looks at every open run and moves each one on by what is possible now.
func (d *Dispatcher) Step(ctx context.Context) error {
	d.since()
	// What the places say is read before the records: an attempt that finished and then
	// exited is seen as finished.
	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}
	attempts, err := d.Store.OpenAttempts(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range attempts {
		errs = append(errs, d.check(ctx, a, seen))
	}
	runs, err := d.Store.OpenRuns(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	errs = append(errs, d.abandoned(ctx, runs, attempts), d.startNext(ctx, runs), d.reap(ctx, seen))
	for _, r := range runs {
		if r.Phase == run.Merging {
			errs = append(errs, d.conclude(ctx, r.ID))
		}
	}
	return errors.Join(errs...)
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

// check gives an attempt up that has exited without a word, gone silent or outstayed.
func (d *Dispatcher) check(ctx context.Context, a Attempt, seen map[string]executor.Observation) error {
	now := d.Clock()
	o, known := seen[a.ID]
	heard := a.HeartbeatAt
	if heard.Before(d.began) {
		heard = d.began
	}
	switch silent := now.Sub(heard); {
	case known && o.State == executor.Exited:
		return d.lose(ctx, a, Lost, run.CodeWorkerLost, "The worker ended without reporting ("+cmp.Or(o.Reason, "no reason known")+").")
	case a.State == Starting && !known && now.Sub(a.CreatedAt) > d.Timing.Retry:
		// The service stopped between recording the attempt and starting it.
		return d.lose(ctx, a, Lost, "", "")
	case a.State == Active && !known && silent > d.Timing.Heartbeat*2:
		return d.lose(ctx, a, Lost, run.CodeWorkerLost, "The worker is gone.")
	case silent > d.Timing.LostAfter || a.State == Starting && silent > d.Timing.StartBy:
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
	err := d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, r *run.Run) error {
		if reported = !a.State.Open() || code == "" && a.State != Starting; reported {
			return nil // after all
		}
		now := d.Clock()
		a.State, a.Reason, a.FinishedAt = state, reason, &now
		if code == "" {
			return requeue(r)
		}
		return giveUp(r, code, reason)
	})
	if err != nil || reported {
		return err
	}
	d.Log.Warn("an attempt is given up", "run", a.RunID, "attempt", a.ID, "state", a.State, "reason", reason)
	d.changed(a.RunID)
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

// abandoned gives up runs that nobody executes: no path leads there, so that none that
// is ever added can leave a run hanging. The attempts were read before the runs.
func (d *Dispatcher) abandoned(ctx context.Context, runs []run.Run, attempts []Attempt) error {
	executed := map[string]bool{}
	for _, a := range attempts {
		executed[a.RunID] = true
	}
	var errs []error
	for _, r := range runs {
		if executed[r.ID] || r.Phase != run.Preparing && r.Phase != run.Running {
			continue
		}
		d.Log.Error("a run has no attempt", "run", r.ID, "phase", r.Phase)
		errs = append(errs, d.Store.UpdateRun(ctx, r.ID, func(r *run.Run) error {
			if r.Phase != run.Preparing && r.Phase != run.Running {
				return nil
			}
			return giveUp(r, run.CodeWorkerLost, "The run had no worker any more.")
		}))
		d.changed(r.ID)
		d.Wake()
	}
	return errors.Join(errs...)
}

// startNext starts queued runs while there is room: next is always a run of the project
// with the fewest running (max-min fairness), of equals the one whose last start is
// longest ago, so that a long queue of one does not keep the others waiting where only
// one runs at a time. Within a project it is the oldest.
func (d *Dispatcher) startNext(ctx context.Context, runs []run.Run) error {
	busy, total := map[string]int{}, 0
	var queue []run.Run
	for _, r := range runs {
		switch {
		case r.Phase == run.Queued && !d.Clock().Before(d.notBefore[r.ID]):
			queue = append(queue, r)
		case r.Phase == run.Preparing || r.Phase == run.Running:
			busy[r.ProjectID]++
			total++
		}
	}
	var errs []error
	for total < d.Limits.Attempts && !d.draining.Load() {
		queue = slices.DeleteFunc(queue, func(r run.Run) bool {
			return d.Limits.PerProject > 0 && busy[r.ProjectID] >= d.Limits.PerProject
		})
		if len(queue) == 0 {
			break
		}
		r := slices.MinFunc(queue, func(a, b run.Run) int {
			return cmp.Or(cmp.Compare(busy[a.ProjectID], busy[b.ProjectID]), cmp.Compare(d.lastStart[a.ProjectID], d.lastStart[b.ProjectID]))
		})
		queue = slices.DeleteFunc(queue, func(o run.Run) bool { return o.ID == r.ID })
		busy[r.ProjectID]++
		total++
		d.starts++
		d.lastStart[r.ProjectID] = d.starts
		errs = append(errs, d.start(ctx, r))
	}
	return errors.Join(errs...)
}

// start records an attempt and asks for it to be started. When that fails the run goes
// back to the queue, a few times.
func (d *Dispatcher) start(ctx context.Context, r run.Run) error {
	tries, err := d.Store.AttemptCount(ctx, r.ID)
	if err != nil {
		return err
	}
	if tries >= maxStarts {
		return d.end(ctx, r.ID, run.Queued, func(*run.Run) run.Judgement {
			return run.Judgement{Phase: run.ProcessError, Verdict: run.Fail,
				Error: &run.Error{Code: run.CodeWorkerLost, Message: fmt.Sprintf("No worker could be started in %d tries. The service's log tells why.", tries)}}
		})
	}
	token := newToken()
	now := d.Clock()
	a := Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: r.ProjectID, Number: tries + 1, State: Starting,
		TokenHash: account.HashKey(token), HeartbeatAt: now, CreatedAt: now}
	if err := d.Store.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }); err != nil {
		return err
	}
	d.changed(r.ID)
	p, err := d.Projects.Project(ctx, r.ProjectID)
	if err != nil {
		return err
	}
	err = d.Executor.Start(ctx, executor.Spec{ID: a.ID, RunID: r.ID, Name: r.Name, Server: d.Server, Token: token, Limit: runLimit(p)})
	if err != nil {
		d.notBefore[r.ID] = now.Add(d.Timing.Retry * time.Duration(tries+1))
		d.Log.Error("an attempt could not be started", "run", r.ID, "attempt", a.ID, "error", err)
		return d.lose(ctx, a, Lost, "", "The executor could not start it.")
	}
	return nil
}

func newToken() string {
	raw := make([]byte, 32)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails
	return base64.RawURLEncoding.EncodeToString(raw)
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
	tally, err := d.Store.Tally(ctx, runID)
	if err != nil {
		return err
	}
	return d.end(ctx, runID, run.Merging, func(r *run.Run) run.Judgement {
		j := run.Judge(r.Ending, tally)
		if r.Error != nil {
			// The run as a whole broke down: whatever its tests said, that is the reason.
			j = run.Judgement{Phase: run.ProcessError, Verdict: run.Fail, Error: r.Error}
		}
		r.Counts, r.Total, r.Executed = tally.Counts, tally.Counts.Sum(), tally.Counts.Sum()
		return j
	})
}

// end makes a run terminal, if it still is where it was seen.
func (d *Dispatcher) end(ctx context.Context, runID string, from run.Phase, decide func(*run.Run) run.Judgement) error {
	var ended run.Run
	err := d.Store.UpdateRun(ctx, runID, func(r *run.Run) error {
		if r.Phase != from {
			return nil
		}
		j, now := decide(r), d.Clock()
		r.Verdict, r.Error, r.FinishedAt = j.Verdict, j.Error, &now
		if err := r.MoveTo(j.Phase); err != nil {
			return err
		}
		ended = *r
		return nil
	})
	if err != nil || ended.ID == "" {
		return err
	}
	d.Log.Info("a run ended", "run", runID, "phase", ended.Phase, "verdict", ended.Verdict,
		"total", ended.Total, "failed", ended.Counts.Failed, "flaky", ended.Counts.Flaky)
	if d.Ended != nil {
		d.Ended(ended)
	}
	d.changed(runID)
	d.Wake()
	return nil
}
