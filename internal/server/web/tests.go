package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/server/route"
)

// testsListed is how many tests a page lists.
const testsListed = 50

func (a *App) mountTests(mux *http.ServeMux) {
	mux.HandleFunc("GET /projects/{slug}/tests", a.inProject(a.tests))
	if a.Refresher != nil {
		mux.HandleFunc("POST /projects/{slug}/tests/refresh", a.act(a.refreshTests))
	}
	mux.HandleFunc("GET /projects/{slug}/tests/{test}", a.inProject(a.test))
	mux.HandleFunc("POST /projects/{slug}/tests/{test}/quarantine", a.act(a.quarantine))
	mux.HandleFunc("GET /projects/{slug}/collections", a.inProject(a.collections))
	mux.HandleFunc("GET /projects/{slug}/collections/new", a.act(a.newCollection))
	mux.HandleFunc("GET /projects/{slug}/collections/{collection}", a.inProject(a.collection))
	mux.HandleFunc("POST /projects/{slug}/collections", a.act(a.saveCollection))
	mux.HandleFunc("POST /projects/{slug}/collections/{collection}", a.act(a.saveCollection))
	mux.HandleFunc("POST /projects/{slug}/collections/{collection}/remove", a.act(a.dropCollection))
}

// testRow is a test in a list.
type testRow struct {
	catalog.Entry
	URL   string
	Spark template.HTML
	Took  time.Duration // the median of what it took when it passed
}

func rowsOf(v *visit, entries []catalog.Entry) []testRow {
	out := make([]testRow, len(entries))
	for i, e := range entries {
		out[i] = testRow{Entry: e, URL: v.base() + "/tests/" + url.PathEscape(e.ID), Spark: spark(e.Outcomes)}
		var took []time.Duration
		for _, o := range e.Outcomes {
			if o.Result != catalog.OutcomeFailed {
				took = append(took, o.Took)
			}
		}
		out[i].Took = median(took)
	}
	return out
}

// testsPage is what the list of tests shows.
type testsPage struct {
	Rows         []testRow
	Tags, Owners []string
	Collections  []catalog.Collection
	Q            url.Values
	Filtered     bool
	First, Next  string
	Look         *run.Refresh // of the latest push; nil where none is looked at
}

// refreshTests has the tests listed anew, as a push does.
func (a *App) refreshTests(w http.ResponseWriter, r *http.Request, v *visit) error {
	if !v.Project.HasTestsRepo() {
		return fault.New(fault.Conflict, "This project has no tests repository connected.").WithFix("Connect one in the project's settings.")
	}
	if err := a.Refresher.Ask(r.Context(), v.Project.ID); err != nil {
		return err
	}
	done(w, r, v.base()+"/tests", "The tests are being listed. Load the page again in a moment.")
	return nil
}

func (a *App) tests(w http.ResponseWriter, r *http.Request, v *visit) error {
	q := r.URL.Query()
	ask := catalog.Query{ProjectID: v.Project.ID, Text: strings.TrimSpace(q.Get("q")), Tag: q.Get("tag"), Owner: q.Get("owner"), Limit: testsListed}
	if c := q.Get("cursor"); c != "" {
		ask.After = &catalog.Cursor{}
		if err := route.ReadCursor(c, ask.After); err != nil {
			return err
		}
	}
	entries, next, err := a.Tests.List(r.Context(), ask, q.Get("collection"))
	if err != nil {
		return err
	}
	p := testsPage{Rows: rowsOf(v, entries), Q: q, Filtered: ask.Text+ask.Tag+ask.Owner+q.Get("collection") != ""}
	if a.Refresher != nil && v.Open == "" && v.Project.HasTestsRepo() {
		look, err := a.Refresher.Store.Refresh(r.Context(), v.Project.ID)
		if err != nil {
			return err
		}
		p.Look = &look
	}
	if p.Tags, p.Owners, err = a.Tests.Store.Facets(r.Context(), v.Project.ID); err != nil {
		return err
	}
	p.Tags, p.Owners = few(p.Tags, ask.Tag), few(p.Owners, ask.Owner)
	if p.Collections, err = a.Tests.Sets.Collections(r.Context(), v.Project.ID); err != nil {
		return err
	}
	if ask.After != nil {
		p.First = with(q, "cursor", "")
	}
	if next != nil {
		p.Next = with(q, "cursor", *route.Cursor(next))
	}
	a.show(w, r, http.StatusOK, "tests/list", Page{Title: "Tests · " + v.Project.Name, Area: "tests", Data: &p})
	return nil
}

// onePage is what the page of a test shows.
type onePage struct {
	testRow
	Past     []cell
	Bugs     []bug.Bug
	Branch   string
	Branches []string
	Until    string
	Bad      *cell
	Good     *cell
}

func (a *App) test(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx := r.Context()
	e, err := a.Tests.Get(ctx, v.Project.ID, r.PathValue("test"))
	if err != nil {
		return err
	}
	p := onePage{testRow: rowsOf(v, []catalog.Entry{e})[0], Branch: r.URL.Query().Get("branch"), Until: a.Now().AddDate(0, 0, 14).Format("2006-01-02")}
	past, err := a.Runs.Store.Past(ctx, run.PastQuery{ProjectID: v.Project.ID, TestID: e.ID, Branch: p.Branch, Limit: 100})
	if err != nil {
		return err
	}
	for _, x := range past {
		p.Past = append(p.Past, cell{Past: x, URL: testInRun(v.runURL(x.RunID), e.ID, x.Browser)})
	}
	if p.Bugs, _, err = a.Bugs.List(ctx, v.Actor, bug.Query{TestID: e.ID, Limit: 20}); err != nil {
		return err
	}
	if p.Branches, err = a.Runs.Store.Branches(ctx, v.Project.ID, 100); err != nil {
		return err
	}
	signal := Quiet
	if e.Health.State == catalog.Broken {
		signal = IsFailed
	}
	a.show(w, r, http.StatusOK, "tests/test", Page{Title: lookOf(e.Health.State).Text + ": " + firstLine(e.Title(), 80), Signal: signal, Area: "tests", Data: &p,
		Crumbs: []Crumb{{"Tests", v.base() + "/tests"}, {Name: firstLine(e.Title(), 60)}}})
	return nil
}
