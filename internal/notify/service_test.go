package notify_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/notify"
	"tas-service/internal/notify/httpcall"
	"tas-service/internal/notify/notifytest"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/secret"
	"tas-service/internal/store"
)

// office is a service on a real store that calls real receivers.
type office struct {
	*notify.Service
	t  *testing.T
	db *store.DB
	p  project.Project
	v  account.Viewer
	n  int
}

type silent struct{}

func (silent) Note(context.Context, account.Viewer, account.Act, string, string) error { return nil }

func newOffice(t *testing.T) *office {
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
	p, _, err := db.CreateProject(context.Background(), project.Project{Name: "Shop"})
	if err != nil {
		t.Fatal(err)
	}
	actions := &action.Service{Store: db, Notes: silent{}, Clock: time.Now, Log: slog.New(slog.DiscardHandler)}
	o := &office{t: t, db: db, p: p, v: account.Viewer{Person: account.Person{ID: "ada"}, Projects: []account.Membership{{ProjectID: p.ID, Role: account.RoleAdministrator}}}}
	o.Service = &notify.Service{Store: db, Actions: actions, Projects: db, Runs: db, Bugs: db, Notes: silent{}, Caller: httpcall.New(true), Insecure: true,
		RunURL: func(id string) string { return "https://tas.example/runs/" + id }, BugURL: func(b bug.Bug) string { return "https://tas.example/bugs/" + b.Key() }, Clock: time.Now}
	actions.Doers = map[action.Kind]action.Doer{action.Message: o}
	return o
}

func (o *office) add(kind notify.Kind, url string, f notify.Filter) (notify.Destination, string) {
	o.t.Helper()
	if f.Events == nil {
		f.Events = []notify.Type{notify.RunFinished}
	}
	o.n++
	d, key, err := o.Save(context.Background(), o.v, notify.Destination{ProjectID: o.p.ID, Name: fmt.Sprint("d", o.n), Kind: kind, Filter: f, Secrets: notify.Secrets{URL: url}})
	if err != nil {
		o.t.Fatal(err)
	}
	return d, key
}

// ended records a run that ended so, and has it told, twice.
func (o *office) ended(branch string, phase run.Phase) run.Run {
	o.t.Helper()
	ctx, now := context.Background(), time.Now()
	o.n++
	verdict := run.Fail
	if phase == run.Passed {
		verdict = run.Pass
	}
	r := run.Run{ID: uuid.Must(uuid.NewV7()).String(), ProjectID: o.p.ID, Name: fmt.Sprint("run-", o.n), Trigger: run.TriggerCI, Phase: phase, Verdict: verdict, Selection: run.Selection{Kind: run.SelectSuite}, Branch: branch, CreatedAt: now, FinishedAt: &now}
	if _, err := o.db.CreateRun(ctx, &r, nil); err != nil {
		o.t.Fatal(err)
	}
	for range 2 {
		if err := o.RunEnded(ctx, r); err != nil {
			o.t.Fatal(err)
		}
	}
	return r
}

func (o *office) carryOut() {
	o.t.Helper()
	for range 30 {
		if err := o.Actions.Step(context.Background()); err != nil {
			o.t.Fatal(err)
		}
		o.Actions.Wait()
	}
}

func (o *office) last(d notify.Destination) action.Action {
	o.t.Helper()
	as, err := o.Deliveries(context.Background(), o.v, o.p.ID, d.ID, 50)
	if err != nil || len(as) == 0 {
		o.t.Fatalf("%d deliveries, %v", len(as), err)
	}
	return as[0]
}

// TestFilters counts what arrives of a week of runs, for each filter.
func TestFilters(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	fine := func(http.Header, []byte) error { return nil }
	type hears struct {
		r    *notifytest.Receiver
		f    notify.Filter
		want int
	}
	all := map[string]*hears{
		"all": {f: notify.Filter{}, want: 8}, "failures": {f: notify.Filter{OnlyFailures: true}, want: 4}, "changes": {f: notify.Filter{OnlyChanges: true}, want: 4},
		"main": {f: notify.Filter{Branches: []string{"main"}}, want: 6}, "features": {f: notify.Filter{Branches: []string{"feature/**", "release"}}, want: 2},
		"changes to bad": {f: notify.Filter{OnlyChanges: true, OnlyFailures: true}, want: 3}, "bugs": {f: notify.Filter{Events: []notify.Type{notify.BugOpened}}, want: 0},
	}
	for _, h := range all {
		h.r = notifytest.NewReceiver(t, fine)
		o.add(notify.Webhook, h.r.URL, h.f)
	}
	for _, x := range []struct {
		branch string
		phase  run.Phase
	}{{"main", run.Passed}, {"main", run.Failed}, {"main", run.ProcessError}, {"main", run.Cancelled}, {"feature/a/b", run.Failed}, {"main", run.Passed}, {"feature/c", run.Passed}, {"main", run.Failed}} {
		o.ended(x.branch, x.phase)
		time.Sleep(2 * time.Millisecond) // runs of one millisecond have no order
	}
	o.carryOut()
	for name, h := range all {
		ids := map[string]bool{}
		for range len(h.r.Arrived) {
			ids[(<-h.r.Arrived).ID] = true
		}
		if len(ids) != h.want {
			t.Errorf("%s: %d messages, not %d", name, len(ids), h.want)
		}
	}
}

