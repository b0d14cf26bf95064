package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/artifact"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/server/route"
)

// Bounds of the past of a test.
const (
	stripShown = 50
	pastLooked = 300
)

// attemptView is one attempt at a test with what it left behind.
type attemptView struct {
	Try    run.Try
	N      int // 1, 2, …
	Images []attachment
	Videos []attachment
	Traces []attachment
	Logs   []attachment
	Others []attachment
}

// attachment is an artifact and where it opens.
type attachment struct {
	artifact.Artifact
	URL    string // from the pages' own origin, where that is safe; else from the content's
	Viewer string // of a trace, "" where it cannot be shown here
}

// cell is one run in the past of a test.
type cell struct {
	run.Past
	URL     string
	Current bool
}

// testPage is what the page of a test in a run shows.
type testPage struct {
	Run        *run.Run
	RunName    string
	RunURL     string
	X          *run.Result
	URL        string
	All        []run.Result // in other Playwright projects too
	Attempts   []attemptView
	Strip      []cell
	Bad, Good  *cell // the first run that failed, and the last one that passed before
	Bug        *bug.Bug
	BugURL     string
	TestURL    string // of the test itself
	Held       *catalog.Quarantine
	Words      []run.Word
	Until      string // proposed end of a quarantine
	NoViewer   bool
	CanJudge   bool
	Healable   bool
	Healing    *sessionRow // that looked at it, nil for none
	SessionURL string      // of a trial, "" for what is none
	Severities []bug.Severity
}

// Other answers where the same test in another Playwright project is.
func (p *testPage) Other(x run.Result) string { return resultInRun(p.RunURL, x) }

func (a *App) runTest(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx := r.Context()
	x, results, err := a.Runs.TestResults(ctx, v.Actor, r.PathValue("id"), r.PathValue("test"))
	if err != nil {
		return err
	}
	browser := r.URL.Query().Get("browser")
	repetition, _ := strconv.Atoi(r.URL.Query().Get("repetition")) //nolint:errcheck // 0 for none
	i := slices.IndexFunc(results, func(y run.Result) bool { return y.Browser == browser && y.RepeatEach == repetition })
	if i < 0 {
		// The one that failed is the one that is looked for.
		i = max(0, slices.IndexFunc(results, func(y run.Result) bool { return y.Failing() }))
	}
	y := &results[i]
	p := &testPage{Run: &x, RunName: runName(&x), RunURL: v.runURL(x.ID), X: y, All: results, Words: run.Words(), Severities: bug.Severities(),
		Until: a.Now().AddDate(0, 0, 14).Format("2006-01-02"), CanJudge: x.Terminal() && x.Trial == nil}
	p.URL = testInRun(p.RunURL, y.TestID, "")
	if v.Open == "" {
		p.TestURL = v.base() + "/tests/" + url.PathEscape(y.TestID)
	}
	for _, step := range []func(*http.Request, *visit, *testPage) error{a.addAttempts, a.addPast, a.addBug, a.addSession} {
		if err := step(r, v, p); err != nil {
			return err
		}
	}
	title := lookOf(y.Status).Text
	page := Page{Title: strings.ToUpper(title[:1]) + title[1:] + ": " + firstLine(y.Title, 80), Signal: signalOfResult(y), Area: "runs", Data: p,
		Crumbs: []Crumb{{"Runs", v.base() + "/runs"}, {p.RunName, p.RunURL}, {Name: firstLine(y.Title, 60)}}}
	if x.Trial != nil && v.Open == "" {
		p.SessionURL = v.sessionURL(x.Trial.Session)
		page.Area = "healing"
		page.Crumbs = append([]Crumb{{"Healing", v.base() + "/sessions"}, {"The session", p.SessionURL}}, page.Crumbs[1:]...)
	}
	if v.Open != "" {
		page.Crumbs = page.Crumbs[1:]
	}
	if !x.Terminal() && !x.Parked {
		page.Live = p.RunURL + "/events"
	}
	a.show(w, r, http.StatusOK, "runs/test", page)
	return nil
}

func signalOfResult(x *run.Result) Signal {
	switch {
	case x.Failing():
		return IsFailed
	case !x.Status.Final():
		return IsRunning
	case x.Status == run.StatusSkipped:
		return Quiet
	}
	return IsPassed
}

// addAttempts puts what the attempts left behind beside them.
func (a *App) addAttempts(r *http.Request, v *visit, p *testPage) error {
	found, err := a.Runs.Attachments(r.Context(), v.Actor, p.Run.ID, p.X.TestID)
	if err != nil {
		return err
	}
	for i, t := range p.X.Tries {
		n := attemptView{Try: t, N: i + 1}
		for _, f := range found {
			if f.Browser != p.X.Browser || f.Retry != t.Retry {
				continue
			}
			x := attachment{Artifact: f.Artifact, URL: p.URL + "/artifacts/" + f.ID}
			switch {
			case f.Kind == artifact.Trace:
				if x.Viewer = x.URL + "?viewer=1"; !a.Separate || f.ViewerURL == "" {
					x.Viewer, p.NoViewer = "", true
				}
				n.Traces = append(n.Traces, x)
			case slices.Contains(images, f.ContentType):
				n.Images = append(n.Images, x)
			case slices.Contains(videos, f.ContentType):
				n.Videos = append(n.Videos, x)
			case f.Kind == artifact.Log:
				n.Logs = append(n.Logs, x)
			default:
				n.Others = append(n.Others, x)
			}
		}
		p.Attempts = append(p.Attempts, n)
	}
	return nil
}

