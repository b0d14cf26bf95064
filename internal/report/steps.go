package report

import (
	"slices"
	"strconv"

	"tas-service/internal/attempt"
)

// Bounds of the steps that are kept of a failure.
const (
	maxStepTitle = 300
	maxSteps     = 12   // of one failure
	maxFailing   = 20   // failures of one try
	maxTries     = 1024 // that go on at once
)

// Steps remembers which steps failed in each try, until the try's end is told. It is not
// safe for concurrent use.
type Steps struct{ of map[string]map[string]*path }

// path is a step that failed and those that it is part of, the innermost first.
type path struct {
	titles []string
	depth  int // of the last one
}

func tryOf(id string, n int) string { return id + " " + strconv.Itoa(retry(n)) }

// Take notes a message of type step. A step ends after those within it, and fails with the
// same words; one that failed with other words is another failure, which may have been
// caught.
func (s *Steps) Take(m Message) {
	if m.Failed == nil || m.Failed.Message == "" || m.Category == "fixture" || m.Category == "attach" {
		return
	}
	key, words := tryOf(m.ID, m.Retry), clip(m.Failed.Message, maxMessage)
	if s.of == nil {
		s.of = map[string]map[string]*path{}
	}
	if s.of[key] == nil {
		if len(s.of) >= maxTries {
			return
		}
		s.of[key] = map[string]*path{}
	}
	switch p := s.of[key][words]; {
	case p == nil && len(s.of[key]) >= maxFailing:
	case p == nil || m.Depth >= p.depth: // again, or for the first time
		s.of[key][words] = &path{titles: []string{clip(m.Title, maxStepTitle)}, depth: m.Depth}
	case len(p.titles) < maxSteps:
		p.titles, p.depth = append(p.titles, clip(m.Title, maxStepTitle)), m.Depth
	}
}

// Give tells the end of a try which steps its errors came from, and forgets the try.
func (s *Steps) Give(end *attempt.TestEnd) {
	key := tryOf(end.ID, end.Retry)
	for i := range end.Errors {
		if p := s.of[key][end.Errors[i].Message]; p != nil {
			end.Errors[i].Steps = slices.Clone(p.titles)
			slices.Reverse(end.Errors[i].Steps)
		}
	}
	delete(s.of, key)
}
