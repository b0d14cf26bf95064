package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/heal"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

const patch = `diff --git a/tests/area00.spec.ts b/tests/area00.spec.ts
--- a/tests/area00.spec.ts
+++ b/tests/area00.spec.ts
@@ -5,3 +5,3 @@
   await page.goto('/');
-  await page.getByTestId('drop-mug').click();
+  await page.getByTestId('remove-mug').click();
   await expect(page).toHaveTitle('<b>Cart</b>');
`

// found is what a session found out, as package heal keeps it.
func (s *site) found(seen heal.Seen) json.RawMessage {
	s.t.Helper()
	text, err := json.Marshal(map[string]any{"findings": seen.Findings, "proof": seen.Proof, "trials": seen.Trials})
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// session saves a session of healing a run, in a batch of its own.
func (s *site) session(r run.Run, change func(*agent.Session)) agent.Session {
	s.t.Helper()
	ctx, id := context.Background(), uuid.Must(uuid.NewV7()).String()
	b := agent.Batch{ID: uuid.Must(uuid.NewV7()).String(), ProjectID: r.ProjectID, Kind: agent.Heal, RunID: r.ID, AskedBy: "person:ada", CreatedAt: s.now}
	x := agent.Session{ID: id, BatchID: b.ID, ProjectID: r.ProjectID, RunID: r.ID, Kind: agent.Heal, Status: agent.Queued, Title: "cart › adds product 7", TestIDs: []string{testID(7)}, CreatedAt: s.now}
	if change != nil {
		change(&x)
	}
	if _, err := s.db.CreateBatch(ctx, b, []agent.Session{x}, nil, false); err != nil {
		s.t.Fatal(err)
	}
	return x
}

// trial saves a trial of a session, of the given tests.
func (s *site) trial(session string, t attempt.Trial, what []told) run.Run {
	s.t.Helper()
	return s.begin("main", "a4", func(r *run.Run) {
		r.Trigger, r.Trial = run.TriggerTrial, &run.Trial{Session: session, Trial: t}
	}, what)
}

// healed saves a session that healed a test, with a trial of it.
func (s *site) healed(r run.Run) (agent.Session, run.Run) {
	s.t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	failed := told{n: 7, status: run.StatusFailed, message: "Error: locator.click: Timeout 2000ms exceeded.", took: 2 * time.Second}
	t := s.trial(id, attempt.Trial{Trace: true}, []told{failed})
	began, ended := s.now.Add(-3*time.Minute), s.now
	x := s.session(r, func(x *agent.Session) {
		x.ID, x.Status, x.Stage, x.Summary, x.Patch = id, agent.Completed, "deliver", "The test is healed.", patch
		x.StartedAt, x.FinishedAt, x.CreatedAt = &began, &ended, began
		x.Changes = []agent.FileChange{{Path: "tests/area00.spec.ts", Additions: 1, Deletions: 1}}
		x.Outcomes = []agent.Outcome{{TestID: testID(7), Browser: "chromium", Title: "cart › adds product 7", Outcome: agent.Healed, Class: string(heal.Drift), Confidence: 0.99, Evidence: []string{"The element is there under another name."}}}
		x.Usage = agent.Usage{Trials: 4, Executions: 11, CostUSD: 0.25, InputTokens: 1200}
		x.State = s.found(heal.Seen{Trials: map[string]string{"reproduce": t.ID}, Findings: []heal.Finding{{TestID: testID(7), Browser: "chromium", Title: "cart › adds product 7", File: "tests/area00.spec.ts", Class: heal.Drift, Why: "It is there under another name.", Confidence: 0.99, RunID: t.ID,
			Evidence: []string{"Five passing runs clicked it."}, Before: "getByTestId('drop-mug')", After: "getByTestId('remove-mug')", Outcome: "heal", P: 0.991, Margin: 0.93, Edit: 0, Part: 1, Stack: []attempt.Location{{File: "tests/area00.spec.ts", Line: 6, Column: 9}},
			Step: &heal.StepSeen{Method: "click", Locator: "getByRole('main').getByTestId('drop-mug')", Selector: "#gone", File: "tests/area00.spec.ts", Line: 6, Error: "Timeout 2000ms exceeded.\nCall log", URL: "http://shop.example/basket"},
			Candidates: []heal.CandidateSeen{{Label: "button “Remove”", Path: "/html/body/main/button[1]", Rival: "getByTestId('remove-mug')", Share: 0.97, Why: []string{"same text", "same row"}},
				{Label: "button “Remove all”", Path: "/html/body/main/button[2]", Rival: "getByTestId('remove-all')", Share: 0.02, Vetoes: []string{"“all” is new in its name"}}, {Label: "a nameless one", Share: 0.01}}}},
			Proof: &heal.Proof{Passed: true, Runs: 3, Ran: 3, Good: 3, Checks: []heal.Check{{What: "steps", OK: true, Note: "4 steps, as when it was last green"}}, Shared: 2,
				Sabotage: []heal.Sabotage{{What: "the element is removed", Done: true, Found: true, Error: "Error: locator.click: Timeout"}, {What: "its request is answered with an error", Done: true}}}})
	})
	s.noted(x.ID, agent.Event{Kind: agent.Ran, Text: "The failing tests are executed once more.", RunID: t.ID}, agent.Event{Kind: agent.Decided, Text: x.Summary})
	return x, t
}

// noted adds events to a session.
func (s *site) noted(id string, es ...agent.Event) {
	s.t.Helper()
	err := s.db.UpdateAgentSession(context.Background(), id, func(*agent.Session) ([]agent.Event, error) {
		for i := range es {
			es[i].At = s.now
		}
		return es, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestSessionPages follows a healing through its pages.
func TestSessionPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	s.get(shop+"/sessions").ok(http.StatusOK, "Nothing was healed yet", "Heal failures", "autoHeal", "tas heal RUN", "/tas heal", "passing runs of the default branch")
	s.get(shop+"/healing").ok(http.StatusOK, "Nothing to see yet")
	x, trial := s.healed(red)
	open := s.session(red, func(x *agent.Session) {
		began := s.now.Add(-time.Minute)
		x.Status, x.Stage, x.StartedAt, x.Title = agent.Verifying, "prove", &began, "cart › still going"
	})
	list := s.get(shop+"/sessions").ok(http.StatusOK, "cart › adds product 7", "completed", "1 healed", "cart › still going", "verifying", "3 min 0 s", red.Name)
	if list.title() != "1 being healed · Web <Shop> · TAS" {
		t.Errorf("the list is called %q", list.title())
	}
	s.get(shop+"/sessions?state=open").ok(http.StatusOK, "still going").without("adds product 7")
	s.get(shop+"/sessions?state=failed").ok(http.StatusOK, "No session fits")
	s.get(shop+"/sessions?batch="+x.BatchID).ok(http.StatusOK, "1 of 1 is over", "adds product 7").without("still going")

	page := s.get(shop+"/sessions/"+x.ID).ok(http.StatusOK, "The test is healed.", "the element has another name now", "as good as certain, 99 %", "getByTestId('drop-mug')", "getByTestId('remove-mug')", "tests/area00.spec.ts:6", "button “Remove”", "taken",
		"“all” is new in its name", "99.1 %", "93.0 %", "3 of 3", "4 steps, as when it was last green", "2 tried, 0 broken", "the test fails, as it must", "the test does not notice", "What it took", "11", "$0.25", "1200", "executed once more", "the trial", "Approve", "Reject", "reproduce")
	if n := len(all(page.doc, "ins")); n != 2 { // of the finding, and of the change
		t.Errorf("%d insertions", n)
	}
	if n := page.count("button", "name", "candidate"); n != 1 {
		t.Errorf("%d candidates can be tried: neither the taken one nor one without a locator can", n)
	}
	if !strings.Contains(page.text, `href="`+shop+"/runs/"+trial.ID+`"`) {
		t.Error("there is no link to the trial")
	}
	live := s.get(shop+"/sessions/"+open.ID).ok(http.StatusOK, "under way", "Cancel").without("Is it right?", "Try this one")
	if body := all(live.doc, "body")[0]; !strings.HasPrefix(attr(body, "data-events"), shop+"/sessions/"+open.ID+"/events?since=") {
		t.Errorf("it is not live: %q", attr(body, "data-events"))
	}
	if a := s.get("/sessions/" + x.ID); a.code != http.StatusSeeOther || a.header.Get("Location") != shop+"/sessions/"+x.ID {
		t.Errorf("%d %s", a.code, a.header.Get("Location"))
	}
	// A trial has its pages, which lead back.
	for _, at := range []string{"/runs/" + trial.ID, "/runs/" + trial.ID + "/tests/" + testID(7)} {
		back := s.get(shop+at).ok(http.StatusOK, "a trial of a session", "Back to the session").without("Run again", "Run this test", "Heal failures", "Heal this")
		if !strings.Contains(back.text, `href="`+shop+"/sessions/"+x.ID+`"`) {
			t.Errorf("%s does not lead back", at)
		}
	}
	s.get(shop+"/healing").ok(http.StatusOK, "Tests healed", "Healed and later reverted", "the element has another name now", "1 healed")
	for _, at := range []string{"/sessions/nonsense", "/sessions/" + uuid.NewString(), "/sessions/" + red.ID, "/sessions?batch=" + uuid.NewString(), "/sessions?before=%00", "/sessions/" + x.ID + "/pictures/0", "/sessions/" + x.ID + "/pictures/x", "/sessions/" + uuid.NewString() + "/events"} {
		s.get(shop + at).ok(http.StatusNotFound)
	}
	s.get("/sessions/" + uuid.NewString()).ok(http.StatusNotFound)
}

// TestSessionForms lets members act on a session, and nobody else.
func TestSessionForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	x, _ := s.healed(red)
	at := shop + "/sessions/" + x.ID
	open := s.session(red, func(x *agent.Session) { x.Status = agent.Running; x.StartedAt = &x.CreatedAt })
	forms := []struct {
		path string
		form url.Values
	}{{at + "/decide", url.Values{"word": {"approved"}}}, {at + "/choose", url.Values{"finding": {"0"}, "candidate": {"1"}}}, {shop + "/sessions/" + open.ID + "/cancel", nil}, {shop + "/runs/" + red.ID + "/heal", nil}}
	for _, role := range []account.Role{account.RoleViewer, "stranger", ""} {
		s.role = role
		want := map[account.Role]int{account.RoleViewer: http.StatusForbidden, "stranger": http.StatusNotFound, "": http.StatusSeeOther}[role]
		for _, f := range forms {
			if a := s.post(f.path, f.form); a.code != want || role == "" && !strings.HasPrefix(a.header.Get("Location"), "/sign-in") {
				t.Errorf("%s as %q: %d %s", f.path, role, a.code, a.header.Get("Location"))
			}
		}
		for _, path := range []string{"/sessions", "/healing", "/sessions/" + x.ID, "/sessions/" + x.ID + "/events"} {
			want := map[account.Role]int{account.RoleViewer: http.StatusOK, "stranger": http.StatusNotFound, "": http.StatusSeeOther}[role]
			if a := s.get(shop + path); a.code != want {
				t.Errorf("%s as %q: %d", path, role, a.code)
			}
		}
		if role == account.RoleViewer {
			s.get(at).ok(http.StatusOK).without("Approve", "Try this one")
			s.get(shop + "/sessions/" + open.ID).ok(http.StatusOK).without("Cancel")
			s.get(shop+"/runs/"+red.ID).ok(http.StatusOK, "Healing:").without("Heal again")
		}
	}
	if all, err := s.db.AgentSessions(t.Context(), agent.Query{ProjectID: s.p.ID, Limit: 10}); err != nil || len(all) != 2 || all[1].Decision != nil || all[0].CancelBy != "" {
		t.Fatalf("somebody else changed something: %+v, %v", all, err)
	}
	s.role = account.RoleMember
	moved := func(a *answer, to string) string {
		t.Helper()
		if a.code != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), to) {
			t.Fatalf("%d %s: %.400s", a.code, a.header.Get("Location"), a.text)
		}
		return a.header.Get("Location")
	}
	s.post(at+"/decide", url.Values{"word": {"perhaps"}}).ok(http.StatusBadRequest, "no decision")
	s.post(at+"/explode", nil).ok(http.StatusNotFound)
	s.post(at+"/cancel", nil).ok(http.StatusConflict, "over")
	s.post(at+"/choose", url.Values{"finding": {"0"}, "candidate": {"2"}}).ok(http.StatusBadRequest, "names this candidate")
	s.post(at+"/choose", url.Values{"finding": {"x"}}).ok(http.StatusBadRequest, "no such candidate")
	s.post(shop+"/sessions/"+open.ID+"/decide", url.Values{"word": {"approved"}}).ok(http.StatusConflict, "not over")

	moved(s.post(at+"/decide", url.Values{"word": {"rejected"}, "note": {"<b>no</b>"}}), at)
	s.get(at).ok(http.StatusOK, "rejected", "<b>no</b>", "Approve")
	if n := s.get(at).count("button", "value", "rejected"); n != 0 {
		t.Error("it can be rejected twice")
	}
	fresh := moved(s.post(at+"/choose", url.Values{"finding": {"0"}, "candidate": {"1"}}), shop+"/sessions/")
	s.get(fresh).ok(http.StatusOK, "A person chose the element", "getByTestId('remove-all')", "not needed")
	s.post(at+"/steer", url.Values{"finding": {"0"}, "message": {" "}}).ok(http.StatusBadRequest, "1 to 2000 bytes")
	s.post(at+"/steer", url.Values{"finding": {"9"}, "message": {"x"}}).ok(http.StatusBadRequest, "no such finding")
	s.post(at+"/steer", url.Values{"finding": {"0"}, "message": {"it is getByRole('main').getByText('x')"}}).ok(http.StatusBadRequest, "in one part")
	moved(s.post(at+"/steer", url.Values{"finding": {"0"}, "message": {"the <i>small</i> one"}}), at)
	s.get(at).ok(http.StatusOK, "the <i>small</i> one", "Say which element is meant")
	fresh = moved(s.post(at+"/steer", url.Values{"finding": {"0"}, "message": {"It is page.getByTitle('Remove (one)'), I think."}}), shop+"/sessions/")
	s.get(fresh).ok(http.StatusOK, "A person chose the element", "getByTitle('Remove (one)')")
	moved(s.post(at+"/decide", url.Values{"word": {"approved"}}), at)
	s.get(at).ok(http.StatusOK, "approved", "under way", "verifying")
	moved(s.post(shop+"/sessions/"+open.ID+"/cancel", nil), shop+"/sessions/"+open.ID)
	s.get(shop+"/sessions/"+open.ID).ok(http.StatusOK, "Being cancelled")
}

