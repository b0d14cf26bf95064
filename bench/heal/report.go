package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"tas-service/bench/bounds"
	"tas-service/internal/heal"
	"tas-service/internal/relocate"
)

// tally counts verdicts of one kind.
type tally struct {
	judged, healed, proposed, reported, wrong, wrongAfter, before, after int
	harmless, inapplicable, invalid, failed                              int
}

func (t *tally) add(v *verdict) {
	switch v.class {
	case "harmless":
		t.harmless++
		return
	case "inapplicable":
		t.inapplicable++
		return
	case "invalid":
		t.invalid++
		return
	case "failed":
		t.failed++
		return
	}
	one := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	t.judged++
	one(&t.healed, v.healed)
	one(&t.wrong, v.wrong)
	one(&t.wrongAfter, v.wrong && v.after)
	one(&t.before, v.before)
	one(&t.after, v.after)
	one(&t.proposed, v.outcome == relocate.Propose)
	one(&t.reported, v.outcome == relocate.Report)
}

func share(k, n int) string {
	low, high := bounds.Wilson(k, n)
	return fmt.Sprintf("%5.1f %% (%.1f–%.1f, %d of %d)", 100*float64(k)/float64(max(n, 1)), 100*low, 100*high, k, n)
}

func kindOf(v *verdict) string {
	switch {
	case !v.must:
		return "not"
	case len(v.ops) > 1:
		return "paired"
	}
	return "single"
}

// report prints what was found; its last line is one JSON object.
func report(all []verdict, took time.Duration) {
	kinds := map[string]*tally{"single": {}, "paired": {}, "not": {}}
	byOp, byApp := map[string]*tally{}, map[string]*tally{}
	var ops, apps []string
	var match []time.Duration
	for i := range all {
		v := &all[i]
		kinds[kindOf(v)].add(v)
		a := kindOf(v) + " " + v.app.name
		if byApp[a] == nil {
			byApp[a] = &tally{}
			apps = append(apps, a)
		}
		byApp[a].add(v)
		if v.match > 0 {
			match = append(match, v.match)
		}
		if len(v.ops) > 1 {
			continue
		}
		o := kindOf(v) + " " + v.ops[0].name
		if byOp[o] == nil {
			byOp[o] = &tally{}
			ops = append(ops, o)
		}
		byOp[o].add(v)
	}
	slices.Sort(ops)
	slices.Sort(apps)
	fmt.Printf("\n%-34s %6s %7s %9s %9s %6s %7s %6s | %8s %5s %8s %7s\n", "", "judged", "healed", "proposed", "reported", "wrong", "before", "after", "harmless", "n/a", "invalid", "errors")
	line := func(name string, t *tally) {
		fmt.Printf("%-34s %6d %7d %9d %9d %6d %7d %6d | %8d %5d %8d %7d\n", name, t.judged, t.healed, t.proposed, t.reported, t.wrong, t.before, t.after, t.harmless, t.inapplicable, t.invalid, t.failed)
	}
	for _, o := range ops {
		line(o, byOp[o])
	}
	fmt.Println()
	for _, a := range apps {
		line(a, byApp[a])
	}
	single, paired, not := kinds["single"], kinds["paired"], kinds["not"]
	fmt.Printf("\nmust be healed, one change:   healed %s\n", share(single.healed, single.judged))
	fmt.Printf("must be healed, two changes:  healed %s\n", share(paired.healed, paired.judged))
	fmt.Printf("wrong element:                before proof %s, after %s\n", share(single.wrong+paired.wrong, single.judged+paired.judged), share(single.wrongAfter+paired.wrongAfter, single.judged+paired.judged))
	fmt.Printf("must not be healed:           said to heal before proof %s\n", share(not.before, not.judged))
	fmt.Printf("                              false heals, after proof  %s\n", share(not.after, not.judged))
	f1 := triaged(all)
	had, kept := kills(all)
	slices.Sort(match)
	at := func(p float64) float64 {
		if len(match) == 0 {
			return 0
		}
		return float64(match[min(len(match)-1, int(p*float64(len(match))))].Microseconds()) / 1000
	}
	fmt.Printf("matching: median %.1f ms, 99 of 100 %.1f ms; all of it %.0f s\n", at(0.5), at(0.99), took.Seconds())
	of := func(k, n int) float64 { return math.Round(1e4*float64(k)/float64(max(n, 1))) / 1e4 }
	text, err := json.Marshal(map[string]any{
		"single": single.judged, "singleHealed": of(single.healed, single.judged), "paired": paired.judged, "pairedHealed": of(paired.healed, paired.judged),
		"proposed": of(single.proposed+paired.proposed, single.judged+paired.judged), "reported": of(single.reported+paired.reported, single.judged+paired.judged),
		"wrongElement": single.wrong + paired.wrong, "wrongElementAfterProof": single.wrongAfter + paired.wrongAfter,
		"not": not.judged, "falseHealsBeforeProof": not.before, "falseHeals": not.after, "matchP50Ms": at(0.5), "matchP99Ms": at(0.99), "triageF1": f1, "killsOfOld": had, "killsKept": kept, "seconds": math.Round(took.Seconds()),
	})
	if err != nil {
		fmt.Println("the figures cannot be written:", err)
		return
	}
	fmt.Println(string(text))
}

