package bug

import (
	"context"
	"slices"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// Sighting is a run in which a bug was seen.
type Sighting struct {
	RunID   string
	RunName string
	Branch  string
	At      time.Time
	N       int // failed results
}

// maxLinked bounds the tests of one bug that are linked by hand.
const maxLinked = 1000

// Moves answers which states a bug can be given from where it is.
func (b *Bug) Moves() []State { return arrows[b.State] }

// Seen answers in which runs a bug of the actor's project was seen, the latest first.
func (s *Service) Seen(ctx context.Context, actor account.Actor, key string, limit int) ([]Sighting, error) {
	return s.Store.Seen(ctx, actor.ProjectID, strings.ToUpper(key), limit)
}

// edit changes a bug for a member of its project, and notes what was said.
func (s *Service) edit(ctx context.Context, actor account.Actor, key string, change func(b *Bug, e Event) error) error {
	n, err := NumberOf(key)
	if err != nil {
		return err
	}
	if err := actor.MayAs(account.RoleMember, actor.ProjectID, "bug"); err != nil {
		return err
	}
	err = s.Store.UpdateBug(ctx, actor.ProjectID, n, func(b *Bug) error {
		return change(b, Event{At: s.Clock(), From: b.State, To: b.State, By: actor.By()})
	})
	if fault.KindOf(err) == fault.NotFound {
		return actor.May("", "bug")
	}
	return err
}

// Comment notes what somebody says of a bug.
func (s *Service) Comment(ctx context.Context, actor account.Actor, key, text string) error {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxComment {
		return fault.New(fault.Invalid, "A comment has 1 to %d bytes.", maxComment).WithFix("Write what you know of the bug, or link to where it is told.")
	}
	return s.edit(ctx, actor, key, func(b *Bug, e Event) error {
		e.Comment = text
		b.History = append(b.History, e)
		return nil
	})
}

// Rate sets how severe a bug is.
func (s *Service) Rate(ctx context.Context, actor account.Actor, key string, severity Severity) error {
	if !slices.Contains(Severities(), severity) {
		return fault.New(fault.Invalid, "%.40q is no severity.", severity).WithFix("Choose one of %s.", joined(Severities()))
	}
	return s.edit(ctx, actor, key, func(b *Bug, e Event) error {
		b.Rate(severity, e)
		return nil
	})
}

// Link says that a test meets a bug, or with linked false that it does not. Results keep
// the bug that they were filed under. The caller sees to it that the test exists.
func (s *Service) Link(ctx context.Context, actor account.Actor, key, testID string, linked bool) error {
	testID = strings.ToLower(testID) // as it is kept
	return s.edit(ctx, actor, key, func(b *Bug, e Event) error {
		i := slices.Index(b.TestIDs, testID)
		switch {
		case linked && i < 0:
			if len(b.TestIDs) >= maxLinked {
				return fault.New(fault.Conflict, "%s has %d tests already, and that is the most.", b.Key(), maxLinked).WithFix("Unlink some that do not meet it.")
			}
			b.TestIDs, e.Comment = append(b.TestIDs, testID), "Linked test "+testID+"."
		case !linked && i >= 0:
			b.TestIDs, e.Comment = slices.Delete(slices.Clone(b.TestIDs), i, i+1), "Unlinked test "+testID+"."
		default:
			return nil
		}
		b.History = append(b.History, e)
		return nil
	})
}

// Moved is what came of moving several bugs.
type Moved struct {
	Done    []string          // keys
	Refused map[string]string // why not, by key
}

// MoveAll moves bugs along legal arrows, each by itself: what cannot be moved stays, with
// the reason. Errors are those of the actor or the input, not of one bug.
func (s *Service) MoveAll(ctx context.Context, actor account.Actor, keys []string, to State, until *time.Time, comment string) (Moved, error) {
	out := Moved{Refused: map[string]string{}}
	switch err := actor.MayAs(account.RoleMember, actor.ProjectID, "bug"); {
	case err != nil:
		return out, err
	case len(keys) == 0 || len(keys) > MaxSayings:
		return out, fault.New(fault.Invalid, "No bug was chosen, or too many.").WithFix("Tick 1 to %d bugs.", MaxSayings)
	case !slices.Contains(States(), to):
		return out, fault.New(fault.Invalid, "%.40q is no state of a bug.", to).WithFix("Choose one of %s.", joined(States()))
	}
	for _, key := range keys {
		err := s.Move(ctx, actor, key, to, until, comment)
		switch f := fault.As(err); {
		case err == nil:
			out.Done = append(out.Done, strings.ToUpper(key))
		case f != nil && (f.Kind == fault.Conflict || f.Kind == fault.NotFound || f.Kind == fault.Invalid):
			out.Refused[key] = f.Message + " " + f.Fix
		default:
			return out, err
		}
	}
	return out, nil
}

// SeenOn answers which bugs of the actor's project were seen on a branch since a time.
func (s *Service) SeenOn(ctx context.Context, actor account.Actor, branch string, since time.Time) (map[string]bool, error) {
	return s.Store.SeenOn(ctx, actor.ProjectID, branch, since)
}
