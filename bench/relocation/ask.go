package main

import (
	"time"

	"tas-service/internal/relocate"
)

// ask asks about each target of a site twice: with the whole new page, and with its gold removed.
// Everything that one target takes is timed: both pages are prepared anew for each.
func ask(s *site, m *relocate.Model) (whole, removed []answer) {
	for i := range s.old {
		every := make([]int, len(s.now))
		for c := range every {
			every[c] = c
		}
		whole = append(whole, one(s, m, i, every))
		removed = append(removed, one(s, m, i, s.without(s.gold[i])))
	}
	return whole, removed
}

func one(s *site, m *relocate.Model, target int, candidates []int) answer {
	elements := s.pick(candidates)
	begin := time.Now()
	found := relocate.NewFinder(m, relocate.Prepare(s.old), relocate.Prepare(elements)).Find(target, relocate.DefaultLimits())
	a := answer{target: target, best: -1, p: found.P, heals: found.Outcome == relocate.Heal, took: time.Since(begin)}
	if len(found.Candidates) > 0 {
		first := found.Candidates[0]
		a.best, a.score, a.vetoed = candidates[first.Index], found.P, len(first.Vetoes) > 0
		if a.vetoed {
			a.score = 0 // a vetoed candidate is never healed to
		}
	}
	return a
}

// askSimilo asks the baseline.
func askSimilo(s *site) (whole, removed []answer) {
	pick := func(target int, candidates []int) answer {
		a := answer{target: target, best: -1, score: -1}
		for _, c := range candidates {
			if v := similo(s.Targets[target], s.Candidates[c]); v > a.score {
				a.best, a.score = c, v
			}
		}
		return a
	}
	every := make([]int, len(s.now))
	for c := range every {
		every[c] = c
	}
	for i := range s.old {
		whole = append(whole, pick(i, every))
		removed = append(removed, pick(i, s.without(s.gold[i])))
	}
	return whole, removed
}
