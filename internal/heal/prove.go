package heal

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/evidence"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Proof is what was seen of a repair.
type Proof struct {
	Passed bool   `json:"passed"` // the repaired tests, each time, with the same steps, assertions and effect
	Why    string `json:"why,omitempty"`
	Runs   int    `json:"runs"` // how often each repaired test was executed
	Ran    int    `json:"ran"`  // how many executions there were in all
	Good   int    `json:"good"` // of these, how many passed
	// Checks are what was compared with the run in which the test was last seen to pass.
	Checks       []Check    `json:"checks"`
	Shared       int        `json:"shared"` // other tests that were executed
	SharedFailed []string   `json:"sharedFailed,omitempty"`
	Sabotage     []Sabotage `json:"sabotage,omitempty"`
	Note         string     `json:"note,omitempty"` // what could not be tried, in words
}

// Check is one thing that was compared.
type Check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Note string `json:"note,omitempty"`
	// Outside says that the effect shows outside the page: a request that changes something, a
	// navigation or a dialog.
	Outside bool `json:"outside,omitempty"`
	// Carried says that the test sends values under the same names as before; see Carries.
	Carried bool `json:"carried,omitempty"`
}

// judge compares the repaired tests with how they were when they passed.
func (s *Service) judge(ctx context.Context, x *agent.Step, st *state, r, t run.Run, results []run.Result) (*Proof, error) {
	p := &Proof{Runs: proofRuns}
	fail := func(format string, args ...any) {
		if p.Why == "" {
			p.Why = fmt.Sprintf(format, args...)
		}
	}
	for i := range st.Findings {
		f := &st.Findings[i]
		if !f.Repaired() {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(results), func(o run.Result) bool { return o.TestID != f.TestID || o.Browser != f.Browser })
		good := 0
		for _, o := range mine {
			if o.Status == run.StatusPassed {
				good++
			} else if o.Error != nil {
				fail("%s still fails: %s", f.Title, firstLine(o.Error.Message))
			}
		}
		p.Ran, p.Good = p.Ran+len(mine), p.Good+good
		if good < proofRuns || good < len(mine) {
			fail("%s passed %d times of %d.", f.Title, good, max(proofRuns, len(mine)))
			continue
		}
		checks, err := s.compare(ctx, r, t, *f, mine[0])
		if err != nil {
			return nil, err
		}
		f.EffectSeen = slices.ContainsFunc(checks, func(c Check) bool { return c.What == "effect" && c.OK && c.Outside })
		f.Carried = slices.ContainsFunc(checks, func(c Check) bool { return c.What == "effect" && c.Carried })
		for _, c := range checks {
			if !c.OK {
				fail("%s: %s", f.Title, c.Note)
			}
		}
		p.Checks = append(p.Checks, checks...)
	}
	if p.Ran == 0 {
		fail("none of the repaired tests was executed.")
	}
	p.Passed = p.Why == ""
	verdict := "They passed each time, with the same steps, assertions and effect as when they were last green."
	if !p.Passed {
		verdict = p.Why
	}
	x.NoteRun(t.ID, agent.Ran, "%d of %d executions of the repaired tests passed. %s", p.Good, p.Ran, verdict)
	return p, nil
}

// compare holds each repetition of a repaired test against the newest passing run.
func (s *Service) compare(ctx context.Context, r, t run.Run, f Finding, res run.Result) ([]Check, error) {
	_, passing, err := s.Shelf.Of(ctx, r.ProjectID, f.TestID, f.Browser, evidence.Environment(r))
	if err != nil {
		return nil, err
	}
	now, err := s.tracesOf(ctx, t.ID, res)
	if err != nil {
		return nil, err
	}
	if len(now) < proofRuns || len(passing) == 0 {
		return []Check{{What: "traces", Note: fmt.Sprintf("only %d of %d executions left a trace, so that what they did is not known.", len(now), proofRuns)}}, nil
	}
	var out []Check
	for _, n := range now {
		if f.Written {
			out = merge(out, CompareWritten(passing, n))
			continue
		}
		out = merge(out, Compare(passing, n, f))
	}
	return out, nil
}

