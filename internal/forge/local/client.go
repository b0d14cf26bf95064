// Package local is a forge without a server: a repository beside the service, whose pull
// requests are the service's own records. Git is the truth about commits, the records are
// the truth about what was said and decided.
package local

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// Git runs the git binary in a repository of this machine. A status other than 0 is no
// error; said is what git complained of.
type Git interface {
	Git(ctx context.Context, dir string, env []string, stdin string, args ...string) (out, said string, status int, err error)
}

// Self is the service at its own forge.
const Self = "tas"

// Config is what the forge is made of.
type Config struct {
	Records forge.Records
	Git     Git
	// Path answers the folder of a repository, named as "local/<project's slug>";
	// fault.NotFound for an unknown one.
	Path func(ctx context.Context, repo string) (string, error)
	// Page answers the address of a pull request's page in the web app; nil for none.
	Page func(repo string, number int) string
	// MayWrite reports whether somebody of the service may merge; nil for nobody.
	MayWrite func(ctx context.Context, repo string, u forge.User) (bool, error)
	// Clock answers the time; nil for the machine's.
	Clock func() time.Time
}

// Client is a forge.Forge that can merge, too.
type Client struct{ Config }

var _ forge.Forge = (*Client)(nil)

// New checks a Config.
func New(c Config) (*Client, error) {
	if c.Records == nil || c.Git == nil || c.Path == nil {
		return nil, fault.New(fault.Internal, "the local forge lacks its records, its git or its paths")
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Client{c}, nil
}

// Kind answers Local.
func (c *Client) Kind() forge.Kind { return forge.Local }

// Credentials answers none: nothing leaves the machine.
func (c *Client) Credentials(context.Context) (string, error) { return "", nil }

// WhoAmI answers the service.
func (c *Client) WhoAmI(context.Context) (forge.User, error) {
	return forge.User{ID: Self, Login: Self}, nil
}

// MayWrite asks the service's own rules.
func (c *Client) MayWrite(ctx context.Context, repo string, u forge.User) (bool, error) {
	if _, err := c.open(ctx, repo); err != nil {
		return false, err
	}
	if u.ID == Self {
		return true, nil
	}
	if c.Config.MayWrite == nil {
		return false, nil
	}
	return c.Config.MayWrite(ctx, repo, u)
}

// repository is one repository at work.
type repository struct {
	git  Git
	name string
	dir  string
}

func (c *Client) open(ctx context.Context, name string) (repository, error) {
	if err := forge.CheckRepo(name); err != nil {
		return repository{}, err
	}
	dir, err := c.Path(ctx, name)
	if err != nil {
		return repository{}, err
	}
	r := repository{git: c.Git, name: name, dir: dir}
	_, _, status, err := r.git.Git(ctx, dir, nil, "", "rev-parse", "--git-dir")
	if err != nil {
		// The folder itself may not be there.
		return r, fault.Wrap(err, fault.NotFound, "The folder of the repository %s cannot be opened.", name).WithFix("Check the project's repository address and the folder's permissions.")
	}
	if status != 0 {
		return r, fault.New(fault.NotFound, "The folder of the repository %s is no git repository.", name).WithFix("Check the project's repository address.")
	}
	return r, nil
}

// run answers git's output; a status other than 0 is an error.
func (r repository) run(ctx context.Context, args ...string) (string, error) {
	out, said, status, err := r.git.Git(ctx, r.dir, nil, "", args...)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "Git could not work in the repository %s.", r.name)
	}
	if status != 0 {
		return "", fault.New(fault.Unavailable, "Git could not work in the repository %s (%s, status %d): %s", r.name, args[0], status, forge.Line(said, 300))
	}
	return out, nil
}

// head answers the commit of a branch, "" for a branch that is not there.
func (r repository) head(ctx context.Context, branch string) (string, error) {
	out, said, status, err := r.git.Git(ctx, r.dir, nil, "", "rev-parse", "--verify", "--quiet", "--end-of-options", "refs/heads/"+branch+"^{commit}")
	switch {
	case err != nil:
		return "", fault.Wrap(err, fault.Unavailable, "Git could not work in the repository %s.", r.name)
	case status == 0:
		return strings.TrimSpace(out), nil
	case said == "":
		return "", nil
	}
	return "", fault.New(fault.Unavailable, "The branch %q cannot be read: %s", branch, forge.Line(said, 300))
}

// within reports whether a commit is an ancestor of another, or the same.
func (r repository) within(ctx context.Context, commit, of string) (bool, error) {
	if commit == "" || of == "" {
		return false, nil
	}
	_, said, status, err := r.git.Git(ctx, r.dir, nil, "", "merge-base", "--is-ancestor", "--end-of-options", commit, of)
	if err != nil {
		return false, fault.Wrap(err, fault.Unavailable, "Git could not work in the repository %s.", r.name)
	}
	if status > 1 && !strings.Contains(said, "Not a valid commit name") { // it may have been pruned
		return false, fault.New(fault.Unavailable, "Git could not compare commits: %s", forge.Line(said, 300))
	}
	return status == 0, nil
}

