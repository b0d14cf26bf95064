// Package openai asks models behind any address that speaks OpenAI's chat completions: OpenAI's
// own, and servers such as vLLM, Ollama, llama.cpp and gateways. They differ in what they take:
// what one refuses by name is left out from then on.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/llm"
	"tas-service/internal/outbound"
)

const who = "The model's server"

// Config is which model is asked, and where.
type Config struct {
	URL   string // what stands before /chat/completions: https://api.openai.com/v1
	Key   string // "" where the server asks for none
	Model string
	HTTP  *http.Client // lends its transport and its timeout; nil for outbound's own and llm.AskFor
	Clock func() time.Time
}

// Client is a llm.Model. Safe for concurrent use.
type Client struct {
	Config
	http *http.Client
	mu   sync.Mutex
	says dialect
}

// dialect is what a server was seen not to take.
type dialect struct {
	noTemperature bool
	oldMaxTokens  bool // max_tokens instead of max_completion_tokens
	schema        int  // 0: a schema; 1: only that it is to be JSON; 2: nothing
}

// New answers a client. It calls nobody.
func New(c Config) *Client {
	c.URL = strings.TrimSuffix(strings.TrimSuffix(c.URL, "/"), "/chat/completions")
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: llm.AskFor}
	}
	out := &Client{Config: c}
	out.http = outbound.New(outbound.Config{Who: who, HTTP: c.HTTP, Secrets: func() []string { return []string{c.Key} },
		Explain: func(status int, header func(string) string, said string) error {
			return llm.Explain(who, status, header, said, c.Clock())
		}})
	return out
}

// Name answers the model's name.
func (c *Client) Name() string { return c.Model }

type question struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Tools       []tool    `json:"tools,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
	MaxNew      int       `json:"max_completion_tokens,omitempty"`
	MaxOld      int       `json:"max_tokens,omitempty"`
	Format      *format   `json:"response_format,omitempty"`
}

type message struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"`
	Refusal    string  `json:"refusal,omitempty"`
	ToolCalls  []call  `json:"tool_calls,omitempty"`
	ToolCallID string  `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string   `json:"type"`
	Function declared `json:"function"`
}

type declared struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type format struct {
	Type   string  `json:"type"`
	Schema *schema `json:"json_schema,omitempty"`
}

type schema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type answer struct {
	Choices []struct {
		Message      message `json:"message"`
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// Ask puts one question; see llm.Model.
func (c *Client) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	for {
		c.mu.Lock()
		d := c.says
		c.mu.Unlock()
		reply, err := c.post(ctx, d.question(c.Model, r))
		f := fault.As(err)
		if f == nil || f.Kind != fault.Invalid || !d.without(strings.ToLower(f.Message), r) {
			return reply, err
		}
		c.mu.Lock()
		c.says = d
		c.mu.Unlock()
	}
}

// without leaves out what a server says that it does not take; false where it says nothing of
// the kind, or it is left out already.
func (d *dialect) without(said string, r llm.Request) bool {
	switch {
	case !d.noTemperature && strings.Contains(said, "temperature"):
		d.noTemperature = true
	case !d.oldMaxTokens && strings.Contains(said, "max_completion_tokens"):
		d.oldMaxTokens = true
	case r.Schema != nil && d.schema < 2 && (strings.Contains(said, "response_format") || strings.Contains(said, "json_schema") || strings.Contains(said, "json_object")):
		d.schema++
	default:
		return false
	}
	return true
}

func (d dialect) question(model string, r llm.Request) question {
	q := question{Model: model}
	if d.oldMaxTokens {
		q.MaxOld = r.MaxTokens
	} else {
		q.MaxNew = r.MaxTokens
	}
	if !d.noTemperature {
		q.Temperature = new(float64)
	}
	system := r.System
	if r.Schema != nil {
		// Said in words as well: there are servers that take a schema and do not hold to it.
		system += "\n\nAnswer with one JSON object and nothing else. It fits this JSON Schema: " + string(r.Schema)
		switch d.schema {
		case 0:
			q.Format = &format{Type: "json_schema", Schema: &schema{Name: "answer", Strict: true, Schema: r.Schema}}
		case 1:
			q.Format = &format{Type: "json_object"}
		}
	}
	if system != "" {
		q.Messages = append(q.Messages, message{Role: "system", Content: &system})
	}
	for _, m := range r.Messages {
		for _, x := range m.Results {
			text := x.Text
			if x.Failed {
				text = "It failed: " + text
			}
			q.Messages = append(q.Messages, message{Role: "tool", ToolCallID: x.CallID, Content: &text})
		}
		if m.Text == "" && len(m.Calls) == 0 {
			continue
		}
		out := message{Role: string(m.Role), Content: &m.Text}
		for _, x := range m.Calls {
			out.ToolCalls = append(out.ToolCalls, call{ID: x.ID, Type: "function", Function: function{Name: x.Name, Arguments: string(x.Arguments)}})
		}
		q.Messages = append(q.Messages, out)
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{Type: "function", Function: declared{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	return q
}

func (c *Client) post(ctx context.Context, q question) (llm.Reply, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return llm.Reply{}, fault.New(fault.Invalid, "The question to the model cannot be written: a schema in it is no JSON.")
	}
	req, err := http.NewRequestWithContext(outbound.WithLimit(ctx, llm.MaxAnswer), http.MethodPost, c.URL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return llm.Reply{}, fault.New(fault.Invalid, "The model's address cannot be called.").WithFix("Correct TAS_MODEL_URL.")
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return llm.Reply{}, outbound.Fault(who, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is in memory
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || len(a.Choices) == 0 {
		return llm.Reply{}, llm.Unreadable(who)
	}
	return a.reply(), nil
}

func (a answer) reply() llm.Reply {
	c := a.Choices[0]
	out := llm.Reply{Usage: llm.Usage{Input: a.Usage.Input, Output: a.Usage.Output}, Stop: llm.Done}
	if c.Message.Content != nil {
		out.Text = *c.Message.Content
	}
	for _, x := range c.Message.ToolCalls {
		out.Calls = append(out.Calls, llm.Call{ID: x.ID, Name: x.Function.Name, Arguments: json.RawMessage(x.Function.Arguments)})
	}
	switch {
	case c.Message.Refusal != "", c.FinishReason == "content_filter":
		out.Stop = llm.Refused
	case c.FinishReason == "length":
		out.Stop = llm.Length
	case len(out.Calls) > 0: // some servers say "stop" then
		out.Stop = llm.Calling
	}
	return out
}
