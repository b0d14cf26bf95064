package pull

import (
	"context"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// Merger is what the local forge can do beyond what all forges can, for the pages.
type Merger interface {
	List(ctx context.Context, q forge.RecordQuery) ([]forge.PullRequest, error)
	Record(ctx context.Context, repo string, number int) (forge.Record, error)
	Statuses(ctx context.Context, repo, commit string) ([]forge.Status, error)
	// Merge merges; fault.Conflict where the branches cannot be, or were moved meanwhile.
	Merge(ctx context.Context, repo string, number int, by forge.User, message string) (forge.PullRequest, error)
	Close(ctx context.Context, repo string, number int) (forge.PullRequest, error)
	Say(ctx context.Context, repo string, number int, by forge.User, body string) (forge.Comment, error)
}

// Page is one pull request of the local forge with all that is shown of it.
type Page struct {
	forge.Record
	Diff     string
	DiffErr  error // why there is none
	Comments []forge.Comment
	Statuses []forge.Status
}

// local answers the name of a project's repository at the local forge, for whoever may see
// it in a role.
func (s *Service) local(ctx context.Context, v account.Viewer, projectID string, role account.Role) (Link, account.Actor, error) {
	actor, err := v.In(projectID)
	if err != nil {
		return Link{}, actor, err
	}
	if err := actor.MayAs(role, projectID, "project"); err != nil {
		return Link{}, actor, err
	}
	l, err := s.Link(ctx, projectID)
	if err == nil && l.dial.Kind != forge.Local {
		err = fault.New(fault.NotFound, "This project's pull requests are kept at its forge, not here.").WithFix("Open them there: %s/%s", l.dial.URL, l.Repo)
	}
	return l, actor, err
}

// Pulls lists pull requests of a project's local repository, the newest first.
func (s *Service) Pulls(ctx context.Context, v account.Viewer, projectID string, state forge.State, before, limit int) ([]forge.PullRequest, error) {
	l, _, err := s.local(ctx, v, projectID, account.RoleViewer)
	if err != nil {
		return nil, err
	}
	return s.Merger.List(ctx, forge.RecordQuery{Repo: l.Repo, State: state, Before: before, Limit: limit})
}

// Pull answers one pull request of a project's local repository.
func (s *Service) Pull(ctx context.Context, v account.Viewer, projectID string, number int) (p Page, err error) {
	l, _, err := s.local(ctx, v, projectID, account.RoleViewer)
	if err != nil {
		return p, err
	}
	if p.Record, err = s.Merger.Record(ctx, l.Repo, number); err != nil {
		return p, err
	}
	if p.Comments, err = l.Forge.Comments(ctx, l.Repo, number); err != nil {
		return p, err
	}
	if p.Statuses, err = s.Merger.Statuses(ctx, l.Repo, p.Head.Commit); err != nil {
		return p, err
	}
	p.Diff, p.DiffErr = l.Forge.Diff(ctx, l.Repo, number)
	return p, nil
}

// userOf answers a person as the local forge knows them.
func userOf(v account.Viewer) forge.User {
	return forge.User{ID: v.Person.ID, Login: v.Person.Name}
}

// Merge merges a pull request of a project's local repository, for its members. What was
// merged is looked at before the next run.
func (s *Service) Merge(ctx context.Context, v account.Viewer, projectID string, number int) error {
	l, _, err := s.local(ctx, v, projectID, account.RoleMember)
	if err != nil {
		return err
	}
	p, err := s.Merger.Merge(ctx, l.Repo, number, userOf(v), "")
	if err != nil {
		return err
	}
	if err := s.Notes.Note(ctx, v, account.ActMerged, projectID, target(l.Repo, number)); err != nil {
		return err
	}
	if err := s.settled(ctx, projectID, l.Repo, number, p.State); err != nil {
		return err
	}
	return s.Refresh.Ask(ctx, projectID)
}

// Close closes a pull request of a project's local repository without merging it.
func (s *Service) Close(ctx context.Context, v account.Viewer, projectID string, number int) error {
	l, _, err := s.local(ctx, v, projectID, account.RoleMember)
	if err != nil {
		return err
	}
	p, err := s.Merger.Close(ctx, l.Repo, number)
	if err != nil {
		return err
	}
	if err := s.Notes.Note(ctx, v, account.ActClosed, projectID, target(l.Repo, number)); err != nil {
		return err
	}
	return s.settled(ctx, projectID, l.Repo, number, p.State)
}

// Say adds a person's comment. One that asks for something is obeyed as at any forge.
func (s *Service) Say(ctx context.Context, v account.Viewer, projectID string, number int, body string) error {
	l, _, err := s.local(ctx, v, projectID, account.RoleMember)
	if err != nil {
		return err
	}
	c, err := s.Merger.Say(ctx, l.Repo, number, userOf(v), body)
	if err != nil {
		return err
	}
	return s.hear(ctx, l, forge.Event{Kind: forge.EventComment, Repo: l.Repo, Number: number, Comment: c, Sender: c.Author})
}
