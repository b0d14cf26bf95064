package heal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/checkout/git"
	"tas-service/internal/fault"
	"tas-service/internal/llm"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

const cartSpec = "import { test } from '@playwright/test';\r\ntest('pays', async ({ page }) => {\r\n  await page.getByText('Pay').click();\r\n  // key tok-secret-value\r\n});\r\n"

// files is a repository with a commit of tests, and the project that it belongs to.
type files struct {
	project.Store
	commit string
	url    string
}

func (f *files) Project(context.Context, string) (project.Project, error) {
	return project.Project{ID: "p", Repository: project.Repository{URL: f.url, Dir: "e2e"}}, nil
}

func newFiles(t *testing.T) *files {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"e2e/tests/cart.spec.ts": cartSpec, "e2e/playwright.config.ts": "export default {};\n", "e2e/.env": "A=tok-secret-value\n", "e2e/keys/site.pem": "x\n", "e2e/auth.json": "{}\n",
		"e2e/user-storageState.json": "{}\n", "e2e/.npmrc": "x\n", "e2e/pages/cart.ts": "export const a = 1;\n", "e2e/pages/index.ts": "export * from './cart';\n", "e2e/tests/b.spec.ts": "import { a } from '../pages';\n", "outside.ts": "x\n", "e2e/data.json": "{}\n"} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out []byte
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "x"}, {"rev-parse", "HEAD"}} {
		var err error
		if out, err = exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", args, out)
		}
	}
	return &files{commit: strings.TrimSpace(string(out)), url: "file://" + dir}
}

// runAt has the session's run be of the commit.
type runAt struct {
	Records
	commit string
}

func (r runAt) Run(_ context.Context, id string) (run.Run, error) {
	return run.Run{ID: id, ProjectID: "p", Branch: "main", Commit: r.commit}, nil
}
func (r runAt) UpdateRun(context.Context, string, func(*run.Run) error) error { return nil }

// atWork answers a service whose model may see sources, and a session in which it works.
func atWork(t *testing.T, says ...any) (*Service, *agent.Step, *mouth, *shop) {
	t.Helper()
	m, of, sh := &mouth{says: says}, newFiles(t), &shop{values: map[string]string{"TOKEN": "tok-secret-value"}}
	s := serviceWith(m, sh)
	s.Records, s.Projects = runAt{commit: of.commit}, of
	s.Adviser.Sources = &Sources{Reads: &git.Mirrors{Root: t.TempDir()}, Token: func(context.Context, project.Project) (string, error) { return "", nil }}
	now := time.Now()
	st := &state{Findings: []Finding{{TestID: "t", Browser: "chromium", Title: "pays", Class: Flow, Edit: -1, Part: -1, RunID: "r", Step: &StepSeen{Method: "click", Locator: "getByText('Pay')", File: "tests/cart.spec.ts", Line: 3, Error: "Timeout, tok-secret-value"}}},
		Failures: []failure{{TestID: "t", Browser: "chromium", Title: "pays"}}, Work: &work{Model: "parrot", Last: "reproduce", Held: &held{}}}
	st.Work.Held.Findings = st.Findings
	return s, &agent.Step{Session: agent.Session{ID: "s", ProjectID: "p", RunID: "r", TestIDs: []string{"t"}, Stage: stageWork, StartedAt: &now, State: st.save()}, Batch: agent.Batch{}, Now: now}, m, sh
}

