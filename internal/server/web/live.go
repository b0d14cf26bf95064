package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tas-service/internal/run"
)

// Times of a stream of events.
const (
	gather   = 700 * time.Millisecond // changes that come together are told once
	stillOn  = 20 * time.Second       // a word so that nobody in between hangs up
	streamed = 10 * time.Minute       // then the browser asks anew
)

// stream tells a browser what next answers, until it answers false or the browser is gone.
func stream(w http.ResponseWriter, r *http.Request, next func(ctx context.Context) (event string, on bool)) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	c := http.NewResponseController(w)
	ctx, cancel := context.WithTimeout(r.Context(), streamed)
	defer cancel()
	tell := func(text string) bool {
		_, err := fmt.Fprint(w, text)
		return err == nil && c.Flush() == nil
	}
	for on := tell(": here\nretry: 2000\n\n"); on; {
		var event string
		event, on = next(ctx)
		text := ": still on\n\n"
		if event != "" {
			text = "event: " + event + "\ndata: \n\n"
		}
		if ctx.Err() != nil || !tell(text) {
			return nil
		}
	}
	return nil
}

// runEvents tells when a run has changed, and when it is over.
func (a *App) runEvents(w http.ResponseWriter, r *http.Request, v *visit) error {
	x, err := a.Runs.Get(r.Context(), v.Actor, r.PathValue("id"))
	if err != nil {
		return err
	}
	changed, stop := a.Runs.Watcher.Watch(run.Topic(x.ID))
	defer stop()
	before := stateOf(x)
	return stream(w, r, func(ctx context.Context) (string, bool) {
		// What happened between the page and now is told at once.
		if now, err := a.Runs.Get(ctx, v.Actor, x.ID); err == nil {
			if now.Terminal() {
				return "over", false
			}
			if s := stateOf(now); s != before {
				before = s
				return "changed", true
			}
		}
		select {
		case <-ctx.Done():
			return "", false
		case <-time.After(stillOn):
			return "", true
		case <-changed:
			select {
			case <-ctx.Done():
			case <-time.After(gather):
			}
			return "", true
		}
	})
}

func stateOf(x run.Run) string {
	return fmt.Sprint(x.ID, x.Phase, x.Verdict, x.Executed, x.Counts, x.Total, len(x.Warnings), x.Cancel != nil)
}

// runsEvents tells when the first page of a project's runs has changed.
func (a *App) runsEvents(w http.ResponseWriter, r *http.Request, v *visit) error {
	look := func(ctx context.Context) (string, error) {
		rs, _, err := a.Runs.List(ctx, v.Actor, run.Query{Limit: runsShown})
		var b strings.Builder
		for _, x := range rs {
			b.WriteString(stateOf(x))
		}
		return b.String(), err
	}
	changed, stop := a.Runs.Watcher.Watch(run.ProjectTopic(v.Project.ID))
	defer stop()
	before, err := look(r.Context())
	if err != nil {
		return err
	}
	return stream(w, r, func(ctx context.Context) (string, bool) {
		select {
		case <-ctx.Done():
			return "", false
		case <-time.After(stillOn): // a change that was not heard of is seen now
		case <-changed:
			select {
			case <-ctx.Done():
			case <-time.After(gather):
			}
		}
		if now, err := look(ctx); err == nil && now != before {
			before = now
			return "changed", true
		}
		return "", true
	})
}
