package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/agent"
	"tas-service/internal/fault"
	"tas-service/internal/heal"
	"tas-service/internal/run"
)

// mountSessions registers the pages of healing.
func (a *App) mountSessions(mux *http.ServeMux) {
	const at = "/projects/{slug}"
	mux.HandleFunc("GET "+at+"/sessions", a.inProject(a.sessions))
	mux.HandleFunc("GET "+at+"/sessions/events", a.inProject(a.sessionsEvents))
	mux.HandleFunc("GET "+at+"/sessions/{id}", a.inProject(a.session))
	mux.HandleFunc("GET "+at+"/sessions/{id}/events", a.inProject(a.sessionEvents))
	mux.HandleFunc("GET "+at+"/sessions/{id}/pictures/{finding}", a.inProject(a.picture))
	mux.HandleFunc("POST "+at+"/sessions/{id}/{act}", a.act(a.changeSession))
	mux.HandleFunc("POST "+at+"/runs/{id}/heal", a.act(a.healRun))
	mux.HandleFunc("GET "+at+"/healing", a.inProject(a.figures))
	mux.HandleFunc("GET /sessions/{id}", a.signedIn(a.toSession))
}

// sessionsShown is how many a page lists.
const sessionsShown = 40

// sessionRow is a session in a list.
type sessionRow struct {
	*agent.Session
	URL     string
	RunName string
	RunURL  string
	Took    string
	Counts  []verdictCount
	PullURL string
}

// verdictCount is how many tests a session concluded the same of.
type verdictCount struct {
	Verdict agent.Verdict
	N       int
}

// batchView is a batch as it is shown.
type batchView struct {
	agent.Progress
	URL    string // of its only session, else of the list of them
	Over   int    // sessions that have ended
	Counts []verdictCount
}

// sessionsPage is what the list of sessions shows.
type sessionsPage struct {
	Rows       []sessionRow
	States     any
	Q          url.Values
	Filtered   bool
	Batch      *batchView
	RunName    string // of the batch
	RunURL     string
	Prev, Next string
}

// states that sessions are filtered by.
var sessionStates = []struct {
	Name, Text string
	Statuses   []agent.Status
}{
	{"open", "under way", []agent.Status{agent.Queued, agent.Cloning, agent.Running, agent.Verifying, agent.Waiting}},
	{"completed", "completed", []agent.Status{agent.Completed}},
	{"failed", "failed", []agent.Status{agent.Failed}},
	{"cancelled", "cancelled", []agent.Status{agent.Cancelled}},
}

func (a *App) sessions(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx, q := r.Context(), r.URL.Query()
	ask := agent.Query{Before: q.Get("before"), BatchID: q.Get("batch"), Limit: sessionsShown + 1}
	for _, id := range []string{ask.Before, ask.BatchID} {
		if id != "" && uuid.Validate(id) != nil {
			return fault.New(fault.NotFound, "There is no such page of sessions.").WithFix("Begin with the first page.")
		}
	}
	for _, s := range sessionStates {
		if s.Name == q.Get("state") {
			ask.Statuses = s.Statuses
		}
	}
	p := sessionsPage{States: sessionStates, Q: q, Filtered: len(ask.Statuses) > 0}
	named := map[string]string{}
	if ask.BatchID != "" {
		b, err := a.batchOf(ctx, v, ask.BatchID)
		if err != nil {
			return err
		}
		p.Batch = b
		p.RunURL = v.runURL(b.RunID)
		p.RunName = a.runNamed(ctx, named, b.RunID)
	}
	all, err := a.Healing.Agents.List(ctx, v.Actor, ask)
	if err != nil {
		return err
	}
	if len(all) > sessionsShown {
		all = all[:sessionsShown]
		p.Next = with(q, "before", all[sessionsShown-1].ID)
	}
	if ask.Before != "" {
		p.Prev = with(q, "before", "")
	}
	open := 0
	for i := range all {
		x := &all[i]
		row := a.sessionRow(v, x)
		row.RunName = a.runNamed(ctx, named, x.RunID)
		p.Rows = append(p.Rows, row)
		if !x.Status.Final() {
			open++
		}
	}
	page := Page{Title: "Healing · " + v.Project.Name, Area: "healing", Data: p}
	if p.Batch != nil {
		page.Crumbs = []Crumb{{"Healing", v.base() + "/sessions"}, {Name: "One batch"}}
	}
	if ask.Before == "" {
		page.Live = v.base() + "/sessions/events"
	}
	if open > 0 {
		page.Title, page.Signal = fmt.Sprintf("%d being healed · %s", open, v.Project.Name), IsRunning
	}
	a.show(w, r, http.StatusOK, "sessions/list", page)
	return nil
}

