package main

import (
	"fmt"
	"slices"
	"time"

	"tas-service/internal/relocate"
)

// shop makes a page of n elements: rows of a list with links and buttons that are much alike,
// and its later version, in which a wrapper was put around and every class was renamed.
func shop(n int, later bool) []relocate.Element {
	root, prefix := "/html[1]/body[1]/main[1]", "old"
	if later {
		root, prefix = "/html[1]/body[1]/div[1]/main[1]", "new"
	}
	out := make([]relocate.Element, 0, n)
	for i := 0; len(out) < n; i++ {
		row := fmt.Sprintf("%s/ul[%d]/li[%d]", root, i/50+1, i%50+1)
		name := fmt.Sprintf("article %d of shelf %d", i, i%37)
		box := func(x, w float64) *relocate.Box {
			return &relocate.Box{X: x, Y: float64(40 * i), Width: w, Height: 32}
		}
		out = append(out,
			relocate.Element{Tag: "li", Class: prefix + "-row", Text: name + " add remove details", Path: row, RowKey: name, Box: box(0, 900)},
			relocate.Element{Tag: "a", Class: prefix + "-row-link", Href: fmt.Sprintf("/articles/%d", i), Text: name, Path: row + "/a[1]", RowKey: name, Near: []string{"add", "remove"}, Box: box(10, 300)},
			relocate.Element{Tag: "button", Class: prefix + "-row-add", Text: "add", Name: "add " + name, Path: row + "/button[1]", RowKey: name, Near: []string{name}, Box: box(320, 80)},
			relocate.Element{Tag: "button", Class: prefix + "-row-remove", Text: "remove", Name: "remove " + name, Path: row + "/button[2]", RowKey: name, Near: []string{name}, Box: box(410, 80)},
			relocate.Element{Tag: "input", Type: "number", NameAttr: fmt.Sprintf("count-%d", i), Path: row + "/input[1]", RowKey: name, Near: []string{name}, Box: box(500, 60)})
	}
	return out[:n]
}

type largeTimes struct{ prepare, find float64 } // milliseconds

func largePage() (largeTimes, error) {
	m, err := relocate.Shipped()
	if err != nil {
		return largeTimes{}, err
	}
	begin := time.Now()
	old := relocate.Prepare(shop(5000, false))
	now := relocate.Prepare(shop(5000, true))
	t := largeTimes{prepare: float64(time.Since(begin).Microseconds()) / 2000}
	f := relocate.NewFinder(m, old, now)
	var took []time.Duration
	for i := range 15 {
		begin = time.Now()
		f.Find(1+i*331, relocate.DefaultLimits())
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	t.find = float64(took[len(took)/2].Microseconds()) / 1000
	return t, nil
}
