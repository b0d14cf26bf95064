package anthropic

import (
	"encoding/json"
	"testing"

	"tas-service/internal/llm"
)

// FuzzReply reads whatever a server says without falling over.
func FuzzReply(f *testing.F) {
	for _, s := range []string{`{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1}}`, `{"content":[{"type":"tool_use","name":"answer","input":{"a":1}}],"stop_reason":"tool_use"}`, `{"content":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var a answer
		if json.Unmarshal(body, &a) != nil || a.StopReason == "" {
			return
		}
		if r := a.reply(true); r.Stop == "" || r.Stop == llm.Calling && len(r.Calls) == 0 && r.Text != "" {
			t.Errorf("%s: %+v", body, r)
		}
	})
}
