package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// Store keeps sessions. Lookups answer fault.NotFound for what is not there.
type Store interface {
	// CreateBatch saves a batch with its sessions, which the run names from then on. With a
	// once that was seen less than a day ago it saves nothing and answers the batch that was
	// made then, or fault.Conflict when its fingerprint was another. onlyFirst answers the
	// batch that the run has, if it has one, and saves nothing.
	CreateBatch(ctx context.Context, b Batch, ss []Session, once *Once, onlyFirst bool) (earlier *Batch, err error)
	Batch(ctx context.Context, id string) (Batch, error)
	AgentSession(ctx context.Context, id string) (Session, error)
	AgentSessions(ctx context.Context, q Query) ([]Session, error)
	// OpenAgentSessions answers every session that is not final, the oldest first.
	OpenAgentSessions(ctx context.Context) ([]Session, error)
	// EndedAgentSessions answers every session that ended at a moment or after it.
	EndedAgentSessions(ctx context.Context, since time.Time) ([]Session, error)
	// UpdateAgentSession changes a session and adds events to it.
	UpdateAgentSession(ctx context.Context, id string, change func(*Session) ([]Event, error)) error
	Events(ctx context.Context, sessionID string, after int64, limit int) ([]Event, error)
	// LatestEvents answers the last few, in order.
	LatestEvents(ctx context.Context, sessionID string, limit int) ([]Event, error)
	// CountSessions answers how many sessions of a project began since a time, and what they
	// used up.
	CountSessions(ctx context.Context, projectID string, since time.Time) (n int, used Usage, err error)
}

// Once identifies a call that may arrive more than once.
type Once struct {
	Key         string
	Fingerprint string // of what was asked for
}

// Query asks for sessions, the newest first. Empty filters let everything through.
type Query struct {
	ProjectID string
	BatchID   string
	RunID     string
	Statuses  []Status
	Since     time.Time
	Before    string // the last session of the page before
	Limit     int
}

// Worker does the work of a kind of session.
type Worker interface {
	// Advance does one step of a session and changes it accordingly. It may be done again
	// when it was not saved, so it does nothing to the outside twice. An error that is not
	// permanent has the step tried again later; another one ends the session.
	Advance(ctx context.Context, s *Step) error
	// Abandon frees what a session holds that is ended before its time.
	Abandon(ctx context.Context, s Session) error
}

// Step is a session while it is moved on.
type Step struct {
	Session
	Batch  Batch
	Now    time.Time
	events []Event
}

// Note adds an event to those that are saved with the session.
func (st *Step) Note(kind EventKind, format string, args ...any) {
	st.NoteRun("", kind, format, args...)
}

// NoteRun adds an event about a trial.
func (st *Step) NoteRun(runID string, kind EventKind, format string, args ...any) {
	st.events = append(st.events, Event{SessionID: st.ID, At: st.Now, Kind: kind, RunID: runID, Text: clip(fmt.Sprintf(format, args...))})
}

// Events answers what was noted so far.
func (st *Step) Events() []Event { return st.events }

// maxText bounds the text of an event, in bytes.
const maxText = 4000

func clip(s string) string {
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}

// Wait has the next step begin after some time, or when something wakes the reconciler.
func (st *Step) Wait(d time.Duration) { st.NotBefore = st.Now.Add(d) }

// End ends the session in good order.
func (st *Step) End(summary string) {
	st.Status, st.Summary, st.FinishedAt = Completed, summary, &st.Now
}

// Limits bound what sessions use up.
type Limits struct {
	AtOnce     int           // sessions of one project that are under way together
	Time       time.Duration // of a session, from its first step
	Executions int           // of tests, of one session
	PerDay     int           // sessions of a project
	DayRuns    int           // executions of tests by a project's sessions in a day
}

// DefaultLimits are what a service uses.
var DefaultLimits = Limits{AtOnce: 2, Time: time.Hour, Executions: 400, PerDay: 200, DayRuns: 5000}

// maxTries is how often one step is tried before its session is given up.
const maxTries = 8

// Service moves sessions on and answers what is known of them.
type Service struct {
	Store   Store
	Workers map[Kind]Worker
	Limits  Limits
	Clock   func() time.Time
	Log     *slog.Logger
	// Leading, when set, reports whether this one of several services moves sessions on.
	Leading func() bool
	Wake    func()
	// Publish, when set, wakes who watches a topic.
	Publish func(topic string)
	// Ended, when set, hears of each session that has ended; it may hear of one twice.
	Ended func(ctx context.Context, s Session) error

	told bool // nobody is left to be told of a session that ended before
}

// tellAgain is how long ago a session may have ended of which others are told once more when a
// service begins to move sessions on: the one before may have ended in between.
const tellAgain = time.Hour

// tell has others hear of sessions that ended shortly before, if that is still to be done.
func (s *Service) tell(ctx context.Context) error {
	if s.told || s.Ended == nil {
		return nil
	}
	ended, err := s.Store.EndedAgentSessions(ctx, s.Clock().Add(-tellAgain))
	if err != nil {
		return err
	}
	for _, x := range ended {
		if err := s.Ended(ctx, x); err != nil {
			return fmt.Errorf("tell that session %s ended: %w", x.ID, err)
		}
	}
	s.told = true
	return nil
}

