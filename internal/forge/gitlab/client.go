// Package gitlab is a forge at gitlab.com or a GitLab of one's own, with a person's, a
// project's or a group's access token.
package gitlab

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	api "gitlab.com/gitlab-org/api/client-go/v2"
	"golang.org/x/time/rate"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/outbound"
)

const who = "GitLab"

// perPage is the largest page that GitLab serves.
const perPage = 100

// Config is how a GitLab is reached.
type Config struct {
	BaseURL string // "https://gitlab.com" where it is empty
	Token   string // secret
	// HTTP lends its transport and its timeout; nil for outbound's own.
	HTTP *http.Client
	// Clock answers the time; nil for the machine's.
	Clock func() time.Time
}

// Client is a forge.Forge.
type Client struct {
	api   *api.Client
	token string
	clock func() time.Time

	mu    sync.Mutex
	me    *forge.User      // once it is known
	names map[int64]string // paths of projects by their number, for the while of this client
}

var _ forge.Forge = (*Client)(nil)

// New checks a Config; it calls nobody.
func New(c Config) (*Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = "https://gitlab.com"
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil {
		return nil, fault.New(fault.Invalid, "The address of GitLab is not an http address without a user.").WithFix("Write it like https://gitlab.example.com.")
	}
	if c.Token == "" {
		return nil, fault.New(fault.Invalid, "GitLab has no token.").WithFix("Make a project access token with the role Developer and the scopes api and write_repository.")
	}
	out := &Client{token: c.Token, clock: c.Clock, names: map[int64]string{}}
	if out.clock == nil {
		out.clock = time.Now
	}
	client := outbound.New(outbound.Config{Who: who, HTTP: c.HTTP, Secrets: func() []string { return []string{c.Token} }, Explain: out.explain})
	// The SDK would try again, wait by itself, and ask for the limits before the first call.
	out.api, err = api.NewClient(c.Token, api.WithBaseURL(c.BaseURL), api.WithHTTPClient(client), api.WithoutRetries(),
		api.WithCustomLimiter(rate.NewLimiter(rate.Inf, 1)), api.WithUserAgent("tas"))
	if err != nil {
		return nil, fault.New(fault.Invalid, "The address of GitLab cannot be used.")
	}
	return out, nil
}

func (c *Client) explain(status int, header func(string) string, said string) error {
	return forge.Explain(forge.GitLab, status, header, said, c.clock())
}

// Kind answers GitLab.
func (c *Client) Kind() forge.Kind { return forge.GitLab }

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
	u, _, err := c.api.Users.CurrentUser(api.WithContext(ctx))
	if err != nil {
		return forge.User{}, outbound.Fault(who, err)
	}
	if u.ID == 0 {
		return forge.User{}, unreadable()
	}
	me := forge.User{ID: itoa(u.ID), Login: u.Username}
	c.mu.Lock()
	c.me = &me
	c.mu.Unlock()
	return me, nil
}

// Repository answers a project.
func (c *Client) Repository(ctx context.Context, repo string) (forge.Repository, error) {
	p, err := c.project(ctx, repo)
	if err != nil {
		return forge.Repository{}, err
	}
	out := forge.Repository{Name: p.PathWithNamespace, DefaultBranch: p.DefaultBranch, CloneURL: p.HTTPURLToRepo, URL: p.WebURL}
	if x := p.Permissions; x != nil {
		out.CanPush = x.ProjectAccess != nil && x.ProjectAccess.AccessLevel >= api.DeveloperPermissions ||
			x.GroupAccess != nil && x.GroupAccess.AccessLevel >= api.DeveloperPermissions
	}
	return out, nil
}

func (c *Client) project(ctx context.Context, repo string) (*api.Project, error) {
	if err := forge.CheckRepo(repo); err != nil {
		return nil, err
	}
	p, _, err := c.api.Projects.GetProject(repo, nil, api.WithContext(ctx))
	if err != nil {
		return nil, outbound.Fault(who, err)
	}
	if p.ID == 0 || p.PathWithNamespace == "" {
		return nil, unreadable()
	}
	c.mu.Lock()
	c.names[p.ID] = p.PathWithNamespace
	c.mu.Unlock()
	return p, nil
}

// nameOf answers the path of a project by its number, "" where it is gone or hidden.
func (c *Client) nameOf(ctx context.Context, id int64) (string, error) {
	if id == 0 {
		return "", nil
	}
	c.mu.Lock()
	name, ok := c.names[id]
	c.mu.Unlock()
	if ok {
		return name, nil
	}
	p, _, err := c.api.Projects.GetProject(id, nil, api.WithContext(ctx))
	if err != nil {
		if err = outbound.Fault(who, err); fault.KindOf(err) == fault.NotFound {
			return "", nil
		}
		return "", err
	}
	c.mu.Lock()
	c.names[id] = p.PathWithNamespace
	c.mu.Unlock()
	return p.PathWithNamespace, nil
}

// MayWrite asks for somebody's role: Developer and above may push.
func (c *Client) MayWrite(ctx context.Context, repo string, u forge.User) (bool, error) {
	if err := forge.CheckRepo(repo); err != nil {
		return false, err
	}
	id, err := strconv.ParseInt(u.ID, 10, 64)
	if u.ID == "" && u.Login != "" {
		list, _, lerr := c.api.Users.ListUsers(&api.ListUsersOptions{Username: &u.Login}, api.WithContext(ctx))
		if lerr != nil {
			return false, outbound.Fault(who, lerr)
		}
		for _, x := range list {
			if strings.EqualFold(x.Username, u.Login) {
				id, err = x.ID, nil
			}
		}
	}
	if err != nil || id <= 0 {
		return false, nil //nolint:nilerr // nobody of this GitLab has such a number
	}
	m, _, err := c.api.ProjectMembers.GetInheritedProjectMember(repo, id, api.WithContext(ctx))
	if err != nil {
		if err = outbound.Fault(who, err); fault.KindOf(err) != fault.NotFound {
			return false, err
		}
		// Is it they who are no member, or the project that is not there?
		_, err = c.project(ctx, repo)
		return false, err
	}
	active := m.State == "" || m.State == "active"
	return active && m.AccessLevel >= api.DeveloperPermissions, nil
}

// states are our words in GitLab's.
var states = map[forge.StatusState]api.BuildStateValue{forge.Pending: api.Pending, forge.Success: api.Success, forge.Failure: api.Failed, forge.Broken: api.Failed}

// SetStatus says what a commit is worth. GitLab refuses to say again that it is pending.
func (c *Client) SetStatus(ctx context.Context, repo, commit string, s forge.Status) error {
	if err := forge.CheckRepo(repo); err != nil {
		return err
	}
	if err := forge.CheckStatus(commit, s); err != nil {
		return err
	}
	o := &api.SetCommitStatusOptions{State: states[s.State], Name: &s.Context, Description: api.Ptr(forge.Line(s.Description, 255))}
	if s.URL != "" {
		o.TargetURL = &s.URL
	}
	_, _, err := c.api.Commits.SetCommitStatus(repo, commit, o, api.WithContext(ctx))
	err = outbound.Fault(who, err)
	if f := fault.As(err); f != nil && f.Kind == fault.Invalid && s.State == forge.Pending && strings.Contains(f.Message, "from :pending") {
		return nil
	}
	return err
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func unreadable() error {
	return fault.New(fault.Unavailable, "GitLab answered something that cannot be read.").WithFix("Check that its address leads to GitLab itself.")
}
