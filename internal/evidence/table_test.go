package evidence

import (
	"strings"
	"testing"

	"tas-service/internal/relocate"
)

// shown answers the elements of a page of a trace.
func shown(t *testing.T, page string) []relocate.Element {
	t.Helper()
	got, err := read(packed(t, map[string]string{"0-trace.trace": strings.Join([]string{start,
		`{"type":"before","callId":"c1","startTime":10,"class":"Frame","method":"expect","params":{"selector":"th"}}`,
		shot("c1", "after", "https://x.example/", page), `{"type":"after","callId":"c1","endTime":20}`}, "\n") + "\n"}))
	if err != nil || len(got.Steps) != 1 {
		t.Fatalf("%v, %d steps", err, len(got.Steps))
	}
	return got.Steps[0].Page
}

// TestLabelOfField does not take what a field holds for its label.
func TestLabelOfField(t *testing.T) {
	t.Parallel()
	for _, e := range shown(t, `["HTML",{},["BODY",{},["LABEL",{},"Country ",["SELECT",{"id":"a"},["OPTION",{},"Germany"],["OPTION",{},"France"]]],["LABEL",{"for":"b"},"Note ",["TEXTAREA",{"id":"b"},"Hello"]]]]`) {
		if want := map[string]string{"a": "Country", "b": "Note"}[e.ID]; e.ID != "" && e.Name != want {
			t.Errorf("#%s is called %q, not %q", e.ID, e.Name, want)
		}
	}
}

// TestRowKey goes by the first text of a table's row, and by the heading of an entry of a list.
func TestRowKey(t *testing.T) {
	t.Parallel()
	want := map[string]string{"body": "200", "other": "404", "buy": "Mug", "200": "Response"}
	for _, e := range shown(t, `["HTML",{},["BODY",{},["TABLE",{},["TR",{},["TD",{"id":"200"},"200"],["TD",{},["H5",{},"Response"],["PRE",{"id":"body"},"{}"]]],["TR",{},["TD",{},"404"],["TD",{},["H5",{},"Response"],["PRE",{"id":"other"},"{}"]]]],["UL",{},["LI",{},"New! ",["H2",{},"Mug"],["BUTTON",{"id":"buy"},"Buy"]]]]]`) {
		if key, asked := want[e.ID]; asked && e.RowKey != key {
			t.Errorf("#%s is in the row %q, not %q", e.ID, e.RowKey, key)
		}
	}
}

// TestHeaderRole tells headers of rows from those of columns.
func TestHeaderRole(t *testing.T) {
	t.Parallel()
	page := `["HTML",{},["BODY",{},["TABLE",{},["TR",{},["TH",{},"Name"],["TH",{},"Price"]],["TR",{},["TH",{},"Tea"],["TD",{},"4.50"]],["TR",{},["TH",{"scope":"row"},"Mug"],["TH",{"scope":"col"},"9.00"]]]]]`
	want := map[string]string{"Name": "columnheader", "Price": "columnheader", "Tea": "rowheader", "Mug": "rowheader", "9.00": "columnheader"}
	for _, e := range shown(t, page) {
		if e.Tag == "th" && e.Role != want[e.Text] {
			t.Errorf("%s is a %s", e.Text, e.Role)
		}
	}
}
