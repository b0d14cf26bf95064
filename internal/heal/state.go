package heal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"tas-service/internal/attempt"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
)

// state is what a session of healing has found out, kept in agent.Session.State.
type state struct {
	Failures []failure `json:"failures"`
	Left     int       `json:"left,omitempty"` // failures of the same kind that the session leaves out
	// Round counts the repairs that were tried one upon the other: behind a locator that was
	// repaired the next broken one may show.
	Round    int                `json:"round,omitempty"`
	Trials   map[string]string  `json:"trials,omitempty"` // run IDs by what they are for
	Again    map[string]int     `json:"again,omitempty"`  // how often each was begun again after its worker was lost
	Findings []Finding          `json:"findings,omitempty"`
	Edits    []attempt.Edit     `json:"edits,omitempty"`
	Made     []attempt.EditDone `json:"made,omitempty"`
	Proof    *Proof             `json:"proof,omitempty"`
	Passed   []string           `json:"passed,omitempty"` // tests of the session that the repair was seen to heal
	Others   []string           `json:"others,omitempty"` // tests that failed in the run for another reason
	Asked    int                `json:"asked,omitempty"`  // how often the delivery was looked after
	Wanted   bool               `json:"wanted,omitempty"` // a person approved it: it is delivered whatever the caller wanted
	// What a model answered, by the question's key; Had and NoMore are how it goes on behind that.
	Advice     map[string]Advice `json:"advice,omitempty"`
	Had        int               `json:"had,omitempty"`
	NoMore     string            `json:"noMore,omitempty"`
	Mute       bool              `json:"mute,omitempty"`     // no model is asked any more
	Patience   int               `json:"patience,omitempty"` // how often in a row it had no time
	ProseAsked bool              `json:"proseAsked,omitempty"`
	Prose      string            `json:"prose,omitempty"` // of the pull request, by a model
	// Work is what a model did itself. Wish is what a reviewer wants of it before it has begun, and
	// Resumed what it wrote in the session that the reviewer looked at.
	Work    *work             `json:"work,omitempty"`
	Wish    string            `json:"wish,omitempty"`
	Resumed []attempt.Rewrite `json:"resumed,omitempty"`
	Lap     int               `json:"lap,omitempty"` // counts proofs of what a model wrote
}

// failure is a failed test as the session began with it.
type failure struct {
	TestID     string        `json:"testId"`
	Browser    string        `json:"browser"`
	Title      string        `json:"title"`
	File       string        `json:"file"`
	Line       int           `json:"line"`
	BugKey     string        `json:"bugKey,omitempty"`
	Message    string        `json:"message"`
	Code       string        `json:"code,omitempty"`
	DurationMs int64         `json:"durationMs"`
	Location   *run.Location `json:"location,omitempty"`
}

// Finding is what was found out about one failed test in one browser.
type Finding struct {
	TestID     string           `json:"testId"`
	Browser    string           `json:"browser"`
	Title      string           `json:"title"`
	File       string           `json:"file"`
	Class      Class            `json:"class"`
	Why        string           `json:"why"`
	Evidence   []string         `json:"evidence,omitempty"`
	Confidence float64          `json:"confidence"`
	RunID      string           `json:"runId"` // in which it was seen
	Step       *StepSeen        `json:"step,omitempty"`
	Before     string           `json:"before,omitempty"` // part of the locator
	After      string           `json:"after,omitempty"`  // what is to stand there
	Outcome    relocate.Outcome `json:"outcome,omitempty"`
	P          float64          `json:"p,omitempty"`
	Margin     float64          `json:"margin,omitempty"`
	// ByDeed says that nothing that named the element names it still, so that only what it does can
	// show that it is the one.
	ByDeed      bool               `json:"byDeed,omitempty"`
	EffectSeen  bool               `json:"effectSeen,omitempty"` // outside the page, the same as before
	Carried     bool               `json:"carried,omitempty"`    // the repaired test sends values under the same names as before
	Candidates  []CandidateSeen    `json:"candidates,omitempty"`
	Edit        int                `json:"edit"`              // of the session's edits; -1 for none
	Part        int                `json:"part"`              // of the locator that is broken
	Through     int                `json:"through,omitempty"` // the last of several such parts
	Stack       []attempt.Location `json:"stack,omitempty"`   // of the step
	Environment string             `json:"environment"`
	Chosen      bool               `json:"chosen,omitempty"`   // by a person
	Question    *Question          `json:"question,omitempty"` // to a model, until it is answered
	Advice      *Advice            `json:"advice,omitempty"`
	ByModel     bool               `json:"byModel,omitempty"`  // a model chose the element
	Seconded    bool               `json:"seconded,omitempty"` // a model agrees, and it was likely enough
	Written     bool               `json:"written,omitempty"`  // a model wrote the repair that is tried
}

