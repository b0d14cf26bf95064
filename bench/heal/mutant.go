package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tas-service/internal/evidence"
	"tas-service/internal/heal"
	"tas-service/internal/relocate"
)

// mutant is one change of an app under one flow whose test knows an element in one way.
type mutant struct {
	app   *app
	flow  *flow
	step  int
	style string // the locator of that step
	ops   []operator
	must  bool // be healed
	seed  int
}

func (m *mutant) String() string {
	names := make([]string, len(m.ops))
	for i, o := range m.ops {
		names[i] = o.name
	}
	return fmt.Sprintf("%s, %s, step %d %s %s: %s (seed %d)", m.app.name, m.flow.name, m.step, m.flow.steps[m.step].Verb, m.style, strings.Join(names, "+"), m.seed)
}

// verdict is what became of a mutant.
type verdict struct {
	mutant
	class   string // "harmless" (the test passes), "inapplicable", "invalid" (nothing could heal it), "judged"
	outcome relocate.Outcome
	healed  bool // proven, and the right elements
	wrong   bool // said to heal with another element
	before  bool // said to heal, before proof
	after   bool // and the proof let it through
	why     string
	match   time.Duration // of the slowest matching
	took    heal.Class    // what triage took the failure for
	is      heal.Class    // what it is
	// Of a further sabotage of a healed test: whether the old test, on the old application,
	// noticed the same, and whether the healed one does. kind is "" where there was none.
	kind     string
	old, now bool
	unbroken bool // there was nothing of the sort to break, or it could not be broken
}

// bench is what mutants are run with.
type bench struct {
	driver *driver
	model  *relocate.Model
	temp   string

	mu     sync.Mutex                // while flows are learned
	known  map[*flow][]evidence.Test // passing runs
	styles map[*flow]map[int][]string
	seen   map[noticing]bool
}

// learn runs a flow unchanged, twice, for evidence and to know in which other ways its elements
// can be found.
func (b *bench) learn(ctx context.Context, a *app, f *flow) error {
	asked := map[int][]string{}
	var known []evidence.Test
	var found map[int][]string
	for n := range 2 {
		o := order{Base: a.base, Setup: f.setup, Steps: f.steps, Trace: b.trace(f.app, "known")}
		if n == 1 {
			o.Styles = asked
		}
		r, err := b.driver.do(o)
		if err == nil && r.Failed >= 0 { // an app may be slow, and a flow between two of its pages
			r, err = b.driver.do(o)
		}
		if err != nil {
			return fmt.Errorf("%s, %s: %w", a.name, f.name, err)
		}
		if r.Failed >= 0 {
			return fmt.Errorf("%s, %s: step %d fails on the app as it is: %s", a.name, f.name, r.Failed, r.Error)
		}
		t, err := b.read(ctx, o.Trace, f.steps)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", a.name, f.name, err)
		}
		known = append(known, t)
		for i, s := range t.Steps {
			if n == 0 && f.steps[i].changeable() && s.Target != nil {
				asked[i] = styles(s.Target)
			}
		}
		found = r.Styles
	}
	if found == nil {
		found = map[int][]string{}
	}
	for i, s := range f.steps {
		if asked[i] != nil && !slices.Contains(found[i], s.Locator) {
			found[i] = append(found[i], s.Locator)
		}
	}
	// Steps that share a locator are all to be found by what stands in its place.
	for i := range f.steps {
		found[i] = slices.DeleteFunc(found[i], func(code string) bool {
			for j := range f.steps {
				if asked[j] != nil && f.steps[j].Locator == f.steps[i].Locator && !slices.Contains(found[j], code) {
					return true
				}
			}
			return false
		})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[f], b.styles[f] = known, found
	return nil
}

func (b *bench) trace(app, what string) string {
	f, err := os.CreateTemp(b.temp, app+"-"+what+"-*.zip")
	if err != nil {
		return filepath.Join(b.temp, "trace.zip")
	}
	_ = f.Close() // it is only a name
	return f.Name()
}

