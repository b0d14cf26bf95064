package evidence

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tas-service/internal/relocate"
)

// packed makes a trace of files' texts.
func packed(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(b []byte) (Test, error) {
	return Read(context.Background(), bytes.NewReader(b), int64(len(b)))
}

// shot is a line with a snapshot.
func shot(call, phase, url, html string) string {
	return fmt.Sprintf(`{"type":"frame-snapshot","snapshot":{"callId":%q,"phase":%q,"frameId":"f","frameUrl":%q,"isMainFrame":true,"html":%s}}`, call, phase, url, html)
}

const (
	start = `{"type":"context-options","playwrightVersion":"1.65.1","testIdAttributeName":"data-qa"}`
	table = `["HTML",{},["HEAD",{},["TITLE",{},"Shop"]],["BODY",{},["MAIN",{},["H1",{},"Orders"],["TABLE",{},["TR",{},["TD",{},"Tea"],["TD",{},["BUTTON",{"data-qa":"drop","class":"x"},"Remove"]]],["TR",{},["TD",{},"Mug"],["TD",{},["BUTTON",{"data-qa":"drop","class":"x"},"Remove"]]]]]]]`
)

// clicked is a trace in which the second row's button is clicked: its page is told by
// references to the page before.
func clicked() map[string]string {
	return map[string]string{
		"0-trace.trace": strings.Join([]string{start,
			`{"type":"before","callId":"c1","startTime":10,"class":"Frame","method":"goto","params":{"url":"/orders"}}`,
			shot("c1", "before", "about:blank", `["HTML",{},["BODY",{}]]`),
			`{"type":"after","callId":"c1","endTime":20}`,
			shot("c1", "after", "http://127.0.0.1:4711/orders/12?page=2", table),
			`{"type":"before","callId":"c2","startTime":30,"class":"Frame","method":"click","params":{"selector":"internal:testid=[data-qa=\"drop\"s] >> nth=1","strict":true}}`,
			shot("c2", "before", "http://127.0.0.1:4711/orders/12?page=2", `[[1,20]]`),
			`{"type":"input","callId":"c2","box":{"x":1,"y":2,"width":3,"height":4}}`,
			// the nodes of the page, children first: 0 Shop, 1 title, 2 head, 3 Orders, 4 h1, 5 Tea, 6 td, 7 Remove, 8 button, 9 td, 10 tr, …
			shot("c2", "action", "http://127.0.0.1:4711/orders/12?page=2", `["HTML",{},[[2,2]],["BODY",{},["MAIN",{},[[2,4]],["TABLE",{},[[2,10]],["TR",{},["TD",{},"Mug"],["TD",{},["BUTTON",{"data-qa":"drop","class":"x","__playwright_target__":""},"Remove"]]]]]]]`),
			`{"type":"event","time":35,"method":"dialog","params":{"type":"confirm"}}`,
			`{"type":"event","time":36,"method":"pageError","params":{}}`,
			`{"type":"after","callId":"c2","endTime":40}`,
			shot("c2", "after", "http://127.0.0.1:4711/orders", `[[1,9]]`),
			`{"type":"before","callId":"c3","startTime":60,"class":"Frame","method":"fill","params":{"selector":"#pw","value":"s3cret"}}`,
			`{"type":"after","callId":"c3","endTime":70,"error":{"message":"Timeout"}}`,
			`{"type":"before","callId":"c4","startTime":80,"class":"Frame","method":"expect","params":{"selector":"h1","expression":"to.have.text","isNot":true,"expectedText":[{"string":"Cart"}]}}`}, "\n") + "\n",
		"0-trace.stacks": `{"files":["/r/tests/a.spec.ts","/r/pages/orders.ts"],"stacks":[["c2",[[1,7,9,"Orders.drop"],[0,12,3,""]]],["c9",[[7,1,1,""]]],[3,[[0,1,1]]]]}`,
		"0-trace.network": strings.Join([]string{
			`{"type":"resource-snapshot","snapshot":{"_monotonicTime":32,"request":{"method":"GET","url":"http://127.0.0.1:4711/static/app.css","headers":[{"name":"Sec-Fetch-Dest","value":"style"}]},"response":{"status":200}}}`,
			`{"type":"resource-snapshot","snapshot":{"_monotonicTime":41,"request":{"method":"DELETE","url":"http://127.0.0.1:4711/api/orders/0190a6c4-7f3e-7a11-9c1e-2b9f3d8e5a77?b=1&a=2","headers":[{"name":"sec-fetch-dest","value":"empty"},{"name":"Cookie","value":"s3cret"}]},"response":{"status":204}}}`,
			`{"type":"resource-snapshot","snapshot":{"_monotonicTime":65,"request":{"method":"GET","url":"https://other.example/x.json"},"response":{"status":200,"content":{"mimeType":"application/json"}}}}`}, "\n"),
		"test.trace":  `{"type":"before","callId":"c2","startTime":29,"class":"Test","method":"pw:api","params":{"locator":"getByTestId('drop').nth(1)"},"stack":[{"file":"/r/x.ts","line":1,"column":1}]}` + "\n",
		"resources/x": "not read",
	}
}

// TestRead tells of each step where it is, what it was done to and what it brought about.
func TestRead(t *testing.T) {
	t.Parallel()
	got, err := read(packed(t, clicked()))
	if err != nil || got.Cut || got.Playwright != "1.65.1" || got.TestIDs != "data-qa" || len(got.Steps) != 4 {
		t.Fatalf("%v, cut %v, %s, %s, %d steps", err, got.Cut, got.Playwright, got.TestIDs, len(got.Steps))
	}
	open, click, fill, check := got.Steps[0], got.Steps[1], got.Steps[2], got.Steps[3]
	if open.Effect.Navigated != "loopback/orders/{}?page" || open.Target != nil || len(open.Page) == 0 {
		t.Errorf("%+v", open)
	}
	if click.At() != (Frame{"/r/pages/orders.ts", 7, 9, "Orders.drop"}) || len(click.Stack) != 2 || click.Locator != "getByTestId('drop').nth(1)" || click.Error != "" || click.Assertion() {
		t.Errorf("%+v", click)
	}
	want := relocate.Element{Key: "/html[1]/body[1]/main[1]/table[1]/tr[2]/td[2]/button[1]", Tag: "button", Role: "button", Name: "Remove", TestID: "drop", Class: "x", Text: "Remove", OwnText: "Remove",
		Headings: []string{"Orders"}, Landmark: "main", RowKey: "Mug", Path: "/html[1]/body[1]/main[1]/table[1]/tr[2]/td[2]/button[1]", Anchored: "/html[1]/body[1]/main[1]/table[1]/tr[2]/td[2]/button[1]",
		Box: &relocate.Box{X: 1, Y: 2, Width: 3, Height: 4}, Near: []string{"Mug", "Tea Remove", "Orders"}}
	if click.Target == nil || jsonOf(*click.Target) != jsonOf(want) {
		t.Errorf("target:\n%s\nwant\n%s", jsonOf(click.Target), jsonOf(want))
	}
	if other := click.Page[slices.IndexFunc(click.Page, func(e relocate.Element) bool { return e.TestID == "drop" })]; other.RowKey != "Tea" || other.Box != nil {
		t.Errorf("the other button: %+v", other)
	}
	if e := click.Effect; jsonOf(e) != jsonOf(Effect{Calls: []Call{{Method: "DELETE", Path: "loopback/api/orders/{}?a&b", Status: 204, Filled: "?a,?b"}}, Navigated: "loopback/orders", Dialog: "confirm", Uncaught: 1}) {
		t.Errorf("%+v", e)
	}
	if fill.Error != "Timeout" || !strings.Contains(jsonOf(fill.Effect), "other.example/x.json") {
		t.Errorf("%+v", fill)
	}
	if check.Matcher != "to.have.text" || !check.Negative || check.Expected != "Cart" || check.Error == "" || !check.Assertion() {
		t.Errorf("%+v", check)
	}
	if text := jsonOf(got); strings.Contains(text, "s3cret") {
		t.Errorf("what was typed, or a cookie, is kept: %s", text)
	}
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestReadDamaged reads what it can, and says that it was not all.
func TestReadDamaged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(f map[string]string){
		"no JSON":              func(f map[string]string) { f["0-trace.trace"] = "{\n" + f["0-trace.trace"] },
		"a reference to later": func(f map[string]string) { f["0-trace.trace"] += shot("c4", "after", "x", `["HTML",{},[[-1,0]]]`) },
		"a reference to itself": func(f map[string]string) {
			f["0-trace.trace"] += shot("c4", "after", "x", `["HTML",{},["B",{},[[0,1]]]]`)
		},
		"a reference too far": func(f map[string]string) { f["0-trace.trace"] += shot("c4", "after", "x", `[[1,4000]]`) },
		"too deep": func(f map[string]string) {
			f["0-trace.trace"] += shot("c4", "after", "x", strings.Repeat(`["B",{},`, 900)+`"x"`+strings.Repeat("]", 900))
		},
		"too long":  func(f map[string]string) { f["0-trace.trace"] += `{"x":"` + strings.Repeat("x", maxLine) + `"}` + "\n" },
		"bad stack": func(f map[string]string) { f["0-trace.stacks"] = "[" },
	} {
		files := clicked()
		change(files)
		got, err := read(packed(t, files))
		if err != nil || !got.Cut || len(got.Steps) != 4 {
			t.Errorf("%s: %v, cut %v, %d steps", name, err, got.Cut, len(got.Steps))
		}
	}
	for name, b := range map[string][]byte{"nothing": nil, "no zip": []byte("hello"), "half": packed(t, clicked())[:300]} {
		if _, err := read(b); !errors.Is(err, ErrNoTrace) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSame holds effects together that are one deed.
func TestSame(t *testing.T) {
	t.Parallel()
	e := Effect{Calls: []Call{{Method: "GET", Path: "h/a", Status: 200}, {Method: "POST", Path: "h/orders", Status: 201}}, Navigated: "h/done"}
	for name, c := range map[string]struct {
		o    Effect
		same bool
	}{
		"itself":           {e, true},
		"another status":   {Effect{Calls: []Call{{Method: "POST", Path: "h/orders", Status: 200}}, Navigated: "h/done"}, true},
		"reads differ":     {Effect{Calls: []Call{{Method: "POST", Path: "h/orders", Status: 201}, {Method: "GET", Path: "h/b", Status: 500}}, Navigated: "h/done"}, true},
		"it failed":        {Effect{Calls: []Call{{Method: "POST", Path: "h/orders", Status: 500}}, Navigated: "h/done"}, false},
		"another path":     {Effect{Calls: []Call{{Method: "POST", Path: "h/drafts", Status: 201}}, Navigated: "h/done"}, false},
		"one more":         {Effect{Calls: []Call{{Method: "POST", Path: "h/orders", Status: 201}, {Method: "DELETE", Path: "h/cart", Status: 204}}, Navigated: "h/done"}, false},
		"went nowhere":     {Effect{Calls: []Call{{Method: "POST", Path: "h/orders", Status: 201}}}, false},
		"asked a question": {Effect{Calls: []Call{{Method: "POST", Path: "h/orders", Status: 201}}, Navigated: "h/done", Dialog: "confirm"}, false},
	} {
		if e.Same(c.o) != c.same || c.o.Same(e) != c.same {
			t.Errorf("%s: %v", name, !c.same)
		}
	}
}

// TestTemplate leaves out what differs from one run to the next. The runner has the same rule
// and is held to the same cases.
func TestTemplate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "templates.json"))
	var cases map[string]string
	if err := errors.Join(err, json.Unmarshal(text, &cases)); err != nil || len(cases) < 20 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for in, want := range cases {
		if got, _ := Template(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// FuzzRead never hangs, panics or answers out of bounds.
func FuzzRead(f *testing.F) {
	all := clicked()
	f.Add(all["0-trace.trace"], all["0-trace.stacks"], all["0-trace.network"], all["test.trace"])
	f.Add(start+"\n"+shot("c", "after", "http://h/", `["HTML",{},[[0,0]]]`), "{}", "", "")
	f.Fuzz(func(t *testing.T, trace, stacks, network, own string) {
		got, err := read(packed(t, map[string]string{"0-trace.trace": trace, "0-trace.stacks": stacks, "0-trace.network": network, "test.trace": own}))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Steps {
			if len(s.Page) > maxElements || len(s.Effect.Calls) > maxCalls || s.Target != nil && s.Target.Path == "" {
				t.Errorf("%+v", s)
			}
		}
	})
}

// TestEffectUnderCheck takes what happens while a check waits for the effect of the act
// before it, and none for the check's.
func TestEffectUnderCheck(t *testing.T) {
	t.Parallel()
	got, err := read(packed(t, map[string]string{
		"0-trace.trace": strings.Join([]string{start,
			`{"type":"before","callId":"c1","startTime":10,"class":"Frame","method":"click","params":{"selector":"#a"}}`,
			shot("c1", "before", "http://localhost/cart", `["HTML",{},["BODY",{}]]`),
			`{"type":"after","callId":"c1","endTime":12}`,
			shot("c1", "after", "http://localhost/cart", `[[1,1]]`),
			`{"type":"before","callId":"c2","startTime":13,"class":"Frame","method":"expect","params":{"selector":"h1","expression":"to.have.text"}}`,
			`{"type":"after","callId":"c2","endTime":40}`,
			shot("c2", "after", "http://localhost/orders/7", `["HTML",{},["BODY",{}]]`),
			`{"type":"before","callId":"c3","startTime":50,"class":"Frame","method":"click","params":{"selector":"#b"}}`,
			`{"type":"after","callId":"c3","endTime":55}`}, "\n"),
		"0-trace.network": `{"type":"resource-snapshot","snapshot":{"_monotonicTime":20,"request":{"method":"POST","url":"http://localhost/orders","headers":[{"name":"sec-fetch-dest","value":"document"}]},"response":{"status":303}}}`,
	}))
	if err != nil || len(got.Steps) != 3 {
		t.Fatalf("%v, %d steps", err, len(got.Steps))
	}
	if e := got.Steps[0].Effect; jsonOf(e) != jsonOf(Effect{Calls: []Call{{Method: "POST", Path: "loopback/orders", Status: 303}}, Navigated: "loopback/orders/{}"}) {
		t.Errorf("the act: %+v", e)
	}
	for _, s := range got.Steps[1:] {
		if jsonOf(s.Effect) != jsonOf(Effect{}) {
			t.Errorf("%s: %+v", s.Method, s.Effect)
		}
	}
}
