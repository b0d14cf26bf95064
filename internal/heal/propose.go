// Package heal finds out why a test fails and what would repair it.
package heal

import (
	"regexp"
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
	Through int           // the last part, where several are written anew
	Before  string        // what is written there, as Playwright shows it
	After   string        // what could be; "" where nothing is proposed
	Outcome relocate.Outcome
	Answer  relocate.Answer
	Why     string // in words, of the outcome
	// Words says that what is checked is what changed, so that only a person can say whether it
	// is as right.
	Words bool
}

// Whole answers all of the locator with what is proposed in it.
func (p *Proposal) Whole() string {
	parts := Parts(p.Step.Locator)
	return codes(slices.Concat(parts[:p.Part], []Part{{Code: p.After}}, parts[max(p.Part, p.Through)+1:]))
}

// codes writes parts as one locator.
func codes(parts []Part) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Code)
	}
	return strings.Join(all, ".")
}

// ByDeed reports whether a proposal is as good as a heal once the step is seen to do what it
// did: all speaks for the element but that nothing names it any more as it did.
func (p *Proposal) ByDeed(l relocate.Limits) bool {
	a := &p.Answer
	return p.Outcome == relocate.Propose && !p.Words && a.Renamed && a.P >= l.Heal && a.Margin >= l.Margin && len(a.Candidates) > 0 && len(a.Candidates[0].Vetoes) == 0
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
		like := func(s *evidence.Step) bool { return same(s, exact) }
		turn := turnsOf(failed.Steps[:step], like)
		for _, t := range passing {
			if i := turnAt(t.Steps, turn, like); i >= 0 && t.Steps[i].Error == "" && t.Steps[i].Target != nil {
				return t.Steps[i], true
			}
		}
	}
	return evidence.Step{}, false
}

// turnsOf counts the steps that are like something.
func turnsOf(steps []evidence.Step, like func(*evidence.Step) bool) (n int) {
	for i := range steps {
		if like(&steps[i]) {
			n++
		}
	}
	return n
}

// turnAt answers which step is like something for so many times after the first; -1 for none.
func turnAt(steps []evidence.Step, turn int, like func(*evidence.Step) bool) int {
	for i := range steps {
		if !like(&steps[i]) {
			continue
		}
		if turn == 0 {
			return i
		}
		turn--
	}
	return -1
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
	old, now := newPage(was.Page, failed.TestIDs), newPage(p.Step.Page, failed.TestIDs)
	target, ok := old.byPath[was.Target.Path]
	if !ok {
		p.Why = "It is not known what the locator used to find."
		return p
	}
	b := broken(parts, now, &p.Step)
	if b.part < 0 {
		p.Why = b.why
		return p
	}
	p.Part, p.Before = b.part, parts[b.part].Code
	calm, calmNow := volatile(was, failed, step, passing)
	finder := relocate.NewFinder(model, relocate.Prepare(calm), relocate.Prepare(calmNow))
	p.Answer = finder.Find(target, relocate.Limits{})
	it := -1
	if len(p.Answer.Candidates) > 0 {
		it = p.Answer.Candidates[0].Index
	}
	if p.Answer.Outcome != relocate.Heal {
		// Where what is around it is known again, the rest of the locator may tell the element.
		if around, at := throughScope(finder, parts, b.part, old, now, target); at >= 0 {
			p.Answer, it = around, at
		}
	}
	p.Outcome, p.Why = p.Answer.Outcome, p.Answer.Why
	if p.Outcome == relocate.Report || it < 0 {
		return p
	}
	if b.among != nil && !slices.Contains(b.among, it) {
		p.Outcome, p.Why = relocate.Report, "The locator finds several elements, and the one that was meant is none of them."
		return p
	}
	echo := p.echoes(parts, &now.all[it])
	if !p.rewrite(now, parts, b, it, echo) && echo != nil && p.rewrite(now, parts, b, it, nil) {
		p.Outcome, p.Words = relocate.Propose, true
		p.Why = "Nothing names it but the words that are checked, so the check would find what it looks for or nothing: whether that is enough is for a person to say."
	}
	if p.After == "" {
		p.Outcome, p.Why = relocate.Report, "The element is there, and nothing names it that would find it alone and still name it tomorrow."
		return p
	}
	p.soften(parts, &now.all[it])
	return p
}

