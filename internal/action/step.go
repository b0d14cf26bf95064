package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"tas-service/internal/fault"
)

// Timing is how patient the service is.
type Timing struct {
	First    time.Duration // before the second try; doubled for each one after it
	Longest  time.Duration // between two tries
	GiveUp   time.Duration // after the first try
	DoFor    time.Duration // one try may take
	ClaimFor time.Duration // after which another service takes over what this one does not renew
	AtOnce   int           // actions under way
}

// DefaultTiming is the one of a service at work.
var DefaultTiming = Timing{First: 2 * time.Second, Longest: 30 * time.Minute, GiveUp: 24 * time.Hour, DoFor: 2 * time.Minute, ClaimFor: 20 * time.Second, AtOnce: 8}

// grace is how long a try that was told to end may take to do so before it is left behind.
const grace = 5 * time.Second

func (s *Service) timing() Timing {
	if s.Timing == (Timing{}) {
		return DefaultTiming
	}
	return s.Timing
}

// Step is for a reconcile.Loop: it begins what is due, as far as there is room, and does
// not wait for it; what ends asks for the next step. ctx is the service's: when it is done
// tries under way are broken off, and Wait waits for them.
func (s *Service) Step(ctx context.Context) error {
	if s.Leading != nil && !s.Leading() {
		return nil
	}
	kinds := make([]Kind, 0, len(s.Doers))
	for _, k := range Kinds() {
		if s.Doers[k] != nil {
			kinds = append(kinds, k)
		}
	}
	t := s.timing()
	if len(kinds) == 0 || !s.room(t) {
		return nil
	}
	// Twice as many as fit: some may be of a serial that is busy here.
	ids, err := s.Store.DueActions(ctx, kinds, s.Clock(), 2*t.AtOnce)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		if !s.room(t) || ctx.Err() != nil {
			break
		}
		claim := uuid.NewString()
		a, ok, err := s.Store.ClaimAction(ctx, id, claim, s.Clock(), t.ClaimFor)
		if err != nil || !ok {
			errs = append(errs, err)
			continue
		}
		if !s.begin(ctx, a, claim, t) {
			// One that was left behind has not ended yet. The claim is given up with a pause.
			errs = append(errs, s.Store.FinishAction(ctx, a.ID, claim, func(a *Action) error {
				a.NotBefore = s.Clock().Add(t.First)
				return nil
			}))
		}
	}
	return errors.Join(errs...)
}

// Wait waits until nothing is under way, but for what was left behind.
func (s *Service) Wait() { s.wait.Wait() }

func (s *Service) room(t Timing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used < t.AtOnce
}

// begin carries an action out beside the caller, unless its serial is busy.
func (s *Service) begin(ctx context.Context, a Action, claim string, t Timing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[a.Serial] {
		return false
	}
	if s.busy == nil {
		s.busy = map[string]bool{}
	}
	s.busy[a.Serial] = true
	s.used++
	s.wait.Go(func() {
		s.carryOut(ctx, a, claim, t)
		s.mu.Lock()
		s.used--
		s.mu.Unlock()
		if ctx.Err() == nil {
			s.wake()
		}
	})
	return true
}

// saveFor bounds the saving of what came of a try.
const saveFor = 20 * time.Second

// outcome is what came of a try.
type outcome struct {
	result json.RawMessage
	answer string
	err    error
}

// carryOut does one try and saves what came of it.
func (s *Service) carryOut(ctx context.Context, a Action, claim string, t Timing) {
	doing, stop := context.WithTimeout(ctx, t.DoFor)
	defer stop()
	ended := make(chan outcome, 1)
	go func() {
		o := s.do(doing, a)
		s.mu.Lock()
		delete(s.busy, a.Serial)
		s.mu.Unlock()
		ended <- o
	}()
	renew := time.NewTicker(t.ClaimFor / 4)
	defer renew.Stop()
	kept := time.Now() // when the claim is known to have been ours
	var late <-chan time.Time
	over := doing.Done()
	for {
		select {
		case o := <-ended:
			s.finish(ctx, a, claim, t, o)
			return
		case <-over:
			over, late = nil, time.After(grace)
		case <-late:
			s.Log.Error("an action did not end when it was told to, and is left behind", "action", a.ID, "kind", a.Kind)
			s.finish(ctx, a, claim, t, outcome{err: fault.New(fault.Unavailable, "It took longer than %s.", t.DoFor)})
			return
		case <-renew.C:
			asked := time.Now()
			within, cancel := context.WithTimeout(ctx, t.ClaimFor/4)
			err := s.Store.KeepClaim(within, a.ID, claim, t.ClaimFor)
			cancel()
			if err == nil {
				kept = asked
				break
			}
			if ctx.Err() == nil {
				s.Log.Warn("a claim cannot be renewed", "action", a.ID, "error", err)
			}
			// Another service does it, or may as soon as the claim is over.
			if fault.KindOf(err) == fault.Superseded || time.Since(kept) >= t.ClaimFor/2 {
				stop()
			}
		}
	}
}

