package main

import "math"

// choice is one target: the features of its candidates, and which of them is right.
type choice struct {
	features [][]float64
	right    int
	pass     []bool // neither right nor wrong: above or below the right one
	weight   float64
}

// fitChoice learns weights under which the right candidate of each choice is the likeliest
// (conditional logit), with a penalty on their squares.
func fitChoice(choices []choice, n int, penalty float64) []float64 {
	w := make([]float64, n)
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