// throughScope finds again what the broken part of a locator used to find around its element,
// and in it by the rest of the locator the element; -1 where it is not as sure as a heal must be.
func throughScope(f *relocate.Finder, parts []Part, part int, old, now *page, target int) (relocate.Answer, int) {
	if part >= naming(parts, len(parts)-1) {
		return relocate.Answer{}, -1
	}
	next := part + 1
	for parts[next].narrows() {
		next++
	}
	was := old.find(parts[:next])
	scope := slices.IndexFunc(was.last(), func(s int) bool { return old.within(target, s) })
	if scope < 0 {
		return relocate.Answer{}, -1
	}
	a := f.Find(was.last()[scope], relocate.Limits{})
	if a.Outcome != relocate.Heal {
		return a, -1
	}
	set := []int{a.Candidates[0].Index}
	for i := next; i < len(parts); i++ {
		var known bool
		if set, known = now.step(&parts[i], set, false); !known {
			return a, -1
		}
	}
	if len(set) != 1 || now.all[set[0]].Disabled && !old.all[target].Disabled || now.all[set[0]].Hidden && !old.all[target].Hidden {
		return a, -1
	}
	return a, set[0]
}

// soften makes a heal a proposal where the words that a check looks for are themselves what it
// checks: whether other words are as good is for a person to say.
//
// It goes by the words of the locator and not by those of the page as it was: a check waits, so
// that page may be from before it held.
func (p *Proposal) soften(parts []Part, now *relocate.Element) {
	if p.Outcome == relocate.Report {
		return
	}
	if was, is := numbers(p.Before), numbers(p.After); len(was) > 0 && len(is) > 0 && !slices.Equal(was, is) {
		p.Outcome, p.Words = relocate.Propose, true
		p.Why = "There is another number now, which may be what is wrong: that is for a person to say."
		return
	}
	part := &parts[naming(parts, len(parts)-1)]
	if says := part.words(); says != "" && p.Step.Assertion() && !isField(now) && !said(now, says, part.exact) {
		p.Outcome, p.Words = relocate.Propose, true
		p.Why = "The check asks for “" + says + "”, and the page does not say that there any more: whether what it says is as right is for a person to say."
	}
}

// echoes answers which parts of a locator would go by the words that a check is there to look
// at: a check that finds its element by them cannot see them change. It is nil where the step
// does not check words, or its locator went by them before.
func (p *Proposal) echoes(parts []Part, now *relocate.Element) func(Part) bool {
	last := &parts[naming(parts, len(parts)-1)]
	if !strings.HasPrefix(p.Step.Matcher, "to.have.text") && !strings.HasPrefix(p.Step.Matcher, "to.contain.text") || last.words() != "" || isField(now) {
		return nil
	}
	return func(part Part) bool {
		says := part.words()
		return says != "" && locator.Fits(now.Text, says, false)
	}
}

// numbers answers the numbers in the words of a part.
func numbers(code string) []string {
	parts := Parts(code)
	if len(parts) == 0 {
		return nil
	}
	return number.FindAllString(parts[len(parts)-1].words(), -1)
}

var number = regexp.MustCompile(`\d+`)

// isField reports whether an element is a field or an output: its name is its label, and what
// is checked of it is its value.
func isField(e *relocate.Element) bool {
	return slices.Contains([]string{"input", "select", "textarea", "output", "meter", "progress"}, e.Tag)
}

// said reports whether an element says something to a reader, in whatever letter case.
func said(e *relocate.Element, what string, exact bool) bool {
	return slices.ContainsFunc([]string{e.Name, e.Text, e.Title, e.Alt, e.Hint}, func(s string) bool { return s != "" && locator.Fits(strings.ToLower(s), strings.ToLower(what), exact) })
}

// words answers the words by which a part finds an element.
func (part *Part) words() string {
	switch locator.Strategy(part.method) {
	case locator.ByRole:
		return part.name
	case locator.ByText, locator.ByTitle, locator.ByAltText:
		return part.text
	}
	return ""
}

