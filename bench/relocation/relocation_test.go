package main

import (
	"fmt"
	"strings"
	"testing"

	"tas-service/internal/relocate"
)

const two = `{"app": "a", "targets": [{"tag": "a", "text": "x", "xpath": "/html[1]/a[1]", "widget_id": "1"}],
"candidates": [{"tag": "a", "text": "x", "xpath": "/html[1]/p[1]/a[1]", "widget_id": "1"}, {"tag": "p", "xpath": "/html[1]/p[1]"}, {"tag": "p", "xpath": "/html[1]/p[12]", "x": "3", "y": "4"}]}`

func oneLine() string { return strings.ReplaceAll(two, "\n", " ") }

func TestRead(t *testing.T) {
	sites, err := read(strings.NewReader(oneLine()+"\n\n"+oneLine()+"\n"), "pairs")
	if err != nil || len(sites) != 2 {
		t.Fatalf("%d sites, %v", len(sites), err)
	}
	s := sites[0]
	if left := s.without(s.gold[0]); len(left) != 1 || left[0] != 2 {
		t.Errorf("the removed element's page has %v", left)
	}
	if s.same(0, 1) || !s.tolerated(0, 1) || s.tolerated(0, 2) {
		t.Error("what contains the gold is tolerated, and not the gold")
	}
	if s.now[2].Box == nil || s.now[0].Box != nil {
		t.Error("a place is known where it is given, and only there")
	}
	for _, bad := range []string{"{", "[]", `{"targets": [{"tag": ["a"]}]}`, `{"targets": {}}`} {
		if _, err := read(strings.NewReader(bad), "pairs"); err == nil {
			t.Errorf("read %s", bad)
		}
	}
}

// TestReadOdd: what cannot be judged right counts as wrong, and what is labelled twice is right twice.
func TestReadOdd(t *testing.T) {
	sites, err := read(strings.NewReader(`{"targets": [{"widget_id": "1", "tag": "a", "x": 7, "id": null}, {"widget_id": "2"}], "candidates": [{"widget_id": "2", "xpath": "/a"}, {"widget_id": "2", "xpath": "/b"}, {"xpath": "/b/c"}, {"xpath": "/d"}]}`), "pairs")
	if err != nil {
		t.Fatal(err)
	}
	s := sites[0]
	if s.Targets[0]["x"] != "7" || s.gold[0] != none || s.same(0, none) || s.tolerated(0, none) || len(s.without(none)) != 4 {
		t.Errorf("%+v", s)
	}
	if !s.same(0, s.gold[1]) || !s.same(1, s.gold[1]) || s.same(3, s.gold[1]) || len(s.without(s.gold[1])) != 1 {
		t.Errorf("%+v", s)
	}
}

func FuzzReadPairs(f *testing.F) {
	f.Add(oneLine())
	f.Add(`{"targets": [{"widget_id": "1", "xpath": "/a[1]/*[local-name() = \"svg\"][1]", "href": "/web/1/x", "x": "1e9", "y": "NaN"}], "candidates": [{"widget_id": "1"}]}`)
	m, err := relocate.Shipped()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sites, err := read(strings.NewReader(text), "pairs")
		if err != nil {
			return
		}
		for _, s := range sites {
			if len(s.Targets)*len(s.Candidates) > 400 {
				return
			}
			whole, removed := ask(s, m)
			if len(whole) != len(s.Targets) || len(removed) != len(s.Targets) {
				t.Fatalf("%d answers for %d targets", len(whole), len(s.Targets))
			}
			for _, a := range append(whole, removed...) {
				if !(a.score >= 0 && a.score <= 1) {
					t.Fatalf("a probability of %v", a.score)
				}
			}
		}
	})
}

// TestJudge: at most one in a hundred of the removed cases may be answered, and the threshold is theirs.
func TestJudge(t *testing.T) {
	s := &site{Candidates: []raw{{"xpath": "/a"}, {"xpath": "/b"}, {"xpath": "/a/c"}}, gold: make([]int, 200)}
	var whole, removed []answer
	for i := range 200 {
		score := float64(i) / 200
		best := 0
		if i == 199 {
			best = 1 // wrong, and the surest
		} else if i == 198 {
			best = 2 // below the right one
		}
		whole = append(whole, answer{target: i, best: best, score: score})
		removed = append(removed, answer{target: i, best: 1, score: score / 2})
	}
	f := judge([]*site{s}, whole, removed)
	// the third surest of the removed has 197/400: whole ones above it are those from 99 on
	if f.pairs != 200 || f.top1 != 198 || f.tolerant != 199 || f.falseHeals != 2 || f.healed != 100 || f.wrong != 1 {
		t.Errorf("%+v", f)
	}
	for i := range removed {
		removed[i].score = 0.9 // ties: none may be answered
	}
	if f := judge([]*site{s}, whole, removed); f.falseHeals != 0 || f.healed != 18 {
		t.Errorf("%+v", f)
	}
}

func TestSimilo(t *testing.T) {
	e := raw{"tag": "a", "class": "x", "name": "n", "id": "i", "href": "/h", "alt": "z", "xpath": "/a", "idxpath": "/a", "is_button": "yes",
		"x": "1", "y": "1", "area": "10", "shape": "100", "visible_text": "buy now", "neighbor_text": "cart shop"}
	if got := similo(e, e); fmt.Sprintf("%.3f", got) != "12.000" {
		t.Errorf("an element is like itself by %v", got)
	}
	if got := similo(e, raw{}); got != 0 {
		t.Errorf("an element is like nothing by %v", got)
	}
	if got := editSimilarity("kitten", "sitting"); fmt.Sprintf("%.4f", got) != "0.5714" {
		t.Errorf("%v", got)
	}
}

// TestTraining learns a small thing: of two features, the first tells.
func TestTraining(t *testing.T) {
	choices := []choice{
		{features: [][]float64{{1, 0}, {0, 1}}, right: 0, weight: 1},
		{features: [][]float64{{0, 0}, {1, 1}, {1, 1}}, right: 1, pass: []bool{false, false, true}, weight: 1},
	}
	if w := fitChoice(choices, 2, 0.1); w[0] < 1 || w[0] < w[1] {
		t.Errorf("weights %v", w)
	}
	w := fitYes([][]float64{{1, 1}, {0, 1}, {1, 1}, {0, 1}}, []bool{true, false, true, false}, []float64{1, 1, 1, 1}, 0.1)
	if w[0] < 1 || w[1] > 0 {
		t.Errorf("weights %v", w)
	}
}

func BenchmarkPage5000(b *testing.B) {
	m, err := relocate.Shipped()
	if err != nil {
		b.Fatal(err)
	}
	old, now := relocate.Prepare(shop(5000, false)), relocate.Prepare(shop(5000, true))
	f := relocate.NewFinder(m, old, now)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f.Find((i*331+1)%5000, relocate.DefaultLimits())
	}
}
