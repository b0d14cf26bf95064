package heal

import (
	"slices"

	"tas-service/internal/evidence"
)

// Carries reports whether a test sends values under all the names under which it sent some each
// time it passed: a value that was typed into another field arrives under another name, or under
// none. It is false where that is not known, because the passing runs were read before names were
// kept.
func Carries(passing []evidence.Test, now evidence.Test) bool {
	if len(passing) == 0 {
		return false
	}
	sends, sentBefore := sent(now), make([]map[evidence.Call]map[string]bool, len(passing))
	for i, t := range passing {
		sentBefore[i] = sent(t)
	}
	for call, names := range sentBefore[0] {
		has, still := sends[call]
		if !still && len(names) > 0 && slices.ContainsFunc(sentBefore, func(s map[evidence.Call]map[string]bool) bool { return s[call] == nil }) {
			continue // it is not sent each time
		}
		if !still && (len(names) > 0 || call.Changes()) {
			return false
		}
		if len(names) == 0 && len(has) > 0 && call.Changes() {
			return false
		}
		for name := range names {
			if !has[name] && !slices.ContainsFunc(sentBefore, func(s map[evidence.Call]map[string]bool) bool { return !s[call][name] }) {
				return false
			}
		}
	}
	return true
}

// sent answers what a test sends: the names under which each call carried a value, of all times
// that it was made.
func sent(t evidence.Test) map[evidence.Call]map[string]bool {
	out := map[evidence.Call]map[string]bool{}
	for i := range t.Steps {
		for _, c := range t.Steps[i].Effect.Calls {
			key := evidence.Call{Method: c.Method, Path: c.Path}
			if out[key] == nil {
				out[key] = map[string]bool{}
			}
			for _, name := range c.Names() {
				out[key][name] = true
			}
		}
	}
	return out
}
