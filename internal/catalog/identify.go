package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// Identify answers, for each listed test, the index in known of the test that it is, or
// -1 for a new one. No known test is answered twice.
//
// The evidence, strongest first; a later rule sees only what an earlier one left open:
//
//  1. the same file and title as the last time;
//  2. git says that the file was renamed, and the title is the same;
//  3. the file and title are ones under which the test was listed before (a branch);
//  4. the same body in the same file (or the one that it was renamed to): a new title;
//  5. the same body, and the same title, in any file: moved, with more changed around it;
//  6. the same body anywhere, where exactly one known and one listed test have it.
//
// Tests that share a body are matched in rule 4 by their own titles, then by their order
// when none came or went and each has its own line, and else, as the parametrised are, by
// how alike their titles are.
func Identify(known []Test, listed []Listed, renames map[string]string) []int {
	m := &matcher{known: known, listed: listed, renames: renames,
		of: make([]int, len(listed)), taken: make([]bool, len(known))}
	for i := range m.of {
		m.of[i] = -1
	}
	m.byKey(func(k Test) []string { return []string{Place(k.File, k.TitlePath)} })
	m.byKey(func(k Test) []string {
		if to, ok := renames[k.File]; ok {
			return []string{Place(to, k.TitlePath)}
		}
		return nil
	})
	m.byKey(func(k Test) []string { return k.Places })
	m.byGroup(func(file, body string, _ []string) string { return file + "\x1f" + body }, m.pair)
	m.byGroup(func(_, body string, path []string) string { return body + "\x1f" + last(path) }, m.only)
	m.byGroup(func(_, body string, _ []string) string { return body }, m.only)
	return m.of
}

type matcher struct {
	known   []Test
	listed  []Listed
	renames map[string]string
	of      []int  // by listed: index in known, or -1
	taken   []bool // by known
}

func (m *matcher) match(l, k int) {
	m.of[l], m.taken[k] = k, true
}

// byKey matches each open listed test with the open known test that has its place.
func (m *matcher) byKey(places func(Test) []string) {
	index := map[string]int{}
	for k, t := range m.known {
		if m.taken[k] {
			continue
		}
		for _, p := range places(t) {
			// Of two that were once listed there, the one seen last is meant.
			if other, ok := index[p]; !ok || t.LastSeen.After(m.known[other].LastSeen) {
				index[p] = k
			}
		}
	}
	for l, t := range m.listed {
		if m.of[l] >= 0 {
			continue
		}
		if k, ok := index[Place(t.File, t.TitlePath)]; ok && !m.taken[k] {
			m.match(l, k)
		}
	}
}

// byGroup gathers what is still open, on both sides, by a key over file (as it is called
// now), body and title path, and lets decide match within each group. Tests whose body
// is not known take no part.
func (m *matcher) byGroup(key func(file, body string, path []string) string, decide func(listed, known []int)) {
	type group struct{ listed, known []int }
	groups := map[string]*group{}
	at := func(k string) *group {
		if groups[k] == nil {
			groups[k] = &group{}
		}
		return groups[k]
	}
	for l, t := range m.listed {
		if m.of[l] < 0 && t.BodyHash != "" {
			g := at(key(t.File, t.BodyHash, t.TitlePath))
			g.listed = append(g.listed, l)
		}
	}
	for k, t := range m.known {
		if !m.taken[k] && t.BodyHash != "" {
			file := t.File
			if to, ok := m.renames[file]; ok {
				file = to
			}
			g := at(key(file, t.BodyHash, t.TitlePath))
			g.known = append(g.known, k)
		}
	}
	for _, g := range groups {
		if len(g.listed) > 0 && len(g.known) > 0 {
			decide(g.listed, g.known)
		}
	}
}

// only matches a group of one and one.
func (m *matcher) only(listed, known []int) {
	if len(listed) == 1 && len(known) == 1 {
		m.match(listed[0], known[0])
	}
}