// merge joins the checks of several repetitions: what fails once fails.
func merge(all, more []Check) []Check {
	if all == nil {
		return more
	}
	for i := range min(len(all), len(more)) {
		carried := all[i].Carried && more[i].Carried
		if all[i].OK && !more[i].OK {
			all[i] = more[i]
		}
		all[i].Carried = carried
	}
	return all
}

// Compare holds what a repaired test does against runs in which it passed before, the newest
// first: as many steps, the same assertions, and of the repaired step the same effect.
func Compare(passing []evidence.Test, now evidence.Test, f Finding) []Check {
	was := passing[0]
	steps := Check{What: "steps", OK: true}
	// The fewest of all passing runs: how often a test polls is not always the same.
	fewest := actions(was)
	for _, p := range passing {
		fewest = min(fewest, actions(p))
	}
	if n := actions(now); n < fewest {
		steps.OK, steps.Note = false, fmt.Sprintf("it did %d steps, and at least %d when it was last green.", n, fewest)
	} else {
		steps.Note = fmt.Sprintf("%d steps, as when it was last green", n)
	}
	asserts := Check{What: "assertions", OK: true}
	there := assertions(now)
	reached := 0
	for what, n := range assertions(was) {
		reached += n
		// A run that polls reaches an assertion more often.
		if there[what] == 0 {
			asserts.OK, asserts.Note = false, "it did not reach the assertion "+what+"."
		}
	}
	if asserts.OK {
		asserts.Note = fmt.Sprintf("all %d assertions were reached", reached)
	}
	effect := Check{What: "effect", OK: true, Note: "the repaired step has the same effect", Carried: Carries(passing, now)}
	if step, ok := stepOf(now, f); !ok {
		effect.OK, effect.Note = false, "the repaired step was not reached."
	} else if old, known := counterpartOf(passing, f); known && !now.Steps[step].Assertion() {
		before, after := old.Effect, now.Steps[step].Effect
		if !before.Same(after) {
			effect.OK, effect.Note = false, fmt.Sprintf("the repaired step does something else: %s before, %s now.", effectWords(before), effectWords(after))
		} else if after.Uncaught > before.Uncaught {
			effect.OK, effect.Note = false, "the repaired step makes the page throw an error that nothing catches."
		} else if after.Outside() {
			effect.Note, effect.Outside = effect.Note+": "+effectWords(after), true
		}
	}
	return []Check{steps, asserts, effect}
}

func effectWords(e evidence.Effect) string {
	var out []string
	for _, c := range e.Calls {
		if c.Changes() {
			out = append(out, fmt.Sprintf("%s %s → %d", c.Method, c.Path, c.Status))
		}
	}
	if e.Navigated != "" {
		out = append(out, "goes to "+e.Navigated)
	}
	if e.Dialog != "" {
		out = append(out, "opens a dialog ("+e.Dialog+")")
	}
	if len(out) == 0 {
		return "nothing that shows outside the page"
	}
	return strings.Join(out, ", ")
}

func actions(t evidence.Test) (n int) {
	for i := range t.Steps {
		if !t.Steps[i].Assertion() {
			n++
		}
	}
	return n
}

// assertions counts what a test asserts, however the element is named.
func assertions(t evidence.Test) map[string]int {
	out := map[string]int{}
	for i := range t.Steps {
		if x := &t.Steps[i]; x.Assertion() {
			not := ""
			if x.Negative {
				not = "not "
			}
			out[strings.TrimSpace(fmt.Sprintf("%s%s %s in %s", not, x.Matcher, quoted(x.Expected), x.At().File))]++
		}
	}
	return out
}

