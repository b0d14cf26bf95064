package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/agent"
	"tas-service/internal/fault"
)

// records keeps one batch and its sessions in memory.
type records struct {
	agent.Store
	batch    agent.Batch
	sessions []agent.Session
	events   []agent.Event
	used     agent.Usage
	began    int
}

func (r *records) Batch(context.Context, string) (agent.Batch, error) { return r.batch, nil }

func (r *records) OpenAgentSessions(context.Context) (out []agent.Session, err error) {
	for _, x := range r.sessions {
		if !x.Status.Final() {
			out = append(out, x)
		}
	}
	return out, nil
}

func (r *records) EndedAgentSessions(_ context.Context, since time.Time) (out []agent.Session, err error) {
	for _, x := range r.sessions {
		if x.FinishedAt != nil && !x.FinishedAt.Before(since) {
			out = append(out, x)
		}
	}
	return out, nil
}

func (r *records) AgentSession(_ context.Context, id string) (agent.Session, error) {
	for _, x := range r.sessions {
		if x.ID == id {
			return x, nil
		}
	}
	return agent.Session{}, fault.New(fault.NotFound, "no session")
}

func (r *records) UpdateAgentSession(_ context.Context, id string, change func(*agent.Session) ([]agent.Event, error)) error {
	for i := range r.sessions {
		if r.sessions[i].ID == id {
			x := r.sessions[i]
			events, err := change(&x)
			if err != nil {
				return err
			}
			x.Version++
			r.sessions[i], r.events = x, append(r.events, events...)
			return nil
		}
	}
	return fault.New(fault.NotFound, "no session")
}

func (r *records) CountSessions(context.Context, string, time.Time) (int, agent.Usage, error) {
	return r.began, r.used, nil
}

// worker does what it is told.
type worker struct {
	advance   func(x *agent.Step) error
	abandoned int
}

func (w *worker) Advance(_ context.Context, x *agent.Step) error { return w.advance(x) }

func (w *worker) Abandon(context.Context, agent.Session) error { w.abandoned++; return nil }

func bench(n int) (*agent.Service, *records, *worker, *time.Time) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r, w := &records{batch: agent.Batch{ID: "b", Kind: agent.Heal}}, &worker{}
	for i := range n {
		r.sessions = append(r.sessions, agent.Session{ID: fmt.Sprint(i), BatchID: "b", ProjectID: "p", Kind: agent.Heal, Status: agent.Queued})
	}
	s := &agent.Service{Store: r, Workers: map[agent.Kind]agent.Worker{agent.Heal: w}, Limits: agent.Limits{AtOnce: 2, Time: time.Hour, Executions: 10, PerDay: 5, DayRuns: 100},
		Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Wake: func() {}}
	return s, r, w, &now
}

