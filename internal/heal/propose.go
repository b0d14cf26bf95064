// Package heal finds out why a test fails and what would repair it.
package heal

import (
	"slices"
	"strings"

	"tas-service/internal/evidence"
	"tas-service/internal/locator"
	"tas-service/internal/relocate"
)

// Proposal is what could stand in place of the part of a locator that finds nothing any more.
type Proposal struct {
	Step    evidence.Step // that failed
	Was     evidence.Step // the same step when it was last seen to pass
	Part    int           // of the locator, from 0
	Before  string        // what is written there, as Playwright shows it
	After   string        // what could be; "" where nothing is proposed
	Outcome relocate.Outcome
	Answer  relocate.Answer
	Why     string // in words, of the outcome
}

// Counterpart answers the step of a passing run that is the same as one that failed: of the
// same method and locator, at the same place of the source if it is there, else in the same
// function. Of several at one place it is the one that comes at the same turn.
func Counterpart(failed evidence.Test, step int, passing []evidence.Test) (evidence.Step, bool) {
	f := failed.Steps[step]
	same := func(s *evidence.Step, exact bool) bool {
		a, b := f.At(), s.At()
		return s.Method == f.Method && s.Locator == f.Locator && s.Selector == f.Selector && a.File == b.File && a.Function == b.Function && (!exact || a.Line == b.Line && a.Column == b.Column)
	}
	for _, exact := range []bool{true, false} {
		turn := 0
		for i := range failed.Steps[:step] {
			if same(&failed.Steps[i], exact) {
				turn++
			}
		}
		for _, t := range passing {
			n := 0
			for i := range t.Steps {
				s := &t.Steps[i]
				if !same(s, exact) {
					continue
				}
				if n == turn && s.Error == "" && s.Target != nil {
					return *s, true
				}
				n++
			}
		}
	}
	return evidence.Step{}, false
}

// Propose looks for what the broken part of a failed step's locator used to find, and writes
// a locator for it. It proposes nothing where the element is not on the page any more, where
// another one is as likely, or where the step failed for another reason than its locator.
func Propose(model *relocate.Model, failed evidence.Test, step int, passing []evidence.Test) Proposal {
	p := Proposal{Step: failed.Steps[step], Outcome: relocate.Report, Part: -1}
	parts := Parts(p.Step.Locator)
	if len(parts) == 0 {
		p.Why = "The trace does not tell the step's locator."
		return p
	}
	was, ok := Counterpart(failed, step, passing)
	if !ok {
		p.Why = "No passing run is known in which this step was done to an element."
		return p
	}
	p.Was = was
	now := p.Step.Page
	p.Part = broken(parts, now)
	if p.Part < 0 {
		p.Why = "Each part of the locator finds something on the page, so the locator is not what is broken."
		return p
	}
	p.Before = parts[p.Part].Code
	target := meant(parts, p.Part, was)
	if target < 0 {
		p.Why = "It is not known what this part of the locator used to find."
		return p
	}
	p.Answer = relocate.NewFinder(model, relocate.Prepare(was.Page), relocate.Prepare(now)).Find(target, relocate.Limits{})
	p.Outcome, p.Why = p.Answer.Outcome, p.Answer.Why
	if p.Outcome == relocate.Report || len(p.Answer.Candidates) == 0 {
		return p
	}
	found := p.Answer.Candidates[0].Element
	all := locator.For(found, within(parts, p.Part, found, now), locator.StrategyOf(p.Before))
	if len(all) == 0 {
		p.Outcome, p.Why = relocate.Report, "The element is there, and nothing names it that would find it alone and still name it tomorrow."
		return p
	}
	p.After = all[0].Code
	return p
}

// broken answers the first part that finds nothing on a page, -1 where each finds something
// or it is not known.
func broken(parts []Part, page []relocate.Element) int {
	for i, p := range parts {
		none, known := true, false
		for j := range page {
			found, k := p.finds(&page[j])
			known = known || k
			none = none && !found
		}
		if known && none {
			return i
		}
	}
	return -1
}

// meant answers which element of the page as it was a part of the locator found: the last
// part the target itself, an earlier one the nearest of the elements around it.
func meant(parts []Part, part int, was evidence.Step) int {
	at := slices.IndexFunc(was.Page, func(e relocate.Element) bool { return e.Path == was.Target.Path })
	if at < 0 {
		return -1
	}
	if found, known := parts[part].finds(&was.Page[at]); known && found {
		return at
	}
	best := -1
	for i := range was.Page {
		e := &was.Page[i]
		if found, known := parts[part].finds(e); known && found && strings.HasPrefix(was.Target.Path, e.Path+"/") && (best < 0 || len(e.Path) > len(was.Page[best].Path)) {
			best = i
		}
	}
	return best
}

// within answers the elements among which a part chooses: those below what the part before
// it finds around the element, or all of the page.
func within(parts []Part, part int, found *relocate.Element, page []relocate.Element) []relocate.Element {
	for before := part - 1; before >= 0; before-- {
		scope := ""
		for i := range page {
			if ok, known := parts[before].finds(&page[i]); ok && known && strings.HasPrefix(found.Path, page[i].Path+"/") && len(page[i].Path) > len(scope) {
				scope = page[i].Path
			}
		}
		if scope == "" {
			continue
		}
		var out []relocate.Element
		for _, e := range page {
			if strings.HasPrefix(e.Path, scope+"/") {
				out = append(out, e)
			}
		}
		return out
	}
	return page
}
