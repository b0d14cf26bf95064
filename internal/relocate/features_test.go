package relocate

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

func features(old, now Element) map[string]float64 {
	a, b := Prepare([]Element{old}), Prepare([]Element{now})
	var v pairVector
	pairFeatures(&a.elements[0], &b.elements[0], a, b, &v)
	out := map[string]float64{}
	for i, n := range PairNames() {
		out[n] = v[i]
	}
	return out
}

// TestMissingIsNotDifferent: where one side does not know a property, nothing says that it differs.
func TestMissingIsNotDifferent(t *testing.T) {
	known := Element{Tag: "a", Text: "Cart", ID: "cart", Class: "link", Href: "/cart", Type: "x", NameAttr: "cart", Near: []string{"Help"}, Box: &Box{1, 2, 3, 4}}
	for _, got := range []map[string]float64{features(known, Element{Tag: "a"}), features(Element{Tag: "a"}, known)} {
		for _, n := range []string{"label-missing", "id-missing", "class-missing", "href-missing", "near-missing", "no-box"} {
			if got[n] != 1 {
				t.Errorf("%s is %v", n, got[n])
			}
		}
		for _, n := range []string{"name-differs", "type-differs", "href-differs", "label-equal", "label-words", "place", "size"} {
			if got[n] != 0 {
				t.Errorf("%s is %v, though one side is not known", n, got[n])
			}
		}
	}
	same := features(known, known)
	for _, n := range []string{"label-equal", "id-equal", "class", "href-equal", "near", "place", "size", "name-equal", "type"} {
		if math.Abs(same[n]-1) > 1e-9 {
			t.Errorf("%s of equals is %v", n, same[n])
		}
	}
	differs := features(known, Element{Tag: "a", Href: "/help", Type: "y", NameAttr: "help"})
	for _, n := range []string{"name-differs", "type-differs", "href-differs"} {
		if differs[n] != 1 {
			t.Errorf("%s is %v", n, differs[n])
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"saveButton": "save button", "btn--primary_large": "btn primary large", "Sign in!": "sign in", "h2o": "h 2 o",
		"women’s": "women’s", "über-uns": "über uns", "": "", "--": "", "HTMLParser": "htmlparser",
	} {
		if got := strings.Join(split(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for href, want := range map[string]string{
		"https://www.example.org/a/": "example.org/a", "//example.org/a#top": "example.org/a", "/a?b=1": "/a?b=1",
		"javascript:void(0)": "", "#": "", "https://web.archive.org/web/20150101000000/http://example.org/x": "example.org/x",
	} {
		if got := addressOf(href); got != want {
			t.Errorf("%q: %q, want %q", href, got, want)
		}
	}
}

func TestMade(t *testing.T) {
	for name, want := range map[string]bool{"save-button": false, "col-md-6": false, "css-1x2y3z": true, "component4826377973857554580": true, "h1": false, "step2": false} {
		if made(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestMadeNamesDoNotCount: what a build tool named anew is no difference.
func TestMadeNamesDoNotCount(t *testing.T) {
	got := features(Element{Tag: "a", Class: "css-1x2y3z nav-link"}, Element{Tag: "a", Class: "nav-link css-9a8b7c"})
	if math.Abs(got["class"]-1) > 1e-9 || math.Abs(got["class-words"]-1) > 1e-9 {
		t.Errorf("class %v, words in it %v", got["class"], got["class-words"])
	}
}

// TestRegions: tags, words and landmarks that mean the same part of a page are one, and what is
// not said differs from nothing.
func TestRegions(t *testing.T) {
	header := Element{Tag: "a", Path: "/html[1]/body[1]/header[1]/nav[1]/a[1]"}
	for _, c := range []struct {
		name          string
		now           Element
		same, differs float64
	}{
		{"by its tags", Element{Path: "/html[1]/body[1]/div[3]/header[1]/a[1]"}, 1, 0},
		{"by its anchor", Element{Path: "/html[1]/body[1]/div[3]/a[1]", Anchored: `id("site-header")/a[1]`}, 1, 0},
		{"by its anchor, written otherwise", Element{Path: "/html[1]/body[1]/div[3]/a[1]", Anchored: `//*[@id='site-header']/a[1]`}, 1, 0},
		{"by its class", Element{Path: "/html[1]/body[1]/div[3]/a[1]", Class: "header-link"}, 1, 0},
		{"by its landmark", Element{Path: "/html[1]/body[1]/div[3]/a[1]", Landmark: "banner"}, 1, 0},
		{"navigation, elsewhere", Element{Path: "/html[1]/body[1]/footer[1]/nav[1]/a[1]"}, 1, 1},
		{"elsewhere", Element{Path: "/html[1]/body[1]/footer[1]/a[1]"}, 0, 1},
		{"in a form", Element{Path: "/html[1]/body[1]/form[1]/a[1]"}, 0, 0},
		{"not known", Element{Path: "/html[1]/body[1]/div[3]/a[1]", Anchored: `id("header7f3a9c21")/a[1]`}, 0, 0},
	} {
		if got := features(header, c.now); got["region"] != c.same || got["region-differs"] != c.differs {
			t.Errorf("%s: same %v, differs %v", c.name, got["region"], got["region-differs"])
		}
	}
	got := features(Element{Tag: "a", Anchored: `id("main-menu")/li[1]/a[1]`}, Element{Tag: "a", Anchored: `id("mainMenu")/a[1]`})
	if math.Abs(got["anchor-words"]-1) > 1e-9 {
		t.Errorf("anchors of the same words are alike by %v", got["anchor-words"])
	}
}

func TestPaths(t *testing.T) {
	a := stepsOf(`/html[1]/body[1]/div[2]/a[1]`)
	if len(a) != 4 || a[2].index != 2 {
		t.Fatalf("%v", a)
	}
	if b := stepsOf(`/html[1]/body[1]/div[2]/a[1]/*[local-name() = "svg"][1]`); !under(b, a) || under(a, b) || !related(a, b) || len(b) != 5 {
		t.Errorf("%v is below %v", b, a)
	}
	if b := stepsOf(`/html[1]/body[1]/div[2]/a[12]`); related(a, b) || before(a, b) != -1 || before(b, a) != 1 || common(a, b) != 3 {
		t.Errorf("%v and %v are beside each other", a, b)
	}
	if under(a, nil) || len(stepsOf("")) != 0 || len(stepsOf("]][(")) != 1 {
		t.Error("what is no path")
	}
	if got := sequence(a, stepsOf(`/html[1]/body[1]/main[1]/div[1]/a[1]`)); math.Abs(got-4.0/5) > 1e-9 {
		t.Errorf("sequence %v", got)
	}
	if ending(a, stepsOf(`/x[1]/div[2]/a[1]`), 4, false) != 2 || ending(a, stepsOf(`/x[1]/div[3]/a[1]`), 4, false) != 1 || ending(a, stepsOf(`/x[1]/div[3]/a[1]`), 4, true) != 2 {
		t.Error("endings")
	}
}

func TestModelFile(t *testing.T) {
	m := shippedModel(t)
	var text bytes.Buffer
	if err := m.Write(&text, "again"); err != nil {
		t.Fatal(err)
	}
	again, err := Read(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Pair, again.Pair) || !slices.Equal(m.Rank, again.Rank) || !slices.Equal(m.Decision, again.Decision) {
		t.Error("written and read, the weights are others")
	}
	for _, bad := range []string{"", "{}", strings.Replace(text.String(), "label-equal", "label-equals", 1)} {
		if _, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("read %.40q", bad)
		}
	}
}

func TestNamesAreOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range DecisionNames() {
		if n == "" || seen[n] {
			t.Errorf("%q is there twice or empty", n)
		}
		seen[n] = true
	}
	if len(DecisionNames()) != decisionFeatureCount {
		t.Error("not every feature has a name")
	}
}