// triaged prints how well triage knew the failures of the mutants, by class, and answers F1.
func triaged(all []verdict) map[heal.Class]float64 {
	type counts struct{ hit, took, is int }
	by := map[heal.Class]*counts{}
	of := func(c heal.Class) *counts {
		if by[c] == nil {
			by[c] = &counts{}
		}
		return by[c]
	}
	mixed := map[string]int{}
	for i := range all {
		v := &all[i]
		if v.class != "judged" || v.took == "" || !v.must && strings.HasPrefix(v.ops[0].name, "renamed") { // these have two causes
			continue
		}
		of(v.is).is++
		of(v.took).took++
		if v.is == v.took {
			of(v.is).hit++
		} else {
			under := ""
			if !v.must {
				under = " under " + v.ops[0].name
			}
			mixed[fmt.Sprintf("%s taken for %s%s", v.is, v.took, under)]++
		}
	}
	out := map[heal.Class]float64{}
	fmt.Printf("\n%-18s %8s %8s %9s %7s %6s\n", "triage", "are", "taken", "precision", "recall", "F1")
	for _, c := range heal.Classes() {
		n := by[c]
		if n == nil {
			continue
		}
		precision, recall := float64(n.hit)/float64(max(1, n.took)), float64(n.hit)/float64(max(1, n.is))
		if n.is > 0 {
			out[c] = math.Round(2e3*float64(n.hit)/float64(n.took+n.is)) / 1e3
		}
		fmt.Printf("%-18s %8d %8d %9.3f %7.3f %6.3f\n", c, n.is, n.took, precision, recall, out[c])
	}
	for _, what := range slices.SortedFunc(maps.Keys(mixed), func(a, b string) int { return cmp.Or(mixed[b]-mixed[a], strings.Compare(a, b)) }) {
		fmt.Printf("  %d %s\n", mixed[what], what)
	}
	return out
}

// kills prints what healed tests notice of what the old ones noticed.
func kills(all []verdict) (had, kept int) {
	fmt.Printf("\n%-10s %8s %8s %8s\n", "sabotage", "tried", "old", "healed")
	for _, kind := range []string{"dead", "request", "words"} {
		tried, old, now := 0, 0, 0
		for i := range all {
			if v := &all[i]; v.class == "judged" && v.kind == kind {
				tried++
				if v.old {
					old++
					if v.now {
						now++
					}
				}
			}
		}
		had, kept = had+old, kept+now
		fmt.Printf("%-10s %8d %8d %8d\n", kind, tried, old, now)
	}
	left := 0
	for i := range all {
		if all[i].unbroken {
			left++
		}
	}
	fmt.Printf("kills of the old test that the healed one kept: %s; %d were not compared, since nothing of the sort could be broken\n", share(kept, had), left)
	return had, kept
}
