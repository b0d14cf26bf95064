// Package evidence is what a run knows of a test's steps: where each is in the source, on
// which page it was done, to which element and with what effect. It is read from Playwright's
// own traces, with no change to anyone's tests.
//
// What tests typed is not kept: it may be a password.
package evidence

import (
	"strings"
	"time"

	"tas-service/internal/relocate"
)

// Test is what the trace of one attempt at a test tells.
type Test struct {
	Playwright string // version
	TestIDs    string // the attribute that getByTestId looks at
	Steps      []Step // in the order in which they began
	// Cut says that the trace was read in part only: it is damaged or unusually large.
	Cut bool
}

// Frame is a place in the tests' source. Line and Column count from 1.
type Frame struct {
	File     string // as the runner saw it
	Line     int
	Column   int
	Function string
}

// Step is one action or assertion on a page.
type Step struct {
	CallID   string
	Method   string // "click", "fill", "expect", "goto"
	Matcher  string // of expect: "to.have.text"
	Negative bool   // expect(…).not
	Selector string // as Playwright has it inside: "internal:role=button[name=\"Save\"i]"
	Locator  string // as the source has it, where Playwright tells: "getByRole('button', { name: 'Save' })"
	Expected string // of expect: what was expected, as far as it is a text
	Stack    []Frame
	Start    time.Duration // on the trace's clock
	End      time.Duration
	Error    string // "" where it went well

	URL string // of the frame that it was done in
	// Target is the element that it was done to; nil where there was none, or the trace does
	// not tell.
	Target *relocate.Element
	// Page is all of that frame's elements when it was done, Target among them.
	Page   []relocate.Element
	Effect Effect
}

// Assertion reports whether the step checks rather than acts.
func (s *Step) Assertion() bool { return s.Method == "expect" || s.Matcher != "" }

// At answers the place in the source that names the step: the innermost one of the tests' own.
func (s *Step) At() Frame {
	if len(s.Stack) == 0 {
		return Frame{}
	}
	return s.Stack[0]
}

// Effect is what a step brought about until the next one began.
type Effect struct {
	Calls     []Call // of the page's own code and of navigations, in their order, each once
	Navigated string // template of the address that the main frame went to; "" for none
	Dialog    string // its kind: "alert", "confirm", "prompt"; "" for none
	Uncaught  int    // errors that nothing caught
}

// Call is a request by its template: what differs from one run to the next is left out.
type Call struct {
	Method string
	Path   string // host, path and names of the query's parameters: "api.example.com/orders/{}?page"
	Status int    // 0 for none
	// Filled names what it carried a value under, sorted, by comma: parameters of the query
	// ("?page") and fields of a form or of JSON ("items[].id"). The values are not kept.
	Filled string `json:",omitempty"`
	// Unreached says that there was no answer because nothing could be reached.
	Unreached bool `json:",omitempty"`
}

// Names answers the names of Filled.
func (c Call) Names() []string {
	if c.Filled == "" {
		return nil
	}
	return strings.Split(c.Filled, ",")
}

// Changes reports whether a call is one that changes something, by its method.
func (c Call) Changes() bool {
	return c.Method != "GET" && c.Method != "HEAD" && c.Method != "OPTIONS"
}

// Same reports whether two effects are the same deed: the same calls that change something,
// with the same sort of answer, the same navigation and dialog. Calls that only read come
// and go with caches, so they need not agree.
func (e Effect) Same(o Effect) bool {
	if e.Navigated != o.Navigated || e.Dialog != o.Dialog {
		return false
	}
	a, b := e.deeds(), o.deeds()
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

// Outside reports whether an effect shows outside the page: a call that changes something, a
// navigation or a dialog.
func (e Effect) Outside() bool { return e.Navigated != "" || e.Dialog != "" || len(e.deeds()) > 0 }

// deeds answers the calls that change something.
func (e Effect) deeds() map[Call]bool {
	out := map[Call]bool{}
	for _, c := range e.Calls {
		if c.Changes() {
			out[Call{Method: c.Method, Path: c.Path, Status: c.Status / 100}] = true
		}
	}
	return out
}

// Lost answers a call that changes something which an effect had and another one has not,
// "" for none.
func (e Effect) Lost(now Effect) string {
	had, there := e.deeds(), now.deeds()
	for _, c := range e.Calls {
		d := Call{Method: c.Method, Path: c.Path, Status: c.Status / 100}
		if had[d] && !there[d] {
			return c.Method + " " + c.Path
		}
	}
	return ""
}
