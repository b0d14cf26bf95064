package main

import (
	"math"
	"sync"

	"tas-service/internal/relocate"
)

// The penalties on squared weights. They were not tuned finely: figures hardly move from a third
// to three times of them.
const (
	pairPenalty     = 1
	rankPenalty     = 1
	decisionPenalty = 1
	innerParts      = 5
)

// trainer keeps what all folds share: prepared pages, with and without each gold.
type trainer struct {
	sites []*site
	old   []*relocate.Page
	now   []*relocate.Page
	gone  [][]*relocate.Page // by site and target: the new page without the gold
	left  [][][]int          // which candidates are in it
	pairs [][]choice
}

func newTrainer(sites []*site) *trainer {
	t := &trainer{sites: sites}
	for _, s := range sites {
		old, now := relocate.Prepare(s.old), relocate.Prepare(s.now)
		t.old, t.now = append(t.old, old), append(t.now, now)
		var gone []*relocate.Page
		var left [][]int
		var pairs []choice
		f := relocate.NewFinder(&relocate.Model{}, old, now)
		for i := range s.old {
			l := s.without(s.gold[i])
			gone, left = append(gone, relocate.Prepare(s.pick(l))), append(left, l)
			if s.gold[i] != none {
				pairs = append(pairs, s.choice(i, f.PairEvidence(i)))
			}
		}
		t.gone, t.left, t.pairs = append(t.gone, gone), append(t.left, left), append(t.pairs, pairs)
	}
	return t
}

// pick answers some of the new page's elements.
func (s *site) pick(at []int) []relocate.Element {
	out := make([]relocate.Element, len(at))
	for k, c := range at {
		out[k] = s.now[c]
	}
	return out
}

// weight makes a site with few targets count more for each of them, but not as much as a large one.
func (s *site) weight() float64 { return 4 / math.Sqrt(float64(len(s.Targets))) }

func (s *site) choice(target int, features [][]float64) choice {
	ch := choice{features: features, right: s.gold[target], weight: s.weight(), pass: make([]bool, len(features))}
	for c := range features {
		ch.pass[c] = c != ch.right && s.same(c, ch.right)
	}
	return ch
}

func (t *trainer) fitPair(in []int) []float64 {
	var all []choice
	for _, s := range in {
		all = append(all, t.pairs[s]...)
	}
	return fitChoice(all, len(relocate.PairNames()), pairPenalty)
}

// train fits the three steps on some sites. Each later step learns from what the earlier ones say
// about sites that they have not seen, as they will have to.
func (t *trainer) train(in []int) *relocate.Model {
	parts := deal(in, innerParts)
	model := &relocate.Model{Pair: t.fitPair(in)}
	unseen := make([]*relocate.Model, len(parts))
	ranks := make([][]choice, len(parts))
	for k, part := range parts {
		unseen[k] = &relocate.Model{Pair: t.fitPair(minus(in, part))}
		for _, s := range part {
			f := relocate.NewFinder(unseen[k], t.old[s], t.now[s])
			for i := range t.sites[s].old {
				if t.sites[s].gold[i] != none {
					ranks[k] = append(ranks[k], t.sites[s].choice(i, f.RankEvidence(i)))
				}
			}
		}
	}
	fitRank := func(but int) []float64 {
		var use []choice
		for k := range parts {
			if k != but {
				use = append(use, ranks[k]...)
			}
		}
		return fitChoice(use, len(relocate.RankNames()), rankPenalty)
	}
	model.Rank = fitRank(-1)
	var x [][]float64
	var yes []bool
	var weight []float64
	for k, part := range parts {
		unseen[k].Rank = fitRank(k)
		for _, s := range part {
			st := t.sites[s]
			f := relocate.NewFinder(unseen[k], t.old[s], t.now[s])
			for i := range st.old {
				best, evidence := f.Decide(i)
				if evidence != nil {
					x, yes, weight = append(x, evidence), append(yes, st.tolerated(best, st.gold[i])), append(weight, st.weight())
				}
				if _, evidence = relocate.NewFinder(unseen[k], t.old[s], t.gone[s][i]).Decide(i); evidence != nil {
					x, yes, weight = append(x, evidence), append(yes, false), append(weight, st.weight())
				}
			}
		}
	}
	model.Decision = fitYes(x, yes, weight, decisionPenalty)
	return model
}

// cross asks about each site a model that was trained on all the others.
func (t *trainer) cross(workers int) (whole, removed []answer) {
	every := t.all()
	found := make([][2][]answer, len(every))
	var wait sync.WaitGroup
	room := make(chan struct{}, workers)
	for _, s := range every {
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			m := t.train(minus(every, []int{s}))
			w, r := ask(t.sites[s], m)
			found[s] = [2][]answer{w, r}
		})
	}
	wait.Wait()
	for s, f := range found {
		for _, part := range f {
			for i := range part {
				part[i].site = s
			}
		}
		whole, removed = append(whole, f[0]...), append(removed, f[1]...)
	}
	return whole, removed
}

func (t *trainer) all() []int {
	all := make([]int, len(t.sites))
	for i := range all {
		all[i] = i
	}
	return all
}

func deal(in []int, k int) [][]int {
	out := make([][]int, min(k, len(in)))
	for i, s := range in {
		out[i%len(out)] = append(out[i%len(out)], s)
	}
	return out
}

func minus(in, out []int) []int {
	var left []int
	for _, s := range in {
		has := false
		for _, o := range out {
			has = has || o == s
		}
		if !has {
			left = append(left, s)
		}
	}
	return left
}
