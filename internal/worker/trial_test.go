package worker

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/report"
)

// TestEditsAreTold takes what the runner says of a trial's edits to the service, once, with
// its patch as it is from the repository's root, and nothing that was not asked for.
func TestEditsAreTold(t *testing.T) {
	var told []attempt.Edited
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e attempt.Edited
		if r.URL.Path != attempt.Prefix+attempt.EditsMade || json.NewDecoder(r.Body).Decode(&e) != nil {
			w.WriteHeader(http.StatusTeapot)
		}
		told = append(told, e)
		w.Write([]byte("{}")) //nolint:errcheck // the test sees it
	}))
	defer server.Close()
	trial := &attempt.Trial{Patch: "secret plans", Edits: []attempt.Edit{{Locator: "getByText('x')"}}, Repeat: 2}
	w := &worker{service: newService(server.URL, "t", time.Second), job: attempt.Job{Trial: trial, Repository: attempt.Repository{Dir: "e2e"}}}
	if m := w.startMessage(1, func(p string) string { return p }); m.Trial == nil || m.Trial.Patch != "" || m.Trial.Repeat != 2 || trial.Patch == "" {
		t.Errorf("the runner is told %+v", m.Trial)
	}
	s := &session{w: w}
	m := report.Message{Type: "edited", Patch: "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-x\n+y\n", Edits: []attempt.EditDone{{File: "a.ts", After: "y"}}}
	if err := s.take(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0].Patch, "diff --git a/e2e/a.ts b/e2e/a.ts\n--- a/e2e/a.ts\n") || told[0].Edits[0].After != "y" {
		t.Errorf("%+v", told)
	}
	if err := s.take(t.Context(), m); err == nil {
		t.Error("told twice")
	}
	for _, job := range []attempt.Job{{}, {Trial: &attempt.Trial{}}, {Trial: &attempt.Trial{Repeat: 3}}} {
		if err := (&session{w: &worker{job: job}}).take(t.Context(), m); err == nil {
			t.Error("told without having been asked")
		}
	}
	if len(told) != 1 {
		t.Errorf("%d were sent", len(told))
	}
	w.job.Trial = &attempt.Trial{Rewrites: []attempt.Rewrite{{File: "a.ts", Before: "x", After: "y"}}}
	if m := w.startMessage(1, func(p string) string { return p }); m.Trial == nil || len(m.Trial.Rewrites) != 1 {
		t.Errorf("the runner is told %+v", m.Trial)
	}
	if err := (&session{w: w}).take(t.Context(), m); err != nil || len(told) != 2 {
		t.Errorf("rewrites: %d were sent, %v", len(told), err)
	}
}

// TestWarningsAreBounded keeps some of what a runner warns of.
func TestWarningsAreBounded(t *testing.T) {
	w := &worker{}
	s := &session{w: w}
	for range 1000 {
		if err := s.take(t.Context(), report.Message{Type: "warning", Code: "not-recorded", Message: strings.Repeat("x", 1<<20)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.warns) != maxWarnings || len(w.warns[0].Message) > 1<<16 || w.warns[0].Code != "not-recorded" {
		t.Errorf("%d warnings", len(w.warns))
	}
}
