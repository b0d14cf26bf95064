package pull

import (
	"context"
	"errors"

	"tas-service/internal/checkout"
)

// Watch looks whether somebody pushed to a repository beside the service, which has nobody
// to send webhooks; then the catalog is brought up to date as after a webhook. It is for a
// reconcile.Loop of the service that leads.
func (s *Service) Watch(ctx context.Context) error {
	projects, err := s.Projects.Projects(ctx)
	errs := []error{err}
	for _, p := range projects {
		if !p.Repository.Local() {
			continue
		}
		head, err := s.Writes.Head(ctx, checkout.Source{Key: p.ID, URL: p.Repository.URL}, p.Repository.Branch)
		if err != nil || head == "" {
			continue // its next run says what is wrong
		}
		s.mu.Lock()
		last, known := s.seen[p.ID]
		if s.seen == nil {
			s.seen = map[string]string{}
		}
		s.seen[p.ID] = head
		s.mu.Unlock()
		if last == head {
			continue
		}
		listed, err := s.Catalog.CatalogCommit(ctx, p.ID)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		// Of one that was never listed, the first run or whoever connected it sees to it.
		if listed != head && (known || listed != "") {
			errs = append(errs, s.Refresh.Ask(ctx, p.ID))
		}
	}
	return errors.Join(errs...)
}
