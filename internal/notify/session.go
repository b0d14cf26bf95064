package notify

import (
	"context"
	"time"
)

// SessionEnded asks for all messages about a session that has ended. Asking twice asks once.
func (s *Service) SessionEnded(ctx context.Context, projectID string, x Session, at time.Time) error {
	ds, err := s.Store.Destinations(ctx, projectID)
	if err != nil || len(ds) == 0 {
		return err
	}
	p, err := s.Projects.Project(ctx, projectID)
	if err != nil {
		return err
	}
	e := Event{ID: eventID(string(SessionFinished), x.ID), Type: SessionFinished, Timestamp: at, Data: Data{Project: Project{p.ID, p.Name}, Session: &x}}
	for _, d := range ds {
		if d.Disabled != "" || d.CreatedAt.After(at) || !d.Filter.wants(e) {
			continue
		}
		if _, err := s.ask(ctx, d, e, ""); err != nil {
			return err
		}
	}
	return nil
}
