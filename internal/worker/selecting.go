package worker

import (
	"context"
	"slices"

	"tas-service/internal/attempt"
	"tas-service/internal/report"
)

// choose takes the listing to the service and its selection to the runner.
func (s *session) choose(ctx context.Context, m report.Message) error {
	if m.Fatal {
		s.fatal = true // what is wrong may be said yet: see cannotRun
		return nil
	}
	s.listing.Focused = m.Focused
	sel, err := s.selection(ctx)
	if err != nil {
		return err
	}
	if s.nothing = sel.Nothing; s.nothing {
		return s.send(report.Abort{Type: "abort", Reason: "the other shards have done it all"})
	}
	s.ids, s.all, s.planned = sel.IDs, sel.All, sel.Planned
	return s.send(report.Select{Type: "select", Selection: sel})
}

// selection asks what to select, and tells what there is unless another shard has.
func (s *session) selection(ctx context.Context) (sel attempt.Selection, err error) {
	if s.w.job.Shards > 0 && s.w.job.Merge == nil {
		for sel.Wait = true; sel.Wait; {
			sel = attempt.Selection{}
			if err := s.w.service.call(ctx, attempt.Join, struct{}{}, &sel); err != nil {
				return sel, err
			}
		}
		if !sel.Make {
			sel.Include = slices.DeleteFunc(sel.Include, func(id string) bool { _, listed := s.tests[id]; return !listed })
			return sel, nil
		}
	}
	sel = attempt.Selection{}
	return sel, s.w.service.call(ctx, attempt.Plan, s.listing, &sel)
}

// plan tells the service what will be executed; from here on events may flow.
func (s *session) plan(ctx context.Context, m report.Message) error {
	var chosen attempt.Chosen
	unknown := false
	add := func(ids []string, companion bool) {
		for _, id := range ids {
			t, ok := s.tests[id]
			unknown = unknown || !ok
			chosen.Tests = append(chosen.Tests, attempt.ChosenTest{Test: t, TestID: s.ids[id], Companion: companion})
		}
	}
	add(m.IDs, false)
	add(m.SetupIDs, !s.all)
	if unknown {
		return failure("runner-died", "The test runner is about to run a test that it did not list.")
	}
	if !s.planned {
		if err := s.w.service.call(ctx, attempt.Selected, chosen, nil); err != nil {
			return err
		}
	}
	s.started = true
	s.w.beat.doing("running")
	return nil
}