// stepOf answers the repaired step of a trace: of the same method at the same line, at the
// same turn.
func stepOf(t evidence.Test, f Finding) (int, bool) {
	if f.Step == nil {
		return 0, false
	}
	turn, last := 0, -1
	for i := range t.Steps {
		at := t.Steps[i].At()
		if at.File != f.Step.File || at.Line != f.Step.Line || t.Steps[i].Method != f.Step.Method || t.Steps[i].Error != "" {
			continue
		}
		if turn == f.Step.Turn {
			return i, true
		}
		turn, last = turn+1, i
	}
	return max(0, last), last >= 0
}

// StepOf answers which step of a test's trace is the one that a finding is about, as long as
// it went well there.
func StepOf(t evidence.Test, f Finding) (int, bool) { return stepOf(t, f) }

// counterpartOf answers the step of a passing run that stands where the repaired one does.
func counterpartOf(passing []evidence.Test, f Finding) (evidence.Step, bool) {
	like := func(x *evidence.Step) bool {
		return x.Method == f.Step.Method && x.Locator == f.Step.Locator && x.At().File == f.Step.File && x.At().Function == f.Step.Function && x.Error == ""
	}
	for _, t := range passing {
		if i := turnAt(t.Steps, f.Step.Turn, like); i >= 0 {
			return t.Steps[i], true
		}
	}
	return evidence.Step{}, false
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return clip(s, maxShown)
}

// maxLinesShared is of how many lines of a change the tests are looked for that come by them.
const maxLinesShared = 40

// sharing answers tests beside the repaired ones that use what was changed: all of the
// session, those of the same file, and those that were seen to come by the same lines.
func (s *Service) sharing(ctx context.Context, x *agent.Step, st *state, r run.Run) ([]string, error) {
	done := st.repaired()
	var out []string
	add := func(ids ...string) {
		for _, id := range ids {
			if !slices.Contains(done, id) && !slices.Contains(out, id) && len(out) < maxShared {
				out = append(out, id)
			}
		}
	}
	add(x.TestIDs...)
	changed := map[string]bool{}
	for _, d := range st.Made {
		changed[d.File] = true
		for line := range min(maxLinesShared, 3+strings.Count(d.Before, "\n")) { // a call may be written over several lines
			ids, err := s.Shelf.Records.TestsAt(ctx, r.ProjectID, fmt.Sprintf("%s:%d", d.File, d.Line+line), maxShared)
			if err != nil {
				return nil, err
			}
			add(ids...)
		}
	}
	if st.writing() {
		b, err := s.benchOf(ctx, r)
		if err != nil {
			return nil, err
		}
		files, err := b.importing(ctx, slices.Sorted(maps.Keys(changed)))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			changed[file] = true
		}
	}
	if len(changed) > 0 {
		for o, err := range run.AllResults(ctx, s.Records, run.ResultQuery{RunID: r.ID}) {
			if err != nil {
				return nil, err
			}
			if o.Status.Failing() && !slices.Contains(x.TestIDs, o.TestID) {
				st.Others = append(st.Others, o.TestID)
			}
			if changed[o.File] && !o.Setup {
				add(o.TestID)
			}
		}
	}
	known, err := s.Runs.Store.UnknownTests(ctx, r.ProjectID, out)
	return slices.DeleteFunc(out, func(id string) bool { return slices.Contains(known, id) }), err
}

// newlyFailed answers tests beside the session's own that fail with the repair and did not
// fail before.
func (st *state) newlyFailed(results []run.Result) (out []string) {
	for _, o := range results {
		if o.Status.Failing() && !o.Companion && !st.fellBefore(o) && !slices.Contains(out, o.TestID) {
			out = append(out, o.TestID)
		}
	}
	return out
}

// fellBefore reports whether a result failed in the run that is healed.
func (st *state) fellBefore(o run.Result) bool {
	return slices.Contains(st.Others, o.TestID) || slices.ContainsFunc(st.Failures, func(f failure) bool { return f.TestID == o.TestID && f.Browser == o.Browser })
}

