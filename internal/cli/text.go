package cli

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapes are whole terminal sequences: CSI, then OSC and its kin up to their end, then
// the short ones. What is left over of a broken one goes with the control characters.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]" +
	"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c\n]*(?:\x07|\x1b\\\\|\u009c)?" +
	"|\x1b[ -/]*[0-~]")

// ciCommand is how build servers mark a line that they obey, wherever it stands in the line.
var ciCommand = regexp.MustCompile(`##([A-Za-z]*\[)`)

// clean makes one line of a text that others wrote (a title, an error, an answer of the
// service) fit to be printed: nothing in it moves a cursor, changes colours, writes a link,
// turns the direction of writing, or is taken for a command by a build server.
func clean(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(cleanLines(s), "\n", " ")), " ")
}

// cleanLines does the same and keeps line breaks, and spaces as they are. The lines of its
// answer may begin with "::", which GitHub obeys: print them behind a margin.
func cleanLines(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.NewReplacer("\r\n", "\n", "\u2028", "\n", "\u2029", "\n", "\t", "    ").Replace(s)
	s = escapes.ReplaceAllString(s, "")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\u200d' || r == '\u200c': // they join letters and emoji
			return r
		case r == '\ufffe' || r == '\uffff' || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, s)
	return ciCommand.ReplaceAllString(s, "# #$1")
}

// firstLines answers at most n lines of a text, trimmed, and whether that is all of it.
func firstLines(s string, n int) []string {
	lines := strings.Split(strings.TrimSpace(cleanLines(s)), "\n")
	if len(lines) > n {
		lines = append(lines[:n:n], "…")
	}
	for i, l := range lines {
		lines[i] = short(strings.TrimRight(l, " "), maxLine)
	}
	return lines
}

// maxLine bounds a line of an error: a serialised page in a message must not fill a log.
const maxLine = 400

// short cuts a text to n characters.
func short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// joined answers a test's full name, fit to be printed.
func joined(titlePath []string, title string) string {
	if len(titlePath) == 0 {
		return clean(title)
	}
	parts := make([]string, len(titlePath))
	for i, p := range titlePath {
		parts[i] = clean(p)
	}
	return strings.Join(parts, " › ")
}
