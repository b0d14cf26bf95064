package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/report"
)

// One heartbeat whose answer never comes (its service's machine died) must not keep the next ones from being sent.
func TestHeartGoesOn(t *testing.T) {
	var beats atomic.Int32
	stuck := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if beats.Add(1) == 1 {
			<-stuck
		}
		w.Write([]byte("{}"))
	}))
	defer srv.Close()
	defer close(stuck)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	startHeart(ctx, newService(srv.URL, "t", time.Minute), 100*time.Millisecond, stop)
	for deadline := time.Now().Add(time.Minute); beats.Load() < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("one heartbeat without an answer was the last one")
		}
	}
}

// A batch that is refused for good ends the attempt, also when the runner has nothing more to say.
func TestStreamFails(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusConflict) }))
	defer srv.Close()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	s := &session{w: &worker{Config: Config{Log: slog.New(slog.DiscardHandler)}, service: newService(srv.URL, "t", time.Second)}, conn: ours, messages: report.NewReader(ours), started: true}
	s.stream = newStream(s.w.service, time.Millisecond)
	s.stream.failed = func() { ours.Close() } //nolint:errcheck // as drive does
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go s.stream.run(ctx)
	talked := make(chan error, 1)
	go func() { talked <- s.talk(ctx, report.Start{}) }()
	go func() { // the runner: its last test is over, and now it waits for a grant
		buf := make([]byte, 4096)
		theirs.Read(buf)
		theirs.Write([]byte(`{"type":"over","ids":["t0"]}` + "\n"))
	}()
	select {
	case err := <-talked:
		t.Logf("ended: %v", err)
	case <-time.After(time.Minute):
		s.stream.mu.Lock()
		defer s.stream.mu.Unlock()
		t.Errorf("the stream has failed (%v), and the talk goes on waiting for the runner, which waits for tests", s.stream.err)
	}
}

// A Close that answers a question of before an offer does not close that offer.
func TestCloseOfAnEarlierOffer(t *testing.T) {
	asked, answer := make(chan attempt.Want, 1), make(chan struct{})
	var once sync.Once
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var want attempt.Want
		json.NewDecoder(r.Body).Decode(&want)
		closing := false
		once.Do(func() { asked <- want; <-answer; closing = true })
		json.NewEncoder(w).Encode(attempt.Grant{Close: closing})
	}))
	defer srv.Close()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := theirs.Read(buf); err != nil {
				return
			}
		}
	}()
	s := &session{w: &worker{service: newService(srv.URL, "t", time.Second)}, conn: ours}
	f := newFeed(s)
	s.feed = f
	done := make(chan error, 1)
	go func() { done <- f.run(t.Context()) }()
	f.refused([]string{"x"}) // of a phase that has been closed
	if w := <-asked; len(w.Offered) != 0 {
		t.Fatal(w)
	}
	f.offer([]string{"p2"}) // the next phase
	close(answer)
	time.Sleep(300 * time.Millisecond)
	f.mu.Lock()
	if !f.open || len(f.state.Passed) > 0 {
		t.Errorf("open %v, passed %v: nobody was asked about p2", f.open, f.state.Passed)
	}
	f.mu.Unlock()
	f.stop()
	<-done
}

// A call that has taken longer than the worker's patience when the service restarts is tried again all the same.
func TestLongCallIsTriedAgain(t *testing.T) {
	var tries atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			time.Sleep(600 * time.Millisecond) // an upload of some minutes
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Write([]byte("{}"))
	}))
	defer srv.Close()
	err := newService(srv.URL, "t", 500*time.Millisecond).call(t.Context(), attempt.Finish, attempt.Outcome{}, nil)
	if err != nil || tries.Load() < 2 {
		t.Errorf("%d tries, %v", tries.Load(), err)
	}
}
