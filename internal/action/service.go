package action

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// Notes keeps what people did.
type Notes interface {
	Note(ctx context.Context, v account.Viewer, act account.Act, projectID, about string) error
}

// Service records deeds, has them decided and carries them out. Safe for concurrent use.
type Service struct {
	Store Store
	Notes Notes
	Doers map[Kind]Doer // fixed before the first step; kinds without one stay pending
	Clock func() time.Time
	Log   *slog.Logger
	// Leading, when set, reports whether this one of several services carries out.
	Leading func() bool
	// Wake, when set, asks for a Step soon.
	Wake func()
	// Timing is DefaultTiming where it is left out.
	Timing Timing

	mu   sync.Mutex
	busy map[string]bool // serials under way here
	used int             // of Timing.AtOnce
	wait sync.WaitGroup
}

const (
	maxKey   = 300
	maxWish  = 1 << 20
	maxLine  = 300 // of Target and About
	byItself = "service"
)

// Ask records a wish and answers the action. The same wish under the same key changes
// nothing; another one is the next version, which is done in its turn, after a person has
// approved it where the project's policy says so: one that waits goes on waiting, and what
// a person rejected stays rejected until it is approved. What was given up is tried anew.
func (s *Service) Ask(ctx context.Context, w Wish) (Action, error) {
	detail, err := written(w.Key, w.Detail)
	if err != nil {
		return Action{}, err
	}
	switch {
	case w.ProjectID == "" || w.Key == "" || len(w.Key) > maxKey || !slices.Contains(Kinds(), w.Kind):
		return Action{}, fault.New(fault.Internal, "an action needs a project, a key of at most %d bytes and a kind; it has %q, %.40q, %q", maxKey, w.ProjectID, w.Key, w.Kind)
	}
	if w.Serial == "" {
		w.Serial = w.ProjectID + "/" + w.Key
	}
	if w.AskedBy == "" {
		w.AskedBy = byItself
	}
	now, due := s.Clock().UTC(), false
	a, err := s.Store.AskAction(ctx, w.ProjectID, w.Key, func(known *Action, p Policy) (*Action, error) {
		due = false // it may be called again
		if known == nil {
			id, err := uuid.NewV7()
			if err != nil {
				return nil, fault.Wrap(err, fault.Internal, "make an ID")
			}
			known = &Action{ID: id.String(), ProjectID: w.ProjectID, Key: w.Key, Kind: w.Kind, State: Pending, CreatedAt: now}
			if p.Waits(w.Kind) {
				known.State = Waiting
			}
		} else {
			if w.Once {
				return nil, nil
			}
			if w.Amend != nil {
				amended, ok := w.Amend(*known)
				if !ok {
					return nil, nil
				}
				var err error
				if detail, err = written(w.Key, amended); err != nil {
					return nil, err
				}
			}
			if bytes.Equal(known.Wish, detail) {
				return nil, nil
			}
		}
		if known.Kind != w.Kind {
			return nil, fault.New(fault.Internal, "the key %s is one of a %s, not of a %s", w.Key, known.Kind, w.Kind)
		}
		known.Target, known.About, known.Serial, known.AskedBy = line(w.Target), line(w.About), w.Serial, w.AskedBy
		known.Wish = detail
		known.Version++
		known.renew(now)
		switch {
		case known.State == Waiting || known.State == Rejected:
		case p.Waits(known.Kind) && known.Version > 1:
			known.State = Waiting // a person approves what they saw, not what comes after it
		default:
			known.State = Pending
		}
		known.note(Event{At: now, What: "asked", Version: known.Version, By: w.AskedBy})
		due = known.State == Pending
		return known, nil
	})
	if err == nil && due {
		s.wake()
	}
	return a, err
}

// written answers a wish as it is kept.
func written(key string, detail any) ([]byte, error) {
	out, err := json.Marshal(detail)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the wish of %s cannot be written", key)
	}
	if len(out) > maxWish {
		return nil, fault.New(fault.TooLarge, "What is to be done takes %d bytes to write down, more than %d.", len(out), maxWish).WithFix("Ask for less at once.")
	}
	return out, nil
}

// renew begins the tries anew.
func (a *Action) renew(now time.Time) {
	a.Tries, a.NotBefore, a.Since, a.ChangedAt = 0, now, nil, now
}

func (s *Service) wake() {
	if s.Wake != nil {
		s.Wake()
	}
}

// line bounds a text that stands in one line.
func line(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if r := []rune(text); len(r) > maxLine {
		return string(r[:maxLine-1]) + "…"
	}
	return text
}

// List answers actions of a project for whoever sees it, and the ID to go on before, "" at
// the end.
func (s *Service) List(ctx context.Context, v account.Viewer, q Query) ([]Action, string, error) {
	if _, err := v.In(q.ProjectID); err != nil {
		return nil, "", err
	}
	want := q.Limit
	q.Limit++
	as, err := s.Store.Actions(ctx, q)
	if err != nil || len(as) <= want {
		return as, "", err
	}
	return as[:want], as[want-1].ID, nil
}

