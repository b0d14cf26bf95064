package relocate

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Above these sizes not every old element is compared with every candidate: a target is compared
// with all, and what is near it and what may claim its candidates with the best of them.
const (
	fullWork       = 64_000 // pairs
	mostCandidates = 96
	mostCompanions = 40
)

// Finder compares one old page with one new one. It is made once for both and asked for one
// target after the other; one caller at a time.
type Finder struct {
	model    *Model
	old, now *Page
	whole    *comparison // of small pages, for all targets; nil for large ones
	byKey    map[word][]int
	oldByKey map[word][]int
}

// comparison is rows of old elements over candidates of the new page.
type comparison struct {
	candidates []*prepared
	at         []int // the candidates' indexes in the page
	rows       []*row
}

// NewFinder makes a Finder. The old page holds the targets, and as much of the rest as is known.
func NewFinder(m *Model, old, now *Page) *Finder {
	f := &Finder{model: m, old: old, now: now}
	if old.Len()*now.Len() > fullWork {
		f.byKey, f.oldByKey = now.keys(), old.keys()
		return f
	}
	every := make([]int, now.Len())
	for i := range every {
		every[i] = i
	}
	f.whole = f.compare(every)
	for i := range old.elements {
		f.whole.rows = append(f.whole.rows, f.row(&old.elements[i], f.whole.candidates))
	}
	anchors(f.whole.rows)
	return f
}

func (f *Finder) compare(at []int) *comparison {
	c := &comparison{at: at, candidates: make([]*prepared, len(at))}
	for i, k := range at {
		c.candidates[i] = &f.now.elements[k]
	}
	return c
}

func (f *Finder) row(old *prepared, candidates []*prepared) *row {
	r := &row{old: old, score: make([]float64, len(candidates)), vectors: make([]pairVector, len(candidates))}
	for c, now := range candidates {
		pairFeatures(old, now, f.old, f.now, &r.vectors[c])
		if f.model.Pair != nil {
			r.score[c] = dot(f.model.Pair, r.vectors[c][:])
		}
	}
	r.finish(candidates)
	return r
}

// comparison answers the rows that matter for a target, and the target's own among them.
func (f *Finder) comparison(target int) (*comparison, *row) {
	if f.whole != nil {
		return f.whole, f.whole.rows[target]
	}
	self := &f.old.elements[target]
	at := f.best(self)
	companions := f.companions(target, at)
	chosen := map[int]bool{}
	for _, c := range at {
		chosen[c] = true
	}
	for _, o := range companions {
		for k, c := range f.lookup(f.byKey, &f.old.elements[o]) {
			if k < 2 && !chosen[c] {
				chosen[c] = true
				at = append(at, c)
			}
		}
	}
	slices.Sort(at)
	c := f.compare(at)
	own := f.row(self, c.candidates)
	c.rows = append(c.rows, own)
	for _, o := range companions {
		c.rows = append(c.rows, f.row(&f.old.elements[o], c.candidates))
	}
	anchors(c.rows)
	return c, own
}

// best answers the candidates that are most like the target by themselves.
func (f *Finder) best(target *prepared) []int {
	type scored struct {
		at    int
		score float64
	}
	all := make([]scored, f.now.Len())
	var v pairVector
	for c := range f.now.elements {
		pairFeatures(target, &f.now.elements[c], f.old, f.now, &v)
		all[c] = scored{c, dot(f.model.Pair, v[:])}
	}
	slices.SortFunc(all, func(a, b scored) int {
		return better(a.score, b.score, &f.now.elements[a.at], &f.now.elements[b.at])
	})
	at := make([]int, min(len(all), mostCandidates))
	for i := range at {
		at[i] = all[i].at
	}
	return at
}

