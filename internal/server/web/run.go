package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Bounds of a run's page.
const (
	groupsShown = 40  // bugs
	firstShown  = 6   // failures of each
	testsShown  = 100 // in a page of the list of all
	nowShown    = 12  // tests that are running
	flakyDays   = 30
)

// failureGroup is what of a run has one bug, told apart for who reads.
type failureGroup struct {
	run.Failures
	Bug      *bug.Bug
	BugURL   string
	IsNew    bool // this run is the first that met it
	HasFlaky bool // tests of it flaked lately
	More     int
}

// shardRow is a shard with what it was expected to take.
type shardRow struct {
	run.Shard
	Took time.Duration
}

// runPage is what the page of a run shows.
type runPage struct {
	Run         *run.Run
	Name        string
	URL         string
	Scope       string
	Why         string
	Took        time.Duration
	ReportURL   string
	OpenLink    string // works without sign-in
	Groups      []failureGroup
	Flaky       *failureGroup
	Recovered   []run.Result // the first ones
	GroupsMore  bool
	Compared    *run.Comparison
	BeforeURL   string
	BeforeName  string
	Shards      []shardRow
	Running     []run.Result
	Results     []run.Result
	Status      string // that results are filtered by
	Statuses    []run.Status
	First, Next string
	flaky       map[string]bool
	Healable    bool       // by whoever visits
	Healing     *batchView // the latest, nil for none
	SessionURL  string     // of a trial, "" for what is none
}

// TestURL answers where a result is shown.
func (p *runPage) TestURL(testID, browser string) string { return testInRun(p.URL, testID, browser) }

// ResultURL answers the same of one of several repetitions, which only trials have.
func (p *runPage) ResultURL(x run.Result) string { return resultInRun(p.URL, x) }

// FlakyTest reports whether a test flaked lately.
func (p *runPage) FlakyTest(id string) bool { return p.flaky[id] }

func testInRun(runURL, testID, browser string) string {
	u := runURL + "/tests/" + url.PathEscape(testID)
	if browser != "" {
		u += "?browser=" + url.QueryEscape(browser)
	}
	return u
}

// resultInRun answers where one result is shown.
func resultInRun(runURL string, x run.Result) string {
	u := testInRun(runURL, x.TestID, x.Browser)
	if x.RepeatEach > 0 {
		if x.Browser == "" {
			return fmt.Sprintf("%s?repetition=%d", u, x.RepeatEach)
		}
		return fmt.Sprintf("%s&repetition=%d", u, x.RepeatEach)
	}
	return u
}

func (a *App) run(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx := r.Context()
	x, err := a.Runs.Get(ctx, v.Actor, r.PathValue("id"))
	if err != nil {
		return err
	}
	p := &runPage{Run: &x, Name: runName(&x), URL: v.runURL(x.ID), Scope: scope(x.Selection), Statuses: run.ResultStatuses(), Status: r.URL.Query().Get("status")}
	end := a.Now()
	if x.FinishedAt != nil {
		end = *x.FinishedAt
	}
	p.Took = end.Sub(x.CreatedAt)
	if x.HasReport && x.Terminal() {
		p.ReportURL = p.URL + "/report"
	}
	if v.Open == "" {
		p.OpenLink = a.AppURL + a.openRun(x.ID)
	}
	for _, step := range []func(*http.Request, *visit, *runPage) error{a.addFailures, a.addRecovered, a.addComparison, a.addShards, a.addResults, a.addHealing} {
		if err := step(r, v, p); err != nil {
			return err
		}
	}
	p.Why = a.why(ctx, p)
	page := Page{Title: runTitle(&x) + " · " + p.Name, Signal: signalOf(&x), Area: "runs", Data: p, Crumbs: []Crumb{{"Runs", v.base() + "/runs"}, {Name: p.Name}}}
	if x.Trial != nil && v.Open == "" {
		p.SessionURL = v.sessionURL(x.Trial.Session)
		page.Area, page.Crumbs = "healing", []Crumb{{"Healing", v.base() + "/sessions"}, {"The session", p.SessionURL}, {Name: p.Name}}
	}
	if v.Open != "" {
		page.Crumbs = nil
	}
	if !x.Terminal() && !x.Parked {
		page.Live = p.URL + "/events"
	}
	a.show(w, r, http.StatusOK, "runs/run", page)
	return nil
}