// fracture is which part of a locator is broken, and how.
type fracture struct {
	part  int    // -1 where the locator is not what is broken
	parts []int  // those that may be written anew, in the order of trying
	among []int  // where it finds several elements: which
	why   string // where it is not broken
}

// broken follows a locator on the page on which it failed.
func broken(parts []Part, now *page, s *evidence.Step) fracture {
	none := fracture{part: -1, why: "Each part of the locator finds something on the page, so the locator is not what is broken."}
	f := now.find(parts)
	at := slices.IndexFunc(f.sets, func(set []int) bool { return len(set) == 0 })
	switch {
	case at < 0 && f.known && len(f.last()) > 1 && !strings.Contains(s.Error, "strict mode violation") && s.Target != nil:
		return none
	case at < 0 && f.known && len(f.last()) > 1:
		// It finds several: the part that names the element says too little.
		part := naming(parts, len(parts)-1)
		if part != len(parts)-1 {
			return none
		}
		return fracture{part: part, parts: []int{part}, among: f.last()}
	case at < 0 && f.known:
		return none
	case at < 0:
		if part := absent(parts, now); part >= 0 {
			at = part
			break
		}
		// What cannot be followed here found nothing either, where nothing was found at all.
		at = len(f.sets)
		if s.Target != nil || strings.Contains(s.Error, "resolved to") || parts[at].narrows() || absent(parts[at+1:], now) >= 0 {
			return none
		}
	}
	at = naming(parts, at)
	out := fracture{part: at, parts: []int{at}}
	for i := at - 1; i >= 0; i-- {
		if !parts[i].narrows() {
			out.parts = append(out.parts, i)
		}
	}
	// Where the part by itself finds the like elsewhere, what it is looked for in may be what
	// is broken.
	if own, known := now.own(&parts[at]); known && len(own) > 0 && len(out.parts) > 1 {
		out.parts = append(out.parts[1:], at)
	}
	return out
}

// naming answers the part that finds what a narrowing one narrows.
func naming(parts []Part, at int) int {
	for at > 0 && parts[at].narrows() {
		at--
	}
	return at
}

// absent answers the first part that finds nothing anywhere on the page, -1 for none.
func absent(parts []Part, now *page) int {
	for i := range parts {
		if parts[i].narrows() {
			continue
		}
		if own, known := now.own(&parts[i]); known && len(own) == 0 {
			return i
		}
	}
	return -1
}

// volatile answers the page of a passing step and that of the failed one without what differs
// from one passing run to the other, such as texts and identifiers: it weighs nothing, of an
// element and of what stands in its place.
func volatile(was evidence.Step, failed evidence.Test, step int, passing []evidence.Test) (old, now []relocate.Element) {
	old, now = slices.Clone(was.Page), slices.Clone(failed.Steps[step].Page)
	at := map[string]int{}
	for i := range now {
		at[now[i].Path] = i
	}
	for i := range passing {
		other, ok := Counterpart(failed, step, passing[i:i+1])
		if !ok || len(other.Page) != len(old) || &other.Page[0] == &was.Page[0] {
			continue
		}
		same := 0
		for k := range old {
			if old[k].Path == other.Page[k].Path {
				same++
			}
		}
		if same < len(old) {
			continue // it is another page, so what differs tells nothing
		}
		for k := range old {
			var there *relocate.Element
			if n, is := at[old[k].Path]; is && now[n].Tag == old[k].Tag {
				there = &now[n]
			}
			forget(&old[k], &other.Page[k], there)
		}
	}
	return old, now
}

// forget takes from an element what another passing run has otherwise, and the same from the
// element in its place on the page of now, if there is one.
func forget(e, other, now *relocate.Element) {
	texts := func(e *relocate.Element) []*string {
		return []*string{&e.Name, &e.Text, &e.OwnText, &e.ID, &e.TestID, &e.Class, &e.Href, &e.Title, &e.Value, &e.RowKey, &e.Form}
	}
	seen := texts(other)
	for i, s := range texts(e) {
		if *s == *seen[i] {
			continue
		}
		*s = ""
		if now != nil {
			*texts(now)[i] = ""
		}
	}
	if !slices.Equal(e.Near, other.Near) {
		e.Near = nil
	}
}
