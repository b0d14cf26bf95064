// Package github is a forge at github.com or a GitHub Enterprise server, with a person's
// token or as an installation of a GitHub App.
package github

import (
	"context"
	"crypto/rsa"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	api "github.com/google/go-github/v92/github"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/outbound"
)

const who = "GitHub"

// perPage is the largest page that GitHub serves.
const perPage = 100

// Config is how a GitHub is reached: with Token, or with AppID, InstallationID and PrivateKey.
type Config struct {
	BaseURL string // "https://github.com" where it is empty; else an Enterprise server's address
	Token   string // secret
	// A GitHub App's installation.
	AppID          int64
	InstallationID int64
	PrivateKey     string // secret; PEM, as GitHub gives it
	// HTTP lends its transport and its timeout; nil for outbound's own.
	HTTP *http.Client
	// Clock answers the time; nil for the machine's.
	Clock func() time.Time
}

// Client is a forge.Forge.
type Client struct {
	api   *api.Client
	clock func() time.Time
	graph string // address of the GraphQL API
	app   *app   // nil with a person's token
	token string

	mu sync.Mutex
	me *forge.User // once it is known
}

var _ forge.Forge = (*Client)(nil)

// New checks a Config; it calls nobody.
func New(c Config) (*Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = "https://github.com"
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil {
		return nil, fault.New(fault.Invalid, "The address of GitHub is not an http address without a user.").WithFix("Write it like https://github.example.com.")
	}
	out := &Client{clock: c.Clock, token: c.Token}
	if out.clock == nil {
		out.clock = time.Now
	}
	rest, graph := "https://api.github.com/", "https://api.github.com/graphql"
	if forge.KindOfHost(c.BaseURL) != forge.GitHub {
		root := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(c.BaseURL, "/"), "/api/v3"), "/")
		rest, graph = root+"/api/v3/", root+"/api/graphql"
	}
	out.graph = graph
	isApp := c.AppID != 0 || c.InstallationID != 0 || c.PrivateKey != ""
	var key *rsa.PrivateKey
	switch {
	case isApp && c.Token != "":
		return nil, fault.New(fault.Invalid, "GitHub has both a token and an App.").WithFix("Set one of them.")
	case isApp && (c.AppID <= 0 || c.InstallationID <= 0):
		return nil, fault.New(fault.Invalid, "A GitHub App needs the App's ID and the installation's.").WithFix("Both are numbers, on the App's pages of settings.")
	case isApp:
		if key, err = parseKey(c.PrivateKey); err != nil {
			return nil, err
		}
	case c.Token == "":
		return nil, fault.New(fault.Invalid, "GitHub has neither a token nor an App.").WithFix("Make a fine-grained token with the rights to contents, pull requests, issues and commit statuses.")
	}
	client := outbound.New(outbound.Config{Who: who, HTTP: c.HTTP, Secrets: out.secrets, Explain: out.explain})
	plain, err := build(client, rest)
	if err != nil {
		return nil, err
	}
	if isApp {
		out.app = &app{id: c.AppID, installation: c.InstallationID, key: key, api: plain, clock: out.clock}
	}
	signed := *client
	signed.Transport = &signer{client: out, next: client.Transport}
	out.api, err = build(&signed, rest)
	return out, err
}

// build makes an SDK's client that neither waits nor tries again by itself.
func build(client *http.Client, rest string) (*api.Client, error) {
	c, err := api.NewClient(api.WithHTTPClient(client), api.WithURLs(&rest, &rest), api.WithDisableRateLimitCheck(), api.WithUserAgent("tas"))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The address of GitHub cannot be used.")
	}
	return c, nil
}

// signer gives each request the token of now.
type signer struct {
	client *Client
	next   http.RoundTripper
}

func (s *signer) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := s.client.Credentials(r.Context())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return s.next.RoundTrip(r)
}

func (c *Client) secrets() []string {
	if c.app != nil {
		return []string{c.app.current()}
	}
	return []string{c.token}
}

func (c *Client) explain(status int, header func(string) string, said string) error {
	if status == http.StatusUnauthorized && c.app != nil {
		c.app.forget()
	}
	return forge.Explain(forge.GitHub, status, header, said, c.clock())
}

// Kind answers GitHub.
func (c *Client) Kind() forge.Kind { return forge.GitHub }

// Credentials answers the token, or the installation's token of now.
func (c *Client) Credentials(ctx context.Context) (string, error) {
	if c.app != nil {
		return c.app.token(ctx)
	}
	return c.token, nil
}

// WhoAmI answers the token's person, or the App's bot.
func (c *Client) WhoAmI(ctx context.Context) (forge.User, error) {
	c.mu.Lock()
	known := c.me
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	login := ""
	if c.app != nil {
		slug, err := c.app.slug(ctx)
		if err != nil {
			return forge.User{}, err
		}
		login = slug + "[bot]"
	}
	u, _, err := c.api.Users.Get(ctx, login)
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
	r, _, err := c.api.Repositories.Get(ctx, owner, name)
	if err != nil {
		return forge.Repository{}, outbound.Fault(who, err)
	}
	if r.GetFullName() == "" {
		return forge.Repository{}, unreadable()
	}
	return forge.Repository{Name: r.GetFullName(), DefaultBranch: r.GetDefaultBranch(), CloneURL: r.GetCloneURL(), URL: r.GetHTMLURL(),
		CanPush: r.GetPermissions().GetPush() || c.app != nil && !r.GetArchived()}, nil
}

// MayWrite asks for somebody's permission. An unknown somebody has none; one who took over
// the login of another neither.
func (c *Client) MayWrite(ctx context.Context, repo string, u forge.User) (bool, error) {
	owner, name, err := split(repo)
	if err != nil || u.Login == "" || strings.ContainsAny(u.Login, "/?#%") {
		return false, err
	}
	level, _, err := c.api.Repositories.GetPermissionLevel(ctx, owner, name, u.Login)
	if err != nil {
		if err = outbound.Fault(who, err); fault.KindOf(err) != fault.NotFound {
			return false, err
		}
		// Is it they who are not there, or the repository?
		_, err = c.Repository(ctx, repo)
		return false, err
	}
	if u.ID != "" && !user(level.GetUser()).Is(u) {
		return false, nil
	}
	return level.GetPermission() == "admin" || level.GetPermission() == "write", nil
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
	status := api.RepoStatus{State: new(string(s.State)), Context: new(s.Context), Description: new(forge.Line(s.Description, 140))}
	if s.URL != "" {
		status.TargetURL = &s.URL
	}
	_, _, err = c.api.Repositories.CreateStatus(ctx, owner, name, commit, status)
	return outbound.Fault(who, err)
}

func split(repo string) (owner, name string, err error) {
	if err := forge.CheckRepo(repo); err != nil {
		return "", "", err
	}
	owner, name, _ = strings.Cut(repo, "/")
	if strings.Contains(name, "/") {
		return "", "", fault.New(fault.Invalid, "%.100q is no name of a repository at GitHub.", repo).WithFix("Write it as owner/repository.")
	}
	return owner, name, nil
}

func user(u *api.User) forge.User {
	if u.GetID() == 0 {
		return forge.User{Login: u.GetLogin()}
	}
	return forge.User{ID: strconv.FormatInt(u.GetID(), 10), Login: u.GetLogin()}
}

func unreadable() error {
	return fault.New(fault.Unavailable, "GitHub answered something that cannot be read.").WithFix("Check that its address leads to GitHub itself.")
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
