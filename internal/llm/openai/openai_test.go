package openai_test

import (
	"net/http"
	"testing"

	"tas-service/internal/llm"
	"tas-service/internal/llm/llmtest"
	"tas-service/internal/llm/openai"
)

func TestConform(t *testing.T) {
	t.Parallel()
	llmtest.Conform(t, llmtest.OpenAI, func(url, key, model string, h *http.Client) llm.Model {
		return openai.New(openai.Config{URL: url, Key: key, Model: model, HTTP: h})
	}, [2]string{"json", ""})
}