// runTitle says the state of a run in a tab.
func runTitle(x *run.Run) string {
	failed := x.Counts.Failed + x.Counts.Bug
	switch {
	case x.Cancel != nil && !x.Terminal():
		return "Cancelling"
	case !x.Terminal() && failed > 0:
		return fmt.Sprintf("%d failed, %d %%", failed, percent(x.Executed, x.Total))
	case !x.Terminal() && x.Total > 0:
		return fmt.Sprintf("%d %%", percent(x.Executed, x.Total))
	case x.Phase == run.Failed && failed > 0:
		return plural(failed, "test") + " failed"
	}
	text := lookOf(x.Phase).Text
	return strings.ToUpper(text[:1]) + text[1:]
}

// why says in a sentence or two what came of a run.
func (a *App) why(ctx context.Context, p *runPage) string {
	x := p.Run
	c, failed := x.Counts, x.Counts.Failed+x.Counts.Bug
	fresh, known := 0, 0
	for _, g := range p.Groups {
		switch {
		case g.IsNew:
			fresh++
		case g.Bug != nil:
			known++
		}
	}
	var over []string
	if fresh > 0 {
		over = append(over, plural(fresh, "new bug"))
	}
	if known > 0 {
		over = append(over, plural(known, "known bug"))
	}
	switch {
	case x.Cancel != nil && !x.Terminal():
		return a.nameOf(ctx, x.Cancel.By) + " cancelled the run. Its workers are being ended."
	case x.Parked:
		return "Every test has its result, but the run stays without a verdict: see the warning."
	case x.Phase == run.Queued:
		return "Waits for a free worker."
	case x.Phase == run.Preparing:
		return "The branch is checked out, its dependencies are installed and its tests are listed."
	case x.Phase == run.Merging:
		return "All tests have run; the results are counted and judged."
	case !x.Terminal() && failed > 0:
		return fmt.Sprintf("%d of %s have a result so far; %d failed.", x.Executed, plural(x.Total, "test"), failed)
	case !x.Terminal():
		return fmt.Sprintf("%d of %s have a result so far; none failed.", x.Executed, plural(x.Total, "test"))
	case x.Verdict == run.Pass:
		text := fmt.Sprintf("%s passed.", plural(c.Passed+c.Recovered+c.Flaky, "test"))
		if c.Recovered > 0 {
			text += fmt.Sprintf(" %d of them with a locator that was recovered while they ran.", c.Recovered)
		}
		if c.Flaky > 0 {
			text += fmt.Sprintf(" %d of them on a retry only.", c.Flaky)
		}
		if failed > 0 {
			text += fmt.Sprintf(" %s in quarantine failed and do not count.", plural(failed, "test"))
		}
		return text
	case x.Phase == run.Cancelled && x.Cancel != nil && x.Error != nil && strings.HasPrefix(x.Error.Message, run.WasCancelled):
		return a.nameOf(ctx, x.Cancel.By) + " cancelled the run." + strings.TrimPrefix(firstLine(x.Error.Message, 300), run.WasCancelled)
	case x.Error != nil:
		return firstLine(x.Error.Message, 300)
	case len(over) > 0:
		return fmt.Sprintf("%s of %d failed over %s.", plural(failed, "test"), x.Total, strings.Join(over, " and "))
	}
	return fmt.Sprintf("%s of %d failed.", plural(failed, "test"), x.Total)
}

// addFailures groups what failed, and tells new, known and flaky apart.
func (a *App) addFailures(r *http.Request, v *visit, p *runPage) error {
	found, err := a.Runs.Failures(r.Context(), *p.Run, groupsShown, firstShown)
	if err != nil {
		return err
	}
	p.GroupsMore = len(found) == groupsShown
	var ids []string
	for _, f := range found {
		for _, x := range f.First {
			ids = append(ids, x.TestID)
		}
	}
	if p.flaky, err = a.flakyTests(r, v, ids); err != nil {
		return err
	}
	for _, f := range found {
		g := failureGroup{Failures: f, More: f.N - len(f.First), HasFlaky: slices.ContainsFunc(f.First, func(x run.Result) bool { return p.flaky[x.TestID] })}
		if f.BugKey != "" {
			b, err := a.Bugs.Get(r.Context(), v.Actor, f.BugKey)
			if err != nil && fault.KindOf(err) != fault.NotFound && fault.KindOf(err) != fault.Invalid {
				return err
			}
			if err == nil {
				g.Bug, g.IsNew = &b, b.FirstRunID == p.Run.ID
				if v.Open == "" {
					g.BugURL = v.base() + "/bugs/" + b.Key()
				}
			}
		}
		if f.Flaky {
			p.Flaky = &g
			continue
		}
		p.Groups = append(p.Groups, g)
	}
	// What is new is what one wants to know first.
	slices.SortStableFunc(p.Groups, func(x, y failureGroup) int { return rankOf(x) - rankOf(y) })
	return nil
}