// companions answers the old elements that may claim the best candidates, and those near the
// target that can be known again.
func (f *Finder) companions(target int, best []int) []int {
	seen := map[int]bool{target: true}
	var out []int
	add := func(o int) {
		if !seen[o] && len(out) < mostCompanions {
			seen[o] = true
			out = append(out, o)
		}
	}
	for _, c := range best[:min(len(best), 8)] {
		for k, o := range f.lookup(f.oldByKey, &f.now.elements[c]) {
			if k < 3 {
				add(o)
			}
		}
	}
	steps := f.old.elements[target].steps
	type known struct{ at, way int }
	var near []known
	for o := range f.old.elements {
		e := &f.old.elements[o]
		if o != target && len(e.steps) > 0 && (e.label != "" || e.ID != "" || e.TestID != "") {
			near = append(near, known{o, len(steps) + len(e.steps) - 2*common(steps, e.steps)})
		}
	}
	slices.SortStableFunc(near, func(a, b known) int { return a.way - b.way })
	for _, n := range near {
		if len(out) == mostCompanions {
			break
		}
		add(n.at)
	}
	return out
}

// keys answers the elements by what few share: label, identifiers, address, path.
func (p *Page) keys() map[word][]int {
	out := map[word][]int{}
	for i := range p.elements {
		for _, k := range p.elements[i].keys() {
			out[k] = append(out[k], i)
		}
	}
	return out
}

func (e *prepared) keys() []word {
	out := make([]word, 0, 5)
	for _, k := range [...]string{"t" + e.TestID, "i" + e.ID, "l" + e.label, "h" + e.href, "p" + e.Path} {
		if len(k) > 1 {
			out = append(out, hashOf(k))
		}
	}
	return out
}