// TestHealFromARun begins with a button on a failed run, or on one failure of it.
func TestHealFromARun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, live := s.story()
	at := shop + "/runs/" + red.ID
	s.get(at).ok(http.StatusOK, "Heal failures")
	s.get(shop + "/runs/" + live.ID).ok(http.StatusOK).without("Heal failures")
	s.get(at+"/tests/"+testID(7)).ok(http.StatusOK, "Heal this failure")
	s.get(at + "/tests/" + testID(4)).ok(http.StatusOK).without("Heal this failure")
	s.post(shop+"/runs/"+live.ID+"/heal", nil).ok(http.StatusConflict, "has not finished")
	s.post(at+"/heal", url.Values{"test": {testID(4)}}).ok(http.StatusBadRequest, "did not fail")

	one := s.post(at+"/heal", url.Values{"test": {testID(7)}})
	if to := one.header.Get("Location"); one.code != http.StatusSeeOther || !strings.HasPrefix(to, shop+"/sessions/0") {
		t.Fatalf("%d %s %.300s", one.code, to, one.text)
	}
	s.get(at+"/tests/"+testID(7)).ok(http.StatusOK, "Healing:", "queued")
	s.get(at + "/tests/" + testID(0)).ok(http.StatusOK).without("Healing:")
	both := s.post(at+"/heal", nil)
	to := both.header.Get("Location")
	if both.code != http.StatusSeeOther || !strings.HasPrefix(to, shop+"/sessions?batch=") {
		t.Fatalf("%d %s", both.code, to)
	}
	s.get(to).ok(http.StatusOK, "0 of 2 are over", red.Name)
	s.get(at).ok(http.StatusOK, "0 of 2 sessions over", "Heal again").without("Heal failures")
	b, err := s.db.AgentSessions(t.Context(), agent.Query{ProjectID: s.p.ID, Limit: 10})
	if err != nil || len(b) != 3 {
		t.Fatalf("%d sessions, %v", len(b), err)
	}
	batch, err := s.db.Batch(t.Context(), b[0].BatchID)
	if err != nil || !batch.Wish.AutoCreatePR || batch.AskedBy != "person:ada" {
		t.Errorf("%+v, %v", batch, err)
	}
	// A link that works without sign-in shows neither.
	for _, x := range all(s.get(at).doc, "button") {
		if link := attr(x, "data-copy"); link != "" {
			s.role = ""
			s.get(strings.TrimPrefix(link, s.app.AppURL)).ok(http.StatusOK).without("Healing:", "Heal")
			s.get(strings.TrimPrefix(link, s.app.AppURL)+"/tests/"+testID(7)).ok(http.StatusOK).without("Healing:", "Heal")
		}
	}
}

