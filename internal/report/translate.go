package report

import (
	"strings"
	"unicode/utf8"

	"tas-service/internal/attempt"
)

// Bounds of what is kept of one error: enough to read, not enough to fill a disk.
const (
	maxMessage = 16 << 10
	maxStack   = 16 << 10
	maxSnippet = 8 << 10
	maxErrors  = 10
	maxTitle   = 2 << 10
)

// Listed answers a listed test as the service takes it.
func (t Test) Listed() attempt.Test {
	out := t.Test
	out.Title = clip(out.Title, maxTitle)
	for _, a := range t.Annotations {
		if a.Type == "owner" {
			out.Owner = clip(a.Description, 200)
		}
	}
	return out
}

// Event answers a testBegin or testEnd message as an event; ok is false for others.
func (m Message) Event() (e attempt.Event, ok bool) {
	switch m.Type {
	case "testBegin":
		return attempt.Event{Begin: &attempt.TestBegin{ID: m.ID, Retry: retry(m.Retry), StartedAt: m.StartedAt}}, true
	case "testEnd":
		end := &attempt.TestEnd{ID: m.ID, Retry: retry(m.Retry), Status: m.Status, ExpectedStatus: m.ExpectedStatus,
			StartedAt: m.StartedAt, DurationMs: int64(m.DurationMs), WillRetry: m.WillRetry, Sabotaged: m.Sabotaged}
		for _, r := range m.Recovered[:min(len(m.Recovered), maxRecovered)] {
			end.Recovered = append(end.Recovered, attempt.Recovered{Method: clip(r.Method, maxShort), Before: clip(r.Before, maxCode), After: clip(r.After, maxCode),
				File: clip(r.File, maxTitle), Line: r.Line, Why: clip(r.Why, maxTitle)})
		}
		for _, err := range m.Errors[:min(len(m.Errors), maxErrors)] {
			end.Errors = append(end.Errors, err.clipped())
		}
		return attempt.Event{End: end}, true
	case "over":
		return attempt.Event{Over: m.IDs}, true
	case "error":
		e := m.Failure()
		return attempt.Event{Error: &e}, true
	default:
		return attempt.Event{}, false
	}
}

// Failure answers an error or failed message as an error.
func (m Message) Failure() attempt.Error {
	e := Error{Message: m.Message, Stack: m.Stack, Snippet: m.Snippet, Location: m.Location}.clipped()
	e.Code = m.Code
	return e
}

// Bounds of a question, and of what came of questions in one try.
const (
	maxRecovered = 3
	maxShort     = 100
	maxFrames    = 50
	maxEarlier   = 200
	maxPage      = 4 << 20 // bytes: 2 MiB of characters
)

// Ask answers a recover message as a question; false for one that is out of bounds.
func (m Message) Ask() (attempt.Ask, bool) {
	a := attempt.Ask{Test: m.Test, Retry: retry(m.Retry), Method: m.Method, Selector: m.Selector, Frames: m.Frames, Earlier: m.Earlier, URL: m.URL, Page: m.Page,
		Failed: m.Refused, Uncaught: m.Uncaught}
	return a, m.Type == "recover" && m.ID != "" && len(m.Page) <= maxPage && len(m.Frames) <= maxFrames && len(m.Earlier) <= maxEarlier && len(m.Refused) <= maxEarlier &&
		max(len(m.ID), len(m.Test), len(m.Method), len(m.Selector), len(m.URL)) <= maxMessage
}

// maxRetries bounds what a stream can make the service store for one test.
const maxRetries = 100

func retry(n int) int { return max(0, min(n, maxRetries)) }

func (e Error) clipped() attempt.Error {
	message := e.Message
	if message == "" {
		message = e.Value
	}
	return attempt.Error{Message: clip(message, maxMessage), Stack: clip(e.Stack, maxStack), Snippet: clip(e.Snippet, maxSnippet), Location: e.Location}
}

// clip cuts a text at a character's edge and says so.
func clip(s string, most int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "\n… (cut)"
}
