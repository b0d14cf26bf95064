package relocate

import (
	"strconv"
	"strings"
)

// step is one element on the way from the root: its tag, and its place among its siblings of
// that tag.
type step struct {
	tag   word
	index int
}

// stepsOf reads an absolute XPath. What it cannot read it keeps as a tag of its own.
func stepsOf(path string) []step {
	var out []step
	depth, start := 0, 0
	add := func(part string) {
		if part == "" {
			return
		}
		s := step{index: 1}
		if open := strings.LastIndexByte(part, '['); open > 0 && strings.HasSuffix(part, "]") {
			if n, err := strconv.Atoi(part[open+1 : len(part)-1]); err == nil && n > 0 {
				s.index, part = n, part[:open]
			}
		}
		s.tag = hashOf(part)
		out = append(out, s)
	}
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case '/':
			if depth <= 0 {
				add(path[start:i])
				start = i + 1
			}
		}
	}
	add(path[start:])
	return out
}

// under says whether a is b or below it.
func under(a, b []step) bool {
	if len(b) == 0 || len(a) < len(b) {
		return false
	}
	for i, s := range b {
		if a[i] != s {
			return false
		}
	}
	return true
}

// related says whether one of two elements of one page is the other or contains it.
func related(a, b []step) bool { return under(a, b) || under(b, a) }

// common answers how many steps from the root two elements of one page share.
func common(a, b []step) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// ending answers how many steps at the end of two paths are equal, up to limit; without their
// places if tagsOnly.
func ending(a, b []step, limit int, tagsOnly bool) int {
	n := 0
	for n < limit && n < len(a) && n < len(b) {
		x, y := a[len(a)-1-n], b[len(b)-1-n]
		if x.tag != y.tag || !tagsOnly && x.index != y.index {
			break
		}
		n++
	}
	return n
}

// mostWraps bounds how many boxes may have come around an element that was only wrapped.
const mostWraps = 3

// wrapped says whether b is a with some boxes more around it, or around what contains it: the
// same steps before them, and behind them the same tags.
func wrapped(a, b []step) bool {
	more := len(b) - len(a)
	if more < 1 || more > mostWraps {
		return false
	}
	n := min(common(a, b), len(a)-1)
	return n > 1 && ending(a, b, len(a)-n, true) == len(a)-n
}

// sequence answers how long the longest common subsequence of two paths' tags is, over the
// length of the longer path.
func sequence(a, b []step) float64 {
	const limit = 48
	if len(a) > limit {
		a = a[len(a)-limit:]
	}
	if len(b) > limit {
		b = b[len(b)-limit:]
	}
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	var row [limit + 1]int
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			up := row[j+1]
			switch {
			case x.tag == y.tag:
				row[j+1] = diagonal + 1
			case row[j] > up:
				row[j+1] = row[j]
			}
			diagonal = up
		}
	}
	return float64(row[len(b)]) / float64(max(len(a), len(b)))
}

// before compares two elements of one page in the order of the document, as far as their paths
// tell: -1, 1, or 0 where they do not.
func before(a, b []step) int {
	n := common(a, b)
	if n >= len(a) || n >= len(b) || a[n].tag != b[n].tag {
		return 0
	}
	if a[n].index < b[n].index {
		return -1
	}
	return 1
}
