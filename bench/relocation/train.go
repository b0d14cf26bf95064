package main

import (
	"math"

	"tas-service/internal/relocate"
)

// choice is one target: the features of its candidates, and which of them is right.
type choice struct {
	features [][]float64
	right    int
	pass     []bool // neither right nor wrong: above or below the right one
	weight   float64
}

// fitChoice learns weights under which the right candidate of each choice is the likeliest
// (conditional logit), with a penalty on their squares.
func fitChoice(choices []choice, n int, penalty float64, start []float64) []float64 {
	w := make([]float64, n)
	copy(w, start)
	var p []float64
	return minimise(w, func(w, g []float64) float64 {
		loss := 0.0
		for i := range w {
			loss += penalty * w[i] * w[i] / 2
			g[i] = penalty * w[i]
		}
		for _, ch := range choices {
			p = p[:0]
			top := math.Inf(-1)
			for _, x := range ch.features {
				s := 0.0
				for i, v := range x {
					if v != 0 {
						s += w[i] * v
					}
				}
				p = append(p, s)
				top = max(top, s)
			}
			sum := 0.0
			for c := range p {
				if ch.pass != nil && ch.pass[c] {
					p[c] = 0
					continue
				}
				p[c] = math.Exp(p[c] - top)
				sum += p[c]
			}
			loss -= ch.weight * math.Log(max(p[ch.right]/sum, 1e-300))
			for c, x := range ch.features {
				d := p[c] / sum
				if c == ch.right {
					d--
				}
				if d > 1e-6 || d < -1e-6 {
					d *= ch.weight
					for i, v := range x {
						if v != 0 {
							g[i] += d * v
						}
					}
				}
			}
		}
		return loss
	})
}

// fitYes learns a logistic regression; the last feature is the constant and is not penalised.
func fitYes(x [][]float64, yes []bool, weight []float64, penalty float64) []float64 {
	n := len(x[0])
	return minimise(make([]float64, n), func(w, g []float64) float64 {
		loss := 0.0
		for i := range w {
			l := penalty
			if i == n-1 {
				l = 0.01
			}
			loss += l * w[i] * w[i] / 2
			g[i] = l * w[i]
		}
		for k, v := range x {
			s := 0.0
			for i := range v {
				s += w[i] * v[i]
			}
			p := 1 / (1 + math.Exp(-s))
			d := p
			if yes[k] {
				d = p - 1
				loss -= weight[k] * math.Log(max(p, 1e-300))
			} else {
				loss -= weight[k] * math.Log(max(1-p, 1e-300))
			}
			for i := range v {
				g[i] += weight[k] * d * v[i]
			}
		}
		return loss
	})
}

// minimise is L-BFGS with a backtracking line search: the losses are smooth and convex.
func minimise(w []float64, f func(w, g []float64) float64) []float64 {
	const memory, rounds = 8, 200
	n := len(w)
	g, next, ng := make([]float64, n), make([]float64, n), make([]float64, n)
	loss := f(w, g)
	var ss, ys [][]float64
	for range rounds {
		d := append([]float64(nil), g...)
		alpha := make([]float64, len(ss))
		for i := len(ss) - 1; i >= 0; i-- {
			alpha[i] = inner(ss[i], d) / inner(ss[i], ys[i])
			for j := range d {
				d[j] -= alpha[i] * ys[i][j]
			}
		}
		if k := len(ss) - 1; k >= 0 {
			scale := inner(ss[k], ys[k]) / inner(ys[k], ys[k])
			for j := range d {
				d[j] *= scale
			}
		}
		for i := range ss {
			beta := inner(ys[i], d) / inner(ss[i], ys[i])
			for j := range d {
				d[j] += (alpha[i] - beta) * ss[i][j]
			}
		}
		slope := -inner(g, d)
		if slope > -1e-10 {
			break
		}
		step := 1.0
		if len(ss) == 0 {
			step = 1 / math.Sqrt(inner(g, g))
		}
		var after float64
		for range 30 {
			for j := range next {
				next[j] = w[j] - step*d[j]
			}
			if after = f(next, ng); after <= loss+1e-4*step*slope {
				break
			}
			step /= 2
		}
		if after > loss-1e-7*math.Abs(loss) {
			break
		}
		s, y := make([]float64, n), make([]float64, n)
		for j := range s {
			s[j], y[j] = next[j]-w[j], ng[j]-g[j]
		}
		if inner(s, y) > 1e-12 {
			ss, ys = append(ss, s), append(ys, y)
			if len(ss) > memory {
				ss, ys = ss[1:], ys[1:]
			}
		}
		copy(w, next)
		copy(g, ng)
		loss = after
	}
	return w
}