// lookup answers who shares a key with an element, those with the rarest key first.
func (f *Finder) lookup(by map[word][]int, e *prepared) []int {
	var out []int
	lists := make([][]int, 0, 5)
	for _, k := range e.keys() {
		if l := by[k]; len(l) > 0 && len(l) <= 20 {
			lists = append(lists, l)
		}
	}
	slices.SortStableFunc(lists, func(a, b []int) int { return len(a) - len(b) })
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// better orders candidates, the higher score first. Scores that differ by no more than the order
// of sums are equal: then the path decides, so that the order in which elements are given never counts.
func better(a, b float64, x, y *prepared) int {
	if c := cmp.Compare(math.Round(b*1e6), math.Round(a*1e6)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(x.Path, y.Path), strings.Compare(x.Key, y.Key))
}

// PairEvidence answers the pair features of a target and every candidate, for training.
func (f *Finder) PairEvidence(target int) [][]float64 {
	_, r := f.comparison(target)
	out := make([][]float64, len(r.vectors))
	for c := range out {
		out[c] = r.vectors[c][:]
	}
	return out
}

// RankEvidence answers the features of every candidate among its rivals, for training.
func (f *Finder) RankEvidence(target int) [][]float64 {
	c, r := f.comparison(target)
	return c.rankEvidence(r)
}

func (c *comparison) rankEvidence(r *row) [][]float64 {
	near := nearby(r, c.rows)
	out := make([][]float64, len(c.candidates))
	flat := make([]float64, rankFeatureCount*len(out))
	var v contextVector
	for i := range out {
		contextFeatures(r, i, c.rows, near, c.candidates, &v)
		x := flat[i*rankFeatureCount : (i+1)*rankFeatureCount]
		copy(x, v[:])
		copy(x[contextFeatureCount:], r.vectors[i][:])
		out[i] = x
	}
	return out
}

// ranking is the candidates of one target with what the model says about them.
type ranking struct {
	*comparison
	own      *row
	evidence [][]float64
	score    []float64
	order    []int     // candidates, best first
	second   int       // the best rival that is not the same control; -1 for none
	taken    []bool    // candidates that are other old elements, unchanged, or the like of it in other rows
	decision []float64 // nil where there is no candidate
}

func (f *Finder) rank(target int) *ranking {
	c, own := f.comparison(target)
	r := &ranking{comparison: c, own: own, evidence: c.rankEvidence(own), score: make([]float64, len(c.candidates)), order: make([]int, len(c.candidates)), second: -1, taken: make([]bool, len(c.candidates))}
	for i, x := range r.evidence {
		r.score[i], r.order[i] = dot(f.model.Rank, x), i
		r.taken[i] = f.settled(own.old, c.candidates[i]) || f.stayed(own.old, c.candidates[i]) || f.relabelled(own.old, c.candidates[i]) || own.old.kind == field && !takes(c.candidates[i]) || otherRow(own.old, c.candidates[i], f.now) != "" && own.old.label == c.candidates[i].label
	}
	slices.SortFunc(r.order, func(a, b int) int {
		if r.taken[a] != r.taken[b] {
			if r.taken[b] {
				return -1
			}
			return 1
		}
		return better(r.score[a], r.score[b], c.candidates[a], c.candidates[b])
	})
	if len(r.order) == 0 {
		return r
	}
	if i := slices.IndexFunc(r.order, func(i int) bool { return f.itself(own.old, c.candidates[i]) }); i > 0 {
		r.lead(i)
	} else {
		r.settleWithin(own.old)
	}
	best := r.order[0]
	sum, gap := 0.0, math.Inf(1)
	for _, i := range r.order {
		if r.taken[i] && !r.taken[best] {
			break
		}
		sum += math.Exp(r.score[i] - r.score[best])
		if r.second < 0 && i != best && !related(c.candidates[i].steps, c.candidates[best].steps) {
			r.second, gap = i, r.score[best]-r.score[i]
		}
	}
	r.decision = make([]float64, decisionFeatureCount)
	copy(r.decision, r.evidence[best])
	for _, i := range [...]int{cOrdered, contextFeatureCount + fRegion, contextFeatureCount + fRegionDiffers, contextFeatureCount + fAnchorWords} {
		r.decision[i] = 0 // these tell which it is, not whether it is there still: what took its place is where it was
	}
	r.decision[dScore] = r.score[best] / 10
	r.decision[dMargin] = min(1, gap/10)
	r.decision[dShare] = 1 / sum
	r.decision[dSurely] = own.surely
	r.decision[dOne] = 1
	return r
}

// settleWithin chooses between the best candidate and what contains it or is in it with the very
// same words: what was wrapped stands deeper, and its wrapper where it stood. The one that is
// more like the target by itself comes first. The tag tells what a control is; of plain text it is
// chosen freely, and its class goes with it when it is put into another one.
func (r *ranking) settleWithin(target *prepared) {
	like := func(i int) float64 {
		c := r.candidates[i]
		looks, _ := share(&target.classWord, &c.classWord)
		return 4*bit(target.TestID != "" && target.TestID == c.TestID || target.ID != "" && target.ID == c.ID) +
			2*bit(target.tag == c.tag && target.role == c.role) +
			max(looks, bit(target.Class == c.Class), 3*bit(target.kind == box && target.Class != "" && target.Class == c.Class))
	}
	at := 0
	for k, i := range r.order {
		best := r.candidates[r.order[at]]
		if c := r.candidates[i]; k > 0 && !r.taken[i] && c.Text != "" && c.Text == best.Text && related(c.steps, best.steps) && like(i) > like(r.order[at]) {
			at = k
		}
	}
	r.lead(at)
}

// lead puts one of the order first.
func (r *ranking) lead(at int) {
	chosen := r.order[at]
	copy(r.order[1:at+1], r.order[:at])
	r.order[0] = chosen
}

// Decide answers the best candidate by its index in the new page (-1 for none) and the features
// of the decision, for training.
func (f *Finder) Decide(target int) (int, []float64) {
	r := f.rank(target)
	if len(r.order) == 0 {
		return -1, nil
	}
	return r.at[r.order[0]], r.decision
}
