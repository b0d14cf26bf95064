package llm_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/llm"
)

// TestExplain tells refusals that may mend from those that do not.
func TestExplain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		after  string
		kind   fault.Kind
		wait   time.Duration
	}{
		{400, "", fault.Invalid, 0}, {401, "", fault.Forbidden, 0}, {402, "", fault.Forbidden, 0}, {403, "", fault.Forbidden, 0}, {404, "", fault.Invalid, 0}, {422, "", fault.Invalid, 0}, {302, "", fault.Invalid, 0},
		{429, "7", fault.Unavailable, 7 * time.Second}, {429, "", fault.Unavailable, 0}, {429, "0.5", fault.Unavailable, time.Second / 2}, {500, "-3", fault.Unavailable, 0}, {503, "1e12", fault.Unavailable, time.Hour},
		{529, "Sat, 21 Nov 2026 10:00:30 GMT", fault.Unavailable, 30 * time.Second}, {529, "Sat, 21 Nov 2026 09:00:00 GMT", fault.Unavailable, 0}, {408, "NaN", fault.Unavailable, 0}, {429, "Inf", fault.Unavailable, time.Hour},
	} {
		e := llm.Explain("The model", c.status, func(string) string { return c.after }, "no.", now)
		if e.Kind != c.kind || e.RetryAfter != c.wait || !strings.HasSuffix(e.Message, ": no.") {
			t.Errorf("%d %q: %s after %s: %s", c.status, c.after, e.Kind, e.RetryAfter, e.Message)
		}
	}
}

// TestPrice counts dollars.
func TestPrice(t *testing.T) {
	t.Parallel()
	p := llm.Price{Input: 3, Output: 15}
	if got := p.Cost(llm.Usage{Input: 1_000_000, Output: 200_000}); math.Abs(got-6) > 1e-9 || !p.Known() || (llm.Price{}).Known() {
		t.Errorf("%v", got)
	}
	r := llm.Request{System: strings.Repeat("x", 300), Messages: []llm.Message{{Text: strings.Repeat("y", 300)}}, MaxTokens: 50}
	if u := r.Estimate(); u.Input != 201 || u.Output != 50 {
		t.Errorf("%+v", u)
	}
}
