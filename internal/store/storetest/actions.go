package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/notify"
	"tas-service/internal/run"
	"tas-service/internal/store"
)

// actions asks for one key from many sides at once, through two services: one record, and
// the last wish is what is kept.
func actions(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	service := func(i int) *action.Service {
		return &action.Service{Store: []*store.DB{db, other}[i%2], Clock: time.Now, Log: slog.New(slog.DiscardHandler)}
	}
	const n = 50
	ids, lock := map[string]int{}, sync.Mutex{}
	ask := func(i int, detail any, once bool) {
		a, err := service(i).Ask(ctx, action.Wish{ProjectID: p.ID, Key: "one", Kind: action.Message, Detail: detail, Once: once})
		if err != nil {
			t.Error(err)
		}
		lock.Lock()
		ids[a.ID]++
		lock.Unlock()
	}
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { ask(i, "same", false) })
	}
	wait.Wait()
	if len(ids) != 1 {
		t.Fatalf("one key gave %d actions", len(ids))
	}
	for i := range n {
		wait.Go(func() { ask(i, i+1, false) })
		wait.Go(func() { ask(i, -i, true) })
	}
	wait.Wait()
	as, err := db.Actions(ctx, action.Query{ProjectID: p.ID, Limit: 10})
	must(t, err)
	if len(ids) != 1 || len(as) != 1 || as[0].Version != n+1 || as[0].State != action.Pending {
		t.Errorf("%d IDs, %+v", len(ids), as)
	}
	if as[0].Wish != nil && string(as[0].Wish) != "null" {
		t.Error("a list brings wishes")
	}
	whole, err := db.Action(ctx, p.ID, as[0].ID)
	if err != nil || len(whole.History) == 0 || string(whole.Wish) == "null" {
		t.Errorf("%+v, %v", whole, err)
	}
	for what, err := range map[string]error{
		"other project": second(db.Action(ctx, "none", as[0].ID)), "no action": second(db.Action(ctx, p.ID, "none")), "no project": second(service(0).Ask(ctx, action.Wish{ProjectID: "none", Key: "x", Kind: action.Message})),
		"update": db.UpdateAction(ctx, "none", as[0].ID, func(*action.Action) error { return nil }),
	} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// claims has many claim one action at once, and two of one serial; who lost a claim saves nothing.
