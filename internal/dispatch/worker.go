package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/artifact"
	"tas-service/internal/attempt"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// Authenticate answers the attempt that a token belongs to: fault.Unauthenticated for an
// unknown token, fault.Superseded for an attempt that is closed.
func (d *Dispatcher) Authenticate(ctx context.Context, token string) (Attempt, error) {
	a, err := d.Store.AttemptByToken(ctx, account.HashKey(token))
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return Attempt{}, fault.New(fault.Unauthenticated, "This attempt's token is unknown.")
	case err != nil:
		return Attempt{}, err
	case !a.State.Open():
		return Attempt{}, superseded(a)
	}
	return a, nil
}

func superseded(a Attempt) error {
	return fault.New(fault.Superseded, "This attempt is %s: stop, nothing more is taken from it.", a.State)
}

// Claim answers the attempt's job. Claiming twice is no error: the answer may be lost.
func (d *Dispatcher) Claim(ctx context.Context, a Attempt) (attempt.Job, error) {
	var claimed run.Run
	err := d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, r *run.Run) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		now := d.Clock()
		a.State, a.HeartbeatAt = Active, now
		if r.StartedAt == nil {
			r.StartedAt = &now
		}
		claimed = *r
		return nil
	})
	if err != nil {
		return attempt.Job{}, err
	}
	p, err := d.Projects.Project(ctx, a.ProjectID)
	if err != nil {
		return attempt.Job{}, err
	}
	known, err := d.Store.CatalogCommit(ctx, p.ID)
	if err != nil {
		return attempt.Job{}, err
	}
	env := map[string]string{}
	for k, v := range p.Env {
		env[k] = v
	}
	for k, v := range claimed.EnvOverrides {
		env[k] = v
	}
	branch := claimed.Branch
	if branch == "" {
		branch = p.Repository.Branch
	}
	return attempt.Job{
		RunID: claimed.ID, AttemptID: a.ID, ProjectID: p.ID, Name: claimed.Name,
		Repository: attempt.Repository{URL: p.Repository.URL, Branch: branch, Dir: p.Repository.Dir, Token: p.Repository.Token, KnownCommit: known,
			Default: claimed.Branch == "" || claimed.Branch == p.Repository.Branch},
		Env: env, Workers: claimed.Workers, MinIsolation: p.MinIsolation,
		LimitMs: runLimit(p).Milliseconds(), DiskQuota: cmp.Or(p.DiskQuota, project.DefaultDiskQuota), HeartbeatMs: d.Timing.Heartbeat.Milliseconds(),
	}, nil
}

// Heartbeat notes that the worker lives.
func (d *Dispatcher) Heartbeat(ctx context.Context, a Attempt, b attempt.Beat) (attempt.Orders, error) {
	err := d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, _ *run.Run) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		a.HeartbeatAt, a.Doing = d.Clock(), b.Phase
		return nil
	})
	return attempt.Orders{}, err
}

// TakeListing gives every listed test its identity and answers what to select.
func (d *Dispatcher) TakeListing(ctx context.Context, a Attempt, l attempt.Listing) (attempt.Selection, error) {
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
	d.changed(a.RunID)
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
	case run.SelectGrep:
		sel.Grep = r.Selection.Grep
	default:
		sel.All = true
	}
	return sel, nil
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
	results := make([]run.Result, 0, len(c.Tests))
	has := map[string]bool{}
	for i, t := range c.Tests {
		has[t.TestID] = true
		results = append(results, run.Result{RunID: a.RunID, PlaywrightID: t.PlaywrightID, TestID: t.TestID,
			Browser: t.Browser, RepeatEach: t.RepeatEach, Setup: t.Setup, Companion: t.Companion, Position: i, Title: t.Title,
			TitlePath: t.TitlePath, File: t.File, Line: t.Line, Tags: t.Tags, Owner: t.Owner, Status: run.StatusPending})
	}
	err := d.Store.Plan(ctx, a.ID, results, func(a *Attempt, r *run.Run) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		a.HeartbeatAt = d.Clock()
		if r.Phase == run.Running {
			return nil // planned already; the answer was lost
		}
		r.Total = 0
		for _, t := range results {
			if t.Counted() {
				r.Total++
			}
		}
		if missing := absent(r.Selection.TestIDs, has); len(missing) > 0 {
			r.Ending.Errors = append(r.Ending.Errors, run.Error{Code: "not-on-branch",
				Message: fmt.Sprintf("%d of the selected tests do not exist on branch %q: %s.", len(missing), r.Branch, run.Sample(missing[:min(5, len(missing))], len(missing)))})
		}
		return r.MoveTo(run.Running)
	})
	d.changed(a.RunID)
	return attempt.Orders{}, err
}

