package run

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/artifact"
	"tas-service/internal/fault"
)

// MaxWait is the longest that a status is held back.
const MaxWait = time.Minute

// settleFor is how long mere progress is gathered before a waiting caller hears of it;
// a new phase is told at once.
const settleFor = time.Second

// Get answers a run of the actor's project.
func (s *Service) Get(ctx context.Context, actor account.Actor, id string) (Run, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		if named, byName := s.Store.RunByName(ctx, actor.ProjectID, id); byName == nil && !named.Sharded() {
			return Run{}, fault.New(fault.Invalid, "%q is the job name of a run, not its ID.", id).
				WithFix("Use the UUID that the call which started the run answered as runId.")
		}
		return Run{}, fault.New(fault.Invalid, "A run ID is a UUID, and %.80q is none.", id).
			WithFix("Use the UUID that the call which started the run answered as runId, not the job name in name.")
	}
	r, err := s.Store.Run(ctx, parsed.String())
	if fault.KindOf(err) == fault.NotFound || err == nil && r.ProjectID != actor.ProjectID {
		return Run{}, actor.May("", "run")
	}
	return r, err
}

// Wait answers a run like Get, but holds the answer until the run changes, is terminal,
// or wait (at most MaxWait) is over.
func (s *Service) Wait(ctx context.Context, actor account.Actor, id string, wait time.Duration) (Run, error) {
	changed, stop := s.Watcher.Watch(Topic(strings.ToLower(id)))
	defer stop()
	before, err := s.Get(ctx, actor, id)
	if err != nil || before.Terminal() || wait <= 0 {
		return before, err
	}
	began := s.Clock()
	deadline := time.NewTimer(min(wait, MaxWait))
	defer deadline.Stop()
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return before, ctx.Err()
		case <-deadline.C:
			return s.Get(ctx, actor, id)
		case <-settled:
			return s.Get(ctx, actor, id)
		case <-changed:
		}
		now, err := s.Get(ctx, actor, id)
		if err != nil || now.Phase != before.Phase {
			return now, err
		}
		if settled == nil {
			settled = time.After(max(0, settleFor-s.Clock().Sub(began)))
		}
	}
}

// ByName answers a run by its job name; sharded runs have none.
func (s *Service) ByName(ctx context.Context, actor account.Actor, name string) (Run, error) {
	r, err := s.Store.RunByName(ctx, actor.ProjectID, name)
	if err == nil && r.Sharded() {
		// It was never told this name: shards have no common job.
		return Run{}, actor.May("", "run")
	}
	if fault.KindOf(err) == fault.NotFound {
		if _, uerr := uuid.Parse(name); uerr == nil {
			return Run{}, fault.New(fault.NotFound, "There is no run with this job name in this project.").
				WithFix("This looks like a run ID: use GET /execution/status/run/{runId}.")
		}
		return Run{}, actor.May("", "run")
	}
	return r, err
}

// Latest answers the project's latest terminal run that no person started by hand.
func (s *Service) Latest(ctx context.Context, actor account.Actor) (Run, error) {
	r, err := s.Store.LatestRun(ctx, actor.ProjectID)
	if fault.KindOf(err) == fault.NotFound {
		return Run{}, fault.New(fault.NotFound, "This project has no finished run yet.").
			WithFix("Start one with POST /execution/suite.")
	}
	return r, err
}

// Triggers lists what can start a run.
func Triggers() []Trigger {
	return []Trigger{TriggerAPI, TriggerCI, TriggerSchedule, TriggerMCP, TriggerManual}
}

// List answers runs of the actor's project and where to go on, nil at the end.
func (s *Service) List(ctx context.Context, actor account.Actor, q Query) ([]Run, *Cursor, error) {
	want := q.Limit
	q.ProjectID, q.Limit = actor.ProjectID, q.Limit+1
	rs, err := s.Store.Runs(ctx, q)
	if err != nil || len(rs) <= want {
		return rs, nil, err
	}
	last := rs[want-1]
	return rs[:want], &Cursor{CreatedMs: last.CreatedAt.UnixMilli(), ID: last.ID}, nil
}

