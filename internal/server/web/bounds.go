package web

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what a tests repository may put on a page.
const (
	choicesShown = 300 // tags and owners to choose from
	tagsShown    = 20  // of one test
	titleShown   = 500 // characters
)

// few bounds what a filter offers; what is chosen stays among it.
func few(all []string, chosen string) []string {
	if len(all) <= choicesShown {
		return all
	}
	out := slices.Clone(all[:choicesShown])
	if chosen != "" && !slices.Contains(out, chosen) && slices.Contains(all, chosen) {
		out = append(out, chosen)
	}
	return out
}

// some bounds the tags of one test.
func some(tags []string) []string {
	if len(tags) > tagsShown {
		return append(slices.Clone(tags[:tagsShown]), "…")
	}
	return tags
}

// fullTitle is a test's title with its describes.
func fullTitle(parts []string) string {
	s := plain(strings.Join(parts, " › "))
	if utf8.RuneCountInString(s) > titleShown {
		return string([]rune(s)[:titleShown-1]) + "…"
	}
	return s
}

// unsteered answers a page without the characters that would make a browser show parts of it
// in another order, or a terminal that it is copied to obey: no text of ours has any, and
// those of test code stand in too many places to be cleansed one by one.
func unsteered(page []byte) []byte {
	steers := func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r >= 0x7f && r <= 0x9f || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
	}
	if !bytes.ContainsFunc(page, steers) {
		return page
	}
	return bytes.Map(func(r rune) rune {
		if steers(r) {
			return -1
		}
		return r
	}, page)
}
