package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"tas-service/internal/catalog"
	"tas-service/internal/run"
)

// chart is a picture of numbers with the words that say the same.
type chart struct {
	SVG  template.HTML
	Text string
}

func picture(class, words string, width, height int, body string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="%s" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s">%s</svg>`, class, width, height, template.HTMLEscapeString(words), body)) //nolint:gosec // escaped
}

func median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// runsChart draws finished runs, which come newest first, as bars: as high as they were
// long, and coloured by their verdict.
func runsChart(rs []run.Run) (c chart, ok bool) {
	var over []run.Run
	for _, x := range rs {
		if x.FinishedAt != nil && x.Phase != run.Cancelled {
			over = append(over, x)
		}
	}
	if len(over) < 2 {
		return c, false
	}
	slices.Reverse(over)
	passed, longest := 0, time.Second
	var took []time.Duration
	for _, x := range over {
		d := tookOf(x)
		took, longest = append(took, d), max(longest, d)
		if x.Verdict == run.Pass {
			passed++
		}
	}
	c.Text = fmt.Sprintf("Of the last %d runs %d passed (%d %%); half of them took at most %s.", len(over), passed, percent(passed, len(over)), showDuration(median(slices.Clone(took))))
	var b strings.Builder
	left := max(0, runsShown-len(over))
	for i, x := range over {
		tone := "bad"
		if x.Verdict == run.Pass {
			tone = "good"
		}
		h := max(3, int(56*took[i]/longest))
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="8" height="%d" rx="1"><title>%s, %s</title></rect>`, tone, (left+i)*10+1, 60-h, h, template.HTMLEscapeString(lookOf(x.Phase).Text), showDuration(took[i]))
	}
	c.SVG = picture("chart", c.Text, (left+len(over))*10, 60, b.String())
	return c, true
}

func tookOf(x run.Run) time.Duration {
	if x.FinishedAt == nil {
		return 0
	}
	if x.StartedAt != nil {
		return x.FinishedAt.Sub(*x.StartedAt)
	}
	return x.FinishedAt.Sub(x.CreatedAt)
}

// spark draws the latest outcomes of a test, which come newest first: the height is how
// long it took.
func spark(outcomes []catalog.Outcome) template.HTML {
	if len(outcomes) == 0 {
		return ""
	}
	const shown = 30
	last := slices.Clone(outcomes[:min(shown, len(outcomes))])
	slices.Reverse(last)
	longest, failed, flaky := time.Millisecond, 0, 0
	for _, o := range last {
		longest = max(longest, o.Took)
	}
	var b strings.Builder
	for i, o := range last {
		tone := "quiet"
		switch o.Result {
		case catalog.OutcomeFailed:
			tone, failed = "bad", failed+1
		case catalog.OutcomeFlaky:
			tone, flaky = "warn", flaky+1
		case catalog.OutcomePassed:
		}
		h := max(3, int(18*o.Took/longest))
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="3" height="%d"/>`, tone, (shown-len(last)+i)*4, 20-h, h)
	}
	return picture("chart spark", fmt.Sprintf("Of the last %s %d failed and %d were flaky.", plural(len(last), "result"), failed, flaky), shown*4, 20, b.String())
}

// trendChart draws the part of results that did not fail, by day or by week.
func trendChart(days []catalog.DaySum, weekly bool) (c chart, ok bool) {
	if len(days) == 0 {
		return c, false
	}
	var n, good int
	lowest := 1.0
	for _, d := range days {
		n, good, lowest = n+d.Passed+d.Failed+d.Flaky, good+d.Passed+d.Flaky, min(lowest, d.PassRate())
	}
	if n == 0 {
		return c, false
	}
	worst, from := "on the worst day", ""
	if weekly {
		worst, from = "in the worst week", "week from "
	}
	c.Text = fmt.Sprintf("%.1f %% of %s did not fail; "+worst+" %.1f %%.", 100*float64(good)/float64(n), plural(n, "result"), 100*lowest)
	// From the worst day down to a round number, so that a small change is seen.
	floor := max(0, float64(int(lowest*10-0.01))/10)
	var b strings.Builder
	points := make([]string, len(days))
	step := 300 / max(1, len(days))
	for i, d := range days {
		y := 56 - 52*(d.PassRate()-floor)/(1-floor+0.0001)
		points[i] = fmt.Sprintf("%d,%.1f", i*step+step/2, y)
		fmt.Fprintf(&b, `<rect class="none" x="%d" y="0" width="%d" height="60" fill-opacity="0"><title>%s%s: %.1f %%, %s failed, %d flaky</title></rect>`, i*step, step, from, d.Day.Format("2006-01-02"), 100*d.PassRate(), plural(d.Failed, "result"), d.Flaky)
	}
	if len(days) == 1 {
		y := strings.SplitN(points[0], ",", 2)[1]
		points = []string{"0," + y, fmt.Sprintf("%d,%s", step, y)}
	}
	fmt.Fprintf(&b, `<polyline class="line" points="%s"/>`, strings.Join(points, " "))
	c.SVG = picture("chart", c.Text, max(1, step*len(days)), 60, b.String())
	return c, true
}
