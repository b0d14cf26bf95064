package evidence

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"tas-service/internal/relocate"
)

func pictureAt(b []byte, method, selector string) (Picture, error) {
	return PictureAt(context.Background(), bytes.NewReader(b), int64(len(b)), method, selector)
}

const jpeg = "\xff\xd8\xff\xe0"

// filmed is a trace of two pages with pictures, in which two steps fail.
func filmed() map[string]string {
	return map[string]string{
		"0-trace.trace": strings.Join([]string{
			`{"type":"screencast-frame","pageId":"p1","file":"screencast/a.jpeg","width":1280,"height":720,"timestamp":10}`,
			`{"type":"before","callId":"c1","startTime":11,"pageId":"p1","class":"Frame","method":"click","params":{"selector":"#gone"}}`,
			`{"type":"screencast-frame","pageId":"p2","file":"screencast/other.jpeg","timestamp":15}`,
			`{"type":"screencast-frame","pageId":"p1","file":"screencast/b.jpeg","timestamp":14}`,
			`{"type":"after","callId":"c1","endTime":20,"error":{"message":"Timeout"}}`,
			`{"type":"screencast-frame","pageId":"p1","sha1":"page@x-1.jpeg","timestamp":25}`,
			`{"type":"before","callId":"c2","startTime":26,"pageId":"p1","class":"Frame","method":"expect","params":{"selector":"h1"}}`,
			`{"type":"after","callId":"c2","endTime":30,"error":{"message":"Timeout"}}`,
			`not json "before"`}, "\n"),
		"test.trace":              `{"type":"screencast-frame","pageId":"p1","file":"screencast/never.jpeg","timestamp":29}`,
		"screencast/a.jpeg":       jpeg + "a",
		"screencast/b.jpeg":       jpeg + "b",
		"screencast/other.jpeg":   jpeg + "other",
		"resources/page@x-1.jpeg": jpeg + "c",
	}
}

// TestPictureAt answers the page as it was when the step gave up, and never what is no image.
func TestPictureAt(t *testing.T) {
	t.Parallel()
	b := packed(t, filmed())
	if !HasPictures(bytes.NewReader(b), int64(len(b))) {
		t.Error("its pictures are not seen")
	}
	for _, c := range []struct{ method, selector, want string }{
		{"click", "#gone", "b"}, {"expect", "h1", "c"}, {"fill", "#nowhere", "c"}, {"", "", "c"},
	} {
		p, err := pictureAt(b, c.method, c.selector)
		if err != nil || string(p.Body) != jpeg+c.want || p.ContentType != "image/jpeg" {
			t.Errorf("%s %s: %q %s, %v", c.method, c.selector, p.Body, p.ContentType, err)
		}
	}
	for name, change := range map[string]func(map[string]string){
		"HTML":      func(f map[string]string) { f["screencast/b.jpeg"] = "<script>alert(1)</script>" },
		"SVG":       func(f map[string]string) { f["screencast/b.jpeg"] = "<svg onload=alert(1)>" },
		"missing":   func(f map[string]string) { delete(f, "screencast/b.jpeg") },
		"none":      func(f map[string]string) { delete(f, "0-trace.trace") },
		"too large": func(f map[string]string) { f["screencast/b.jpeg"] = jpeg + strings.Repeat("x", maxPicture) },
		"a way out": func(f map[string]string) {
			f["0-trace.trace"] = strings.ReplaceAll(f["0-trace.trace"], "screencast/b", "../b")
		},
		"its source": func(f map[string]string) {
			f["0-trace.trace"] = strings.ReplaceAll(f["0-trace.trace"], "screencast/b.jpeg", "test.trace")
		},
	} {
		files := filmed()
		change(files)
		if p, err := pictureAt(packed(t, files), "click", "#gone"); !errors.Is(err, ErrNoTrace) || len(p.Body) > 0 {
			t.Errorf("%s: %d bytes, %v", name, len(p.Body), err)
		}
	}
	// The page before a step was done, and where its element was.
	files := filmed()
	files["0-trace.trace"] = strings.Replace(files["0-trace.trace"], `{"type":"before","callId":"c2"`, `{"type":"input","callId":"c1","point":{"x":5,"y":6},"box":{"x":1,"y":2,"width":30,"height":40}}
{"type":"before","callId":"c2"`, 1)
	b = packed(t, files)
	p, err := PictureOf(t.Context(), bytes.NewReader(b), int64(len(b)), "c1")
	if err != nil || string(p.Body) != jpeg+"a" || p.Width != 1280 || p.Height != 720 || p.Box == nil || *p.Box != (relocate.Box{X: 1, Y: 2, Width: 30, Height: 40}) {
		t.Errorf("%+v, %v", p, err)
	}
	plain := packed(t, clicked())
	if HasPictures(bytes.NewReader(plain), int64(len(plain))) || HasPictures(strings.NewReader("no zip"), 6) {
		t.Error("pictures are seen where there are none")
	}
}

// FuzzPicture answers images or nothing, whatever a trace holds.
func FuzzPicture(f *testing.F) {
	files := filmed()
	f.Add([]byte(files["0-trace.trace"]), []byte(files["screencast/b.jpeg"]), "click", "#gone")
	f.Add([]byte(`{"type":"screencast-frame","file":"x","timestamp":1}`), []byte("\x89PNG\r\n\x1a\n"), "", "")
	f.Fuzz(func(t *testing.T, trace, body []byte, method, selector string) {
		b := packed(t, map[string]string{"0-trace.trace": string(trace), "screencast/b.jpeg": string(body), "x": string(body)})
		p, err := pictureAt(b, method, selector)
		if err == nil && (len(p.Body) == 0 || !strings.HasPrefix(p.ContentType, "image/")) {
			t.Errorf("%d bytes of %q", len(p.Body), p.ContentType)
		}
		if err != nil && !errors.Is(err, ErrNoTrace) {
			t.Error(err)
		}
	})
}
