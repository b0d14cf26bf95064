package run

import (
	"context"
	"slices"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// Looks answers what a person wants to know of a run beside the run itself.
type Looks interface {
	// Branches answers the branches that a project's runs were of, the one of the latest first.
	Branches(ctx context.Context, projectID string, limit int) ([]string, error)
	// RunBefore answers the latest run of the same branch that was started before and came
	// to a verdict.
	RunBefore(ctx context.Context, r Run) (Run, error)
	// Failures groups what failed in a run, or was flaky, by bug, with the first results of each.
	Failures(ctx context.Context, runID string, groups, each int) ([]Failures, error)
	// Changes answers tests that failed in one of two runs, and not in the other, or in both.
	Changes(ctx context.Context, now, before string, limit int) ([]Change, error)
	// Slower answers tests that passed in both runs and took much longer, the worst first.
	Slower(ctx context.Context, now, before string, limit int) ([]Change, error)
	// TestResults answers the results of one test in a run.
	TestResults(ctx context.Context, runID, testID string) ([]Result, error)
	// Past answers what became of a test, the newest run first.
	Past(ctx context.Context, q PastQuery) ([]Past, error)
	// Ends answers how runs ended, the latest first.
	Ends(ctx context.Context, q EndQuery) ([]End, error)
}

// Failures is what of a run has one bug.
type Failures struct {
	Flaky       bool   // passed on a retry: these fail nothing
	BugKey      string // "" for what no test of its own said
	N           int
	Quarantined int
	First       []Result
}

// Change is a test in a run and in the one before it.
type Change struct {
	TestID    string
	Browser   string
	TitlePath []string
	File      string
	Now       Status
	Before    Status // "" when it was not part of that run
	NowIn     time.Duration
	BeforeIn  time.Duration
}

// PastQuery asks for the past of a test in one Playwright project. An empty branch means
// all of them.
type PastQuery struct {
	ProjectID string
	TestID    string
	Browser   string // "" for any
	Branch    string
	UpTo      string // the last run to look at; "" for the newest
	Limit     int
}

// Past is what became of a test in one run.
type Past struct {
	RunID    string
	RunName  string
	Branch   string
	Commit   string
	At       time.Time
	Browser  string
	Status   Status
	Duration time.Duration
	BugKey   string
}

// EndQuery asks how runs ended since a time. An empty branch means the default one, Every
// all of them.
type EndQuery struct {
	ProjectID string
	Branch    string
	Every     bool
	Since     time.Time
	Limit     int
}

// End is how a run ended.
type End struct {
	Branch    string
	Verdict   Verdict
	Phase     Phase
	CreatedAt time.Time
	At        time.Time
}

// Comparison is a run beside the one before it on its branch.
type Comparison struct {
	Before       Run
	NewlyFailing []Change
	StillFailing []Change
	NewlyPassing []Change
	Slower       []Change
	TooLarge     bool // for Slower to be looked for
}

// Bounds of a comparison.
const (
	maxChanges  = 500
	maxSlower   = 10
	slowerUntil = 20_000 // tests of a run
)

// Compare answers what is different since the run before: fault.NotFound where there is
// none.
func (s *Service) Compare(ctx context.Context, r Run) (Comparison, error) {
	before, err := s.Store.RunBefore(ctx, r)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Before: before}
	changes, err := s.Store.Changes(ctx, r.ID, before.ID, maxChanges)
	if err != nil {
		return c, err
	}
	for _, x := range changes {
		now, then := x.Now.Failing(), x.Before.Failing()
		switch {
		case now && then:
			c.StillFailing = append(c.StillFailing, x)
		case now:
			c.NewlyFailing = append(c.NewlyFailing, x)
		case then:
			c.NewlyPassing = append(c.NewlyPassing, x)
		}
	}
	if c.TooLarge = r.Total > slowerUntil; !c.TooLarge && r.Terminal() {
		c.Slower, err = s.Store.Slower(ctx, r.ID, before.ID, maxSlower)
	}
	return c, err
}

// Failures groups what failed in a run by bug, the largest group first.
func (s *Service) Failures(ctx context.Context, r Run, groups, each int) ([]Failures, error) {
	return s.Store.Failures(ctx, r.ID, groups, each)
}

// TestResults answers the results of a test in a run of the actor's project, one for each
// Playwright project that it ran in: fault.NotFound where there is none.
func (s *Service) TestResults(ctx context.Context, actor account.Actor, runID, testID string) (Run, []Result, error) {
	r, err := s.Get(ctx, actor, runID)
	if err != nil {
		return r, nil, err
	}
	xs, err := s.Store.TestResults(ctx, r.ID, testID)
	if err == nil && len(xs) == 0 {
		err = fault.New(fault.NotFound, "There is no such test in this run.").WithFix("Open the run: it lists its tests.")
	}
	return r, xs, err
}

// FirstBad answers the run since which a test has failed without a pass in between, out of
// its past with the newest run first. Without lastGood it may have begun earlier.
func FirstBad(past []Past) (bad *Past, lastGood *Past) {
	for i := range past {
		switch past[i].Status {
		case StatusFailed, StatusBug:
			bad = &past[i]
		case StatusPassed, StatusFlaky, StatusRecovered:
			return bad, &past[i]
		case StatusPending, StatusRunning, StatusSkipped:
		}
	}
	return bad, nil
}

// ToGreen answers how long branches stayed red on average: from the end of the first run
// that failed to the end of the next one that passed. It takes ends with the latest first,
// and answers how often that happened.
func ToGreen(ends []End) (mean time.Duration, n int) {
	red := map[string]time.Time{}
	var total time.Duration
	for _, e := range slices.Backward(ends) {
		since, isRed := red[e.Branch]
		switch {
		case e.Phase == Cancelled:
		case e.Verdict == Fail && !isRed:
			red[e.Branch] = e.At
		case e.Verdict == Pass && isRed:
			total, n = total+e.At.Sub(since), n+1
			delete(red, e.Branch)
		}
	}
	if n == 0 {
		return 0, 0
	}
	return total / time.Duration(n), n
}
