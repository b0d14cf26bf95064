package llmtest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/llm"
)

// Client makes the client under test. http lends its timeout; nil for the client's own.
type Client func(url, key, model string, http *http.Client) llm.Model

var schema = json.RawMessage(`{"type":"object","properties":{"choice":{"type":"string","enum":["1","none"]}},"required":["choice"],"additionalProperties":false}`)

func ask(text string) llm.Request {
	return llm.Request{System: "You are asked by tests.", Messages: []llm.Message{{Role: llm.User, Text: text}}, MaxTokens: 50}
}

// Conform holds a client to what package llm promises. start starts a double of its protocol;
// less is how an answer is held to its schema by a server that does not know schemas, and by
// one that knows nothing of the kind.
func Conform(t *testing.T, start func(testing.TB) *Double, make Client, less [2]string) {
	ctx := context.Background()
	t.Run("answers", func(t *testing.T) {
		t.Parallel()
		d := start(t)
		m := make(d.URL+"/", Key, Model, nil)
		r, err := m.Ask(ctx, ask("How are you? ‹ü›\n\"quoted\""))
		if err != nil || r.Text != "hello" || r.Stop != llm.Done || r.Usage != (llm.Usage{Input: 7, Output: 3}) || len(r.Calls) != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		a := d.Asked()[0]
		if a.System != "You are asked by tests." || len(a.Messages) != 1 || a.Messages[0].Text != "How are you? ‹ü›\n\"quoted\"" || a.MaxTokens != 50 || a.Temperature == nil || *a.Temperature != 0 {
			t.Errorf("it was asked %+v", a)
		}
		if m.Name() != Model {
			t.Errorf("it is called %q", m.Name())
		}
		d.Answer(func(Asked) Say { return Say{Text: "hel", Stop: llm.Length} })
		if r, err := m.Ask(ctx, ask("x")); err != nil || r.Stop != llm.Length || r.Text != "hel" {
			t.Errorf("too long: %+v, %v", r, err)
		}
		d.Answer(func(Asked) Say { return Say{Stop: llm.Refused} })
		if r, err := m.Ask(ctx, ask("x")); err != nil || r.Stop != llm.Refused {
			t.Errorf("refused: %+v, %v", r, err)
		}
	})
	t.Run("schema", func(t *testing.T) {
		t.Parallel()
		d := start(t)
		m := make(d.URL, Key, Model, nil)
		r := ask("Choose.")
		r.Schema = schema
		d.Answer(func(Asked) Say { return Say{Text: `{"choice":"1"}`} })
		held := func(want string) {
			t.Helper()
			got, err := m.Ask(ctx, r)
			if err != nil || got.Text != `{"choice":"1"}` || got.Stop != llm.Done || len(got.Calls) > 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			all := d.Asked()
			a := all[len(all)-1]
			if a.Held != want || want != "" && want != "json" && !same(a.Schema, schema) || want != "schema" && want != "tool" && !strings.Contains(a.System, string(schema)) {
				t.Errorf("the answer is held by %q with %s: %s", a.Held, a.Schema, a.System)
			}
		}
		held("schema")
		// A server that knows less is asked with less, and no more than once too often.
		d.Without("output_config", "json_schema", "temperature", "max_completion_tokens")
		held(less[0])
		d.Without("output_config", "response_format", "temperature", "max_completion_tokens")
		held(less[1])
		if all := d.Asked(); all[len(all)-1].Temperature != nil || all[len(all)-1].MaxTokens != 50 {
			t.Errorf("%+v", all[len(all)-1])
		}
		d.Answer(func(Asked) Say { return Say{Text: "I would say 1"} })
		if got, err := m.Ask(ctx, r); err != nil || got.Text != "I would say 1" {
			t.Errorf("an answer that is no JSON is for the caller to judge: %+v, %v", got, err)
		}
	})
	t.Run("tools", func(t *testing.T) {
		t.Parallel()
		d := start(t)
		m := make(d.URL, Key, Model, nil)
		look := llm.Call{ID: "call_1", Name: "look", Arguments: json.RawMessage(`{"at":"a"}`)}
		d.Answer(func(a Asked) Say {
			if len(a.Messages) == 1 {
				return Say{Calls: []llm.Call{look, {ID: "call_2", Name: "look", Arguments: json.RawMessage(`{}`)}}}
			}
			return Say{Text: a.Messages[2].Results[0].Text + a.Messages[2].Results[1].Text}
		})
		r := ask("What is there?")
		r.Tools = []llm.Tool{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}}
		got, err := m.Ask(ctx, r)
		if err != nil || got.Stop != llm.Calling || len(got.Calls) != 2 || got.Calls[0].ID != "call_1" || got.Calls[0].Name != "look" || !same(got.Calls[0].Arguments, look.Arguments) {
			t.Fatalf("%+v, %v", got, err)
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Text: got.Text, Calls: got.Calls}, llm.Message{Role: llm.User, Results: []llm.Result{{CallID: "call_1", Text: "a cat"}, {CallID: "call_2", Text: ", no", Failed: true}}})
		if got, err = m.Ask(ctx, r); err != nil || got.Text != "a cat, no" || got.Stop != llm.Done {
			t.Fatalf("%+v, %v", got, err)
		}
		a := d.Asked()[1]
		if len(a.Tools) != 1 || a.Tools[0].Name != "look" || len(a.Messages[1].Calls) != 2 || !a.Messages[2].Results[1].Failed || a.Messages[2].Results[0].Failed {
			t.Errorf("%+v", a)
		}
	})
	t.Run("trouble", func(t *testing.T) { trouble(t, start, make) })
}

