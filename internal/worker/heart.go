package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"tas-service/internal/attempt"
)

// heart tells the service every so often that the worker lives and what it does.
type heart struct{ phase atomic.Value }

// startHeart beats until ctx is done. When the service wants nothing more, or is out of
// reach for too long, it stops the attempt.
func startHeart(ctx context.Context, s *service, every time.Duration, stop context.CancelCauseFunc) *heart {
	h := &heart{}
	h.doing("starting")
	go func() {
		tick := time.NewTicker(max(every, 100*time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var orders attempt.Orders
			err := s.beat(ctx, every, attempt.Beat{Phase: h.phase.Load().(string)}, &orders)
			switch {
			case errors.Is(err, errSuperseded) || orders.Cancel:
				stop(errSuperseded)
				return
			case err != nil && ctx.Err() == nil:
				stop(err)
				return
			}
		}
	}()
	return h
}

func (h *heart) doing(phase string) { h.phase.Store(phase) }
