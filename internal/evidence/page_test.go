package evidence

import (
	"strings"
	"testing"
)

func TestReadPage(t *testing.T) {
	all, err := ReadPage(`["html",{},["head",{}],["body",{},["main",{"id":"m"},"\n  ",["button",{"data-qa":"drop","type":"button"},"Drop ",["b",{},"mug"]],["template",{"__playwright_shadow_root_":"open"},["i",{},"x"]]]]]`, "data-qa")
	if err != nil || len(all) != 5 {
		t.Fatalf("%d elements, %v", len(all), err)
	}
	b := all[3]
	if b.TestID != "drop" || b.Role != "button" || b.Name != "Drop mug" || b.Landmark != "main" || b.Path != "/html[1]/body[1]/main[1]/button[1]" {
		t.Errorf("%+v", b)
	}
	for name, text := range map[string]string{
		"nothing":          ``,
		"a text":           `"html"`,
		"cut off":          `["html",{}`,
		"another one":      `["html",{},[[1,0]]]`,
		"itself":           `["html",{},[[0,1]]]`,
		"more than a node": `["html",{}] ["html",{}]`,
		"too deep":         strings.Repeat(`["a",{},`, 500) + `"x"` + strings.Repeat(`]`, 500),
		"too long":         `["a",{},"` + strings.Repeat("x", maxPage) + `"]`,
	} {
		if all, err := ReadPage(text, "data-testid"); err == nil {
			t.Errorf("%s: %d elements", name, len(all))
		}
	}
}

func FuzzReadPage(f *testing.F) {
	f.Add(`["html",{},["body",{},["p",{"id":"a"},"x"],[[0,1]]]]`)
	f.Add(`["html",{"a":1},["table",{},["tr",{},["td",{"aria-labelledby":"x x"},["input",{"id":"x"}]]]]]`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadPage(text, "data-testid")
		if err == nil && len(all) > maxElements {
			t.Errorf("%d elements", len(all))
		}
	})
}