// Topic under which changes of a session are published.
func Topic(sessionID string) string { return "session/" + sessionID }

// Step is for a reconcile.Loop: it moves each session on by one step that is due.
func (s *Service) Step(ctx context.Context) error {
	if s.Leading != nil && !s.Leading() {
		s.told = false // who leads in between may end in the middle of it
		return nil
	}
	errs := []error{s.tell(ctx)}
	open, err := s.Store.OpenAgentSessions(ctx)
	if err != nil {
		return err
	}
	busy := map[string]int{}
	for _, x := range open {
		if x.Status != Queued {
			busy[x.ProjectID]++
		}
	}
	for _, x := range open {
		if ctx.Err() != nil {
			break
		}
		now := s.Clock().UTC()
		switch {
		case x.CancelBy != "":
		case x.NotBefore.After(now) || x.Status == Waiting:
			continue
		case x.Status == Queued && busy[x.ProjectID] >= max(1, s.Limits.AtOnce):
			continue
		case x.Status == Queued:
			busy[x.ProjectID]++
		}
		if err := s.advance(ctx, x, now); err != nil {
			errs = append(errs, fmt.Errorf("move session %s on: %w", x.ID, err))
		}
	}
	return errors.Join(errs...)
}

// advance does one step of a session and saves it, unless somebody has changed it meanwhile:
// then the next step begins with what it is.
func (s *Service) advance(ctx context.Context, x Session, now time.Time) error {
	b, err := s.Store.Batch(ctx, x.BatchID)
	if err != nil {
		return err
	}
	st := &Step{Session: x, Batch: b, Now: now}
	if err := s.step(ctx, st); err != nil {
		return err
	}
	err = s.Store.UpdateAgentSession(ctx, x.ID, func(now *Session) ([]Event, error) {
		if now.Version != x.Version || now.Status.Final() {
			return nil, errMoved
		}
		*now = st.Session
		return st.events, nil
	})
	if errors.Is(err, errMoved) {
		s.Wake()
		return nil
	}
	if err != nil {
		return err
	}
	s.changed(st.Session)
	if st.Status.Final() && s.Ended != nil {
		if err := s.Ended(ctx, st.Session); err != nil {
			s.told = false
			s.Log.Error("nobody is told yet that a session ended", "session", x.ID, "error", err)
		}
	}
	if !st.NotBefore.After(now) && !st.Status.Final() {
		s.Wake()
	}
	return nil
}

// errMoved says that somebody else has changed the session since it was read.
var errMoved = fault.New(fault.Conflict, "The session has moved on.")

func (s *Service) step(ctx context.Context, st *Step) (err error) {
	w := s.Workers[st.Kind]
	give := func(status Status, code, format string, args ...any) error {
		if w != nil {
			if err := w.Abandon(ctx, st.Session); err != nil {
				return err
			}
		}
		st.Status, st.FinishedAt = status, &st.Now
		st.Problem = &Problem{Code: code, Message: fmt.Sprintf(format, args...)}
		st.Summary = cmp.Or(st.Summary, st.Problem.Message)
		st.Note(Trouble, "%s", st.Problem.Message)
		return nil
	}
	switch {
	case w == nil:
		return give(Failed, "unknown-kind", "This service has nobody for sessions of the kind %q.", st.Kind)
	case st.CancelBy != "":
		return give(Cancelled, "cancelled", "The session was cancelled.")
	}
	if st.StartedAt == nil {
		if code, why, err := s.overDay(ctx, st); err != nil {
			return err
		} else if code != "" {
			return give(Failed, code, "%s", why)
		}
		st.StartedAt = &st.Now
	}
	from := *st.StartedAt
	if st.ResumedAt != nil {
		from = *st.ResumedAt
	}
	switch l := s.Limits; {
	case l.Time > 0 && st.Now.Sub(from) > l.Time:
		return give(Failed, "budget-time", "The session took longer than its limit of %s.", l.Time)
	case l.Executions > 0 && st.Usage.Executions > l.Executions:
		return give(Failed, "budget-executions", "The session used up its limit of %d executions of tests.", l.Executions)
	}
	before := st.Session
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("a step of a session panicked", "session", st.ID, "panic", p)
			st.Session, st.events = before, nil
			err = give(Failed, "internal", "A step of the session failed for a reason of the service's own. Its log tells more.")
		}
	}()
	err = w.Advance(ctx, st)
	if err == nil {
		st.Tries = 0
		return nil
	}
	tries, events := before.Tries+1, st.events
	st.Session, st.events = before, events
	if st.Tries = tries; fault.Permanent(err) || tries >= maxTries {
		f := fault.As(err)
		if f == nil || f.Kind == fault.Internal {
			s.Log.Error("a session failed", "session", st.ID, "error", err)
			return give(Failed, "internal", "A step of the session failed for a reason of the service's own. Its log tells more.")
		}
		return give(Failed, cmp.Or(f.Code, "failed"), "%s", f.Public())
	}
	s.Log.Warn("a step of a session is tried again", "session", st.ID, "try", tries, "error", err)
	st.Wait(time.Duration(tries*tries) * time.Second)
	return nil
}

