// Package bug groups failures into bug entities: what failures have in common, how severe
// it is, and what people decided about it.
//
// A bug moves like this; "seen again" is a failure with its signature in a later run:
//
//	            ┌────────────── seen again ──────────────┐
//	            ▼                                        │
//	new ─▶ needs-triage ──▶ confirmed ──▶ fixed ─────────┘
//	         │  ▲  │  │       │   ▲         ▲
//	         │  │  │  └───────┼───┼─────────┤ (fixed without being confirmed)
//	         │  │  ▼          ▼   │         │
//	         │  │ not-bug ◀───┘───┤─────────┘ (and back: not-bug ▶ confirmed, needs-triage)
//	         │  │                 │
//	         ▼  │ over, or seen   │
//	       snoozed ───────────────┘ (also to fixed and not-bug)
package bug

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/fault"
)

// State is what people have decided about a bug.
type State string

// The states.
const (
	NeedsTriage State = "needs-triage"
	Confirmed   State = "confirmed"
	Fixed       State = "fixed"
	NotBug      State = "not-bug"
	Snoozed     State = "snoozed"
)

// States lists every state.
func States() []State { return []State{NeedsTriage, Confirmed, Fixed, NotBug, Snoozed} }

// arrows are the legal moves.
var arrows = map[State][]State{
	NeedsTriage: {Confirmed, Fixed, NotBug, Snoozed},
	Confirmed:   {Fixed, NotBug, Snoozed},
	Fixed:       {NeedsTriage},
	NotBug:      {NeedsTriage, Confirmed},
	Snoozed:     {NeedsTriage, Confirmed, Fixed, NotBug},
}

// Severity is how bad a bug is.
type Severity string

// The severities.
const (
	Critical Severity = "critical"
	Major    Severity = "major"
	Minor    Severity = "minor"
)

// Severities lists every severity, worst first.
func Severities() []Severity { return []Severity{Critical, Major, Minor} }

// Bug is one thing that is wrong, however many tests fail over it.
type Bug struct {
	ID           string
	ProjectID    string
	Number       int // within the project
	Signature    string
	Title        string
	State        State
	Severity     Severity
	Outage       bool // it failed most of a run at once
	Occurrences  int  // failed results that were filed here
	TestIDs      []string
	FirstSeen    time.Time
	LastSeen     time.Time
	FirstRunID   string
	LastRunID    string
	SnoozedUntil *time.Time
	History      []Event // oldest first; only where one bug is read
}

// Event is one thing that happened to a bug's state or severity.
type Event struct {
	At       time.Time `json:"at"`
	From     State     `json:"from,omitempty"` // "" when the bug was new
	To       State     `json:"to"`
	Severity Severity  `json:"severity,omitempty"` // where it was changed
	By       string    `json:"by"`                 // as account.Actor names itself; "service" for what no one decided
	RunID    string    `json:"runId,omitempty"`
	Comment  string    `json:"comment,omitempty"`
}

// keyPrefix begins the key of every bug.
const keyPrefix = "BUG-"

// Key is what people call the bug: BUG-42.
func (b *Bug) Key() string { return keyPrefix + strconv.Itoa(b.Number) }

// NumberOf reads a key: fault.Invalid when it is none.
func NumberOf(key string) (int, error) {
	digits, ok := strings.CutPrefix(strings.ToUpper(key), keyPrefix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "%.40q is no key of a bug.", key).WithFix("Keys look like BUG-42.")
	}
	return n, nil
}

// Move changes the state along a legal arrow and notes it: fault.Conflict when there is
// none. A snooze needs its end.
func (b *Bug) Move(e Event, until *time.Time) error {
	if !slices.Contains(arrows[b.State], e.To) {
		return fault.New(fault.Conflict, "%s is %s, and cannot become %s from there.", b.Key(), b.State, e.To).
			WithFix("From %s it can become %s.", b.State, joined(arrows[b.State]))
	}
	if (e.To == Snoozed) != (until != nil) || until != nil && !until.After(e.At) {
		return fault.New(fault.Invalid, "A bug is snoozed until a time that lies ahead, and only then.").WithFix("Say when it should come back.")
	}
	e.From = b.State
	b.State, b.SnoozedUntil = e.To, until
	b.History = append(b.History, e)
	return nil
}

// See notes that a run met the bug again: a fixed one is open again, with its history, and
// so is one whose snooze is over.
func (b *Bug) See(runID string, failures int, at time.Time) {
	b.Occurrences += failures
	b.LastSeen, b.LastRunID = at, runID
	reopen := ""
	switch {
	case b.State == Fixed:
		reopen = "Seen again after it was fixed."
	case b.State == Snoozed && b.SnoozedUntil != nil && !at.Before(*b.SnoozedUntil):
		reopen = "Seen again after its snooze was over."
	}
	if reopen != "" {
		b.Move(Event{At: at, To: NeedsTriage, By: "service", RunID: runID, Comment: reopen}, nil) //nolint:errcheck // both arrows exist
	}
}

// Rate sets the severity and notes who did.
func (b *Bug) Rate(s Severity, e Event) {
	if b.Severity == s {
		return
	}
	e.From, e.To, e.Severity = b.State, b.State, s
	b.Severity = s
	b.History = append(b.History, e)
}

func joined[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, x := range list {
		names[i] = string(x)
	}
	return strings.Join(names, ", ")
}
