package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"tas-service/client"
)

// look makes a call that only reads. It bears a service that is away for a moment.
func look[T any](s Service, call func(context.Context, *client.Client) (T, error)) (T, error) {
	var none T
	api, err := s.dial()
	if err != nil {
		return none, err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	out, err := patiently(ctx, readPatience, nil, func() (T, error) { return call(ctx, api) })
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		return none, &Exit{Code: exitInterrupted}
	}
	return out, err
}

// Me checks the key.
type Me struct {
	Service
	JSON bool `name:"json" help:"Print one JSON document."`
}

// Run prints the project that the key belongs to.
func (m *Me) Run() error {
	c := newReader(m.JSON)
	p, err := look(m.Service, func(ctx context.Context, api *client.Client) (client.Project, error) { return api.Me(ctx) })
	if err != nil {
		return c.ended(err)
	}
	c.printf("Project  %s\nID       %s\n", clean(p.Name), clean(p.ID))
	if !p.HasTestsRepo {
		c.printf("%s\n", c.paint(yellow, "No tests repository is connected: `tas project set ID --repo URL` on the service's machine connects one."))
	}
	return c.answer(p)
}

// Status says how a run goes.
type Status struct {
	Service
	RunID string `arg:"" name:"run" help:"ID of the run."`
	Wait  bool   `help:"Wait for the verdict."`
	Follow
}

// Run prints a run's status; its exit code is that of the verdict.
func (s *Status) Run() error {
	c := newConsole(s.JSON)
	return c.ended(s.run(c))
}

func (s *Status) run(c *console) error {
	reporters, err := s.prepare(c)
	if err != nil {
		return err
	}
	if s.Wait {
		api, err := s.dial()
		if err != nil {
			return err
		}
		ctx, stop := untilInterrupted()
		defer stop()
		return s.await(ctx, c, api, s.RunID, reporters)
	}
	o, err := look(s.Service, func(ctx context.Context, api *client.Client) (outcome, error) {
		st, err := api.Status(ctx, s.RunID, 0)
		if err != nil {
			return outcome{}, err
		}
		if st.IsTerminal {
			return learn(ctx, api, st, wantAll(reporters)), nil
		}
		return outcome{Status: st, exit: notYet(st)}, nil
	})
	if err != nil {
		return err
	}
	return s.tell(c, &o, reporters)
}

// notYet is the end of a look at a run that is under way: no verdict is no pass.
func notYet(st client.Status) *Exit {
	if w := warned(st, runnerTooOld); w != nil {
		return tooOld(w)
	}
	return &Exit{Code: exitNoVerdict, Message: "The run has no verdict yet; --wait waits for it."}
}

// Results lists results.
type Results struct {
	Service
	RunID  string   `arg:"" name:"run" help:"ID of the run."`
	Status []string `placeholder:"STATUS" help:"Only these, separated by commas: passed, failed, flaky, skipped, recovered, bug, pending, running."`
	JSON   bool     `name:"json" help:"Print one JSON document."`
}

// Run prints a line for each result, with the first lines of its error.
func (r *Results) Run() error {
	c := newReader(r.JSON)
	rs, err := look(r.Service, func(ctx context.Context, api *client.Client) ([]client.Result, error) {
		return api.Results(ctx, r.RunID, r.Status...)
	})
	if err != nil {
		return c.ended(err)
	}
	for _, x := range rs {
		color := map[string]string{"passed": green, "failed": red, "bug": red, "flaky": yellow}[x.Status]
		file, line := where(x)
		c.printf("%s  %6s  %s  %s\n", c.paint(color, fmt.Sprintf("%-9s", clean(x.Status))), duration(x.DurationMs), named(x), c.paint(dim, fmt.Sprintf("%s:%d", clean(file), line)))
		if x.Error != nil && (x.Status == "failed" || x.Status == "bug") {
			margin(c, x.Error.Message, errorLines)
		}
	}
	if len(rs) == 0 {
		c.printf("No result.\n")
	}
	return c.answer(struct {
		Results []client.Result `json:"results"`
	}{some(rs)})
}

// Report answers where a report is.
type Report struct {
	Service
	RunID string `arg:"" name:"run" help:"ID of the run."`
	Open  bool   `help:"Open it in a browser."`
	JSON  bool   `name:"json" help:"Print one JSON document."`
}

// Run prints the address, alone, so that a script can use it.
func (r *Report) Run() error {
	c := newReader(r.JSON)
	report, err := look(r.Service, func(ctx context.Context, api *client.Client) (client.Report, error) { return api.Report(ctx, r.RunID) })
	if err != nil {
		return c.ended(err)
	}
	c.printf("%s\n", clean(report.URL))
	if err := c.answer(report); err != nil || !r.Open {
		return err
	}
	return open(report.URL)
}

// open shows an address in the person's browser. Only web addresses: what opens them also
// starts programs for others.
func open(address string) error {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return &Exit{Code: exitUnreachable, Message: "The report's address is no web address; it was not opened."}
	}
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	if err := exec.Command(name, args...).Run(); err != nil {
		return usage("No browser could be opened (%s: %s). Open the address above yourself.", name, clean(err.Error()))
	}
	return nil
}

// Tests lists tests.
type Tests struct {
	Service
	Query string `placeholder:"TEXT" help:"Only tests whose file, title or tag contains this."`
	JSON  bool   `name:"json" help:"Print one JSON document."`
}

// Run prints a line for each test, its ID first.
func (t *Tests) Run() error {
	c := newReader(t.JSON)
	ts, err := look(t.Service, func(ctx context.Context, api *client.Client) ([]client.Test, error) { return api.Tests(ctx, t.Query) })
	if err != nil {
		return c.ended(err)
	}
	for _, x := range ts {
		line := fmt.Sprintf("%s  %s  %s", clean(x.ServiceTestID), joined(x.TitlePath, x.Title), c.paint(dim, fmt.Sprintf("%s:%d", clean(x.File), x.Line)))
		if len(x.Tags) > 0 {
			line += "  " + clean(strings.Join(x.Tags, " "))
		}
		c.printf("%s\n", line)
	}
	if len(ts) == 0 {
		c.printf("No test. Tests are known once a run has listed them.\n")
	}
	return c.answer(struct {
		Tests []client.Test `json:"tests"`
	}{some(ts)})
}

// some answers a list that is an array in JSON, also when it is empty.
func some[T any](list []T) []T { return slices.Concat([]T{}, list) }
