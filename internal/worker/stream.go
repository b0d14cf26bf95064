package worker

import (
	"context"
	"sync"
	"time"

	"tas-service/internal/attempt"
)

// stream sends events to the service in batches, in order and each exactly once: a batch
// that was not answered is sent again under its number.
type stream struct {
	service *service
	every   time.Duration

	mu      sync.Mutex
	waiting []attempt.Event
	closed  bool
	room    *sync.Cond
	wake    chan struct{}
	done    chan struct{}
	seq     int64
	err     error
	failed  func() // nobody may add an event that would tell
}

// Bounds of a batch and of what waits for one: beyond it the runner is held back.
const (
	maxBatch   = 500
	maxWaiting = 5000
)

func newStream(s *service, every time.Duration) *stream {
	st := &stream{service: s, every: every, wake: make(chan struct{}, 1), done: make(chan struct{}), failed: func() {}}
	st.room = sync.NewCond(&st.mu)
	return st
}

// add queues an event, waiting while too many wait; the first error of sending ends it.
func (st *stream) add(e attempt.Event) error {
	st.mu.Lock()
	for len(st.waiting) >= maxWaiting && st.err == nil {
		st.room.Wait()
	}
	defer st.mu.Unlock()
	if st.err != nil {
		return st.err
	}
	st.waiting = append(st.waiting, e)
	st.nudge()
	return nil
}

func (st *stream) nudge() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// run sends until close is called and everything is sent, or sending fails for good.
func (st *stream) run(ctx context.Context) {
	defer close(st.done)
	for {
		st.mu.Lock()
		n := min(len(st.waiting), maxBatch)
		batch := append([]attempt.Event(nil), st.waiting[:n]...)
		closed := st.closed
		st.mu.Unlock()
		switch {
		case n > 0:
			st.mu.Lock()
			st.seq++
			seq := st.seq
			st.mu.Unlock()
			err := st.service.call(ctx, attempt.Events, attempt.Batch{Seq: seq, Events: batch}, nil)
			st.mu.Lock()
			st.waiting, st.err = st.waiting[n:], err
			st.room.Broadcast()
			st.mu.Unlock()
			if err != nil {
				st.failed()
				return
			}
			if !closed && n < maxBatch {
				pause(ctx, st.every)
			}
		case closed:
			return
		default:
			select {
			case <-st.wake:
			case <-ctx.Done():
				st.mu.Lock()
				st.err = ctx.Err()
				st.room.Broadcast()
				st.mu.Unlock()
				return
			}
		}
	}
}

// close waits until everything is sent and answers how many batches that were.
func (st *stream) close() (batches int64, err error) {
	st.mu.Lock()
	st.closed = true
	st.mu.Unlock()
	st.nudge()
	<-st.done
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.seq, st.err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
