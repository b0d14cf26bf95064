// Package llmtest is the doubles of servers of models, one for each protocol, which speak it
// over real HTTP, and the suite that every client passes.
package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"tas-service/internal/llm"
)

// What a double knows.
const (
	Key   = "sk-test-0123456789abcdef"
	Model = "tester-1"
)

// Asked is a question as it came over the wire.
type Asked struct {
	System      string
	Messages    []llm.Message
	Tools       []llm.Tool
	Schema      json.RawMessage // of the answer, however it was said
	Held        string          // how: "schema", "tool", "json" or "" for in words at most
	MaxTokens   int
	Temperature *float64
	Body        []byte
}

// Say is what a double answers.
type Say struct {
	Text  string
	Calls []llm.Call
	Stop  llm.Stop // "" for llm.Done, and llm.Calling with calls
	Usage llm.Usage

	Status int               // of a refusal; 0 for an answer
	Header map[string]string // of a refusal
	Error  string            // message of a refusal
	Raw    string            // the whole body instead, as it is
	Hang   bool              // it answers nothing until the caller gives up
	Cut    bool              // the connection ends in the middle of the answer
}

// Double is a server. Make it with Anthropic or OpenAI.
type Double struct {
	URL string // for the client's settings

	mu      sync.Mutex
	answer  func(Asked) Say
	without []string
	asked   []Asked
}

// protocol is how a double reads and writes.
type protocol struct {
	path string
	// key reads the key that a call brings.
	key func(http.Header) string
	// read answers the question, and which optional parameters it has by name.
	read  func(body []byte, h http.Header) (asked Asked, model string, has []string, err error)
	write func(a Asked, s Say) any
	wrong func(status int, message string) any
}

// Answer sets what is answered from now on.
func (d *Double) Answer(f func(Asked) Say) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer = f
}

// Without makes the double refuse parameters by name, as servers do that do not know them.
func (d *Double) Without(names ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.without = names
}

// Asked answers the questions that were answered so far.
func (d *Double) Asked() []Asked {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

func start(t testing.TB, p protocol) *Double {
	d := &Double{answer: func(Asked) Say { return Say{Text: "hello", Usage: llm.Usage{Input: 7, Output: 3}} }}
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		give := func(status int, header map[string]string, body any) {
			for k, v := range header {
				w.Header().Set(k, v)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			json.NewEncoder(w).Encode(body) //nolint:errcheck // the caller may be gone
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
		switch {
		case err != nil:
			return
		case r.Method != http.MethodPost || r.URL.Path != p.path:
			give(404, nil, p.wrong(404, "no such address"))
			return
		case p.key(r.Header) != Key:
			// It says the key, as some do.
			give(401, nil, p.wrong(401, "wrong key: "+p.key(r.Header)))
			return
		}
		asked, model, has, err := p.read(body, r.Header)
		if err != nil {
			give(400, nil, p.wrong(400, "the question is not the protocol's: "+err.Error()))
			return
		}
		if model != Model {
			give(404, nil, p.wrong(404, "model: "+model))
			return
		}
		asked.Body = body
		d.mu.Lock()
		for _, name := range d.without {
			if slices.Contains(has, name) {
				d.mu.Unlock()
				give(400, nil, p.wrong(400, fmt.Sprintf("Unsupported parameter: '%s' is not supported.", name)))
				return
			}
		}
		d.asked = append(d.asked, asked)
		answer := d.answer
		d.mu.Unlock()
		s := answer(asked)
		switch {
		case s.Hang:
			select {
			case <-r.Context().Done():
			case <-over:
			}
		case s.Status != 0:
			give(s.Status, s.Header, p.wrong(s.Status, s.Error))
		case s.Raw != "":
			io.WriteString(w, s.Raw) //nolint:errcheck // the caller may be gone
		case s.Cut:
			text, err := json.Marshal(p.write(asked, s))
			if err != nil {
				panic(err)
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			w.Write(text[:len(text)/2]) //nolint:errcheck // the caller may be gone
			panic(http.ErrAbortHandler)
		default:
			give(200, nil, p.write(asked, s))
		}
	}))
	t.Cleanup(func() { close(over); server.Close() })
	d.URL = server.URL
	return d
}

// strict reads JSON and refuses what a protocol does not know.
func strict(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
