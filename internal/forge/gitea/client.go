// Package gitea is a forge on a Gitea or a Forgejo server, with an access token.
package gitea

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	api "code.gitea.io/sdk/gitea"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/outbound"
)

const who = "Gitea"

// perPage is what is asked for; servers answer fewer where they are told to.
const perPage = 50

// maxPages bounds a list, for servers that repeat themselves.
const maxPages = 400

// Config is how a server is reached.
type Config struct {
	BaseURL string // its address, with the path below which it is installed
	Token   string // secret
	// HTTP lends its transport and its timeout; nil for outbound's own.
	HTTP *http.Client
	// Clock answers the time; nil for the machine's.
	Clock func() time.Time
}

// Client is a forge.Forge.
type Client struct {
	base  string
	token string
	http  *http.Client
	clock func() time.Time

	mu sync.Mutex
	me *forge.User // once it is known
}

var _ forge.Forge = (*Client)(nil)

// New checks a Config; it calls nobody.
func New(c Config) (*Client, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil {
		return nil, fault.New(fault.Invalid, "The address of Gitea is missing, or is not an http address without a user.").WithFix("Write it like https://git.example.com.")
	}
	if c.Token == "" {
		return nil, fault.New(fault.Invalid, "Gitea has no token.").WithFix("Make an access token with the scopes write:repository, write:issue and read:user.")
	}
	out := &Client{base: strings.TrimSuffix(c.BaseURL, "/"), token: c.Token, clock: c.Clock}
	if out.clock == nil {
		out.clock = time.Now
	}
	out.http = outbound.New(outbound.Config{Who: who, HTTP: c.HTTP, Secrets: func() []string { return []string{c.Token} }, Explain: out.explain})
	return out, nil
}

// call answers an SDK's client for one call: its context is the client's, and without a
// version of the server that is taken for granted it would ask the server first.
func (c *Client) call(ctx context.Context) *api.Client {
	client, err := api.NewClient(c.base, api.SetGiteaVersion(""), api.SetToken(c.token), api.SetHTTPClient(c.http), api.SetContext(ctx), api.SetUserAgent("tas"))
	if err != nil {
		panic("gitea: its SDK calls the server when a client is made: " + outbound.Fault(who, err).Error())
	}
	return client
}

func (c *Client) explain(status int, header func(string) string, said string) error {
	return forge.Explain(forge.Gitea, status, header, said, c.clock())
}

// Kind answers Gitea.
func (c *Client) Kind() forge.Kind { return forge.Gitea }

// Credentials answers the token.
func (c *Client) Credentials(context.Context) (string, error) { return c.token, nil }

// WhoAmI answers the token's account.
func (c *Client) WhoAmI(ctx context.Context) (forge.User, error) {
	c.mu.Lock()
	known := c.me
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	u, _, err := c.call(ctx).GetMyUserInfo()
	if err != nil {
		return forge.User{}, outbound.Fault(who, err)
	}
	me := user(u)
	if me.ID == "" {
		return me, unreadable()
	}
	c.mu.Lock()
	c.me = &me
	c.mu.Unlock()
	return me, nil
}

// Repository answers a repository.
func (c *Client) Repository(ctx context.Context, repo string) (forge.Repository, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Repository{}, err
	}
	r, _, err := c.call(ctx).GetRepo(owner, name)
	if err != nil {
		return forge.Repository{}, outbound.Fault(who, err)
	}
	if r.FullName == "" {
		return forge.Repository{}, unreadable()
	}
	return forge.Repository{Name: r.FullName, DefaultBranch: r.DefaultBranch, CloneURL: r.CloneURL, URL: r.HTMLURL,
		CanPush: r.Permissions != nil && (r.Permissions.Push || r.Permissions.Admin)}, nil
}

// MayWrite asks for somebody's permission.
func (c *Client) MayWrite(ctx context.Context, repo string, u forge.User) (bool, error) {
	owner, name, err := split(repo)
	if err != nil || u.Login == "" {
		return false, err
	}
	p, _, err := c.call(ctx).CollaboratorPermission(owner, name, u.Login)
	if err != nil {
		if err = outbound.Fault(who, err); fault.KindOf(err) != fault.NotFound {
			return false, err
		}
		_, err = c.Repository(ctx, repo)
		return false, err
	}
	if p == nil || u.ID != "" && !user(p.User).Is(u) {
		return false, nil
	}
	return p.Permission == api.AccessModeWrite || p.Permission == api.AccessModeAdmin || p.Permission == api.AccessModeOwner, nil
}

// SetStatus says what a commit is worth.
func (c *Client) SetStatus(ctx context.Context, repo, commit string, s forge.Status) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	if err := forge.CheckStatus(commit, s); err != nil {
		return err
	}
	_, _, err = c.call(ctx).CreateStatus(owner, name, commit, api.CreateStatusOption{State: api.StatusState(s.State), TargetURL: s.URL,
		Description: forge.Line(s.Description, 255), Context: s.Context})
	return outbound.Fault(who, err)
}

func split(repo string) (owner, name string, err error) {
	if err := forge.CheckRepo(repo); err != nil {
		return "", "", err
	}
	owner, name, _ = strings.Cut(repo, "/")
	if strings.Contains(name, "/") {
		return "", "", fault.New(fault.Invalid, "%.100q is no name of a repository at Gitea.", repo).WithFix("Write it as owner/repository; a path below which Gitea is installed belongs to its address.")
	}
	return owner, name, nil
}

func user(u *api.User) forge.User {
	switch {
	case u == nil:
		return forge.User{}
	case u.ID <= 0: // -1 is somebody who was deleted
		return forge.User{Login: u.UserName}
	}
	return forge.User{ID: strconv.FormatInt(u.ID, 10), Login: u.UserName}
}

func unreadable() error {
	return fault.New(fault.Unavailable, "Gitea answered something that cannot be read.").WithFix("Check that its address leads to Gitea itself.")
}
