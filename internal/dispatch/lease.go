package dispatch

import (
	"context"
	"slices"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/run"
)

// View is what of a run's queue one lease needs to see.
type View struct {
	Waiting   []Unit        // the first of those that wait and are on offer, longest first
	WaitingN  int           // all of these
	WaitingIn time.Duration // predicted for all of these
	Again     []Unit        // granted to this attempt before, and never received
	Open      int           // units of the whole run that are not over
	Browsers  []string      // Playwright projects of those
	Workers   int           // Playwright workers of all attempts that are open
}

// without answers the view of a shard that does not have some tests: their units are left
// to others, and where nothing else waits it need not stay for them.
func (v View) without(lacks []string) View {
	if len(lacks) == 0 {
		return v
	}
	waiting := v.Waiting
	v.Waiting = nil
	for _, u := range waiting {
		if slices.ContainsFunc(u.Tests, func(id string) bool { return slices.Contains(lacks, id) }) {
			v.WaitingN, v.WaitingIn = v.WaitingN-1, v.WaitingIn-u.Predicted
			continue
		}
		v.Waiting = append(v.Waiting, u)
	}
	return v
}

// Bounds of a grant.
const (
	// A unit that is handed out singly costs the way to the service and back once, so the
	// work of one grant is worth so many ways, and at least leastWorth of it.
	waysWorth    = 20
	leastWorth   = 400 * time.Millisecond
	longestGrant = 10 * time.Second
	// shrink makes grants smaller as the rest does (guided self-scheduling, Polychronopoulos
	// and Kuck 1987, with a factor as in factoring, Hummel and others 1992): what one slow
	// worker can hold is at most this part of its fair share of what is left.
	shrink = 4
	// aheadOf is how many further units each worker must be able to get before one that is
	// busy gets its next in advance: that hides the way to the service, and near the end it
	// would keep a unit waiting behind another while somebody is idle.
	aheadOf = 2
	// aheadPart is how small a part of its worker's fair share a longer unit must be to be
	// handed out in advance: what it may wait for, behind a test that takes longer than was
	// thought, the others can still make good.
	aheadPart = 8
)

// share answers how many of the waiting units to hand to an attempt of which so many
// workers are free, and that needs so long to ask: longest first. A unit that is worth the
// way goes alone, and in advance only while much else waits; shorter ones go together, in
// portions that shrink towards the end, and in advance.
func share(v View, free, queued int, way time.Duration) int {
	worth := min(max(leastWorth, waysWorth*way), longestGrant)
	fair := v.WaitingIn / time.Duration(max(1, v.Workers)) // of what waits, for each worker
	if len(v.Waiting) == 0 || free <= 0 && (queued > 0 || v.WaitingN <= aheadOf*v.Workers || v.Waiting[0].Predicted > max(worth, fair/aheadPart)) {
		return 0
	}
	portion := min(worth, fair/shrink)
	n := 0
	for range max(1, free) {
		for held := time.Duration(0); n < len(v.Waiting); {
			held += v.Waiting[n].Predicted
			if n++; held >= portion {
				break
			}
		}
	}
	return n
}

// closed reports whether what a shard offers will get nothing more. A shard with nothing
// to come stays for as long as others still hold units, since one of them may be lost;
// one with more projects to come goes on to them.
func closed(v View, w attempt.Want) bool {
	if v.WaitingN > 0 || len(v.Again) > 0 {
		return false
	}
	if v.Open == 0 {
		return true
	}
	for _, b := range v.Browsers {
		if !slices.Contains(w.Offered, b) && !slices.Contains(w.Passed, b) {
			return true
		}
	}
	// Only what passed by is open: another shard will have to take it.
	return !slices.ContainsFunc(v.Browsers, func(b string) bool { return slices.Contains(w.Offered, b) })
}

// Times that an idle shard's question is held back.
const (
	leaseHold = 10 * time.Second
	leasePoll = time.Second // another service may have changed the queue
)