// addPast adds what became of the test in the runs before and after, and since when it
// fails.
func (a *App) addPast(r *http.Request, v *visit, p *testPage) error {
	q := run.PastQuery{ProjectID: v.Project.ID, TestID: p.X.TestID, Browser: p.X.Browser, Branch: p.Run.Branch, Limit: stripShown}
	if p.Run.Trial != nil {
		return nil // it is no part of anybody's past
	}
	past, err := a.Runs.Store.Past(r.Context(), q)
	if err != nil {
		return err
	}
	if p.Run.Terminal() && !slices.ContainsFunc(past, func(x run.Past) bool { return x.RunID == p.Run.ID }) {
		q.UpTo = p.Run.ID
		if past, err = a.Runs.Store.Past(r.Context(), q); err != nil {
			return err
		}
	}
	asCell := func(x run.Past) cell {
		c := cell{Past: x, Current: x.RunID == p.Run.ID}
		if v.Open == "" {
			c.URL = testInRun(v.runURL(x.RunID), p.X.TestID, x.Browser)
		}
		return c
	}
	for _, x := range slices.Backward(past) {
		p.Strip = append(p.Strip, asCell(x))
	}
	if !p.X.Failing() {
		return nil
	}
	q.UpTo, q.Limit = p.Run.ID, pastLooked
	if past, err = a.Runs.Store.Past(r.Context(), q); err != nil {
		return err
	}
	bad, good := run.FirstBad(past)
	if bad != nil {
		c := asCell(*bad)
		p.Bad = &c
	}
	if good != nil {
		c := asCell(*good)
		p.Good = &c
	}
	return nil
}

func (a *App) addBug(r *http.Request, v *visit, p *testPage) error {
	if p.X.BugKey != "" {
		b, err := a.Bugs.Get(r.Context(), v.Actor, p.X.BugKey)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		if err == nil {
			p.Bug = &b
			if v.Open == "" {
				p.BugURL = v.base() + "/bugs/" + b.Key()
			}
		}
	}
	held, err := a.Tests.Quarantined(r.Context(), v.Project.ID)
	for i := range held {
		if held[i].TestID == p.X.TestID {
			p.Held = &held[i]
		}
	}
	return err
}

// judge takes a verdict on a test of a run.
func (a *App) judge(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := r.PostForm
	say := bug.Saying{TestID: r.PathValue("test"), Word: run.Word(f.Get("verdict")), Comment: strings.TrimSpace(f.Get("comment")), Source: bug.Human}
	if say.Word == run.WordBug {
		say.Severity = bug.Severity(f.Get("severity"))
	}
	if _, err := a.Bugs.Submit(r.Context(), v.Actor, r.PathValue("id"), route.RemoteAddress(r.Context()), []bug.Saying{say}); err != nil {
		return err
	}
	done(w, r, testInRun(v.runURL(r.PathValue("id")), say.TestID, f.Get("browser")), "The verdict is kept, and the run is judged again.")
	return nil
}

// testAgain starts a run of one test as it was run before.
func (a *App) testAgain(w http.ResponseWriter, r *http.Request, v *visit) error {
	x, err := a.Runs.Get(r.Context(), v.Actor, r.PathValue("id"))
	if err != nil {
		return err
	}
	again, err := a.Runs.Start(r.Context(), v.Actor, run.StartInput{Selection: run.Selection{Kind: run.SelectTests, TestIDs: []string{r.PathValue("test")}},
		Branch: x.Branch, Environment: x.Environment, EnvOverrides: x.EnvOverrides, Trigger: run.TriggerManual})
	if err != nil {
		return err
	}
	done(w, r, v.runURL(again.ID), "The test is queued in a run of its own.")
	return nil
}

// quarantine holds a test, or lets it go.
func (a *App) quarantine(w http.ResponseWriter, r *http.Request, v *visit) error {
	f, id := r.PostForm, r.PathValue("test")
	back := localPath(f.Get("back"))
	if back == "/" {
		back = v.base() + "/tests/" + url.PathEscape(id)
	}
	if f.Get("end") != "" {
		if err := a.Tests.Release(r.Context(), v.Actor, id); err != nil {
			return err
		}
		done(w, r, back, "The test is out of quarantine: its failures count again from the next run on.")
		return nil
	}
	until, err := time.Parse("2006-01-02", f.Get("until"))
	if err != nil {
		return fault.New(fault.Invalid, "The quarantine needs the day on which it ends.").WithFix("Choose a day within the next 90 days.").At("until", "a day")
	}
	_, err = a.Tests.Quarantine(r.Context(), v.Actor, catalog.Quarantine{ProjectID: v.Project.ID, TestID: id, Owner: cmp.Or(strings.TrimSpace(f.Get("owner")), v.Actor.Name),
		Reason: f.Get("reason"), ExpiresAt: until.Add(24*time.Hour - time.Second)})
	if err != nil {
		return err
	}
	done(w, r, back, "The test is in quarantine: from the next run on its failures do not count.")
	return nil
}

// mayAct reports whether whoever visits may do what members may.
func (v *visit) mayAct() bool {
	return v.Open == "" && v.Actor.MayAs(account.RoleMember, v.Project.ID, "project") == nil
}
