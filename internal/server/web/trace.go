package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"tas-service/internal/artifact"
	"tas-service/internal/fault"
	"tas-service/internal/report"
	"tas-service/internal/run"
)

// Bounds of reading traces, which takes the time and the memory of what a stranger packed.
const (
	tracesAtOnce = 2
	tracesKept   = 32 // that were read, of at most some 200 KB each
)

// traces reads traces and remembers what the last ones said: they never change.
// The zero value is usable; it is safe for concurrent use.
type traces struct {
	mu    sync.Mutex
	known map[string]report.Trace // by the artifact's key
	order []string                // the oldest first
	busy  chan struct{}
}

func (t *traces) read(ctx context.Context, blobs artifact.Blobs, key string) (report.Trace, error) {
	t.mu.Lock()
	if t.known == nil {
		t.known, t.busy = map[string]report.Trace{}, make(chan struct{}, tracesAtOnce)
	}
	x, ok := t.known[key]
	t.mu.Unlock()
	if ok {
		return x, nil
	}
	select {
	case t.busy <- struct{}{}:
	case <-ctx.Done():
		return x, ctx.Err()
	}
	defer func() { <-t.busy }()
	blob, err := blobs.Open(ctx, key)
	if err != nil {
		return x, err
	}
	defer blob.Close() //nolint:errcheck // read only
	if x, err = report.ReadTrace(ctx, blob, blob.Size); err != nil {
		return x, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.known[key]; !ok {
		if t.order = append(t.order, key); len(t.order) > tracesKept {
			delete(t.known, t.order[0])
			t.order = t.order[1:]
		}
	}
	t.known[key] = x
	return x, nil
}

// saidPage is what the console and the network said during one attempt.
type saidPage struct {
	report.Trace
	Unreadable bool
	Title      string // of the test
	N          int    // of the attempt
	Back       string
	Download   string
}

// said shows what went wrong on the console and the network of an attempt, as its trace
// tells. The page of the test loads the middle of it; without a script it is a page.
func (a *App) said(w http.ResponseWriter, r *http.Request, v *visit) error {
	f, err := a.attachment(r, v)
	if err != nil {
		return err
	}
	if f.Kind != artifact.Trace || a.Blobs == nil {
		return fault.New(fault.NotFound, "This is no trace.").WithFix("Open the test again: it lists what there is.")
	}
	_, results, err := a.Runs.TestResults(r.Context(), v.Actor, r.PathValue("id"), r.PathValue("test"))
	if err != nil {
		return err
	}
	at := testInRun(v.runURL(r.PathValue("id")), r.PathValue("test"), "")
	p := &saidPage{N: f.Retry + 1, Back: at, Download: at + "/artifacts/" + url.PathEscape(f.ID)}
	for _, x := range results {
		if x.Browser == f.Browser {
			p.Title, p.Back = x.Title, testInRun(v.runURL(x.RunID), x.TestID, x.Browser)
		}
	}
	switch p.Trace, err = a.traces.read(r.Context(), a.Blobs, f.Key); {
	case errors.Is(err, report.ErrNoTrace):
		p.Unreadable = true
	case err != nil:
		return err
	}
	page := Page{Title: "Console and network: " + firstLine(p.Title, 80), Area: "runs", Data: p,
		Crumbs: []Crumb{{"Runs", v.base() + "/runs"}, {"The run", v.runURL(r.PathValue("id"))}, {firstLine(p.Title, 60), p.Back}, {Name: "Console and network"}}}
	if v.Open != "" {
		page.Crumbs = page.Crumbs[1:]
	}
	a.show(w, r, http.StatusOK, "runs/said", page)
	return nil
}

// attachment answers the artifact that an address names, to whoever may see the run.
func (a *App) attachment(r *http.Request, v *visit) (run.Attachment, error) {
	found, err := a.Runs.Attachments(r.Context(), v.Actor, r.PathValue("id"), r.PathValue("test"))
	if err != nil {
		return run.Attachment{}, err
	}
	for _, f := range found {
		if f.ID == r.PathValue("artifact") {
			return f, nil
		}
	}
	return run.Attachment{}, fault.New(fault.NotFound, "The test left no such file behind, or it is too old and was removed.").WithFix("Open the test again: it lists what there is.")
}
