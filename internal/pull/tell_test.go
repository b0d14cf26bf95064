package pull_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/action"
	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/gitea"
	"tas-service/internal/project"
	"tas-service/internal/pull"
	"tas-service/internal/run"
)

// teller is a desk whose wishes are carried out.
type teller struct {
	*desk
	actions *action.Service
	now     time.Time
	n       int
}

func newTeller(t *testing.T) *teller {
	d := &teller{desk: newDesk(t), now: time.Now()}
	d.actions = &action.Service{Store: d.db, Notes: d, Clock: func() time.Time { return d.now }, Log: slog.New(slog.DiscardHandler), Doers: d.Doers()}
	d.Actions = d.actions
	d.RunURL = func(id string) string { return "https://tas.example.com/runs/" + id }
	return d
}

// step carries out what is due.
func (d *teller) step(t *testing.T) {
	t.Helper()
	d.now = d.now.Add(time.Minute)
	for range 4 {
		if err := d.actions.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
		d.actions.Wait()
	}
}

// start adds a run for a pull request, after all others.
func (d *teller) start(t *testing.T, p run.Pull) run.Run {
	return d.startOf(t, p, run.Selection{Kind: run.SelectSuite})
}

func (d *teller) startOf(t *testing.T, p run.Pull, sel run.Selection) run.Run {
	t.Helper()
	d.n++
	r := run.Run{ID: uuid.NewString(), ProjectID: d.p.ID, Name: fmt.Sprintf("case-%06d", d.n), Phase: run.Queued, Verdict: run.Pending, Trigger: run.TriggerCI, Selection: sel, Pull: &p, CreatedAt: time.Now().Add(time.Duration(d.n) * time.Second).UTC()}
	if _, err := d.db.CreateRun(context.Background(), &r, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func (d *teller) ends(t *testing.T, r run.Run, v run.Verdict) {
	t.Helper()
	if r.Phase, r.Verdict = run.Passed, v; v == run.Fail {
		r.Phase = run.Failed
	}
	r.Total, r.Branch = 1, cmp.Or(r.Branch, "main")
	err := d.db.UpdateRun(context.Background(), r.ID, func(x *run.Run) error {
		now := time.Now()
		x.Phase, x.Verdict, x.Total, x.Branch, x.Commit, x.FinishedAt = r.Phase, r.Verdict, r.Total, r.Branch, r.Commit, &now
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.RunEnded(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

func (d *teller) starts(t *testing.T, r run.Run) {
	t.Helper()
	if err := d.RunStarted(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

func (d *teller) tests(t *testing.T) run.Pull {
	t.Helper()
	d.d.Commit(t, "shop/tests", "feature", map[string]string{"x": "x\n"})
	return run.Pull{Repo: "shop/tests", Number: d.d.OpenPull(t, "shop/tests", "shop/tests", "feature", "main")}
}

func (d *teller) head(t *testing.T, p run.Pull) string {
	t.Helper()
	l, err := d.Link(context.Background(), d.p.ID)
	if err != nil {
		t.Fatal(err)
	}
	x, err := l.Forge.PullRequest(context.Background(), p.Repo, p.Number)
	if err != nil {
		t.Fatal(err)
	}
	return x.Head.Commit
}

// TestStatusOfWhatWasTested sets a run's status on the commit that was there when it was
// started, although the forge takes it only after the next push.
func TestStatusOfWhatWasTested(t *testing.T) {
	t.Parallel()
	d := newTeller(t)
	p := d.tests(t)
	old := d.head(t, p)
	r := d.start(t, p)
	d.starts(t, r)
	d.d.SetTrouble(func(int, *http.Request) forgetest.Trouble { return forgetest.Trouble{Status: 502} })
	d.step(t)
	d.d.Commit(t, "shop/tests", "feature", map[string]string{"x": "y\n"})
	d.d.SetTrouble(nil)
	d.ends(t, r, run.Pass)
	d.step(t)
	if now := d.head(t, p); now == old || len(d.d.Statuses(p.Repo, now)) != 0 || len(d.d.Statuses(p.Repo, old)) == 0 {
		t.Errorf("of the new commit %v, of the one that was tested %v", d.d.Statuses(p.Repo, now), d.d.Statuses(p.Repo, old))
	}
	// A run of the tests repository itself knows what it has cloned.
	r = d.start(t, p)
	d.starts(t, r)
	r.Branch, r.Commit = "feature", d.d.Commit(t, "shop/tests", "feature", map[string]string{"x": "z\n"})
	d.ends(t, r, run.Fail)
	d.step(t)
	if said := d.d.Statuses(p.Repo, r.Commit); len(said) == 0 || !strings.Contains(said[len(said)-1], "fail") {
		t.Errorf("of what was cloned: %v", said)
	}
}

// TestNewestRunSpeaks keeps what the newest run said, whenever older ones end or their
// status is taken at last.
func TestNewestRunSpeaks(t *testing.T) {
	t.Parallel()
	d := newTeller(t)
	p := d.tests(t)
	first, second := d.start(t, p), d.start(t, p)
	d.starts(t, first)
	d.starts(t, second)
	d.ends(t, second, run.Pass)
	d.step(t)
	d.ends(t, first, run.Fail)
	d.step(t)
	said := d.d.Statuses(p.Repo, d.head(t, p))
	if len(said) == 0 || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "fail") }) {
		t.Errorf("%v", said)
	}
	if all := d.comments(t, p); len(all) != 1 || !strings.Contains(all[0], second.ID) || strings.Contains(all[0], first.ID) {
		t.Errorf("%q", all)
	}
	third := d.start(t, p)
	d.ends(t, third, run.Fail)
	d.step(t)
	if all := d.comments(t, p); len(all) != 1 || !strings.Contains(all[0], third.ID) {
		t.Errorf("%q", all)
	}
}

// TestFewTestsSpeakForThemselves does not let a pass of a few tests stand where the whole
// suite failed.
func TestFewTestsSpeakForThemselves(t *testing.T) {
	t.Parallel()
	d := newTeller(t)
	p := d.tests(t)
	whole := d.start(t, p)
	d.starts(t, whole)
	few := d.startOf(t, p, run.Selection{Kind: run.SelectGrep, Grep: "cart|`pay`"})
	d.starts(t, few)
	d.ends(t, whole, run.Fail)
	d.ends(t, few, run.Pass)
	d.step(t)
	last := map[string]string{}
	for _, s := range d.d.Statuses(p.Repo, d.head(t, p)) {
		context, state, _ := strings.Cut(s, " ")
		last[context], _, _ = strings.Cut(state, " ")
	}
	if len(last) != 2 || last["tas/case"] != "failure" || last["tas/case/selected"] != "success" {
		t.Errorf("%v", last)
	}
	all := d.comments(t, p)
	if len(all) != 1 || !strings.Contains(all[0], whole.ID) || !strings.Contains(all[0], few.ID) || !strings.Contains(all[0], "tests that fit `` cart∣`pay` ``") || strings.Index(all[0], "❌") > strings.Index(all[0], "✅") {
		t.Errorf("%q", all)
	}
}

func (d *teller) comments(t *testing.T, p run.Pull) (out []string) {
	t.Helper()
	l, err := d.Link(context.Background(), d.p.ID)
	if err != nil {
		t.Fatal(err)
	}
	all, err := l.Forge.Comments(context.Background(), p.Repo, p.Number)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		out = append(out, c.Body)
	}
	return out
}

// TestCommentAtAnotherForge leaves alone a comment of somebody else that has, at the forge
// to which the repository moved, the number that the sticky one had.
func TestCommentAtAnotherForge(t *testing.T) {
	t.Parallel()
	d, ctx := newTeller(t), context.Background()
	p := d.tests(t)
	r := d.start(t, p)
	d.ends(t, r, run.Fail)
	d.step(t)
	kept, err := d.db.Actions(ctx, action.Query{ProjectID: d.p.ID, Kind: action.Comment, Limit: 2})
	if err != nil || len(kept) != 1 || kept[0].State != action.Done {
		t.Fatalf("%+v, %v", kept, err)
	}
	to := forgetest.NewGitea(t)
	to.Commit(t, "shop/tests", "feature", map[string]string{"x": "x\n"})
	to.OpenPull(t, "shop/tests", "shop/tests", "feature", "main")
	theirs, said := "", 0
	for i := 0; !strings.Contains(string(kept[0].Result), `"id":"`+theirs+`"`); i++ {
		if i > 200 {
			t.Fatalf("no comment has the number of %s", kept[0].Result)
		}
		theirs = to.Say("shop/tests", p.Number, "tas-bot", fmt.Sprint("said by hand, ", i))
		said++
	}
	d.Connect = func(x pull.Dial) (forge.Forge, error) { return gitea.New(gitea.Config{BaseURL: x.URL, Token: x.Token}) }
	if err := d.db.UpdateProject(ctx, d.p.ID, func(p *project.Project) error {
		p.Repository = project.Repository{URL: to.URL + "/shop/tests.git", Token: to.Token("tas-bot")}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.db.UpdateConnection(ctx, d.p.ID, func(c *pull.Connection) error { c.Kind = forge.Gitea; return nil }); err != nil {
		t.Fatal(err)
	}
	again := d.start(t, p)
	d.ends(t, again, run.Fail)
	d.step(t)
	all := d.comments(t, p)
	if byHand := slices.IndexFunc(all, func(s string) bool { return !strings.Contains(s, "said by hand") }); byHand != len(all)-1 || len(all) != said+1 || !strings.Contains(all[byHand], again.ID) {
		t.Errorf("%q", all)
	}
}