// Repaired reports whether there is a repair for what was found.
func (f *Finding) Repaired() bool { return f.Edit >= 0 || f.Written }

// StepSeen is the step at which a test failed.
type StepSeen struct {
	Method   string `json:"method"`
	Locator  string `json:"locator"`
	Selector string `json:"selector,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Function string `json:"function,omitempty"`
	Matcher  string `json:"matcher,omitempty"`
	Turn     int    `json:"turn"` // how many steps of the same place came before
	Error    string `json:"error"`
	URL      string `json:"url"`
}

// CandidateSeen is an element that might be the one that is looked for.
type CandidateSeen struct {
	Label  string        `json:"label"`
	Path   string        `json:"path"`
	Rival  string        `json:"rival,omitempty"` // a locator of it
	Share  float64       `json:"share"`
	Why    []string      `json:"why,omitempty"`
	Vetoes []string      `json:"vetoes,omitempty"`
	Box    *relocate.Box `json:"box,omitempty"`
}

// rivals reports whether a candidate is another control than the one that was taken: not what it
// is in or holds, and no label, which stands for its field.
func (c CandidateSeen) rivals(taken CandidateSeen) bool {
	return c.Path != taken.Path && !strings.HasPrefix(c.Path, taken.Path+"/") && !strings.HasPrefix(taken.Path, c.Path+"/") && !labelPath.MatchString(c.Path)
}

var labelPath = regexp.MustCompile(`/label\[\d+\]$`)

// Bounds of what is kept.
const (
	maxMessage = 2000
	maxShown   = 300
)

func failureOf(x run.Result) failure {
	f := failure{TestID: x.TestID, Browser: x.Browser, Title: nameOf(x), File: x.File, Line: x.Line, BugKey: x.BugKey, DurationMs: x.Duration().Milliseconds()}
	if x.Error != nil {
		f.Message, f.Code, f.Location = clip(x.Error.Message, maxMessage), x.Error.Code, x.Error.Location
	}
	return f
}

func nameOf(x run.Result) string {
	if len(x.TitlePath) > 0 {
		return strings.Join(x.TitlePath, " › ")
	}
	return x.Title
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func (st *state) save() json.RawMessage {
	text, err := json.Marshal(st)
	if err != nil {
		return json.RawMessage("{}") // never of our own shapes
	}
	return text
}

func load(raw json.RawMessage) (st state, err error) {
	if len(raw) == 0 {
		return st, nil
	}
	if err := json.Unmarshal(raw, &st); err != nil {
		return st, fmt.Errorf("read a session's state: %w", err)
	}
	return st, nil
}

// trialID names a trial of a session, the same one after a crash.
func trialID(session, what string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(session+"/"+what)).String()
}

// Seen is what a session has found out, for people.
type Seen struct {
	Findings []Finding
	Made     []attempt.EditDone
	Proof    *Proof
	Trials   map[string]string
}

// Look answers what a session has found out.
func Look(raw json.RawMessage) (Seen, error) {
	st, err := load(raw)
	return Seen{Findings: st.Findings, Made: st.Made, Proof: st.Proof, Trials: st.Trials}, err
}
