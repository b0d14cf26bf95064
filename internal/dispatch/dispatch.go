// Package dispatch carries runs out: it decides whose turn it is, starts attempts,
// takes in what they report, notices when one is lost, and has the run judged.
//
// An attempt moves starting → running → finished, and to lost or cancelled from both.
package dispatch

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"tas-service/internal/artifact"
	"tas-service/internal/catalog"
	"tas-service/internal/event"
	"tas-service/internal/executor"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// AttemptState is where an attempt is.
type AttemptState string

// The states. Those from Finished on are final.
const (
	Starting  AttemptState = "starting"  // recorded; its place may or may not have been asked yet
	Active    AttemptState = "running"   // it has claimed its job
	Finished  AttemptState = "finished"  // it said how it ended
	Lost      AttemptState = "lost"      // it vanished
	Cancelled AttemptState = "cancelled" // we ended it
)

// Open reports whether the attempt may still report.
func (s AttemptState) Open() bool { return s == Starting || s == Active }

// AttemptKind is what an attempt is for.
type AttemptKind string

// The kinds.
const (
	ForTests AttemptKind = "tests" // a whole run, or a shard of it
	ForMerge AttemptKind = "merge" // makes one report of the shards' own
)

// Attempt is one try at executing a run, or one of its shards. Its token opens the service for it alone, and
// only while it is open: that fences off a worker that comes back after it was given up.
type Attempt struct {
	ID          string
	RunID       string
	ProjectID   string
	Number      int // 1, 2, … within the run
	Kind        AttemptKind
	Shard       int    // 0 …
	Place       string // the executor that started it
	State       AttemptState
	TokenHash   string
	Seq         int64  // the last batch of events taken in
	Doing       string // what it last said that it was doing
	Reason      string // why it was lost or cancelled
	HeartbeatAt time.Time
	CreatedAt   time.Time
	ClaimedAt   *time.Time
	FinishedAt  *time.Time
	Grants      int64  // the number of the last grant
	Status      string // Playwright's own word, when Finished
	BlobKey     string // where its report lies, "" for none
}

// Store keeps attempts and what belongs to one step together in one transaction. The
// functions that it is given get records that are locked until it ends, and may be called
// again where a database makes it try again. Errors of theirs undo everything.
type Store interface {
	// OpenRuns answers every run that is not terminal, oldest first.
	OpenRuns(ctx context.Context) ([]run.Run, error)
	Run(ctx context.Context, id string) (run.Run, error)
	OpenAttempts(ctx context.Context) ([]Attempt, error)
	// RunAttempts answers every attempt that a run has had, in their order.
	RunAttempts(ctx context.Context, runID string) ([]Attempt, error)
	AttemptByToken(ctx context.Context, hash string) (Attempt, error)
	// CreateAttempt saves a new attempt together with the run's change.
	CreateAttempt(ctx context.Context, a Attempt, change func(*run.Run) error) error
	// UpdateAttempt changes an attempt and its run.
	UpdateAttempt(ctx context.Context, id string, change func(*Attempt, *run.Run) error) error
	UpdateRun(ctx context.Context, id string, change func(*run.Run) error) error
	// Beat notes that an attempt lives, if it is open.
	Beat(ctx context.Context, attemptID string, at time.Time, doing string) (open bool, err error)
	// SyncCatalog changes a project's catalog by a listing made at a commit; one at a time
	// for each project. The catalog is at that commit then, if it is the default branch's.
	SyncCatalog(ctx context.Context, projectID, commit string, ofDefault bool, change func(known []catalog.Test) (save []catalog.Test, err error)) error
	CatalogCommit(ctx context.Context, projectID string) (string, error)
	// Plan saves the results that a run will have, all still open, and its units, with the
	// run's change. When change answers false nothing but the attempt's change is saved.
	Plan(ctx context.Context, attemptID string, results []run.Result, units []Unit, change func(*Attempt, *run.Run) (bool, error)) error
	// Record changes results, by Playwright's ID, with their run and attempt. Units that the
	// attempt holds are done when all their tests have their result.
	Record(ctx context.Context, attemptID string, ids []string, change func(*Attempt, *run.Run, map[string]*run.Result) error) error
	// CloseOpen changes all results of a run that have no final status.
	CloseOpen(ctx context.Context, runID string, change func(r *run.Run, open []*run.Result, failed bool) error) error
	Tally(ctx context.Context, runID string) (run.Tally, error)
	// PlannedResult answers a result of a run by Playwright's ID: fault.NotFound for none.
	PlannedResult(ctx context.Context, runID, playwrightID string) (run.Result, error)
	// Quarantines answers those of a project that are in force at a time.
	Quarantines(ctx context.Context, projectID string, at time.Time) ([]catalog.Quarantine, error)
	AddArtifact(ctx context.Context, attemptID string, a artifact.Artifact, change func(*Attempt, *run.Run) error) error
	Queue
}

