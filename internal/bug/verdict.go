package bug

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Source says who judged.
type Source string

// The sources.
const (
	Human      Source = "human"
	Automation Source = "automation"
)

// Saying is what a caller says of one test of a run, in all Playwright projects that it
// ran in.
type Saying struct {
	TestID   string
	Word     run.Word
	Severity Severity // of the bug; "" leaves it
	Comment  string
	Source   Source // "" is Human
}

// Verdict is a saying as it is kept: who said it, when, from where, and what was there
// before.
type Verdict struct {
	RunID  string
	Before run.Status
	After  run.Status
	BugKey string
	By     string // as account.Actor names itself
	From   string // network address of the caller
	At     time.Time
	Saying
}

// Bounds of what is said at once.
const (
	MaxSayings = 1000
	maxComment = 4000 // bytes
)

// Judged is what came of verdicts.
type Judged struct {
	Updated int // tests
	Run     run.Run
}

// Submit overrules results of a finished run, all as was said or nothing, and judges the
// run again in the same step. The word bug opens a bug, or links the test to the one with
// the same signature; said by a human it confirms it. Errors: fault.Invalid for tests that
// the run does not have, fault.Conflict for a run that goes on and for results that nobody
// can judge.
func (s *Service) Submit(ctx context.Context, actor account.Actor, runID, from string, sayings []Saying) (Judged, error) {
	ids, err := checkSayings(sayings)
	if err != nil {
		return Judged{}, err
	}
	out := Judged{Updated: len(sayings)}
	err = s.Store.Work(ctx, runID, Which{TestIDs: ids}, func(d Desk) error {
		r := d.Run()
		switch {
		case r.ProjectID != actor.ProjectID:
			return actor.May("", "run")
		case actor.MayAs(account.RoleMember, r.ProjectID, "run") != nil:
			return actor.MayAs(account.RoleMember, r.ProjectID, "run")
		case !r.Terminal():
			return fault.New(fault.Conflict, "The run has not finished, so its results cannot be judged yet.").
				WithFix("Poll GET /execution/status/run/%s until isTerminal is true.", runID)
		}
		results := map[string][]*run.Result{}
		for _, x := range d.Results() {
			results[x.TestID] = append(results[x.TestID], x)
		}
		var invalid, conflict *fault.Error
		for i, say := range sayings {
			xs := results[say.TestID]
			if len(xs) == 0 {
				invalid = badSaying(invalid).At(fmt.Sprintf("body.verdicts[%d].serviceTestId", i), "the run has no such test; GET /test-runs/{id}/results lists them")
				continue
			}
			for _, x := range xs {
				err := s.overrule(d, actor, from, x, say)
				if f := fault.As(err); f != nil && f.Kind == fault.Conflict {
					if conflict == nil {
						conflict = fault.New(fault.Conflict, "The verdicts cannot be taken, so none was.").WithFix("Leave out or correct those named in errors.")
					}
					conflict.At(fmt.Sprintf("body.verdicts[%d]", i), "%s %s", f.Message, f.Fix)
					break
				} else if err != nil {
					return err
				}
			}
		}
		switch {
		case invalid != nil:
			return invalid
		case conflict != nil:
			return conflict
		}
		tally, err := d.Tally()
		if err != nil {
			return err
		}
		r.Rejudge(tally)
		out.Run = *r
		return nil
	})
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return Judged{}, actor.May("", "run")
	case err != nil:
		return Judged{}, err
	}
	if s.Changed != nil {
		s.Changed(out.Run.ID, out.Run.ProjectID)
	}
	return out, nil
}

func badSaying(f *fault.Error) *fault.Error {
	if f == nil {
		f = fault.New(fault.Invalid, "The verdicts cannot be taken as they were sent, so none was.").WithFix("Correct the fields named in errors.")
	}
	return f
}

