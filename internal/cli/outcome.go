package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"tas-service/client"
)

// outcome is what came of a run, as far as it is known.
type outcome struct {
	client.Status
	bad     []client.Result // failed, bug, flaky
	all     []client.Result // every result, where a reporter needs them
	url     string          // of the HTML report; "" for none
	trouble []string        // what could not be learnt
	exit    *Exit           // why there is no verdict; nil when there is one

	unreported bool // a reporter failed
}

// readPatience is how long reads are tried again that do not wait for a run.
const readPatience = 10 * time.Second

// learn asks for everything that there is to say about a run that ended. What cannot be
// had is noted; it changes no verdict.
func learn(ctx context.Context, api *client.Client, st client.Status, everything bool) outcome {
	o := outcome{Status: st}
	statuses := []string{"failed", "bug", "flaky"}
	if everything {
		statuses = nil
	}
	rs, err := patiently(ctx, readPatience, nil, func() ([]client.Result, error) { return api.Results(ctx, st.RunID, statuses...) })
	if err != nil {
		o.trouble = append(o.trouble, "The results could not be read: "+explain(err).Message)
	}
	if everything {
		o.all = rs
	}
	for _, r := range rs {
		if r.Status == "failed" || r.Status == "bug" || r.Status == "flaky" {
			o.bad = append(o.bad, r)
		}
	}
	report, err := patiently(ctx, readPatience, nil, func() (client.Report, error) { return api.Report(ctx, st.RunID) })
	if err == nil {
		o.url = report.URL
	}
	return o
}

// code answers the program's exit code. A report that could not be made spoils a pass, for
// a pipeline counts on both; it hides no failure.
func (o *outcome) code() int {
	switch {
	case o.exit != nil:
		return o.exit.Code
	case !o.IsTerminal || o.Verdict != "pass":
		return exitFail
	case o.unreported:
		return exitUsage
	default:
		return exitPass
	}
}

// end answers the error that ends the program, nil for a pass.
func (o *outcome) end() error {
	e := &Exit{Code: o.code()}
	if o.exit != nil {
		e.Message = o.exit.Message
	}
	if e.Code == exitPass {
		return nil
	}
	return e
}

// runDocument is the document of `tas run` and `tas status`: the status as the API answers
// it, with what a caller would ask for next.
type runDocument struct {
	client.Status
	ReportURL *string         `json:"reportUrl"`
	Failures  []client.Result `json:"failures"`
	ExitCode  int             `json:"exitCode"`
	Problem   *string         `json:"problem"`
}

func (o *outcome) document() runDocument {
	d := runDocument{Status: o.Status, Failures: o.bad, ExitCode: o.code()}
	if d.Failures == nil {
		d.Failures = []client.Result{}
	}
	if d.Shards == nil {
		d.Shards = []client.Shard{}
	}
	if d.Warnings == nil {
		d.Warnings = []client.Warning{}
	}
	if o.url != "" {
		d.ReportURL = &o.url
	}
	problems := o.trouble
	if o.exit != nil {
		problems = append(problems, o.exit.Message)
	}
	if len(problems) > 0 {
		text := strings.Join(problems, "\n")
		d.Problem = &text
	}
	return d
}

// where answers the place of a failure, or of the test.
func where(r client.Result) (file string, line int) {
	if r.Error != nil && r.Error.Location != nil && r.Error.Location.File != "" {
		return r.Error.Location.File, r.Error.Location.Line
	}
	return r.File, r.Line
}

// named answers a result's full name with its Playwright project.
func named(r client.Result) string {
	name := joined(r.TitlePath, r.Title)
	if r.Browser != "" {
		name += " [" + clean(r.Browser) + "]"
	}
	return name
}

// Bounds of what is shown of failures; the JSON document and the run's page have it all.
const (
	maxShown   = 50
	errorLines = 6
)

