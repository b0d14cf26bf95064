package report

import (
	"fmt"
	slash "path"
	"regexp"
	"strconv"
	"strings"

	"tas-service/internal/attempt"
)

// Bounds of what is kept of a trial's edits.
const (
	maxEdits    = 100
	maxOffences = 100
	maxCode     = 2 << 10 // of a text that was, or is to be, written
)

// Edited answers an edited message with its patch from the root of the repository, where
// dir is the package's folder. ErrGarbled for a patch that is none.
func (m Message) Edited(dir string) (attempt.Edited, error) {
	patch, err := below(m.Patch, dir)
	if err != nil {
		return attempt.Edited{}, err
	}
	out := attempt.Edited{Edits: m.Edits[:min(len(m.Edits), maxEdits)], Patch: patch, Offences: m.Offences[:min(len(m.Offences), maxOffences)]}
	for i := range out.Edits {
		e := &out.Edits[i]
		e.File, e.Code, e.Why = clip(e.File, maxTitle), clip(e.Code, 100), clip(e.Why, maxTitle)
		e.Before, e.After = clip(e.Before, maxCode), clip(e.After, maxCode)
	}
	for i := range out.Offences {
		o := &out.Offences[i]
		o.Rule, o.File, o.Message = clip(o.Rule, 100), clip(o.File, maxTitle), clip(o.Message, maxTitle)
	}
	return out, nil
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// below puts a folder before the paths of a unified diff of text files that stay where they
// are, and lets no other through. What looks like a path inside of a hunk is text.
func below(patch, dir string) (string, error) {
	if dir = slash.Clean("/" + dir)[1:]; dir != "" {
		dir += "/"
	}
	var out strings.Builder
	out.Grow(len(patch))
	var name string
	heads, old, now := 0, 0, 0 // of a file's head, what has come; of a hunk, the lines to come
	for line := range strings.Lines(patch) {
		text, ended := strings.CutSuffix(line, "\n")
		var ok bool
		switch {
		case !ended:
		case old > 0 || now > 0:
			switch ok = true; text[:min(1, len(text))] {
			case " ":
				old, now = old-1, now-1
			case "-":
				old--
			case "+":
				now--
			case "\\":
			default:
				ok = false
			}
			ok = ok && old >= 0 && now >= 0
			out.WriteString(line)
		case strings.HasPrefix(text, "diff --git "):
			name, ok = sameName(text)
			heads = 1
			out.WriteString("diff --git a/" + dir + name + " b/" + dir + name + "\n")
		case heads == 1:
			ok = text == "--- a/"+name
			heads = 2
			out.WriteString("--- a/" + dir + name + "\n")
		case heads == 2:
			ok = text == "+++ b/"+name
			heads = 3
			out.WriteString("+++ b/" + dir + name + "\n")
		case heads == 3 && strings.HasPrefix(text, "\\"):
			ok = true // of the last line of the hunk before
			out.WriteString(line)
		case heads == 3:
			var counts []string
			if counts = hunkHead.FindStringSubmatch(text); counts != nil {
				old, now, ok = lines(counts[1]), lines(counts[2]), true
			}
			out.WriteString(line)
		}
		if !ok {
			return "", fmt.Errorf("%w: its patch has %.100q", ErrGarbled, text)
		}
	}
	if old > 0 || now > 0 || heads != 0 && heads != 3 {
		return "", fmt.Errorf("%w: its patch is cut off", ErrGarbled)
	}
	return out.String(), nil
}

// sameName answers the path of "diff --git a/x b/x".
func sameName(head string) (string, bool) {
	both := strings.TrimPrefix(head, "diff --git ")
	n := (len(both) - 1) / 2
	if len(both) < 7 || len(both)%2 == 0 || both[n] != ' ' {
		return "", false
	}
	a, b := both[:n], both[n+1:]
	name, ok := strings.CutPrefix(a, "a/")
	return name, ok && b == "b/"+name && name != "" && slash.Clean("/"+name) == "/"+name
}

func lines(count string) int {
	if count == "" {
		return 1
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return -1
	}
	return n
}
