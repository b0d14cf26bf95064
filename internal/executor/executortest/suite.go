// Package executortest is what every executor has to pass, and an executor that fails on
// request for the tests of those who use one.
package executortest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/executor"
)

// Place is an executor with the two sorts of attempts that the suite starts.
type Place struct {
	Executor executor.Executor
	Stays    func(id string) executor.Spec // runs until it is cancelled
	Ends     func(id string) executor.Spec // ends at once by itself
}

// Run holds an executor to its interface. Each test gets a place of its own.
func Run(t *testing.T, open func(t *testing.T) Place) {
	ctx := context.Background()
	t.Run("start, observe, cancel, reap", func(t *testing.T) {
		p, id := open(t), uuid.NewString()
		must(t, p.Executor.Start(ctx, p.Stays(id)))
		until(t, p.Executor, id, executor.Running)
		must(t, p.Executor.Start(ctx, p.Stays(id))) // no second start
		if err := p.Executor.Reap(ctx, id); err == nil {
			t.Error("an attempt that runs was reaped")
		}
		until(t, p.Executor, id, executor.Running)
		must(t, p.Executor.Cancel(ctx, id))
		until(t, p.Executor, id, executor.Exited)
		must(t, p.Executor.Cancel(ctx, id))
		must(t, p.Executor.Reap(ctx, id))
		if _, ok := find(t, p.Executor, id); ok {
			t.Error("it is still there after it was reaped")
		}
		must(t, p.Executor.Reap(ctx, id))
	})
	t.Run("ends by itself and says so", func(t *testing.T) {
		p, id := open(t), uuid.NewString()
		must(t, p.Executor.Start(ctx, p.Ends(id)))
		select {
		case <-p.Executor.Changed():
		case <-time.After(20 * time.Second):
			t.Error("nobody was told")
		}
		if o := until(t, p.Executor, id, executor.Exited); o.Reason == "" {
			t.Error("it tells no reason")
		}
		must(t, p.Executor.Start(ctx, p.Ends(id))) // it was started once: for good
		until(t, p.Executor, id, executor.Exited)
		must(t, p.Executor.Reap(ctx, id))
	})
	t.Run("unknown IDs", func(t *testing.T) {
		p := open(t)
		must(t, p.Executor.Cancel(ctx, uuid.NewString()))
		must(t, p.Executor.Reap(ctx, uuid.NewString()))
		if _, ok := find(t, p.Executor, uuid.NewString()); ok {
			t.Error("something is there that was never started")
		}
	})
	t.Run("many at once", func(t *testing.T) {
		p := open(t)
		ids := []string{uuid.NewString(), uuid.NewString(), uuid.NewString()}
		var wait sync.WaitGroup
		for range 5 {
			for _, id := range ids {
				wait.Go(func() {
					if err := p.Executor.Start(ctx, p.Stays(id)); err != nil {
						t.Error(err)
					}
				})
			}
		}
		wait.Wait()
		all, err := p.Executor.Observe(ctx)
		must(t, err)
		if len(all) != len(ids) {
			t.Errorf("%d attempts of %d", len(all), len(ids))
		}
		for _, id := range ids {
			must(t, p.Executor.Cancel(ctx, id))
			until(t, p.Executor, id, executor.Exited)
			must(t, p.Executor.Reap(ctx, id))
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, e executor.Executor, id string) (executor.Observation, bool) {
	t.Helper()
	all, err := e.Observe(context.Background())
	must(t, err)
	i := slices.IndexFunc(all, func(o executor.Observation) bool { return o.ID == id })
	if i < 0 {
		return executor.Observation{}, false
	}
	return all[i], true
}

func until(t *testing.T, e executor.Executor, id string, want executor.State) executor.Observation {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		o, ok := find(t, e, id)
		if ok && o.State == want {
			return o
		}
		if time.Now().After(deadline) {
			t.Fatalf("attempt %s is %+v, want %s", id, o, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
