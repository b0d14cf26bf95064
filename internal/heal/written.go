package heal

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/checkout"
	"tas-service/internal/evidence"
	"tas-service/internal/fault"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
)

// How what a model wrote is run and proved: as every repair, with what is different because no
// one locator is known that was replaced.

// named answers what a trial of a proof is called: each proof of a model's work has its own.
func (st *state) named(what string) string {
	if st.Lap == 0 {
		return what
	}
	return fmt.Sprintf("%s (%d)", what, st.Lap+1)
}

// runWritten has the failing tests executed with what the model wrote so far.
func (s *Service) runWritten(ctx context.Context, x *agent.Step, st *state, r run.Run, b bench) (done toolDone, ready bool, err error) {
	w := st.Work
	if w.Trial == "" {
		switch {
		case w.Runs == maxWorkRuns:
			return refusal("The tests were executed %d times, which is all: finish, or give up.", maxWorkRuns), true, nil
		case len(w.Rewrites) == 0:
			return refusal("Nothing is edited yet: they would fail as before."), true, nil
		}
		w.Runs++
		what := fmt.Sprintf("work-%d", w.Runs)
		if err := s.try(ctx, x, st, r, what, st.wanted(), attempt.Trial{Rewrites: w.Rewrites, Trace: true}); err != nil {
			return done, false, err
		}
		w.Trial = what
		x.NoteRun(st.Trials[what], agent.Ran, "The tests are executed with what the model wrote.")
		x.Wait(lookEvery)
		return done, false, nil
	}
	t, results, over, err := s.awaited(ctx, x, st, w.Trial)
	if err != nil || !over {
		return done, false, err
	}
	what := w.Trial
	w.Trial = ""
	if t.Edited != nil {
		why, err := s.refusedRewrites(ctx, b, *t.Edited, w.Rewrites)
		if err != nil {
			return done, false, err
		}
		if why != "" {
			x.NoteRun(t.ID, agent.Decided, "%s", why)
			var all strings.Builder
			for i, o := range t.Edited.Offences {
				if i < maxLists*maxLists {
					fmt.Fprintf(&all, "- %s: %s (%s:%d)\n", o.Rule, o.Message, o.File, o.Line)
				}
			}
			return refusal("Nothing was executed. %s\n%s", b.hidden(why), b.hidden(all.String())), true, nil
		}
	}
	if t.Phase == run.ProcessError || t.Edited == nil {
		return refusal("The tests could not be executed: %s", b.hidden(reasonOf(t))), true, nil
	}
	w.Last = what
	var out strings.Builder
	for _, i := range st.targets() {
		f := st.Findings[i]
		at := slices.IndexFunc(results, func(o run.Result) bool { return o.TestID == f.TestID && o.Browser == f.Browser })
		switch {
		case at < 0:
			fmt.Fprintf(&out, "%s [%s]: it was not executed\n", f.Title, f.Browser)
		case results[at].Error == nil:
			fmt.Fprintf(&out, "%s [%s]: %s\n", f.Title, f.Browser, results[at].Status)
		default:
			e := results[at].Error
			where := ""
			if e.Location != nil {
				where = fmt.Sprintf(" at %s:%d", e.Location.File, e.Location.Line)
			}
			fmt.Fprintf(&out, "%s [%s]: %s%s: %s\n", f.Title, f.Browser, results[at].Status, where, clip(e.Message, maxMessage))
		}
	}
	said := strings.TrimSpace(out.String())
	x.NoteRun(t.ID, agent.Ran, "With what the model wrote: %s", clean(said, maxMessage))
	return toolDone{Text: b.hidden(said)}, true, nil
}

// wanted answers the tests on which the model works.
func (st *state) wanted() (out []string) {
	for _, i := range st.targets() {
		if id := st.Findings[i].TestID; !slices.Contains(out, id) && len(out) < maxReproduced {
			out = append(out, id)
		}
	}
	return out
}

