package worker

import (
	"context"

	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/report"
)

// maxWarnings bounds what the runner may warn of in one attempt.
const maxWarnings = 10

// applyPatch makes the working copy what a trial wants to try.
func (w *worker) applyPatch(ctx context.Context) error {
	if w.job.Trial == nil || w.job.Trial.Patch == "" {
		return nil
	}
	return w.copies.Apply(ctx, w.source, w.path("repo"), w.job.Trial.Patch)
}

// trial is what the runner hears of one: the patch is in the working copy already.
func (w *worker) trial() *attempt.Trial {
	if w.job.Trial == nil {
		return nil
	}
	t := *w.job.Trial
	t.Patch = ""
	return &t
}

// edited takes what became of a trial's edits to the service. Where any could not be made
// the runner ends the talk itself.
func (s *session) edited(ctx context.Context, m report.Message) error {
	if s.w.job.Trial == nil || !s.w.job.Trial.Changes() || s.editsMade {
		return failure("runner-died", "The test runner tells of edits that nobody asked for.")
	}
	s.editsMade = true
	e, err := m.Edited(s.w.job.Repository.Dir)
	if err != nil {
		return fault.Wrap(err, fault.External, "What the test runner says of the edits cannot be read.").WithCode("runner-died")
	}
	return s.w.service.call(ctx, attempt.EditsMade, e, nil)
}

// warned keeps a warning of the runner.
func (s *session) warned(m report.Message) {
	if s.warnings++; s.warnings <= maxWarnings {
		f := m.Failure()
		s.w.warn(f.Code, f.Message)
	}
}
