package dispatch

import (
	"cmp"
	"context"
	"maps"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/attempt"
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
	return fault.New(fault.Superseded, "The attempt %s is over: stop, nothing more is taken from it.", a.ID)
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
		if a.ClaimedAt == nil {
			a.ClaimedAt = &now
		}
		if r.StartedAt == nil {
			r.StartedAt = &now
		}
		claimed = *r
		return nil
	})
	if err != nil {
		return attempt.Job{}, err
	}
	d.changed(a.RunID, a.ProjectID)
	p, err := d.Projects.Project(ctx, a.ProjectID)
	if err != nil {
		return attempt.Job{}, err
	}
	known, err := d.Store.CatalogCommit(ctx, p.ID)
	if err != nil {
		return attempt.Job{}, err
	}
	env, err := d.environment(ctx, p, claimed)
	if err != nil {
		return attempt.Job{}, err
	}
	for k, v := range claimed.EnvOverrides {
		env[k] = v
	}
	token := p.Repository.Token
	if d.Tokens != nil {
		if token, err = d.Tokens.GitToken(ctx, p); err != nil && !fault.Permanent(err) {
			// Without it a private repository would refuse; the worker asks again.
			return attempt.Job{}, fault.Wrap(err, fault.Unavailable, "There is no token for the tests repository now.")
		} else if err != nil {
			d.Log.Warn("there is no token for the tests repository", "project", p.ID, "error", err)
		}
	}
	branch := claimed.Branch
	if branch == "" {
		branch = p.Repository.Branch
	}
	job := attempt.Job{
		RunID: claimed.ID, AttemptID: a.ID, ProjectID: p.ID, Name: claimed.Name,
		Repository: attempt.Repository{URL: p.Repository.URL, Branch: branch, Dir: p.Repository.Dir, Token: token, KnownCommit: known,
			Default: claimed.OnDefault},
		Env: env, Workers: claimed.Workers, MinIsolation: p.MinIsolation,
		LimitMs: runLimit(p).Milliseconds(), DiskQuota: cmp.Or(p.DiskQuota, project.DefaultDiskQuota), HeartbeatMs: d.Timing.Heartbeat.Milliseconds(), Shards: claimed.ShardCount,
		DirectUploads: d.Blobs != nil && d.Blobs.Direct(),
	}
	job.Recover = p.Recovery && d.Recovery != nil && claimed.Trial == nil && a.Kind != ForMerge
	if t := claimed.Trial; t != nil {
		job.Trial, job.Repository.Commit = &t.Trial, claimed.Commit
	}
	if claimed.Sharded() {
		// All shards, also one that begins late, execute what the first one found.
		job.Repository.Commit = claimed.Commit
		job.Repository.Branch = cmp.Or(claimed.Branch, branch)
	}
	if a.Kind == ForMerge {
		job.Merge, err = d.mergeJob(ctx, claimed)
	}
	return job, err
}

// environment answers what a run is told, secrets among it.
func (d *Dispatcher) environment(ctx context.Context, p project.Project, r run.Run) (map[string]string, error) {
	if d.Environments == nil {
		env := maps.Clone(p.Env)
		if env == nil {
			env = map[string]string{}
		}
		return env, nil
	}
	env, err := d.Environments.Values(ctx, p.ID, r.Environment)
	if fault.KindOf(err) == fault.NotFound {
		return nil, fault.New(fault.Conflict, "The project's environment %q was removed before the run began.", r.Environment).WithFix("Start the run again in another environment.")
	}
	return env, err
}

// Heartbeat notes that the worker lives.
func (d *Dispatcher) Heartbeat(ctx context.Context, a Attempt, b attempt.Beat) (attempt.Orders, error) {
	open, err := d.Store.Beat(ctx, a.ID, d.Clock(), b.Phase)
	if err == nil && !open {
		err = superseded(a)
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
	out := run.Error{Code: e.Code, Message: e.Message, Stack: e.Stack, Snippet: e.Snippet, Steps: e.Steps}
	if e.Location != nil {
		out.Location = &run.Location{File: e.Location.File, Line: e.Location.Line, Column: e.Location.Column}
	}
	return out
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