// finish has what the model wrote proved. Its call is answered when the proof fails.
func (s *Service) finish(ctx context.Context, x *agent.Step, st *state, r run.Run, a arguments) (done toolDone, ready bool, err error) {
	w := st.Work
	switch {
	case len(w.Rewrites) == 0:
		return refusal("Nothing is edited yet, so there is nothing to prove. Where no change helps, give up."), true, nil
	case w.Finishes == maxFinishes:
		return refusal("It was proved %d times, which is all: give up.", maxFinishes), true, nil
	}
	w.Finishes++
	w.Proving = true
	st.Lap++
	st.ProseAsked, st.Prose = true, ""
	if said := saidBy(a.Summary); plain(said) {
		st.Prose = said
	}
	for _, i := range st.targets() {
		st.Findings[i].Written, st.Findings[i].Outcome = true, relocate.Propose
	}
	x.Note(agent.Decided, "The model says that it is done: “%s” Its repair is proved.", saidBy(a.Summary))
	return done, false, s.prove(ctx, x, st, r)
}

// refusedRewrites answers why what a model wrote is not used, "" where it may be.
func (s *Service) refusedRewrites(ctx context.Context, b bench, e attempt.Edited, ordered []attempt.Rewrite) (string, error) {
	if why := unwritten(e); why != "" {
		return why, nil
	}
	base := map[string]string{}
	for _, w := range ordered {
		if _, known := base[w.File]; known {
			continue
		}
		text, err := b.text(ctx, nil, w.File)
		if f := fault.As(err); f != nil && fault.Permanent(err) {
			return f.Public(), nil
		}
		if err != nil {
			return "", err
		}
		base[w.File] = text
	}
	if err := CheckRewrites(e.Patch, ordered, base, b.dir); err != nil {
		return fault.As(err).Public(), nil
	}
	return "", nil
}

// CheckRewrites says what is wrong with a patch that was made where the tests' own code runs: it
// has to make of the files, base by their paths in the package, what the ordered rewrites make of
// them, and touch no other one. nil when nothing is wrong; else fault.Conflict.
func CheckRewrites(patch string, ordered []attempt.Rewrite, base map[string]string, dir string) error {
	bad := fault.New(fault.Conflict, "The change that came back is another one than was ordered, so it is not used.")
	want := map[string]string{}
	for _, w := range ordered {
		text, known := want[w.File]
		if !known {
			text = base[w.File]
		}
		if w.Before == "" || strings.Count(text, w.Before) != 1 || !source.MatchString(w.File) {
			return bad
		}
		want[w.File] = strings.Replace(text, w.Before, w.After, 1)
	}
	maps.DeleteFunc(want, func(file, text string) bool { return base[file] == text })
	seen := 0
	for i, part := range strings.Split("\n"+patch, "\ndiff --git ") {
		if i == 0 && strings.Trim(part, "\n") == "" {
			continue
		}
		head, hunks, ok := strings.Cut(part, "\n@@ ")
		found := false
		for file, text := range want {
			name := path.Join(dir, file)
			if head == fmt.Sprintf("a/%s b/%s\n--- a/%s\n+++ b/%s", name, name, name, name) {
				now, fits := patched(base[file], "@@ "+hunks)
				found = fits && now == text
			}
		}
		if !ok || !found {
			return bad
		}
		seen++
	}
	if seen != len(want) || seen == 0 {
		return bad
	}
	return nil
}

var hunk = regexp.MustCompile(`^@@ -(\d+),(\d+) \+\d+,\d+ @@$`)

