package cli

import (
	"os"
	"slices"
	"strings"
)

// reporter tells others than the person at the terminal what came of a run.
type reporter interface {
	report(*outcome) error
	wantsAll() bool // whether it needs the results that are good as well
}

// newReporters reads --reporter. What it can find wrong it finds now, before a run starts.
func newReporters(names []string, c *console) ([]reporter, error) {
	var out []reporter
	for _, n := range names {
		kind, arg, has := strings.Cut(n, "=")
		switch {
		case kind == "junit" && arg != "":
			r, err := newJUnit(arg)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		case kind == "github" && !has:
			out = append(out, &github{c: c, summary: os.Getenv("GITHUB_STEP_SUMMARY")})
		case kind == "plain" && !has:
			out = append(out, plainReporter{})
		default:
			return nil, usage("--reporter %s is not known: use junit=FILE, github or plain.", clean(n))
		}
	}
	return out, nil
}

func wantAll(rs []reporter) bool { return slices.ContainsFunc(rs, reporter.wantsAll) }

func isPlain(rs []reporter) bool { return slices.Contains(rs, reporter(plainReporter{})) }

// plainReporter is plain lines in the place of bars; the view does it.
type plainReporter struct{}

func (plainReporter) report(*outcome) error { return nil }
func (plainReporter) wantsAll() bool        { return false }
