package bug

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSignature takes whatever a test may say: a signature is found, the same each time,
// does not change by what is around the numbers, and fits into a title.
func FuzzSignature(f *testing.F) {
	f.Add("Error: expect(locator).toHaveText(expected) failed\n\nLocator: getByRole('button')\nExpected: \"1\"\nReceived: \"2\"", "at tests/a.spec.ts:3:4", "  3 | await x();", "tests/a.spec.ts", "adds")
	f.Add("TimeoutError: page.goto: Timeout 30000ms exceeded.", "", "", "", "")
	f.Add("\x1b[31mnet::ERR_CONNECTION_REFUSED at http://127.0.0.1:80/\x1b[39m", "at a (b:1:2)", "", "a/b", "")
	f.Fuzz(func(t *testing.T, message, stack, snippet, file, name string) {
		x := Failure{Message: message, Stack: stack, Snippet: snippet, File: file, Title: name}
		s := SignatureOf(x)
		if s.Key() == "" || s.Key() != SignatureOf(x).Key() {
			t.Errorf("%q has the keys %q and %q", message, s.Key(), SignatureOf(x).Key())
		}
		if line := title(s); utf8.ValidString(message+stack+snippet+file+name) && !utf8.ValidString(line) || strings.ContainsAny(line, "\n\r") || len(line) > 400 {
			t.Errorf("%q has the title %q", message, line)
		}
	})
}
