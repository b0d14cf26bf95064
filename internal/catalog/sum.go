package catalog

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// SumQuery asks what became of tests since the day of a time. An empty branch means the
// default one, Every all of them.
type SumQuery struct {
	ProjectID string
	Branch    string
	Every     bool
	Since     time.Time
	TestIDs   []string // nil for all
	Weekly    bool     // of DaySums: by weeks, which begin on Mondays, rather than by days
}

// TestSum is what became of one test.
type TestSum struct {
	TestID                string
	Passed, Failed, Flaky int
	Timed                 int           // how many passed in the end
	Duration              time.Duration // of these, together
}

// N is how many results there are.
func (t TestSum) N() int { return t.Passed + t.Failed + t.Flaky }

// FlakeRate is the part of results that passed on a retry only.
func (t TestSum) FlakeRate() float64 {
	if t.N() == 0 {
		return 0
	}
	return float64(t.Flaky) / float64(t.N())
}

// Mean is how long it takes when it passes.
func (t TestSum) Mean() time.Duration {
	if t.Timed == 0 {
		return 0
	}
	return t.Duration / time.Duration(t.Timed)
}

// DaySum is what became of tests on one day, or in the week that it begins.
type DaySum struct {
	Day                   time.Time
	Passed, Failed, Flaky int
}

// PassRate is the part of results that did not fail, from 0 to 1.
func (d DaySum) PassRate() float64 {
	n := d.Passed + d.Failed + d.Flaky
	if n == 0 {
		return 0
	}
	return float64(d.Passed+d.Flaky) / float64(n)
}

// Sums keeps what became of tests by day.
type Sums interface {
	TestSums(ctx context.Context, q SumQuery) ([]TestSum, error)
	DaySums(ctx context.Context, q SumQuery) ([]DaySum, error)
}

// Flakiest answers the tests that flaked most often for how often they ran.
func Flakiest(sums []TestSum, most int) []TestSum {
	return top(sums, most, func(t TestSum) bool { return t.Flaky > 0 }, func(a, b TestSum) int {
		return cmp.Or(cmp.Compare(b.FlakeRate(), a.FlakeRate()), cmp.Compare(b.Flaky, a.Flaky))
	})
}

// Slowest answers the tests that take longest when they pass.
func Slowest(sums []TestSum, most int) []TestSum {
	return top(sums, most, func(t TestSum) bool { return t.Timed > 0 && t.Duration > 0 }, func(a, b TestSum) int { return cmp.Compare(b.Mean(), a.Mean()) })
}

// Reddest answers the tests that failed most often.
func Reddest(sums []TestSum, most int) []TestSum {
	return top(sums, most, func(t TestSum) bool { return t.Failed > 0 }, func(a, b TestSum) int { return cmp.Compare(b.Failed, a.Failed) })
}

func top(sums []TestSum, most int, keep func(TestSum) bool, order func(a, b TestSum) int) []TestSum {
	var out []TestSum
	for _, t := range sums {
		if keep(t) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b TestSum) int { return cmp.Or(order(a, b), cmp.Compare(a.TestID, b.TestID)) })
	return out[:min(len(out), most)]
}