// Queue keeps the units of sharded runs.
type Queue interface {
	// PlannedTests answers the serviceTestIds of a run's planned tests by Playwright's ID.
	PlannedTests(ctx context.Context, runID string) (map[string]Planned, error)
	// Lease lets decide see what waits and saves what it grants as held by the attempt.
	Lease(ctx context.Context, attemptID string, offered []string, received int64, decide func(*Attempt, *run.Run, View) ([]Unit, error)) error
	// Release lets change see what an attempt holds and the results of it, and of set-up.
	Release(ctx context.Context, attemptID string, change func(a *Attempt, r *run.Run, held []*Unit, results map[string]*run.Result) error) error
	// Unfinished counts the units of a run that are not over.
	Unfinished(ctx context.Context, runID string) (waiting, held int, err error)
	// LastUnitDone answers when the last unit of a run was done; the zero time for none.
	LastUnitDone(ctx context.Context, runID string) (time.Time, error)
	// Unreported answers results that ended in attempts which left no report.
	Unreported(ctx context.Context, runID string, each func(run.Result) error) error
	Histories(ctx context.Context, projectID string) ([]History, error)
	// LearnDurations brings histories up to date with what passed in a run, once for each run.
	LearnDurations(ctx context.Context, runID string) error
}

// Planned is what a shard needs to know of a test that another one has planned.
type Planned struct {
	TestID    string
	Companion bool
	Setup     bool
}

// Limits bound how much runs at once.
type Limits struct {
	Attempts   int // in all
	PerProject int // for one project; 0: no bound of its own
}

// Timing says when the dispatcher loses patience. Zero values are not usable.
type Timing struct {
	Heartbeat time.Duration // how often a worker is asked to report
	LostAfter time.Duration // silence after which an attempt is given up
	StartBy   time.Duration // how long a started worker may take to claim its job
	Grace     time.Duration // beyond a run's limit, which the worker itself enforces first
	Retry     time.Duration // before a failed start is tried again, times the tries so far
}

// DefaultTiming is what a service uses.
var DefaultTiming = Timing{Heartbeat: 3 * time.Second, LostAfter: 45 * time.Second, StartBy: time.Minute, Grace: 2 * time.Minute, Retry: 2 * time.Second}

// maxStarts is how many attempts may fail to start before the run is given up.
const maxStarts = 3

// Dispatcher carries runs out. Step is for a reconcile.Loop; the other methods answer
// workers. Safe for concurrent use.
type Dispatcher struct {
	Store    Store
	Projects project.Store
	// Environments answers what runs are told; where it is nil, the project does.
	Environments interface {
		Values(ctx context.Context, projectID, name string) (map[string]string, error)
	}
	// Tokens answers by what a tests repository is cloned; where it is nil, the project does.
	Tokens interface {
		GitToken(ctx context.Context, p project.Project) (string, error)
	}
	Executor executor.Executor
	Place    string // of the executor, unlike those of other services
	Blobs    artifact.Blobs
	Hub      *event.Hub
	Log      *slog.Logger
	Limits   Limits
	Timing   Timing
	Server   string // base address for workers
	Clock    func() time.Time
	Wake     func() // asks for a Step
	// Leading, when set, reports whether this service decides for all: the others only look
	// after what their own executors run.
	Leading func() bool
	// Bugs, when set, files what failed before a run is judged, so that whoever sees its end
	// sees its bugs too.
	Bugs interface {
		File(ctx context.Context, runID string) error
	}
	// Evidence, when set, says whether a run should record how its tests pass.
	Evidence interface {
		Wants(ctx context.Context, r run.Run, commit string) bool
	}
	// Recovery, when set, answers locators that find nothing while a run is under way.
	Recovery Recovery
	// Ended, when set, hears of each run that became terminal.
	Ended func(run.Run)

	draining atomic.Bool
	meters   meters
	asks     asks
	// Only Step touches these.
	began       time.Time
	led         bool                 // in the last step
	notBefore   map[string]time.Time // by run: no start before
	closedSince map[string]time.Time // by attempt: reported, and its process still there
	lastStart   map[string]int       // by project: the number of its last start
	starts      int
}

// Drain starts no further attempts from now on: the service is about to stop.
func (d *Dispatcher) Drain() { d.draining.Store(true) }

// changed tells who watches a run, or the runs of its project.
func (d *Dispatcher) changed(runID, projectID string) {
	for _, topic := range run.Topics(runID, projectID) {
		d.Hub.Publish(topic)
	}
}

// lead notes whether this service leads, and since when: silence before that proves
// nothing, since nobody may have been there to hear.
func (d *Dispatcher) lead() bool {
	if d.closedSince == nil {
		d.closedSince = map[string]time.Time{}
		d.notBefore, d.lastStart = map[string]time.Time{}, map[string]int{}
	}
	leads := d.Leading == nil || d.Leading()
	if leads && !d.led {
		d.began = d.Clock()
	}
	d.led = leads
	return leads
}
