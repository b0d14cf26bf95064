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
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// errMoved says that another leader has moved the run on since it was read.
var errMoved = fault.New(fault.Conflict, "The run has moved on.")

// start is an attempt that a run could use.
type start struct {
	run   run.Run
	kind  AttemptKind
	shard int
}

// patient answers 1 for what gives way to all runs that somebody waits for.
func (s start) patient() int {
	if s.run.Trigger == run.TriggerRefresh {
		return 1
	}
	return 0
}

// startNext starts attempts while there is room: next is always one of the project with
// the fewest under way (max-min fairness), of equals the one whose last start is longest
// ago, so that a long queue of one does not keep the others waiting where only one runs at
// a time. Within a project it is the oldest run's, shard by shard. A look at the tests
// waits until nothing else does: any run of the default branch spares it.
func (d *Dispatcher) startNext(ctx context.Context, queue []start) error {
	if len(queue) == 0 {
		return nil
	}
	open, err := d.Store.OpenAttempts(ctx)
	if err != nil {
		return err
	}
	busy, total := map[string]int{}, len(open)
	for _, a := range open {
		busy[a.ProjectID]++
	}
	var errs []error
	for total < d.Limits.Attempts && !d.draining.Load() && (d.Leading == nil || d.Leading()) {
		queue = slices.DeleteFunc(queue, func(s start) bool {
			return d.Limits.PerProject > 0 && busy[s.run.ProjectID] >= d.Limits.PerProject
		})
		if len(queue) == 0 {
			break
		}
		s := slices.MinFunc(queue, func(a, b start) int {
			return cmp.Or(cmp.Compare(a.patient(), b.patient()), cmp.Compare(busy[a.run.ProjectID], busy[b.run.ProjectID]), cmp.Compare(d.lastStart[a.run.ProjectID], d.lastStart[b.run.ProjectID]))
		})
		queue = slices.DeleteFunc(queue, func(o start) bool { return o.run.ID == s.run.ID && o.kind == s.kind && o.shard == s.shard })
		busy[s.run.ProjectID]++
		total++
		d.starts++
		d.lastStart[s.run.ProjectID] = d.starts
		errs = append(errs, d.start(ctx, s))
	}
	return errors.Join(errs...)
}

// start records an attempt and asks for it to be started. When that fails it is tried
// again, a few times.
func (d *Dispatcher) start(ctx context.Context, s start) error {
	r := s.run
	earlier, err := d.Store.RunAttempts(ctx, r.ID)
	if err != nil {
		return err
	}
	if !r.Sharded() && len(earlier) >= maxStarts {
		return d.end(ctx, r.ID, run.Queued, func(*run.Run) run.Judgement {
			return run.Judgement{Phase: run.ProcessError, Verdict: run.Fail, Error: &run.Error{Code: run.CodeWorkerLost, Message: notStarted(len(earlier))}}
		})
	}
	token := newToken()
	now := d.Clock()
	a := Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: r.ProjectID, Number: len(earlier) + 1, Kind: s.kind, Shard: s.shard, Place: d.Place, State: Starting,
		TokenHash: account.HashKey(token), HeartbeatAt: now, CreatedAt: now}
	err = d.Store.CreateAttempt(ctx, a, func(r *run.Run) error {
		switch {
		case r.Cancel != nil:
			return errMoved
		case r.Phase == run.Queued && a.Kind == ForTests:
			return r.MoveTo(run.Preparing)
		case !r.Sharded() || r.Terminal() || r.Parked || (a.Kind == ForMerge) != (r.Phase == run.Merging):
			return errMoved
		}
		return nil // another shard has begun
	})
	if errors.Is(err, errMoved) {
		return nil
	}
	if err != nil {
		return err
	}
	d.changed(r.ID, r.ProjectID)
	p, err := d.Projects.Project(ctx, r.ProjectID)
	if err != nil {
		return err
	}
	name := r.Name
	if r.Sharded() {
		name = fmt.Sprintf("%s-%s-%d", r.Name, a.Kind, a.Number)
	}
	err = d.Executor.Start(ctx, executor.Spec{ID: a.ID, RunID: r.ID, Name: name, Server: d.Server, Token: token, Limit: runLimit(p)})
	if err != nil {
		d.notBefore[r.ID] = now.Add(d.Timing.Retry * time.Duration(a.Number))
		d.Log.Error("an attempt could not be started", "run", r.ID, "attempt", a.ID, "error", err)
		return d.lose(ctx, a, Lost, "", "The executor could not start it.")
	}
	return nil
}

// room answers how many workers one project can have at once.
func (d *Dispatcher) room() int {
	if d.Limits.PerProject > 0 {
		return min(d.Limits.PerProject, d.Limits.Attempts)
	}
	return d.Limits.Attempts
}

func notStarted(tries int) string {
	return fmt.Sprintf("No worker could be started in %d tries. The service's log tells why.", tries)
}

func newToken() string {
	raw := make([]byte, 32)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}
