package forge

import (
	"strconv"
	"strings"
	"time"

	"tas-service/internal/fault"
)

// Longest patience that a forge's answer may ask for, and the one taken where it asks
// without saying for how long.
const (
	MaxPatience     = time.Hour
	defaultPatience = time.Minute
)

// names are how people call the kinds.
func (k Kind) name() string {
	switch k {
	case GitHub:
		return "GitHub"
	case GitLab:
		return "GitLab"
	case Gitea:
		return "Gitea"
	default:
		return "The forge"
	}
}

// Explain says in our words what a forge answered with a status of 300 or more. said is the
// forge's own message, cleansed of secrets; header answers a header of the answer.
func Explain(kind Kind, status int, header func(name string) string, said string, now time.Time) *fault.Error {
	who := kind.name()
	say := func(k fault.Kind, what, fix string) *fault.Error {
		message := who + " " + what + "."
		if said != "" {
			message = who + " " + what + ": " + strings.TrimRight(said, ". ") + "."
		}
		e := fault.New(k, "%s", message)
		e.Fix = fix
		return e
	}
	low := strings.ToLower(said)
	switch {
	case status == 429, status == 403 && limited(header, low):
		e := say(fault.RateLimited, "asks for patience", "It is tried again later.")
		e.RetryAfter = patience(header, now)
		return e
	case status == 401:
		return say(fault.Unauthenticated, "refuses the token", "Give the project a token that is valid.")
	case status == 403, status == 423:
		return say(fault.Forbidden, "does not allow it", "Give the service's account the right to write to the repository and its pull requests.")
	case status == 404, status == 410:
		return say(fault.NotFound, "knows no such thing, or does not show it to the service's account", "Check the name of the repository and what the account may see.")
	case status == 409, status == 422 && strings.Contains(low, "already exists"):
		return say(fault.Conflict, "has it already, or it changed meanwhile", "")
	case status == 408, status == 425, status >= 500:
		e := say(fault.Unavailable, "fails with status "+strconv.Itoa(status), "It is tried again later.")
		if header("Retry-After") != "" {
			e.RetryAfter = patience(header, now)
		}
		return e
	case status < 400:
		return say(fault.Invalid, "says that it is elsewhere now", "Write the repository's new address into the project.")
	default:
		return say(fault.Invalid, "refuses it (status "+strconv.Itoa(status)+")", "")
	}
}

// limited tells a refusal for being too quick from one for lack of rights: GitHub gives both
// the same status.
func limited(header func(string) string, low string) bool {
	return header("Retry-After") != "" || header("X-RateLimit-Remaining") == "0" || strings.Contains(low, "rate limit") || strings.Contains(low, "abuse detection")
}

// patience reads how long to wait, at least a second.
func patience(header func(string) string, now time.Time) time.Duration {
	wait := defaultPatience
	if s := header("Retry-After"); s != "" {
		if n, err := strconv.Atoi(s); err == nil {
			wait = time.Duration(min(max(n, 0), int(MaxPatience/time.Second))) * time.Second
		} else if t, err := time.Parse(time.RFC1123, s); err == nil {
			wait = t.Sub(now)
		}
	} else {
		for _, name := range []string{"X-RateLimit-Reset", "RateLimit-Reset"} {
			if n, err := strconv.ParseInt(header(name), 10, 64); err == nil && n > 0 && n < 1<<40 {
				wait = time.Unix(n, 0).Sub(now)
				break
			}
		}
	}
	return min(max(wait, time.Second), MaxPatience)
}