// TestSessionsOfOthers are nobody's business, whatever the address says.
func TestSessionsOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	p, _, err := s.db.CreateProject(t.Context(), project.Project{Name: "Bank", Repository: project.Repository{URL: "file:///elsewhere", Branch: "main"}})
	if err != nil {
		t.Fatal(err)
	}
	mine := s.p
	s.p = p
	theirs := s.begin("main", "f1", nil, []told{{n: 1, status: run.StatusFailed, message: "Error: vault"}})
	x, trial := s.healed(theirs)
	s.p = mine
	for _, at := range []string{"/sessions/" + x.ID, shop + "/sessions/" + x.ID, shop + "/sessions/" + x.ID + "/events", shop + "/sessions/" + x.ID + "/pictures/0", shop + "/sessions?batch=" + x.BatchID, "/projects/bank/sessions/" + x.ID, shop + "/runs/" + trial.ID} {
		s.get(at).ok(http.StatusNotFound)
	}
	for _, at := range []string{shop + "/sessions/" + x.ID + "/decide", shop + "/sessions/" + x.ID + "/cancel", shop + "/sessions/" + x.ID + "/choose", shop + "/runs/" + theirs.ID + "/heal", "/projects/bank/sessions/" + x.ID + "/cancel"} {
		s.post(at, url.Values{"word": {"rejected"}, "finding": {"0"}, "candidate": {"1"}}).ok(http.StatusNotFound)
	}
	s.get(shop+"/sessions").ok(http.StatusOK, "Nothing was healed yet")
	// A trial that says that it is of another project's session leads nowhere.
	s.get(shop+"/runs/"+s.trial(x.ID, attempt.Trial{}, nil).ID).ok(http.StatusOK, "a trial of a session")
	_ = red
}

