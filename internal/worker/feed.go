package worker

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/report"
)

// feed brings a shard's runner tests of the run's common queue, as it has room for them.
type feed struct {
	s    *session
	wake chan struct{}
	done chan struct{}

	mu      sync.Mutex
	state   attempt.Want
	open    bool // tests are on offer
	asked   bool // nothing has changed since the service had nothing
	waited  bool // the last answer brought nothing, so the next may be held back
	stopped bool
}

func newFeed(s *session) *feed {
	return &feed{s: s, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// offer says that tests of these Playwright projects can be granted from now on.
func (f *feed) offer(projects []string) {
	f.change(func() { f.state.Offered, f.state.Free, f.state.Queued, f.open = projects, 0, 0, true })
}

func (f *feed) want(free, queued int) {
	f.change(func() { f.state.Free, f.state.Queued = free, queued })
}

func (f *feed) refused(ids []string) {
	f.change(func() {
		f.state.Refused, f.state.Lacks = append(f.state.Refused, ids...), append(f.state.Lacks, ids...)
	})
}

func (f *feed) stop() {
	f.change(func() { f.stopped = true })
	close(f.done)
}

func (f *feed) change(fn func()) {
	f.mu.Lock()
	fn()
	f.asked = false
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// run asks the service whenever the runner has room, until stop. An error ends the talk
// with the runner: nobody would bring it tests any more.
func (f *feed) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-f.done
		cancel()
	}()
	for {
		want, ask, stopped := f.next()
		switch {
		case stopped:
			return nil
		case !ask:
			<-f.wake
			continue
		}
		var g attempt.Grant
		asked := time.Now()
		if err := f.s.w.service.call(ctx, attempt.Lease, want, &g); err != nil {
			if f.over() {
				return nil // it was under way when the runner ended
			}
			f.s.conn.Close() //nolint:errcheck // it ends the talk
			return fmt.Errorf("ask for tests: %w", err)
		}
		if err := f.take(want, g, time.Since(asked)); err != nil {
			return nil //nolint:nilerr // the runner is gone: how it ended tells why
		}
	}
}

// next answers what to ask for, and whether there is a reason to: a busy runner with
// something in its queue needs nothing.
func (f *feed) next() (w attempt.Want, ask, stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ask = f.open && !f.asked && (f.state.Free > 0 || f.state.Queued == 0) || len(f.state.Refused) > 0
	f.asked = true
	w = f.state
	w.Refused, w.Lacks = slices.Clone(w.Refused), slices.Clone(w.Lacks)
	return w, ask, f.stopped
}

func (f *feed) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopped
}

// take hands on what was granted.
func (f *feed) take(asked attempt.Want, g attempt.Grant, took time.Duration) error {
	f.mu.Lock()
	if len(g.Units) > 0 && !f.waited {
		f.state.WayMs = took.Milliseconds()
	}
	f.waited = len(g.Units) == 0
	f.state.Refused = f.state.Refused[len(asked.Refused):]
	f.state.Received = max(f.state.Received, g.Number)
	if len(g.Units) == 0 && !g.Close && f.state.Free > 0 {
		f.asked = false // the answer was held back for as long as may be: ask again
	}
	if n := len(g.Units); n > 0 {
		// Until the runner says so itself.
		took := min(n, f.state.Free)
		f.state.Free, f.state.Queued = f.state.Free-took, f.state.Queued+n-took
	}
	g.Close = g.Close && slices.Equal(asked.Offered, f.state.Offered) // an offer that came since is not meant
	if g.Close {
		f.state.Passed, f.state.Offered, f.open = append(f.state.Passed, f.state.Offered...), nil, false
	}
	f.mu.Unlock()
	if len(g.Units) > 0 {
		if err := f.s.send(report.Grant{Type: "grant", Units: g.Units}); err != nil {
			return err
		}
	}
	if g.Close {
		return f.s.send(report.Close{Type: "close"})
	}
	return nil
}

// projectsOf answers the Playwright projects of tests.
func (s *session) projectsOf(ids []string) []string {
	projects := []string{}
	for _, id := range ids {
		if t, ok := s.tests[id]; ok && !slices.Contains(projects, t.Browser) {
			projects = append(projects, t.Browser)
		}
	}
	return projects
}

// fetchBlobs brings the reports of the shards to where the runner reads them.
func (w *worker) fetchBlobs(ctx context.Context) (*report.Merge, error) {
	w.beat.doing("merging")
	dir := w.path("out", "shards")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, diskTrouble(err)
	}
	inside := filepath.Join(w.inside("out"), "shards")
	m := &report.Merge{}
	for i, b := range w.job.Merge.Blobs {
		name := fmt.Sprintf("shard-%d-%d.zip", b.Shard+1, i)
		if err := w.service.download(ctx, attempt.Artifact+"?"+url.Values{"key": {b.Key}}.Encode(), filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		m.Blobs = append(m.Blobs, filepath.Join(inside, name))
	}
	if w.job.Merge.Unreported {
		const name = "orphans.ndjson"
		if err := w.service.download(ctx, attempt.Orphans, filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		m.Results = filepath.Join(inside, name)
	}
	return m, nil
}
