package server

import (
	"context"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/agent"
	"tas-service/internal/bug"
	"tas-service/internal/evidence"
	"tas-service/internal/heal"
	"tas-service/internal/notify"
	"tas-service/internal/reconcile"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
	"tas-service/internal/server/web"
)

// runEnded passes on that a run became terminal.
func (s *Server) runEnded(r run.Run, m *metrics) {
	if r.Trial != nil {
		s.sessions.Wake() // one waits for it
		return
	}
	m.runEnded(r)
	s.announce.Wake()
}

// wireHealing connects sessions with who does their work, and what passing runs know of tests.
func (s *Server) wireHealing(runs *run.Service, bugs *bug.Service, notes *notify.Service, metrics *metrics) (*heal.Service, error) {
	model, err := relocate.Shipped()
	if err != nil {
		return nil, err
	}
	s.sessions = &reconcile.Loop{Name: "sessions", Every: reconcileEvery, Log: s.log, Failed: metrics.stepFailed}
	s.gathering = &reconcile.Loop{Name: "evidence", Every: reconcileEvery, Log: s.log, Failed: metrics.stepFailed}
	s.shelf = &evidence.Shelf{Records: s.db, Blobs: s.blobs}
	gatherer := &evidence.Gatherer{Runs: s.db, Shelf: s.shelf, Every: s.cfg.EvidenceEvery, Clock: time.Now, Log: s.log, Leading: s.election.Leading, Wake: s.gathering.Wake}
	s.gathering.Step = gatherer.Step
	s.dispatch.Evidence = gatherer
	agents := &agent.Service{Store: s.db, Limits: agent.DefaultLimits, Clock: time.Now, Log: s.log, Leading: s.election.Leading, Wake: s.sessions.Wake, Publish: s.hub.Publish}
	healing := &heal.Service{Store: s.db, Agents: agents, Records: s.db, Runs: runs, Projects: s.db, Shelf: s.shelf, Blobs: s.blobs, Bugs: bugs, Pulls: s.pulls, Model: model,
		Adviser: s.cfg.Model.adviser(s.db.Values, &heal.Sources{Reads: s.cfg.mirrors(), Token: s.pulls.GitToken}), Clock: time.Now, Log: s.log, SessionURL: web.SessionURL(s.cfg.AppURL), RunURL: web.RunURL(s.cfg.AppURL)}
	s.pulls.Heal = func(ctx context.Context, actor account.Actor, runID string, at run.Pull, onceKey string) error {
		_, err := healing.Start(ctx, actor, heal.StartInput{RunID: runID, Wish: agent.Wish{AutoCreatePR: true, RepoName: at.Repo, PRNumber: at.Number}, OnceKey: onceKey})
		return err
	}
	s.dispatch.Recovery = healing
	gatherer.Compared = healing.WarnOfVacuous
	agents.Ended = func(ctx context.Context, x agent.Session) error {
		at, told := time.Now(), notify.Session{ID: x.ID, Kind: "healing", Outcome: x.Summary, URL: web.SessionURL(s.cfg.AppURL)(x.ID)}
		if x.FinishedAt != nil {
			at = *x.FinishedAt
		}
		if x.Pull != nil {
			told.PullRequest = x.Pull.URL
		}
		return notes.SessionEnded(ctx, x.ProjectID, told, at)
	}
	agents.Workers = map[agent.Kind]agent.Worker{agent.Heal: healing}
	s.sessions.Step = agents.Step
	s.announcer.Listeners = append([]func(context.Context, run.Run) error{gatherer.RunEnded, healing.RunEnded}, s.announcer.Listeners...)
	s.pulls.Settled = append(s.pulls.Settled, healing.Settled)
	return healing, nil
}