// TestHostileSession gives every text that strangers have a say in what would turn a page
// around, and more of it than a page may show.
func TestHostileSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	const evil = "\u202eevil\u2066\x1b[31m\u009b</title></code><script>alert(1)</script><img src=x onerror=alert(1)>\" onmouseover=\"x"
	long := evil + strings.Repeat(" long", 3000)
	trial := s.trial("x", attempt.Trial{}, []told{{n: 7, status: run.StatusFailed, message: evil}})
	var many []string
	for range 200 {
		many = append(many, long)
	}
	var candidates []heal.CandidateSeen
	for range 60 {
		candidates = append(candidates, heal.CandidateSeen{Label: long, Path: long, Rival: long, Share: 7, Why: []string{long, long}, Vetoes: []string{long}})
	}
	f := heal.Finding{TestID: "../../" + evil, Browser: evil, Title: long, File: evil, Class: evil, Why: long, Evidence: many, RunID: trial.ID, Before: long, After: long, Outcome: evil, Candidates: candidates, Stack: []attempt.Location{{File: evil}},
		Step: &heal.StepSeen{Method: long, Locator: long, Selector: long, File: long, Function: long, Matcher: long, Error: long, URL: "javascript:alert(1)" + long}}
	var findings []heal.Finding
	for range 3 {
		findings = append(findings, f)
	}
	x := s.session(red, func(x *agent.Session) {
		x.Status, x.Title, x.Summary, x.FinishedAt = agent.Completed, long, long, &x.CreatedAt
		x.Stage = evil
		x.Problem = &agent.Problem{Code: evil, Message: long}
		x.Pull = &agent.PullRequest{ActionID: "../" + evil, State: evil, Number: 7, URL: "javascript:alert(1)"}
		x.Decision = &agent.Decision{Word: "approved", By: evil, Note: long}
		x.Patch = "--- a/" + evil + "\n+++ b/" + evil + "\n@@ -1 +1 @@\n-" + evil + "\n+" + evil + "\n"
		x.Outcomes = []agent.Outcome{{TestID: evil, Browser: evil, Title: long, Outcome: evil, Class: evil, Confidence: 7, Evidence: many}}
		x.State = s.found(heal.Seen{Findings: findings, Trials: map[string]string{evil: evil}, Proof: &heal.Proof{Why: long, Checks: []heal.Check{{What: evil, Note: long}}, Shared: 1, SharedFailed: many, Sabotage: []heal.Sabotage{{What: long, Error: long}}}})
	})
	for range 20 {
		s.noted(x.ID, agent.Event{Kind: evil, Text: long, RunID: "../" + evil})
	}
	for _, path := range []string{"/sessions", "/sessions/" + x.ID, "/healing"} {
		a := s.get(shop + path)
		a.ok(http.StatusOK)
		if i := strings.IndexAny(a.text, "\u202e\u2066\x1b\u009b"); i >= 0 {
			t.Errorf("%s is turned around: %q", path, a.text[max(0, i-60):i+20])
		}
		if strings.Contains(a.text, "<script>alert") || strings.Contains(a.text, "<img src=x") {
			t.Errorf("%s takes a stranger's markup", path)
		}
		if len(a.text) > 400_000 {
			t.Errorf("%s has %d bytes", path, len(a.text))
		}
		for _, l := range all(a.doc, "a") {
			if h := attr(l, "href"); !strings.HasPrefix(h, "/") && !strings.HasPrefix(h, "#") && !strings.HasPrefix(h, "?") {
				t.Errorf("%s links to %q", path, h)
			}
		}
	}
}