// onward moves a session on until it ends, as the reconciler would, with its state saved and
// loaded in between.
func onward(t *testing.T, s *Service, x *agent.Step) state {
	t.Helper()
	for range 500 {
		if x.Status.Final() || x.Stage != stageWork {
			break
		}
		if err := s.Advance(context.Background(), x); err != nil {
			t.Fatal(err)
		}
	}
	st, err := load(x.State)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func calling(pairs ...any) llm.Reply {
	r := llm.Reply{Stop: llm.Calling, Usage: llm.Usage{Input: 1000, Output: 100}}
	for i := 0; i+1 < len(pairs); i += 2 {
		text, is := pairs[i+1].(string)
		if !is {
			b, err := json.Marshal(pairs[i+1])
			if err != nil {
				panic(err)
			}
			text = string(b)
		}
		r.Calls = append(r.Calls, llm.Call{ID: "c", Name: pairs[i].(string), Arguments: json.RawMessage(text)})
	}
	return r
}

type args = map[string]any

// TestTools holds each call to what a model may do: what is refused is told, and changes nothing.
func TestTools(t *testing.T) {
	t.Parallel()
	const spec = "tests/cart.spec.ts"
	for name, c := range map[string]struct {
		call   string
		args   any
		failed bool
		says   string
		edits  int
	}{
		"reads":                    {toolRead, args{"path": spec}, false, "3\t  await page.getByText('Pay').click();\n4\t  // key ‹hidden›\n", 0},
		"reads a part":             {toolRead, args{"path": spec, "from_line": 2, "lines": 1}, false, "2\ttest('pays', async ({ page }) => {\n[lines 2 to 2 of 5]", 0},
		"reads behind the end":     {toolRead, args{"path": spec, "from_line": 99}, true, "has 5 lines", 0},
		"lists":                    {toolList, args{}, false, "tests/cart.spec.ts (", 0},
		"lists a folder":           {toolList, args{"directory": "./pages/"}, false, "pages/cart.ts", 0},
		"lists nothing":            {toolList, args{"directory": "nowhere"}, true, "no files", 0},
		"searches":                 {toolSearch, args{"text": "getByText('Pay')"}, false, "tests/cart.spec.ts:3: await page", 0},
		"searches for a secret":    {toolSearch, args{"text": "tok-secret-value"}, false, "stands nowhere", 0},
		"searches for part of one": {toolSearch, args{"text": "tok-s"}, false, "stands nowhere", 0},
		"searches for two lines":   {toolSearch, args{"text": "a\nb"}, true, "one line", 0},
		"edits":                    {toolEdit, args{"path": spec, "old": "getByText('Pay')", "new": "getByRole('button')"}, false, "Done, at tests/cart.spec.ts:3", 1},
		"edits two lines":          {toolEdit, args{"path": spec, "old": "{\n  await page.getByText('Pay').click();\n", "new": "{\n"}, false, "Done, at tests/cart.spec.ts:2", 1},
		"edits what is twice":      {toolEdit, args{"path": spec, "old": "page", "new": "x"}, true, "more than once", 0},
		"edits what is not there":  {toolEdit, args{"path": spec, "old": "3\t  await", "new": "x"}, true, "exactly so", 0},
		"edits to the same":        {toolEdit, args{"path": spec, "old": "Pay", "new": "Pay"}, true, "other one", 0},
		"edits nothing":            {toolEdit, args{"path": spec, "old": "", "new": "x"}, true, "which text", 0},
		"guesses a secret":         {toolEdit, args{"path": spec, "old": "tok-secret-value", "new": "x"}, true, "exactly so", 0},
		"edits what is hidden":     {toolEdit, args{"path": spec, "old": "‹hidden›", "new": "x"}, true, "hidden", 0},
		"writes unseen signs":      {toolEdit, args{"path": spec, "old": "'Pay'", "new": "'P\u202eay'"}, true, "nobody sees", 0},
		"writes too much":          {toolEdit, args{"path": spec, "old": "'Pay'", "new": strings.Repeat("x", maxPiece+1)}, true, "too much", 0},
		"edits the configuration":  {toolEdit, args{"path": "playwright.config.ts", "old": "{}", "new": "x"}, true, "no configuration", 0},
		"edits data":               {toolEdit, args{"path": "data.json", "old": "{}", "new": "x"}, true, "source files", 0},
		"makes a file":             {toolEdit, args{"path": "tests/new.spec.ts", "old": "x", "new": "y"}, true, "no file", 0},
		"edits outside":            {toolEdit, args{"path": "../outside.ts", "old": "x", "new": "y"}, true, "no path", 0},
		"reads outside":            {toolRead, args{"path": "../outside.ts"}, true, "no path", 0},
		"reads by a detour":        {toolRead, args{"path": "tests/../../outside.ts"}, true, "no path", 0},
		"reads the machine":        {toolRead, args{"path": "/etc/passwd"}, true, "no path", 0},
		"reads .env":               {toolRead, args{"path": ".env"}, true, "secrets", 0},
		"reads .npmrc":             {toolRead, args{"path": ".npmrc"}, true, "secrets", 0},
		"reads a key":              {toolRead, args{"path": "keys/site.pem"}, true, "secrets", 0},
		"reads a sign-in":          {toolRead, args{"path": "user-storageState.json"}, true, "secrets", 0},
		"reads another sign-in":    {toolRead, args{"path": "auth.json"}, true, "secrets", 0},
		"reads git's own":          {toolRead, args{"path": ".git/config"}, true, "secrets", 0},
		"runs nothing":             {toolRun, args{}, true, "Nothing is edited", 0},
		"finishes nothing":         {toolFinish, args{"summary": "x"}, true, "nothing to prove", 0},
		"an unknown tool":          {"shell", args{"command": "id"}, true, "no such tool", 0},
		"a tool by a bad name":     {"read file\n", args{}, true, "no such tool", 0},
		"another argument":         {toolRead, args{"path": spec, "as": "root"}, true, "no argument", 0},
		"a missing argument":       {toolRead, args{}, true, "needs the argument path", 0},
		"another type":             {toolRead, args{"path": 7}, true, "another type", 0},
		"null":                     {toolRead, args{"path": nil}, true, "null", 0},
		"line 0":                   {toolRead, args{"path": spec, "from_line": -1}, true, "from 1", 0},
		"no JSON":                  {toolRead, `{"path": `, true, "no JSON object", 0},
		"a list":                   {toolRead, `[]`, true, "no JSON object", 0},
		"huge":                     {toolRead, args{"path": strings.Repeat("x", maxArguments)}, true, "smaller pieces", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, x, m, _ := atWork(t, calling(c.call, c.args), calling(toolGiveUp, args{"reason": "It is over."}))
			st := onward(t, s, x)
			if len(m.asked) != 2 {
				t.Fatalf("it was asked %d times: %s%s", len(m.asked), told(x, agent.Decided), told(x, agent.Trouble))
			}
			got := m.asked[1].Messages[2].Results[0]
			if got.Failed != c.failed || !strings.Contains(got.Text, c.says) || got.CallID != "c" {
				t.Errorf("%v %q, want %v %q", got.Failed, got.Text, c.failed, c.says)
			}
			if len(st.Work.Rewrites) != c.edits {
				t.Errorf("%+v", st.Work.Rewrites)
			}
			for _, q := range m.asked {
				text := fmt.Sprint(q.System, q.Messages[0].Text, q.Messages)
				// What the model itself says comes back to it; what it is told must not have the secret.
				if n := strings.Count(text, "tok-secret-value"); n > strings.Count(fmt.Sprint(c.args), "tok-secret-value") {
					t.Errorf("it is told a secret: %s", text)
				}
			}
			if x.Status != agent.Completed || x.Patch != "" || st.Work.Over != "it gave up: “It is over.”" || len(st.Work.Talk) != 0 {
				t.Errorf("%s: %+v", x.Status, st.Work)
			}
		})
	}
}

