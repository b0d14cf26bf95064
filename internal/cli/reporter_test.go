package cli_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/creack/pty"
)

// reports runs with every reporter and answers what each wrote.
func reports(t *testing.T, f *fake) (said, string, string) {
	t.Helper()
	dir := t.TempDir()
	junit, summary := filepath.Join(dir, "out", "junit.xml"), filepath.Join(dir, "summary.md")
	if err := os.WriteFile(summary, []byte("# Earlier\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, environment(f, "GITHUB_STEP_SUMMARY="+summary), "run", "--reporter", "junit="+junit, "--reporter", "github", "--reporter", "plain")
	xmlText, _ := os.ReadFile(junit) //nolint:errcheck // a test of its own
	md, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	return got, string(xmlText), string(md)
}

// TestReporters holds JUnit, annotations and summary to their recorded form.
func TestReporters(t *testing.T) {
	for name, f := range map[string]*fake{
		"fail": newFake(t).plays(everyResult, with(failed, m{"warnings": []m{{"code": "no-runner", "message": "Fewer features."}}})),
		"process-error": newFake(t).plays(nil, with(failed, m{"phase": "process-error", "totalCount": 0, "executedCount": 0, "passed": 0, "failed": 0, "flaky": 0, "skipped": 0,
			"error": m{"code": "install-failed", "message": "npm ci failed: 100%\nSee the log."}})),
		"too-old": newFake(t).plays(nil, tooOld),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, junit, md := reports(t, f)
			golden(t, "reporters-"+name+".txt", fmt.Sprintf("%s--- standard error, exit code %d\n%s--- junit.xml\n%s--- step summary\n%s", got.out, got.code, got.err, junit, md))
		})
	}
}

// What a test can call itself: sequences that clear the screen, set the title, write a
// link, turn the text, command build servers, and break each reporter's form.
const (
	hostile  = "a\x1b[2J\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x1b]0;title\x1b\\\u009b31m\x07\b\r\x00 \u202eturned ::error::x ##vso[task] </testcase>]]> `code` [x](javascript:y) <img src=x> \ufffe b"
	injected = "first\r\n::set-output name=x::y\n  ::add-mask::secret\n##[error]x\n##vso[task.setvariable]x\n\x1b[1A\x1b[2Kgone\n```\n# title\n%0A::warning::x"
)

// hostileRun has a failing test that means harm, in everything that a test decides.
func hostileRun(t *testing.T) *fake {
	bad := with(result(test2, hostile, "failed", m{"message": injected, "stack": injected, "snippet": injected, "code": "assertion",
		"location": m{"file": "x\x1b[2J,title=y\n::z::.ts", "line": 1, "column": 1}}), m{"file": "x\x1b[2J\n::z::.ts", "browser": "c\x1b[2J", "owner": hostile, "tags": []string{hostile}})
	st := with(failed, m{"totalCount": 1, "executedCount": 1, "passed": 0, "flaky": 0, "skipped": 0, "branch": hostile, "testRunUrl": "https://x/\x1b[2J)",
		"warnings": []m{{"code": hostile, "message": injected}}, "error": m{"code": "outside\x1b[2J", "message": injected}})
	return newFake(t).plays([]m{bad}, with(st, m{"isTerminal": false, "verdict": "pending", "phase": "running"}), st)
}

// harmful finds what no output may hold: bytes that move a terminal, and lines that build
// servers obey.
func harmful(text string) string {
	if h := unseen(text); h != "" {
		return h
	}
	for line := range strings.Lines(text) {
		if ours := strings.HasPrefix(line, "::error ") || strings.HasPrefix(line, "::warning "); strings.HasPrefix(strings.TrimSpace(line), "::") && !ours {
			return "a command: " + line
		}
		if strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
			return "a command: " + line
		}
	}
	return ""
}

// unseen finds a character that no file may hold either.
func unseen(text string) string {
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\ufffe') {
			return fmt.Sprintf("the character %U", r)
		}
	}
	return ""
}

