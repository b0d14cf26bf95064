package bug

import (
	"context"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Store keeps bugs. Lookups answer fault.NotFound for what is not there.
type Store interface {
	// Work gives fn a desk on a run and those of its results that which names; what fn
	// changed there is saved when it answers nil, all of it or nothing.
	Work(ctx context.Context, runID string, which Which, fn func(Desk) error) error
	Bugs(ctx context.Context, q Query) ([]Bug, error)
	// Bug answers one bug with its history.
	Bug(ctx context.Context, projectID string, number int) (Bug, error)
	// UpdateBug changes a bug; TestIDs are saved as they are left.
	UpdateBug(ctx context.Context, projectID string, number int, change func(*Bug) error) error
	// Seen answers how often bugs were seen in runs, the run of the latest first.
	Seen(ctx context.Context, projectID, key string, limit int) ([]Sighting, error)
	// SeenOn answers which of a project's bugs were seen on a branch since a time.
	SeenOn(ctx context.Context, projectID, branch string, since time.Time) (map[string]bool, error)
}

// Which names results of a run: those of some tests, or all that failed and have no bug.
type Which struct {
	TestIDs []string
	Unfiled bool
}

// Desk is what is changed together in one transaction. Nobody else changes the run or
// the project's bugs meanwhile. Results and the run are saved as they are left.
type Desk interface {
	Run() *run.Run
	Results() []*run.Result
	// Executed is how many of the run's tests were executed.
	Executed() (int, error)
	// Find answers the project's bug with a signature, or nil.
	Find(signature string) (*Bug, error)
	// Known answers the signatures of all of the project's bugs.
	Known() (map[string]bool, error)
	// Number answers a bug by its number, or nil.
	Number(n int) (*Bug, error)
	// Open adds a bug and gives it its number.
	Open(b Bug) (*Bug, error)
	// Keep saves a verdict.
	Keep(v Verdict) error
	// Tally counts the run's results anew, with what was changed here.
	Tally() (run.Tally, error)
}

// Query asks for bugs, the newest number first. Empty filters let everything through.
type Query struct {
	ProjectID  string
	States     []State
	Severities []Severity
	TestID     string
	Since      time.Time // seen since then; the zero time for any
	Before     int       // only smaller numbers; 0 for the beginning
	Limit      int
}

// Service is what callers can ask of bugs.
type Service struct {
	Store Store
	Clock func() time.Time
	// Changed is told of a run whose results were judged.
	Changed func(runID, projectID string)
}

// List answers bugs of the actor's project and the number to go on before, 0 at the end.
func (s *Service) List(ctx context.Context, actor account.Actor, q Query) ([]Bug, int, error) {
	want := q.Limit
	q.ProjectID, q.Limit = actor.ProjectID, want+1
	bs, err := s.Store.Bugs(ctx, q)
	if err != nil || len(bs) <= want {
		return bs, 0, err
	}
	return bs[:want], bs[want-1].Number, nil
}

// Get answers a bug with its history.
func (s *Service) Get(ctx context.Context, actor account.Actor, key string) (Bug, error) {
	n, err := NumberOf(key)
	if err != nil {
		return Bug{}, err
	}
	b, err := s.Store.Bug(ctx, actor.ProjectID, n)
	if fault.KindOf(err) == fault.NotFound {
		return Bug{}, actor.May("", "bug")
	}
	return b, err
}

// Move changes what is decided about a bug, along a legal arrow: fault.Conflict otherwise.
// until is when a snooze ends.
func (s *Service) Move(ctx context.Context, actor account.Actor, key string, to State, until *time.Time, comment string) error {
	n, err := NumberOf(key)
	if err != nil {
		return err
	}
	if err := actor.MayAs(account.RoleMember, actor.ProjectID, "bug"); err != nil {
		return err
	}
	if len(comment) > maxComment {
		return fault.New(fault.Invalid, "A comment has at most %d bytes.", maxComment).WithFix("Write less, or link to where it is told.")
	}
	return s.Store.UpdateBug(ctx, actor.ProjectID, n, func(b *Bug) error {
		return b.Move(Event{At: s.Clock(), To: to, By: actor.By(), Comment: comment}, until)
	})
}

// File files what failed in a run under its bugs, once: what has a bug already is left
// alone. Results that no test gave are filed nowhere: they tell of no bug.
func (s *Service) File(ctx context.Context, runID string) error {
	return s.Store.Work(ctx, runID, Which{Unfiled: true}, func(d Desk) error {
		byID := map[string]*run.Result{}
		var failures []Failed
		for _, r := range d.Results() {
			if r.Failing() && r.BugKey == "" && !r.Unaccounted() {
				byID[r.PlaywrightID] = r
				failures = append(failures, failedOf(r))
			}
		}
		if len(failures) == 0 {
			return nil
		}
		executed, err := d.Executed()
		if err != nil {
			return err
		}
		known, err := d.Known()
		if err != nil {
			return err
		}
		for _, g := range Groups(failures, executed, known) {
			b, err := s.find(d, g)
			if err != nil {
				return err
			}
			b.See(runID, len(g.Failures), s.Clock())
			for _, f := range g.Failures {
				byID[f.ID].BugKey = b.Key()
			}
		}
		return nil
	})
}

// find answers the bug of a group, a new one when there is none.
func (s *Service) find(d Desk, g Group) (*Bug, error) {
	b, err := d.Find(g.Signature)
	if err != nil || b != nil {
		return b, err
	}
	now, severity := s.Clock(), Major
	if g.Outage {
		severity = Critical
	}
	return d.Open(Bug{ProjectID: d.Run().ProjectID, Signature: g.Signature, Title: g.Title, State: NeedsTriage, Severity: severity, Outage: g.Outage,
		FirstSeen: now, LastSeen: now, FirstRunID: d.Run().ID, LastRunID: d.Run().ID,
		History: []Event{{At: now, To: NeedsTriage, By: "service", RunID: d.Run().ID}}})
}

func failedOf(r *run.Result) Failed {
	f := Failed{ID: r.PlaywrightID, TestID: r.TestID, Failure: Failure{File: r.File, Title: r.Title}}
	if e := r.Error; e != nil {
		f.Message, f.Stack, f.Snippet = e.Message, e.Stack, e.Snippet
		if e.Location != nil && e.Location.File != "" {
			f.File = e.Location.File
		}
	}
	return f
}