// read reads a trace and removes it. Its steps are those of the flow; as Playwright Test would
// it knows their locators and their places in the source.
func (b *bench) read(ctx context.Context, name string, steps []step) (evidence.Test, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return evidence.Test{}, err
	}
	defer os.Remove(name) //nolint:errcheck // its folder is removed in the end
	t, err := evidence.Read(ctx, bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return t, err
	}
	helper := []string{"evaluateExpression", "evaluateExpressionHandle", "waitForSelector", "querySelector", "queryCount", "querySelectorAll", "evalOnSelectorAll", "waitForFunction", "setNetworkInterceptionPatterns"}
	t.Steps = slices.DeleteFunc(t.Steps, func(s evidence.Step) bool { return slices.Contains(helper, s.Method) })
	if len(t.Steps) > len(steps) {
		return t, fmt.Errorf("the trace has %d steps, the flow %d", len(t.Steps), len(steps))
	}
	label(&t, steps)
	return t, nil
}

func label(t *evidence.Test, steps []step) {
	t.Steps = slices.Clone(t.Steps)
	for i := range t.Steps {
		t.Steps[i].Locator, t.Steps[i].Selector = steps[i].Locator, ""
		t.Steps[i].Stack = []evidence.Frame{{File: "flow.spec.ts", Line: i + 1, Column: 9}}
	}
}

// run carries a mutant through: failing run, healing in rounds, replay and sabotage.
func (b *bench) run(ctx context.Context, m mutant) (v verdict, err error) {
	v = verdict{mutant: m, outcome: relocate.Report}
	steps := slices.Clone(m.flow.steps)
	own := steps[m.step].Locator
	for i := range steps {
		if steps[i].Locator == own {
			steps[i].Locator = m.style
		}
	}
	var passing []evidence.Test
	for _, t := range b.known[m.flow] {
		label(&t, steps)
		passing = append(passing, t)
	}
	c := &change{Step: m.step, Seed: m.seed}
	for _, o := range m.ops {
		c.Ops, c.Page = append(c.Ops, o.name), c.Page || o.page
	}
	base := order{Base: m.app.base, Setup: m.flow.setup, Steps: steps, Change: c}
	failing := base
	failing.Patience = 1500
	failing.Trace = b.trace(m.app.name, "failed")
	r, err := b.driver.do(failing)
	if err != nil {
		return v, err
	}
	t, err := b.read(ctx, failing.Trace, steps)
	switch {
	case err != nil:
		return v, err
	case r.Failed >= 0 && r.Failed < m.step:
		return v, fmt.Errorf("step %d failed before anything was changed: %s", r.Failed, r.Error)
	case !r.Applied:
		v.class = "inapplicable"
		return v, nil
	case r.Failed < 0:
		v.class = "harmless"
		return v, nil
	case r.Failed >= len(t.Steps):
		return v, fmt.Errorf("%s: step %d failed, and the trace has %d: %s", &m, r.Failed, len(t.Steps), r.Error)
	}
	v.class = "judged"
	if err := b.heal(ctx, &v, base, r, t, passing); err != nil {
		return v, err
	}
	if !m.must && v.after { // a test that passes when it is run again is flaky, and not healed
		again := base
		again.Patience = 8000
		if r, err := b.driver.do(again); err != nil {
			return v, err
		} else if r.Failed < 0 {
			v.class = "harmless"
			return v, nil
		}
	}
	if m.must && !v.healed || !m.must && v.before && strings.HasPrefix(m.ops[0].name, "renamed") {
		ideal := base
		ideal.Oracle, ideal.Patience = true, 5000
		r, err := b.driver.do(ideal)
		if err != nil {
			return v, err
		}
		switch {
		case m.must && r.Failed >= 0 && !v.wrong:
			v.class, v.why = "invalid", r.Error
		case !m.must && r.Failed < 0:
			v.class = "harmless" // the test does not see the defect even with the right element
		case m.must && !v.before:
			again := base // perhaps the machine was only slow
			again.Patience = 8000
			if r, err := b.driver.do(again); err != nil {
				return v, err
			} else if r.Failed < 0 {
				v.class = "harmless"
			}
		}
	}
	return v, nil
}

