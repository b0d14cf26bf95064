package report

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// packed makes a trace of files and their texts.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readTrace(b []byte) (Trace, error) {
	return ReadTrace(context.Background(), bytes.NewReader(b), int64(len(b)))
}

// TestReadTrace reads what three versions of Playwright wrote of testdata/traces/shop.spec.js.
func TestReadTrace(t *testing.T) {
	for _, version := range []string{"1.50", "1.56", "1.65"} {
		t.Run(version, func(t *testing.T) {
			b, err := os.ReadFile("testdata/traces/playwright-" + version + ".zip")
			if err != nil {
				t.Fatal(err)
			}
			x, err := readTrace(b)
			if err != nil || x.Cut || x.MoreConsole+x.MoreRequests != 0 {
				t.Fatalf("%+v, %v", x, err)
			}
			var said []string
			for _, c := range x.Console {
				at := c.URL[strings.LastIndexByte(c.URL, '/')+1:]
				said = append(said, fmt.Sprintf("%s %q %s:%d:%d", c.Kind, c.Text, at, c.Line, c.Column))
				if c.At <= 0 || c.N != 1 {
					t.Errorf("%+v", c)
				}
			}
			for _, want := range []string{`warning "the price is old {tea: 4.5}" shop.js:3:9`, `error "no stock of \x1b[31mtea\x1b[0m" shop.js:4:9`,
				`uncaught "Error: the cart is closed" shop.js:9:16`, `uncaught "ReferenceError: cart is not defined" shop.js:8:20`,
				`error "Failed to load resource: the server responded with a status of 503 (Service Unavailable)" cart:0:0`} {
				if !strings.Contains(strings.Join(said, "\n"), want) {
					t.Errorf("%s is missing in\n%s", want, strings.Join(said, "\n"))
				}
			}
			if len(said) != 7 {
				t.Errorf("%d complaints:\n%s", len(said), strings.Join(said, "\n"))
			}
			var asked []string
			for _, r := range x.Requests {
				asked = append(asked, fmt.Sprintf("%s %s %d %s", r.Method, r.URL[strings.Index(r.URL[8:], "/")+8:], r.Status, r.Text))
			}
			want := []string{"GET /api/prices 0 net::ERR_UNSAFE_PORT", "GET /api/stock?tea=1 404 Not Found", "POST /api/cart 503 Service Unavailable", "GET /slow 0 net::ERR_ABORTED", "GET /api/orders 404 Not Found"}
			for _, w := range want {
				if !strings.Contains(strings.Join(asked, "\n"), w) {
					t.Errorf("%s is missing in\n%s", w, strings.Join(asked, "\n"))
				}
			}
			if len(asked) != len(want) {
				t.Errorf("%d requests:\n%s", len(asked), strings.Join(asked, "\n"))
			}
		})
	}
}

// TestReadTraceOfOthers reads what browsers and tests tell in other ways.
func TestReadTraceOfOthers(t *testing.T) {
	x, err := readTrace(packed(t, "0-trace.trace", strings.Join([]string{
		`{"type":"context-options","monotonicTime":1000}`,
		`{"type":"event","time":3000,"method":"pageError","params":{"error":{"value":{"s":"thrown"}}}}`,
		`{"type":"event","time":2000,"method":"pageError","params":{"error":{"error":{"name":"TypeError","message":"TypeError: x","stack":"f@https://shop.example/a/app.js:7:3\n"}}}}`,
		`{"type":"event","time":2500,"method":"pageError","params":{"error":{}}}`,
		`{"type":"console","messageType":"error","text":"again","time":4000}`,
		`{"type":"console","messageType":"error","text":"again","time":5000}`,
		`{"type":"console","messageType":"info","text":"no error"}`,
	}, "\n"), "0-trace.network", `{"type":"resource-snapshot","snapshot":{"request":{"method":"GET","url":"https://ada:secret@shop.example/"},"response":{"status":401,"statusText":""}}}`+"\n"+
		`{"type":"resource-snapshot","snapshot":{"request":{"method":"GET","url":"https://shop.example/open"},"response":{"status":-1}}}`))
	if err != nil || len(x.Console) != 4 || len(x.Requests) != 1 || x.Cut {
		t.Fatalf("%+v, %v", x, err)
	}
	c := x.Console
	if c[0].Text != "TypeError: x" || c[0].Line != 7 || c[0].Column != 3 || !strings.HasSuffix(c[0].URL, "/app.js") || c[0].At.Seconds() != 1 || c[2].Text != "thrown" || c[3].N != 2 {
		t.Errorf("%+v", c)
	}
	if strings.Contains(x.Requests[0].URL, "secret") {
		t.Errorf("%+v", x.Requests)
	}
}

