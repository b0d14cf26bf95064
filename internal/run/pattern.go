package run

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"modernc.org/quickjs"

	"tas-service/internal/fault"
)

// maxPattern bounds a pattern's length: 5,000 test IDs joined with | fit.
const maxPattern = 256 << 10

// PatternChecker says whether a grep pattern is a JavaScript regular expression.
type PatternChecker interface {
	CheckPattern(pattern string) error
}

// JavaScript checks patterns with a real JavaScript engine, so that what is refused here
// is what Playwright would refuse. Nothing is matched here: matching happens beside the
// tests, under a time limit. Safe for concurrent use.
type JavaScript struct{ mu sync.Mutex }

// CheckPattern answers fault.Invalid for a pattern that is empty, too long or no regular
// expression. Like Playwright's --grep, /source/flags is taken apart.
func (j *JavaScript) CheckPattern(pattern string) error {
	invalid := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "The pattern in grep cannot be used.").
			WithFix("Give a JavaScript regular expression, or plain text that is a part of the test's name.").
			At("body.grep", format, args...)
	}
	switch {
	case strings.TrimSpace(pattern) == "":
		return invalid("it is empty: to run everything, start the whole suite")
	case len(pattern) > maxPattern:
		return invalid("it has %d bytes, more than %d", len(pattern), maxPattern)
	}
	source, err := json.Marshal(pattern)
	if err != nil {
		return invalid("it is not text")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	vm, err := quickjs.NewVM()
	if err != nil {
		return fault.Wrap(err, fault.Internal, "start the JavaScript engine")
	}
	defer vm.Close() //nolint:errcheck // nothing to do about it
	vm.SetEvalTimeout(time.Second)
	answer, err := vm.Eval(`(p => { try {
		const m = p.match(/^\/(.*)\/([gi]*)$/);
		m ? new RegExp(m[1], m[2]) : new RegExp(p, 'gi'); return '';
	} catch (e) { return String(e.message) || 'invalid' } })(`+string(source)+`)`, quickjs.EvalGlobal)
	if err != nil {
		return invalid("it cannot be read: %v", err)
	}
	if problem, _ := answer.(string); problem != "" {
		return invalid("it is no valid regular expression: %s", problem)
	}
	return nil
}
