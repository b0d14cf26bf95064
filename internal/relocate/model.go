package relocate

// Model weighs the evidence, in three steps: what a pair alone says, what it says among its
// rivals and neighbours, and how sure it is that the best candidate is the right one. All three
// are sums of weighted features, so each answer can be told in words.
type Model struct {
	Pair     []float64 // by pair feature
	Context  []float64 // by context feature, then by pair feature
	Decision []float64 // by decision feature; the last one is the constant
}

// The features of the decision: those of the best candidate, and these.
const (
	dScore = pairFeatureCount + contextFeatureCount + iota
	dMargin
	dShare
	dMutual
	dOne
	decisionFeatureCount
)

const rankFeatureCount = contextFeatureCount + pairFeatureCount

func dot(weights []float64, values []float64) float64 {
	var sum float64
	for i, w := range weights {
		sum += w * values[i]
	}
	return sum
}
