package worker

import (
	"context"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/report"
)

// answerWithin is how long the service may take to answer a question of the runner; it is
// asked once. The runner waits no longer either.
const answerWithin = 2 * time.Second

// maxAsking bounds the questions that are under way at once.
const maxAsking = 4

// recover takes a question of the runner to the service, and the answer back. It does not
// keep the talk waiting.
func (s *session) recover(ctx context.Context, m report.Message) {
	ask, ok := m.Ask()
	if !ok || !s.started || !s.w.job.Recover {
		s.answer(m.ID, attempt.Found{})
		return
	}
	select {
	case s.asking <- struct{}{}:
	default:
		s.answer(m.ID, attempt.Found{})
		return
	}
	go func() {
		defer func() { <-s.asking }()
		var found attempt.Found
		if err := s.w.service.ask(ctx, ask, &found); err != nil {
			s.w.Log.Info("a locator could not be asked for", "error", err)
			found = attempt.Found{}
		}
		s.answer(m.ID, found)
	}()
}

func (s *session) answer(id string, found attempt.Found) {
	s.send(report.Answer{Type: "answer", ID: id, Found: found}) //nolint:errcheck // the runner is gone: how it ended tells why
}
