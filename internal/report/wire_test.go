package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReader(t *testing.T) {
	r := NewReader(strings.NewReader(`{"type":"hello","runner":"1"}` + "\n" + `{"type":"testEnd","id":"a","retry":-5,"durationMs":1.5,"new":{}}` + "\n"))
	m, err := r.Next()
	if err != nil || m.Type != "hello" || m.Runner != "1" {
		t.Fatalf("%+v, %v", m, err)
	}
	m, err = r.Next()
	if e, ok := m.Event(); err != nil || !ok || e.End.Retry != 0 || e.End.DurationMs != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, err = r.Next(); !errors.Is(err, io.EOF) || errors.Is(err, ErrGarbled) {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cut off": `{"type":"end"`, "no JSON": "hello\n", "no type": "{}\n", "a list": "[]\n", "wrong types": `{"type":5}` + "\n",
		"an empty line": "\n", "half a number": `{"type":"end","retry":1.5}` + "\n", "no time": `{"type":"testEnd","startedAt":"yesterday"}` + "\n"} {
		if _, err := NewReader(strings.NewReader(text)).Next(); !errors.Is(err, ErrGarbled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReaderIsBounded gives up a line that never ends.
func TestReaderIsBounded(t *testing.T) {
	if _, err := NewReader(endless{}).Next(); !errors.Is(err, ErrGarbled) {
		t.Errorf("%v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// FuzzReader reads arbitrary bytes: it ends, and what it answers is bounded text.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"type":"testEnd","id":"a","errors":[{"message":"` + "\xff" + `"}]}` + "\n"))
	f.Add([]byte(`{"type":"tests","tests":[{"id":"1","annotations":[{"type":"owner","description":"x"}]}]}` + "\n{}\n"))
	f.Add([]byte("{\"type\":\"error\",\"message\":\"a\\u0000\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		for range len(data) + 2 {
			m, err := r.Next()
			if err != nil {
				if !errors.Is(err, ErrGarbled) && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				if errors.Is(err, io.EOF) {
					return
				}
				continue
			}
			if e, ok := m.Event(); ok && e.End != nil {
				if e.End.Retry < 0 || e.End.Retry > maxRetries || len(e.End.Errors) > maxErrors {
					t.Fatalf("%+v", e.End)
				}
			}
			if msg := m.Failure().Message; !utf8.ValidString(msg) || strings.ContainsRune(msg, 0) || len(msg) > maxMessage+20 {
				t.Fatalf("%q", msg)
			}
			for _, x := range m.Tests {
				x.Listed()
			}
		}
		t.Fatal("it does not end")
	})
}
