package evidence

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestElements names elements as people with a screen reader meet them.
func TestElements(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ html, path, role, label string }{
		"button":                  {`["BUTTON",{},["IMG",{"alt":"Save"}]," all"]`, "/body[1]/button[1]", "button", "Save all"},
		"aria-label wins":         {`["BUTTON",{"aria-label":"Close"},"x"]`, "/body[1]/button[1]", "button", "Close"},
		"aria-labelledby wins":    {`["B",{"id":"a"},"One"],["B",{"id":"b"},"Two"],["BUTTON",{"aria-labelledby":"b a","aria-label":"x"},"y"]`, "/body[1]/button[1]", "button", "Two One"},
		"link":                    {`["A",{"href":"/x"},"Go"]`, "/body[1]/a[1]", "link", "Go"},
		"no link":                 {`["A",{"title":"T"},"Go"]`, "/body[1]/a[1]", "", "T"},
		"label for":               {`["LABEL",{"for":"m"},"E-mail"],["INPUT",{"id":"m","type":"email","placeholder":"p"}]`, "/body[1]/input[1]", "textbox", "E-mail"},
		"label around":            {`["LABEL",{},"Agree ",["INPUT",{"type":"checkbox"}]]`, "/body[1]/label[1]/input[1]", "checkbox", "Agree"},
		"placeholder":             {`["INPUT",{"placeholder":"Search"}]`, "/body[1]/input[1]", "textbox", "Search"},
		"submit":                  {`["INPUT",{"type":"submit","value":"Send"}]`, "/body[1]/input[1]", "button", "Send"},
		"password":                {`["INPUT",{"type":"password","value":"s3cret","title":"Password"}]`, "/body[1]/input[1]", "", "Password"},
		"select":                  {`["SELECT",{"aria-label":"Size"},["OPTION",{},"S"]]`, "/body[1]/select[1]", "combobox", "Size"},
		"heading":                 {`["H2",{},"Hello"," ",["EM",{},"there"]]`, "/body[1]/h2[1]", "heading", "Hello there"},
		"written role":            {`["DIV",{"role":"tab"},"One"]`, "/body[1]/div[1]", "tab", "One"},
		"picture":                 {`["IMG",{"alt":"A cat"}]`, "/body[1]/img[1]", "img", "A cat"},
		"decoration":              {`["IMG",{"alt":""}]`, "/body[1]/img[1]", "presentation", ""},
		"banner":                  {`["HEADER",{},"x"]`, "/body[1]/header[1]", "banner", ""},
		"no banner":               {`["ARTICLE",{},["HEADER",{},"x"]]`, "/body[1]/article[1]/header[1]", "", ""},
		"region":                  {`["SECTION",{"aria-label":"News"},"x"]`, "/body[1]/section[1]", "region", "News"},
		"no region":               {`["SECTION",{},"x"]`, "/body[1]/section[1]", "", ""},
		"a place to break a word": {`["BUTTON",{},"GET /api",["WBR",{}],"/books"]`, "/body[1]/button[1]", "button", "GET /api/books"},
		"hidden text is none":     {`["BUTTON",{},"Save",["SPAN",{"hidden":""}," secretly"]]`, "/body[1]/button[1]", "button", "Save"},
	} {
		n := &node{}
		if err := json.Unmarshal([]byte(`["HTML",{},["BODY",{},`+c.html+`]]`), n); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f := frames{}
		s := &snapshot{frame: "f", html: n}
		f.add(s)
		root, whole := f.page(s)
		if !whole {
			t.Fatalf("%s: it is not whole", name)
		}
		all, _, _ := elements(root, "data-testid", nil)
		found := false
		for _, e := range all {
			if e.Path != "/html[1]"+c.path {
				continue
			}
			found = true
			if e.Role != c.role || e.Name != c.label {
				t.Errorf("%s: %q %q, want %q %q", name, e.Role, e.Name, c.role, c.label)
			}
			if b, err := json.Marshal(e); err != nil || name == "password" && strings.Contains(string(b), "s3cret") {
				t.Errorf("%s: %s, %v", name, b, err)
			}
		}
		if !found {
			t.Errorf("%s: there is no %s in %+v", name, c.path, all)
		}
	}
}

// TestStateOfElements sees what is hidden and what is disabled, by itself or by what it is in.
func TestStateOfElements(t *testing.T) {
	t.Parallel()
	n := &node{}
	html := `["HTML",{},["BODY",{},["DIV",{"style":"Display: none"},["BUTTON",{"id":"a"},"x"]],["FIELDSET",{"disabled":""},["BUTTON",{"id":"b"},"x"]],["BUTTON",{"id":"c","aria-disabled":"true"},"x"],["BUTTON",{"id":"d"},"x"],["INPUT",{"id":"e","type":"hidden"}]]]`
	if err := json.Unmarshal([]byte(html), n); err != nil {
		t.Fatal(err)
	}
	s := &snapshot{frame: "f", html: n}
	f := frames{"f": {s}}
	root, _ := f.page(s)
	all, _, _ := elements(root, "data-testid", nil)
	for _, e := range all {
		if want := map[string][2]bool{"a": {true, false}, "b": {false, true}, "c": {false, true}, "d": {}, "e": {true, false}}[e.ID]; e.ID != "" && (e.Hidden != want[0] || e.Disabled != want[1]) {
			t.Errorf("%s: hidden %v, disabled %v", e.ID, e.Hidden, e.Disabled)
		}
	}
}
