package forge

import "strings"

// maxCode bounds a text in a code span, in characters.
const maxCode = 200

// Code writes a stranger's text so that a forge shows it as it is: in a code span nobody is
// mentioned, nothing is a link and no marker begins. The fence is longer than any in it.
func Code(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1 // control signs, and those that turn the direction of writing
		}
		return r
	}, text)
	if text == "" {
		return "–"
	}
	if runes := []rune(text); len(runes) > maxCode {
		text = string(runes[:maxCode-1]) + "…"
	}
	text = strings.ReplaceAll(text, "|", "\u2223") // would end a cell of a table
	fence, longest := "`", 0
	for run := 0; ; {
		i := strings.IndexByte(text[run:], '`')
		if i < 0 {
			break
		}
		end := run + i
		for end < len(text) && text[end] == '`' {
			end++
		}
		longest, run = max(longest, end-run-i), end
	}
	if longest > 0 {
		fence = strings.Repeat("`", longest+1)
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