func absent(want []string, has map[string]bool) (missing []string) {
	for _, id := range want {
		if !has[id] {
			missing = append(missing, id)
		}
	}
	return missing
}

// StoreArtifact streams an artifact into the store and notes it. Test is Playwright's ID,
// empty for what belongs to the run as a whole.
func (d *Dispatcher) StoreArtifact(ctx context.Context, a Attempt, art artifact.Artifact, body io.Reader) (attempt.ArtifactAnswer, error) {
	name, err := artifact.CleanName(art.Name)
	if err != nil {
		return attempt.ArtifactAnswer{}, err
	}
	art.ID, art.RunID, art.CreatedAt = uuid.NewString(), a.RunID, d.Clock()
	if _, _, err := mime.ParseMediaType(art.ContentType); err != nil {
		art.ContentType = artifact.ContentType(name)
	}
	p, err := d.Projects.Project(ctx, a.ProjectID)
	if err != nil {
		return attempt.ArtifactAnswer{}, err
	}
	whole := art.TestID == ""
	if whole {
		art.Key = artifact.RunPrefix(a.RunID) + name
	} else {
		art.Key = artifact.RunPrefix(a.RunID) + "tests/" + art.ID + "/" + strings.ReplaceAll(name, "/", "-")
		art.Kind = artifact.KindOf(art.Name, art.ContentType)
	}
	body = &metered{r: body, meter: d.meter(a.ID), most: cmp.Or(p.DiskQuota, project.DefaultDiskQuota)}
	if art.Size, err = d.Blobs.Put(ctx, art.Key, art.ContentType, body); err != nil {
		return attempt.ArtifactAnswer{}, err
	}
	err = d.Store.AddArtifact(ctx, a.ID, art, func(r *run.Run) error {
		if whole && name == run.ReportIndex {
			r.HasReport = true
		}
		return nil
	})
	return attempt.ArtifactAnswer{ID: art.ID, Size: art.Size}, err
}

// TakeOutcome closes the attempt and sends the run to its judgement.
func (d *Dispatcher) TakeOutcome(ctx context.Context, a Attempt, o attempt.Outcome) (attempt.Orders, error) {
	err := d.Store.UpdateAttempt(ctx, a.ID, func(a *Attempt, r *run.Run) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		now := d.Clock()
		a.State, a.FinishedAt, a.HeartbeatAt = Finished, &now, now
		for _, w := range o.Warnings {
			r.Warn(w.Code, w.Message)
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
		d.changed(a.RunID)
		d.Wake()
	}
	return attempt.Orders{}, err
}

func runErrors(es []attempt.Error) []run.Error {
	var out []run.Error
	for _, e := range es {
		out = append(out, runError(e))
	}
	return out
}

func runError(e attempt.Error) run.Error {
	out := run.Error{Code: e.Code, Message: e.Message, Stack: e.Stack, Snippet: e.Snippet}
	if e.Location != nil {
		out.Location = &run.Location{File: e.Location.File, Line: e.Location.Line, Column: e.Location.Column}
	}
	return out
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
