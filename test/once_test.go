package test

import (
	"net/http"
	"sync"
	"testing"

	"tas-service/test/harness"
)

// TestIdempotencyKey starts one run for a call that arrives several times, at once too.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{})
	const path = "/public-api/v2/execution/grep"
	ask := map[string]any{"grep": "adds"}
	ids := make([]string, 8)
	var wait sync.WaitGroup
	for i := range ids {
		wait.Go(func() {
			a := s.Call(t, http.MethodPost, path, ask, "Idempotency-Key", "job-1")
			if a.Status != http.StatusCreated || a.Header.Get("Location") == "" {
				t.Errorf("call %d: %d %s", i, a.Status, a.Text)
				return
			}
			ids[i] = a.Body["runId"].(string)
		})
	}
	wait.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("two runs were started: %s and %s", ids[0], id)
		}
	}
	if a := s.Call(t, http.MethodPost, path, map[string]any{"grep": "other"}, "Idempotency-Key", "job-1"); a.Status != http.StatusConflict {
		t.Errorf("the key with another body: %d %s", a.Status, a.Text)
	}
	if a := s.Call(t, http.MethodPost, path, ask, "Idempotency-Key", "job-2"); a.Status != http.StatusCreated || a.Body["runId"] == ids[0] {
		t.Errorf("another key: %d %s", a.Status, a.Text)
	}
}
