package action_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/secret"
	"tas-service/internal/store"
)

// desk is a service on a real store, with a clock that a test moves.
type desk struct {
	*action.Service
	db    *store.DB
	p     project.Project
	mu    sync.Mutex
	now   time.Time
	notes []string
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	keys, err := secret.NewKeyring(make([]byte, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenSQLite(context.Background(), filepath.Join(t.TempDir(), "tas.db"), keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	p, _, err := db.CreateProject(context.Background(), project.Project{Name: "Case"})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{db: db, p: p, now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	d.Service = &action.Service{Store: db, Notes: d, Clock: d.clock, Log: slog.New(slog.DiscardHandler)}
	return d
}

func (d *desk) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *desk) pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

func (d *desk) Note(_ context.Context, _ account.Viewer, act account.Act, _, about string) error {
	d.notes = append(d.notes, string(act)+": "+about)
	return nil
}

func (d *desk) as(role account.Role) account.Viewer {
	return account.Viewer{Person: account.Person{ID: "ada", Name: "Ada"}, Projects: []account.Membership{{ProjectID: d.p.ID, Role: role}}}
}

func (d *desk) ask(t testing.TB, key string, detail any) action.Action {
	t.Helper()
	a, err := d.Ask(context.Background(), action.Wish{ProjectID: d.p.ID, Key: key, Kind: action.Message, Target: "there", About: "this", Detail: detail})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (d *desk) get(t testing.TB, id string) action.Action {
	t.Helper()
	a, err := d.db.Action(context.Background(), d.p.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// step steps and waits for what it began.
func (d *desk) step(t testing.TB) {
	t.Helper()
	if err := d.Step(context.Background()); err != nil {
		t.Fatal(err)
	}
	d.Wait()
}

type doerFunc func(ctx context.Context, a action.Action) (json.RawMessage, string, error)

func (f doerFunc) Do(ctx context.Context, a action.Action) (json.RawMessage, string, error) {
	return f(ctx, a)
}

func (d *desk) doing(f doerFunc) { d.Doers = map[action.Kind]action.Doer{action.Message: f} }

// TestTries goes through what an error does: some are tried again with growing patience,
// others are final, and a person may have them tried again.
func TestTries(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var next error
	d.doing(func(context.Context, action.Action) (json.RawMessage, string, error) {
		return json.RawMessage(`{"n":1}`), "", next
	})
	a := d.ask(t, "k", 1)
	next = fault.New(fault.Unavailable, "The other side is away.")
	gone, tries := time.Duration(0), 0
	for d.get(t, a.ID).State == action.Pending {
		d.step(t)
		now := d.get(t, a.ID)
		if tries++; now.Tries != tries || tries > 200 {
			t.Fatalf("%d tries, not %d: %+v", now.Tries, tries, now)
		}
		wait := now.NotBefore.Sub(d.clock())
		if now.State == action.Pending && (wait < min(2*time.Second<<(tries-1), 30*time.Minute) && tries < 20 || wait < 2*time.Second || wait > 30*time.Minute) {
			t.Errorf("try %d is followed after %s", tries, wait)
		}
		d.step(t) // too early: nothing happens
		if again := d.get(t, a.ID); again.Tries != tries {
			t.Fatal("tried before its time")
		}
		d.pass(wait)
		gone += wait
	}
	if gone < 23*time.Hour || gone > 25*time.Hour || !strings.Contains(d.get(t, a.ID).Answer, "is away") {
		t.Errorf("given up after %s: %+v", gone, d.get(t, a.ID))
	}
	ctx := context.Background()
	if err := d.Retry(ctx, d.as(account.RoleViewer), d.p.ID, a.ID); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a viewer has it tried again: %v", err)
	}
	if err := d.Retry(ctx, d.as(account.RoleMember), d.p.ID, a.ID); err != nil {
		t.Fatal(err)
	}
	next = fault.New(fault.External, "No.")
	d.step(t)
	if got := d.get(t, a.ID); got.State != action.Failed || got.Tries != 1 {
		t.Errorf("a final error: %+v", got)
	}
	// The same wish changes nothing; another one is tried anew.
	if got := d.ask(t, "k", 1); got.State != action.Failed || got.Version != 1 {
		t.Errorf("%+v", got)
	}
	if got := d.ask(t, "k", 2); got.State != action.Pending || got.Version != 2 || got.Tries != 0 {
		t.Errorf("%+v", got)
	}
	limited := fault.New(fault.RateLimited, "Too many.")
	limited.RetryAfter = time.Hour
	next = limited
	d.step(t)
	if got := d.get(t, a.ID); got.NotBefore.Sub(d.clock()) != time.Hour {
		t.Errorf("tried again after %s", got.NotBefore.Sub(d.clock()))
	}
	d.pass(time.Hour)
	next = errors.New("token=s3cret")
	d.step(t)
	if got := d.get(t, a.ID); strings.Contains(got.Answer, "s3cret") || got.State != action.Pending {
		t.Errorf("an unknown error: %+v", got)
	}
	d.pass(time.Hour)
	next = nil
	d.step(t)
	if got := d.get(t, a.ID); got.State != action.Done || got.DoneAs != 2 || string(got.Result) != `{"n":1}` {
		t.Errorf("%+v", got)
	}
	if len(d.notes) != 1 || !strings.Contains(d.notes[0], "tried again") {
		t.Errorf("on record: %q", d.notes)
	}
}

// TestPause grows from seconds to half an hour, and spreads.
func TestPause(t *testing.T) {
	t.Parallel()
	for tries, want := range map[int][2]time.Duration{1: {2 * time.Second, 2500 * time.Millisecond}, 2: {4 * time.Second, 5 * time.Second}, 11: {30 * time.Minute, 30 * time.Minute}, 1000: {30 * time.Minute, 30 * time.Minute}} {
		least, most := action.Pause(tries, action.DefaultTiming, 0), action.Pause(tries, action.DefaultTiming, 1)
		if least != want[0] || most != want[1] {
			t.Errorf("after %d tries from %s to %s", tries, least, most)
		}
	}
}

// TestDecisions goes along what a person may decide, from every state.
func TestDecisions(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), context.Background()
	member := d.as(account.RoleMember)
	if err := d.SetPolicy(ctx, d.as(account.RoleAdministrator), d.p.ID, action.PullRequestsWait); err != nil {
		t.Fatal(err)
	}
	wish := func(detail int) action.Action {
		a, err := d.Ask(ctx, action.Wish{ProjectID: d.p.ID, Key: "pr", Kind: action.PullRequest, Detail: detail})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := wish(1)
	if a.State != action.Waiting || wish(2).State != action.Waiting {
		t.Fatalf("%+v", a)
	}
	if err := d.Approve(ctx, member, d.p.ID, a.ID, 1); fault.KindOf(err) != fault.Conflict {
		t.Errorf("approved what nobody saw: %v", err)
	}
	if err := d.Reject(ctx, member, d.p.ID, a.ID, 2); err != nil {
		t.Fatal(err)
	}
	if got := wish(3); got.State != action.Rejected || got.Version != 3 {
		t.Errorf("%+v", got)
	}
	if err := d.Retry(ctx, member, d.p.ID, a.ID); fault.KindOf(err) != fault.Conflict {
		t.Errorf("what was rejected is tried again: %v", err)
	}
	for what, err := range map[string]error{
		"viewer": d.Approve(ctx, d.as(account.RoleViewer), d.p.ID, a.ID, 3), "stranger": d.Approve(ctx, account.Viewer{}, d.p.ID, a.ID, 3), "no action": d.Approve(ctx, member, d.p.ID, "none", 0),
	} {
		if k := fault.KindOf(err); k != fault.Forbidden && k != fault.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := d.Approve(ctx, member, d.p.ID, a.ID, 3); err != nil {
		t.Fatal(err)
	}
	got := d.get(t, a.ID)
	if got.State != action.Pending || got.DecidedBy != "person:ada" || len(got.History) != 5 {
		t.Errorf("%+v", got)
	}
	if err := d.Approve(ctx, member, d.p.ID, a.ID, 3); fault.KindOf(err) != fault.Conflict {
		t.Errorf("approved twice: %v", err)
	}
	if len(d.notes) != 3 || !strings.HasPrefix(d.notes[2], string(account.ActPullRequest)) {
		t.Errorf("on record: %q", d.notes)
	}
}

// TestNewerWish is asked for while the older one is done: it is done after it.
func TestNewerWish(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var seen []string
	d.doing(func(_ context.Context, a action.Action) (json.RawMessage, string, error) {
		seen = append(seen, string(a.Wish))
		if len(seen) == 1 {
			d.ask(t, "k", 2)
		}
		return nil, "ok", nil
	})
	a := d.ask(t, "k", 1)
	d.step(t)
	if got := d.get(t, a.ID); got.State != action.Pending || got.DoneAs != 1 || got.Version != 2 {
		t.Fatalf("%+v", got)
	}
	d.step(t)
	if got := d.get(t, a.ID); got.State != action.Done || got.DoneAs != 2 || strings.Join(seen, " ") != "1 2" {
		t.Errorf("%+v after %q", got, seen)
	}
}

// TestSlowAndBroken has one deed hang, one panic and one be quick: the quick one is done,
// of the hanging one's serial nothing else is begun, and no more than fit are under way.
func TestSlowAndBroken(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), context.Background()
	d.Timing = action.DefaultTiming
	d.Timing.AtOnce = 2
	hold, woken := make(chan struct{}), make(chan struct{}, 100)
	d.Wake = func() { woken <- struct{}{} }
	var under, most atomic.Int32
	d.doing(func(_ context.Context, a action.Action) (json.RawMessage, string, error) {
		most.Store(max(most.Load(), under.Add(1)))
		defer under.Add(-1)
		switch {
		case strings.HasPrefix(a.Key, "hang"):
			<-hold
		case a.Key == "panic":
			panic("no")
		}
		return nil, "", nil
	})
	wish := func(key, serial string) action.Action {
		a, err := d.Ask(ctx, action.Wish{ProjectID: d.p.ID, Key: key, Serial: serial, Kind: action.Message})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first, second := wish("hang", "slow"), wish("hang after it", "slow")
	broken, quick := wish("panic", ""), wish("quick", "")
	for d.get(t, quick.ID).State != action.Done || d.get(t, broken.ID).Tries != 1 { // steps do not wait
		if err := d.Step(ctx); err != nil {
			t.Fatal(err)
		}
		<-woken
	}
	if d.get(t, first.ID).Tries != 0 || d.get(t, second.ID).Tries != 0 || most.Load() > 2 {
		t.Errorf("%d at once, %+v", most.Load(), d.get(t, second.ID))
	}
	if got := d.get(t, broken.ID); got.State != action.Pending {
		t.Errorf("the one that panics: %+v", got)
	}
	close(hold)
	d.Wait()
	d.step(t)
	if d.get(t, first.ID).State != action.Done || d.get(t, second.ID).State != action.Done {
		t.Error("the slow ones are not done")
	}
}

// TestHangs leaves a deed behind that does not end when it is told to; nothing of its
// serial is begun until it has ended.
func TestHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		hold := make(chan struct{})
		var begun atomic.Int32 // the race detector does not know synctest's clock
		s := &action.Service{Store: m, Clock: time.Now, Log: slog.New(slog.DiscardHandler), Doers: map[action.Kind]action.Doer{
			action.Message: doerFunc(func(context.Context, action.Action) (json.RawMessage, string, error) {
				begun.Add(1)
				<-hold // whatever ctx says
				return nil, "", nil
			})}}
		m.a = action.Action{ID: "1", Serial: "s", Kind: action.Message, Version: 1, State: action.Pending}
		began := time.Now()
		if err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Wait()
		if took := time.Since(began); took < action.DefaultTiming.DoFor || took > action.DefaultTiming.DoFor+time.Minute || m.a.Tries != 1 || m.kept == 0 {
			t.Errorf("left behind after %s, renewed %d times: %+v", took, m.kept, m.a)
		}
		time.Sleep(time.Hour)
		if err := s.Step(t.Context()); err != nil || begun.Load() != 1 {
			t.Errorf("begun %d times, %v", begun.Load(), err)
		}
		close(hold)
		synctest.Wait()
		time.Sleep(time.Hour)
		if err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Wait()
		if begun.Load() != 2 || m.a.State != action.Done {
			t.Errorf("begun %d times: %+v", begun.Load(), m.a)
		}
	})
}

// TestLeaseLost tells a deed to end before its claim is over when that cannot be renewed,
// since another service may begin it then.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]func(ctx context.Context) error{
		"refused": func(context.Context) error { return errors.New("the database is away") },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{keep: keep}
			began := time.Now()
			var ended time.Duration
			s := &action.Service{Store: m, Clock: time.Now, Log: slog.New(slog.DiscardHandler), Doers: map[action.Kind]action.Doer{
				action.Message: doerFunc(func(ctx context.Context, _ action.Action) (json.RawMessage, string, error) {
					<-ctx.Done()
					ended = time.Since(began)
					return nil, "", ctx.Err()
				})}}
			m.a = action.Action{ID: "1", Serial: "s", Kind: action.Message, Version: 1, State: action.Pending}
			if err := s.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.Wait()
			if ended == 0 || ended >= action.DefaultTiming.ClaimFor {
				t.Errorf("%s: it ended after %s", name, ended)
			}
		})
	}
}

