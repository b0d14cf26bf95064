package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// TestLoop steps at once, when it is woken and by the clock, and survives steps that fail
// or panic.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps, failures := 0, 0
		ctx, cancel := context.WithCancel(t.Context())
		l := &Loop{Name: "test", Every: time.Minute, Log: slog.New(slog.DiscardHandler), Failed: func(string) { failures++ }}
		l.Step = func(context.Context) error {
			steps++
			switch steps {
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
		if steps != 2 || failures != 1 {
			t.Fatalf("%d steps, %d failures at the start", steps, failures)
		}
		for range 5 {
			l.Wake()
		}
		synctest.Wait()
		if steps < 3 || steps > 4 || failures != 2 {
			t.Fatalf("%d steps, %d failures after five wakes", steps, failures)
		}
		before := steps
		time.Sleep(3*time.Minute + time.Second)
		if steps != before+3 {
			t.Fatalf("%d steps in three minutes", steps-before)
		}
		cancel()
		<-done
	})
}