// TestWorkEnds sees that a model's work ends, whatever it says, and that its end is reported.
func TestWorkEnds(t *testing.T) {
	t.Parallel()
	read := calling(toolRead, args{"path": "tests/cart.spec.ts"})
	for name, c := range map[string]struct {
		says  []any
		asked int
		why   string
		set   func(*Service, *shop)
	}{
		"never done":     {[]any{read}, maxTurns, "30 turns", nil},
		"only talks":     {[]any{"I will think about it."}, maxSilent, "called no tool", nil},
		"says nothing":   {[]any{llm.Reply{Stop: llm.Length}}, maxSilent, "called no tool", nil},
		"refuses":        {[]any{llm.Reply{Stop: llm.Refused}}, 1, "does not want to", nil},
		"endless answer": {[]any{fault.New(fault.TooLarge, "The answer is too long.")}, 1, "too long", nil},
		"a wrong key":    {[]any{fault.New(fault.Forbidden, "The key does not hold.")}, 1, "does not answer", nil},
		"no tokens left": {[]any{read}, 2, "budget is used up", func(s *Service, _ *shop) { s.Adviser.SessionTokens = 7000 }},
		"no dollars":     {[]any{read}, 0, "budget is used up", func(_ *Service, sh *shop) { sh.used = agent.Usage{CostUSD: 5} }},
		"not any more":   {[]any{read}, 0, "not allowed", func(s *Service, _ *shop) { s.Adviser.Sources = nil }},
		"nobody knows":   {[]any{read}, 0, "is gone", func(_ *Service, sh *shop) { sh.gone = fault.New(fault.NotFound, "The environment is gone.") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, x, m, sh := atWork(t, c.says...)
			if c.set != nil {
				c.set(s, sh)
			}
			st := onward(t, s, x)
			if len(m.asked) != c.asked || !strings.Contains(st.Work.Over, c.why) || x.Status != agent.Completed || x.Patch != "" {
				t.Errorf("asked %d times, %s: %s", len(m.asked), x.Status, st.Work.Over)
			}
			if !strings.Contains(told(x, agent.Decided), "nothing came of it") || len(x.Outcomes) != 1 || x.Outcomes[0].Outcome != agent.NotHealable || !strings.Contains(strings.Join(x.Outcomes[0].Evidence, " "), c.why) {
				t.Errorf("%+v\n%s", x.Outcomes, told(x, agent.Decided))
			}
		})
	}
}

