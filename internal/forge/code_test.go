package forge

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
)

// TestCode shows a stranger's text as text, whatever it holds.
func TestCode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"adds":                   "`adds`",
		"":                       "–",
		"  a \n b\tc ":           "`a b c`",
		"`x`":                    "`` `x` ``",
		"a``b```c`":              "```` a``b```c` ````",
		"a|b":                    "`a∣b`",
		"x\u202ey\x1b[31mz\x00":  "`xy[31mz`",
		strings.Repeat("x", 300): "`" + strings.Repeat("x", 199) + "…`",
	} {
		if got := Code(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzCode never lets a text out of its code span.
func FuzzCode(f *testing.F) {
	for _, seed := range []string{"adds", "`", "a`b``", "@everyone <img src=x> [a](b)", "\n### x", "``` `", "<!-- tas: x -->"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		if err := goldmark.Convert([]byte("x "+Code(text)+" y"), &b); err != nil {
			t.Fatal(err)
		}
		inside, ok := strings.CutPrefix(strings.TrimSpace(b.String()), "<p>x ")
		if inside, ok2 := strings.CutSuffix(inside, " y</p>"); !ok || !ok2 || inside != "–" && (!strings.HasPrefix(inside, "<code>") || !strings.HasSuffix(inside, "</code>") || strings.Count(inside, "<") != 2) {
			t.Errorf("%q becomes %s", text, b.String())
		}
	})
}
