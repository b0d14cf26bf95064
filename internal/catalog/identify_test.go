package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func known(id, file, title, body string, line int) Test {
	return Test{ID: id, File: file, TitlePath: []string{title}, BodyHash: body, Line: line, Present: true, Places: []string{Place(file, []string{title})}}
}

func listed(file, title, body string, line int) Listed {
	return Listed{File: file, TitlePath: []string{title}, BodyHash: body, Line: line}
}

func TestIdentify(t *testing.T) {
	elsewhere := known("e", "a", "now", "B", 1)
	elsewhere.Places = append(elsewhere.Places, Place("old", []string{"then"}))
	for _, c := range []struct {
		name    string
		known   []Test
		listed  []Listed
		renames map[string]string
		want    []int
	}{
		{"nothing known", nil, []Listed{listed("a", "x", "B", 1)}, nil, []int{-1}},
		{"same place, other body", []Test{known("1", "a", "x", "B", 1)}, []Listed{listed("a", "x", "C", 9)}, nil, []int{0}},
		{"file renamed", []Test{known("1", "a", "x", "B", 1)}, []Listed{listed("b", "x", "C", 1)}, map[string]string{"a": "b"}, []int{0}},
		{"a place of a branch", []Test{elsewhere}, []Listed{listed("old", "then", "Z", 1)}, nil, []int{0}},
		{"new title", []Test{known("1", "a", "x", "B", 1), known("2", "a", "y", "C", 2)}, []Listed{listed("a", "y", "C", 2), listed("a", "z", "B", 3)}, nil, []int{1, 0}},
		{"new title in a renamed file", []Test{known("1", "a", "x", "B", 1)}, []Listed{listed("b", "z", "B", 3)}, map[string]string{"a": "b"}, []int{0}},
		{"moved", []Test{known("1", "a", "x", "B", 1)}, []Listed{listed("b", "x", "B", 1)}, nil, []int{0}},
		{"moved with a new title", []Test{known("1", "a", "x", "B", 1)}, []Listed{listed("b", "y", "B", 1)}, nil, []int{0}},
		{"moved, and another with the same body", []Test{known("1", "a", "x", "B", 1)}, []Listed{listed("b", "y", "B", 1), listed("c", "z", "B", 1)}, nil, []int{-1, -1}},
		{"all is other", []Test{known("1", "a", "x", "B", 1)}, []Listed{listed("b", "y", "C", 1)}, nil, []int{-1}},
		{"no body known", []Test{known("1", "a", "x", "", 1)}, []Listed{listed("a", "y", "", 1)}, nil, []int{-1}},
		{"swapped titles stay with their places", []Test{known("1", "a", "x", "B", 1), known("2", "a", "y", "C", 2)},
			[]Listed{listed("a", "y", "B", 1), listed("a", "x", "C", 2)}, nil, []int{1, 0}},
		{"a parameter added", []Test{known("1", "a", "t one", "B", 1), known("2", "a", "t two", "B", 1)},
			[]Listed{listed("a", "t zero", "B", 1), listed("a", "t one", "B", 1), listed("a", "t two", "B", 1)}, nil, []int{-1, 0, 1}},
		{"all parametrised renamed, whatever their order was", []Test{known("9", "a", "greets Grace", "B", 1), known("1", "a", "greets Ada", "B", 1)},
			[]Listed{listed("a", "welcomes Ada", "B", 1), listed("a", "welcomes Grace", "B", 1)}, nil, []int{1, 0}},
		{"copies on lines of their own, renamed in order", []Test{known("1", "a", "uno", "B", 1), known("2", "a", "due", "B", 5)},
			[]Listed{listed("a", "eins", "B", 2), listed("a", "zwei", "B", 6)}, nil, []int{0, 1}},
	} {
		if got := Identify(c.known, c.listed, c.renames); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPlacesDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, parts := range [][]string{{"f", "a", "b"}, {"f", "a\x1fb"}, {"f", `a\ub`}, {"f\x1fa", "b"}, {"f", `a\`, "b"}, {"f", `a\\`, "b"}, {"f", "a", "", "b"}, {"f", "ab"}} {
		p := Place(parts[0], parts[1:])
		if other, ok := seen[p]; ok {
			t.Errorf("%q and %s have one place", parts, other)
		}
		seen[p] = fmt.Sprintf("%q", parts)
	}
}

// TestIdentityHolds lists arbitrary suites one after the other: no two tests ever have
// one ID, and a test that stays in its place keeps its own.
func TestIdentityHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Test
		before := map[string]string{}
		next := 0
		for range rapid.IntRange(1, 6).Draw(t, "listings") {
			var now []Listed
			has := map[string]bool{}
			for range rapid.IntRange(0, 8).Draw(t, "tests") {
				l := listed(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "file"), rapid.SampledFrom([]string{"x", "y", "x y", "x z", "z"}).Draw(t, "title"),
					rapid.SampledFrom([]string{"", "B", "C"}).Draw(t, "body"), rapid.IntRange(1, 3).Draw(t, "line"))
				if p := Place(l.File, l.TitlePath); !has[p] { // Playwright refuses two of one title
					has[p] = true
					now = append(now, l)
				}
			}
			renames := map[string]string{}
			if rapid.Bool().Draw(t, "renamed") {
				renames[rapid.SampledFrom([]string{"a", "b"}).Draw(t, "from")] = "c"
			}
			save, ids := Sync("p", all, now, renames, Listing{Default: true, Complete: rapid.Bool().Draw(t, "complete")}, time.Now(), func() string { next++; return strconv.Itoa(next) })
			seen := map[string]bool{}
			after := map[string]string{}
			for i, id := range ids {
				if id == "" || seen[id] {
					t.Fatalf("two tests have the ID %q: %v", id, ids)
				}
				seen[id] = true
				p := Place(now[i].File, now[i].TitlePath)
				if was, ok := before[p]; ok && was != id {
					t.Fatalf("%q stayed in its place and was %s, is %s", p, was, id)
				}
				after[p] = id
			}
			for _, s := range save {
				if i := slices.IndexFunc(all, func(k Test) bool { return k.ID == s.ID }); i >= 0 {
					all[i] = s
				} else {
					all = append(all, s)
				}
			}
			for i, id := range ids {
				k := all[slices.IndexFunc(all, func(k Test) bool { return k.ID == id })]
				if k.File != now[i].File || !slices.Equal(k.TitlePath, now[i].TitlePath) || !k.Present {
					t.Fatalf("%s is kept as %+v", id, k)
				}
			}
			before = after
		}
	})
}

// TestManyParameters keeps the identity of thousands of tests that share a body when what
// stands around them is renamed, without comparing each with each.
func TestManyParameters(t *testing.T) {
	t.Parallel()
	const n = 5000
	var known []Test
	var inDescribe, renamed []Listed
	for i := range n {
		own := fmt.Sprintf("takes case %d", i)
		known = append(known, Test{ID: fmt.Sprint(i), File: "a.spec.ts", TitlePath: []string{"old", own}, BodyHash: "b", Line: 7})
		inDescribe = append(inDescribe, Listed{File: "a.spec.ts", TitlePath: []string{"new", own}, BodyHash: "b", Line: 9})
		renamed = append(renamed, Listed{File: "a.spec.ts", TitlePath: []string{"new", "accepts" + own[len("takes"):]}, BodyHash: "b", Line: 9})
	}
	for name, listed := range map[string][]Listed{"describe": inDescribe, "describe and titles": renamed} {
		for i, k := range Identify(known, listed, nil) {
			if k != i {
				t.Fatalf("%s: test %d became %d", name, i, k)
			}
		}
	}
}

// TestOtherBranch lets another branch change nothing of what is listed, and know its own.
func TestOtherBranch(t *testing.T) {
	t.Parallel()
	at := func(title, body string) Listed {
		return Listed{File: "a.spec.ts", TitlePath: []string{title}, BodyHash: body, Line: 1}
	}
	next := 0
	newID := func() string { next++; return fmt.Sprint(next) }
	now := time.Now()
	main, _ := Sync("p", nil, []Listed{at("A", "a"), at("B", "b")}, nil, Listing{Default: true, Complete: true}, now, newID)
	save, ids := Sync("p", main, []Listed{at("A renamed", "a"), at("C", "c")}, nil, Listing{Complete: true}, now, newID)
	if ids[0] != "1" || ids[1] != "3" {
		t.Fatalf("IDs on the branch: %v", ids)
	}
	for _, s := range save {
		switch {
		case s.ID == "1" && (s.Title() != "A" || !s.Present || len(s.Places) != 2):
			t.Errorf("the branch changed a known test: %+v", s)
		case s.ID == "2":
			t.Errorf("the branch dropped a test that it does not have: %+v", s)
		case s.ID == "3" && s.Present:
			t.Errorf("a test of the branch alone is listed: %+v", s)
		}
	}
	if first, _ := Sync("p", nil, []Listed{at("C", "c")}, nil, Listing{}, now, newID); !first[0].Present {
		t.Errorf("with nothing listed yet, a branch's tests are not listed either: %+v", first)
	}
}