// patched makes of a text what hunks of a unified diff say; false where they do not fit.
func patched(text, hunks string) (string, bool) {
	lines, at := strings.SplitAfter(text, "\n"), 0
	var out strings.Builder
	diff := strings.Split(strings.TrimSuffix(hunks, "\n"), "\n")
	for i, line := range diff {
		end := "\n"
		if i+1 < len(diff) && strings.HasPrefix(diff[i+1], `\`) {
			end = ""
		}
		switch {
		case strings.HasPrefix(line, "@@"):
			m := hunk.FindStringSubmatch(line)
			if m == nil {
				return "", false
			}
			from, err := strconv.Atoi(m[1])
			if m[2] == "0" {
				from++ // it says behind which line something comes
			}
			if err != nil || from-1 < at || from-1 > len(lines) {
				return "", false
			}
			for ; at < from-1; at++ {
				out.WriteString(lines[at])
			}
		case strings.HasPrefix(line, `\`):
		case line == "":
			return "", false
		case line[0] == '+':
			out.WriteString(line[1:] + end)
		case line[0] == ' ' || line[0] == '-':
			if at >= len(lines) || lines[at] != line[1:]+end {
				return "", false
			}
			if line[0] == ' ' {
				out.WriteString(lines[at])
			}
			at++
		default:
			return "", false
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String(), true
}

// CompareWritten holds what a test does with a repair that a model wrote against runs in which it
// passed before, the newest first: no fewer steps of each kind, the same assertions, and whatever
// it changed or asked for outside the page.
func CompareWritten(passing []evidence.Test, now evidence.Test) []Check {
	out := Compare(passing, now, Finding{})[:2]
	had, has := kinds(passing[0]), kinds(now)
	for _, method := range slices.Sorted(maps.Keys(had)) {
		least := had[method]
		for _, p := range passing {
			least = min(least, kinds(p)[method])
		}
		if has[method] < least && out[0].OK {
			out[0].OK, out[0].Note = false, fmt.Sprintf("it did %s %d times, and at least %d times when it was last green.", quoted(method), has[method], least)
		}
	}
	effect := Check{What: "effect", OK: true, Note: "whatever it changed outside the page it changes still"}
	was, is := together(passing[0].Steps), together(now.Steps)
	if lost := was.Lost(is); lost != "" {
		effect.OK, effect.Note = false, "it does not send "+lost+" any more, which it did when it was last green."
	} else if more := is.Lost(was); more != "" {
		effect.Note += "; it sends " + more + " besides"
	}
	return append(out, effect)
}

// kinds counts the actions of a test by their method.
func kinds(t evidence.Test) map[string]int {
	out := map[string]int{}
	for i := range t.Steps {
		if !t.Steps[i].Assertion() {
			out[t.Steps[i].Method]++
		}
	}
	return out
}

// Bounds of how what a model wrote is put to the test.
const (
	mostChanged = 3  // steps of a test
	mostWays    = 12 // ways to break the application under one test
)

// changedSteps answers the steps of a test that a change is about: those that come by its lines,
// given as "file:line" of the source with it, and those of which no passing run knows the locator.
func changedSteps(was, now evidence.Test, lines map[string]bool) (out []int) {
	known := map[string]bool{}
	for i := range was.Steps {
		known[was.Steps[i].Method+" "+was.Steps[i].Locator] = true
	}
	for _, byLine := range []bool{true, false} {
		for i := range now.Steps {
			x := &now.Steps[i]
			if x.Selector == "" || x.Error != "" || len(out) == mostChanged || slices.Contains(out, i) {
				continue
			}
			at := slices.ContainsFunc(x.Stack, func(f evidence.Frame) bool { return lines[fmt.Sprintf("%s:%d", f.File, f.Line)] })
			if byLine && at || !byLine && !known[x.Method+" "+x.Locator] {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return out
}

// newLines answers the lines that a patch writes, as "file:line" from the package's folder.
func newLines(patch, dir string) map[string]bool {
	out := map[string]bool{}
	file, line := "", 0
	for text := range strings.Lines(patch) {
		var n int
		switch {
		case strings.HasPrefix(text, "+++ b/"):
			file = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(text, "+++ b/")), dir), "/")
		case strings.HasPrefix(text, "@@"):
			if _, after, ok := strings.Cut(text, " +"); ok {
				fmt.Sscanf(after, "%d", &n) //nolint:errcheck // then nothing is at line 0
				line = n
			}
		case strings.HasPrefix(text, "+") && !strings.HasPrefix(text, "+++ "):
			out[fmt.Sprintf("%s:%d", file, line)] = true
			line++
		case strings.HasPrefix(text, " "):
			line++
		}
	}
	return out
}

// sabotageWritten plans how tests with a model's repair are put to the test; what it says is for
// where nothing can be tried.
func (s *Service) sabotageWritten(ctx context.Context, x *agent.Step, st *state, r, t run.Run, results []run.Result) (plan []Sabotage, note string, err error) {
	p, err := s.Projects.Project(ctx, r.ProjectID)
	if err != nil {
		return nil, "", err
	}
	lines := newLines(x.Patch, path.Clean("/" + p.Repository.Dir)[1:])
	var tests []string
	for _, f := range st.Findings {
		j := slices.IndexFunc(results, func(o run.Result) bool { return o.TestID == f.TestID && o.Browser == f.Browser })
		if !f.Written || j < 0 || slices.Contains(tests, f.TestID) || len(tests) == mostSabotaged {
			continue
		}
		trace, err := s.traceOf(ctx, t.ID, results[j])
		if err != nil {
			return nil, "", err
		}
		_, passing, err := s.Shelf.Of(ctx, r.ProjectID, f.TestID, f.Browser, evidence.Environment(r))
		if err != nil {
			return nil, "", err
		}
		if len(passing) == 0 {
			continue
		}
		n := 0
		for _, at := range changedSteps(passing[0], trace, lines) {
			for _, way := range planAt(trace, at, nil) {
				if n == mostWays || slices.ContainsFunc(plan, func(o Sabotage) bool { return o.Test == f.TestID && sameOrder(o.Order, way.Order) }) {
					continue
				}
				n++
				way.Test, way.Edit = f.TestID, -1
				if way.Order.Kind != attempt.SabotageText {
					way.What += " (" + quoted(trace.Steps[at].Method+" "+trace.Steps[at].Locator) + ")"
				}
				plan = append(plan, way)
			}
		}
		if tests = append(tests, f.TestID); n == 0 {
			note = "No step on an element could be told that the change is about, so whether the test still detects anything there was not tried."
		}
	}
	return plan, note, nil
}

func sameOrder(a, b attempt.Sabotage) bool {
	return a.Kind == b.Kind && a.Selector == b.Selector && a.Method == b.Method && a.Turn == b.Turn
}

// importing answers the files of the package that use what was changed, directly or not, as far
// as their imports show it.
func (b bench) importing(ctx context.Context, changed []string) ([]string, error) {
	all, _, err := b.reads.Files(ctx, b.source, b.dir)
	if err != nil {
		return nil, err
	}
	imports := map[string][]string{}
	for _, f := range all[:min(len(all), maxImporting)] {
		name := b.own(f.Path)
		if !source.MatchString(name) || strings.Contains(name, "node_modules/") || f.Size > checkout.MaxFile {
			continue
		}
		text, err := b.text(ctx, nil, name)
		if fault.KindOf(err) == fault.Invalid {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, m := range imported.FindAllStringSubmatch(text, -1) {
			to := path.Join(path.Dir(name), m[1])
			imports[bareModule(to)] = append(imports[bareModule(to)], name)
		}
	}
	out := slices.Clone(changed)
	for i := 0; i < len(out); i++ { // it grows
		for _, name := range imports[bareModule(out[i])] {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// maxImporting bounds the files that are read to see what they import.
const maxImporting = 400

var (
	imported  = regexp.MustCompile(`(?:from|import|require\()\s*['"](\.{1,2}/[^'"\n]+)['"]`)
	extension = regexp.MustCompile(`(?:/index)?(?:\.[cm]?[jt]sx?)?$`)
)

// bareModule answers a path of a module without what an import may leave out.
func bareModule(name string) string { return extension.ReplaceAllString(name, "") }