// fork answers where two histories part, "" where they have nothing in common.
func (r repository) fork(ctx context.Context, a, b string) (string, error) {
	out, said, status, err := r.git.Git(ctx, r.dir, nil, "", "merge-base", "--end-of-options", a, b)
	if err != nil || status > 1 {
		return "", fault.Wrap(err, fault.Unavailable, "Git could not compare commits: %s", forge.Line(said, 300))
	}
	first, _, _ := strings.Cut(out, "\n")
	return strings.TrimSpace(first), nil
}

// badBranch is what git refuses in a branch's name, and what would name something else.
var badBranch = regexp.MustCompile(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|[/.]$|\.lock$|/\.|\.lock/`)

func checkBranch(name string) error {
	if name == "" || name == "@" || name == "HEAD" || len(name) > 250 || badBranch.MatchString(name) {
		return fault.New(fault.Invalid, "%.100q is no name of a branch.", name)
	}
	return nil
}

// Repository answers a repository; its default branch is the one that HEAD names.
func (c *Client) Repository(ctx context.Context, repo string) (forge.Repository, error) {
	r, err := c.open(ctx, repo)
	if err != nil {
		return forge.Repository{}, err
	}
	out, _, status, err := r.git.Git(ctx, r.dir, nil, "", "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return forge.Repository{}, fault.Wrap(err, fault.Unavailable, "Git could not work in the repository %s.", repo)
	}
	branch := ""
	if status == 0 {
		branch = strings.TrimSpace(out)
	}
	dir, err := filepath.Abs(r.dir)
	return forge.Repository{Name: repo, DefaultBranch: branch, CloneURL: dir, CanPush: true}, err
}

// Comments lists what was said.
func (c *Client) Comments(ctx context.Context, repo string, number int) ([]forge.Comment, error) {
	if _, err := c.Records.Pull(ctx, repo, number); err != nil {
		return nil, err
	}
	return c.Records.PullComments(ctx, repo, number)
}

// CreateComment says something, as the service.
func (c *Client) CreateComment(ctx context.Context, repo string, number int, body string) (forge.Comment, error) {
	me, err := c.WhoAmI(ctx)
	if err != nil {
		return forge.Comment{}, err
	}
	return c.Say(ctx, repo, number, me, body)
}

// Say says something, as somebody of the service.
func (c *Client) Say(ctx context.Context, repo string, number int, by forge.User, body string) (forge.Comment, error) {
	if err := forge.CheckBody(forge.Local, body); err != nil {
		return forge.Comment{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return forge.Comment{}, err
	}
	said := forge.Comment{ID: id.String(), Body: body, Author: by, CreatedAt: c.Clock().UTC().Truncate(time.Millisecond)}
	return said, c.Records.AddPullComment(ctx, repo, number, said)
}

// EditComment says something else, where the service had said it.
func (c *Client) EditComment(ctx context.Context, repo string, number int, id, body string) (forge.Comment, error) {
	if err := forge.CheckBody(forge.Local, body); err != nil {
		return forge.Comment{}, err
	}
	var out forge.Comment
	err := c.Records.UpdatePullComment(ctx, repo, number, id, func(x *forge.Comment) error {
		if x.Author.ID != Self {
			return fault.New(fault.Forbidden, "The comment is somebody else's.")
		}
		x.Body = body
		out = *x
		return nil
	})
	return out, err
}

// React marks a comment once.
func (c *Client) React(ctx context.Context, repo string, number int, commentID string, r forge.Reaction) error {
	if !slices.Contains([]forge.Reaction{forge.Seen, forge.Agreed, forge.Refused, forge.Puzzled}, r) {
		return fault.New(fault.Invalid, "%.40q is no reaction.", r)
	}
	me, err := c.WhoAmI(ctx)
	if err != nil {
		return err
	}
	return c.Records.MarkComment(ctx, repo, number, forge.Mark{CommentID: commentID, By: me, Reaction: r})
}

// SetStatus says what a commit is worth.
func (c *Client) SetStatus(ctx context.Context, repo, commit string, s forge.Status) error {
	if err := forge.CheckStatus(commit, s); err != nil {
		return err
	}
	r, err := c.open(ctx, repo)
	if err != nil {
		return err
	}
	_, _, status, err := r.git.Git(ctx, r.dir, nil, "", "cat-file", "-e", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "Git could not work in the repository %s.", repo)
	}
	if status != 0 {
		return fault.New(fault.NotFound, "The repository %s has no commit %s.", repo, commit)
	}
	s.Description = forge.Line(s.Description, 255)
	return c.Records.SaveStatus(ctx, repo, commit, s, c.Clock())
}

// Statuses answers what is said of a commit.
func (c *Client) Statuses(ctx context.Context, repo, commit string) ([]forge.Status, error) {
	return c.Records.CommitStatuses(ctx, repo, commit)
}

func (c *Client) page(repo string, number int) string {
	if c.Page == nil {
		return fmt.Sprintf("%s#%d", repo, number)
	}
	return c.Page(repo, number)
}