// judgeShared notes which other tests fail with the repair, twice, that did not fail before,
// and which of the session's own it heals as well.
func (s *Service) judgeShared(x *agent.Step, st *state, t run.Run, results, once []run.Result) {
	if t.Phase == run.ProcessError {
		st.Proof.SharedFailed = append(st.Proof.SharedFailed, "they could not be executed: "+reasonOf(t))
	}
	for _, o := range results {
		if o.Companion {
			continue
		}
		st.Proof.Shared++
		if i := slices.IndexFunc(once, func(n run.Result) bool { return n.PlaywrightID == o.PlaywrightID }); i >= 0 {
			o = once[i]
		}
		switch {
		case o.Status == run.StatusPassed && st.fellBefore(o):
			st.Passed = append(st.Passed, o.TestID)
		case o.Status.Failing() && !st.fellBefore(o):
			st.Proof.SharedFailed = append(st.Proof.SharedFailed, nameOf(o))
		}
	}
	x.NoteRun(t.ID, agent.Ran, "%d other tests were executed with the repair: %d of them fail that did not before.", st.Proof.Shared, len(st.Proof.SharedFailed))
}

// CheckPatch says what is wrong with a patch that was made where the tests' own code runs: it
// has to be the edits that were ordered and nothing else. nil when nothing is.
func CheckPatch(e attempt.Edited, ordered []attempt.Edit, dir string) error {
	removed, added, file := []string{}, []string{}, ""
	bad := fault.New(fault.Conflict, "The change that came back is another one than was ordered, so it is not used.")
	for _, line := range strings.Split(e.Patch, "\n") {
		switch {
		case strings.HasPrefix(line, "+++ "):
			file = strings.TrimPrefix(strings.TrimPrefix(line, "+++ "), "b/")
			if !slices.ContainsFunc(e.Edits, func(d attempt.EditDone) bool { return file == path.Join(dir, d.File) && source.MatchString(d.File) }) {
				return bad
			}
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "), strings.HasPrefix(line, "@@"), strings.HasPrefix(line, " "), strings.HasPrefix(line, `\`), line == "":
		case strings.HasPrefix(line, "-"):
			removed = append(removed, line[1:])
		case strings.HasPrefix(line, "+"):
			added = append(added, line[1:])
		default: // a new mode, a rename, a binary
			return bad
		}
	}
	if len(e.Edits) != len(ordered) {
		return bad
	}
	// The lines with the ordered words in place of the old ones are the lines that came.
	before, after := strings.Join(removed, "\n"), strings.Join(added, "\n")
	for i, d := range e.Edits {
		if slices.Contains(e.Edits[:i], d) {
			continue // ordered by two tests that share it, and made once
		}
		if after := bareText(d.After); after == "" || !strings.Contains(bareText(ordered[i].Replacement), after) {
			return bad
		}
		if d.Before == "" || !strings.Contains(before, d.Before) || !strings.Contains(after, d.After) {
			return bad
		}
		before, after = strings.Replace(before, d.Before, "", 1), strings.Replace(after, d.After, "", 1)
	}
	if before != after {
		return bad
	}
	return nil
}

// source is a file in which a locator can be written: no dot begins any part of its path.
var source = regexp.MustCompile(`^(?:[^./][^/]*/)*[^./][^/]*\.[cm]?[jt]sx?$`)

// bareText answers a text of source without its quotes and their escapes.
func bareText(s string) string {
	return strings.NewReplacer("\\", "", "'", "", `"`, "", "`", "").Replace(s)
}

// changesOf counts the lines that a patch changes, by file.
func changesOf(patch string) (out []agent.FileChange) {
	for _, line := range strings.Split(patch, "\n") {
		switch {
		case strings.HasPrefix(line, "+++ "):
			out = append(out, agent.FileChange{Path: strings.TrimPrefix(strings.TrimPrefix(line, "+++ "), "b/")})
		case len(out) == 0:
		case strings.HasPrefix(line, "+"):
			out[len(out)-1].Additions++
		case strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "--- "):
			out[len(out)-1].Deletions++
		}
	}
	return out
}