// TestWish tells a model what a reviewer wants beside the data of strangers, and says where none
// is told.
func TestWish(t *testing.T) {
	t.Parallel()
	s, x, m, _ := atWork(t, calling(toolGiveUp, args{"reason": "x"}))
	st, err := load(x.State)
	if err != nil {
		t.Fatal(err)
	}
	st.Work.Wish = "Take the small button, not tok-secret-value."
	x.State = st.save()
	onward(t, s, x)
	text := m.asked[0].Messages[0].Text
	if at := strings.Index(text, workWish); at < 0 || !strings.Contains(text[at:], "Take the small button, not ‹hidden›.") || strings.Contains(text[:at], "small button") {
		t.Error(text)
	}
	st = state{Wish: "x", Trials: map[string]string{"reproduce": "r"}, Findings: []Finding{{TestID: "t", Class: Flaky, Edit: -1}}}
	if began, err := s.beginWork(t.Context(), x, &st, run.Run{}, ""); began || err != nil || !strings.Contains(told(x, agent.Decided), "wish is not told to a model. None of the failures") {
		t.Errorf("%v, %v: %s", began, err, told(x, agent.Decided))
	}
}

// TestTalkIsBounded shortens what was read long ago, and says so.
func TestTalkIsBounded(t *testing.T) {
	t.Parallel()
	w := &work{}
	for i := range 40 {
		call := toolCall{ID: fmt.Sprint(i), Name: toolRead, Arguments: "{}"}
		w.Talk = append(w.Talk, turn{Role: llm.Assistant, Calls: []toolCall{call}})
		w.answer(call, toolDone{Text: strings.Repeat("x", 2*maxResult)})
	}
	if n := w.size(); n > maxTalk {
		t.Errorf("%d bytes", n)
	}
	first, last := w.Talk[1].Results[0].Text, w.Talk[len(w.Talk)-1].Results[0].Text
	if !strings.HasSuffix(first, shortened) || len(first) > keptResult+len(shortened) || !strings.HasSuffix(last, shortened) || len(last) < maxResult {
		t.Errorf("%d and %d bytes", len(first), len(last))
	}
}

