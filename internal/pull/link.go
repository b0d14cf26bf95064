package pull

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"tas-service/internal/account"
	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/project"
)

// Link is a project's way to its forge.
type Link struct {
	Forge      forge.Forge
	Project    project.Project
	Connection Connection
	Repo       string // the tests repository, as the forge names it
	dial       Dial
}

// at names the forge among all forges.
func (l Link) at() string { return string(l.dial.Kind) + " " + l.dial.URL }

// Repos answers the repositories whose pull requests the project takes part in.
func (l Link) Repos() []string { return append([]string{l.Repo}, l.Connection.Sources...) }

// knows answers the name of a repository as it was set, whose spelling at a forge does not
// mind letter case; false for none of the project's.
func (l Link) knows(name string) (string, bool) {
	repos := l.Repos()
	i := slices.IndexFunc(repos, func(r string) bool { return strings.EqualFold(r, name) })
	if i < 0 {
		return "", false
	}
	return repos[i], true
}

// Link answers a project's way to its forge. fault.Conflict where there is none.
func (s *Service) Link(ctx context.Context, projectID string) (Link, error) {
	p, err := s.Projects.Project(ctx, projectID)
	if err != nil {
		return Link{}, err
	}
	return s.link(ctx, p)
}

func (s *Service) link(ctx context.Context, p project.Project) (Link, error) {
	l, err := s.way(ctx, p)
	if err != nil {
		return l, err
	}
	l.Forge, err = s.Connect(l.dial)
	return l, err
}

// way is link without a client: nobody is to be spoken to.
func (s *Service) way(ctx context.Context, p project.Project) (Link, error) {
	c, err := s.Store.Connection(ctx, p.ID)
	if err != nil {
		return Link{}, err
	}
	l := Link{Project: p, Connection: c}
	l.dial, l.Repo, err = dialOf(p, c)
	return l, err
}

// noForge is the code of the error that a project is not connected to any.
const noForge = "no-forge"

// dialOf completes what was set by what the tests repository's address says.
func dialOf(p project.Project, c Connection) (d Dial, repo string, err error) {
	none := func(why, fix string) error {
		return fault.New(fault.Conflict, "The project is not connected to a forge: %s", why).WithCode(noForge).WithFix("%s", fix)
	}
	r := p.Repository
	switch {
	case !p.HasTestsRepo():
		return d, "", none("it has no tests repository.", "Connect one in the project's settings.")
	case r.Local() || c.Kind == forge.Local:
		if !r.Local() {
			return d, "", none("its tests repository is not on the service's own machine, so the local forge cannot keep its pull requests.", "Choose the forge that the repository is at, in the settings of pull requests.")
		}
		repo = LocalRepo(p)
		return Dial{Kind: forge.Local, Path: r.URL, Repo: repo}, repo, nil
	}
	base, repo, err := forge.ParseRemote(r.URL)
	if err != nil {
		return d, "", none("its tests repository's address does not lead to one.", "Write it as https://host/owner/repository.git or git@host:owner/repository.git.")
	}
	d = Dial{Kind: cmp.Or(c.Kind, forge.KindOfHost(base)), URL: cmp.Or(strings.TrimSuffix(c.URL, "/"), base)}
	if d.Kind == "" {
		return d, "", none("it is not known which kind of forge "+base+" is.", "Choose it in the settings of pull requests.")
	}
	// A secret is for one forge, and whoever changes an address need not know the secret.
	own := maySend(c.SecretsFor, d.URL)
	if own {
		d.Token, d.App = c.Token, c.App
	}
	if d.Token == "" && d.App == (App{}) && maySend(base, d.URL) {
		d.Token = r.Token
	}
	if d.Token == "" && d.App.ID == 0 {
		switch {
		case !own && (c.Token != "" || c.App.ID != 0):
			return d, "", none("what was entered for "+cmp.Or(c.SecretsFor, "another forge")+" is not sent to "+originOf(d.URL)+".", "Enter a token of that one in the settings of pull requests.")
		case r.Token != "":
			return d, "", none("the tests repository's token is for "+originOf(base)+", and is not sent to "+originOf(d.URL)+".", "Enter a token of that one in the settings of pull requests.")
		}
		return d, "", none("there is no token for it.", "Enter one in the settings of pull requests, or with the tests repository.")
	}
	return d, forge.Below(d.URL, repo), nil
}

// originOf answers the scheme and the host of an address, with its port where it is not the
// usual one; "" for one that has none. GitHub's names are one.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[scheme])
	if forge.KindOfHost(host) == forge.GitHub {
		host = "github.com"
	}
	return scheme + "://" + host
}

// maySend reports whether what was entered for one address may be sent to another: to the
// same host, and not in clear where it was not before.
func maySend(entered, to string) bool {
	from, to := originOf(entered), originOf(to)
	return from != "" && (from == to || "https"+strings.TrimPrefix(from, "http") == to)
}

// LocalRepo names a project's repository at the local forge.
func LocalRepo(p project.Project) string { return "local/" + p.Slug }

// Source answers the tests repository for git, with a token that is good now.
func (l Link) Source(ctx context.Context) (checkout.Source, error) {
	r := l.Project.Repository
	src := checkout.Source{Key: l.Project.ID, URL: r.URL, Token: r.Token}
	if !r.Local() && !maySend(l.dial.URL, r.URL) {
		return src, nil // over ssh, or at a host that the forge's token is not for
	}
	if token, err := l.Forge.Credentials(ctx); err != nil || token != "" {
		src.Token = token
		return src, err
	}
	return src, nil
}

