// Package forge is where code lives: repositories, their pull requests, what is said about
// them and which commit has which status. It has no idea why a pull request is opened.
//
// Each kind of forge is a package below this one, and all of them pass forgetest's suite.
package forge

import (
	"context"
	"strings"
	"time"
)

// Kind is a kind of forge.
type Kind string

// The kinds.
const (
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
	Gitea  Kind = "gitea" // and Forgejo
	Local  Kind = "local" // a repository beside the service; its pull requests are the service's own records
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{GitHub, GitLab, Gitea, Local} }

// User is somebody at a forge. ID is what stays when the login changes.
type User struct {
	ID    string
	Login string
}

// Is reports whether two are the same somebody: by ID where both have one.
func (u User) Is(other User) bool {
	if u.ID != "" && other.ID != "" {
		return u.ID == other.ID
	}
	return u.Login != "" && strings.EqualFold(u.Login, other.Login)
}

// Repository is a repository at a forge.
type Repository struct {
	Name          string // "owner/repo"; at GitLab with all its groups
	DefaultBranch string
	CloneURL      string // without credentials
	URL           string // its page
	CanPush       bool   // by whoever the service is there
}

// State is where a pull request is.
type State string

// The states.
const (
	Open   State = "open"
	Merged State = "merged"
	Closed State = "closed" // and not merged
)

// Ref is one side of a pull request.
type Ref struct {
	Repo   string // "owner/repo"; of a head "" where the repository is gone
	Branch string
	Commit string // full hash, where the forge tells
}

// PullRequest is a proposal to merge one branch into another. GitLab calls it a merge request.
type PullRequest struct {
	Number    int
	State     State
	Draft     bool
	Title     string
	Body      string
	Head      Ref
	Base      Ref
	Author    User
	URL       string // its page
	CreatedAt time.Time
	UpdatedAt time.Time
	MergedAt  *time.Time
}

// NewPullRequest is what a pull request is opened with. Head and base are branches of the
// same repository.
type NewPullRequest struct {
	Title string
	Body  string
	Head  string
	Base  string
	Draft bool
}

// Edit changes a pull request: what is nil stays as it is.
type Edit struct {
	Title *string
	Body  *string
	Draft *bool
	Close bool // without merging
}

// ChangeKind says what happened to a file.
type ChangeKind string

// The kinds of change.
const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
	Renamed  ChangeKind = "renamed"
)

// Change is one file of a pull request.
type Change struct {
	Path    string
	OldPath string // of Renamed
	Kind    ChangeKind
}

// Comment is something said under a pull request.
type Comment struct {
	ID        string
	Body      string
	Author    User
	URL       string
	CreatedAt time.Time
}

// StatusState is what a commit's status says.
type StatusState string

// The states of a status.
const (
	Pending StatusState = "pending"
	Success StatusState = "success"
	Failure StatusState = "failure"
	Broken  StatusState = "error" // there is no result
)

// Status is what one checker says of a commit. The newest of a context replaces the others.
type Status struct {
	Context     string
	State       StatusState
	Description string // one line; cut to what the forge takes
	URL         string
}

// Reaction is an answer to a comment in one sign.
type Reaction string

// The reactions that every forge has.
const (
	Seen    Reaction = "eyes"
	Agreed  Reaction = "+1"
	Refused Reaction = "-1"
	Puzzled Reaction = "confused"
)

// MaxDiff bounds a diff that is read, in bytes; MaxFiles the changed files that are listed.
const (
	MaxDiff  = 8 << 20
	MaxFiles = 3000
)

// MaxTitle is how many characters the title of a pull request may have at every forge.
const MaxTitle = 240

// MaxBody answers how many characters the body of a pull request or a comment may have.
// What is longer is refused, never cut: whoever writes it knows what to leave out.
func MaxBody(k Kind) int {
	switch k {
	case GitHub:
		return 65_536
	case GitLab:
		return 1_000_000
	default:
		return 262_144 // of Gitea and local: our own bound, far below what a column holds
	}
}

// Forge is one forge as the service's account there sees it. Safe for concurrent use.
//
// Errors: fault.NotFound for what is not there or may not be seen, fault.Unauthenticated
// for credentials that are refused, fault.Forbidden for rights that are too small,
// fault.Invalid for what the forge refuses for good (the message says why), fault.Conflict
// where it exists already, fault.RateLimited with RetryAfter where the forge asks for
// patience, fault.Unavailable where trying again may help. The last two kinds do not say
// that nothing was done: the answer may have been lost. No error holds a token.
type Forge interface {
	// Kind answers which kind of forge it is.
	Kind() Kind
	// WhoAmI answers the service's own account.
	WhoAmI(ctx context.Context) (User, error)
	Repository(ctx context.Context, repo string) (Repository, error)
	// Credentials answers the token that git uses over HTTPS, "" for none. It may be good for
	// minutes only: it is asked for before each use.
	Credentials(ctx context.Context) (string, error)

	PullRequest(ctx context.Context, repo string, number int) (PullRequest, error)
	// FindOpen answers the open pull request from head's branch of head's repository into a
	// base of repo; nil for none. It compares all three itself, whatever the forge filters by.
	FindOpen(ctx context.Context, repo string, head Ref, base string) (*PullRequest, error)
	CreatePullRequest(ctx context.Context, repo string, n NewPullRequest) (PullRequest, error)
	UpdatePullRequest(ctx context.Context, repo string, number int, e Edit) (PullRequest, error)
	// Diff answers the raw unified diff, which begins with "diff --git" or is empty.
	// fault.Invalid for one that is larger than MaxDiff.
	Diff(ctx context.Context, repo string, number int) (string, error)
	// ChangedFiles lists what a pull request changes; more reports that there is more than
	// MaxFiles.
	ChangedFiles(ctx context.Context, repo string, number int) (changes []Change, more bool, err error)

	// Comments lists the comments under a pull request, the oldest first.
	Comments(ctx context.Context, repo string, number int) ([]Comment, error)
	CreateComment(ctx context.Context, repo string, number int, body string) (Comment, error)
	EditComment(ctx context.Context, repo string, number int, id, body string) (Comment, error)
	// React answers a comment with a sign; the same sign again changes nothing.
	React(ctx context.Context, repo string, number int, commentID string, r Reaction) error

	SetStatus(ctx context.Context, repo, commit string, s Status) error
	// MayWrite reports whether somebody may push to a repository.
	MayWrite(ctx context.Context, repo string, u User) (bool, error)
}
