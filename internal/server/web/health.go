package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Bounds of the dashboard.
const (
	bugsShown = 60
	topShown  = 10
	endsRead  = 20_000
	everyDays = 7 // looked at where nothing is said
)

// periods that the dashboard looks at, in days.
var periods = []int{1, 3, 7, 14, 30, 90}

// daily is the longest period that is exact, and of which chosen tests are summed up by day.
// Longer ones begin on the Monday before.
const daily = 14

func (a *App) mountHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /projects/{slug}/health", a.inProject(a.health))
	mux.HandleFunc("POST /projects/{slug}/bugs", a.act(a.moveBugs))
	mux.HandleFunc("GET /projects/{slug}/bugs/{key}", a.inProject(a.bug))
	mux.HandleFunc("POST /projects/{slug}/bugs/{key}/{act}", a.act(a.changeBug))
}

// topRow is a test that leads one of the lists.
type topRow struct {
	catalog.TestSum
	Test catalog.Test
	URL  string
	Says string
}

// heldRow is a test in quarantine.
type heldRow struct {
	catalog.Quarantine
	Test catalog.Test
	URL  string
}

// healthPage is what the dashboard shows.
type healthPage struct {
	Q           url.Values
	Days        int
	Periods     []int
	Branches    []string
	Tags        []string
	Collections []catalog.Collection
	Trend       *chart
	Runs        int
	RunsPassed  int
	Rate        string // of results
	ToGreen     string
	GreenTimes  int
	Bugs        []bug.Bug
	BugsMore    bool
	States      []bug.State
	Severities  []bug.Severity
	Held        []heldRow
	Cap         int
	Review      []topRow // tests of bugs that nobody has triaged
	Flakiest    []topRow
	Slowest     []topRow
	Reddest     []topRow
	Nothing     bool
}

// only answers the tests that the dashboard is about; nil for all.
func (a *App) only(r *http.Request, v *visit) (map[string]bool, []string, error) {
	q := r.URL.Query()
	if q.Get("collection")+q.Get("tag") == "" {
		return nil, nil, nil
	}
	tests, err := a.Tests.All(r.Context(), v.Project.ID, q.Get("collection"), q.Get("tag"))
	in, ids := make(map[string]bool, len(tests)), make([]string, 0, len(tests))
	for _, t := range tests {
		in[t.ID], ids = true, append(ids, t.ID)
	}
	return in, ids, err
}

func (a *App) health(w http.ResponseWriter, r *http.Request, v *visit) (err error) {
	ctx, q := r.Context(), r.URL.Query()
	p := &healthPage{Q: q, Days: everyDays, Periods: periods, States: bug.States(), Severities: bug.Severities()}
	if n, err := strconv.Atoi(q.Get("days")); err == nil && slices.Contains(periods, n) {
		p.Days = n
	}
	since := a.Now().AddDate(0, 0, -p.Days)
	if p.Days > daily {
		// From a Monday on, so that whole weeks are summed up.
		since = since.UTC().AddDate(0, 0, -(int(since.UTC().Weekday())+6)%7)
	}
	in, ids, err := a.only(r, v)
	if err != nil {
		return err
	}
	branch, every := q.Get("branch"), q.Get("branch") == "*"
	if every {
		branch = ""
	}
	ask := catalog.SumQuery{ProjectID: v.Project.ID, Branch: branch, Every: every, Since: since, TestIDs: ids, Weekly: ids != nil && p.Days > daily}
	var sums []catalog.TestSum
	var days []catalog.DaySum
	both := new(errgroup.Group) // each reads the same days, and they are many
	both.Go(func() (err error) {
		sums, err = a.Tests.Sums.TestSums(ctx, ask)
		return err
	})
	both.Go(func() (err error) {
		days, err = a.Tests.Sums.DaySums(ctx, ask)
		return err
	})
	if err := both.Wait(); err != nil {
		return err
	}
	if c, ok := trendChart(days, ask.Weekly); ok {
		p.Trend = &c
		p.Rate, _, _ = strings.Cut(c.Text, " of ")
	}
	ends, err := a.Runs.Store.Ends(ctx, run.EndQuery{ProjectID: v.Project.ID, Branch: branch, Every: every, Since: since, Limit: endsRead})
	if err != nil {
		return err
	}
	for _, e := range ends {
		if e.Phase != run.Cancelled {
			p.Runs++
		}
		if e.Verdict == run.Pass {
			p.RunsPassed++
		}
	}
	mean, n := run.ToGreen(ends)
	if p.GreenTimes = n; n > 0 {
		p.ToGreen = showDuration(mean)
	}
	if err := a.addBugs(r, v, p, in, branch, since); err != nil {
		return err
	}
	if err := a.addTops(r, v, p, sums, in); err != nil {
		return err
	}
	if p.Branches, err = a.Runs.Store.Branches(ctx, v.Project.ID, 100); err != nil {
		return err
	}
	if p.Tags, _, err = a.Tests.Store.Facets(ctx, v.Project.ID); err != nil {
		return err
	}
	p.Tags = few(p.Tags, q.Get("tag"))
	if p.Collections, err = a.Tests.Sets.Collections(ctx, v.Project.ID); err != nil {
		return err
	}
	p.Nothing = p.Runs == 0 && len(p.Bugs) == 0 && len(p.Held) == 0 && len(sums) == 0
	a.show(w, r, http.StatusOK, "health/dashboard", Page{Title: "Health · " + v.Project.Name, Area: "health", Data: p})
	return nil
}