// heal does what the product does: it proposes, replays with the same assertions, compares
// effects, and takes the healed element away.
func (b *bench) heal(ctx context.Context, v *verdict, base order, r result, t evidence.Test, passing []evidence.Test) error {
	healed := map[int]string{}
	first := -1
	right := map[int]string{}
	renamed := false
	for range 5 {
		t.Steps[r.Failed].Error = r.Error
		begin := time.Now()
		j := heal.Triage(b.model, heal.Case{Message: r.Error, Failed: t, Step: r.Failed, Passing: passing})
		v.match = max(v.match, time.Since(begin))
		if v.took == "" {
			v.took, v.is = j.Class, v.truth(r.Error)
		}
		v.outcome = relocate.Report
		if j.Proposal == nil {
			v.why = fmt.Sprintf("step %d: %s: %s", r.Failed, j.Class, j.Why)
			return nil
		}
		p := *j.Proposal
		v.outcome, v.why = p.Outcome, p.Why
		deed := p.ByDeed(relocate.DefaultLimits())
		if p.Outcome != relocate.Heal && !deed {
			v.why = fmt.Sprintf("step %d %q → %q: %s %s", r.Failed, p.Before, p.After, p.Why, shown(p))
			return nil
		}
		if renamed = renamed || deed; !deed {
			v.before = true
		}
		was := base.Steps[r.Failed].Locator
		now := p.Whole()
		if code, again := healed[r.Failed]; again {
			v.outcome, v.why = relocate.Report, "healed in vain to "+code
			return nil
		}
		if first < 0 {
			first = r.Failed
		}
		for i, s := range base.Steps {
			if s.Locator == was {
				healed[i] = now
			}
		}
		replay := base
		replay.Patience = 5000
		replay.Replace, replay.Trace = maps.Clone(healed), b.trace(v.app.name, "replay")
		var err error
		if r, err = b.driver.do(replay); err != nil {
			return err
		}
		steps := slices.Clone(base.Steps)
		for i, code := range healed {
			steps[i].Locator = code
		}
		if t, err = b.read(ctx, replay.Trace, steps); err != nil {
			return err
		}
		if r.Failed >= 0 && r.Failed < v.step {
			return fmt.Errorf("step %d failed before anything was changed: %s", r.Failed, r.Error)
		}
		maps.Copy(right, r.Right)
		for i, x := range r.Right {
			if x == "wrong" {
				v.wrong = true
				v.why = fmt.Sprintf("step %d: %s → %s is another element %s", i, was, healed[i], shown(p))
			}
		}
		if r.Failed < 0 {
			break
		}
		if r.Failed >= len(t.Steps) {
			return fmt.Errorf("%s: step %d failed, and the trace has %d", &v.mutant, r.Failed, len(t.Steps))
		}
		v.why = fmt.Sprintf("healed %s → %s, then step %d: %s", was, now, r.Failed, r.Error)
		if _, again := healed[r.Failed]; again {
			return nil
		}
	}
	if r.Failed >= 0 {
		return nil
	}
	for i := range healed {
		if !t.Steps[i].Effect.Same(passing[0].Steps[i].Effect) {
			v.why = fmt.Sprintf("step %d has another effect: %+v, was %+v", i, t.Steps[i].Effect, passing[0].Steps[i].Effect)
			return nil
		}
	}
	outside := t.Steps[first].Effect.Outside()
	base.Replace = healed
	noticed, err := b.notices(base, sabotage{first, "remove"})
	if err != nil {
		return err
	}
	if !noticed {
		v.why = "with the healed element gone the test passes"
		return nil
	}
	if renamed && !outside { // what it does has to show that it is the one
		kind, beyond := "", false
		switch verb := base.Steps[first].Verb; {
		case checking(verb):
			kind = "words"
		case verb == "click" || verb == "dblclick":
			kind = "dead"
		case (verb == "fill" || verb == "select") && heal.Carries(passing, t):
			kind, beyond = "dead", true
		default:
			v.outcome, v.why = relocate.Propose, "renamed, and a field that sends something else"
			return nil
		}
		if noticed, err = b.noticesAt(base, sabotage{first, kind}, beyond); err != nil {
			return err
		}
		if !noticed {
			v.outcome, v.why = relocate.Propose, "renamed, and the test does not notice when it does nothing"
			return nil
		}
	}
	v.outcome, v.before, v.after = relocate.Heal, true, true
	v.why = fmt.Sprintf("healed %v", healed)
	v.healed = !v.wrong
	for i, x := range right {
		if x != "right" && x != "gone" && !(x == "none" && base.Steps[i].Verb == "hidden") {
			v.healed = false
			v.why = fmt.Sprintf("step %d: %s finds %s", i, healed[i], x)
		}
	}
	if v.healed && v.must && v.seed%3 == 0 {
		return b.compare(v, base, first)
	}
	return nil
}

