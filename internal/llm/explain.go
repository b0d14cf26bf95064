package llm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/fault"
)

// Patience that a refusal may ask for at most.
const maxPatience = time.Hour

// Explain says in our words what a server of models answered with a status of 300 or more. said
// is its own message, cleansed of secrets; header answers a header of the answer.
func Explain(who string, status int, header func(name string) string, said string, now time.Time) *fault.Error {
	say := func(k fault.Kind, what, fix string) *fault.Error {
		message := fmt.Sprintf("%s %s (status %d).", who, what, status)
		if said != "" {
			message = fmt.Sprintf("%s %s (status %d): %s.", who, what, status, strings.TrimRight(said, ". "))
		}
		e := fault.New(k, "%s", message)
		e.Fix = fix
		return e
	}
	switch {
	case status == 401, status == 402, status == 403:
		return say(fault.Forbidden, "does not take the key", "Check TAS_MODEL_KEY, and what the account behind it may use.")
	case status == 404:
		return say(fault.Invalid, "knows no such model, or no such address", "Check TAS_MODEL and TAS_MODEL_URL.")
	case status == 408, status == 425, status == 429, status >= 500:
		e := say(fault.Unavailable, "has no time now", "It is tried again later.")
		e.RetryAfter = patience(header("Retry-After"), now)
		return e
	case status < 400:
		return say(fault.Invalid, "says that it is elsewhere", "Write its own address into TAS_MODEL_URL.")
	default:
		return say(fault.Invalid, "does not take the question", "Check whether TAS_MODEL and TAS_MODEL_URL belong together.")
	}
}

// patience reads how long to wait; 0 where it is not said.
func patience(text string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && n > 0 {
		wait = time.Duration(min(n, maxPatience.Seconds()) * float64(time.Second))
	} else if t, err := time.Parse(time.RFC1123, text); err == nil {
		wait = t.Sub(now)
	}
	return min(max(wait, 0), maxPatience)
}

// Unreadable is the fault of an answer that is none of the protocol's.
func Unreadable(who string) *fault.Error {
	return fault.New(fault.Unavailable, "%s answered something that cannot be read.", who).
		WithFix("Check that TAS_MODEL_URL leads to the model itself, not to a proxy or a sign-in page.")
}