// checkSayings answers the IDs of the tests that are judged.
func checkSayings(sayings []Saying) ([]string, error) {
	var bad *fault.Error
	if len(sayings) == 0 || len(sayings) > MaxSayings {
		bad = badSaying(bad).At("body.verdicts", "1 to %d verdicts, here are %d", MaxSayings, len(sayings))
		return nil, bad
	}
	ids := make([]string, 0, len(sayings))
	seen := map[string]bool{}
	for i := range sayings {
		say := &sayings[i]
		at := fmt.Sprintf("body.verdicts[%d].", i)
		say.TestID = strings.ToLower(say.TestID)
		switch {
		case seen[say.TestID]:
			bad = badSaying(bad).At(at+"serviceTestId", "judged twice in one call")
		case !slices.Contains(run.Words(), say.Word):
			bad = badSaying(bad).At(at+"verdict", "one of %s", joined(run.Words()))
		case say.Severity != "" && !slices.Contains(Severities(), say.Severity):
			bad = badSaying(bad).At(at+"severity", "one of %s", joined(Severities()))
		case say.Severity != "" && say.Word != run.WordBug:
			bad = badSaying(bad).At(at+"severity", "only a bug has one")
		case say.Source != "" && say.Source != Human && say.Source != Automation:
			bad = badSaying(bad).At(at+"source", "human or automation")
		case len(say.Comment) > maxComment:
			bad = badSaying(bad).At(at+"comment", "at most %d bytes", maxComment)
		}
		say.Source = cmp.Or(say.Source, Human)
		seen[say.TestID] = true
		ids = append(ids, say.TestID)
	}
	if bad != nil {
		return nil, bad
	}
	return ids, nil
}

// overrule applies a saying to one result and its bug.
func (s *Service) overrule(d Desk, actor account.Actor, from string, x *run.Result, say Saying) error {
	before := x.Status
	if err := x.Overrule(say.Word); err != nil {
		return err
	}
	now := s.Clock()
	event := Event{At: now, By: actor.By(), RunID: x.RunID, Comment: say.Comment}
	switch say.Word {
	case run.WordBug:
		b, err := s.link(d, x)
		if err != nil {
			return err
		}
		if event.To = Confirmed; say.Source == Human && slices.Contains(arrows[b.State], Confirmed) {
			b.Move(event, nil) //nolint:errcheck // the arrow exists
		}
		if say.Severity != "" {
			b.Rate(say.Severity, event)
		}
	case run.WordNotBug:
		b, err := bugOf(d, x)
		if err != nil {
			return err
		}
		if event.To = NotBug; b != nil && say.Source == Human && b.State == NeedsTriage {
			b.Move(event, nil) //nolint:errcheck // the arrow exists
		}
	case run.WordFlaky, run.WordPassed:
		b, err := bugOf(d, x)
		if err != nil {
			return err
		}
		if b != nil {
			b.Occurrences--
			x.BugKey = ""
		}
		if event.To = NotBug; b != nil && b.Occurrences == 0 && b.State == NeedsTriage {
			event.Comment = cmp.Or(event.Comment, "No failure is left that would show it.")
			b.Move(event, nil) //nolint:errcheck // the arrow exists
		}
	case run.WordFailed:
	}
	return d.Keep(Verdict{RunID: x.RunID, Before: before, After: x.Status, BugKey: x.BugKey, By: actor.By(), From: from, At: now, Saying: say})
}

// link answers the bug of a result; where it has none, the one with its signature, or a
// new one.
func (s *Service) link(d Desk, x *run.Result) (*Bug, error) {
	if b, err := bugOf(d, x); err != nil || b != nil {
		return b, err
	}
	g := Group{Signature: "reported-" + x.TestID, Title: shorten("Reported on a test that did not fail by itself: " + x.Title)}
	if f := failedOf(x); x.Error != nil {
		sig := SignatureOf(f.Failure)
		g = Group{Signature: sig.Key(), Title: title(sig)}
	}
	b, err := s.find(d, g)
	if err != nil {
		return nil, err
	}
	b.See(x.RunID, 1, s.Clock())
	x.BugKey = b.Key()
	return b, nil
}

func bugOf(d Desk, x *run.Result) (*Bug, error) {
	if x.BugKey == "" {
		return nil, nil
	}
	n, err := NumberOf(x.BugKey)
	if err != nil {
		return nil, err
	}
	return d.Number(n)
}
