package report

import (
	"strings"
	"testing"
)

// TestAsk reads a question with all its words, and none that is out of bounds.
func TestAsk(t *testing.T) {
	read := func(text string) Message {
		t.Helper()
		m, err := NewReader(strings.NewReader(text + "\n")).Next()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, ok := read(`{"type":"recover","id":"3","test":"x","retry":-1,"method":"click","selector":"css=a","frames":[{"file":"a.ts","line":1,"column":2,"function":"f"}],"earlier":[{"line":1,"column":2}],"url":"http://a/","page":"[]","failed":[{"method":"GET","path":"a/b","status":404}],"uncaught":2}`).Ask()
	if !ok || a.Test != "x" || a.Retry != 0 || a.Frames[0].File != "a.ts" || a.Frames[0].Function != "f" || a.Earlier[0].Column != 2 || a.Failed[0].Status != 404 || a.Uncaught != 2 || a.Page != "[]" {
		t.Errorf("%+v %v", a, ok)
	}
	for name, text := range map[string]string{
		"no ID": `{"type":"recover"}`, "another message": `{"type":"warning","id":"1"}`,
		"a large page":   `{"type":"recover","id":"1","page":"` + strings.Repeat("x", maxPage+1) + `"}`,
		"a long address": `{"type":"recover","id":"1","url":"` + strings.Repeat("x", maxMessage+1) + `"}`,
		"many places":    `{"type":"recover","id":"1","earlier":[{}` + strings.Repeat(",{}", maxEarlier) + `]}`,
	} {
		if _, ok := read(text).Ask(); ok {
			t.Errorf("%s is taken", name)
		}
	}
	e, _ := read(`{"type":"testEnd","id":"x","recovered":[{"method":"click","before":"a","after":"b","file":"f","line":1,"why":"w"},{},{},{}]}`).Event()
	if len(e.End.Recovered) != maxRecovered || e.End.Recovered[0].After != "b" {
		t.Errorf("%+v", e.End.Recovered)
	}
}
