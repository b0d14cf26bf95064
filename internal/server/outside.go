package server

import (
	"context"
	"time"

	"tas-service/internal/action"
	"tas-service/internal/notify"
	"tas-service/internal/notify/httpcall"
	"tas-service/internal/notify/mail"
	"tas-service/internal/reconcile"
	"tas-service/internal/run"
	"tas-service/internal/server/web"
)

// wireOutside connects what the service does to the outside: actions and who carries them
// out, and who hears that runs have ended.
func (s *Server) wireOutside(metrics *metrics) (*notify.Service, error) {
	s.outside = &reconcile.Loop{Name: "actions", Every: reconcileEvery, Log: s.log, Failed: metrics.stepFailed}
	s.actions = &action.Service{Store: s.db, Notes: s.people, Clock: time.Now, Log: s.log, Leading: s.election.Leading, Wake: s.outside.Wake}
	s.outside.Step = s.actions.Step
	cfg := s.cfg
	notes := &notify.Service{Store: s.db, Actions: s.actions, Projects: s.db, Runs: s.db, Bugs: s.db, Notes: s.people, Insecure: cfg.WebhooksPrivate,
		Caller: httpcall.New(cfg.WebhooksPrivate, cfg.BaseURL, cfg.AppURL, cfg.ContentURL, cfg.WorkerURL, "http://"+s.listener.Addr().String()),
		RunURL: web.RunURL(cfg.AppURL), BugURL: web.BugURL(cfg.AppURL), Clock: time.Now}
	if cfg.SMTP.Host != "" {
		m, err := mail.New(cfg.SMTP)
		if err != nil {
			return nil, err
		}
		notes.Mailer = m
	}
	s.actions.Doers = map[action.Kind]action.Doer{action.Message: notes}
	s.announcer = &run.Announcer{Store: s.db, Leading: s.election.Leading, Listeners: []func(context.Context, run.Run) error{notes.RunEnded}}
	s.announce = &reconcile.Loop{Name: "announce", Every: reconcileEvery, Log: s.log, Failed: metrics.stepFailed, Step: s.announcer.Step}
	return notes, nil
}
