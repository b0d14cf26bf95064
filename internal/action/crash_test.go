package action_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tas-service/internal/action"
	"tas-service/internal/fault"
)

// world is the other side: what is there under a key, and how often it was made.
type world struct {
	there map[string]string
	made  map[string]int
}

var errCrash = errors.New("the service is gone")

// life is one service from its start to its crash: after so many steps nothing of it
// reaches the store or the world any more.
type life struct {
	action.Store
	steps int // left; negative once it is gone
}

func (l *life) step() error {
	if l.steps--; l.steps < 0 {
		return errCrash
	}
	return nil
}

func (l *life) AskAction(ctx context.Context, projectID, key string, change func(*action.Action, action.Policy) (*action.Action, error)) (action.Action, error) {
	if err := l.step(); err != nil {
		return action.Action{}, err
	}
	return l.Store.AskAction(ctx, projectID, key, change)
}

func (l *life) ClaimAction(ctx context.Context, id, claim string, now time.Time, d time.Duration) (action.Action, bool, error) {
	if err := l.step(); err != nil {
		return action.Action{}, false, err
	}
	a, ok, err := l.Store.ClaimAction(ctx, id, claim, now, d)
	return a, ok, errors.Join(err, l.step())
}

func (l *life) FinishAction(ctx context.Context, id, claim string, change func(*action.Action) error) error {
	if err := l.step(); err != nil {
		return err
	}
	return errors.Join(l.Store.FinishAction(ctx, id, claim, change), l.step())
}

// Do makes what is wished, unless it is there: it looks first.
func (l *life) do(w *world, fail func() bool) doerFunc {
	return func(_ context.Context, a action.Action) (json.RawMessage, string, error) {
		if err := l.step(); err != nil {
			return nil, "", err
		}
		if _, ok := w.there[a.Key]; !ok {
			w.made[a.Key]++
		}
		w.there[a.Key] = string(a.Wish)
		if fail() {
			return nil, "", fault.New(fault.Unavailable, "The answer is lost.")
		}
		return json.RawMessage(`{}`), "made", l.step()
	}
}

// TestCrashes asks for deeds and crashes between any two steps: in the end each is there
// once, as it was last wished.
func TestCrashes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := context.Background()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		w := &world{there: map[string]string{}, made: map[string]int{}}
		wished := map[string]string{}
		lossy := true
		fail := func() bool { return lossy && rapid.IntRange(0, 3).Draw(rt, "lost") == 0 }
		live := func(steps int) *action.Service {
			l := &life{Store: d.db, steps: steps}
			s := &action.Service{Store: l, Clock: d.clock, Log: slog.New(slog.DiscardHandler), Timing: action.DefaultTiming}
			// A claim of a service that crashed is over when the next one looks.
			s.Timing.ClaimFor, s.Timing.AtOnce = time.Millisecond, 1
			s.Timing.GiveUp = 1000 * time.Hour
			s.Doers = map[action.Kind]action.Doer{action.Message: l.do(w, fail)}
			return s
		}
		s := live(rapid.IntRange(0, 20).Draw(rt, "life"))
		rt.Repeat(map[string]func(*rapid.T){
			"ask": func(rt *rapid.T) {
				key := fmt.Sprintf("%d/%d", round, rapid.IntRange(0, 2).Draw(rt, "key"))
				detail := rapid.IntRange(0, 3).Draw(rt, "detail")
				if _, err := s.Ask(ctx, action.Wish{ProjectID: d.p.ID, Key: key, Kind: action.Message, Serial: fmt.Sprint(round), Detail: detail}); err == nil {
					wished[key] = fmt.Sprint(detail)
				}
			},
			"step": func(*rapid.T) {
				s.Step(ctx) //nolint:errcheck // it may be gone
				s.Wait()
				d.pass(time.Minute)
			},
			"crash": func(rt *rapid.T) {
				s = live(rapid.IntRange(0, 20).Draw(rt, "life"))
				time.Sleep(3 * time.Millisecond)
			},
		})
		lossy = false
		s = live(1 << 30)
		for range 20 {
			time.Sleep(3 * time.Millisecond)
			d.pass(time.Hour)
			if err := s.Step(ctx); err != nil {
				rt.Fatal(err)
			}
			s.Wait()
		}
		for key, want := range wished {
			if w.there[key] != want || w.made[key] != 1 {
				rt.Errorf("%s is %q, not %q, and was made %d times", key, w.there[key], want, w.made[key])
			}
		}
		if len(w.there) > len(wished) {
			rt.Errorf("there are %v, wished were %v", w.there, wished)
		}
	})
}