// TestResultBesideError keeps what a try found out before it failed.
func TestResultBesideError(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.doing(func(context.Context, action.Action) (json.RawMessage, string, error) {
		return json.RawMessage(`{"commit":"c"}`), "", fault.New(fault.Unavailable, "Not now.")
	})
	a := d.ask(t, "k", 1)
	d.step(t)
	if got := d.get(t, a.ID); got.State != action.Pending || string(got.Result) != `{"commit":"c"}` {
		t.Errorf("%+v", got)
	}
}

// TestNewerWaits has a person approve each version where the policy says so, not only the
// first one.
func TestNewerWaits(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), context.Background()
	wish := func(detail int) action.Action {
		t.Helper()
		a, err := d.Ask(ctx, action.Wish{ProjectID: d.p.ID, Key: "pr", Kind: action.PullRequest, Detail: detail})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	d.Doers = map[action.Kind]action.Doer{action.PullRequest: doerFunc(func(context.Context, action.Action) (json.RawMessage, string, error) { return nil, "", nil })}
	if a := wish(1); a.State != action.Pending {
		t.Errorf("%+v", a)
	}
	if err := d.SetPolicy(ctx, d.as(account.RoleAdministrator), d.p.ID, action.PullRequestsWait); err != nil {
		t.Fatal(err)
	}
	a := wish(2)
	if a.State != action.Waiting {
		t.Errorf("asked for after the policy was set: %+v", a)
	}
	if err := d.Approve(ctx, d.as(account.RoleMember), d.p.ID, a.ID, 2); err != nil {
		t.Fatal(err)
	}
	d.step(t)
	if got := d.get(t, a.ID); got.State != action.Done {
		t.Errorf("%+v", got)
	}
	if a = wish(3); a.State != action.Waiting || a.DoneAs != 2 {
		t.Errorf("changed after it was approved: %+v", a)
	}
}

// memory is one action, for tests on a clock that real databases do not follow.
type memory struct {
	action.Store
	a    action.Action
	kept int
	keep func(ctx context.Context) error
}

func (m *memory) DueActions(_ context.Context, _ []action.Kind, now time.Time, _ int) ([]string, error) {
	if m.a.State != action.Pending || now.Before(m.a.NotBefore) {
		return nil, nil
	}
	return []string{m.a.ID}, nil
}

func (m *memory) ClaimAction(context.Context, string, string, time.Time, time.Duration) (action.Action, bool, error) {
	return m.a, true, nil
}

func (m *memory) KeepClaim(ctx context.Context, _, _ string, _ time.Duration) error {
	m.kept++
	if m.keep != nil {
		return m.keep(ctx)
	}
	return nil
}

func (m *memory) FinishAction(_ context.Context, _, _ string, change func(*action.Action) error) error {
	return change(&m.a)
}