func (a *App) sessionRow(v *visit, x *agent.Session) sessionRow {
	row := sessionRow{Session: x, URL: v.sessionURL(x.ID), RunURL: v.runURL(x.RunID), Counts: countsOf(*x), PullURL: pullURL(v, x.Pull)}
	if d := a.sessionTook(x); d > 0 {
		row.Took = showDuration(d)
	}
	return row
}

// sessionTook answers how long a session has taken, or takes so far; 0 before its first step.
func (a *App) sessionTook(x *agent.Session) time.Duration {
	switch {
	case x.StartedAt == nil:
		return 0
	case x.FinishedAt != nil:
		return x.FinishedAt.Sub(*x.StartedAt)
	case x.Status.Final():
		return 0
	}
	return a.Now().Sub(*x.StartedAt)
}

func (v *visit) sessionURL(id string) string { return v.base() + "/sessions/" + url.PathEscape(id) }

// pullURL answers where a pull request can be seen, "" while there is none, or nowhere that a
// page may link to.
func pullURL(v *visit, p *agent.PullRequest) string {
	switch {
	case p == nil || p.Number == 0:
		return ""
	case v.Project.Repository.Local():
		return fmt.Sprintf("%s/pulls/%d", v.base(), p.Number)
	}
	if u, err := url.Parse(p.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return p.URL
}

// countsOf counts what sessions concluded, in the order of the verdicts.
func countsOf(ss ...agent.Session) (out []verdictCount) {
	n := map[agent.Verdict]int{}
	for _, x := range ss {
		for _, o := range x.Outcomes {
			n[o.Outcome]++
		}
	}
	for _, verdict := range agent.Verdicts() {
		if n[verdict] > 0 {
			out = append(out, verdictCount{verdict, n[verdict]})
		}
	}
	return out
}

// runNamed answers what people call a run, and remembers it.
func (a *App) runNamed(ctx context.Context, known map[string]string, id string) string {
	name, ok := known[id]
	if !ok {
		name = fmt.Sprintf("run %.8s", id)
		if x, err := a.Store.Run(ctx, id); err == nil {
			name = runName(&x)
		}
		known[id] = name
	}
	return name
}

// batchOf answers a batch: fault.NotFound for one that is not of this project.
func (a *App) batchOf(ctx context.Context, v *visit, id string) (*batchView, error) {
	progress, err := a.Healing.Agents.Progress(ctx, v.Actor, agent.Heal, id)
	if err != nil {
		return nil, err
	}
	b := &batchView{Progress: progress, URL: v.base() + "/sessions?batch=" + url.QueryEscape(id), Counts: countsOf(progress.Sessions...)}
	for _, x := range b.Sessions {
		if x.Status.Final() {
			b.Over++
		}
	}
	if len(b.Sessions) == 1 {
		b.URL = v.sessionURL(b.Sessions[0].ID)
	}
	return b, nil
}

// sessionsEvents tells when the first page of a project's sessions has changed.
func (a *App) sessionsEvents(w http.ResponseWriter, r *http.Request, v *visit) error {
	look := func(ctx context.Context) (string, error) {
		all, err := a.Healing.Agents.List(ctx, v.Actor, agent.Query{Limit: sessionsShown})
		var b strings.Builder
		for _, x := range all {
			b.WriteString(sessionStateOf(x))
		}
		return b.String(), err
	}
	changed, stop := a.Runs.Watcher.Watch(run.ProjectTopic(v.Project.ID))
	defer stop()
	before, err := look(r.Context())
	if err != nil {
		return err
	}
	return a.follow(w, r, changed, before, look, nil)
}

// sessionEvents tells when a session has changed, and when it is over.
func (a *App) sessionEvents(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, err := sessionID(r)
	if err != nil {
		return err
	}
	over := false
	look := func(ctx context.Context) (string, error) {
		x, err := a.Healing.Agents.Get(ctx, v.Actor, id)
		over = err == nil && x.Status.Final()
		return sessionStateOf(x), err
	}
	changed, stop := a.Runs.Watcher.Watch(agent.Topic(id))
	defer stop()
	return a.follow(w, r, changed, r.URL.Query().Get("since"), look, &over)
}

// sessionStateOf is another text whenever a session has changed.
func sessionStateOf(x agent.Session) string { return fmt.Sprintf("%s.%d", x.ID, x.Version) }

// follow tells a browser whenever look answers something else than before, and, where over is
// given, that it is over once look has set it.
func (a *App) follow(w http.ResponseWriter, r *http.Request, changed <-chan struct{}, before string, look func(context.Context) (string, error), over *bool) error {
	if _, err := look(r.Context()); err != nil {
		return err
	}
	return stream(w, r, func(ctx context.Context) (string, bool) {
		// What happened between the page and now is told at once.
		if now, err := look(ctx); err == nil {
			if over != nil && *over {
				return "over", false
			}
			if now != before {
				before = now
				return "changed", true
			}
		}
		select {
		case <-ctx.Done():
			return "", false
		case <-time.After(stillOn): // a change that was not heard of is seen now
		case <-changed:
			select {
			case <-ctx.Done():
			case <-time.After(gather):
			}
		}
		return "", true
	})
}

// sessionID answers which session an address is about.
func sessionID(r *http.Request) (string, error) {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil {
		return "", fault.New(fault.NotFound, "There is no such session.").WithFix("The list of healing has those that there are.")
	}
	return id.String(), nil
}

// toSession finds the project of a session and goes to its page there.
func (a *App) toSession(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, err := sessionID(r)
	if err != nil {
		return err
	}
	x, err := a.Healing.Store.AgentSession(r.Context(), id)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	for _, p := range v.Projects {
		if err == nil && p.ID == x.ProjectID {
			http.Redirect(w, r, projectURL(p.Slug)+"/sessions/"+x.ID, http.StatusSeeOther)
			return nil
		}
	}
	return fault.New(fault.NotFound, "There is no such session, or you are not a member of its project.").WithFix("Ask an administrator of the project to invite you.")
}

// healRun starts the healing of what failed in a run, or of one test of it.
func (a *App) healRun(w http.ResponseWriter, r *http.Request, v *visit) error {
	in := heal.StartInput{RunID: r.PathValue("id"), Wish: agent.Wish{AutoCreatePR: true}}
	if id := r.PostForm.Get("test"); id != "" {
		in.TestIDs = []string{id}
	}
	started, err := a.Healing.Start(r.Context(), v.Actor, in)
	if err != nil {
		return err
	}
	to := v.base() + "/sessions?batch=" + url.QueryEscape(started.ID)
	if len(started.Sessions) == 1 {
		to = v.sessionURL(started.Sessions[0].ID)
	}
	done(w, r, to, "The healing has begun.")
	return nil
}

// healable reports whether whoever visits may have the failures of a run healed.
func (a *App) healable(v *visit, x *run.Run) bool {
	return a.Healing != nil && v.mayAct() && x.Phase == run.Failed && x.Trial == nil && x.Commit != "" && x.Counts.Failed > 0
}

// addHealing adds what became of a run's failures.
func (a *App) addHealing(r *http.Request, v *visit, p *runPage) (err error) {
	p.Healable = a.healable(v, p.Run)
	p.Healing, err = a.healingOf(r.Context(), v, p.Run)
	return err
}

// healingOf answers the latest batch that heals a run, nil for none.
func (a *App) healingOf(ctx context.Context, v *visit, x *run.Run) (*batchView, error) {
	if a.Healing == nil || v.Open != "" || x.HealBatch == "" {
		return nil, nil
	}
	b, err := a.batchOf(ctx, v, x.HealBatch)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return nil, nil
	}
	return b, err
}

// addSession adds the session that looked at a test.
func (a *App) addSession(r *http.Request, v *visit, p *testPage) error {
	p.Healable = a.healable(v, p.Run) && p.X.Status == run.StatusFailed
	b, err := a.healingOf(r.Context(), v, p.Run)
	if err != nil || b == nil {
		return err
	}
	for i := range b.Sessions {
		if x := &b.Sessions[i]; slices.Contains(x.TestIDs, p.X.TestID) {
			row := a.sessionRow(v, x)
			for _, o := range x.Outcomes {
				if o.TestID == p.X.TestID && o.Browser == p.X.Browser {
					row.Counts = []verdictCount{{o.Outcome, 1}}
				}
			}
			p.Healing = &row
		}
	}
	return nil
}
