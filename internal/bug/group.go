package bug

import "strings"

// Failed is one failed result that is to be filed.
type Failed struct {
	ID     string // tells results of the run apart
	TestID string
	Failure
}

// Group is failures of one run that have one bug.
type Group struct {
	Signature string // of the bug
	Title     string
	Outage    bool
	Failures  []Failed
}

// When most of a run fails at once, one thing is behind it.
const (
	outageShare = 0.5 // of the executed tests
	outageFrom  = 10  // a run with fewer executed tests is too small to tell
)

// Groups sorts a run's failures by bug, in the order in which they came. executed is how
// many tests the run executed; known tells which signatures have a bug already.
//
// Where at least half of the tests of a run failed they are one outage, but for those that
// have a bug of their own from before: those would have failed anyway. An outage is known
// by the failure that most have, so that the same one, next week, is the same bug.
func Groups(failures []Failed, executed int, known map[string]bool) []Group {
	var groups []Group
	index := map[string]int{}
	add := func(signature, title string, outage bool, f Failed) {
		i, ok := index[signature]
		if !ok {
			i = len(groups)
			index[signature] = i
			groups = append(groups, Group{Signature: signature, Title: title, Outage: outage})
		}
		groups[i].Failures = append(groups[i].Failures, f)
	}
	signatures := make([]Signature, len(failures))
	fresh, n := make([]bool, len(failures)), 0
	for i, f := range failures {
		signatures[i] = SignatureOf(f.Failure)
		if !known[signatures[i].Key()] {
			fresh[i] = true
			n++
		}
	}
	outage := executed >= outageFrom && float64(n) >= outageShare*float64(executed)
	var cause Signature
	if outage {
		cause = commonest(signatures, fresh)
	}
	for i, f := range failures {
		if outage && fresh[i] {
			add(outagePrefix+cause.Key(), "Outage: "+title(cause), true, f)
			continue
		}
		add(signatures[i].Key(), title(signatures[i]), false, f)
	}
	return groups
}

// outagePrefix keeps an outage apart from a single failure with the same text.
const outagePrefix = "outage-"

// commonest answers the signature that most failures have, without what is only one
// test's. Of equally frequent ones the first by its text, so that the answer is one.
func commonest(signatures []Signature, of []bool) Signature {
	count := map[Signature]int{}
	for i, s := range signatures {
		if of[i] {
			count[general(s)]++
		}
	}
	var best Signature
	for s, n := range count {
		if n > count[best] || n == count[best] && s.String() < best.String() {
			best = s
		}
	}
	return best
}

// general leaves the subject and the place out, except where the subject is a host: what
// an outage does to each test is different.
func general(s Signature) Signature {
	if s.Kind == "network" {
		return Signature{Kind: s.Kind, What: s.What, Subject: s.Subject}
	}
	return Signature{Kind: s.Kind, What: s.What, Detail: s.Detail}
}

// title says in a line what is wrong.
func title(s Signature) string {
	at := ""
	if s.Place != "" {
		at = " in " + s.Place
	}
	on := ""
	if s.Subject != "" {
		on = " on " + s.Subject
	}
	var t string
	switch s.Kind {
	case "network":
		t = s.What + at
		if s.Subject != "" {
			t = s.Subject + " cannot be reached: " + t
		}
	case "strict":
		t = s.Subject + " fits several elements" + at
	case "expect", "snapshot":
		t = s.What + on + detail(s) + at
	case "timeout":
		if s.What == covered {
			t = s.Subject + " covers what is to be used"
			break
		}
		t = strings.TrimSpace(s.What+" timed out") + on + detail(s) + at
	default:
		t = s.What + on + detail(s) + at
	}
	return shorten(inOneLine(t))
}

func detail(s Signature) string {
	if s.Detail == "" {
		return ""
	}
	return " (" + s.Detail + ")"
}