// overDay answers which of the project's limits for a day is used up, and in which words.
func (s *Service) overDay(ctx context.Context, st *Step) (code, why string, err error) {
	n, used, err := s.Store.CountSessions(ctx, st.ProjectID, st.Now.Add(-24*time.Hour))
	switch l := s.Limits; {
	case err != nil:
	case l.PerDay > 0 && n >= l.PerDay:
		return "budget-day", fmt.Sprintf("The project used up its limit of %d sessions in 24 hours.", l.PerDay), nil
	case l.DayRuns > 0 && used.Executions >= l.DayRuns:
		return "budget-day", fmt.Sprintf("The project's sessions used up their limit of %d executions of tests in 24 hours.", l.DayRuns), nil
	}
	return "", "", err
}

func (s *Service) changed(x Session) {
	if s.Publish != nil {
		s.Publish(Topic(x.ID))
		s.Publish("project/" + x.ProjectID)
	}
}

// Progress is a batch with its sessions, oldest first.
type Progress struct {
	Batch
	Sessions []Session
}

// AllTerminal reports whether every session has ended.
func (p Progress) AllTerminal() bool {
	return !slices.ContainsFunc(p.Sessions, func(s Session) bool { return !s.Status.Final() })
}

// maxSessions bounds the sessions of one batch.
const maxSessions = 200

// Progress answers a batch of the actor's project: fault.NotFound for one of another kind.
func (s *Service) Progress(ctx context.Context, actor account.Actor, kind Kind, batchID string) (Progress, error) {
	b, err := s.Store.Batch(ctx, batchID)
	if fault.KindOf(err) == fault.NotFound || err == nil && b.Kind != kind {
		return Progress{}, actor.May("", "batch")
	}
	if err == nil {
		err = actor.May(b.ProjectID, "batch")
	}
	if err != nil {
		return Progress{}, err
	}
	ss, err := s.Store.AgentSessions(ctx, Query{ProjectID: b.ProjectID, BatchID: b.ID, Limit: maxSessions})
	slices.Reverse(ss)
	return Progress{Batch: b, Sessions: ss}, err
}

// Get answers a session of the actor's project.
func (s *Service) Get(ctx context.Context, actor account.Actor, id string) (Session, error) {
	x, err := s.Store.AgentSession(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return Session{}, actor.May("", "session")
	}
	if err == nil {
		err = actor.May(x.ProjectID, "session")
	}
	if err != nil {
		return Session{}, err
	}
	return x, nil
}

// List answers sessions of the actor's project, the newest first.
func (s *Service) List(ctx context.Context, actor account.Actor, q Query) ([]Session, error) {
	q.ProjectID = actor.ProjectID
	return s.Store.AgentSessions(ctx, q)
}

// Events answers what a session did, in order, behind after.
func (s *Service) Events(ctx context.Context, actor account.Actor, id string, after int64, limit int) ([]Event, error) {
	if _, err := s.Get(ctx, actor, id); err != nil {
		return nil, err
	}
	return s.Store.Events(ctx, id, after, limit)
}

// Latest answers the last few things that a session did, in order.
func (s *Service) Latest(ctx context.Context, actor account.Actor, id string, n int) ([]Event, error) {
	if _, err := s.Get(ctx, actor, id); err != nil {
		return nil, err
	}
	return s.Store.LatestEvents(ctx, id, n)
}

// Cancel asks for a session's end. Asking twice changes nothing; fault.Conflict for one that
// is over.
func (s *Service) Cancel(ctx context.Context, actor account.Actor, id string) error {
	return s.Change(ctx, actor, id, func(x *Session, _ func(EventKind, string)) error {
		if x.Status.Final() {
			return fault.New(fault.Conflict, "The session is over: it is %s.", x.Status).WithFix("There is nothing left to cancel.")
		}
		x.CancelBy = cmp.Or(x.CancelBy, actor.By())
		return nil
	})
}

// Change lets a member change a session and note what was said.
func (s *Service) Change(ctx context.Context, actor account.Actor, id string, change func(x *Session, note func(EventKind, string)) error) error {
	x, err := s.Get(ctx, actor, id)
	if err != nil {
		return err
	}
	if err := actor.MayAs(account.RoleMember, x.ProjectID, "session"); err != nil {
		return err
	}
	now := s.Clock().UTC()
	err = s.Store.UpdateAgentSession(ctx, id, func(x *Session) ([]Event, error) {
		var events []Event
		err := change(x, func(kind EventKind, text string) {
			events = append(events, Event{SessionID: x.ID, At: now, Kind: kind, Text: clip(text)})
		})
		return events, err
	})
	if err == nil {
		s.changed(x)
		s.Wake()
	}
	return err
}
