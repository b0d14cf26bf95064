package relocate

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// effect answers what each feature of a candidate adds to its score.
func (m *Model) effect(evidence []float64) [rankFeatureCount]float64 {
	var out [rankFeatureCount]float64
	for i, w := range m.Rank {
		out[i] = w * evidence[i]
	}
	for i, w := range m.Pair {
		out[contextFeatureCount+i] += m.Rank[cScore] * w / 10 * evidence[contextFeatureCount+i]
	}
	out[cScore] = 0 // told by its parts
	return out
}

// words answers a feature as a reason for a candidate, and as a reason against one that has less
// of it; "" where it says nothing to a person.
func words(i int) (supporting, against string) {
	if i < contextFeatureCount {
		switch i {
		case cOccupied, cClaim:
			return "", "it is better explained as another element of the old page"
		case cBeside, cBesideTags, cBesideIndex, cBesideBest:
			return "it stands to its neighbours as before", "its neighbours are others"
		case cOrder, cClose, cOffset:
			return "it is where its neighbours let one look for it", "it is not where its neighbours let one look for it"
		}
		return "", ""
	}
	switch i - contextFeatureCount {
	case fLabelEqual, fLabelRare:
		return "it has the same name", "its name differs"
	case fLabelWords, fLabelContained, fLabelGrams:
		return "its name has the same words", "its name has other words"
	case fWords, fWordsContained:
		return "its words are those of the old one", "it shares fewer words"
	case fTag, fKind:
		return "it is of the same sort", "it is of another sort"
	case fKindConflict:
		return "", "it is another sort of control"
	case fIDEqual, fIDWords, fAnchored:
		return "it has the same identifier", "its identifier differs"
	case fNameEqual:
		return "it has the same field name", "its field name differs"
	case fClass, fClassWords:
		return "it has the same classes", "its classes differ"
	case fHrefEqual, fHrefTail:
		return "it leads to the same place", "it leads elsewhere"
	case fHrefDiffers:
		return "", "it leads elsewhere"
	case fType:
		return "it has the same type", "its type differs"
	case fAux:
		return "its attributes agree", "its attributes differ"
	case fPathEqual, fPathSequence, fPathEnd, fPathEndTags, fPathIndex, fPathStart, fDepth:
		return "it is in the same place of the page's structure", "it is elsewhere in the page's structure"
	case fRegion, fAnchorWords:
		return "it is in the same part of the page", "it is in another part of the page"
	case fRegionDiffers:
		return "", "it is in another part of the page"
	case fNear:
		return "the texts around it are the same", "the texts around it differ"
	case fPlace, fPlaceX, fSize, fShape:
		return "it is drawn in the same place and size", "it is drawn elsewhere or in another size"
	}
	return "", ""
}

const mostReasons = 4

// won answers why the best candidate won: what added most to its score.
func (m *Model) won(r *ranking) []string {
	return told(m.effect(r.evidence[r.order[0]]), func(i int) string { w, _ := words(i); return w })
}

// lost answers why a candidate lost: where the best one had most more.
func (m *Model) lost(r *ranking, c int) []string {
	best, own := m.effect(r.evidence[r.order[0]]), m.effect(r.evidence[c])
	for i := range best {
		best[i] -= own[i]
	}
	out := told(best, func(i int) string { _, w := words(i); return w })
	if related(r.candidates[c].steps, r.candidates[r.order[0]].steps) {
		out = append([]string{"it is the same control: one contains the other"}, out...)
	}
	return out
}

// told sums effects by their sentence and answers the weightiest.
func told(effects [rankFeatureCount]float64, sentence func(int) string) []string {
	sums := map[string]float64{}
	for i, e := range effects {
		if s := sentence(i); s != "" {
			sums[s] += e
		}
	}
	var out []string
	for s, e := range sums {
		if e > 0.1 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(math.Round(sums[b]*1e6), math.Round(sums[a]*1e6)), strings.Compare(a, b))
	})
	return out[:min(len(out), mostReasons)]
}
