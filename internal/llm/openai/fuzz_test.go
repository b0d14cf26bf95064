package openai

import (
	"encoding/json"
	"testing"

	"tas-service/internal/llm"
)

// FuzzReply reads whatever a server says without falling over.
func FuzzReply(f *testing.F) {
	for _, s := range []string{`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","function":{"name":"x","arguments":"{}"}}]}}]}`, `{"choices":[{}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var a answer
		if json.Unmarshal(body, &a) != nil || len(a.Choices) == 0 {
			return
		}
		if r := a.reply(); r.Stop == "" || r.Stop == llm.Calling && len(r.Calls) == 0 {
			t.Errorf("%s: %+v", body, r)
		}
	})
}
