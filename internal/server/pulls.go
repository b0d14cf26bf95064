package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/checkout/git"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/forge/gitea"
	"tas-service/internal/forge/github"
	"tas-service/internal/forge/gitlab"
	"tas-service/internal/forge/local"
	"tas-service/internal/project"
	"tas-service/internal/pull"
	"tas-service/internal/reconcile"
	"tas-service/internal/run"
	"tas-service/internal/server/web"
	"tas-service/internal/store"
)

// forges makes clients of forges and keeps them, since some hold a token for a while.
type forges struct {
	local *local.Client
	mu    sync.Mutex
	kept  map[[sha256.Size]byte]forge.Forge
}

// maxKept bounds the clients that are kept; beyond it all are made anew.
const maxKept = 500

func (f *forges) connect(d pull.Dial) (forge.Forge, error) {
	if d.Kind == forge.Local {
		return f.local, nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "name a forge")
	}
	key := sha256.Sum256(text)
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.kept[key]; ok {
		return known, nil
	}
	made, err := dial(d)
	if err != nil {
		return nil, err
	}
	if f.kept == nil || len(f.kept) >= maxKept {
		f.kept = map[[sha256.Size]byte]forge.Forge{}
	}
	f.kept[key] = made
	return made, nil
}

func dial(d pull.Dial) (forge.Forge, error) {
	switch d.Kind {
	case forge.GitHub:
		return github.New(github.Config{BaseURL: d.URL, Token: d.Token, AppID: d.App.ID, InstallationID: d.App.InstallationID, PrivateKey: d.App.Key})
	case forge.GitLab:
		return gitlab.New(gitlab.Config{BaseURL: d.URL, Token: d.Token})
	case forge.Gitea:
		return gitea.New(gitea.Config{BaseURL: d.URL, Token: d.Token})
	case forge.Local:
	}
	return nil, fault.New(fault.Invalid, "%.20q is no kind of forge.", d.Kind).WithFix("Choose github, gitlab, gitea or local.")
}

// beside are the repositories beside the service, as the local forge sees them.
type beside struct {
	db     *store.DB
	people *account.People
	appURL string
}

func (b beside) project(ctx context.Context, repo string) (project.Project, error) {
	slug, ok := strings.CutPrefix(repo, "local/")
	if !ok {
		return project.Project{}, fault.New(fault.NotFound, "There is no local repository %.80q.", repo)
	}
	return b.db.ProjectBySlug(ctx, slug)
}

// path answers the folder of a project's tests repository.
func (b beside) path(ctx context.Context, repo string) (string, error) {
	p, err := b.project(ctx, repo)
	if err != nil {
		return "", err
	}
	if !p.Repository.Local() {
		return "", fault.New(fault.NotFound, "The tests repository of %s is not on this machine.", p.Name)
	}
	if u, err := url.Parse(p.Repository.URL); err == nil && strings.EqualFold(u.Scheme, "file") {
		return filepath.FromSlash(u.Path), nil
	}
	return filepath.Abs(p.Repository.URL)
}

func (b beside) page(repo string, number int) string {
	return fmt.Sprintf("%s/projects/%s/pulls/%d", b.appURL, strings.TrimPrefix(repo, "local/"), number)
}

// mayWrite goes by the roles of the project's people.
func (b beside) mayWrite(ctx context.Context, repo string, u forge.User) (bool, error) {
	p, err := b.project(ctx, repo)
	if err != nil {
		return false, err
	}
	v, err := b.people.As(ctx, u.ID)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return false, nil
		}
		return false, err
	}
	actor, err := v.In(p.ID)
	return err == nil && actor.MayAs(account.RoleMember, p.ID, "project") == nil, nil
}

// wirePulls connects how projects take part in pull requests, and who brings their catalogs
// up to date.
func (s *Server) wirePulls(runs *run.Service, metrics *metrics) (*pull.Service, *run.Refresher, error) {
	b := beside{db: s.db, people: s.people, appURL: s.cfg.AppURL}
	own, err := local.New(local.Config{Records: s.db, Git: git.Plain{}, Path: b.path, Page: b.page, MayWrite: b.mayWrite})
	if err != nil {
		return nil, nil, err
	}
	s.refresh = &reconcile.Loop{Name: "refresh", Every: s.cfg.Watch, Log: s.log, Failed: metrics.stepFailed}
	refresher := &run.Refresher{Store: s.db, Projects: s.db, Clock: time.Now, Wake: s.loop.Wake, Again: s.refresh.Wake}
	pulls := &pull.Service{Store: s.db, Projects: s.db, Results: s.db, Collections: runs.Collections, Catalog: s.db, Notes: s.people, Actions: s.actions, Starter: runs, Refresh: refresher,
		Writes:    s.cfg.mirrors(),
		Receivers: map[forge.Kind]forge.Receiver{forge.GitHub: github.Receiver{}, forge.GitLab: gitlab.Receiver{}, forge.Gitea: gitea.Receiver{}},
		Connect:   (&forges{local: own}).connect, Merger: own, Log: s.log, Clock: time.Now, RunURL: web.RunURL(s.cfg.AppURL), BugURL: web.BugKeyURL(s.cfg.AppURL)}
	s.refresh.Step = func(ctx context.Context) error {
		if !s.election.Leading() {
			return nil
		}
		return errors.Join(pulls.Watch(ctx), refresher.Step(ctx))
	}
	maps.Copy(s.actions.Doers, pulls.Doers())
	s.announcer.Listeners = append(s.announcer.Listeners, pulls.RunEnded)
	s.dispatch.Tokens, runs.Pulls = pulls, pulls
	runs.Started = func(ctx context.Context, r run.Run) {
		if err := pulls.RunStarted(ctx, r); err != nil {
			s.log.Warn("the pull request is not told that a run began", "run", r.ID, "error", err)
		}
	}
	s.pulls = pulls
	return pulls, refresher, nil
}
