// Package pull is how a project takes part in pull requests: it tells a run's result where
// the change is discussed, does what a comment there asks for, opens pull requests of its
// own, and hears of pushes and merges.
package pull

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/catalog"
	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// App is an installation of a GitHub App, by which the service is itself there.
type App struct {
	ID             int64
	InstallationID int64
	Key            string // secret; PEM
}

// Connection is what a project's administrators set of its forge. All of it may be left
// out: the kind, the address and the token are those of the tests repository then.
type Connection struct {
	ProjectID  string
	Kind       forge.Kind
	URL        string // of the forge, with the path below which it is installed
	Token      string // secret
	App        App
	SecretsFor string   // the origin that Token and App were entered for: they are sent to no other
	HookSecret string   // that the forge signs its webhooks with; "" takes none
	Sources    []string // "owner/repo" of the application, at the same forge
	Author     checkout.Person
	Committer  checkout.Person
	SigningKey string // secret; SSH
	Quiet      bool   // results of runs are not told on pull requests
	Deaf       bool   // comments are not obeyed
	ChangedAt  time.Time
}

// The person who commits where a project names nobody.
var (
	defaultName  = "TAS"
	defaultEmail = "tas@localhost"
)

// maxSources bounds the repositories of an application.
const maxSources = 50

// Check says what is wrong with a connection; nil when nothing is. No secret is repeated.
func (c Connection) Check() error {
	bad := fault.New(fault.Invalid, "The connection cannot be kept so.").WithFix("Correct the fields named below.")
	if c.Kind != "" && !slices.Contains(forge.Kinds(), c.Kind) {
		bad.At("kind", "one of github, gitlab, gitea and local")
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			bad.At("url", "the forge's address, such as https://git.example.com, without credentials")
		}
	}
	if len(c.Sources) > maxSources {
		bad.At("sources", "at most %d repositories", maxSources)
	}
	for _, s := range c.Sources {
		if forge.CheckRepo(s) != nil {
			bad.At("sources", "%.80q is no name of a repository: write owner/repository, one in a line", s)
			break
		}
	}
	if a := c.App; (a.ID != 0 || a.InstallationID != 0 || a.Key != "") && (a.ID <= 0 || a.InstallationID <= 0 || a.Key == "") {
		bad.At("app", "a GitHub App takes its ID, the ID of its installation and its private key")
	}
	for at, p := range map[string]checkout.Person{"author": c.Author, "committer": c.Committer} {
		if (p.Name == "") != (p.Email == "") || strings.ContainsAny(p.Name+p.Email, "<>\n\r\x00") || p.Email != "" && !strings.Contains(p.Email, "@") {
			bad.At(at, "a name and an e-mail address, or neither")
		}
	}
	if c.SigningKey != "" && !strings.Contains(c.SigningKey, "PRIVATE KEY-----") {
		bad.At("signingKey", "a private SSH key as ssh-keygen writes it, without passphrase")
	}
	if len(c.HookSecret) > 200 {
		bad.At("hookSecret", "at most 200 characters")
	}
	if len(bad.Details) == 0 {
		return nil
	}
	slices.SortFunc(bad.Details, func(a, b fault.Detail) int { return strings.Compare(a.Path, b.Path) })
	return bad
}

// who answers author and committer, the latter being the former where there is none.
func (c Connection) who() (author, committer checkout.Person) {
	author = c.Author
	if author.Name == "" {
		author = checkout.Person{Name: defaultName, Email: defaultEmail}
	}
	if committer = c.Committer; committer.Name == "" {
		committer = author
	}
	return author, committer
}

// Store keeps connections and what was heard. Connection answers one without anything set
// for a project that set nothing.
type Store interface {
	Connection(ctx context.Context, projectID string) (Connection, error)
	UpdateConnection(ctx context.Context, projectID string, change func(*Connection) error) error
	// TakenDelivery reports whether a webhook was taken before, by its ID or its digest.
	TakenDelivery(ctx context.Context, kind forge.Kind, projectID, delivery string) (bool, error)
	// TakeDelivery notes that one was taken, and forgets those from before a time.
	TakeDelivery(ctx context.Context, kind forge.Kind, projectID, delivery string, at, forget time.Time) error
	// PullRuns answers the runs for a pull request, the newest first.
	PullRuns(ctx context.Context, projectID string, p run.Pull, limit int) ([]run.Run, error)
	// DefaultRunBefore answers the latest run of the default branch that came to a verdict,
	// was started before another, and was of all tests or of the same ones; fault.NotFound
	// for none.
	DefaultRunBefore(ctx context.Context, r run.Run) (run.Run, error)
}

// Dial is what it takes to speak to a forge.
type Dial struct {
	Kind  forge.Kind
	URL   string
	Token string
	App   App
	Path  string // of a local repository
	Repo  string // its name
}

// Projects answers projects.
type Projects interface {
	Project(ctx context.Context, id string) (project.Project, error)
	Projects(ctx context.Context) ([]project.Project, error)
}

// Service takes part in pull requests. Safe for concurrent use.
type Service struct {
	Store    Store
	Projects Projects
	Actions  interface {
		Ask(ctx context.Context, w action.Wish) (action.Action, error)
		Look(ctx context.Context, projectID, id string) (action.Action, error)
	}
	Results Results
	Starter interface {
		Start(ctx context.Context, actor account.Actor, in run.StartInput) (run.Run, error)
	}
	Notes interface {
		Note(ctx context.Context, v account.Viewer, act account.Act, projectID, about string) error
	}
	Refresh interface {
		Ask(ctx context.Context, projectID string) error
	}
	Writes    checkout.Writes
	Receivers map[forge.Kind]forge.Receiver
	// Connect answers a forge; what it answers is kept for the next call of the same Dial.
	Connect func(d Dial) (forge.Forge, error)
	// Heal, when set, starts the healing of a run, once for each key; what comes of it is told
	// at a pull request.
	Heal func(ctx context.Context, actor account.Actor, runID string, at run.Pull, onceKey string) error
	// Merger merges at the local forge.
	Merger Merger
	// Settled hear that a pull request was merged or closed; each may be told again.
	Settled []func(ctx context.Context, projectID, repo string, number int, state forge.State) error
	Log     *slog.Logger
	Clock   func() time.Time
	// Collections answers a project's collection: fault.NotFound for none.
	Collections interface {
		Collection(ctx context.Context, projectID, id string) (catalog.Collection, error)
	}
	Catalog interface {
		CatalogCommit(ctx context.Context, projectID string) (string, error)
	}
	RunURL func(runID string) string
	BugURL func(projectID, key string) string

	mu      sync.Mutex
	seen    map[string]string // by project: the head of a local repository, when Watch last looked
	looking chan struct{}     // a place for each webhook whose project is looked for
}
