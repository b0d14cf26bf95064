// Package anthropic asks models that speak Anthropic's Messages API.
package anthropic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/llm"
	"tas-service/internal/outbound"
)

// DefaultURL is Anthropic's own address.
const DefaultURL = "https://api.anthropic.com"

// version is the protocol's, which each call names.
const version = "2023-06-01"

const who = "The model's server"

// Config is which model is asked, and where.
type Config struct {
	URL   string // what stands before /v1/messages; "" for DefaultURL
	Key   string
	Model string
	HTTP  *http.Client // lends its transport and its timeout; nil for outbound's own and llm.AskFor
	Clock func() time.Time
}

// Client is a llm.Model. Safe for concurrent use.
type Client struct {
	Config
	http *http.Client
	// What the model was seen not to take: newer ones let nobody set a temperature, older ones
	// and other servers know no schema of the answer, which a tool that must be called replaces.
	noTemperature, noSchema atomic.Bool
}

// New answers a client. It calls nobody.
func New(c Config) *Client {
	c.URL = strings.TrimSuffix(cmp.Or(c.URL, DefaultURL), "/")
	c.URL = strings.TrimSuffix(c.URL, "/v1")
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
	Model       string      `json:"model"`
	MaxTokens   int         `json:"max_tokens"`
	Temperature *float64    `json:"temperature,omitempty"`
	System      string      `json:"system,omitempty"`
	Messages    []message   `json:"messages"`
	Tools       []tool      `json:"tools,omitempty"`
	ToolChoice  *toolChoice `json:"tool_choice,omitempty"`
	Output      *output     `json:"output_config,omitempty"`
}

type message struct {
	Role    llm.Role `json:"role"`
	Content []block  `json:"content"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type output struct {
	Format format `json:"format"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type answer struct {
	Type       string  `json:"type"`
	Content    []block `json:"content"`
	StopReason string  `json:"stop_reason"`
	Usage      struct {
		Input      int64 `json:"input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		Output     int64 `json:"output_tokens"`
	} `json:"usage"`
}

// answerTool is the tool that stands in for a schema of the answer.
const answerTool = "answer"

// Ask puts one question; see llm.Model.
func (c *Client) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	for {
		noTemperature, noSchema := c.noTemperature.Load(), c.noSchema.Load()
		reply, err := c.post(ctx, c.question(r, noTemperature, noSchema))
		f := fault.As(err)
		if f == nil || f.Kind != fault.Invalid {
			return reply, err
		}
		// It says by name what it does not take: without it, then.
		switch said := strings.ToLower(f.Message); {
		case !noTemperature && strings.Contains(said, "temperature"):
			c.noTemperature.Store(true)
		case !noSchema && r.Schema != nil && (strings.Contains(said, "output_config") || strings.Contains(said, "output format") || strings.Contains(said, "json_schema")):
			c.noSchema.Store(true)
		default:
			return reply, err
		}
	}
}

func (c *Client) question(r llm.Request, noTemperature, noSchema bool) question {
	q := question{Model: c.Model, MaxTokens: r.MaxTokens, System: r.System}
	if !noTemperature {
		q.Temperature = new(float64)
	}
	for _, m := range r.Messages {
		out := message{Role: m.Role}
		for _, x := range m.Results {
			out.Content = append(out.Content, block{Type: "tool_result", ToolUseID: x.CallID, Content: x.Text, IsError: x.Failed})
		}
		if m.Text != "" {
			out.Content = append(out.Content, block{Type: "text", Text: m.Text})
		}
		for _, x := range m.Calls {
			out.Content = append(out.Content, block{Type: "tool_use", ID: x.ID, Name: x.Name, Input: x.Arguments})
		}
		q.Messages = append(q.Messages, out)
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema})
	}
	switch {
	case r.Schema == nil:
	case noSchema:
		q.Tools = append(q.Tools, tool{Name: answerTool, Description: "Gives the answer.", InputSchema: r.Schema})
		q.ToolChoice = &toolChoice{Type: "tool", Name: answerTool}
	default:
		q.Output = &output{Format: format{Type: "json_schema", Schema: r.Schema}}
	}
	return q
}

func (c *Client) post(ctx context.Context, q question) (llm.Reply, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return llm.Reply{}, fault.New(fault.Invalid, "The question to the model cannot be written: a schema or an argument in it is no JSON.")
	}
	req, err := http.NewRequestWithContext(outbound.WithLimit(ctx, llm.MaxAnswer), http.MethodPost, c.URL+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return llm.Reply{}, fault.New(fault.Invalid, "The model's address cannot be called.").WithFix("Correct TAS_MODEL_URL.")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", version)
	if c.Key != "" {
		req.Header.Set("X-Api-Key", c.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return llm.Reply{}, outbound.Fault(who, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is in memory
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || a.Type != "message" || a.StopReason == "" {
		return llm.Reply{}, llm.Unreadable(who)
	}
	return a.reply(q.ToolChoice != nil), nil
}

// reply reads an answer. With asTool the arguments of the one tool are the answer's text.
func (a answer) reply(asTool bool) llm.Reply {
	out := llm.Reply{Usage: llm.Usage{Input: a.Usage.Input + a.Usage.CacheWrite + a.Usage.CacheRead, Output: a.Usage.Output}}
	var text, arguments strings.Builder
	for _, b := range a.Content {
		switch {
		case b.Type == "text":
			text.WriteString(b.Text)
		case b.Type == "tool_use" && asTool && b.Name == answerTool:
			arguments.Write(b.Input)
		case b.Type == "tool_use":
			out.Calls = append(out.Calls, llm.Call{ID: b.ID, Name: b.Name, Arguments: b.Input})
		}
	}
	out.Text = cmp.Or(arguments.String(), text.String())
	switch a.StopReason {
	case "max_tokens", "model_context_window_exceeded":
		out.Stop = llm.Length
	case "refusal":
		out.Stop = llm.Refused
	case "tool_use":
		out.Stop = llm.Calling
		if asTool && len(out.Calls) == 0 {
			out.Stop = llm.Done
		}
	default:
		out.Stop = llm.Done
	}
	return out
}