// do has the deed done; a panic is an error like any other.
func (s *Service) do(ctx context.Context, a Action) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("an action panicked", "action", a.ID, "kind", a.Kind, "panic", p)
			o = outcome{err: fault.New(fault.Internal, "panic: %v", p)}
		}
	}()
	o.result, o.answer, o.err = s.Doers[a.Kind].Do(ctx, a)
	return o
}

// finish saves what came of a try. Where another service took over nothing is saved: that
// one looks first, and saves what is there.
func (s *Service) finish(ctx context.Context, a Action, claim string, t Timing, o outcome) {
	stopped := ctx.Err() != nil && o.err != nil
	// Also when the service ends: the claim is given up for the next one.
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveFor)
	defer cancel()
	err := s.Store.FinishAction(save, a.ID, claim, func(now *Action) error {
		if stopped {
			return nil // it was broken off, and counts for nothing
		}
		s.settle(now, a.Version, t, o)
		return nil
	})
	if err != nil {
		s.Log.Error("what came of an action cannot be saved, so that it will be tried again", "action", a.ID, "kind", a.Kind, "error", err)
	}
}

// settle notes on an action what came of doing a version of it.
func (s *Service) settle(a *Action, version int, t Timing, o outcome) {
	at := s.Clock().UTC()
	a.ChangedAt, a.Answer = at, Cleanse(o.answer, maxAnswer)
	if o.err != nil && a.Answer == "" {
		a.Answer = Cleanse(explain(o.err), maxAnswer)
	}
	e := Event{At: at, What: "done", Version: version, By: byItself, Answer: a.Answer}
	newer := a.Version != version
	if !newer {
		a.Tries++
		if a.Since == nil {
			a.Since = &at
		}
	}
	if o.result != nil {
		a.Result = o.result // also beside an error: the next try goes on from there
	}
	switch {
	case o.err == nil:
		a.DoneAs, a.DoneAt = version, &at
		if !newer && a.State == Pending {
			a.State = Done
		}
	case fault.KindOf(o.err) == fault.Internal:
		s.Log.Error("an action failed", "action", a.ID, "kind", a.Kind, "error", o.err)
		fallthrough
	default:
		e.What = "failed"
		if newer || a.State != Pending {
			break // what is wished now has its own tries
		}
		wait := Pause(a.Tries, t, rand.Float64())
		if f := fault.As(o.err); f != nil {
			wait = max(wait, f.RetryAfter)
		}
		a.NotBefore = at.Add(wait)
		if fault.Permanent(o.err) || a.NotBefore.Sub(*a.Since) > t.GiveUp {
			e.What, a.State, a.NotBefore = "given up", Failed, at
		}
	}
	a.note(e)
}

// Pause answers how long to wait after so many tries; chance is from 0 up to 1, and makes
// what failed together come back apart.
func Pause(tries int, t Timing, chance float64) time.Duration {
	d := t.First
	for range tries - 1 {
		if d *= 2; d >= t.Longest {
			break
		}
	}
	return min(d+time.Duration(chance*float64(d)/4), t.Longest)
}

// explain says for people why a try failed.
func explain(err error) string {
	if f := fault.As(err); f != nil && f.Kind != fault.Internal {
		return f.Public()
	}
	return fmt.Sprintf("Something went wrong in the service (%s); its log says more.", fault.KindOf(err))
}

// maxAnswer bounds what is kept of an answer, in bytes.
const maxAnswer = 2000

// Cleanse answers what the other side said without what would steer a terminal or a page,
// at most so many bytes of it.
func Cleanse(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
