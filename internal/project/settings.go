package project

import (
	"context"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// Records keeps projects with their keys and environments.
type Records interface {
	Store
	Environments
	Projects(ctx context.Context) ([]Project, error)
	CreateProject(ctx context.Context, p Project) (Project, string, error)
	UpdateProject(ctx context.Context, id string, change func(*Project) error) error
	// CurrentKey answers the API key in clear, and with "" where only its hash was kept.
	CurrentKey(ctx context.Context, projectID string) (account.Key, string, error)
	RotateKey(ctx context.Context, projectID string) (string, error)
}

// Notes keeps what was done.
type Notes interface {
	Note(ctx context.Context, v account.Viewer, act account.Act, projectID, about string) error
}

// Finding is one step of a look at a tests repository.
type Finding struct {
	What string // "the branch", "package.json"
	OK   bool
	Said string // what was found, or what is wrong
	Fix  string
}

// Checker looks at a tests repository as a run would, without running anything. It stops
// at the first thing that keeps the rest from being seen.
type Checker interface {
	CheckRepository(ctx context.Context, projectID string, r Repository) []Finding
}

// Settings is what people change of projects. Safe for concurrent use.
type Settings struct {
	Records Records
	Notes   Notes
	Checker Checker
	// Rotated, when set, hears that an API key stopped being valid.
	Rotated func()
	// Connected, when set, hears that a project has another tests repository, or branch.
	Connected func(ctx context.Context, projectID string) error
}

// Create makes a project, for an administrator of the installation.
func (s *Settings) Create(ctx context.Context, v account.Viewer, p Project) (Project, error) {
	if err := v.MayAdminister(); err != nil {
		return p, err
	}
	p.Name = strings.TrimSpace(p.Name)
	if err := p.Check(); err != nil {
		return p, err
	}
	p, _, err := s.Records.CreateProject(ctx, p)
	if err != nil {
		return p, err
	}
	if p.HasTestsRepo() && s.Connected != nil {
		if err := s.Connected(ctx, p.ID); err != nil {
			return p, err
		}
	}
	return p, s.Notes.Note(ctx, v, account.ActProjectCreated, p.ID, p.Name)
}

// Update changes a project's settings, for its administrators; about says what, for the
// audit log, and has no secrets.
func (s *Settings) Update(ctx context.Context, v account.Viewer, projectID, about string, change func(*Project) error) error {
	if _, err := v.Administers(projectID); err != nil {
		return err
	}
	moved := false
	err := s.Records.UpdateProject(ctx, projectID, func(p *Project) error {
		before, was := p.Repository.URL, p.Repository
		if err := change(p); err != nil {
			return err
		}
		if p.Repository.Local() && p.Repository.URL != before && !v.Person.Administrator {
			return fault.New(fault.Forbidden, "This address is a place on the service's own machine, which only administrators of the installation may choose.").
				WithFix("Give the address of the repository's server, such as https://git.example.com/shop/tests.git.")
		}
		p.Name = strings.TrimSpace(p.Name)
		moved = p.Repository != was && p.HasTestsRepo()
		return p.Check()
	})
	if err == nil && moved && s.Connected != nil {
		err = s.Connected(ctx, projectID)
	}
	if err != nil {
		return err
	}
	return s.Notes.Note(ctx, v, account.ActSettings, projectID, about)
}

// checkFor bounds a look at a tests repository.
const checkFor = 60 * time.Second

// CheckRepository looks at the project's tests repository as it is set now.
func (s *Settings) CheckRepository(ctx context.Context, v account.Viewer, projectID string) ([]Finding, error) {
	if _, err := v.Administers(projectID); err != nil {
		return nil, err
	}
	p, err := s.Records.Project(ctx, projectID)
	if err != nil {
		return nil, err
	}
	if !p.HasTestsRepo() {
		return nil, fault.New(fault.Conflict, "The project has no tests repository yet.").WithFix("Enter its address and save, then check.")
	}
	ctx, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	return s.Checker.CheckRepository(ctx, p.ID, p.Repository), nil
}

// Key answers what is known of the project's API key, without it.
func (s *Settings) Key(ctx context.Context, v account.Viewer, projectID string) (k account.Key, canShow bool, err error) {
	if _, err := v.Administers(projectID); err != nil {
		return k, false, err
	}
	k, plain, err := s.Records.CurrentKey(ctx, projectID)
	return k, plain != "", err
}

// ShowKey answers the project's API key in clear, and notes who saw it.
func (s *Settings) ShowKey(ctx context.Context, v account.Viewer, projectID string) (string, error) {
	if _, err := v.Administers(projectID); err != nil {
		return "", err
	}
	k, plain, err := s.Records.CurrentKey(ctx, projectID)
	if err != nil {
		return "", err
	}
	if plain == "" {
		return "", fault.New(fault.Conflict, "This API key was made when only its hash was kept, so nobody can be shown it.").WithFix("Rotate it: the new one can be shown.")
	}
	return plain, s.Notes.Note(ctx, v, account.ActKeyShown, projectID, "…"+k.Hint)
}

// RotateKey makes a new API key and answers it; the old one stops at once.
func (s *Settings) RotateKey(ctx context.Context, v account.Viewer, projectID string) (string, error) {
	if _, err := v.Administers(projectID); err != nil {
		return "", err
	}
	plain, err := s.Records.RotateKey(ctx, projectID)
	if err != nil {
		return "", err
	}
	if s.Rotated != nil {
		s.Rotated()
	}
	return plain, s.Notes.Note(ctx, v, account.ActKeyRotated, projectID, "now …"+account.Hint(plain))
}

// Environments answers a project's environments, for its members: no secret's value.
func (s *Settings) Environments(ctx context.Context, v account.Viewer, projectID string) ([]Environment, error) {
	if _, err := v.In(projectID); err != nil {
		return nil, err
	}
	return s.Records.Environments(ctx, projectID)
}

// SaveEnvironment adds an environment, or changes one: its name and variables become
// those given, the secrets in set are set and those in drop forgotten.
func (s *Settings) SaveEnvironment(ctx context.Context, v account.Viewer, e Environment, set map[string]string, drop []string) error {
	if _, err := v.Administers(e.ProjectID); err != nil {
		return err
	}
	err := s.Records.UpdateEnvironment(ctx, e.ProjectID, e.ID, func(x *Environment, others int) (map[string]string, error) {
		if e.ID == "" && others >= MaxEnvironments {
			return nil, fault.New(fault.Conflict, "The project has %d environments already, and that is the most.", MaxEnvironments).WithFix("Remove one that is not used.")
		}
		x.Name, x.Variables, x.Secrets = strings.TrimSpace(e.Name), e.Variables, without(x.Secrets, drop)
		return set, x.Check(set)
	})
	if err != nil {
		return err
	}
	if err := s.Notes.Note(ctx, v, account.ActSettings, e.ProjectID, "environment "+e.Name); err != nil {
		return err
	}
	for name := range set {
		if err := s.Notes.Note(ctx, v, account.ActSecretSet, e.ProjectID, e.Name+": "+name); err != nil {
			return err
		}
	}
	for _, name := range drop {
		if err := s.Notes.Note(ctx, v, account.ActSecretRemoved, e.ProjectID, e.Name+": "+name); err != nil {
			return err
		}
	}
	return nil
}

func without(names, drop []string) []string {
	gone := map[string]bool{}
	for _, n := range drop {
		gone[n] = true
	}
	var out []string
	for _, n := range names {
		if !gone[n] {
			out = append(out, n)
		}
	}
	return out
}

// SetDefaultEnvironment makes an environment the one of runs that name none.
func (s *Settings) SetDefaultEnvironment(ctx context.Context, v account.Viewer, projectID, id string) error {
	if _, err := v.Administers(projectID); err != nil {
		return err
	}
	if err := s.Records.SetDefaultEnvironment(ctx, projectID, id); err != nil {
		return err
	}
	return s.Notes.Note(ctx, v, account.ActSettings, projectID, "default environment")
}

// DropEnvironment removes an environment with its secrets; the default one stays.
func (s *Settings) DropEnvironment(ctx context.Context, v account.Viewer, projectID, id string) error {
	if _, err := v.Administers(projectID); err != nil {
		return err
	}
	if err := s.Records.DropEnvironment(ctx, projectID, id); err != nil {
		return err
	}
	return s.Notes.Note(ctx, v, account.ActSettings, projectID, "an environment was removed")
}
