package web

import (
	"regexp"
	"strings"
)

// gistMost is the longest that an expected or a received value is shown in a row.
const gistMost = 80

// compared are the lines in which Playwright says what an assertion wanted and what it got:
// "Expected substring: "x"", "Received string:    "y"", "Received: 3".
var compared = regexp.MustCompile(`(?m)^\s*(Expected|Received)(?: (?:substring|string|pattern|value|path|length|array))?:\s+(.+?)\s*$`)

// gist is an error in one line: its first, and what was expected and received where it
// says so.
func gist(message string, most int) string {
	text := plain(message)
	out := firstLine(text, most)
	said := map[string]string{}
	for _, m := range compared.FindAllStringSubmatch(text, 4) {
		if name := strings.ToLower(m[1]); said[name] == "" {
			said[name] = firstLine(m[2], gistMost)
		}
	}
	if said["expected"] != "" && said["received"] != "" {
		return strings.TrimSuffix(out, ":") + ": expected " + said["expected"] + ", received " + said["received"]
	}
	return out
}