// TestReadTraceIsBounded lets no trace fill the memory or go on for ever.
func TestReadTraceIsBounded(t *testing.T) {
	var many strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&many, `{"type":"console","messageType":"error","text":"%d"}`+"\n", i)
	}
	x, err := readTrace(packed(t, "a.trace", many.String(), "b.network", strings.ReplaceAll(many.String()[:100_000], `"type":"console"`, `"status":500`)))
	if err != nil || len(x.Console) != maxKept || x.MoreConsole != 1_000_000-maxKept {
		t.Errorf("%d kept, %d more, %v", len(x.Console), x.MoreConsole, err)
	}
	line := `{"type":"console","messageType":"error","text":"` + strings.Repeat("x", 2*maxTraceLine) + `"}`
	if x, err = readTrace(packed(t, "a.trace", line+"\n"+`{"type":"console","messageType":"error","text":"`+strings.Repeat("é", maxTraceText)+`"}`)); err != nil || x.MoreConsole != 1 || len(x.Console) != 1 || len(x.Console[0].Text) > maxTraceText+20 {
		t.Errorf("%d kept, %d more, %v", len(x.Console), x.MoreConsole, err)
	}

	var bomb bytes.Buffer
	z := zip.NewWriter(&bomb)
	w, err := z.Create("large.trace")
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range maxUnpacked>>20 + 1 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if x, err := readTrace(bomb.Bytes()); err != nil || !x.Cut {
		t.Errorf("a bomb of %d bytes: %+v, %v", bomb.Len(), x, err)
	}

	var files []string
	for i := range 200_000 {
		files = append(files, fmt.Sprint(i), "")
	}
	if _, err := readTrace(packed(t, files...)); !errors.Is(err, ErrNoTrace) {
		t.Errorf("200,000 files: %v", err)
	}
	if x, err := readTrace(packed(t, strings.Split(strings.Repeat("a.trace,,", maxTraceFiles+1), ",")...)); err != nil || !x.Cut {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestReadTraceIsDamaged answers what can be read, or says that nothing can.
func TestReadTraceIsDamaged(t *testing.T) {
	whole, err := os.ReadFile("testdata/traces/playwright-1.65.zip")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"nothing": {}, "text": []byte("<html>"), "the first half": whole[:len(whole)/2], "all but the end": whole[:len(whole)-5]} {
		if _, err := readTrace(b); !errors.Is(err, ErrNoTrace) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What zips say of where things are need not be so: in one file after the other each byte is another.
	for i := len(whole) - 22; i < len(whole); i++ {
		for _, b := range []byte{0x00, 0x01, 0x7f, 0x80, 0xff} {
			odd := bytes.Clone(whole)
			odd[i] = b
			if _, err := readTrace(odd); err != nil && !errors.Is(err, ErrNoTrace) {
				t.Errorf("byte %d is %d: %v", i, b, err)
			}
		}
	}
	worn := bytes.Clone(whole)
	for i := 100; i < 600; i++ {
		worn[i] ^= 0x55
	}
	if x, err := readTrace(worn); err != nil || !x.Cut {
		t.Errorf("%+v, %v", x, err)
	}
	if x, err := readTrace(packed(t, "a.trace", `{"type":"console","messageType":"error"`+"\n"+`{"type":"console","messageType":"error","text":"x"}`)); err != nil || !x.Cut || len(x.Console) != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	broken := errors.New("the disk is gone")
	if _, err := ReadTrace(context.Background(), gone{bytes.NewReader(whole), broken}, int64(len(whole))); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ReadTrace(ctx, bytes.NewReader(whole), int64(len(whole))); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// gone is a file whose reading fails.
type gone struct {
	io.Seeker
	err error
}

func (g gone) Read([]byte) (int, error) { return 0, g.err }

// FuzzTrace reads arbitrary lines and arbitrary zips: it ends, and what it answers is bounded text.
func FuzzTrace(f *testing.F) {
	for _, version := range []string{"1.50", "1.56", "1.65"} {
		b, err := os.ReadFile("testdata/traces/playwright-" + version + ".zip")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "")
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range z.File {
			if r, err := x.Open(); err == nil && (strings.HasSuffix(x.Name, ".trace") || strings.HasSuffix(x.Name, ".network")) {
				text, _ := io.ReadAll(r)
				f.Add([]byte(nil), string(text))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, lines string) {
		x, err := readTrace(b)
		check(t, x, err)
		x, err = readTrace(packed(t, "a.trace", lines, "a.network", lines))
		if check(t, x, err); err != nil {
			t.Fatal(err)
		}
	})
}

func check(t *testing.T, x Trace, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrNoTrace) {
		t.Fatal(err)
	}
	if len(x.Console) > maxKept || len(x.Requests) > maxKept {
		t.Fatalf("%d, %d", len(x.Console), len(x.Requests))
	}
	text := func(s string) {
		if len(s) > maxTraceText+20 || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			t.Fatalf("%q", s)
		}
	}
	for _, c := range x.Console {
		if text(c.Text); c.Line < 0 || c.Column < 0 || c.At < 0 || c.N < 1 {
			t.Fatalf("%+v", c)
		}
		text(c.URL)
	}
	for _, r := range x.Requests {
		text(r.Method + r.Text)
		if text(r.URL); r.Status != 0 && (r.Status < 400 || r.Status > 999) || r.At < 0 || r.N < 1 {
			t.Fatalf("%+v", r)
		}
	}
}