// truth answers what the failure of a mutant is.
func (m *mutant) truth(message string) heal.Class {
	switch {
	case !m.must:
		return cmp.Or(m.ops[0].class, heal.ApplicationBug)
	case strings.Contains(message, "strict mode violation"):
		return heal.Ambiguity
	}
	return heal.Drift
}

func shown(p heal.Proposal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "(P %.3f, margin %.2f)", p.Answer.P, p.Answer.Margin)
	for _, c := range p.Answer.Candidates[:min(2, len(p.Answer.Candidates))] {
		fmt.Fprintf(&b, " [%s %q %q %.3f %v]", c.Element.Path, c.Element.Name, c.Element.TestID, c.Share, c.Vetoes)
	}
	return b.String()
}

// mutants answers an endless, seeded order of mutants of one kind: each operator in its turn.
func (b *bench) mutants(apps []*app, ops []operator, must, paired bool, seed int) func() (mutant, bool) {
	random := rand.New(rand.NewSource(int64(seed))) //nolint:gosec // it need not be secret
	queues := make([][]mutant, len(ops))
	for n, o := range ops {
		byApp := make([][]mutant, len(apps))
		for k, a := range apps {
			for _, f := range a.flows {
				seen := map[string]bool{}
				for i, s := range f.steps {
					if !s.changeable() || seen[s.Locator] {
						continue
					}
					seen[s.Locator] = true
					for _, code := range b.styles[f][i] {
						if o.fits(s.Verb, code, b.known[f][0].Steps[i].Target) {
							m := mutant{app: a, flow: f, step: i, style: code, ops: []operator{o}, must: must, seed: random.Intn(1 << 30)}
							if paired {
								other := ops[random.Intn(len(ops))]
								if other.name == o.name || other.when != nil && !other.when(s.Verb, b.known[f][0].Steps[i].Target) {
									continue
								}
								m.ops = append(m.ops, other)
							}
							byApp[k] = append(byApp[k], m)
						}
					}
				}
			}
			random.Shuffle(len(byApp[k]), func(i, j int) { byApp[k][i], byApp[k][j] = byApp[k][j], byApp[k][i] })
		}
		for i := 0; len(byApp) > 0; i++ { // apps in turn
			left := false
			for _, q := range byApp {
				if i < len(q) {
					queues[n] = append(queues[n], q[i])
					left = true
				}
			}
			if !left {
				break
			}
		}
	}
	turn := 0
	return func() (mutant, bool) {
		for range queues {
			q := &queues[turn%len(queues)]
			turn++
			if len(*q) > 0 {
				m := (*q)[0]
				*q = (*q)[1:]
				return m, true
			}
		}
		return mutant{}, false
	}
}