// addRecovered adds what passed with another locator than the one that is written.
func (a *App) addRecovered(r *http.Request, v *visit, p *runPage) (err error) {
	if p.Run.Counts.Recovered > 0 {
		p.Recovered, _, err = a.Runs.Results(r.Context(), v.Actor, run.ResultQuery{RunID: p.Run.ID, Statuses: []run.Status{run.StatusRecovered}, After: -1, Limit: firstShown})
	}
	return err
}

func rankOf(g failureGroup) int {
	switch {
	case g.IsNew || g.Bug == nil:
		return 0
	case g.Quarantined == g.N:
		return 2
	}
	return 1
}

// flakyTests answers which tests passed on a retry only within the last days.
func (a *App) flakyTests(r *http.Request, v *visit, ids []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(ids) == 0 {
		return out, nil
	}
	slices.Sort(ids)
	sums, err := a.Tests.Sums.TestSums(r.Context(), catalog.SumQuery{ProjectID: v.Project.ID, Every: true, Since: a.Now().AddDate(0, 0, -flakyDays), TestIDs: slices.Compact(ids)})
	for _, t := range sums {
		out[t.TestID] = t.Flaky > 0
	}
	return out, err
}

func (a *App) addComparison(r *http.Request, v *visit, p *runPage) error {
	if p.Run.Trial != nil {
		return nil
	}
	c, err := a.Runs.Compare(r.Context(), *p.Run)
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		return nil
	case err != nil:
		return err
	}
	p.Compared, p.BeforeName = &c, runName(&c.Before)
	if v.Open == "" {
		p.BeforeURL = v.runURL(c.Before.ID)
	}
	return nil
}

func (a *App) addShards(r *http.Request, v *visit, p *runPage) error {
	shards, err := a.Runs.Shards(r.Context(), *p.Run)
	for _, s := range shards {
		row := shardRow{Shard: s}
		if s.StartedAt != nil {
			end := a.Now()
			if s.FinishedAt != nil {
				end = *s.FinishedAt
			} else if p.Run.FinishedAt != nil {
				end = *p.Run.FinishedAt
			}
			row.Took = end.Sub(*s.StartedAt)
		}
		p.Shards = append(p.Shards, row)
	}
	return err
}

func (a *App) addResults(r *http.Request, v *visit, p *runPage) error {
	q := r.URL.Query()
	ask := run.ResultQuery{RunID: p.Run.ID, After: -1, Limit: testsShown}
	if s := run.Status(p.Status); slices.Contains(run.ResultStatuses(), s) {
		ask.Statuses = []run.Status{s}
	}
	if n, err := strconv.Atoi(q.Get("after")); err == nil && n >= 0 {
		ask.After, p.First = n, with(q, "after", "")+"#tests"
	}
	rs, next, err := a.Runs.Results(r.Context(), v.Actor, ask)
	if err != nil {
		return err
	}
	if p.Results = rs; next >= 0 {
		p.Next = with(q, "after", strconv.Itoa(next)) + "#tests"
	}
	if !p.Run.Terminal() {
		p.Running, _, err = a.Runs.Results(r.Context(), v.Actor, run.ResultQuery{RunID: p.Run.ID, After: -1, Limit: nowShown, Statuses: []run.Status{run.StatusRunning}})
	}
	return err
}

// report sends the browser to Playwright's own report, which has an origin of its own.
func (a *App) report(w http.ResponseWriter, r *http.Request, v *visit) error {
	to, _, err := a.Runs.Report(r.Context(), v.Actor, r.PathValue("id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
