package bug

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tas-service/internal/fault"
)

// TestMoves refuses every move that the package's picture does not draw.
func TestMoves(t *testing.T) {
	drawn := map[State][]State{
		NeedsTriage: {Confirmed, Fixed, NotBug, Snoozed},
		Confirmed:   {Fixed, NotBug, Snoozed},
		Fixed:       {NeedsTriage},
		NotBug:      {NeedsTriage, Confirmed},
		Snoozed:     {NeedsTriage, Confirmed, Fixed, NotBug},
	}
	now := time.Now()
	for _, from := range States() {
		for _, to := range append(States(), "nonsense", "") {
			var until *time.Time
			if to == Snoozed {
				later := now.Add(time.Hour)
				until = &later
			}
			b := Bug{Number: 7, State: from}
			err := b.Move(Event{At: now, To: to, By: "key:1", Comment: "c"}, until)
			legal := slices.Contains(drawn[from], to)
			switch {
			case legal != (err == nil):
				t.Errorf("%s → %s: %v", from, to, err)
			case legal && (b.State != to || len(b.History) != 1 || b.History[0].From != from || b.History[0].By != "key:1" || (b.SnoozedUntil != nil) != (to == Snoozed)):
				t.Errorf("%s → %s: %+v", from, to, b)
			case !legal && (b.State != from || len(b.History) != 0 || fault.KindOf(err) != fault.Conflict):
				t.Errorf("%s → %s was refused and done all the same: %+v, %v", from, to, b, err)
			}
		}
	}
	past := now.Add(-time.Second)
	for name, until := range map[string]*time.Time{"no end": nil, "an end that is over": &past} {
		b := Bug{State: NeedsTriage}
		if err := b.Move(Event{At: now, To: Snoozed}, until); fault.KindOf(err) != fault.Invalid || b.State != NeedsTriage {
			t.Errorf("a snooze with %s: %v", name, err)
		}
	}
}

// TestSeenAgain opens what was fixed and what was snoozed until now, and nothing else.
func TestSeenAgain(t *testing.T) {
	now := time.Now()
	past, future := now.Add(-time.Minute), now.Add(time.Minute)
	for _, c := range []struct {
		state State
		until *time.Time
		want  State
	}{{NeedsTriage, nil, NeedsTriage}, {Confirmed, nil, Confirmed}, {Fixed, nil, NeedsTriage}, {NotBug, nil, NotBug}, {Snoozed, &future, Snoozed}, {Snoozed, &past, NeedsTriage}} {
		b := Bug{State: c.state, SnoozedUntil: c.until, Occurrences: 2, History: []Event{{To: c.state}}}
		b.See("run-2", 3, now)
		if b.State != c.want || b.Occurrences != 5 || b.LastRunID != "run-2" || !b.LastSeen.Equal(now) {
			t.Errorf("%s: %+v", c.state, b)
		}
		if reopened := c.state != c.want; reopened != (len(b.History) == 2) || reopened && (b.History[1].RunID != "run-2" || b.History[1].From != c.state) {
			t.Errorf("%s: history %+v", c.state, b.History)
		}
	}
}

func refused(n int) Failed {
	return Failed{ID: fmt.Sprint("p", n), TestID: fmt.Sprint("t", n), Failure: Failure{Title: fmt.Sprint("test ", n), File: fmt.Sprintf("tests/f%d.spec.ts", n),
		Message: fmt.Sprintf("Error: locator.click: Test timeout of 30000ms exceeded.\nCall log:\n  - waiting for getByRole('button', { name: 'Action %c' })\n", 'A'+n%26)}}
}

// TestOutage makes one entity of what fails most of a run, and leaves known bugs theirs.
func TestOutage(t *testing.T) {
	var many []Failed
	for n := range 12 {
		many = append(many, refused(n))
	}
	groups := Groups(many, 20, nil)
	if len(groups) != 1 || !groups[0].Outage || len(groups[0].Failures) != 12 || !strings.HasPrefix(groups[0].Title, "Outage: ") {
		t.Errorf("12 of 20: %+v", groups)
	}
	again := Groups(slices.Concat(many[3:], many[:3]), 18, map[string]bool{groups[0].Signature: true})
	if len(again) != 1 || again[0].Signature != groups[0].Signature {
		t.Errorf("the same outage is another one: %+v", again)
	}
	known := SignatureOf(many[4].Failure).Key()
	groups = Groups(many, 20, map[string]bool{known: true})
	if len(groups) != 2 || groups[1].Signature != known || groups[1].Outage || len(groups[0].Failures) != 11 {
		t.Errorf("with a known bug: %+v", groups)
	}
	for name, c := range map[string]struct{ failures, executed int }{"a minority": {9, 20}, "a small run": {8, 8}} {
		groups := Groups(many[:c.failures], c.executed, nil)
		if len(groups) != c.failures || groups[0].Outage {
			t.Errorf("%s: %d groups", name, len(groups))
		}
	}
}

// TestNumberOf reads keys, and nothing else.
func TestNumberOf(t *testing.T) {
	for key, want := range map[string]int{"BUG-1": 1, "bug-42": 42, "BUG-0": 0, "BUG--1": 0, "BUG-": 0, "42": 0, "BUG-1x": 0, "": 0} {
		n, err := NumberOf(key)
		if (err == nil) != (want > 0) || want > 0 && n != want {
			t.Errorf("%q: %d, %v", key, n, err)
		}
	}
}
