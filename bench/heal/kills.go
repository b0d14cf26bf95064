package main

import "fmt"

// noticing is a question: whether a flow, as it is, notices a sabotage.
type noticing struct {
	flow *flow
	sabotage
}

// notices reports whether a test fails under a sabotage.
func (b *bench) notices(o order, s sabotage) (bool, error) { return b.noticesAt(o, s, false) }

// noticesAt is notices; with beyond only a failure counts of a step that looks at another element.
func (b *bench) noticesAt(o order, s sabotage, beyond bool) (bool, error) {
	o.Sabotage, o.Patience = &s, 1500
	r, err := b.driver.do(o)
	if err == nil && !r.Sabotaged && r.Failed < 0 {
		err = fmt.Errorf("there was nothing to break at step %d", s.Step)
	}
	if err != nil || r.Failed < 0 {
		return false, err
	}
	return !beyond || o.at(r.Failed) != o.at(s.Step) && o.Steps[r.Failed].Verb != "value", nil
}

// at answers the locator of a step.
func (o order) at(step int) string {
	if now, healed := o.Replace[step]; healed {
		return now
	}
	return o.Steps[step].Locator
}

// compare breaks the application further under a healed test, as under the old one before
// anything had changed: what the old one noticed the healed one has to notice.
func (b *bench) compare(v *verdict, base order, step int) (err error) {
	kinds := []string{"dead", "request"}
	switch verb := base.Steps[step].Verb; {
	case verb == "text" || verb == "contains":
		kinds = []string{"words"}
	case checking(verb) || verb == "value" || verb == "checked":
		return nil
	}
	s := sabotage{step, kinds[v.seed/3%len(kinds)]}
	b.mu.Lock()
	old, known := b.seen[noticing{v.flow, s}]
	b.mu.Unlock()
	if !known {
		if old, err = b.notices(order{Base: base.Base, Setup: base.Setup, Steps: v.flow.steps}, s); err != nil {
			v.unbroken = true
			return nil //nolint:nilerr // this step has nothing of the sort to break, so nothing is compared
		}
		b.mu.Lock()
		b.seen[noticing{v.flow, s}] = old
		b.mu.Unlock()
	}
	now, err := b.notices(base, s)
	if err != nil {
		v.unbroken = true
		return nil //nolint:nilerr // the same
	}
	v.kind, v.old, v.now = s.Kind, old, now
	return nil
}
