package relocate

import (
	"math"
	"slices"
)

// The features of a candidate among its rivals, and of a pair among the other pairs of the two
// pages. Each is in [0, 1] or [-1, 1].
const (
	cScore       = iota // what the pair alone says, squashed
	cShare              // of the target's probability over all candidates
	cGap                // below the best candidate
	cFirst              // it is the best
	cOccupied           // another old element has it as its best, and how surely
	cClaim              // what others' best claim on it is over the target's own
	cBeside             // it stands to matched neighbours as the target did: way up and down
	cBesideTags         // the same, with the tags on the way
	cBesideIndex        // the same, with the distance among siblings
	cBesideBest         // the best of the above over the neighbours
	cOrder              // it comes before and after the same elements, of those whose order is known
	cOrdered            // of how many neighbours, by weight, the order is known
	cClose              // as near to matched neighbours as it was
	cOffset             // as many pixels from matched neighbours as it was
	cAlone              // no neighbour is matched: the ones above are not known
	contextFeatureCount
)

func contextNames() [contextFeatureCount]string {
	return [...]string{"score", "share", "gap", "first", "occupied", "claim", "beside", "beside-tags", "beside-index", "beside-best", "order", "ordered", "close", "offset", "alone"}
}

type contextVector [contextFeatureCount]float64

// row is what the pair model says about one old element and every candidate.
type row struct {
	old     *prepared
	score   []float64 // by candidate
	best    int       // -1 if there is no candidate
	second  float64   // score of the best rival that is not the same control
	sum     float64   // of exp(score - score[best])
	surely  float64   // that best is the one, and that no other old element has it
	vectors []pairVector
}

func (r *row) share(c int) float64 { return math.Exp(r.score[c]-r.score[r.best]) / r.sum }

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// finish finds the best candidate of a row, and its best rival.
func (r *row) finish(candidates []*prepared) {
	r.best, r.second = -1, math.Inf(-1)
	for c, s := range r.score {
		if r.best < 0 || better(s, r.score[r.best], candidates[c], candidates[r.best]) < 0 {
			r.best = c
		}
	}
	if r.best < 0 {
		return
	}
	for c, s := range r.score {
		r.sum += math.Exp(s - r.score[r.best])
		if c != r.best && s > r.second && !related(candidates[c].steps, candidates[r.best].steps) {
			r.second = s
		}
	}
}

// anchors sets how surely each row's best candidate is its own: its share, less where another
// old element claims the same candidate.
func anchors(rows []*row) {
	for _, r := range rows {
		if r.best < 0 {
			continue
		}
		r.surely = r.share(r.best)
		total := 0.0
		for _, o := range rows {
			if o.best >= 0 {
				total += math.Exp(min(50, o.score[r.best]-r.score[r.best]))
			}
		}
		r.surely /= max(total, 1)
	}
}

// neighbour is a matched old element near the target.
type neighbour struct {
	*row
	way    int // steps up and down from the target
	shared int
	weight float64
}

const neighbours = 6

// nearby answers the matched elements nearest to the target in the old page.
func nearby(target *row, rows []*row) []neighbour {
	var out []neighbour
	for _, r := range rows {
		if r == target || r.best < 0 || r.surely < 0.3 || len(r.old.steps) == 0 || len(target.old.steps) == 0 {
			continue
		}
		shared := common(target.old.steps, r.old.steps)
		way := len(target.old.steps) + len(r.old.steps) - 2*shared
		out = append(out, neighbour{r, way, shared, r.surely / float64(1+way)})
	}
	slices.SortFunc(out, func(a, b neighbour) int { return better(a.weight, b.weight, a.old, b.old) })
	return out[:min(len(out), neighbours)]
}

// contextFeatures looks at candidate c of the target among its rivals and neighbours.
func contextFeatures(target *row, c int, rows []*row, near []neighbour, candidates []*prepared, v *contextVector) {
	*v = contextVector{}
	own := target.score[c]
	v[cScore] = own / 10
	v[cShare] = target.share(c)
	rival := target.score[target.best]
	if c == target.best {
		rival = target.second
		v[cFirst] = 1
	}
	v[cGap] = max(-1, min(1, (own-rival)/5))
	claim := math.Inf(-1)
	for _, r := range rows {
		if r == target || r.best < 0 {
			continue
		}
		claim = max(claim, r.score[c])
		if r.best == c {
			v[cOccupied] = max(v[cOccupied], r.share(c))
		}
	}
	if !math.IsInf(claim, -1) {
		v[cClaim] = sigmoid(claim - own)
	}
	steps := candidates[c].steps
	var total, ordered, boxes float64
	for _, n := range near {
		if n.best == c {
			continue
		}
		there := candidates[n.best].steps
		shared := common(steps, there)
		way := len(steps) + len(there) - 2*shared
		w := n.weight
		total += w
		sum := 0.0
		if len(steps)-shared == len(target.old.steps)-n.shared && len(there)-shared == len(n.old.steps)-n.shared {
			v[cBeside] += w
			sum++
			if ending(steps, target.old.steps, len(steps)-shared, true) == len(steps)-shared {
				v[cBesideTags] += w
				sum++
				if distance(steps, there, shared) == distance(target.old.steps, n.old.steps, n.shared) {
					v[cBesideIndex] += w
					sum++
				}
			}
		}
		v[cBesideBest] = max(v[cBesideBest], n.surely*sum/3/math.Sqrt(float64(max(1, way-1))))
		v[cClose] += w * ratio(float64(1+way), float64(1+n.way))
		if was, is := before(target.old.steps, n.old.steps), before(steps, there); was != 0 && is != 0 {
			v[cOrder] += w * float64(was*is)
			ordered += w
		}
		if a, b, x, y := target.old.Box, n.old.Box, candidates[c].Box, candidates[n.best].Box; a != nil && b != nil && x != nil && y != nil {
			v[cOffset] += w * math.Exp(-math.Hypot((a.X-b.X)-(x.X-y.X), (a.Y-b.Y)-(x.Y-y.Y))/60)
			boxes += w
		}
	}
	if total == 0 {
		v[cAlone] = 1
		return
	}
	for _, i := range []int{cBeside, cBesideTags, cBesideIndex, cClose} {
		v[i] /= total
	}
	if ordered > 0 {
		v[cOrder] /= ordered
		v[cOrdered] = ordered / total
	}
	if boxes > 0 {
		v[cOffset] /= boxes
	}
}

// distance answers how many siblings are between two elements' ways down from what contains both.
func distance(a, b []step, shared int) int {
	if shared >= len(a) || shared >= len(b) {
		return 0
	}
	return a[shared].index - b[shared].index
}