// Results answers results of a run and the position to go on behind, -1 at the end.
func (s *Service) Results(ctx context.Context, actor account.Actor, q ResultQuery) ([]Result, int, error) {
	r, err := s.Get(ctx, actor, q.RunID)
	if err != nil {
		return nil, -1, err
	}
	want := q.Limit
	q.RunID, q.Limit = r.ID, q.Limit+1
	rs, err := s.Store.Results(ctx, q)
	if err != nil {
		return nil, -1, err
	}
	if len(rs) > want {
		return rs[:want], rs[want-1].Position, nil
	}
	return rs, -1, nil
}

// failedAtOnce is how many results are read at once to find what failed.
const failedAtOnce = 5000

// FailedTests answers the tests that a run like this one must have to make good what failed
// in it: those that failed, and those that did not run because of it. Set-up that merely
// came along comes along again: alone it would pass without a test. Errors:
// fault.Conflict where that are none, or more than a run can be of by name.
func (s *Service) FailedTests(ctx context.Context, actor account.Actor, id string) ([]string, error) {
	var ids, along []string
	has, came := map[string]bool{}, map[string]bool{}
	for after := -1; ; {
		rs, next, err := s.Results(ctx, actor, ResultQuery{RunID: id, After: after, Limit: failedAtOnce, Statuses: []Status{StatusFailed, StatusBug, StatusSkipped}})
		if err != nil {
			return nil, err
		}
		for i := range rs {
			r := &rs[i]
			into, seen := &ids, has
			if r.Companion {
				into, seen = &along, came
			}
			if !seen[r.TestID] && (r.Failing() || r.Error != nil && r.Error.Code == CodeDidNotRun) {
				seen[r.TestID] = true
				*into = append(*into, r.TestID)
			}
		}
		if after = next; after < 0 {
			break
		}
	}
	if len(ids) == 0 {
		ids = along
	}
	switch {
	case len(ids) == 0:
		return nil, fault.New(fault.Conflict, "No test of this run failed.").WithFix("Run all of it again.")
	case len(ids) > MaxTestIDs:
		return nil, fault.New(fault.Conflict, "%d tests failed or did not run, and a run can be of at most %d by name.", len(ids), MaxTestIDs).WithFix("Run all of it again.")
	}
	return ids, nil
}

// Report answers the address of the run's HTML report and when it expires.
func (s *Service) Report(ctx context.Context, actor account.Actor, id string) (string, time.Time, error) {
	r, err := s.Get(ctx, actor, id)
	switch {
	case err != nil:
		return "", time.Time{}, err
	case !r.Terminal():
		return "", time.Time{}, fault.New(fault.Conflict, "The run has not finished, so it has no report yet.").
			WithFix("Poll GET /execution/status/run/%s until isTerminal is true.", id)
	case !r.HasReport:
		return "", time.Time{}, fault.New(fault.NotFound, "The run ended without a report.").
			WithFix("Its status tells why: GET /execution/status/run/%s.", id)
	}
	at, expires := s.Links.Link(r.ID, ReportIndex)
	return at, expires, nil
}

// ReportIndex is the name of the first page of a run's HTML report among its artifacts.
const ReportIndex = "report/index.html"

// Attachment is an artifact of a test with the address that opens it.
type Attachment struct {
	artifact.Artifact
	URL       string
	ExpiresAt time.Time
	ViewerURL string // of the trace viewer, for traces
}

// Attachments answers what one test of a run left behind.
func (s *Service) Attachments(ctx context.Context, actor account.Actor, runID, testID string) ([]Attachment, error) {
	r, err := s.Get(ctx, actor, runID)
	if err != nil {
		return nil, err
	}
	if ok, err := s.Store.HasResult(ctx, r.ID, testID); err != nil || !ok {
		if err == nil {
			err = fault.New(fault.NotFound, "There is no such test in this run.").
				WithFix("Use a serviceTestId that GET /test-runs/{id}/results lists.")
		}
		return nil, err
	}
	as, err := s.Store.Artifacts(ctx, r.ID, testID)
	if err != nil {
		return nil, err
	}
	out := make([]Attachment, 0, len(as))
	for _, a := range as {
		at := Attachment{Artifact: a}
		at.URL, at.ExpiresAt = s.Links.Link(r.ID, a.Key[len(artifact.RunPrefix(r.ID)):])
		if a.Kind == artifact.Trace && r.HasReport {
			viewer, _ := s.Links.Link(r.ID, "report/trace/index.html")
			at.ViewerURL = viewer + "?trace=" + url.QueryEscape(at.URL)
		}
		out = append(out, at)
	}
	return out, nil
}
