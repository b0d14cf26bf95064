package web_test

import (
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/event"
	"tas-service/internal/run"
)

// wire gives the pages the ideas that they show, as the service does.
func (s *site) wire() {
	clock := s.app.Now
	hub := event.NewHub()
	s.app.Tests = &catalog.Service{Store: s.db, Sets: s.db, Held: s.db, History: s.db, Clock: clock}
	s.app.Bugs = &bug.Service{Store: s.db, Clock: clock, Changed: func(id string) { hub.Publish(run.Topic(id)) }}
	s.app.Runs = &run.Service{Store: s.db, Projects: s.db, Collections: s.app.Tests, Patterns: &run.JavaScript{}, Watcher: hub, Clock: clock, Wake: func() {},
		PageURL: func(id string) string { return "/runs/" + id }}
}