// Lease hands out tests to a shard that has room.
func (d *Dispatcher) Lease(ctx context.Context, a Attempt, w attempt.Want) (attempt.Grant, error) {
	if len(w.Refused) > 0 {
		if err := d.takeBack(ctx, a, w.Refused); err != nil {
			return attempt.Grant{}, err
		}
	}
	changed, stop := d.Hub.Watch(queueTopic(a.RunID))
	defer stop()
	hold := time.NewTimer(leaseHold)
	defer hold.Stop()
	for {
		g, err := d.lease(ctx, a, w)
		if err != nil || len(g.Units) > 0 || g.Close || w.Free <= 0 {
			return g, err
		}
		for waiting, held := 0, 1; waiting == 0 && held > 0; {
			select {
			case <-ctx.Done():
				return g, nil
			case <-hold.C:
				return g, nil
			case <-changed:
			case <-time.After(leasePoll):
			}
			// Looked at without a lock: many shards wait near the end, and few are needed.
			if waiting, held, err = d.Store.Unfinished(ctx, a.RunID); err != nil {
				return g, err
			}
		}
	}
}

func (d *Dispatcher) lease(ctx context.Context, a Attempt, w attempt.Want) (g attempt.Grant, err error) {
	err = d.Store.Lease(ctx, a.ID, w.Offered, w.Received, func(a *Attempt, r *run.Run, v View) ([]Unit, error) {
		g = attempt.Grant{Number: a.Grants}
		if !a.State.Open() {
			return nil, superseded(*a)
		}
		if r.Phase != run.Running || r.Error != nil {
			g.Close = true
			return nil, nil
		}
		for _, u := range v.Again {
			g.Units = append(g.Units, u.Tests)
		}
		if len(g.Units) > 0 {
			return nil, nil
		}
		v = v.without(w.Lacks)
		grant := v.Waiting[:share(v, w.Free, w.Queued, millis(w.WayMs))]
		if len(grant) == 0 {
			g.Close = closed(v, w)
			return nil, nil
		}
		a.Grants++
		g.Number = a.Grants
		now := d.Clock()
		for i := range grant {
			u := &grant[i]
			u.State, u.AttemptID, u.Grant, u.GrantedAt = Held, a.ID, a.Grants, &now
			g.Units = append(g.Units, u.Tests)
		}
		return grant, nil
	})
	return g, err
}

// unlisted is why a test cannot be run by a shard that was given it.
const unlisted = "A shard that was given it does not list it: are its titles the same each time?"

// takeBack returns units that a shard was granted and does not have, as when a test's
// title changes from one listing to the next. Each time counts as a loss, so that this
// ends. Of a unit that it has in part, the other part ends there.
func (d *Dispatcher) takeBack(ctx context.Context, a Attempt, refused []string) error {
	err := d.Store.Release(ctx, a.ID, func(a *Attempt, r *run.Run, held []*Unit, results map[string]*run.Result) error {
		if !a.State.Open() {
			return superseded(*a)
		}
		var back []*Unit
		for _, u := range held {
			var without []string
			for _, id := range u.Tests {
				if slices.Contains(refused, id) {
					without = append(without, id)
				}
			}
			switch len(without) {
			case 0:
			case len(u.Tests):
				u.Losses++
				back = append(back, u)
			default:
				for _, id := range without {
					if t := results[id]; t != nil && !t.Status.Final() {
						count(r, t, func(t *run.Result) { loseTest(t, unlisted) })
					}
				}
				if !slices.ContainsFunc(u.Tests, func(id string) bool { t := results[id]; return t != nil && !t.Status.Final() }) {
					u.State = Done // the other part ended before
				}
			}
		}
		giveBack(r, "", back, results, unlisted)
		return nil
	})
	if err == nil {
		d.changed(a.RunID, a.ProjectID)
		d.queueChanged(a.RunID)
	}
	return err
}