// TestBrokenBeforeItsBranch tells who hears of the default branch that a run of it broke
// down before anybody knew the branch's name, and compares it with no other branch's.
func TestBrokenBeforeItsBranch(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	fine := func(http.Header, []byte) error { return nil }
	all := map[string]*notifytest.Receiver{}
	for _, branch := range []string{"main", "release"} {
		all[branch] = notifytest.NewReceiver(t, fine)
		o.add(notify.Webhook, all[branch].URL, notify.Filter{Branches: []string{branch}})
	}
	is := func(what string, main, release int) {
		t.Helper()
		o.carryOut()
		for branch, want := range map[string]int{"main": main, "release": release} {
			if got := len(all[branch].Arrived); got != want {
				t.Errorf("%s: %s hears %d times, not %d", what, branch, got, want)
			}
			for range len(all[branch].Arrived) {
				if x := <-all[branch].Arrived; strings.Contains(string(x.Body), "verdictBefore") {
					t.Errorf("%s: %s", what, x.Body)
				}
			}
		}
	}
	o.ended("release", run.Failed)
	is("the other branch", 0, 1)
	time.Sleep(2 * time.Millisecond)
	o.ended("", run.ProcessError)
	is("a default branch that nobody names", 1, 1)
	if err := o.db.UpdateProject(t.Context(), o.p.ID, func(p *project.Project) error { p.Repository.Branch = "main"; return nil }); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond)
	o.ended("", run.ProcessError)
	is("one that the project names", 1, 0)
}

// TestJudged goes through what receivers may answer.
func TestJudged(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, c := range []struct {
		kind   notify.Kind
		status int
		state  action.State
		off    bool
		says   string
	}{
		{notify.Webhook, 204, action.Done, false, "204"}, {notify.Webhook, 500, action.Pending, false, "500 it broke"}, {notify.Webhook, 404, action.Pending, false, "404"},
		{notify.Webhook, 410, action.Failed, true, "410"}, {notify.Slack, 404, action.Failed, false, "404"}, {notify.Slack, 410, action.Failed, true, "410"},
		{notify.Webhook, 429, action.Pending, false, "429"}, {notify.Teams, 503, action.Pending, false, "503"}, {notify.Webhook, 302, action.Failed, false, "302"},
	} {
		r := notifytest.NewReceiver(t, func(http.Header, []byte) error { return nil })
		path := "/services/T0000/a-long-s3cret"
		r.Answer(func(int) (int, map[string]string, string) {
			return c.status, map[string]string{"Retry-After": "3600"}, "it broke \x1b[31m at " + path + " " + strings.Repeat("x", 5000)
		})
		d, _ := o.add(c.kind, r.URL+path, notify.Filter{})
		if strings.Contains(d.URLHint, "long") || d.Secrets != (notify.Secrets{}) {
			t.Errorf("secrets are told: %+v", d)
		}
		o.ended("main", run.Failed)
		if err := o.Actions.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.Actions.Wait()
		o.carryOut()
		a := o.last(d)
		if a.State != c.state || a.Tries != 1 || !strings.HasPrefix(a.Answer, c.says) && c.status != 204 || strings.Contains(a.Answer, "s3cret") || strings.Contains(a.Answer, "\x1b") || len(a.Answer) > 600 {
			t.Errorf("%s %d: %s after %d tries, %.100q", c.kind, c.status, a.State, a.Tries, a.Answer)
		}
		if wait := time.Until(a.NotBefore); c.state == action.Pending && wait < 59*time.Minute {
			t.Errorf("%d is tried again after %s", c.status, wait)
		}
		got, err := o.Get(t.Context(), o.v, o.p.ID, d.ID)
		if err != nil || (got.Disabled != "") != c.off {
			t.Errorf("%d: off is %q, %v", c.status, got.Disabled, err)
		}
		if err := o.Remove(t.Context(), o.v, o.p.ID, d.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRotate has both keys sign for a day, and then the new one alone.
func TestRotate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := notifytest.NewReceiver(t, func(http.Header, []byte) error { return nil })
	d, first := o.add(notify.Webhook, r.URL, notify.Filter{})
	fresh, err := o.Rotate(t.Context(), o.v, o.p.ID, d.ID)
	if err != nil || fresh == first {
		t.Fatal(err)
	}
	test := func(check func(http.Header, []byte) error) error {
		t.Helper()
		r.Check(check)
		if _, err := o.SendTest(t.Context(), o.v, o.p.ID, d.ID); err != nil {
			t.Fatal(err)
		}
		o.carryOut()
		return (<-r.Arrived).Wrong
	}
	for _, key := range []string{first, fresh} {
		if err := test(notifytest.Signed(key)); err != nil {
			t.Error(err)
		}
	}
	later := time.Now().Add(25 * time.Hour)
	o.Clock = func() time.Time { return later }
	signatures := 0
	if err := test(func(h http.Header, _ []byte) error {
		signatures = len(strings.Fields(h.Get("webhook-signature")))
		return nil
	}); err != nil || signatures != 1 {
		t.Errorf("%d signatures after a day, %v", signatures, err)
	}
	// A test that fails is not tried again by itself.
	r.Answer(func(int) (int, map[string]string, string) { return http.StatusBadGateway, nil, "away" })
	if err := test(func(http.Header, []byte) error { return nil }); err != nil {
		t.Error(err)
	}
	if a := o.last(d); a.State != action.Failed || a.Answer != "502 away" {
		t.Errorf("%+v", a)
	}
	// Others may not.
	o.v.Projects[0].Role = account.RoleMember
	for what, err := range map[string]error{"rotate": second(o.Rotate(t.Context(), o.v, o.p.ID, d.ID)), "test": second(o.SendTest(t.Context(), o.v, o.p.ID, d.ID)), "remove": o.Remove(t.Context(), o.v, o.p.ID, d.ID),
		"list": second(o.List(t.Context(), o.v, o.p.ID)), "get": second(o.Get(t.Context(), o.v, o.p.ID, d.ID)), "deliveries": second(o.Deliveries(t.Context(), o.v, o.p.ID, d.ID, 1))} {
		if fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a member: %s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