// Get answers one action of a project for whoever sees it.
func (s *Service) Get(ctx context.Context, v account.Viewer, projectID, id string) (Action, error) {
	if _, err := v.In(projectID); err != nil {
		return Action{}, err
	}
	a, err := s.Store.Action(ctx, projectID, id)
	return a, unknown(err)
}

func unknown(err error) error {
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	return fault.New(fault.NotFound, "There is no such action in this project.").
		WithFix("The project's activity lists those that there are; messages that were sent are kept for %d days.", keepDays)
}

// Look answers an action of a project to the service itself: nobody's permission is asked.
func (s *Service) Look(ctx context.Context, projectID, id string) (Action, error) {
	return s.Store.Action(ctx, projectID, id)
}

// Waiting answers how many actions of a project wait for a person.
func (s *Service) Waiting(ctx context.Context, projectID string) (int, error) {
	return s.Store.CountActions(ctx, projectID, Waiting)
}

// Approve has an action done that waits for a person, or that one had rejected, as it is
// wished now: version is the one that the person saw, and fault.Conflict answers where
// there is a newer one.
func (s *Service) Approve(ctx context.Context, v account.Viewer, projectID, id string, version int) error {
	return s.decide(ctx, v, projectID, id, version, "approved", account.ActApproved, []State{Waiting, Rejected}, Pending)
}

// Reject keeps an action from being done that waits for a person or for its next try.
func (s *Service) Reject(ctx context.Context, v account.Viewer, projectID, id string, version int) error {
	return s.decide(ctx, v, projectID, id, version, "rejected", account.ActRejected, []State{Waiting, Pending}, Rejected)
}

// Retry has an action tried again now that was given up, or that waits for its next try.
func (s *Service) Retry(ctx context.Context, v account.Viewer, projectID, id string) error {
	return s.decide(ctx, v, projectID, id, 0, "tried again", account.ActTriedAgain, []State{Failed, Pending}, Pending)
}

func (s *Service) decide(ctx context.Context, v account.Viewer, projectID, id string, version int, what string, act account.Act, from []State, to State) error {
	actor, err := v.In(projectID)
	if err != nil {
		return err
	}
	if err := actor.MayAs(account.RoleMember, projectID, "action"); err != nil {
		return err
	}
	var seen Action
	err = s.Store.UpdateAction(ctx, projectID, id, func(a *Action) error {
		if !slices.Contains(from, a.State) {
			return fault.New(fault.Conflict, "The action is %s, so it cannot be %s.", a.State, what).WithFix("Load the page again: somebody else may have decided, or it was done meanwhile.")
		}
		if version != 0 && a.Version != version {
			return fault.New(fault.Conflict, "What is to be done was changed since the page was loaded: it is version %d now.", a.Version).WithFix("Look at what it is now, then decide.")
		}
		now := s.Clock().UTC()
		a.State = to
		a.renew(now)
		if what != "tried again" {
			a.DecidedBy, a.DecidedAt = actor.By(), &now
		}
		a.note(Event{At: now, What: what, Version: a.Version, By: actor.By()})
		seen = *a
		return nil
	})
	if err != nil {
		return unknown(err)
	}
	if to == Pending {
		s.wake()
	}
	if act == account.ActApproved && seen.Kind == PullRequest {
		act = account.ActPullRequest
	}
	return s.Notes.Note(ctx, v, act, projectID, line(string(seen.Kind)+": "+seen.About+" → "+seen.Target))
}

// Policy answers which kinds wait in a project, for whoever sees it.
func (s *Service) Policy(ctx context.Context, v account.Viewer, projectID string) (Policy, error) {
	if _, err := v.In(projectID); err != nil {
		return "", err
	}
	return s.Store.ActionPolicy(ctx, projectID)
}

// SetPolicy changes which kinds wait from now on, for administrators of the project. What
// waits already goes on waiting.
func (s *Service) SetPolicy(ctx context.Context, v account.Viewer, projectID string, p Policy) error {
	if _, err := v.Administers(projectID); err != nil {
		return err
	}
	if !slices.Contains(Policies(), p) {
		return fault.New(fault.Invalid, "%.40q is no policy.", p).WithFix("Choose what waits for a person: nothing, pull requests, or everything but messages.").At("policy", "not one of the choices")
	}
	if err := s.Store.SetActionPolicy(ctx, projectID, p); err != nil {
		return err
	}
	word := string(p)
	if p == NothingWaits {
		word = "nothing"
	}
	return s.Notes.Note(ctx, v, account.ActSettings, projectID, "waits for approval: "+word)
}

// keepDays is how long messages are kept that were sent.
const keepDays = 90

// Sweep is for a reconcile.Loop: it drops messages that were sent long ago. All else is kept.
func (s *Service) Sweep(ctx context.Context) error {
	return s.Store.DropMessages(ctx, s.Clock().AddDate(0, 0, -keepDays))
}
