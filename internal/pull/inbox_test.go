package pull_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/github"
	"tas-service/internal/project"
	"tas-service/internal/pull"
	"tas-service/internal/run"
	"tas-service/internal/secret"
	"tas-service/internal/store"
)

// desk is a service that takes webhooks of a GitHub double, with what it does written down.
type desk struct {
	*pull.Service
	db      *store.DB
	d       *forgetest.Double
	p       project.Project
	asked   []action.Wish
	looks   int
	started []run.StartInput
	settled []forge.State
	heard   map[string]bool
	tries   int // of commands that failed for now
}

// Ask does what comments ask for at once, and again as long as that may help.
func (d *desk) Ask(ctx context.Context, w action.Wish) (action.Action, error) {
	if w.Kind != action.Command {
		d.asked = append(d.asked, w)
		return action.Action{}, nil
	}
	if d.heard[w.Key] {
		return action.Action{}, nil
	}
	if d.heard == nil {
		d.heard = map[string]bool{}
	}
	d.heard[w.Key] = true
	detail, err := json.Marshal(w.Detail)
	for range 3 {
		if err == nil {
			_, _, err = d.Doers()[w.Kind].Do(ctx, action.Action{ProjectID: w.ProjectID, Key: w.Key, Wish: detail})
		}
		if fault.KindOf(err) != fault.Unavailable || err == nil {
			break
		}
		err = nil
		d.tries++
	}
	return action.Action{}, err
}

func (d *desk) Start(_ context.Context, actor account.Actor, in run.StartInput) (run.Run, error) {
	if actor.ProjectID != d.p.ID || actor.Via != account.ViaForge {
		return run.Run{}, fault.New(fault.Internal, "as %+v", actor)
	}
	d.started = append(d.started, in)
	return run.Run{}, nil
}

// Look is for who has opened a pull request; nobody here does.
func (d *desk) Look(ctx context.Context, projectID, id string) (action.Action, error) {
	return d.db.Action(ctx, projectID, id)
}

type looks struct{ *desk }

func (l looks) Ask(context.Context, string) error { l.looks++; return nil }

const hookSecret = "hook-s3cret"

