package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/attempt"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// TakeListing gives every listed test its identity and answers what to select.
func (d *Dispatcher) TakeListing(ctx context.Context, a Attempt, l attempt.Listing) (attempt.Selection, error) {
	if a.Kind != ForTests {
		return attempt.Selection{}, fault.New(fault.Conflict, "This attempt is not for tests.")
	}
	if r, err := d.Store.Run(ctx, a.RunID); err != nil || r.Sharded() && r.Planner != a.ID {
		if err == nil {
			err = fault.New(fault.Conflict, "Another shard makes this run's plan.")
		}
		return attempt.Selection{}, err
	}
	listed, places := gather(l.Tests)
	var ids []string
	complete := len(l.Errors) == 0 && !l.Focused
	if l.Focused {
		// A pass of what is focused would be taken for a pass of everything.
		l.Errors = append(l.Errors, attempt.Error{Code: run.CodeFocused, Message: "The tests repository has a test.only, which hides all its other tests. Remove it and push again."})
	}
	what := catalog.Listing{Default: l.Default, Complete: complete}
	err := d.Store.SyncCatalog(ctx, a.ProjectID, l.Commit, what.Default, func(known []catalog.Test) ([]catalog.Test, error) {
		var save []catalog.Test
		save, ids = catalog.Sync(a.ProjectID, known, listed, l.Renames, what, d.Clock(), uuid.NewString)
		return save, nil
	})
	if err != nil {
		return attempt.Selection{}, err
	}
	sel := attempt.Selection{IDs: make(map[string]string, len(l.Tests))}
	for _, t := range l.Tests {
		sel.IDs[t.PlaywrightID] = ids[places[catalog.Place(t.File, t.TitlePath)]]
	}
	var r run.Run
	err = d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, rr *run.Run) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		a.HeartbeatAt = d.Clock()
		r = *rr
		if rr.Phase != run.Preparing {
			return nil // planned already: the answer was lost, or this came twice
		}
		rr.Branch, rr.Commit, rr.Isolation, rr.Workers = l.Branch, l.Commit, l.Isolation, l.Workers
		rr.Playwright, rr.Runner = l.PlaywrightVersion, l.RepositoryRunner
		rr.Ending = &run.Ending{Errors: runErrors(l.Errors)}
		for _, w := range l.Warnings {
			rr.Warn(w.Code, w.Message)
		}
		return nil
	})
	if err != nil {
		return attempt.Selection{}, err
	}
	d.changed(a.RunID, a.ProjectID)
	if r.Selection.Kind == run.SelectNothing {
		return attempt.Selection{}, d.listed(ctx, a)
	}
	sel.Record = d.records(ctx, r, l.Commit)
	switch r.Selection.Kind {
	case run.SelectTests:
		sel.Include = []string{}
		want := map[string]bool{}
		for _, id := range r.Selection.TestIDs {
			want[id] = true
		}
		for _, t := range l.Tests {
			if want[sel.IDs[t.PlaywrightID]] {
				sel.Include = append(sel.Include, t.PlaywrightID)
			}
		}
	case run.SelectCollection:
		sel.Include = []string{}
		for _, t := range l.Tests {
			if slices.Contains(r.Selection.TestIDs, sel.IDs[t.PlaywrightID]) || r.Selection.Rule.Fits(t.File, t.TitlePath, t.Tags) {
				sel.Include = append(sel.Include, t.PlaywrightID)
			}
		}
	case run.SelectGrep:
		sel.Grep = r.Selection.Grep
	default:
		sel.All = true
	}
	return sel, nil
}

// records reports whether a run should record how its tests pass.
func (d *Dispatcher) records(ctx context.Context, r run.Run, commit string) bool {
	return d.Evidence != nil && d.Evidence.Wants(ctx, r, commit)
}

