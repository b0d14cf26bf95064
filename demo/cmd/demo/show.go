package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"tas-service/client"
	"tas-service/demo/stage"
)

// runSuite starts a run, follows it to its end and prints what came of it.
func runSuite(ctx context.Context, c *client.Client, s *stage.Service, o client.StartOptions, welcome string) (verdict string, err error) {
	started, err := c.RunSuite(ctx, o)
	if err != nil {
		return "", err
	}
	fmt.Printf("  POST /public-api/v1/execution/suite → run %s\n\n", started.RunID)
	view := newView(os.Stdout)
	st, err := follow(ctx, c, started.RunID, view, s)
	view.end()
	if err != nil {
		return "", err
	}
	return st.Verdict, summary(ctx, c, st, welcome)
}

func follow(ctx context.Context, c *client.Client, id string, v view, s *stage.Service) (client.Status, error) {
	for {
		st, err := c.Status(ctx, id, 5*time.Second)
		if err != nil {
			select {
			case <-s.Ended:
				return st, fmt.Errorf("the service ended in the middle of the run: %w", err)
			default:
				return st, err
			}
		}
		var running []client.Result
		if st.Phase == "running" {
			if running, err = c.Results(ctx, id, "running"); err != nil {
				return st, err
			}
		}
		v.show(st, running)
		if st.IsTerminal {
			return st, nil
		}
	}
}

// view shows progress: as a bar on a terminal, as plain lines elsewhere.
type view interface {
	show(client.Status, []client.Result)
	end()
}

func newView(out *os.File) view {
	if isatty.IsTerminal(out.Fd()) {
		return newBar(out)
	}
	return &lines{out: out}
}

// counts names what there is of each outcome.
func counts(st client.Status) string {
	parts := []string{fmt.Sprintf("%d passed", st.Passed)}
	for _, p := range []struct {
		n    int
		name string
	}{{st.Failed, "failed"}, {st.Flaky, "flaky"}, {st.Skipped, "skipped"}, {st.Bug, "bug"}, {st.Recovered, "recovered"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.name))
		}
	}
	return strings.Join(parts, ", ")
}

// lines is progress for a log: a line for each phase, and one now and then between.
type lines struct {
	out   io.Writer
	phase string
	at    time.Time
	done  int
}

const lineEvery = 5 * time.Second

func (l *lines) show(st client.Status, running []client.Result) {
	if st.Phase == l.phase && (time.Since(l.at) < lineEvery || st.ExecutedCount == l.done) {
		return
	}
	l.phase, l.at, l.done = st.Phase, time.Now(), st.ExecutedCount
	fmt.Fprintf(l.out, "  %-10s %3d/%d  %s\n", st.Phase, st.ExecutedCount, st.TotalCount, counts(st))
	for _, r := range running {
		fmt.Fprintf(l.out, "             · %s\n", strings.Join(r.TitlePath, " › "))
	}
}

func (l *lines) end() {}

// bar is progress for a person at a terminal.
type bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
	now      atomic.Pointer[moment] // drawn by another goroutine
}

// moment is what the bar shows.
type moment struct {
	st      client.Status
	running []client.Result
}

const maxRunning = 4

func newBar(out io.Writer) *bar {
	b := &bar{progress: mpb.New(mpb.WithOutput(out), mpb.WithWidth(60), mpb.WithRefreshRate(120*time.Millisecond))}
	b.now.Store(&moment{})
	b.bar = b.progress.New(0, mpb.BarStyle().Lbound("▕").Filler("█").Tip("█").Padding("░").Rbound("▏"),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return fmt.Sprintf("  %-10s", b.now.Load().st.Phase) })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			st := b.now.Load().st
			return fmt.Sprintf(" %d/%d  %s", st.ExecutedCount, st.TotalCount, counts(st))
		})),
		mpb.BarExtender(mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
			running := b.now.Load().running
			for i := range maxRunning {
				line := ""
				if i < len(running) {
					line = "   · " + strings.Join(running[i].TitlePath, " › ")
				}
				if r := []rune(line); len(r) > s.AvailableWidth-1 && s.AvailableWidth > 1 {
					line = string(r[:s.AvailableWidth-1])
				}
				if _, err := fmt.Fprintln(w, line); err != nil {
					return err
				}
			}
			return nil
		}), false))
	return b
}

func (b *bar) show(st client.Status, running []client.Result) {
	b.now.Store(&moment{st, running})
	b.bar.SetTotal(int64(max(1, st.TotalCount)), false)
	b.bar.SetCurrent(int64(st.ExecutedCount))
}

func (b *bar) end() {
	b.now.Store(&moment{st: b.now.Load().st})
	b.bar.SetTotal(-1, true)
	b.bar.Abort(false)
	b.progress.Wait()
}

// summary prints the verdict, what failed and where to look.
func summary(ctx context.Context, c *client.Client, st client.Status, welcome string) error {
	took := ""
	if st.DurationMs != nil {
		took = " in " + (time.Duration(*st.DurationMs) * time.Millisecond).Round(100*time.Millisecond).String()
	}
	fmt.Printf("\n  Verdict: %s   (%s%s)\n", strings.ToUpper(st.Verdict), counts(st), took)
	if st.Error != nil {
		fmt.Printf("\n  %s: %s\n", st.Error.Code, indent(st.Error.Message))
	}
	for _, w := range st.Warnings {
		fmt.Printf("  Note (%s): %s\n", w.Code, w.Message)
	}
	rs, err := c.Results(ctx, st.RunID, "failed", "bug", "flaky")
	if err != nil {
		return err
	}
	for _, r := range rs {
		where := fmt.Sprintf("%s:%d", r.File, r.Line)
		if r.Error != nil && r.Error.Location != nil {
			where = fmt.Sprintf("%s:%d:%d", r.Error.Location.File, r.Error.Location.Line, r.Error.Location.Column)
		}
		mark := "✗"
		if r.Status == "flaky" {
			mark = "~"
		}
		fmt.Printf("\n  %s %s  [%s]\n    %s\n", mark, strings.Join(r.TitlePath, " › "), r.Status, where)
		if r.Error != nil {
			fmt.Printf("    %s\n", indent(firstLines(r.Error.Message, 6)))
		}
	}
	fmt.Println()
	if welcome != "" {
		fmt.Printf("  Web app      %s\n               (once, to become its first administrator)\n", welcome)
	}
	fmt.Printf("  Run page     %s\n", st.TestRunURL)
	if report, err := c.ReportURL(ctx, st.RunID); err == nil {
		fmt.Printf("  HTML report  %s\n", report)
	}
	fmt.Printf("  API key      %s\n\n  Try:  curl -H 'Authorization: Bearer %s' %s/public-api/v1/me\n\n", c.APIKey, c.APIKey, c.BaseURL)
	return nil
}

func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") }

func firstLines(s string, n int) string {
	l := strings.Split(strings.TrimSpace(s), "\n")
	if len(l) > n {
		l = append(l[:n], "…")
	}
	return strings.Join(l, "\n")
}
