package run

import (
	"context"

	"tas-service/internal/attempt"
	"tas-service/internal/fault"
)

// Trial makes of a run a try-out: it executes tests of a commit with changes that nobody has
// pushed. It is in no list, counts for no statistics, files no bugs and tells nobody.
type Trial struct {
	Session string `json:"session"` // that wants to know
	attempt.Trial
}

// TrialInput is what is to be tried out.
type TrialInput struct {
	ID      string // the same ID is the same trial
	Of      Run    // whose environment it is tried in, and whose commit
	Session string
	TestIDs []string
	Trial   attempt.Trial
}

// Try records a trial, which is executed as any run; a trial that there is already is
// answered as it is. It is for the service itself: nobody's permission is asked.
func (s *Service) Try(ctx context.Context, in TrialInput) (Run, error) {
	if r, err := s.Store.Run(ctx, in.ID); fault.KindOf(err) != fault.NotFound {
		return r, err
	}
	p, err := s.Projects.Project(ctx, in.Of.ProjectID)
	if err != nil {
		return Run{}, err
	}
	if in.Of.Commit == "" || len(in.TestIDs) == 0 {
		return Run{}, fault.New(fault.Internal, "a trial needs a commit and tests")
	}
	r := Run{
		ID: in.ID, ProjectID: p.ID, Name: jobName(p.Slug), Trigger: TriggerTrial, Phase: Queued, Verdict: Pending,
		Selection: Selection{Kind: SelectTests, TestIDs: in.TestIDs}, Branch: in.Of.Branch, Commit: in.Of.Commit,
		Environment: in.Of.Environment, EnvOverrides: in.Of.EnvOverrides, Workers: p.Workers,
		Trial: &Trial{Session: in.Session, Trial: in.Trial}, CreatedAt: s.Clock().UTC(),
	}
	if _, err := s.Store.CreateRun(ctx, &r, nil); err != nil {
		if there, again := s.Store.Run(ctx, in.ID); again == nil {
			return there, nil
		}
		return Run{}, err
	}
	s.Wake()
	return r, nil
}

// CancelTrial ends a trial that nobody waits for any more; one that is over is no error.
func (s *Service) CancelTrial(ctx context.Context, id, by string) error {
	err := s.Store.UpdateRun(ctx, id, func(r *Run) error {
		if r.Trial != nil && !r.Terminal() && r.Cancel == nil {
			r.Cancel = &Cancellation{By: by, At: s.Clock().UTC()}
		}
		return nil
	})
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	s.Wake()
	return nil
}