// listed ends a run of which only the listing was wanted, and its attempt.
func (d *Dispatcher) listed(ctx context.Context, a Attempt) error {
	err := d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, r *run.Run) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		if es := r.Ending; es != nil && len(es.Errors) > 0 {
			r.Error = &es.Errors[0]
		}
		now := d.Clock()
		a.State, a.Reason, a.FinishedAt = Cancelled, "the tests are listed", &now
		r.FinishedAt, r.Verdict = &now, run.Fail
		return r.MoveTo(run.Cancelled)
	})
	if err != nil {
		return err
	}
	d.Wake()
	a.Reason = "the tests are listed, and nothing else was wanted"
	return superseded(a)
}

// gather folds the browser projects and repetitions of one test into one listing entry.
func gather(tests []attempt.Test) (listed []catalog.Listed, index map[string]int) {
	index = map[string]int{}
	for _, t := range tests {
		place := catalog.Place(t.File, t.TitlePath)
		i, ok := index[place]
		if !ok {
			i = len(listed)
			index[place] = i
			listed = append(listed, catalog.Listed{File: t.File, TitlePath: t.TitlePath, BodyHash: t.BodyHash, Line: t.Line, Tags: t.Tags, Owner: t.Owner})
		}
		if l := &listed[i]; t.RepeatEach == 0 {
			l.Browsers = append(l.Browsers, t.Browser)
		}
	}
	return listed, index
}

// TakeChosen saves the plan: from here on every one of these tests must be accounted for.
func (d *Dispatcher) TakeChosen(ctx context.Context, a Attempt, c attempt.Chosen) (attempt.Orders, error) {
	quarantined, err := d.quarantined(ctx, a.ProjectID)
	if err != nil {
		return attempt.Orders{}, err
	}
	results := make([]run.Result, 0, len(c.Tests))
	has := map[string]bool{}
	for i, t := range c.Tests {
		has[t.TestID] = true
		results = append(results, run.Result{Quarantined: quarantined[t.TestID] && !t.Setup, RunID: a.RunID, PlaywrightID: t.PlaywrightID, TestID: t.TestID,
			Browser: t.Browser, RepeatEach: t.RepeatEach, Setup: t.Setup, Companion: t.Companion, Position: i, Title: t.Title,
			TitlePath: t.TitlePath, File: t.File, Line: t.Line, Tags: t.Tags, Owner: t.Owner, BodyHash: t.BodyHash, Unit: -1, Status: run.StatusPending})
	}
	units, plan, err := d.split(ctx, a, c, results)
	if err != nil {
		return attempt.Orders{}, err
	}
	err = d.Store.Plan(ctx, a.ID, results, units, func(a *Attempt, r *run.Run) (bool, error) {
		if !a.State.Open() {
			return false, superseded(*a)
		}
		a.HeartbeatAt = d.Clock()
		if r.Phase != run.Preparing || r.Sharded() && r.Planner != a.ID {
			return false, nil // planned already: the answer was lost, or another shard did
		}
		if r.Plan = plan; plan != nil {
			adviseShards(r, d.room())
		}
		r.Total = 0
		for _, t := range results {
			if t.Counted() {
				r.Total++
			}
		}
		switch missing := absent(r.Selection.TestIDs, has); {
		case len(missing) == 0:
		case r.Selection.Kind == run.SelectCollection: // it goes on without tests that were removed
			r.Warn("collection-tests-missing", fmt.Sprintf("%d tests of the collection do not exist on branch %q: %s. Take them out of the collection.",
				len(missing), r.Branch, run.Sample(missing[:min(5, len(missing))], len(missing))))
		default:
			r.Ending.Errors = append(r.Ending.Errors, run.Error{Code: "not-on-branch",
				Message: fmt.Sprintf("%d of the selected tests do not exist on branch %q: %s.", len(missing), r.Branch, run.Sample(missing[:min(5, len(missing))], len(missing)))})
		}
		return true, r.MoveTo(run.Running)
	})
	d.changed(a.RunID, a.ProjectID)
	d.queueChanged(a.RunID)
	return attempt.Orders{}, err
}

// quarantined answers the tests whose failure does not count in a run that is planned now.
func (d *Dispatcher) quarantined(ctx context.Context, projectID string) (map[string]bool, error) {
	qs, err := d.Store.Quarantines(ctx, projectID, d.Clock())
	out := make(map[string]bool, len(qs))
	for _, q := range qs {
		out[q.TestID] = true
	}
	return out, err
}

