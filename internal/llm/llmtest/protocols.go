package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tas-service/internal/llm"
)

type anyMap = map[string]any

// Anthropic starts a server of Anthropic's Messages API.
func Anthropic(t testing.TB) *Double {
	return start(t, protocol{path: "/v1/messages", key: func(h http.Header) string { return h.Get("X-Api-Key") }, read: readAnthropic, write: writeAnthropic,
		wrong: func(status int, message string) any {
			kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}[status]
			if kind == "" {
				kind = "api_error"
			}
			return anyMap{"type": "error", "error": anyMap{"type": kind, "message": message}, "request_id": "req_1"}
		}})
}

func readAnthropic(body []byte, h http.Header) (a Asked, model string, has []string, err error) {
	var q struct {
		Model       string   `json:"model"`
		MaxTokens   int      `json:"max_tokens"`
		Temperature *float64 `json:"temperature"`
		System      string   `json:"system"`
		Messages    []struct {
			Role    llm.Role `json:"role"`
			Content []struct {
				Type      string          `json:"type"`
				Text      string          `json:"text"`
				ID        string          `json:"id"`
				Name      string          `json:"name"`
				Input     json.RawMessage `json:"input"`
				ToolUseID string          `json:"tool_use_id"`
				Content   string          `json:"content"`
				IsError   bool            `json:"is_error"`
			} `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		ToolChoice *struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tool_choice"`
		Output *struct {
			Format struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	switch err := strict(body, &q); {
	case err != nil:
		return a, "", nil, err
	case h.Get("Anthropic-Version") != "2023-06-01":
		return a, "", nil, errors.New("anthropic-version: header is required")
	case q.MaxTokens < 1:
		return a, "", nil, errors.New("max_tokens: Field required")
	case len(q.Messages) == 0 || q.Messages[0].Role != llm.User:
		return a, "", nil, errors.New("messages: the first is the user's")
	}
	a = Asked{System: q.System, MaxTokens: q.MaxTokens, Temperature: q.Temperature}
	if q.Temperature != nil {
		has = append(has, "temperature")
	}
	for i, m := range q.Messages {
		out := llm.Message{Role: m.Role}
		if len(m.Content) == 0 || i > 0 && q.Messages[i-1].Role == m.Role {
			return a, "", nil, fmt.Errorf("messages.%d: content is empty, or the roles do not alternate", i)
		}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				if b.Text == "" {
					return a, "", nil, errors.New("text content blocks must be non-empty")
				}
				out.Text += b.Text
			case "tool_use":
				out.Calls = append(out.Calls, llm.Call{ID: b.ID, Name: b.Name, Arguments: b.Input})
			case "tool_result":
				out.Results = append(out.Results, llm.Result{CallID: b.ToolUseID, Text: b.Content, Failed: b.IsError})
			default:
				return a, "", nil, fmt.Errorf("messages.%d: a block of type %q", i, b.Type)
			}
		}
		a.Messages = append(a.Messages, out)
	}
	for _, t := range q.Tools {
		if q.ToolChoice != nil && q.ToolChoice.Type == "tool" && q.ToolChoice.Name == t.Name {
			a.Held, a.Schema = "tool", t.InputSchema
			continue
		}
		a.Tools = append(a.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	if q.Output != nil {
		if q.Output.Format.Type != "json_schema" {
			return a, "", nil, errors.New("output_config.format.type")
		}
		a.Held, a.Schema, has = "schema", q.Output.Format.Schema, append(has, "output_config")
	}
	return a, q.Model, has, nil
}

func writeAnthropic(a Asked, s Say) any {
	content := []any{}
	stop := map[llm.Stop]string{"": "end_turn", llm.Done: "end_turn", llm.Length: "max_tokens", llm.Refused: "refusal", llm.Calling: "tool_use"}[s.Stop]
	if a.Held == "tool" && json.Valid([]byte(s.Text)) {
		content = append(content, anyMap{"type": "tool_use", "id": "toolu_1", "name": "answer", "input": json.RawMessage(s.Text)})
		if stop == "end_turn" {
			stop = "tool_use"
		}
	} else if s.Text != "" {
		content = append(content, anyMap{"type": "text", "text": s.Text})
	}
	for _, c := range s.Calls {
		content = append(content, anyMap{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Arguments})
		if s.Stop == "" {
			stop = "tool_use"
		}
	}
	// Part of the question was in a cache: it counts all the same.
	return anyMap{"id": "msg_1", "type": "message", "role": "assistant", "model": Model, "content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": anyMap{"input_tokens": s.Usage.Input - s.Usage.Input/2, "cache_creation_input_tokens": 0, "cache_read_input_tokens": s.Usage.Input / 2, "output_tokens": s.Usage.Output}}
}

// OpenAI starts a server of OpenAI's chat completions.
func OpenAI(t testing.TB) *Double {
	d := start(t, protocol{path: "/v1/chat/completions", key: func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }, read: readOpenAI, write: writeOpenAI,
		wrong: func(status int, message string) any {
			return anyMap{"error": anyMap{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}}
		}})
	d.URL += "/v1"
	return d
}

func readOpenAI(body []byte, _ http.Header) (a Asked, model string, has []string, err error) {
	var q struct {
		Model    string `json:"model"`
		Messages []struct {
			Role       string  `json:"role"`
			Content    *string `json:"content"`
			ToolCallID string  `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Type     string `json:"type"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Temperature *float64 `json:"temperature"`
		MaxNew      int      `json:"max_completion_tokens"`
		MaxOld      int      `json:"max_tokens"`
		Format      *struct {
			Type   string `json:"type"`
			Schema *struct {
				Name   string          `json:"name"`
				Strict bool            `json:"strict"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := strict(body, &q); err != nil {
		return a, "", nil, err
	}
	a = Asked{MaxTokens: max(q.MaxNew, q.MaxOld), Temperature: q.Temperature}
	for name, there := range map[string]bool{"temperature": q.Temperature != nil, "max_completion_tokens": q.MaxNew > 0, "max_tokens": q.MaxOld > 0, "response_format": q.Format != nil} {
		if there {
			has = append(has, name)
		}
	}
	if f := q.Format; f != nil {
		switch {
		case f.Type == "json_object":
			a.Held, has = "json", append(has, "json_object")
		case f.Type == "json_schema" && f.Schema != nil && f.Schema.Name != "":
			a.Held, a.Schema, has = "schema", f.Schema.Schema, append(has, "json_schema")
		default:
			return a, "", nil, errors.New("response_format")
		}
	}
	open := map[string]bool{} // calls that wait for their results
	for i, m := range q.Messages {
		switch {
		case m.Role == "system" && i == 0 && m.Content != nil:
			a.System = *m.Content
		case m.Role == "tool" && m.Content != nil && open[m.ToolCallID]:
			delete(open, m.ToolCallID)
			r := llm.Result{CallID: m.ToolCallID, Text: strings.TrimPrefix(*m.Content, "It failed: "), Failed: strings.HasPrefix(*m.Content, "It failed: ")}
			if n := len(a.Messages); n > 0 && len(a.Messages[n-1].Results) > 0 {
				a.Messages[n-1].Results = append(a.Messages[n-1].Results, r)
			} else {
				a.Messages = append(a.Messages, llm.Message{Role: llm.User, Results: []llm.Result{r}})
			}
		case (m.Role == "user" || m.Role == "assistant") && len(open) == 0 && m.Content != nil:
			out := llm.Message{Role: llm.Role(m.Role), Text: *m.Content}
			for _, c := range m.ToolCalls {
				open[c.ID] = true
				out.Calls = append(out.Calls, llm.Call{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
			}
			a.Messages = append(a.Messages, out)
		default:
			return a, "", nil, fmt.Errorf("messages[%d] is out of order, or of the role %q", i, m.Role)
		}
	}
	for _, t := range q.Tools {
		a.Tools = append(a.Tools, llm.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	return a, q.Model, has, nil
}

func writeOpenAI(_ Asked, s Say) any {
	message := anyMap{"role": "assistant", "content": s.Text, "refusal": nil}
	finish := map[llm.Stop]string{"": "stop", llm.Done: "stop", llm.Length: "length", llm.Refused: "content_filter", llm.Calling: "tool_calls"}[s.Stop]
	var calls []any
	for _, c := range s.Calls {
		calls = append(calls, anyMap{"id": c.ID, "type": "function", "function": anyMap{"name": c.Name, "arguments": string(c.Arguments)}})
	}
	if calls != nil {
		message["content"], message["tool_calls"] = nil, calls
	}
	return anyMap{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": Model, "choices": []any{anyMap{"index": 0, "message": message, "logprobs": nil, "finish_reason": finish}},
		"usage": anyMap{"prompt_tokens": s.Usage.Input, "completion_tokens": s.Usage.Output, "total_tokens": s.Usage.Input + s.Usage.Output}}
}
