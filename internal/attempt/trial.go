package attempt

// Trial asks for an attempt that tries something out: on a changed copy, without retries, so
// often, and with what it finds out kept.
type Trial struct {
	// Patch is a unified diff against the commit, with paths from the root of the
	// repository, that is applied before anything is installed.
	Patch string `json:"patch,omitempty"`
	// Edits are made by the runner before the tests are loaded; see Edited.
	Edits []Edit `json:"edits,omitempty"`
	// Rewrites are made in place of Edits, in their order, each on what the ones before it left
	// behind; see Edited.
	Rewrites []Rewrite `json:"rewrites,omitempty"`
	// Repeat is how often each test is executed; 0 and 1 mean once.
	Repeat int `json:"repeat,omitempty"`
	// Trace records a trace of every test, whatever the repository's configuration says.
	Trace bool `json:"trace,omitempty"`
	// Sabotage is done to the tests' repetitions by their number: repetition 0 suffers the
	// first. There are as many repetitions as sabotages then.
	Sabotage []Sabotage `json:"sabotage,omitempty"`
}

// Edit replaces a part of a locator, or several that follow each other, where they are written in
// the tests' source.
type Edit struct {
	// Stack is of the step that uses the locator, innermost first; files are relative to the
	// package.
	Stack       []Location `json:"stack"`
	Locator     string     `json:"locator"`           // whole, as Playwright writes it
	Part        int        `json:"part"`              // which of its parts, from 0
	Through     int        `json:"through,omitempty"` // the last of several; what is less than Part means Part alone
	Replacement string     `json:"replacement"`       // one part or more
}

// Rewrite replaces a piece of text of the tests' source that stands there once.
type Rewrite struct {
	File   string `json:"file"` // relative to the package
	Before string `json:"before"`
	After  string `json:"after"`
}

// Changes reports whether a trial has the tests' source changed by the runner.
func (t *Trial) Changes() bool { return len(t.Edits) > 0 || len(t.Rewrites) > 0 }

// Edited is what became of a trial's edits or rewrites. Where any could not be made, nothing was run.
type Edited struct {
	Edits []EditDone `json:"edits"` // in the order of Trial.Edits, or of its Rewrites
	// Patch holds all of them as one unified diff, with paths from the root of the
	// repository; "" where any could not be made.
	Patch string `json:"patch"`
	// Offences say what the edits do that a repair must never do.
	Offences []Offence `json:"offences,omitempty"`
}

// EditDone is one edit as it was made, or why it was not.
type EditDone struct {
	File   string `json:"file,omitempty"` // relative to the package
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Before string `json:"before,omitempty"` // what was written there
	After  string `json:"after,omitempty"`
	Code   string `json:"code,omitempty"` // why it was not made; "" where it was
	Why    string `json:"why,omitempty"`
}

// Offence is something that a repair must never do.
type Offence struct {
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Sabotage breaks the application, as the test sees it, at one step: a test worth having
// fails then.
type Sabotage struct {
	Kind SabotageKind `json:"kind"` // "" leaves the repetition alone
	// Selector is of the step at which it happens, as Playwright has it inside.
	Selector string `json:"selector,omitempty"`
	// Turn is how many steps with that selector come before, of the same Method.
	Turn   int    `json:"turn,omitempty"`
	Method string `json:"method,omitempty"` // "click", "expect"
	// Rival is the selector or locator of the element that takes its place, of SabotageRival.
	Rival string `json:"rival,omitempty"`
	// Calls are the requests that fail, of SabotageRequest, as evidence has them: method and
	// template of the address.
	Calls []SabotageCall `json:"calls,omitempty"`
	// LimitMs bounds how long each step may wait from then on.
	LimitMs int64 `json:"limitMs,omitempty"`
}

// SabotageCall is a request by its template.
type SabotageCall struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

// SabotageKind is what is broken.
type SabotageKind string

// The kinds.
const (
	SabotageRemove  SabotageKind = "remove"  // the element is gone
	SabotageHandler SabotageKind = "handler" // nothing that is done to it has an effect
	SabotageRequest SabotageKind = "request" // its requests are answered with 500
	SabotageText    SabotageKind = "text"    // what it says is altered
	SabotageRival   SabotageKind = "rival"   // another element takes its place
)