// pair matches a group in the same file: first by the test's own title, which stays when
// only a describe is renamed; then by order, where nothing came or went and each test has
// a line of its own; else by likeness of titles, as parametrised tests share their line.
func (m *matcher) pair(listed, known []int) {
	listed, known = m.sameTitle(listed, known)
	if len(listed) == 0 || len(known) == 0 {
		return
	}
	slices.SortStableFunc(known, func(a, b int) int { return cmp.Compare(m.known[a].Line, m.known[b].Line) })
	whole := len(listed) == len(known)
	switch {
	case whole && m.linesDiffer(known):
		m.inOrder(listed, known)
	case len(listed)*len(known) <= maxLikeness:
		least := 0.5
		if whole {
			least = 0
		}
		m.alike(listed, known, least)
	case whole:
		// Too many to compare: a parameter's place among the titles hardly changes.
		slices.SortStableFunc(listed, func(a, b int) int { return slices.Compare(m.listed[a].TitlePath, m.listed[b].TitlePath) })
		slices.SortStableFunc(known, func(a, b int) int { return slices.Compare(m.known[a].TitlePath, m.known[b].TitlePath) })
		m.inOrder(listed, known)
	}
}

// maxLikeness bounds how many pairs of titles are compared for one group.
const maxLikeness = 200 * 200

// sameTitle matches tests whose own title is one of a kind on both sides, and answers the rest.
func (m *matcher) sameTitle(listed, known []int) (restListed, restKnown []int) {
	of := map[string]int{} // index in known, or -1 for several
	for _, k := range known {
		title := last(m.known[k].TitlePath)
		if _, twice := of[title]; twice {
			of[title] = -1
		} else {
			of[title] = k
		}
	}
	times := map[string]int{}
	for _, l := range listed {
		times[last(m.listed[l].TitlePath)]++
	}
	for _, l := range listed {
		title := last(m.listed[l].TitlePath)
		if k, ok := of[title]; ok && k >= 0 && times[title] == 1 {
			m.match(l, k)
		} else {
			restListed = append(restListed, l)
		}
	}
	for _, k := range known {
		if !m.taken[k] {
			restKnown = append(restKnown, k)
		}
	}
	return restListed, restKnown
}

func (m *matcher) inOrder(listed, known []int) {
	for i, l := range listed {
		m.match(l, known[i])
	}
}

// alike matches the pairs whose titles are most alike, at least by least, best first.
func (m *matcher) alike(listed, known []int, least float64) {
	type option struct {
		l, k  int
		score float64
	}
	var options []option
	pairsOf := make([]map[string]int, len(known))
	for i, k := range known {
		pairsOf[i] = bigrams(strings.Join(m.known[k].TitlePath, " "))
	}
	for _, l := range listed {
		own := bigrams(strings.Join(m.listed[l].TitlePath, " "))
		for i, k := range known {
			if s := likeness(own, pairsOf[i]); s >= least {
				options = append(options, option{l, k, s})
			}
		}
	}
	slices.SortStableFunc(options, func(a, b option) int { return cmp.Compare(b.score, a.score) })
	for _, o := range options {
		if m.of[o.l] < 0 && !m.taken[o.k] {
			m.match(o.l, o.k)
		}
	}
}

func (m *matcher) linesDiffer(known []int) bool {
	for i := 1; i < len(known); i++ {
		if m.known[known[i]].Line == m.known[known[i-1]].Line {
			return false
		}
	}
	return true
}

// bigrams counts the pairs of neighbouring bytes of a text.
func bigrams(s string) map[string]int {
	out := map[string]int{}
	for i := range max(0, len(s)-1) {
		out[s[i:i+2]]++
	}
	return out
}

// likeness is the Sørensen–Dice coefficient of two texts' bigrams: 0 (nothing in common)
// to 1 (the same ones).
func likeness(a, b map[string]int) float64 {
	common, all := 0, 0
	for p, n := range a {
		common += min(n, b[p])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(common) / float64(all)
}

func last(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}
