package dispatch

import (
	"slices"
	"time"

	"tas-service/internal/attempt"
)

// History is how long a test took in one Playwright project when it last passed.
type History struct {
	TestID  string
	Browser string
	File    string
	Recent  []Sample // at most maxSamples, the newest last
	RunID   string   // that it was last brought up to date by
}

// Sample is one passing execution, retries included.
type Sample struct {
	Ms       int64  `json:"ms"`
	BodyHash string `json:"bodyHash,omitempty"`
}

// maxSamples is how much history a prediction looks at: enough for a median that one slow
// machine does not move, little enough to follow a test that has changed.
const maxSamples = 5

// Learn adds a passing execution that a run has seen.
func (t *History) Learn(runID string, s Sample) {
	t.RunID = runID
	t.Recent = append(t.Recent, s)
	if extra := len(t.Recent) - maxSamples; extra > 0 {
		t.Recent = t.Recent[extra:]
	}
}

// unknownTest is what a test is taken for of which nothing at all is known.
const unknownTest = 5 * time.Second

// predictor tells how long tests will take, from what passing ones took: the median of
// the last five, since one run on a slow machine must not count. Of a test that is new in
// its Playwright project it takes what other projects say, else the median of its file,
// else of everything. A test whose source has changed since may have become longer: the
// larger of its own and its file's median, for one that begins too early costs nothing
// and one that begins too late costs its whole length.
type predictor struct {
	own    map[[2]string]History // by test and project
	across map[string]int64      // by test: over all projects
	file   map[string]int64
	all    int64
}

func newPredictor(histories []History) *predictor {
	p := &predictor{own: map[[2]string]History{}, across: map[string]int64{}, file: map[string]int64{}, all: unknownTest.Milliseconds()}
	byTest, byFile, all := map[string][]int64{}, map[string][]int64{}, []int64(nil)
	for _, t := range histories {
		if len(t.Recent) == 0 {
			continue
		}
		p.own[[2]string{t.TestID, t.Browser}] = t
		m := t.median()
		byTest[t.TestID], byFile[t.File], all = append(byTest[t.TestID], m), append(byFile[t.File], m), append(all, m)
	}
	for id, ms := range byTest {
		p.across[id] = median(ms)
	}
	for file, ms := range byFile {
		p.file[file] = median(ms)
	}
	if len(all) > 0 {
		p.all = median(all)
	}
	return p
}

// of answers how long a test will take, and whether that was seen before.
func (p *predictor) of(t attempt.ChosenTest) (time.Duration, bool) {
	millis := func(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
	own, known := p.own[[2]string{t.TestID, t.Browser}]
	inFile, hasFile := p.file[t.File]
	switch {
	case known && own.Recent[len(own.Recent)-1].BodyHash == t.BodyHash:
		return millis(own.median()), true
	case known:
		return millis(max(own.median(), inFile)), true
	}
	if across, ok := p.across[t.TestID]; ok {
		return millis(across), true
	}
	if hasFile {
		return millis(inFile), false
	}
	return millis(p.all), false
}

func (t History) median() int64 {
	ms := make([]int64, len(t.Recent))
	for i, s := range t.Recent {
		ms[i] = s.Ms
	}
	return median(ms)
}

// median of a list that is not empty; of an even number the larger middle one.
func median(ms []int64) int64 {
	sorted := slices.Sorted(slices.Values(ms))
	return sorted[len(sorted)/2]
}
