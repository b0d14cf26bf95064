package cli

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"tas-service/client"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain › ünïcode 日本 👩\u200d💻":         "plain › ünïcode 日本 👩\u200d💻",
		"\x1b[31mred\x1b[0m":                  "red",
		"\x1b]8;;http://x\x07y\x1b]8;;\x1b\\": "y",
		"\u009b2Jx\x9by":                      "x\ufffdy",
		"a\tb\r\nc\rd":                        "a b cd",
		"\x1b":                                "",
		"\u202ea\u2066b\ufeff":                "ab",
		"##vso[x] ##[y] ## z":                 "# #vso[x] # #[y] ## z",
		"#\x00#[x]":                           "# #[x]",
		"\x1b]0;never ended":                  "",
		"\x1b]0;one line\nnext":               "next",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, expected %q", in, got, want)
		}
	}
}

// FuzzClean: whatever a test calls itself, one harmless line is left of it.
func FuzzClean(f *testing.F) {
	f.Add("\x1b[2J ##[x] \u202e")
	f.Fuzz(func(t *testing.T, in string) {
		for _, r := range clean(in) {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' {
				t.Errorf("%q keeps %U", in, r)
			}
		}
		if got := clean(in); ciCommand.MatchString(got) || clean(got) != got {
			t.Errorf("%q becomes %q", in, got)
		}
	})
}

// TestPlain writes a line for each change of phase, and one every ten seconds between.
func TestPlain(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var lines []string
	p := newPlain(func(_ string, args ...any) { lines = append(lines, args[0].(string)) })
	p.now = func() time.Time { return now }
	for _, s := range []struct {
		after    time.Duration
		phase    string
		executed int
	}{{0, "queued", 0}, {1, "queued", 0}, {1, "running", 0}, {9, "running", 5}, {1, "running", 6}, {11, "running", 6}, {1, "running", 7}, {1, "passed", 9}} {
		now = now.Add(s.after * time.Second)
		p.show(client.Status{Phase: s.phase, ExecutedCount: s.executed, TotalCount: 9, Passed: s.executed})
	}
	var short []string
	for _, l := range lines {
		short = append(short, strings.Join(strings.Fields(l)[:2], " "))
	}
	if got, want := strings.Join(short, ", "), "queued 0/9, running 0/9, running 6/9, running 7/9, passed 9/9"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}
