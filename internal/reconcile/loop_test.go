package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestLoop steps at once, when it is woken and by the clock, and survives steps that fail
// or panic.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps, failures atomic.Int32 // the race detector does not know synctest's clock
		ctx, cancel := context.WithCancel(t.Context())
		l := &Loop{Name: "test", Every: time.Minute, Log: slog.New(slog.DiscardHandler), Failed: func(string) { failures.Add(1) }}
		l.Step = func(context.Context) error {
			switch steps.Add(1) {
			case 2:
				return errors.New("no")
			case 3:
				panic("no")
			}
			return nil
		}
		l.Wake() // before it runs: nothing is lost, nothing is doubled for good
		done := make(chan struct{})
		go func() { l.Run(ctx); close(done) }()
		synctest.Wait()
		if steps.Load() != 2 || failures.Load() != 1 {
			t.Fatalf("%d steps, %d failures at the start", steps.Load(), failures.Load())
		}
		for range 5 {
			l.Wake()
		}
		synctest.Wait()
		if n := steps.Load(); n < 3 || n > 4 || failures.Load() != 2 {
			t.Fatalf("%d steps, %d failures after five wakes", n, failures.Load())
		}
		before := steps.Load()
		time.Sleep(3*time.Minute + time.Second)
		if n := steps.Load() - before; n != 3 {
			t.Fatalf("%d steps in three minutes", n)
		}
		cancel()
		<-done
	})
}
