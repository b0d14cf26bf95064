package run

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/fault"
	"tas-service/internal/project"
)

// Refresh is what is known of bringing a project's catalog up to date without running a
// test: after a push, or when a repository was connected.
type Refresh struct {
	ProjectID string
	Pending   bool      // asked for or under way
	DoneAt    time.Time // of the latest look; the zero time for never
	Commit    string    // that it looked at
	Trouble   *Error    // why it could not be done, or what kept it from being complete
}

// Refreshes keeps wishes for a look at the tests. A look is a run that ends once its
// tests are listed, and then is no more: nobody sees it in a list, and nothing counts it.
type Refreshes interface {
	// AskRefresh notes a wish; several that nothing was begun for are one.
	AskRefresh(ctx context.Context, projectID string, at time.Time) error
	// WantedRefreshes answers the projects with a wish that nothing is under way for.
	WantedRefreshes(ctx context.Context) ([]string, error)
	// BeginRefresh saves the run that looks, unless another one is under way or nobody
	// wants it any more.
	BeginRefresh(ctx context.Context, r *Run) (begun bool, err error)
	Refresh(ctx context.Context, projectID string) (Refresh, error)
}

// Refresher has catalogs brought up to date. Step is for a reconcile.Loop of the service
// that leads.
type Refresher struct {
	Store    Refreshes
	Projects project.Store
	Clock    func() time.Time
	Wake     func() // asks for a Step of the dispatcher
	Again    func() // asks for a Step of this one
}

// Ask wishes for a look at the default branch of a project's tests repository.
func (s *Refresher) Ask(ctx context.Context, projectID string) error {
	if err := s.Store.AskRefresh(ctx, projectID, s.Clock()); err != nil {
		return err
	}
	if s.Again != nil {
		s.Again()
	}
	return nil
}

// Step begins the looks that are wished for.
func (s *Refresher) Step(ctx context.Context) error {
	wanted, err := s.Store.WantedRefreshes(ctx)
	errs := []error{err}
	for _, id := range wanted {
		errs = append(errs, s.begin(ctx, id))
	}
	return errors.Join(errs...)
}

func (s *Refresher) begin(ctx context.Context, projectID string) error {
	p, err := s.Projects.Project(ctx, projectID)
	if err != nil || !p.HasTestsRepo() {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fault.Wrap(err, fault.Internal, "make an ID")
	}
	r := Run{ID: id.String(), ProjectID: p.ID, Name: jobName(p.Slug), Trigger: TriggerRefresh, Phase: Queued, Verdict: Pending,
		Selection: Selection{Kind: SelectNothing}, Branch: p.Repository.Branch, OnDefault: true, Workers: p.Workers, CreatedAt: s.Clock().UTC()}
	begun, err := s.Store.BeginRefresh(ctx, &r)
	if begun && s.Wake != nil {
		s.Wake()
	}
	return err
}