// addBugs adds the bugs that are looked for.
func (a *App) addBugs(r *http.Request, v *visit, p *healthPage, in map[string]bool, branch string, since time.Time) error {
	ask := bug.Query{Since: since, Limit: 500}
	switch s := bug.State(p.Q.Get("state")); {
	case slices.Contains(bug.States(), s):
		ask.States = []bug.State{s}
	case p.Q.Get("state") == "":
		ask.States = []bug.State{bug.NeedsTriage, bug.Confirmed, bug.Snoozed}
	}
	if s := bug.Severity(p.Q.Get("severity")); slices.Contains(bug.Severities(), s) {
		ask.Severities = []bug.Severity{s}
	}
	bs, next, err := a.Bugs.List(r.Context(), v.Actor, ask)
	if err != nil {
		return err
	}
	var on map[string]bool
	if branch != "" {
		if on, err = a.Bugs.SeenOn(r.Context(), v.Actor, branch, since); err != nil {
			return err
		}
	}
	for _, b := range bs {
		if on != nil && !on[b.Key()] || in != nil && !slices.ContainsFunc(b.TestIDs, func(id string) bool { return in[id] }) {
			continue
		}
		p.Bugs = append(p.Bugs, b)
	}
	// The worst first, of these what was seen last.
	slices.SortStableFunc(p.Bugs, func(x, y bug.Bug) int {
		if d := slices.Index(bug.Severities(), x.Severity) - slices.Index(bug.Severities(), y.Severity); d != 0 {
			return d
		}
		return y.LastSeen.Compare(x.LastSeen)
	})
	p.BugsMore = next != 0 || len(p.Bugs) > bugsShown
	p.Bugs = p.Bugs[:min(len(p.Bugs), bugsShown)]
	return nil
}

// addTops adds the tests that need somebody.
func (a *App) addTops(r *http.Request, v *visit, p *healthPage, sums []catalog.TestSum, in map[string]bool) error {
	held, err := a.Tests.Quarantined(r.Context(), v.Project.ID)
	if err != nil {
		return err
	}
	flakiest, slowest, reddest := catalog.Flakiest(sums, topShown), catalog.Slowest(sums, topShown), catalog.Reddest(sums, topShown)
	var review []catalog.TestSum
	for _, b := range p.Bugs {
		for _, id := range b.TestIDs {
			if b.State == bug.NeedsTriage && len(review) < topShown && (in == nil || in[id]) && !slices.ContainsFunc(review, func(t catalog.TestSum) bool { return t.TestID == id }) {
				review = append(review, catalog.TestSum{TestID: id})
			}
		}
	}
	var ids []string
	for _, list := range [][]catalog.TestSum{flakiest, slowest, reddest, review} {
		for _, t := range list {
			ids = append(ids, t.TestID)
		}
	}
	for _, h := range held {
		ids = append(ids, h.TestID)
	}
	named, err := a.Tests.Named(r.Context(), v.Project.ID, ids)
	if err != nil {
		return err
	}
	at := func(id string) string { return v.base() + "/tests/" + url.PathEscape(id) }
	rows := func(list []catalog.TestSum, says func(catalog.TestSum) string) (out []topRow) {
		for _, t := range list {
			if x, ok := named[t.TestID]; ok {
				out = append(out, topRow{TestSum: t, Test: x, URL: at(t.TestID), Says: says(t)})
			}
		}
		return out
	}
	p.Flakiest = rows(flakiest, func(t catalog.TestSum) string {
		return fmt.Sprintf("%d of %d (%.0f %%)", t.Flaky, t.N(), 100*t.FlakeRate())
	})
	p.Slowest = rows(slowest, func(t catalog.TestSum) string { return showDuration(t.Mean()) })
	p.Reddest = rows(reddest, func(t catalog.TestSum) string { return fmt.Sprintf("%d of %d", t.Failed, t.N()) })
	p.Review = rows(review, func(catalog.TestSum) string { return "" })
	for _, h := range held {
		if x, ok := named[h.TestID]; ok && (in == nil || in[h.TestID]) {
			p.Held = append(p.Held, heldRow{Quarantine: h, Test: x, URL: at(h.TestID)})
		}
	}
	return nil
}

// snoozeEnd reads when a snooze ends; nil for other moves.
func snoozeEnd(f url.Values, to bug.State) (*time.Time, error) {
	if to != bug.Snoozed {
		return nil, nil
	}
	t, err := time.Parse("2006-01-02", f.Get("until"))
	if err != nil {
		return nil, fault.New(fault.Invalid, "A bug is snoozed until a day.").WithFix("Choose the day on which it should come back.").At("until", "a day")
	}
	return &t, nil
}

// moveBugs moves the bugs that were ticked.
func (a *App) moveBugs(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := r.PostForm
	to := bug.State(f.Get("to"))
	until, err := snoozeEnd(f, to)
	if err != nil {
		return err
	}
	m, err := a.Bugs.MoveAll(r.Context(), v.Actor, f["bug"], to, until, strings.TrimSpace(f.Get("comment")))
	if err != nil {
		return err
	}
	text := plural(len(m.Done), "bug") + " moved to " + lookOf(to).Text + "."
	for key, reason := range m.Refused {
		text += " " + key + " was not: " + firstLine(reason, 120)
		if len(text) > 600 {
			break
		}
	}
	back := localPath(f.Get("back"))
	if back == "/" {
		back = v.base() + "/health"
	}
	SetFlash(w, r, Flash{Text: text, Bad: len(m.Refused) > 0})
	done(w, r, back, "")
	return nil
}
