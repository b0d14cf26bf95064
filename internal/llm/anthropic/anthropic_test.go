package anthropic_test

import (
	"net/http"
	"testing"

	"tas-service/internal/llm"
	"tas-service/internal/llm/anthropic"
	"tas-service/internal/llm/llmtest"
)

func TestConform(t *testing.T) {
	t.Parallel()
	llmtest.Conform(t, llmtest.Anthropic, func(url, key, model string, h *http.Client) llm.Model {
		return anthropic.New(anthropic.Config{URL: url, Key: key, Model: model, HTTP: h})
	}, [2]string{"tool", "tool"})
}
