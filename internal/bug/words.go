package bug

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	uuidText  = regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)
	mailText  = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN.-]+\.\pL{2,}`)
	quoted    = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`[^`\n]*`" + `|«[^»\n]*»|„[^“”\n]*[“”]|“[^”\n]*”|「[^」\n]*」`)
	dateText  = regexp.MustCompile(`\b\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?\b|\b\d{1,2}:\d{2}(?::\d{2})?\b`)
	mixed     = regexp.MustCompile(`\b(?:[A-Za-z]+[-_]?\d[\w-]*|\d+[A-Za-z][\w-]*)\b`)
	hexText   = regexp.MustCompile(`\b(?:0x)?[0-9a-fA-F]*\d[0-9a-fA-F]{5,}\b|\b[0-9a-fA-F]{5,}\d[0-9a-fA-F]*\b`)
	number    = regexp.MustCompile(`[-+]?\d+(?:[.,\x{00a0}\x{202f}' ]\d+)*`)
	blanks    = regexp.MustCompile(`\s+`)
	maxLength = 200
)

// words answers a text without what differs from one time to the next.
func words(s string) string {
	s = address.ReplaceAllStringFunc(s, func(u string) string { return routeIn(u) })
	for _, r := range []struct {
		what *regexp.Regexp
		by   string
	}{{uuidText, "#"}, {mailText, "@"}, {quoted, "…"}, {dateText, "#"}, {hexText, "#"}, {mixed, "#"}, {number, "#"}, {blanks, " "}} {
		s = r.what.ReplaceAllString(s, r.by)
	}
	return shorten(strings.ToLower(strings.TrimSpace(s)))
}

// identifiers is words, but keeps what a program's error quotes: a property, a variable.
func identifiers(s string) string {
	for _, r := range []struct {
		what *regexp.Regexp
		by   string
	}{{uuidText, "#"}, {dateText, "#"}, {hexText, "#"}, {number, "#"}, {blanks, " "}} {
		s = r.what.ReplaceAllString(s, r.by)
	}
	return shorten(strings.TrimSpace(s))
}

// locatorWords is a locator with what is drawn anew each time replaced; its quoted names
// are what it means and stay.
func locatorWords(s string) string {
	for _, r := range []struct {
		what *regexp.Regexp
		by   string
	}{{uuidText, "#"}, {mailText, "@"}, {dateText, "#"}, {hexText, "#"}, {number, "#"}, {blanks, " "}} {
		s = r.what.ReplaceAllString(s, r.by)
	}
	return shorten(strings.ReplaceAll(strings.TrimSpace(s), `"`, `'`))
}

// inOneLine leaves nothing in a text that would break a line or not show.
func inOneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

func shorten(s string) string {
	for len(s) > maxLength {
		s = s[:maxLength]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return s
}

var markedLine = regexp.MustCompile(`(?m)^\s*>\s*\d+\s*\|(.*)$`)

// sourceLine answers the line of code that failed, without its values, or "".
func sourceLine(snippet string) string {
	m := markedLine.FindStringSubmatch(plain(snippet))
	if m == nil {
		return ""
	}
	return shorten(blanks.ReplaceAllString(number.ReplaceAllString(strings.TrimSpace(m[1]), "#"), " "))
}

var stackFrame = regexp.MustCompile(`(?m)^\s*at (?:async )?(?:(.+?) \()?((?:file://)?(?:[A-Za-z]:)?[^\s():]+\.[cm]?[jt]sx?):\d+:\d+\)?$`)

// place answers where in the tests repository a failure happened: the file and, where it
// has a name, the function, of the topmost frame that is not a library's. Lines move, so
// they do not count.
func place(f Failure) string {
	for _, m := range stackFrame.FindAllStringSubmatch(f.Stack+"\n"+f.Message, -1) {
		if strings.Contains(m[2], "node_modules") || strings.HasPrefix(m[2], "node:") {
			continue
		}
		function := strings.TrimPrefix(m[1], "new ")
		if function == "<anonymous>" || strings.HasPrefix(function, "Object.") || strings.HasPrefix(function, "Proxy.") {
			function = ""
		}
		// Where a checkout lies differs from run to run, so a frame's own path is no use.
		at := path.Base(strings.ReplaceAll(m[2], `\`, "/"))
		if function == "" && f.File != "" || path.Base(f.File) == at {
			at = f.File
		}
		return strings.TrimSpace(at + " " + function)
	}
	return f.File
}
