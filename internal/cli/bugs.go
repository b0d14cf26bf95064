package cli

import (
	"context"
	"fmt"
	"strings"

	"tas-service/client"
)

// Bugs lists bugs.
type Bugs struct {
	Service
	Status   []string `placeholder:"STATUS" help:"Only these, separated by commas: needs-triage, confirmed, fixed, not-bug, snoozed. By default all but fixed and not-bug."`
	Severity []string `placeholder:"SEVERITY" help:"Only these, separated by commas: critical, major, minor."`
	Test     string   `placeholder:"ID" help:"Only bugs that this test met."`
	JSON     bool     `name:"json" help:"Print one JSON document."`
}

// open are the states of bugs that somebody has to do something about.
var openStates = []string{"needs-triage", "confirmed", "snoozed"}

// Run prints a line for each bug, and where it is shown.
func (b *Bugs) Run() error {
	c := newReader(b.JSON)
	q := client.BugQuery{Statuses: b.Status, Severities: b.Severity, ServiceTestID: b.Test}
	if len(q.Statuses) == 0 {
		q.Statuses = openStates
	}
	found, err := look(b.Service, func(ctx context.Context, api *client.Client) ([]client.Bug, error) { return api.Bugs(ctx, q) })
	if err != nil {
		return c.ended(err)
	}
	for _, x := range found {
		color := map[string]string{"critical": red, "major": yellow}[x.Severity]
		c.printf("%-8s %s %-12s  %s\n", clean(x.Key), c.paint(color, fmt.Sprintf("%-8s", clean(x.Severity))), clean(x.Status), clean(x.Title))
		c.printf("         %s\n", c.paint(dim, fmt.Sprintf("%s, %s, last %s", count(x.Occurrences, "failure"), count(len(x.ServiceTestIDs), "test"), x.LastSeenAt.Local().Format("2006-01-02 15:04"))))
		c.printf("         %s\n", c.paint(dim, clean(x.URL)))
	}
	if len(found) == 0 {
		c.printf("No bug.\n")
	}
	return c.answer(struct {
		Bugs []client.Bug `json:"bugs"`
	}{some(found)})
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// Verdict judges results.
type Verdict struct {
	Service
	RunID    string   `arg:"" name:"run" help:"ID of the run."`
	Verdict  string   `arg:"" name:"verdict" enum:"bug,not-bug,flaky,passed,failed" help:"bug, not-bug, flaky, passed or failed."`
	Tests    []string `arg:"" name:"test" help:"IDs of tests; tas results lists them."`
	Severity string   `enum:",critical,major,minor" default:"" placeholder:"SEVERITY" help:"Of the bug: critical, major or minor."`
	Comment  string   `placeholder:"TEXT" help:"Why; kept with the verdict."`
	Source   string   `enum:",human,automation" default:"" placeholder:"SOURCE" help:"Who judges: human (the default) or automation. A human's bug verdict confirms the bug."`
	JSON     bool     `name:"json" help:"Print one JSON document."`
}

// Run submits the verdicts, all or none, and prints what the run's verdict is now. It is
// not repeated where no answer came: the verdicts may have been taken.
func (v *Verdict) Run() error {
	c := newReader(v.JSON)
	verdicts := make([]client.Verdict, 0, len(v.Tests))
	for _, id := range v.Tests {
		for one := range strings.SplitSeq(id, ",") {
			if one = strings.TrimSpace(one); !testID.MatchString(one) {
				return c.ended(usage("%s is no test's ID. `tas results %s --json` lists them.", clean(one), clean(v.RunID)))
			}
			verdicts = append(verdicts, client.Verdict{ServiceTestID: one, Verdict: v.Verdict, Severity: v.Severity, Comment: v.Comment, Source: v.Source})
		}
	}
	api, err := v.dial()
	if err != nil {
		return c.ended(err)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	judged, err := api.SubmitVerdicts(ctx, v.RunID, verdicts)
	if err != nil {
		return c.ended(err)
	}
	color := map[string]string{"pass": green, "fail": red}[judged.Verdict]
	c.printf("%s judged. The run's verdict is %s: %s.\n", count(judged.Updated, "test"), c.paint(color, strings.ToUpper(clean(judged.Verdict))), counts(client.Status{
		Passed: judged.Counts.Passed, Failed: judged.Counts.Failed, Flaky: judged.Counts.Flaky, Skipped: judged.Counts.Skipped, Recovered: judged.Counts.Recovered, Bug: judged.Counts.Bug}))
	return c.answer(judged)
}

// Collections lists collections.
type Collections struct {
	Service
	JSON bool `name:"json" help:"Print one JSON document."`
}

// Run prints a line for each collection, its ID first.
func (l *Collections) Run() error {
	c := newReader(l.JSON)
	found, err := look(l.Service, func(ctx context.Context, api *client.Client) ([]client.Collection, error) {
		return api.Collections(ctx)
	})
	if err != nil {
		return c.ended(err)
	}
	for _, x := range found {
		c.printf("%s  %s  %s\n", clean(x.ID), clean(x.Name), c.paint(dim, count(x.TestCount, "test")))
	}
	if len(found) == 0 {
		c.printf("No collection.\n")
	}
	return c.answer(struct {
		Collections []client.Collection `json:"collections"`
	}{some(found)})
}
