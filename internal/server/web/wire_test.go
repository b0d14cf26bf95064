package web_test

import (
	"time"

	"tas-service/internal/agent"
	"tas-service/internal/artifact"
	"tas-service/internal/artifact/blobstore"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/event"
	"tas-service/internal/evidence"
	"tas-service/internal/heal"
	"tas-service/internal/run"
)

// wire gives the pages the ideas that they show, as the service does.
func (s *site) wire() {
	clock := s.app.Now
	hub := event.NewHub()
	blobs, err := blobstore.OpenDir(s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { blobs.Close() })
	s.app.Blobs, s.app.Separate = blobs, true
	links := artifact.Links{Keys: s.app.Keys, ContentURL: "http://content.example", TTL: time.Hour, Now: clock}
	s.hub = hub
	s.app.Tests = &catalog.Service{Store: s.db, Sets: s.db, Held: s.db, History: s.db, Sums: s.db, Clock: clock}
	s.app.Bugs = &bug.Service{Store: s.db, Clock: clock, Changed: func(id, projectID string) {
		for _, topic := range run.Topics(id, projectID) {
			hub.Publish(topic)
		}
	}}
	s.app.Runs = &run.Service{Store: s.db, Projects: s.db, Environments: s.db, Collections: s.app.Tests, Links: links, Patterns: &run.JavaScript{}, Watcher: hub, Publish: hub.Publish, Clock: clock, Wake: func() {},
		PageURL: func(id string) string { return "/runs/" + id }}
	agents := &agent.Service{Store: s.db, Limits: agent.DefaultLimits, Clock: clock, Log: s.app.Log, Wake: func() {}, Publish: hub.Publish}
	s.app.Healing = &heal.Service{Store: s.db, Agents: agents, Records: s.db, Runs: s.app.Runs, Projects: s.db, Shelf: &evidence.Shelf{Records: s.db, Blobs: blobs}, Blobs: blobs, Bugs: s.app.Bugs,
		Clock: clock, Log: s.app.Log, SessionURL: func(id string) string { return "/sessions/" + id }, RunURL: func(id string) string { return "/runs/" + id }}
}
