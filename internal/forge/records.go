package forge

import (
	"context"
	"time"
)

// Record is a pull request of the local forge, which the service keeps itself.
type Record struct {
	PullRequest
	// Of a merged one: Base.Commit is where the base was before it, Head.Commit what was
	// merged, and MergeCommit what the base became.
	MergeCommit string
	MergedBy    User
	// Merging is a merge that was begun and is not known to be done.
	Merging *Merging
}

// Merging is a merge as it was decided, before the branch is moved.
type Merging struct {
	Head   string // commits
	Base   string
	Result string
	By     User
}

// RecordQuery asks for pull requests of one repository, the newest first.
type RecordQuery struct {
	Repo   string
	State  State  // "" for all
	Head   string // branches; "" for all
	Base   string
	Before int // number; 0 begins at the newest
	Limit  int // 0: 100
}

// Mark is somebody's reaction to a comment.
type Mark struct {
	CommentID string
	By        User
	Reaction  Reaction
}

// Records keeps what the local forge knows. Safe for concurrent use, also from several
// services. Errors: fault.NotFound for what is not there, fault.Conflict for a second open
// pull request of the same branches.
type Records interface {
	// OpenPull keeps a new pull request and gives it the repository's next number.
	OpenPull(ctx context.Context, r Record) (Record, error)
	Pull(ctx context.Context, repo string, number int) (Record, error)
	Pulls(ctx context.Context, q RecordQuery) ([]Record, error)
	// UpdatePull changes one while nobody else does.
	UpdatePull(ctx context.Context, repo string, number int, change func(*Record) error) error

	// PullComments answers the comments under a pull request, the oldest first.
	PullComments(ctx context.Context, repo string, number int) ([]Comment, error)
	AddPullComment(ctx context.Context, repo string, number int, c Comment) error
	UpdatePullComment(ctx context.Context, repo string, number int, id string, change func(*Comment) error) error
	// MarkComment keeps a reaction once.
	MarkComment(ctx context.Context, repo string, number int, m Mark) error
	Marks(ctx context.Context, repo string, number int) ([]Mark, error)

	// SaveStatus replaces what a context said of a commit.
	SaveStatus(ctx context.Context, repo, commit string, s Status, at time.Time) error
	// CommitStatuses answers what is said of a commit, by context.
	CommitStatuses(ctx context.Context, repo, commit string) ([]Status, error)
}
