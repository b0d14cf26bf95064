package dispatch

import (
	"context"
	"fmt"
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
	ids, over := make([]string, 0, len(b.Events)), false
	for _, e := range b.Events {
		switch {
		case e.Begin != nil:
			ids = append(ids, e.Begin.ID)
		case e.End != nil:
			ids = append(ids, e.End.ID)
		case len(e.Over) > 0:
			ids, over = append(ids, e.Over...), true
		}
	}
	err := d.Store.Record(ctx, a.ID, ids, func(a *Attempt, r *run.Run, results map[string]*run.Result) error {
		switch {
		case !a.State.Open() || r.Terminal():
			return superseded(*a)
		case b.Seq <= a.Seq:
			return nil
		case b.Seq != a.Seq+1:
			return fault.New(fault.Conflict, "Batch %d was expected, not %d.", a.Seq+1, b.Seq)
		}
		a.Seq, a.HeartbeatAt = b.Seq, d.Clock()
		for _, e := range b.Events {
			apply(a, r, results, e)
		}
		return nil
	})
	if err == nil {
		d.changed(a.RunID, a.ProjectID)
		if over {
			d.queueChanged(a.RunID)
		}
	}
	return attempt.Orders{}, err
}

// apply brings one event into the run's results and counters.
func apply(a *Attempt, r *run.Run, results map[string]*run.Result, e attempt.Event) {
	switch {
	case e.Error != nil:
		noteError(r, runError(*e.Error))
	case len(e.Over) > 0:
		end(a, r, results, e.Over)
	case e.Begin != nil:
		b := e.Begin
		if r.FirstTestAt == nil {
			at := b.StartedAt.UTC()
			r.FirstTestAt = &at
		}
		change(a, r, results[b.ID], b.ID, func(t *run.Result, by string) {
			t.Record(run.Try{AttemptID: by, Retry: b.Retry, Status: string(run.StatusRunning), StartedAt: b.StartedAt.UTC()})
		})
	case e.End != nil:
		end := e.End
		change(a, r, results[end.ID], end.ID, func(t *run.Result, by string) {
			t.Record(run.Try{AttemptID: by, Retry: end.Retry, Status: end.Status, Expected: end.ExpectedStatus, StartedAt: end.StartedAt.UTC(),
				Duration: millis(end.DurationMs), WillRetry: end.WillRetry, Error: reason(end), Sabotaged: end.Sabotaged, Recovered: recovered(end)})
		})
	}
}

// end settles tests that were granted together and will not be tried again, whatever was
// said of that before. One that was never reported fails, so that nobody waits for it.
func end(a *Attempt, r *run.Run, results map[string]*run.Result, ids []string) {
	for _, id := range ids {
		t := results[id]
		if t == nil || t.Unit < 0 || t.AttemptID != a.ID || t.Status.Final() {
			continue
		}
		count(r, t, func(t *run.Result) {
			if n := len(t.Tries); n > 0 && t.Tries[n-1].WillRetry {
				t.Tries[n-1].WillRetry = false
				t.Settle()
			}
			run.CloseOpen([]*run.Result{t}, nil, "The shard had finished with it.", false)
		})
	}
}

// noteError keeps an error outside of tests; the shards of a run say the same one once.
func noteError(r *run.Run, e run.Error) {
	if r.Ending == nil || len(r.Ending.Errors) >= maxRunErrors {
		return
	}
	for _, have := range r.Ending.Errors {
		if r.Sharded() && have.Code == e.Code && have.Message == e.Message {
			return
		}
	}
	r.Ending.Errors = append(r.Ending.Errors, e)
}

// change applies fn to a result. A test that was never planned, or that this shard was not
// given, is a difference between plan and report, and fails the run loudly. Set-up runs in
// every shard: there fn is told by whom.
func change(a *Attempt, r *run.Run, t *run.Result, id string, fn func(t *run.Result, by string)) {
	by := ""
	switch {
	case t == nil:
		noteError(r, run.Error{Code: "not-planned", Message: "The runner reported a test that was not planned (" + id + ")."})
		return
	case !r.Sharded():
	case t.Unit < 0:
		by = a.ID
	case t.AttemptID != a.ID:
		noteError(r, run.Error{Code: "not-granted", Message: fmt.Sprintf("Shard %d reported a test that it was not given (%s).", a.Shard+1, id)})
		return
	}
	count(r, t, func(t *run.Result) {
		fn(t, by)
		t.Settle()
	})
}

// count applies fn to a result and keeps the run's counters in step.
func count(r *run.Run, t *run.Result, fn func(*run.Result)) {
	add := func(n int) {
		if t.Counted() {
			r.Total += n
			if t.Status.Final() {
				r.Executed += n
				r.Counts.Add(t.Status, n)
			}
		}
	}
	add(-1)
	fn(t)
	add(+1)
}

// recovered answers what a try owes to recovery, in bounds.
func recovered(end *attempt.TestEnd) (out []run.Recovered) {
	for _, r := range end.Recovered[:min(len(end.Recovered), run.MaxRecovered)] {
		out = append(out, run.Recovered(r))
	}
	return out
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
