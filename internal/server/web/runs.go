package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/server/route"
)

// runsShown is how many runs a page lists.
const runsShown = 40

func (a *App) mountRuns(mux *http.ServeMux) {
	mux.HandleFunc("GET /projects/{slug}", a.inProject(func(w http.ResponseWriter, r *http.Request, v *visit) error {
		http.Redirect(w, r, v.base()+"/runs", http.StatusSeeOther)
		return nil
	}))
	mux.HandleFunc("GET /projects/{slug}/runs", a.inProject(a.runs))
	mux.HandleFunc("GET /projects/{slug}/runs/events", a.inProject(a.runsEvents))
	mux.HandleFunc("GET /projects/{slug}/runs/new", a.act(a.newRun))
	mux.HandleFunc("POST /projects/{slug}/runs", a.act(a.startRun))
	mux.HandleFunc("GET /projects/{slug}/runs/{id}", a.inProject(a.run))
	mux.HandleFunc("GET /projects/{slug}/runs/{id}/events", a.inProject(a.runEvents))
	mux.HandleFunc("GET /projects/{slug}/runs/{id}/report", a.inProject(a.report))
	mux.HandleFunc("POST /projects/{slug}/runs/{id}/cancel", a.act(a.cancelRun))
	mux.HandleFunc("POST /projects/{slug}/runs/{id}/again", a.act(a.runAgain))
	mux.HandleFunc("GET /projects/{slug}/runs/{id}/tests/{test}", a.inProject(a.runTest))
	mux.HandleFunc("GET /projects/{slug}/runs/{id}/tests/{test}/artifacts/{artifact}", a.inProject(a.artifact))
	mux.HandleFunc("GET /projects/{slug}/runs/{id}/tests/{test}/artifacts/{artifact}/errors", a.inProject(a.said))
	mux.HandleFunc("POST /projects/{slug}/runs/{id}/tests/{test}/verdict", a.act(a.judge))
	mux.HandleFunc("POST /projects/{slug}/runs/{id}/tests/{test}/again", a.act(a.testAgain))
}

func (v *visit) base() string { return projectURL(v.Project.Slug) }

// runURL answers where a run is for whoever visits.
func (v *visit) runURL(id string) string {
	if v.Open != "" {
		return v.Open
	}
	return v.base() + "/runs/" + id
}

// runName is what people call a run.
func runName(x *run.Run) string {
	if x.Sharded() {
		// It has no job name that anybody could use.
		return fmt.Sprintf("Run %.8s in %d shards", x.ID, x.ShardCount)
	}
	return x.Name
}

// signalOf answers what the icon of a run's page shows.
func signalOf(x *run.Run) Signal {
	switch {
	case x.Verdict == run.Pass:
		return IsPassed
	case x.Verdict == run.Fail:
		return IsFailed
	}
	return IsRunning
}

// runRow is a run in a list.
type runRow struct {
	Run   *run.Run
	Name  string
	URL   string
	Took  string
	Scope string
}

func (a *App) rowOf(v *visit, x *run.Run) runRow {
	row := runRow{Run: x, Name: runName(x), URL: v.runURL(x.ID), Scope: scope(x.Selection)}
	switch {
	case x.FinishedAt != nil:
		row.Took = showDuration(tookOf(*x))
	case x.StartedAt != nil:
		row.Took = showDuration(a.Now().Sub(*x.StartedAt))
	}
	return row
}

// scope says which tests a selection is.
func scope(s run.Selection) string {
	switch s.Kind {
	case run.SelectTests:
		return plural(len(s.TestIDs), "chosen test")
	case run.SelectGrep:
		return "pattern " + firstLine(s.Grep, 60)
	case run.SelectCollection:
		return "a collection"
	case run.SelectSuite:
	}
	return "all tests"
}

// states that runs are filtered by, and their phases.
var runStates = []struct {
	Name, Text string
	Phases     []run.Phase
}{
	{"open", "waiting or running", []run.Phase{run.Queued, run.Preparing, run.Running, run.Merging}},
	{"passed", "passed", []run.Phase{run.Passed, run.Healed}},
	{"failed", "failed", []run.Phase{run.Failed, run.ProcessError}},
	{"cancelled", "cancelled", []run.Phase{run.Cancelled}},
}

// runsPage is what the list of runs shows.
type runsPage struct {
	Rows     []runRow
	Chart    *chart
	Branches []string
	Triggers []run.Trigger
	Envs     []project.Environment
	States   any
	Q        url.Values
	Filtered bool
	First    string // address of the first page, "" on it
	Next     string
	Curl     string
}

