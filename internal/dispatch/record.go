package dispatch

import (
	"context"
	"strings"

	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// maxRunErrors bounds the errors outside tests that are kept of one run.
const maxRunErrors = 50

// TakeBatch applies a batch of events once: a batch that was already taken is
// answered as if it were new, one that leaves a gap is refused.
func (d *Dispatcher) TakeBatch(ctx context.Context, a Attempt, b attempt.Batch) (attempt.Orders, error) {
	ids := make([]string, 0, len(b.Events))
	for _, e := range b.Events {
		switch {
		case e.Begin != nil:
			ids = append(ids, e.Begin.ID)
		case e.End != nil:
			ids = append(ids, e.End.ID)
		}
	}
	err := d.Store.Record(ctx, a.ID, ids, func(a *Attempt, r *run.Run, results map[string]*run.Result) error {
		switch {
		case !a.State.Open():
			return superseded(*a)
		case b.Seq <= a.Seq:
			return nil
		case b.Seq != a.Seq+1:
			return fault.New(fault.Conflict, "Batch %d was expected, not %d.", a.Seq+1, b.Seq)
		}
		a.Seq, a.HeartbeatAt = b.Seq, d.Clock()
		for _, e := range b.Events {
			apply(r, results, e)
		}
		return nil
	})
	if err == nil {
		d.changed(a.RunID)
	}
	return attempt.Orders{}, err
}

// apply brings one event into the run's results and counters.
func apply(r *run.Run, results map[string]*run.Result, e attempt.Event) {
	switch {
	case e.Error != nil:
		if r.Ending != nil && len(r.Ending.Errors) < maxRunErrors {
			r.Ending.Errors = append(r.Ending.Errors, runError(*e.Error))
		}
	case e.Begin != nil:
		b := e.Begin
		if r.FirstTestAt == nil {
			at := b.StartedAt.UTC()
			r.FirstTestAt = &at
		}
		change(r, results[b.ID], b.ID, func(t *run.Result) {
			t.Record(run.Try{Retry: b.Retry, Status: string(run.StatusRunning), StartedAt: b.StartedAt.UTC()})
		})
	case e.End != nil:
		end := e.End
		change(r, results[end.ID], end.ID, func(t *run.Result) {
			t.Record(run.Try{Retry: end.Retry, Status: end.Status, Expected: end.ExpectedStatus, StartedAt: end.StartedAt.UTC(),
				Duration: millis(end.DurationMs), WillRetry: end.WillRetry, Error: reason(end)})
		})
	}
}

// change applies fn to a result and keeps the run's counters in step. A test that was
// never planned is a difference between plan and report, and fails the run loudly.
func change(r *run.Run, t *run.Result, id string, fn func(*run.Result)) {
	if t == nil {
		if r.Ending != nil && len(r.Ending.Errors) < maxRunErrors {
			r.Ending.Errors = append(r.Ending.Errors, run.Error{Code: "not-planned", Message: "The runner reported a test that was not planned (" + id + ")."})
		}
		return
	}
	count := func(n int) {
		if t.Counted() {
			r.Total += n
			if t.Status.Final() {
				r.Executed += n
				r.Counts.Add(t.Status, n)
			}
		}
	}
	count(-1)
	fn(t)
	t.Settle()
	count(+1)
}

// reason picks the error that tells most: Playwright reports a timeout as a general
// error first, and the call that was waited for second.
func reason(end *attempt.TestEnd) *run.Error {
	if len(end.Errors) == 0 {
		return nil
	}
	first := end.Errors[0]
	if len(end.Errors) > 1 && end.Status == "timedOut" && strings.HasPrefix(first.Message, "Test timeout of") {
		second := end.Errors[1]
		second.Message = first.Message + "\n" + second.Message
		first = second
	}
	e := runError(first)
	if e.Code == "" {
		e.Code = classify(end.Status, e.Message)
	}
	return &e
}

// classify names the sort of an error by Playwright's wording.
func classify(status, message string) string {
	switch {
	case strings.Contains(message, "browser not available") || strings.Contains(message, "Executable doesn't exist"):
		return "browser-not-available"
	case strings.Contains(message, "worker process exited unexpectedly"):
		return "worker-exited"
	case strings.Contains(message, "the test was stuck"):
		return "stuck"
	case strings.Contains(message, "net::ERR_CONNECTION_REFUSED") || strings.Contains(message, "net::ERR_NAME_NOT_RESOLVED"):
		return "application-unreachable"
	case status == "timedOut":
		return "timeout"
	case strings.Contains(message, "expect("):
		return "assertion"
	default:
		return "error"
	}
}