// TestNoWork says where no model works, and why.
func TestNoWork(t *testing.T) {
	t.Parallel()
	step := &StepSeen{Method: "click"}
	for name, c := range map[string]struct {
		findings []Finding
		set      func(*Service, *state)
		why      string
	}{
		"flow":             {[]Finding{{TestID: "a", Class: Flow, Step: step}}, nil, ""},
		"beside a bug":     {[]Finding{{TestID: "a", Class: Flow, Step: step}, {TestID: "b", Class: ApplicationBug, Step: step}}, nil, "at fault"},
		"behind a repair":  {[]Finding{{TestID: "a", Class: Drift, Step: step}, {TestID: "a", Class: Wording, Step: step}}, nil, "None"},
		"no trace":         {[]Finding{{TestID: "a", Class: Unknown}}, nil, "None"},
		"wording":          {[]Finding{{TestID: "a", Class: Wording, Step: step}}, nil, "None"},
		"flaky":            {[]Finding{{TestID: "a", Class: Flaky, Step: step}}, nil, "None"},
		"environment":      {[]Finding{{TestID: "a", Class: Environment, Step: step}}, nil, "None"},
		"elsewhere before": {[]Finding{{TestID: "a", Class: PreExisting, Step: step}}, nil, "None"},
		"silent":           {[]Finding{{TestID: "a", Class: Flow, Step: step}}, func(_ *Service, st *state) { st.Mute = true }, "not asked"},
		"no sources":       {[]Finding{{TestID: "a", Class: Flow, Step: step}}, func(s *Service, _ *state) { s.Adviser.Sources = nil }, "operator"},
		"no model":         {[]Finding{{TestID: "a", Class: Flow, Step: step}}, func(s *Service, _ *state) { s.Adviser = nil }, "no model"},
	} {
		s, st := serviceWith(&mouth{}, &shop{}), &state{Findings: c.findings}
		s.Adviser.Sources = &Sources{}
		if c.set != nil {
			c.set(s, st)
		}
		if why := s.noWork(st); (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestImporting finds who uses what was changed, also through an index.
func TestImporting(t *testing.T) {
	t.Parallel()
	s, _, _, _ := atWork(t, "")
	r, err := s.Records.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.benchOf(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.importing(t.Context(), []string{"pages/cart.ts"})
	if want := "[pages/cart.ts pages/index.ts tests/b.spec.ts]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v", got, err)
	}
}

// TestCheckRewrites takes the change that was ordered, and no other one.
func TestCheckRewrites(t *testing.T) {
	t.Parallel()
	base := map[string]string{"a.ts": "one\ntwo\nthree\nfour", "b.ts": "x\n"}
	ordered := []attempt.Rewrite{{File: "a.ts", Before: "two\n", After: "2\nand\n"}, {File: "a.ts", Before: "and", After: "more"}, {File: "b.ts", Before: "x", After: "y"}, {File: "b.ts", Before: "y", After: "x"}}
	const head = "diff --git a/e2e/a.ts b/e2e/a.ts\n--- a/e2e/a.ts\n+++ b/e2e/a.ts\n"
	good := head + "@@ -1,4 +1,5 @@\n one\n-two\n+2\n+more\n three\n four\n\\ No newline at end of file\n"
	if err := CheckRewrites(good, ordered, base, "e2e"); err != nil {
		t.Fatal(err)
	}
	for name, patch := range map[string]string{
		"nothing":         "",
		"more":            strings.Replace(good, "+more", "+more\n+evil()", 1),
		"less":            strings.Replace(good, "+more\n", "", 1),
		"another line":    strings.Replace(good, "-two", "-three", 1),
		"another file":    strings.ReplaceAll(good, "e2e/a.ts", "e2e/b.ts"),
		"outside":         strings.ReplaceAll(good, "e2e/a.ts", "a.ts"),
		"one more file":   good + "diff --git a/e2e/c.ts b/e2e/c.ts\n--- a/e2e/c.ts\n+++ b/e2e/c.ts\n@@ -1,1 +1,1 @@\n-x\n+evil\n",
		"twice":           good + good,
		"a mode":          strings.Replace(good, "--- a/", "old mode 100644\nnew mode 100755\n--- a/", 1),
		"a line break":    strings.Replace(good, "\\ No newline at end of file\n", "", 1),
		"something first": "x\n" + good,
		"cut off":         good[:len(good)-40],
	} {
		if err := CheckRewrites(patch, ordered, base, "e2e"); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
}