func (a *App) runs(w http.ResponseWriter, r *http.Request, v *visit) error {
	q := r.URL.Query()
	ask := run.Query{Branch: q.Get("branch"), Trigger: run.Trigger(q.Get("trigger")), Text: strings.TrimSpace(q.Get("q")), Limit: runsShown}
	envs, err := a.Runs.Environments.Environments(r.Context(), v.Project.ID)
	if err != nil {
		return err
	}
	for _, e := range envs {
		if e.Name == q.Get("environment") {
			ask.Environment, ask.Default = e.Name, e.Default
		}
	}
	for _, s := range runStates {
		if s.Name == q.Get("state") {
			ask.Phases = s.Phases
		}
	}
	var after run.Cursor
	if c := q.Get("cursor"); c != "" {
		if err := route.ReadCursor(c, &after); err != nil {
			return err
		}
		ask.After = &after
	}
	rs, next, err := a.Runs.List(r.Context(), v.Actor, ask)
	if err != nil {
		return err
	}
	p := runsPage{Triggers: run.Triggers(), States: runStates, Q: q, Envs: envs, Filtered: len(ask.Phases) > 0 || ask.Environment+ask.Branch+string(ask.Trigger)+ask.Text != "", Curl: a.BaseURL}
	if p.Branches, err = a.Runs.Store.Branches(r.Context(), v.Project.ID, 100); err != nil {
		return err
	}
	if b := ask.Branch; b != "" && !slices.Contains(p.Branches, b) {
		p.Branches = append(p.Branches, b)
	}
	open := 0
	for i := range rs {
		p.Rows = append(p.Rows, a.rowOf(v, &rs[i]))
		if !rs[i].Terminal() && !rs[i].Parked {
			open++
		}
	}
	if c, ok := runsChart(rs); ok {
		p.Chart = &c
	}
	if next != nil {
		p.Next = with(q, "cursor", *route.Cursor(next))
	}
	page := Page{Title: "Runs · " + v.Project.Name, Area: "runs", Data: &p}
	if ask.After != nil {
		p.First = with(q, "cursor", "")
	} else {
		page.Live = v.base() + "/runs/events"
	}
	if open > 0 {
		page.Title, page.Signal = fmt.Sprintf("%d running · %s", open, v.Project.Name), IsRunning
	}
	a.show(w, r, http.StatusOK, "runs/list", page)
	return nil
}

// startPage is the form that starts a run.
type startPage struct {
	Form        url.Values
	Error       *problemPage
	Branches    []string
	Collections []catalog.Counted
	Tests       []catalog.Test // that are chosen
	Envs        []project.Environment
	Default     string
	Connected   bool
}

func (a *App) newRun(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.startForm(w, r, v, r.URL.Query(), nil)
}

func (a *App) startForm(w http.ResponseWriter, r *http.Request, v *visit, form url.Values, bad *problemPage) (err error) {
	p := startPage{Form: form, Error: bad, Default: v.Project.Repository.Branch, Connected: v.Project.HasTestsRepo()}
	if p.Branches, err = a.Runs.Store.Branches(r.Context(), v.Project.ID, 100); err != nil {
		return err
	}
	if p.Envs, err = a.Runs.Environments.Environments(r.Context(), v.Project.ID); err != nil {
		return err
	}
	if p.Collections, err = a.Tests.ListCollections(r.Context(), v.Project.ID); err != nil {
		return err
	}
	named, err := a.Tests.Named(r.Context(), v.Project.ID, form["test"][:min(len(form["test"]), run.MaxTestIDs)])
	if err != nil {
		return err
	}
	for _, id := range form["test"] {
		if t, ok := named[id]; ok {
			p.Tests = append(p.Tests, t)
		}
	}
	if form.Get("select") == "" {
		kind := "suite"
		switch {
		case len(p.Tests) > 0:
			kind = "tests"
		case form.Get("collection") != "":
			kind = "collection"
		}
		p.Form = url.Values{}
		for k, x := range form {
			p.Form[k] = x
		}
		p.Form.Set("select", kind)
	}
	status := http.StatusOK
	if bad != nil {
		status = bad.Status
	}
	a.show(w, r, status, "runs/new", Page{Title: "Start a run · " + v.Project.Name, Area: "runs", Data: &p, Crumbs: []Crumb{{"Runs", v.base() + "/runs"}, {Name: "Start a run"}}})
	return nil
}

func (a *App) startRun(w http.ResponseWriter, r *http.Request, v *visit) error {
	in, err := startInput(r.PostForm)
	if err == nil {
		var x run.Run
		if x, err = a.Runs.Start(r.Context(), v.Actor, in); err == nil {
			done(w, r, v.runURL(x.ID), "The run is queued.")
			return nil
		}
	}
	if bad := badInput(err); bad != nil {
		return a.startForm(w, r, v, r.PostForm, bad)
	}
	return err
}

func (a *App) cancelRun(w http.ResponseWriter, r *http.Request, v *visit) error {
	id := r.PathValue("id")
	if err := a.Runs.Cancel(r.Context(), v.Actor, id); err != nil {
		return err
	}
	done(w, r, v.runURL(id), "The run is being cancelled.")
	return nil
}

// runAgain starts a run like another one: of all that it was of, or of what failed.
func (a *App) runAgain(w http.ResponseWriter, r *http.Request, v *visit) error {
	x, err := a.Runs.Get(r.Context(), v.Actor, r.PathValue("id"))
	if err != nil {
		return err
	}
	in := run.StartInput{Selection: x.Selection, Branch: x.Branch, Environment: x.Environment, EnvOverrides: x.EnvOverrides, ShardCount: x.ShardCount, Pull: x.Pull, Trigger: run.TriggerManual}
	in.Selection.Rule = nil
	if r.PostForm.Get("what") == "failed" {
		ids, err := a.Runs.FailedTests(r.Context(), v.Actor, x.ID)
		if err != nil {
			return err
		}
		in.Selection, in.ShardCount = run.Selection{Kind: run.SelectTests, TestIDs: ids}, 0
	}
	again, err := a.Runs.Start(r.Context(), v.Actor, in)
	if in.Pull != nil && fault.KindOf(err) == fault.Invalid {
		in.Pull = nil // it cannot be reached any more
		again, err = a.Runs.Start(r.Context(), v.Actor, in)
	}
	if err != nil {
		return err
	}
	done(w, r, v.runURL(again.ID), "The new run is queued.")
	return nil
}
