package evidence

import (
	"strings"
	"testing"
)

// TestFilled tells under which names requests carry values, of each sort of body, and no value.
func TestFilled(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"0-trace.trace": start + "\n" + `{"type":"before","callId":"c1","startTime":10,"class":"Frame","method":"click","params":{"selector":"button"}}` + "\n" + `{"type":"after","callId":"c1","endTime":20}` + "\n",
		"resources/j":   `{"name":"s3cret","note":"","none":null,"agreed":false,"items":[{"id":7},{"id":8,"gift":"s3cret"}],"by":{"s3cret@x.example":1,"20190611":2}}`,
		"resources/m":   "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"s3cret.png\"\r\n\r\n…\r\n--x\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"word\"\r\n\r\ns3cret\r\n--x--\r\n",
		"resources/b":   "{", "resources/f": "a=s3cret&b=",
	}
	var lines []string
	for _, request := range []string{
		`"method":"GET","url":"https://x.example/search?q=s3cret&page="`,
		`"method":"POST","url":"https://x.example/form","postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"email","value":"s3cret"},{"name":"code","value":" "}],"_sha1":"b"}`,
		`"method":"POST","url":"https://x.example/form8","postData":{"mimeType":"application/x-www-form-urlencoded;charset=UTF-8","params":[],"_sha1":"f"}`,
		`"method":"PUT","url":"https://x.example/json","postData":{"mimeType":"application/merge-patch+json","params":[],"_sha1":"j"}`,
		`"method":"POST","url":"https://x.example/parts","postData":{"mimeType":"multipart/form-data; boundary=x","params":[],"_sha1":"m"}`,
		`"method":"POST","url":"https://x.example/broken","postData":{"mimeType":"application/json","params":[],"_sha1":"b"}`,
		`"method":"POST","url":"https://x.example/missing","postData":{"mimeType":"application/json","params":[],"_sha1":"nowhere"}`,
	} {
		lines = append(lines, `{"type":"resource-snapshot","snapshot":{"_monotonicTime":15,"request":{`+request+`,"headers":[{"name":"sec-fetch-dest","value":"empty"}]},"response":{"status":200}}}`)
	}
	files["0-trace.network"] = strings.Join(lines, "\n")
	got, err := read(packed(t, files))
	if err != nil || len(got.Steps) != 1 {
		t.Fatalf("%v, %d steps", err, len(got.Steps))
	}
	want := []string{"?q", "email", "a", "agreed,by.{},items[].gift,items[].id,name", "file,word", "", ""}
	calls := got.Steps[0].Effect.Calls
	if len(calls) != len(want) {
		t.Fatalf("%d calls", len(calls))
	}
	for i, c := range calls {
		if c.Filled != want[i] {
			t.Errorf("%s %s: %q, not %q", c.Method, c.Path, c.Filled, want[i])
		}
	}
	if text := jsonOf(got); strings.Contains(text, "s3cret") {
		t.Errorf("a value is kept: %s", text)
	}
}
