package relocate

import (
	"math"
	"slices"
)

// Outcome is what may be done with an answer.
type Outcome string

// The outcomes, from the surest.
const (
	Heal    Outcome = "heal"    // sure enough to change a test
	Propose Outcome = "propose" // a person must decide
	Report  Outcome = "report"  // it is probably gone: say so, change nothing
)

// Limits say how sure is sure. The zero value stands for DefaultLimits.
type Limits struct {
	Heal    float64 // from which probability on
	Propose float64
	Margin  float64 // least probability over the best real rival's, to heal
}

// DefaultLimits answers the limits where nobody set others.
func DefaultLimits() Limits { return Limits{Heal: 0.97, Propose: 0.5, Margin: 0.5} }

// Candidate is an element of the new page in a ranking.
type Candidate struct {
	Index   int      // in the new page
	Element *Element // as it was given to Prepare
	Share   float64  // of the probability, supposed that one of the candidates is right
	Why     []string // why it won, or why it lost
	Vetoes  []string // why it must not be healed to; empty where nothing speaks against it
	// Unusable says of these why nobody can use it, where the old element could be used.
	Unusable string
}

// Answer is what became of a target.
type Answer struct {
	Outcome    Outcome
	P          float64     // that the first candidate is the target, and that it was not removed; calibrated
	Margin     float64     // the first candidate's share less that of the best one that is another control
	Candidates []Candidate // best first, few
	// Renamed says that nothing by which the target was known names the first candidate: no
	// identifier, no words. Its place and sort tell it, which a look-alike in its place has as well:
	// what it does has to show that it is the one.
	Renamed bool
	Why     string // the outcome in words
}

const mostShown = 5

// Find answers what became of an element of the old page, by its index there. Order of the
// pages' elements does not count.
func (f *Finder) Find(target int, limits Limits) Answer {
	if limits == (Limits{}) {
		limits = DefaultLimits()
	}
	r := f.rank(target)
	if len(r.order) == 0 {
		return Answer{Outcome: Report, Why: "The page has no element to compare with."}
	}
	a := Answer{P: sigmoid(dot(f.model.Decision, r.decision))}
	best, sure := r.candidates[r.order[0]], false
	if r.taken[r.order[0]] {
		a.P = min(a.P, takenP)
	} else if unchanged(r.own.old, best, f.old, f.now) {
		a.P = max(a.P, unchangedP)
	} else if drifted(r.own.old, best, f.old, f.now) {
		a.P = max(a.P, driftedP)
		sure = f.itself(r.own.old, best) || !slices.ContainsFunc(r.order[1:], func(i int) bool {
			c := r.candidates[i]
			return !r.taken[i] && !related(c.steps, best.steps) && (unchanged(r.own.old, c, f.old, f.now) || drifted(r.own.old, c, f.old, f.now))
		})
	}
	top := r.score[r.order[0]]
	sum := 0.0
	open := func(i int) bool { return !r.taken[i] || r.taken[r.order[0]] }
	for i, s := range r.score {
		if open(i) {
			sum += math.Exp(s - top)
		}
	}
	share := func(i int) float64 {
		if !open(i) {
			return 0
		}
		return math.Exp(r.score[i]-top) / sum
	}
	a.Margin = share(r.order[0])
	if r.second >= 0 {
		a.Margin -= share(r.second)
	}
	if sure { // no other one can be it by what stayed as it was
		a.Margin = max(a.Margin, 1-2*(1-driftedP))
	}
	shown := r.order[:min(len(r.order), mostShown)]
	if r.second >= 0 && !slices.Contains(shown, r.second) {
		shown = append(slices.Clone(shown), r.second)
	}
	for k, i := range shown {
		c := Candidate{Index: r.at[i], Element: r.candidates[i].Element, Share: share(i), Vetoes: vetoes(r.own.old, r.candidates[i], f.old, f.now), Unusable: unusable(r.own.old, r.candidates[i])}
		if k == 0 {
			c.Why = f.model.won(r)
		} else {
			c.Why = f.model.lost(r, i)
		}
		a.Candidates = append(a.Candidates, c)
	}
	a.Renamed = renamed(r.own.old, r.candidates[r.order[0]])
	a.Outcome, a.Why = decide(a, limits)
	return a
}

func decide(a Answer, l Limits) (Outcome, string) {
	switch {
	case a.P < l.Propose:
		return Report, "Nothing on the page is likely enough to be it: it may have been removed."
	case len(a.Candidates[0].Vetoes) > 0:
		return Propose, "The likeliest element must not be taken by itself: " + a.Candidates[0].Vetoes[0] + "."
	case a.P < l.Heal:
		return Propose, "One element is likely to be it, but not surely enough."
	case a.Margin < l.Margin:
		return Propose, "Another element is almost as likely."
	case a.Renamed:
		return Propose, "It stands where it stood, and nothing that named it names it still: what it does has to show that it is the one."
	}
	return Heal, "One element is it, as surely as can be told."
}

// takenP bounds the probability of what is another old element, unchanged.
const takenP = 0.3

// unchangedP is the probability of an element of which nothing changed. Nothing is learned about
// it from pages years apart, on which such elements are few.
const unchangedP = 0.995

// unchanged says whether nothing that is known of two elements differs, their place included,
// and something of it names one element alone on each of the pages: rows of a list that moved up
// by one do not pass for the ones that were in their places. Where nothing else of the old page
// is known, only an identifier can name one element alone.
func unchanged(old, now *prepared, oldPage, newPage *Page) bool {
	if old.Path == "" || old.Path != now.Path || old.tag != now.tag || old.role != now.role || old.label != now.label {
		return false
	}
	for _, p := range [][2]string{
		{old.TestID, now.TestID}, {old.ID, now.ID}, {old.NameAttr, now.NameAttr}, {old.href, now.href},
		{old.Type, now.Type}, {old.Class, now.Class}, {old.RowKey, now.RowKey}, {old.Form, now.Form},
	} {
		if p[0] != p[1] {
			return false
		}
	}
	return old.TestID != "" || old.ID != "" || old.NameAttr != "" ||
		old.label != "" && oldPage.Len() > 1 && oldPage.labels[old.labelHash] == 1 && newPage.labels[old.labelHash] == 1
}