// GitToken answers the token by which workers clone a project's repository: the one set
// with it, or one of the App's. It is asked for with each attempt.
func (s *Service) GitToken(ctx context.Context, p project.Project) (string, error) {
	if p.Repository.Token != "" || p.Repository.Local() {
		return p.Repository.Token, nil
	}
	l, err := s.link(ctx, p)
	if f := fault.As(err); f != nil && f.Code == noForge {
		return "", nil // a public repository, or one over ssh
	}
	if err != nil {
		return "", err
	}
	src, err := l.Source(ctx)
	return src.Token, err
}

// PullRepo answers which repository a pull request of a project's runs is in.
func (s *Service) PullRepo(ctx context.Context, p project.Project, name string) (string, error) {
	bad := fault.New(fault.Invalid, "The pull request cannot be reached.").WithFix("Correct the fields named in errors.")
	l, err := s.link(ctx, p)
	if f := fault.As(err); f != nil && f.Code == noForge {
		return "", bad.At("body.prNumber", "%s %s", f.Message, f.Fix)
	}
	if err != nil {
		return "", err
	}
	repos := l.Repos()
	switch known, ok := l.knows(name); {
	case ok:
		return known, nil
	case name == "" && len(l.Connection.Sources) <= 1:
		return repos[len(repos)-1], nil // the application's, or the tests repository itself
	case name == "":
		return "", bad.At("body.repoName", "say which repository the pull request is in: %s", strings.Join(repos, ", "))
	}
	return "", bad.At("body.repoName", "%.80q is no repository of this project: it has %s; more are added in the settings of pull requests", name, strings.Join(repos, ", "))
}

// Connection answers what is set of a project's forge, without its secrets, which are
// replaced by a sign that there is one; for administrators.
func (s *Service) Connection(ctx context.Context, v account.Viewer, projectID string) (Connection, error) {
	if _, err := v.Administers(projectID); err != nil {
		return Connection{}, err
	}
	c, err := s.Store.Connection(ctx, projectID)
	for _, secret := range []*string{&c.Token, &c.App.Key, &c.SigningKey, &c.HookSecret} {
		if *secret != "" {
			*secret = Set
		}
	}
	return c, err
}

// Set stands for a secret that there is.
const Set = "(set)"

// Update changes a project's connection, for its administrators.
func (s *Service) Update(ctx context.Context, v account.Viewer, projectID string, change func(*Connection) error) error {
	if _, err := v.Administers(projectID); err != nil {
		return err
	}
	p, err := s.Projects.Project(ctx, projectID)
	if err != nil {
		return err
	}
	err = s.Store.UpdateConnection(ctx, projectID, func(c *Connection) error {
		was := *c
		if err := change(c); err != nil {
			return err
		}
		c.ProjectID, c.ChangedAt = projectID, s.Clock().UTC()
		to := c.URL
		if to == "" {
			to, _, _ = forge.ParseRemote(p.Repository.URL) // none is for nobody
		}
		if !maySend(was.SecretsFor, to) || was.Kind != c.Kind && was.Kind != "" {
			// A secret is for one forge: whoever enters another one's address must not send it there.
			if c.Token == was.Token {
				c.Token = ""
			}
			if c.App.Key == was.App.Key {
				c.App = App{}
			}
		}
		c.SecretsFor = originOf(to)
		return c.Check()
	})
	if err != nil {
		return err
	}
	return s.Notes.Note(ctx, v, account.ActSettings, projectID, "pull requests")
}

// CheckConnection looks whether the forge answers and what the service may do there, for
// administrators. It stops at the first thing that hides the rest.
func (s *Service) CheckConnection(ctx context.Context, v account.Viewer, projectID string) (out []project.Finding, err error) {
	if _, err := v.Administers(projectID); err != nil {
		return nil, err
	}
	fine := func(what, said string) { out = append(out, project.Finding{What: what, OK: true, Said: said}) }
	wrong := func(what string, err error) {
		f := fault.As(err)
		if f == nil {
			f = fault.New(fault.Unavailable, "This could not be found out now.").WithFix("Try again.")
		}
		out = append(out, project.Finding{What: what, Said: f.Message, Fix: f.Fix})
	}
	l, err := s.Link(ctx, projectID)
	if err != nil {
		wrong("forge", err)
		return out, nil
	}
	fine("forge", string(l.dial.Kind)+cmp.Or(" at "+l.dial.URL, ""))
	me, err := l.Forge.WhoAmI(ctx)
	if err != nil {
		wrong("account", err)
		return out, nil
	}
	fine("account", "The service is "+me.Login+" there.")
	for _, name := range l.Repos() {
		r, err := l.Forge.Repository(ctx, name)
		switch {
		case err != nil:
			wrong(name, err)
		case name == l.Repo && !r.CanPush:
			wrong(name, fault.New(fault.Forbidden, "The service may not push there.").WithFix("Give its account the right to write, so that it can open pull requests."))
		case name == l.Repo:
			fine(name, "The service may read and push.")
		default:
			fine(name, "The service may read it.")
		}
	}
	switch {
	case l.dial.Kind == forge.Local:
	case l.Connection.HookSecret == "":
		out = append(out, project.Finding{What: "webhooks", Said: "No secret is set, so none is taken.", Fix: "Set one below and enter it at the forge."})
	default:
		fine("webhooks", "A secret is set. Whether they arrive shows when the forge sends one.")
	}
	return out, nil
}
