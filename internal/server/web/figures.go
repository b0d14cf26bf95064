package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tas-service/internal/agent"
	"tas-service/internal/heal"
)

// figureWeeks is how many weeks the figures of healing look at, this one among them.
const figureWeeks = 12

// weekRow is what healing did in a week, or in all of them.
type weekRow struct {
	heal.Week
	Mean  string // time of a completed session, "" where none was
	Tests []int  // in the order of agent.Verdicts
}

// classRow is how many failures had one cause.
type classRow struct {
	Class heal.Class
	N     int
}

// figuresPage is what healing did over time.
type figuresPage struct {
	Weeks    []weekRow // the latest first
	Total    weekRow
	Verdicts []agent.Verdict
	Chart    *chart
	Classes  []classRow // the most frequent first
	Failures int
	Complete bool
}

func (a *App) figures(w http.ResponseWriter, r *http.Request, v *visit) error {
	today := a.Now().UTC().Truncate(24 * time.Hour)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	found, err := a.Healing.Figures(r.Context(), v.Actor, monday.AddDate(0, 0, -7*(figureWeeks-1)))
	if err != nil {
		return err
	}
	p := figuresPage{Verdicts: agent.Verdicts(), Total: rowOfWeek(found.Total), Complete: found.Complete}
	for i := range figureWeeks { // also those in which nothing happened
		week := heal.Week{Begin: monday.AddDate(0, 0, -7*i)}
		if at := slices.IndexFunc(found.Weeks, func(x heal.Week) bool { return x.Begin.Equal(week.Begin) }); at >= 0 {
			week = found.Weeks[at]
		}
		p.Weeks = append(p.Weeks, rowOfWeek(week))
	}
	for class, n := range found.Classes {
		p.Classes, p.Failures = append(p.Classes, classRow{class, n}), p.Failures+n
	}
	slices.SortFunc(p.Classes, func(x, y classRow) int {
		if x.N != y.N {
			return y.N - x.N
		}
		return strings.Compare(string(x.Class), string(y.Class))
	})
	if c, ok := healingChart(p.Weeks); ok {
		p.Chart = &c
	}
	a.show(w, r, http.StatusOK, "sessions/figures", Page{Title: "Figures of healing · " + v.Project.Name, Area: "healing", Data: p})
	return nil
}

func rowOfWeek(x heal.Week) weekRow {
	row := weekRow{Week: x}
	if x.Completed > 0 {
		row.Mean = showDuration(x.Took / time.Duration(x.Completed))
	}
	for _, verdict := range agent.Verdicts() {
		row.Tests = append(row.Tests, x.Tests[verdict])
	}
	return row
}

// healingChart draws how many tests were healed or not in each week, which come latest first.
func healingChart(weeks []weekRow) (c chart, ok bool) {
	most, all, healed := 0, 0, 0
	for _, x := range weeks {
		n := 0
		for _, k := range x.Tests {
			n += k
		}
		most, all, healed = max(most, n), all+n, healed+x.Week.Tests[agent.Healed]
	}
	if all == 0 {
		return c, false
	}
	c.Text = fmt.Sprintf("Of %s %d were healed (%d %%). Each bar is a week: at its foot the healed ones, above them bugs of the application, flaky ones, and the rest.", plural(all, "failing test"), healed, percent(healed, all))
	var b strings.Builder
	for i, x := range weeks {
		left, y := (len(weeks)-1-i)*25+2, 60.0
		for _, part := range []struct {
			tone, words string
			n           int
		}{{"good", "healed", x.Week.Tests[agent.Healed]}, {"bad", "by bugs of the application", x.Week.Tests[agent.ApplicationBug]}, {"warn", "flaky", x.Week.Tests[agent.Flaky]},
			{"quiet", "by the environment or not healable", x.Week.Tests[agent.Environment] + x.Week.Tests[agent.NotHealable]}} {
			if part.n == 0 {
				continue
			}
			h := max(1.5, 57*float64(part.n)/float64(most))
			y -= h
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%.1f" width="21" height="%.1f"><title>week from %s: %d %s</title></rect>`, part.tone, left, max(0, y), h, x.Begin.Format("2006-01-02"), part.n, part.words)
		}
	}
	c.SVG = picture("chart", c.Text, 25*len(weeks), 60, b.String())
	return c, true
}
