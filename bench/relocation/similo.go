package main

import (
	"math"
	"strings"
)

// similo scores a candidate as Similo does (Nass, Alégroth, Feldt, Leotta and Ricca, 2023): a sum of the
// similarities of fourteen properties, each with its weight. A property that one side lacks adds nothing.
func similo(old, now raw) float64 {
	var sum float64
	for _, p := range []struct {
		weight float64
		of     func(a, b raw) float64
	}{
		{1.5, equal("tag")}, {0.5, edits("class")}, {1.5, equal("name")}, {1.5, equal("id")}, {0.5, edits("href")}, {0.5, edits("alt")},
		{0.5, edits("xpath")}, {0.5, edits("idxpath")}, {0.5, equal("is_button")}, {0.5, near}, {0.5, proportion("area")}, {0.5, proportion("shape")},
		{1.5, visible}, {1.5, shared("neighbor_text")},
	} {
		sum += p.weight * p.of(old, now)
	}
	return sum
}

func equal(key string) func(a, b raw) float64 {
	return func(a, b raw) float64 {
		if a[key] != "" && strings.EqualFold(a[key], b[key]) {
			return 1
		}
		return 0
	}
}

func edits(key string) func(a, b raw) float64 {
	return func(a, b raw) float64 { return editSimilarity(a[key], b[key]) }
}

func visible(a, b raw) float64 {
	text := func(r raw) string {
		if t := r["visible_text"]; t != "" {
			return t
		}
		return r["text"]
	}
	return editSimilarity(text(a), text(b))
}

// editSimilarity is 1 less the Levenshtein distance over the longer text's length.
func editSimilarity(s, t string) float64 {
	if s == "" || t == "" {
		return 0
	}
	a, b := []rune(s), []rune(t)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return 1 - float64(row[len(b)])/float64(max(len(a), len(b)))
}

// near is 1 for one place and 0 from 100 pixels apart.
func near(a, b raw) float64 {
	ax, ok1 := number(a, "x")
	ay, ok2 := number(a, "y")
	bx, ok3 := number(b, "x")
	by, ok4 := number(b, "y")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return 0
	}
	return max(0, 100-math.Hypot(ax-bx, ay-by)) / 100
}

func proportion(key string) func(a, b raw) float64 {
	return func(a, b raw) float64 {
		x, ok1 := number(a, key)
		y, ok2 := number(b, key)
		if !ok1 || !ok2 || max(x, y) <= 0 {
			return 0
		}
		return 1 - math.Abs(x-y)/max(x, y)
	}
}

// shared is the letters of the words that both texts have, over those of the longer one.
func shared(key string) func(a, b raw) float64 {
	return func(a, b raw) float64 {
		x, y := strings.Fields(a[key]), strings.Fields(b[key])
		if len(x) == 0 || len(y) == 0 {
			return 0
		}
		has := map[string]bool{}
		for _, w := range y {
			has[w] = true
		}
		var n, common, m int
		for _, w := range x {
			n += len(w)
			if has[w] {
				common += len(w)
			}
		}
		for _, w := range y {
			m += len(w)
		}
		return min(1, float64(common)/float64(max(n, m, 1)))
	}
}