func claims(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	s := &action.Service{Store: db, Clock: time.Now}
	var ids []string
	for i := range 6 {
		a, err := s.Ask(ctx, action.Wish{ProjectID: p.ID, Key: fmt.Sprint("k", i), Kind: action.Message, Serial: fmt.Sprint("serial ", i%2)})
		must(t, err)
		ids = append(ids, a.ID)
	}
	now := time.Now().Add(time.Second)
	due, err := other.DueActions(ctx, []action.Kind{action.Message}, now, 10)
	must(t, err)
	if len(due) != 2 || due[0] != ids[0] || due[1] != ids[1] {
		t.Fatalf("due are %v of %v", due, ids)
	}
	for what, q := range map[string]struct {
		kind action.Kind
		at   time.Time
	}{"another kind": {action.Status, now}, "too early": {action.Message, now.Add(-time.Hour)}} {
		if due, err := db.DueActions(ctx, []action.Kind{q.kind}, q.at, 10); err != nil || len(due) != 0 {
			t.Errorf("%s: %v, %v", what, due, err)
		}
	}
	var won atomic.Int32
	var wait sync.WaitGroup
	var winner string
	for i := range 30 {
		wait.Go(func() {
			claim := fmt.Sprint("claim ", i)
			_, ok, err := []*store.DB{db, other}[i%2].ClaimAction(ctx, ids[i%3*2], claim, now, time.Hour) // all of one serial
			if err != nil {
				t.Error(err)
			}
			if ok {
				won.Add(1)
				winner = claim + "/" + ids[i%3*2]
			}
		})
	}
	wait.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d claims of one serial hold", won.Load())
	}
	if due, err := db.DueActions(ctx, []action.Kind{action.Message}, now, 10); err != nil || len(due) != 1 || due[0] != ids[1] {
		t.Errorf("due beside %s are %v, %v", winner, due, err)
	}

	// A claim that ran out is taken over, and fences the first one off.
	if _, ok, err := db.ClaimAction(ctx, ids[1], "stale", now, -time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	must(t, db.KeepClaim(ctx, ids[1], "stale", -time.Hour)) // nobody else has it yet
	if _, ok, err := other.ClaimAction(ctx, ids[3], "beside", now, time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := db.KeepClaim(ctx, ids[1], "stale", time.Hour); fault.KindOf(err) != fault.Superseded {
		t.Errorf("a claim that was over came to life beside another one of its serial: %v", err)
	}
	must(t, other.FinishAction(ctx, ids[3], "beside", func(*action.Action) error { return nil }))
	if _, ok, err := other.ClaimAction(ctx, ids[1], "fresh", now, time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	spoil := func(a *action.Action) error { a.State = action.Failed; return nil }
	for what, err := range map[string]error{"finish": db.FinishAction(ctx, ids[1], "stale", spoil), "keep": db.KeepClaim(ctx, ids[1], "stale", time.Hour)} {
		if fault.KindOf(err) != fault.Superseded {
			t.Errorf("%s of who was fenced off: %v", what, err)
		}
	}
	must(t, other.FinishAction(ctx, ids[1], "fresh", func(a *action.Action) error {
		then := time.Now().AddDate(0, 0, -91)
		a.State, a.DoneAs, a.DoneAt = action.Done, a.Version, &then
		return nil
	}))
	if a, err := db.Action(ctx, p.ID, ids[1]); err != nil || a.State != action.Done {
		t.Errorf("%+v, %v", a, err)
	}
	if err := db.FinishAction(ctx, ids[1], "fresh", spoil); fault.KindOf(err) != fault.Superseded {
		t.Errorf("a claim holds after it was given up: %v", err)
	}
	// Old messages that were sent go, all others stay.
	must(t, s.Sweep(ctx))
	as, err := db.Actions(ctx, action.Query{ProjectID: p.ID, Limit: 10})
	if err != nil || len(as) != 5 || as[0].ID != ids[5] {
		t.Errorf("%d are left, %v", len(as), err)
	}
	page, err := db.Actions(ctx, action.Query{ProjectID: p.ID, Serial: "serial 1", State: action.Pending, Kind: action.Message, Before: ids[5], Limit: 10})
	if err != nil || len(page) != 1 || page[0].ID != ids[3] {
		t.Errorf("%+v, %v", page, err)
	}
}

// policies has an administrator say what waits; what people decide is kept, and noted.
func policies(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	as := func(role account.Role) account.Viewer {
		return account.Viewer{Person: account.Person{ID: string(role)}, Projects: []account.Membership{{ProjectID: p.ID, Role: role}}}
	}
	s := &action.Service{Store: db, Notes: noNotes{}, Clock: time.Now}
	if err := s.SetPolicy(ctx, as(account.RoleMember), p.ID, action.AllButMessageWait); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a member sets the policy: %v", err)
	}
	must(t, s.SetPolicy(ctx, as(account.RoleAdministrator), p.ID, action.PullRequestsWait))
	must(t, s.SetPolicy(ctx, as(account.RoleAdministrator), p.ID, action.AllButMessageWait))
	if got, err := other.ActionPolicy(ctx, p.ID); err != nil || got != action.AllButMessageWait {
		t.Errorf("%q, %v", got, err)
	}
	for _, k := range action.Kinds() {
		_, err := s.Ask(ctx, action.Wish{ProjectID: p.ID, Key: string(k), Kind: k})
		must(t, err)
	}
	if n, err := s.Waiting(ctx, p.ID); err != nil || n != len(action.Kinds())-2 { // all but messages and commands
		t.Errorf("%d wait, %v", n, err)
	}
}

type noNotes struct{}

func (noNotes) Note(context.Context, account.Viewer, account.Act, string, string) error { return nil }

// announced tells of each run that has ended until everybody was told.
func announced(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	ids := []string{failing(t, db, p.ID, "a", 1), failing(t, db, p.ID, "b", 1)} // and one that has not ended
	rs, err := other.Unannounced(ctx, "", 10)
	if err != nil || len(rs) != 2 || rs[0].ID > rs[1].ID {
		t.Fatalf("%+v, %v", rs, err)
	}
	if rs, err := db.Unannounced(ctx, rs[0].ID, 10); err != nil || len(rs) != 1 {
		t.Errorf("%+v, %v", rs, err)
	}
	of := func(id string) run.Run {
		t.Helper()
		r, err := db.Run(ctx, id)
		must(t, err)
		return r
	}
	must(t, db.Announced(ctx, of(ids[0])))
	if rs, err := other.Unannounced(ctx, "", 10); err != nil || len(rs) != 1 || rs[0].ID != ids[1] {
		t.Errorf("%+v, %v", rs, err)
	}
	// One that is judged anew is to be told again, also if it was being told just then.
	stale := of(ids[0])
	s := bug.Service{Store: other, Clock: time.Now}
	_, err = s.Submit(ctx, account.Actor{ProjectID: p.ID, Via: account.ViaKey, KeyID: "k"}, ids[0], "", []bug.Saying{{TestID: "test-0", Word: run.WordPassed}})
	must(t, err)
	must(t, db.Announced(ctx, stale))
	must(t, db.Announced(ctx, of(ids[1])))
	if rs, err := other.Unannounced(ctx, "", 10); err != nil || len(rs) != 1 || rs[0].ID != ids[0] || rs[0].Verdict != run.Pass {
		t.Errorf("judged anew: %+v, %v", rs, err)
	}
	must(t, db.Announced(ctx, of(ids[0])))
	if rs, err := other.Unannounced(ctx, "", 10); err != nil || len(rs) != 0 {
		t.Errorf("told twice: %+v, %v", rs, err)
	}
}

// destinations keeps secrets sealed for whoever adds many at once.
func destinations(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	var wait sync.WaitGroup
	var refused atomic.Int32
	for i := range 20 {
		wait.Go(func() {
			_, err := []*store.DB{db, other}[i%2].UpdateDestination(ctx, p.ID, "", func(d *notify.Destination, others int) error {
				if others >= 3 {
					return fault.New(fault.Conflict, "enough")
				}
				d.Name, d.Kind, d.Secrets = fmt.Sprint("d", i), notify.Webhook, notify.Secrets{URL: "https://example.com/s3cret", Key: "whsec_x"}
				d.Filter = notify.Filter{Events: notify.Types(), Branches: []string{"main"}}
				return nil
			})
			if fault.KindOf(err) == fault.Conflict {
				refused.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	ds, err := db.Destinations(ctx, p.ID)
	if err != nil || len(ds) != 3 || refused.Load() != 17 || ds[0].Secrets.URL != "https://example.com/s3cret" || ds[0].Secrets.Key != "whsec_x" || len(ds[0].Filter.Events) != len(notify.Types()) {
		t.Fatalf("%d, %d refused, %v", len(ds), refused.Load(), err)
	}
	same := func(d *notify.Destination, _ int) error { d.Name = ds[1].Name; return nil }
	if _, err := db.UpdateDestination(ctx, p.ID, ds[0].ID, same); fault.KindOf(err) != fault.Conflict {
		t.Errorf("two have one name: %v", err)
	}
	must(t, db.DropDestination(ctx, p.ID, ds[0].ID))
	if _, err := other.Destination(ctx, p.ID, ds[0].ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	if _, err := other.UpdateDestination(ctx, "none", ds[1].ID, same); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}