func inner(a, b []float64) float64 {
	var s float64
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// trainer keeps what all folds share.
type trainer struct {
	sites      []*site
	old        []*relocate.Page
	now        []*relocate.Page
	gone       [][]*relocate.Page // by site and target: the new page without the gold
	left       [][][]int
	pairs      [][]choice // by site
	l1, l2, l3 float64
}

func newTrainer(sites []*site) *trainer {
	t := &trainer{sites: sites, l1: 1, l2: 1, l3: 1}
	for _, s := range sites {
		old, now := relocate.Prepare(s.old), relocate.Prepare(s.now)
		t.old, t.now = append(t.old, old), append(t.now, now)
		var gone []*relocate.Page
		var left [][]int
		for i := range s.old {
			l := s.without(s.gold[i])
			es := make([]relocate.Element, len(l))
			for k, c := range l {
				es[k] = s.now[c]
			}
			gone, left = append(gone, relocate.Prepare(es)), append(left, l)
		}
		t.gone, t.left = append(t.gone, gone), append(t.left, left)
		f := relocate.NewFinder(&relocate.Model{}, old, now)
		var cs []choice
		for i := range s.old {
			cs = append(cs, t.choice(s, i, f.PairEvidence(i)))
		}
		t.pairs = append(t.pairs, cs)
	}
	return t
}

func siteWeight(s *site) float64 { return math.Pow(float64(len(s.Targets)), -0.5) * 4 }

func (t *trainer) choice(s *site, i int, x [][]float64) choice {
	ch := choice{features: x, right: s.gold[i], weight: siteWeight(s)}
	ch.pass = make([]bool, len(x))
	for c := range x {
		ch.pass[c] = c != ch.right && s.same(c, ch.right)
	}
	return ch
}

func (t *trainer) fitPair(in []int) []float64 {
	var all []choice
	for _, s := range in {
		all = append(all, t.pairs[s]...)
	}
	return fitChoice(all, len(all[0].features[0]), t.l1, nil)
}

func folds(in []int, k int) [][]int {
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

// train fits all three steps on some sites; each later step learns from what the earlier ones say about sites they have not seen.
func (t *trainer) train(in []int) *relocate.Model {
	m := &relocate.Model{}
	parts := folds(in, 5)
	var ranks []choice
	pairOf := map[int]*relocate.Model{}
	for _, part := range parts {
		pm := &relocate.Model{Pair: t.fitPair(minus(in, part))}
		for _, s := range part {
			pairOf[s] = pm
			f := relocate.NewFinder(pm, t.old[s], t.now[s])
			for i := range t.sites[s].old {
				ranks = append(ranks, t.choice(t.sites[s], i, f.RankEvidence(i)))
			}
		}
	}
	m.Pair = t.fitPair(in)
	n := len(ranks[0].features[0])
	fit := func(skip []int) []float64 {
		var use []choice
		k := 0
		for _, part := range parts {
			for _, s := range part {
				for range t.sites[s].old {
					if len(minus([]int{s}, skip)) > 0 {
						use = append(use, ranks[k])
					}
					k++
				}
			}
		}
		return fitChoice(use, n, t.l2, nil)
	}
	var x [][]float64
	var yes []bool
	var w []float64
	for _, part := range parts {
		cw := fit(part)
		for _, s := range part {
			model := &relocate.Model{Pair: pairOf[s].Pair, Context: cw}
			st := t.sites[s]
			f := relocate.NewFinder(model, t.old[s], t.now[s])
			for i := range st.old {
				best, _, ev := f.Decide(i)
				x, yes, w = append(x, ev), append(yes, st.tolerated(best, st.gold[i])), append(w, siteWeight(st))
				if t.gone[s][i].Len() > 0 {
					g := relocate.NewFinder(model, t.old[s], t.gone[s][i])
					_, _, ev = g.Decide(i)
					x, yes, w = append(x, ev), append(yes, false), append(w, siteWeight(st))
				}
			}
		}
	}
	m.Context = fit(nil)
	m.Decision = fitYes(x, yes, w, t.l3)
	return m
}

// ask answers every pair of some sites, whole and removed.
func (t *trainer) ask(m *relocate.Model, in []int) (whole, removed []answer) {
	for _, s := range in {
		f := relocate.NewFinder(m, t.old[s], t.now[s])
		for i := range t.sites[s].old {
			best, _, ev := f.Decide(i)
			whole = append(whole, answer{s, i, best, inner(m.Decision, ev)})
			g := relocate.NewFinder(m, t.old[s], t.gone[s][i])
			best, _, ev = g.Decide(i)
			a := answer{s, i, -1, 0}
			if best >= 0 {
				a.best, a.score = t.left[s][i][best], inner(m.Decision, ev)
			}
			removed = append(removed, a)
		}
	}
	return
}
