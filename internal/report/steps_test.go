package report

import (
	"fmt"
	"slices"
	"testing"

	"tas-service/internal/attempt"
)

func TestSteps(t *testing.T) {
	var s Steps
	step := func(retry, depth int, title, category, words string) {
		m := Message{ID: "a", Retry: retry, Title: title, Depth: depth, Category: category}
		if words != "" {
			m.Failed = &Error{Message: words}
		}
		s.Take(m)
	}
	step(0, 1, "try to close the banner", "pw:api", "no banner") // caught
	step(0, 0, "open", "test.step", "")
	step(0, 2, "click", "pw:api", "timeout")
	step(0, 1, "add to the cart", "test.step", "timeout")
	step(0, 0, "buy", "test.step", "timeout")
	step(0, 0, "page", "fixture", "timeout")
	step(1, 0, "of the retry", "test.step", "timeout")
	end := attempt.TestEnd{ID: "a", Errors: []attempt.Error{{Message: "timeout"}, {Message: "another"}}}
	s.Give(&end)
	if got := end.Errors[0].Steps; !slices.Equal(got, []string{"buy", "add to the cart", "click"}) || end.Errors[1].Steps != nil {
		t.Errorf("%q, %q", got, end.Errors[1].Steps)
	}
	s.Give(&end)
	again := attempt.TestEnd{ID: "a", Retry: 1, Errors: []attempt.Error{{Message: "timeout"}}}
	if s.Give(&again); !slices.Equal(again.Errors[0].Steps, []string{"of the retry"}) || len(s.of) != 0 {
		t.Errorf("%q, %d tries are remembered", again.Errors[0].Steps, len(s.of))
	}
}

// TestStepsAreBounded lets no stream fill the memory.
func TestStepsAreBounded(t *testing.T) {
	var s Steps
	for i := range 3 * maxTries {
		for j := range 3 * maxFailing {
			s.Take(Message{ID: fmt.Sprint(i), Depth: 3*maxFailing - j, Title: "x", Failed: &Error{Message: fmt.Sprint(j)}})
		}
	}
	for range 3 * maxSteps {
		s.Take(Message{ID: "0", Depth: -1, Failed: &Error{Message: "0"}})
	}
	if len(s.of) > maxTries || len(s.of["0 0"]) > maxFailing || len(s.of["0 0"]["0"].titles) > maxSteps {
		t.Errorf("%d tries, %d failures of one", len(s.of), len(s.of["0 0"]))
	}
}
