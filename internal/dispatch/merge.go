package dispatch

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/mod/semver"

	"tas-service/internal/artifact"
	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// tooOld reports whether the branch's own tas-runner is a version that cannot merge. A
// branch without one is served by the service's own.
func tooOld(runner string) bool {
	return runner != "" && semver.Compare("v"+runner, "v"+attempt.FirstMergingRunner) < 0
}

// sweepIn bounds the removal of shards' reports: every run waits for the step to end.
const sweepIn = 5 * time.Second

// advanceMerge has the shards' reports made one, then the run judged. The verdict rests on
// what was streamed and stored, not on that report; but a run whose report cannot be made
// has not ended in good order.
func (d *Dispatcher) advanceMerge(ctx context.Context, r run.Run, attempts []Attempt) ([]start, error) {
	if r.Error != nil || r.Merged {
		if err := d.closeOthers(ctx, attempts); err != nil {
			return nil, err
		}
		within, cancel := context.WithTimeout(ctx, sweepIn)
		defer cancel()
		if err := d.Blobs.DeleteAll(within, artifact.RunPrefix(r.ID)+shardReports); err != nil {
			// They cost space until the run's artifacts are removed, and nothing else.
			d.Log.Warn("the reports of a run's shards are not removed", "run", r.ID, "error", err)
		}
		return nil, d.conclude(ctx, r.ID)
	}
	switch t := triesOf(attempts, ForMerge, 0); {
	case t.open:
		return nil, nil
	case len(blobs(attempts)) == 0:
		return nil, d.update(ctx, r.ID, func(r *run.Run) error {
			r.Merged = true
			r.Warn("report-missing", "No shard left a report, so there is none of the run. Its results are complete.")
			return nil
		})
	case t.lost():
		return nil, d.update(ctx, r.ID, func(r *run.Run) error {
			return giveUp(r, run.CodeMergeFailed, "The reports of the shards could not be merged. "+t.last)
		})
	default:
		return []start{{run: r, kind: ForMerge}}, nil
	}
}

func blobs(attempts []Attempt) (out []attempt.Blob) {
	for _, a := range attempts {
		if a.Kind == ForTests && a.BlobKey != "" {
			out = append(out, attempt.Blob{Shard: a.Shard, Key: a.BlobKey})
		}
	}
	return out
}

// mergeJob answers what a merge is to be made of.
func (d *Dispatcher) mergeJob(ctx context.Context, r run.Run) (*attempt.Merge, error) {
	attempts, err := d.Store.RunAttempts(ctx, r.ID)
	if err != nil {
		return nil, fmt.Errorf("list the attempts of run %s: %w", r.ID, err)
	}
	m := &attempt.Merge{Blobs: blobs(attempts), OwnRunner: r.Runner != ""}
	for _, a := range attempts {
		m.Unreported = m.Unreported || a.Kind == ForTests && a.BlobKey == "" && a.ClaimedAt != nil
	}
	return m, nil
}

// Orphans tells each of the results that ended in shards which left no report.
func (d *Dispatcher) Orphans(ctx context.Context, a Attempt, tell func(attempt.Orphan) error) error {
	if a.Kind != ForMerge {
		return fault.New(fault.NotFound, "This attempt merges nothing.")
	}
	return d.Store.Unreported(ctx, a.RunID, func(t run.Result) error { return tell(orphan(t)) })
}

func orphan(t run.Result) attempt.Orphan {
	o := attempt.Orphan{PlaywrightID: t.PlaywrightID, Browser: t.Browser, File: t.File, Line: t.Line, Column: 1, Title: t.Title, TitlePath: t.TitlePath,
		Tags: t.Tags, Retries: t.Retries(), RepeatEach: t.RepeatEach, Expected: "passed",
		Note: "The worker that ran this test was lost, and its report with it: this is what it told before."}
	for _, y := range t.Tries {
		if y.Expected != "" {
			o.Expected = y.Expected
		}
		try := attempt.OrphanTry{Retry: y.Retry, Status: y.Status, StartedAt: y.StartedAt, DurationMs: y.Duration.Milliseconds(), Errors: []attempt.Error{}}
		if y.Error != nil {
			try.Errors = append(try.Errors, wireError(*y.Error))
		}
		o.Tries = append(o.Tries, try)
	}
	if t.Error != nil && t.Error.Code == run.CodeShardLost || len(o.Tries) == 0 {
		// What ended it was no try of its own.
		last := attempt.OrphanTry{Retry: len(o.Tries), Status: "failed", Errors: []attempt.Error{}}
		if t.Error != nil {
			last.Errors = append(last.Errors, wireError(*t.Error))
		}
		if n := len(o.Tries); n > 0 && o.Tries[n-1].Status == "interrupted" {
			last.Retry, last.StartedAt, o.Tries = o.Tries[n-1].Retry, o.Tries[n-1].StartedAt, o.Tries[:n-1]
		}
		o.Tries = append(o.Tries, last)
	}
	return o
}

func wireError(e run.Error) attempt.Error {
	out := attempt.Error{Code: e.Code, Message: e.Message, Stack: e.Stack, Snippet: e.Snippet, Steps: e.Steps}
	if e.Location != nil {
		out.Location = &attempt.Location{File: e.Location.File, Line: e.Location.Line, Column: e.Location.Column}
	}
	return out
}
