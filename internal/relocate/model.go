package relocate

import (
	_ "embed" // the weights
	"encoding/json"
	"io"
	"math"

	"tas-service/internal/fault"
)

//go:embed weights.json
var shipped []byte

// Model weighs the evidence, in three steps: what a pair alone says, what it says among its
// rivals and neighbours, and how sure it is that the best candidate is the right one. All three
// are sums of weighted features, so each answer can be told in words.
type Model struct {
	Pair     []float64 // as PairNames
	Rank     []float64 // as RankNames
	Decision []float64 // as DecisionNames
}

// The features of the decision: those of the best candidate, then these.
const (
	rankFeatureCount = contextFeatureCount + pairFeatureCount

	dScore = rankFeatureCount + iota - 1
	dMargin
	dShare
	dSurely
	dOne
	decisionFeatureCount
)

// PairNames answers what the features of a pair are called, in their order.
func PairNames() []string {
	names := featureNames()
	return names[:]
}

// RankNames answers what the features of a candidate among its rivals are called.
func RankNames() []string {
	names := contextNames()
	return append(names[:], PairNames()...)
}

// DecisionNames answers what the features of the decision are called.
func DecisionNames() []string {
	return append(RankNames(), "rank-score", "rank-margin", "rank-share", "surely", "constant")
}

// file is a model as it is written: weights by the names of the features.
type file struct {
	About    string             `json:"about"`
	Pair     map[string]float64 `json:"pair"`
	Rank     map[string]float64 `json:"rank"`
	Decision map[string]float64 `json:"decision"`
}

// Shipped answers the model that comes with the program: trained by bench/relocation.
func Shipped() (*Model, error) { return parse(shipped) }

// Read reads a model as Write wrote it.
func Read(r io.Reader) (*Model, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return parse(text)
}

func parse(text []byte) (*Model, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The weights cannot be read.").WithFix("Write them anew with bench/relocation -train.")
	}
	m := &Model{}
	for _, part := range []struct {
		name  string
		names []string
		from  map[string]float64
		to    *[]float64
	}{{"pair", PairNames(), f.Pair, &m.Pair}, {"rank", RankNames(), f.Rank, &m.Rank}, {"decision", DecisionNames(), f.Decision, &m.Decision}} {
		if len(part.from) != len(part.names) {
			return nil, fault.New(fault.Invalid, "The weights of %q are %d, of %d features.", part.name, len(part.from), len(part.names)).WithFix("Write them anew with bench/relocation -train.")
		}
		for _, n := range part.names {
			w, has := part.from[n]
			if !has {
				return nil, fault.New(fault.Invalid, "The weights of %q lack %q.", part.name, n).WithFix("Write them anew with bench/relocation -train.")
			}
			*part.to = append(*part.to, w)
		}
	}
	return m, nil
}

// Write writes the model with a sentence about where it comes from, with three decimals: more
// would be noise.
func (m *Model) Write(w io.Writer, about string) error {
	f := file{About: about, Pair: named(PairNames(), m.Pair), Rank: named(RankNames(), m.Rank), Decision: named(DecisionNames(), m.Decision)}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

func named(names []string, weights []float64) map[string]float64 {
	out := map[string]float64{}
	for i, n := range names {
		out[n] = math.Round(weights[i]*1000) / 1000
	}
	return out
}

func dot(weights, values []float64) float64 {
	var sum float64
	for i, w := range weights {
		sum += w * values[i]
	}
	return sum
}