func absent(want []string, has map[string]bool) (missing []string) {
	for _, id := range want {
		if !has[id] {
			missing = append(missing, id)
		}
	}
	return missing
}

// Times that a shard which waits for the plan is held back.
const (
	planHold = 20 * time.Second
	planPoll = time.Second
)

// Join answers what a shard selects of its run's plan, once there is one: the first to
// join is told to make it, the others wait. Only that one sends its listing.
func (d *Dispatcher) Join(ctx context.Context, a Attempt, _ struct{}) (attempt.Selection, error) {
	changed, stop := d.Hub.Watch(run.Topic(a.RunID))
	defer stop()
	hold := time.NewTimer(planHold)
	defer hold.Stop()
	for {
		var r run.Run
		err := d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, rr *run.Run) error {
			if !a.State.Open() {
				return superseded(*a)
			}
			if rr.Sharded() && rr.Planner == "" && rr.Phase == run.Preparing {
				rr.Planner = a.ID
			}
			r = *rr
			return nil
		})
		switch {
		case err != nil:
			return attempt.Selection{}, err
		case !r.Sharded() || r.Phase == run.Preparing && r.Planner == a.ID:
			return attempt.Selection{Make: true}, nil
		case r.Phase != run.Preparing:
			sel, err := d.planned(ctx, a, r)
			sel.Record = d.records(ctx, r, r.Commit)
			return sel, err
		}
		select {
		case <-ctx.Done():
			return attempt.Selection{}, ctx.Err()
		case <-hold.C:
			return attempt.Selection{Wait: true}, nil
		case <-changed:
		case <-time.After(planPoll):
		}
	}
}

// planned answers what a shard selects of a plan that stands: everything in it, since any
// of it may be handed to it.
func (d *Dispatcher) planned(ctx context.Context, a Attempt, r run.Run) (attempt.Selection, error) {
	waiting, held, err := d.Store.Unfinished(ctx, r.ID)
	if err != nil {
		return attempt.Selection{}, err
	}
	if r.Phase != run.Running || waiting+held == 0 && r.Planner != a.ID {
		return attempt.Selection{Nothing: true}, nil
	}
	tests, err := d.Store.PlannedTests(ctx, r.ID)
	if err != nil {
		return attempt.Selection{}, err
	}
	sel := attempt.Selection{IDs: make(map[string]string, len(tests)), All: r.Selection.Kind == run.SelectSuite, Planned: true}
	if !sel.All {
		sel.Include = []string{}
	}
	for id, p := range tests {
		sel.IDs[id] = p.TestID
		if !sel.All && !p.Companion {
			sel.Include = append(sel.Include, id)
		}
	}
	return sel, nil
}

// split answers the units of a sharded run, and notes in the results which they are in.
func (d *Dispatcher) split(ctx context.Context, a Attempt, c attempt.Chosen, results []run.Result) ([]Unit, *run.Plan, error) {
	r, err := d.Store.Run(ctx, a.RunID)
	if err != nil || !r.Sharded() {
		return nil, nil, err
	}
	histories, err := d.Store.Histories(ctx, a.ProjectID)
	if err != nil {
		return nil, nil, err
	}
	units, plan := planUnits(a.RunID, c.Tests, newPredictor(histories), r.ShardCount*max(1, r.Workers))
	in := map[string]int{}
	for _, u := range units {
		for _, id := range u.Tests {
			in[id] = u.Position
		}
	}
	for i := range results {
		if n, ok := in[results[i].PlaywrightID]; ok {
			results[i].Unit = n
		}
	}
	return units, &plan, nil
}

// Pin answers the commit that every shard of a run executes: the first one decides.
func (d *Dispatcher) Pin(ctx context.Context, a Attempt, p attempt.Pinned) (attempt.Pinned, error) {
	err := d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, r *run.Run) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		if r.Sharded() && r.Commit == "" {
			r.Branch, r.Commit = p.Branch, p.Commit
		}
		if r.Sharded() {
			p = attempt.Pinned{Branch: r.Branch, Commit: r.Commit}
		}
		return nil
	})
	return p, err
}
