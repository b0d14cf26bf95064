package relocate

import "math"

// Finder compares one old page with one new one. It is made once for both and may be asked for
// many targets, by one caller at a time.
type Finder struct {
	model      *Model
	old, now   *Page
	candidates []*prepared
	rows       []*row
}

// NewFinder makes a Finder.
func NewFinder(m *Model, old, now *Page) *Finder {
	f := &Finder{model: m, old: old, now: now}
	for i := range now.elements {
		f.candidates = append(f.candidates, &now.elements[i])
	}
	for i := range old.elements {
		f.rows = append(f.rows, f.row(&old.elements[i]))
	}
	anchors(f.rows)
	return f
}

func (f *Finder) row(old *prepared) *row {
	r := &row{old: old, score: make([]float64, len(f.candidates)), vectors: make([]pairVector, len(f.candidates))}
	for c, now := range f.candidates {
		pairFeatures(old, now, f.old, f.now, &r.vectors[c])
		if f.model.Pair != nil {
			r.score[c] = dot(f.model.Pair, r.vectors[c][:])
		}
	}
	r.finish(f.candidates)
	return r
}

// PairEvidence answers the pair features of a target and every candidate.
func (f *Finder) PairEvidence(target int) [][]float64 {
	r := f.rows[target]
	out := make([][]float64, len(f.candidates))
	for c := range out {
		out[c] = r.vectors[c][:]
	}
	return out
}

// RankEvidence answers the context and pair features.
func (f *Finder) RankEvidence(target int) [][]float64 {
	r := f.rows[target]
	near := nearby(r, f.rows)
	out := make([][]float64, len(f.candidates))
	var v contextVector
	for c := range out {
		contextFeatures(r, c, f.rows, near, f.candidates, &v)
		out[c] = append(append(make([]float64, 0, rankFeatureCount), v[:]...), r.vectors[c][:]...)
	}
	return out
}

// Decide answers the best candidate and the decision features.
func (f *Finder) Decide(target int) (best int, scores, evidence []float64) {
	all := f.RankEvidence(target)
	if len(all) == 0 {
		return -1, nil, nil
	}
	scores = make([]float64, len(all))
	for c := range all {
		scores[c] = dot(f.model.Context, all[c])
		if scores[c] > scores[best] {
			best = c
		}
	}
	second, sum := math.Inf(-1), 0.0
	for c, s := range scores {
		sum += math.Exp(s - scores[best])
		if c != best && s > second && !related(f.candidates[c].steps, f.candidates[best].steps) {
			second = s
		}
	}
	evidence = make([]float64, decisionFeatureCount)
	copy(evidence, all[best])
	evidence[dScore] = scores[best] / 10
	evidence[dMargin] = min(1, (scores[best]-second)/10)
	evidence[dShare] = 1 / sum
	evidence[dMutual] = f.rows[target].surely
	evidence[dOne] = 1
	return best, scores, evidence
}