// report prints what came of the run for a person.
func (o *outcome) report(c *console) {
	if !o.IsTerminal {
		c.printf("\n%s  %s, %d of %d executed, %s\n", c.paint(bold, "NO VERDICT"), cmp.Or(clean(o.Phase), "nothing heard of it"), o.ExecutedCount, o.TotalCount, counts(o.Status))
		o.warnings(c)
		o.links(c)
		return
	}
	o.failures(c)
	verdict := c.paint(bold, c.paint(red, strings.ToUpper(clean(o.Verdict))))
	if o.Verdict == "pass" {
		verdict = c.paint(bold, c.paint(green, "PASS"))
	}
	took := ""
	if o.DurationMs != nil {
		took = " in " + duration(*o.DurationMs)
	}
	phase := ""
	if o.Phase != "passed" && o.Phase != "failed" {
		phase = "  " + clean(o.Phase)
	}
	c.printf("\n%s%s  %s of %d%s\n", verdict, phase, counts(o.Status), o.TotalCount, took)
	if o.Error != nil {
		c.printf("%s\n", c.paint(red, clean(o.Error.Code)))
		margin(c, o.Error.Message, 12)
	}
	o.sharding(c)
	o.warnings(c)
	for _, t := range o.trouble {
		c.printf("%s\n", c.paint(yellow, t))
	}
	o.links(c)
}

// failures prints what a person must look at, with the first lines of each error.
func (o *outcome) failures(c *console) {
	for i, r := range o.bad {
		if i == maxShown {
			c.printf("\n… and %d more: tas results %s --status failed,bug,flaky\n", len(o.bad)-maxShown, clean(o.RunID))
			return
		}
		mark := c.paint(red, "✗")
		if r.Status == "flaky" {
			mark = c.paint(yellow, "~")
		}
		status := ""
		if r.Status != "failed" {
			status = "  (" + clean(r.Status) + ")"
		}
		file, line := where(r)
		c.printf("\n%s %s%s\n  %s\n", mark, named(r), status, c.paint(dim, fmt.Sprintf("%s:%d", clean(file), line)))
		if e := errorOf(r); e != nil {
			margin(c, e.Message, errorLines)
		}
	}
}

// errorOf answers why a test failed; of a test that passed in the end, why it failed first.
func errorOf(r client.Result) *client.ResultError {
	if r.Error != nil {
		return r.Error
	}
	for _, a := range r.Attempts {
		if a.Error != nil {
			return a.Error
		}
	}
	return nil
}

// margin prints lines that tests wrote behind a margin, so that none begins with what a
// build server would obey.
func margin(c *console, text string, n int) {
	for _, line := range firstLines(text, n) {
		c.printf("  %s\n", strings.TrimRight(c.paint(dim, "│")+" "+line, " "))
	}
}

// sharding compares what was planned with what came.
func (o *outcome) sharding(c *console) {
	if o.Plan != nil {
		text := "Shards: predicted " + duration(o.Plan.PredictedMs)
		if o.Plan.ActualMs != nil {
			text += ", took " + duration(*o.Plan.ActualMs)
		}
		if o.Plan.TestsNotTimed > 0 {
			text += fmt.Sprintf(" (%d of %d tests had no known duration)", o.Plan.TestsNotTimed, o.Plan.TestsTimed+o.Plan.TestsNotTimed)
		}
		c.printf("%s\n", text)
	}
	for _, s := range o.Shards {
		took, lost := "", ""
		if s.StartedAt != nil && s.FinishedAt != nil {
			took = " in " + duration(s.FinishedAt.Sub(*s.StartedAt).Milliseconds())
		}
		if s.Lost {
			lost = "  " + c.paint(red, "lost")
		}
		c.printf("  shard %-2d  %s%s%s\n", s.Index+1, count(s.ExecutedCount, "test"), took, lost)
	}
}

func (o *outcome) warnings(c *console) {
	for _, w := range o.Warnings {
		if w.Code == runnerTooOld && o.exit != nil {
			continue // its words end the command
		}
		c.printf("%s %s\n", c.paint(yellow, "Warning ("+clean(w.Code)+"):"), clean(w.Message))
	}
}

func (o *outcome) links(c *console) {
	if o.TestRunURL != "" {
		c.printf("Run     %s\n", clean(o.TestRunURL))
	}
	if o.url != "" {
		c.printf("Report  %s\n", clean(o.url))
	}
}