// TestStep moves sessions on, a few of a project at once, and keeps what they did.
func TestStep(t *testing.T) {
	t.Parallel()
	s, r, w, now := bench(3)
	var ended []string
	s.Ended = func(_ context.Context, x agent.Session) error { ended = append(ended, x.ID); return nil }
	w.advance = func(x *agent.Step) error {
		if x.Status == agent.Queued {
			x.Status = agent.Running
			x.Note(agent.Ran, "began")
			x.Wait(time.Minute)
			return nil
		}
		x.End("done")
		return nil
	}
	step := func() {
		t.Helper()
		if err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	step()
	step() // both wait
	if r.sessions[1].Status != agent.Running || r.sessions[2].Status != agent.Queued || len(r.events) != 2 || r.sessions[0].StartedAt == nil {
		t.Fatalf("%+v", r.sessions)
	}
	*now = now.Add(time.Minute)
	step()
	step()
	if r.sessions[0].Status != agent.Completed || r.sessions[0].Summary != "done" || r.sessions[2].Status != agent.Running || len(ended) != 2 {
		t.Errorf("%+v, ended %v", r.sessions, ended)
	}
}

// TestGivenUp ends sessions that are over a limit, cancelled, broken or without hope, frees
// what they hold, and says why.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	fine := func(x *agent.Step) error { x.Status = agent.Running; return nil }
	for name, c := range map[string]struct {
		change  func(r *records, now time.Time)
		advance func(x *agent.Step) error
		status  agent.Status
		code    string
	}{
		"time": {func(r *records, now time.Time) { at := now.Add(-2 * time.Hour); r.sessions[0].StartedAt = &at }, fine, agent.Failed, "budget-time"},
		"resumed": {func(r *records, now time.Time) {
			at := now.Add(-2 * time.Hour)
			r.sessions[0].StartedAt, r.sessions[0].ResumedAt = &at, &now
		}, fine, agent.Running, ""},
		"executions":    {func(r *records, _ time.Time) { r.sessions[0].Usage.Executions = 11 }, fine, agent.Failed, "budget-executions"},
		"sessions":      {func(r *records, _ time.Time) { r.began = 5 }, fine, agent.Failed, "budget-day"},
		"the day's":     {func(r *records, _ time.Time) { r.used.Executions = 100 }, fine, agent.Failed, "budget-day"},
		"cancelled":     {func(r *records, _ time.Time) { r.sessions[0].CancelBy = "person:1" }, fine, agent.Cancelled, "cancelled"},
		"unknown":       {func(r *records, _ time.Time) { r.sessions[0].Kind = "paint" }, fine, agent.Failed, "unknown-kind"},
		"it panics":     {func(*records, time.Time) {}, func(*agent.Step) error { panic("s3cret") }, agent.Failed, "internal"},
		"without hope":  {func(*records, time.Time) {}, func(*agent.Step) error { return fault.New(fault.Invalid, "The branch is gone.") }, agent.Failed, "failed"},
		"too many":      {func(r *records, _ time.Time) { r.sessions[0].Tries = 7 }, func(*agent.Step) error { return fault.New(fault.Unavailable, "Later.") }, agent.Failed, "failed"},
		"tried again":   {func(*records, time.Time) {}, func(*agent.Step) error { return fault.New(fault.Unavailable, "Later.") }, agent.Queued, ""},
		"goes on":       {func(*records, time.Time) {}, fine, agent.Running, ""},
		"waits for you": {func(r *records, _ time.Time) { r.sessions[0].Status = agent.Waiting }, func(*agent.Step) error { panic("x") }, agent.Waiting, ""},
	} {
		s, r, w, now := bench(1)
		w.advance = c.advance
		c.change(r, *now)
		if err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		x := r.sessions[0]
		code := ""
		if x.Problem != nil {
			code = x.Problem.Code
			if strings.Contains(x.Problem.Message, "s3cret") || x.FinishedAt == nil || x.Summary == "" {
				t.Errorf("%s: %+v", name, x)
			}
			if w.abandoned != 1 && c.code != "unknown-kind" {
				t.Errorf("%s: abandoned %d times", name, w.abandoned)
			}
		}
		if x.Status != c.status || code != c.code {
			t.Errorf("%s: %s %q", name, x.Status, code)
		}
		if name == "tried again" && (x.Tries != 1 || !x.NotBefore.After(*now)) {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// TestMovedOn saves nothing of a step when somebody changed the session meanwhile.
func TestMovedOn(t *testing.T) {
	t.Parallel()
	s, r, w, _ := bench(1)
	w.advance = func(x *agent.Step) error {
		if err := s.Cancel(t.Context(), account.Actor{ProjectID: "p", Via: account.ViaKey}, x.ID); err != nil {
			t.Error(err)
		}
		x.End("done")
		return nil
	}
	if err := s.Step(t.Context()); err != nil || r.sessions[0].Status != agent.Queued || r.sessions[0].CancelBy == "" {
		t.Fatalf("%v, %+v", err, r.sessions[0])
	}
	if err := s.Step(t.Context()); err != nil || r.sessions[0].Status != agent.Cancelled {
		t.Errorf("%v, %+v", err, r.sessions[0])
	}
	if err := s.Cancel(t.Context(), account.Actor{ProjectID: "p", Via: account.ViaKey}, "0"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("cancelled after its end: %v", err)
	}
	if err := s.Cancel(t.Context(), account.Actor{ProjectID: "other", Via: account.ViaKey}, "0"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("cancelled by another project: %v", err)
	}
}

// TestToldAgain tells of a session that ended while nobody could hear of it, once a service
// begins and until it was heard.
func TestToldAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before, long := now.Add(-time.Minute), now.Add(-3*time.Hour)
	r := &records{sessions: []agent.Session{{ID: "a", Status: agent.Completed, FinishedAt: &before}, {ID: "b", Status: agent.Completed, FinishedAt: &long}}}
	deaf, heard := true, []string{}
	s := &agent.Service{Store: r, Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Ended: func(_ context.Context, x agent.Session) error {
		if deaf {
			return errors.New("deaf")
		}
		heard = append(heard, x.ID)
		return nil
	}}
	if err := s.Step(t.Context()); err == nil {
		t.Error("that nobody hears is no error")
	}
	deaf = false
	for range 2 {
		if err := s.Step(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if len(heard) != 1 || heard[0] != "a" {
		t.Errorf("heard of %q", heard)
	}
}