// TestHostile holds every form of output against a test that wants to get out of it.
func TestHostile(t *testing.T) {
	t.Parallel()
	f := hostileRun(t)
	got, junit, md := reports(t, f)
	if got.code != 1 {
		t.Errorf("exit code %d", got.code)
	}
	for name, text := range map[string]string{"output": got.out, "standard error": got.err} {
		if h := harmful(text); h != "" {
			t.Errorf("%s holds %s", name, h)
		}
	}
	for name, text := range map[string]string{"output": got.out, "JUnit": junit, "summary": md} {
		if h := unseen(text); h != "" {
			t.Errorf("%s holds %s", name, h)
		}
		if !strings.Contains(text, "turned") {
			t.Errorf("%s does not name the test: %s", name, text)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(junit)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("JUnit: %v\n%s", err, junit)
		}
	}
	if strings.Contains(md, "<img") || regexp.MustCompile(`(^|[^\\])\]\(javascript`).MatchString(md) {
		t.Errorf("the summary has markup of the test: %s", md)
	}
	golden(t, "hostile.txt", got.out+"--- junit.xml\n"+junit+"--- step summary\n"+md)
	for _, args := range [][]string{{"results", runID}, {"status", runID}} {
		if h := harmful(run(t, environment(f), args...).out); h != "" {
			t.Errorf("%v: %s", args, h)
		}
	}
	doc := run(t, environment(f), "run", "--json")
	if strings.ContainsAny(doc.out, "\x1b\x07\u009b\b\r") || !json.Valid([]byte(doc.out)) {
		t.Errorf("the document: %q", doc.out)
	}
}

// terminal runs the program at a pseudo-terminal and answers all that it drew.
func terminal(t *testing.T, f *fake, env []string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(tas(), args...)
	cmd.Env = append(environment(f, "TERM=xterm"), env...)
	p, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 110})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()          //nolint:errcheck // only read
	text, _ := io.ReadAll(p) //nolint:errcheck // Linux answers EIO at the end
	cmd.Wait()               //nolint:errcheck // its code is answered
	return strings.ReplaceAll(string(text), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

// ours are the sequences that bars and colours are made of: colour, up, clear.
var ours = regexp.MustCompile("\x1b\\[(?:[0-9]*[AJ]|0?m|1m|2m|31m|32m|33m)|\r")

// TestTerminal draws bars for a person, one line a shard, and keeps a test from drawing.
func TestTerminal(t *testing.T) {
	t.Parallel()
	f := newFake(t).plays([]m{good},
		sharded(running, shard(1, "running", 1, 2, false), shard(2, "running", 1, 2, true)),
		sharded(passed, shard(1, "finished", 3, 3, false), shard(2, "finished", 1, 1, true)))
	text, code := terminal(t, f, nil, "run", "--shards", "2")
	if code != 0 || !strings.Contains(text, "█") || !strings.Contains(text, "\x1b[31mlost") || !strings.Contains(text, "\x1b[32mPASS") {
		t.Errorf("%d %q", code, text)
	}
	last := text[strings.LastIndex(text, "\x1b[J")+3:]
	last = ours.ReplaceAllString(last, "")
	for _, want := range []string{"run      passed", "shard 1  finished", "shard 2  finished"} {
		if !strings.Contains(last, want) {
			t.Errorf("no line %q in the last picture:\n%s", want, last)
		}
	}
	plain, _ := terminal(t, f, []string{"NO_COLOR=1"}, "status", "--wait", runID)
	if strings.Contains(plain, "m") && regexp.MustCompile("\x1b\\[[0-9;]*m").MatchString(plain) {
		t.Errorf("colours without consent: %q", plain)
	}
	for _, how := range [][]string{{"TERM=dumb"}} {
		if text, _ := terminal(t, f, how, "status", "--wait", runID); strings.Contains(text, "\x1b") {
			t.Errorf("%v: %q", how, text)
		}
	}
	if text, _ := terminal(t, f, nil, "status", "--wait", "--reporter", "plain", runID); strings.Contains(text, "█") {
		t.Errorf("bars where lines were asked for: %q", text)
	}
	text, code = terminal(t, hostileRun(t), nil, "run")
	if h := harmful(ours.ReplaceAllString(text, "")); code != 1 || h != "" {
		t.Errorf("%d: a terminal gets %s\n%q", code, h, text)
	}
}