func newDesk(t *testing.T) *desk {
	t.Helper()
	ctx := context.Background()
	keys, err := secret.NewKeyring(make([]byte, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenSQLite(ctx, filepath.Join(t.TempDir(), "tas.db"), keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	d := &desk{db: db, d: forgetest.NewGitHub(t)}
	d.d.SetTime(time.Now())
	if d.p, _, err = db.CreateProject(ctx, project.Project{Name: "Case", Repository: project.Repository{URL: d.d.URL + "/shop/tests.git", Token: d.d.Token("tas-bot")}}); err != nil {
		t.Fatal(err)
	}
	err = db.UpdateConnection(ctx, d.p.ID, func(c *pull.Connection) error { c.Kind, c.HookSecret = forge.GitHub, hookSecret; return nil })
	if err != nil {
		t.Fatal(err)
	}
	d.Service = &pull.Service{Store: db, Projects: db, Results: db, Actions: d, Starter: d, Refresh: looks{d}, Log: slog.New(slog.DiscardHandler), Clock: time.Now,
		Receivers: map[forge.Kind]forge.Receiver{forge.GitHub: github.Receiver{}},
		Connect: func(x pull.Dial) (forge.Forge, error) {
			return github.New(github.Config{BaseURL: x.URL, Token: x.Token})
		},
		Settled: []func(context.Context, string, string, int, forge.State) error{func(_ context.Context, _, _ string, _ int, state forge.State) error {
			d.settled = append(d.settled, state)
			return nil
		}}}
	return d
}

// renamed gives a webhook another delivery ID, which GitHub does not sign.
func renamed(x forge.Delivery) forge.Delivery {
	header := x.Header
	return forge.Delivery{Body: x.Body, Header: func(name string) string {
		if strings.EqualFold(name, "X-GitHub-Delivery") {
			return "another"
		}
		return header(name)
	}}
}

// TestTake takes each webhook once, and none that nobody signed.
func TestTake(t *testing.T) {
	t.Parallel()
	ctx, d := context.Background(), newDesk(t)
	d.d.Commit(t, "shop/tests", "feature", map[string]string{"x": "x\n"})
	n := d.d.OpenPull(t, "shop/tests", "shop/tests", "feature", "main")
	take := func(what string, x forge.Delivery, want fault.Kind) {
		t.Helper()
		err := d.Take(ctx, forge.GitHub, x)
		if got := fault.KindOf(err); err != nil && got != want || err == nil && want >= 0 {
			t.Errorf("%s: %v", what, err)
		}
		if err != nil && strings.Contains(err.Error(), hookSecret) {
			t.Errorf("%s: the secret is told: %v", what, err)
		}
	}
	const taken = fault.Kind(-1)
	push := d.d.PushDelivery("shop/tests", "main", hookSecret)
	take("a push", push, taken)
	take("the same push", push, taken)
	take("a push to another branch", d.d.PushDelivery("shop/tests", "feature", hookSecret), taken)
	take("a push with another secret", d.d.PushDelivery("shop/tests", "main", "wrong"), fault.Unauthenticated)
	take("a push with an empty secret", d.d.PushDelivery("shop/tests", "main", ""), fault.Unauthenticated)
	changed := d.d.PushDelivery("shop/tests", "main", hookSecret)
	changed.Body = bytes.Replace(changed.Body, []byte("refs/heads/main"), []byte("refs/heads/evil"), 1)
	take("a push that was changed on its way", changed, fault.Unauthenticated)
	if d.looks != 1 {
		t.Errorf("%d looks at the tests", d.looks)
	}
	id := d.d.Say("shop/tests", n, "owner", "/tas run cart")
	said := d.d.Delivery("shop/tests", n, "commented", id, hookSecret)
	for range 2 {
		take("a comment", said, taken)
		take("a comment under another delivery ID", renamed(said), taken)
	}
	if len(d.started) != 1 || d.started[0].Branch != "feature" || d.started[0].Selection.Grep != "cart" || *d.started[0].Pull != (run.Pull{Repo: "shop/tests", Number: n}) {
		t.Errorf("started: %+v", d.started)
	}
	for _, body := range []string{"/tas run", "run", "nothing"} {
		by := map[string]string{"/tas run": "tas-bot"}[body]
		if by == "" {
			by = "owner"
		}
		take("a comment that asks for nothing", d.d.Delivery("shop/tests", n, "commented", d.d.Say("shop/tests", n, by, body), hookSecret), taken)
	}
	take("an edited comment", d.d.Delivery("shop/tests", n, "edited", id, hookSecret), taken)
	d.d.SetTime(time.Now().Add(-7 * time.Hour))
	take("an old comment", d.d.Delivery("shop/tests", n, "commented", d.d.Say("shop/tests", n, "owner", "/tas run"), hookSecret), taken)
	d.d.SetTime(time.Now())
	if len(d.started) != 1 {
		t.Errorf("started: %+v", d.started)
	}
	d.d.Merge(t, "shop/tests", n)
	merged := d.d.Delivery("shop/tests", n, "merged", "", hookSecret)
	take("a merge", merged, taken)
	take("the same merge", renamed(merged), taken)
	if len(d.settled) != 1 || d.settled[0] != forge.Merged {
		t.Errorf("settled: %v", d.settled)
	}
	if err := d.Take(ctx, forge.Gitea, push); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another kind: %v", err)
	}
	if err := d.Take(ctx, forge.GitHub, forge.Delivery{Header: push.Header, Body: []byte("{")}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no JSON: %v", err)
	}
	if err := d.Take(ctx, forge.GitHub, forge.Delivery{Header: push.Header, Body: make([]byte, forge.MaxDelivery+1)}); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("too large: %v", err)
	}
}

// TestForkIsNotRun leaves alone what a stranger's fork proposes to the tests themselves.
func TestForkIsNotRun(t *testing.T) {
	t.Parallel()
	ctx, d := context.Background(), newDesk(t)
	fork := d.d.Fork(t, "shop/tests")
	d.d.Commit(t, fork, "main", map[string]string{"x": "x\n"})
	n := d.d.OpenPull(t, "shop/tests", fork, "main", "main")
	if err := d.Take(ctx, forge.GitHub, d.d.Delivery("shop/tests", n, "commented", d.d.Say("shop/tests", n, "owner", "/tas run"), hookSecret)); err != nil {
		t.Fatal(err)
	}
	if len(d.started) != 0 || len(d.asked) != 1 || !strings.Contains(string(must(json.Marshal(d.asked[0].Detail))), `"-1"`) {
		t.Errorf("started %+v, asked %+v", d.started, d.asked)
	}
}

// TestCommandOutlastsTrouble does what a comment asks for though the forge does not answer
// at first: it sends no webhook again.
func TestCommandOutlastsTrouble(t *testing.T) {
	t.Parallel()
	ctx, d := context.Background(), newDesk(t)
	d.d.Commit(t, "shop/tests", "feature", map[string]string{"x": "x\n"})
	n := d.d.OpenPull(t, "shop/tests", "shop/tests", "feature", "main")
	said := d.d.Delivery("shop/tests", n, "commented", d.d.Say("shop/tests", n, "owner", "/tas run"), hookSecret)
	d.d.SetTrouble(func(call int, _ *http.Request) forgetest.Trouble {
		if call < 2 {
			return forgetest.Trouble{Status: 502}
		}
		return forgetest.Trouble{}
	})
	if err := d.Take(ctx, forge.GitHub, said); err != nil || len(d.started) != 1 || d.tries == 0 {
		t.Fatalf("%v, %+v, %d tries failed", err, d.started, d.tries)
	}
}

// TestHealByComment starts the healing of what failed in the latest run of a pull request, once
// for each comment, and is confused where there is nothing to heal.
func TestHealByComment(t *testing.T) {
	t.Parallel()
	ctx, d := context.Background(), newDesk(t)
	d.d.Commit(t, "shop/tests", "feature", map[string]string{"x": "x\n"})
	n := d.d.OpenPull(t, "shop/tests", "shop/tests", "feature", "main")
	at := run.Pull{Repo: "shop/tests", Number: n}
	var healed []string
	d.Heal = func(_ context.Context, actor account.Actor, runID string, p run.Pull, onceKey string) error {
		if actor.Via != account.ViaForge || p != at || onceKey == "" {
			t.Errorf("as %+v for %+v", actor, p)
		}
		healed = append(healed, runID)
		return nil
	}
	say := func() forge.Reaction {
		t.Helper()
		d.asked = nil
		if err := d.Take(ctx, forge.GitHub, d.d.Delivery("shop/tests", n, "commented", d.d.Say("shop/tests", n, "owner", "/tas heal"), hookSecret)); err != nil || len(d.asked) != 1 {
			t.Fatalf("%v, %+v", err, d.asked)
		}
		return forge.Reaction(gjson(t, d.asked[0].Detail, "reaction"))
	}
	if sign := say(); sign != forge.Puzzled || len(healed) != 0 {
		t.Errorf("without a run: %s, %v", sign, healed)
	}
	now := time.Now().UTC()
	for i, phase := range []run.Phase{run.Failed, run.Failed, run.Passed} {
		at := now.Add(time.Duration(i) * time.Second)
		r := run.Run{ID: uuid.NewString(), ProjectID: d.p.ID, Name: fmt.Sprint("r", i), Trigger: run.TriggerCI, Phase: phase, Verdict: run.Fail, Selection: run.Selection{Kind: run.SelectSuite}, Pull: &run.Pull{Repo: "shop/tests", Number: n}, CreatedAt: at, FinishedAt: &at}
		if _, err := d.db.CreateRun(ctx, &r, nil); err != nil {
			t.Fatal(err)
		}
		sign := say()
		if phase == run.Failed && (sign != forge.Agreed || healed[len(healed)-1] != r.ID) || phase == run.Passed && (sign != forge.Puzzled || len(healed) != 2) {
			t.Errorf("after %s: %s, %v", phase, sign, healed)
		}
	}
}

// gjson answers a text of a wish.
func gjson(t *testing.T, detail any, field string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(must(json.Marshal(detail)), &m); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(m[field])
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestManyStrangers has a webhook that somebody trusts taken while strangers send many, of
// which few are looked at at once.
func TestManyStrangers(t *testing.T) {
	t.Parallel()
	ctx, d := context.Background(), newDesk(t)
	c := &crowded{Store: d.db}
	d.Store = c
	push := d.d.PushDelivery("shop/tests", "main", hookSecret)
	stranger := d.d.PushDelivery("shop/tests", "main", "a guess")
	var wait sync.WaitGroup
	for range 60 {
		wait.Go(func() {
			if err := d.Take(ctx, forge.GitHub, stranger); fault.KindOf(err) != fault.Unauthenticated {
				t.Error(err)
			}
		})
	}
	if err := d.Take(ctx, forge.GitHub, push); err != nil {
		t.Error(err)
	}
	wait.Wait()
	if n := c.most.Load(); n > 4 || d.looks != 1 {
		t.Errorf("%d at once, %d looks at the tests", n, d.looks)
	}
}

// crowded counts who reads connections at once.
type crowded struct {
	pull.Store
	now, most atomic.Int32
}

func (c *crowded) Connection(ctx context.Context, projectID string) (pull.Connection, error) {
	defer c.now.Add(-1)
	for n := c.now.Add(1); ; {
		if most := c.most.Load(); n <= most || c.most.CompareAndSwap(most, n) {
			break
		}
	}
	runtime.Gosched()
	return c.Store.Connection(ctx, projectID)
}
