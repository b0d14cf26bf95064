package dispatch

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tas-service/internal/attempt"
	"tas-service/internal/run"
)

// TestCountsEqualARecount feeds arbitrary events, in any order and with any words, and
// compares the counters that are kept on the way with a count of the results.
func TestCountsEqualARecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &run.Run{Ending: &run.Ending{}}
		results := map[string]*run.Result{}
		for i := range rapid.IntRange(0, 6).Draw(t, "tests") {
			x := &run.Result{PlaywrightID: fmt.Sprint(i), Status: run.StatusPending, Companion: rapid.Bool().Draw(t, "companion")}
			results[x.PlaywrightID] = x
			if x.Counted() {
				r.Total++
			}
		}
		planned := slices.Sorted(maps.Keys(results))
		ids := append(planned, "unplanned")
		words := []string{"passed", "failed", "timedOut", "skipped", "interrupted", "running", "", "nonsense"}
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			id, retry := rapid.SampledFrom(ids).Draw(t, "id"), rapid.IntRange(0, 3).Draw(t, "retry")
			e := attempt.Event{End: &attempt.TestEnd{ID: id, Retry: retry, Status: rapid.SampledFrom(words).Draw(t, "status"),
				ExpectedStatus: rapid.SampledFrom(words).Draw(t, "expected"), WillRetry: rapid.Bool().Draw(t, "again"), StartedAt: time.Now()}}
			if rapid.Bool().Draw(t, "begin") {
				e = attempt.Event{Begin: &attempt.TestBegin{ID: id, Retry: retry, StartedAt: time.Now()}}
			}
			errs := len(r.Ending.Errors)
			apply(&Attempt{}, r, results, e)
			if id == "unplanned" && errs < maxRunErrors && len(r.Ending.Errors) != errs+1 {
				t.Fatal("a test that was not planned went unnoticed")
			}
			var counts run.Counts
			total, executed := 0, 0
			for _, x := range results {
				if x.Counted() {
					total++
					if x.Status.Final() {
						executed++
						counts.Add(x.Status, 1)
					}
				}
			}
			if r.Total != total || r.Executed != executed || r.Counts != counts || counts.Sum() != executed {
				t.Fatalf("kept %d of %d, %+v; counted %d of %d, %+v", r.Executed, r.Total, r.Counts, executed, total, counts)
			}
		}
	})
}

// TestTimeoutTellsWhatWasWaitedFor picks the error that helps.
func TestTimeoutTellsWhatWasWaitedFor(t *testing.T) {
	e := reason(&attempt.TestEnd{Status: "timedOut", Errors: []attempt.Error{{Message: "Test timeout of 30000ms exceeded."}, {Message: "locator.click: waiting for #x"}}})
	if e == nil || e.Code != "timeout" || e.Message != "Test timeout of 30000ms exceeded.\nlocator.click: waiting for #x" {
		t.Errorf("%+v", e)
	}
	if reason(&attempt.TestEnd{Status: "failed"}) != nil {
		t.Error("an error out of nothing")
	}
}
