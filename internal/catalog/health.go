package catalog

import "time"

// Outcome is what became of a test in one run, in one Playwright project, as far as its
// health needs to know.
type Outcome struct {
	RunID  string
	At     time.Time
	Commit string
	Result OutcomeKind
	Took   time.Duration
	Outage bool // it failed together with most of its run, over one cause
}

// OutcomeKind is how a test ended.
type OutcomeKind string

// The kinds.
const (
	OutcomePassed OutcomeKind = "passed"
	OutcomeFailed OutcomeKind = "failed"
	OutcomeFlaky  OutcomeKind = "flaky" // failed, then passed on a retry
)

// HealthState sums a test's history up.
type HealthState string

// The states.
const (
	Unknown HealthState = "unknown" // never executed on the default branch
	Healthy HealthState = "healthy"
	Flaky   HealthState = "flaky"  // passes and fails on the same code
	Broken  HealthState = "broken" // fails, and does not pass on the same code
	Outage  HealthState = "outage" // failed last together with most of its run: no word about the test
)

// HealthWindow is how many of a test's latest outcomes its health is made of.
const HealthWindow = 50

// Health is what a test's latest outcomes say.
type Health struct {
	State        HealthState
	Outcomes     int     // that were looked at
	Failures     int     // outages aside
	Flakes       int     // evidence that the test is flaky, see HealthOf
	Outages      int     // failures that were outages
	FlakeRate    float64 // Flakes in Outcomes without outages, from 0 to 1
	FailingSince *time.Time
}

// HealthOf sums outcomes up, which come newest first.
//
// A test is flaky that passes and fails on the same code (Luo et al., An Empirical Analysis
// of Flaky Tests, FSE 2014): every pass on a retry is evidence of it, and every failure on
// a commit on which it also passed. Failures in an outage are evidence of nothing. A test
// whose latest outcomes are failures without a pass on their commit is broken; a single
// one, of a test that is known to be flaky, is not enough to say so.
func HealthOf(outcomes []Outcome) Health {
	h := Health{State: Unknown, Outcomes: len(outcomes)}
	passes := map[string]int{}
	for _, o := range outcomes {
		if o.Result != OutcomeFailed {
			passes[o.Commit]++
		}
	}
	counted, trailing, ended := 0, 0, false
	for _, o := range outcomes {
		if o.Result == OutcomeFailed && o.Outage {
			h.Outages++
			continue
		}
		counted++
		switch {
		case o.Result == OutcomeFlaky:
			h.Flakes++
			ended = true
		case o.Result == OutcomePassed:
			ended = true
		default:
			h.Failures++
			if passes[o.Commit] > 0 {
				h.Flakes++
				ended = true
			} else if !ended {
				trailing++
				h.FailingSince = &o.At
			}
		}
	}
	if counted > 0 {
		h.FlakeRate = float64(h.Flakes) / float64(counted)
	}
	switch {
	case len(outcomes) == 0:
		return h
	case outcomes[0].Outage && outcomes[0].Result == OutcomeFailed:
		h.State = Outage
	case trailing > 1 || trailing == 1 && h.Flakes == 0:
		h.State = Broken
	case h.Flakes > 0:
		h.State = Flaky
	default:
		h.State = Healthy
	}
	if h.State != Broken {
		h.FailingSince = nil
	}
	return h
}
