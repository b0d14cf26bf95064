package main

import (
	"math"
	"slices"
	"time"
)

// answer is what a matcher says about one target: its best candidate (-1: none) and how sure it is.
type answer struct {
	site, target int
	best         int
	score        float64
	p            float64 // as it was told, before vetoes
	vetoed       bool
	heals        bool // at the product's own limits
	took         time.Duration
}

// figures are what a matcher reached on labelled pairs.
type figures struct {
	pairs, top1, tolerant int
	healed, wrong         int // at the threshold
	threshold             float64
	falseHeals            int // removed elements answered at the threshold
}

// judge counts. The threshold is the lowest score at which at most one in a hundred of the
// removed cases is answered; scores equal to one that must not be answered are not answered.
func judge(sites []*site, whole, removed []answer) figures {
	f := figures{pairs: len(whole)}
	scores := make([]float64, 0, len(removed))
	for _, a := range removed {
		if a.best >= 0 {
			scores = append(scores, a.score)
		}
	}
	slices.SortFunc(scores, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	may := len(removed) / 100
	f.threshold = math.Inf(-1)
	if may < len(scores) {
		f.threshold = scores[may] // and above it only
	}
	for _, s := range scores {
		if s > f.threshold {
			f.falseHeals++
		}
	}
	for _, a := range whole {
		if a.best < 0 {
			continue
		}
		s := sites[a.site]
		gold := s.gold[a.target]
		right := s.tolerated(a.best, gold)
		if s.same(a.best, gold) {
			f.top1++
		}
		if right {
			f.tolerant++
		}
		if a.score > f.threshold {
			if right {
				f.healed++
			} else {
				f.wrong++
			}
		}
	}
	return f
}

func (f figures) share(n int) float64 {
	if f.pairs == 0 {
		return 0
	}
	return float64(n) / float64(f.pairs)
}
