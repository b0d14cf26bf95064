package run

import (
	"context"
	"time"

	"tas-service/internal/artifact"
	"tas-service/internal/catalog"
	"tas-service/internal/project"
)

// Store keeps runs, results and attempts. Lookups answer fault.NotFound for what is not
// there. Every method is one transaction.
type Store interface {
	// CreateRun saves a new run. With a once that was seen less than OnceFor ago it saves
	// nothing and answers the run that was started then, or fault.Conflict when its
	// fingerprint was another.
	CreateRun(ctx context.Context, r *Run, once *Once) (earlier *Run, err error)
	Run(ctx context.Context, id string) (Run, error)
	RunByName(ctx context.Context, projectID, name string) (Run, error)
	// LatestRun answers the latest terminal run that no person started by hand.
	LatestRun(ctx context.Context, projectID string) (Run, error)
	// Runs answers runs of a project, newest first.
	Runs(ctx context.Context, q Query) ([]Run, error)
	// Shards answers the shards of a sharded run.
	Shards(ctx context.Context, r Run) ([]Shard, error)
	Results(ctx context.Context, q ResultQuery) ([]Result, error)
	HasResult(ctx context.Context, runID, testID string) (bool, error)
	Artifacts(ctx context.Context, runID, testID string) ([]artifact.Artifact, error)
	Looks
	UpdateRun(ctx context.Context, id string, change func(*Run) error) error
	// UnknownTests answers which of ids are no tests of the project.
	UnknownTests(ctx context.Context, projectID string, ids []string) ([]string, error)
}

// Query asks for runs, newest first. Empty filters let everything through.
type Query struct {
	ProjectID string
	Phases    []Phase
	Branch    string
	// Environment, "" for any; Default means the project's default one, under its name or none.
	Environment string
	Default     bool
	Trigger     Trigger
	Text        string  // beginning of the job name, the ID or the commit
	After       *Cursor // the last one of the page before
	Limit       int
}

// Cursor is a place in a list of runs. Runs that come later lie before it, so a list goes
// on where it was.
type Cursor struct {
	CreatedMs int64  `json:"t"`
	ID        string `json:"i"`
}

// ResultQuery asks for results in the order of the listing.
type ResultQuery struct {
	RunID    string
	Statuses []Status // empty: all
	After    int      // Position to start behind; -1 for the beginning
	Limit    int
}

// Service is what callers can do with runs.
type Service struct {
	Store    Store
	Projects project.Store
	// Collections answers a project's collection: fault.NotFound for none.
	Collections interface {
		Collection(ctx context.Context, projectID, id string) (catalog.Collection, error)
	}
	// Environments answers which a project has.
	Environments interface {
		Environments(ctx context.Context, projectID string) ([]project.Environment, error)
	}
	// Pulls answers which repository a pull request of a run can be in; an empty name means
	// the only one. fault.Invalid, with details, for one that the project is not connected to.
	Pulls interface {
		PullRepo(ctx context.Context, p project.Project, name string) (string, error)
	}
	Links    artifact.Links
	Patterns PatternChecker
	Watcher  Watcher
	// Publish, when set, wakes who watches a topic.
	Publish func(topic string)
	Clock   func() time.Time
	// Wake is called after a run was created or changed in a way that needs work.
	Wake func()
	// Started, when set, hears of each new run; it may not be told of one in a crash.
	Started func(ctx context.Context, r Run)
	// PageURL answers where a person sees a run.
	PageURL func(runID string) string
}

// changed tells who watches a run, or the runs of its project.
func (s *Service) changed(r *Run) {
	if s.Publish == nil {
		return
	}
	for _, topic := range Topics(r.ID, r.ProjectID) {
		s.Publish(topic)
	}
}

// Watcher tells when a run has changed.
type Watcher interface {
	Watch(topic string) (changed <-chan struct{}, stop func())
}

// Topic under which changes of a run are published.
func Topic(runID string) string { return "run/" + runID }

// ProjectTopic is where changes of any run of a project are published.
func ProjectTopic(projectID string) string { return "project/" + projectID }

// Topics answers where a change of a run is published.
func Topics(runID, projectID string) []string {
	return []string{Topic(runID), ProjectTopic(projectID)}
}