func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x) //nolint:errcheck // it was JSON
	q, _ := json.Marshal(y) //nolint:errcheck // it was JSON
	return string(p) == string(q)
}

func trouble(t *testing.T, start func(testing.TB) *Double, make Client) {
	t.Parallel()
	ctx := context.Background()
	d := start(t)
	m := make(d.URL, Key, Model, nil)
	for name, c := range map[string]struct {
		say  Say
		kind fault.Kind
		wait time.Duration
	}{
		"400":          {Say{Status: 400, Error: "it is no good"}, fault.Invalid, 0},
		"400 for ever": {Say{Status: 400, Error: "temperature, output_config, response_format, max_completion_tokens"}, fault.Invalid, 0},
		"401":          {Say{Status: 401, Error: "your key " + Key + " is old"}, fault.Forbidden, 0},
		"403":          {Say{Status: 403, Error: "not for you"}, fault.Forbidden, 0},
		"404":          {Say{Status: 404, Error: "model: x"}, fault.Invalid, 0},
		"413":          {Say{Status: 413, Error: "too large"}, fault.Invalid, 0},
		"429":          {Say{Status: 429, Header: map[string]string{"Retry-After": "9"}}, fault.Unavailable, 9 * time.Second},
		"429 alone":    {Say{Status: 429}, fault.Unavailable, 0},
		"500":          {Say{Status: 500, Error: "oops " + Key}, fault.Unavailable, 0},
		"503":          {Say{Status: 503, Header: map[string]string{"Retry-After": "2"}}, fault.Unavailable, 2 * time.Second},
		"529":          {Say{Status: 529, Error: "Overloaded"}, fault.Unavailable, 0},
		"elsewhere":    {Say{Status: 307, Header: map[string]string{"Location": "http://example.com/"}}, fault.Invalid, 0},
		"a proxy":      {Say{Raw: "<html>Sign in</html>"}, fault.Unavailable, 0},
		"other JSON":   {Say{Raw: `{"object":"list","data":[]}`}, fault.Unavailable, 0},
		"cut":          {Say{Text: strings.Repeat("x", 5000), Cut: true}, fault.Unavailable, 0},
		"endless":      {Say{Text: strings.Repeat("x", llm.MaxAnswer)}, fault.TooLarge, 0},
	} {
		d.Answer(func(Asked) Say { return c.say })
		r := ask("x")
		r.Schema = schema
		_, err := m.Ask(ctx, r)
		f := fault.As(err)
		if f == nil || f.Kind != c.kind || f.RetryAfter != c.wait {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), Key) || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: the error tells too much: %v", name, err)
		}
	}
	d.Answer(func(Asked) Say { return Say{Text: "ok"} })
	for name, m := range map[string]llm.Model{"another key": make(d.URL, "sk-other-secret", Model, nil), "no key": make(d.URL, "", Model, nil)} {
		if _, err := m.Ask(ctx, ask("x")); fault.KindOf(err) != fault.Forbidden || strings.Contains(err.Error(), "sk-other") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := make(d.URL, Key, "unknown", nil).Ask(ctx, ask("x")); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an unknown model: %v", err)
	}
	if _, err := make("http://169.254.169.254", Key, Model, nil).Ask(ctx, ask("x")); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an address where clouds tell secrets: %v", err)
	}
	if _, err := make("http://127.0.0.1:1", Key, Model, nil).Ask(ctx, ask("x")); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("nobody there: %v", err)
	}
	// It hangs until it is given up.
	d.Answer(func(Asked) Say { return Say{Hang: true} })
	if _, err := make(d.URL, Key, Model, &http.Client{Timeout: 50 * time.Millisecond}).Ask(ctx, ask("x")); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("slow: %v", err)
	}
	ending, end := context.WithCancel(ctx)
	end()
	if _, err := m.Ask(ending, ask("x")); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the service stops: %v", err)
	}
}
