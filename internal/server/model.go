package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tas-service/internal/heal"
	"tas-service/internal/llm"
	"tas-service/internal/llm/anthropic"
	"tas-service/internal/llm/openai"
)

// ModelConfig is which language model healing may ask, and what it may cost.
type ModelConfig struct {
	Kind          string    // TAS_MODEL_KIND: "anthropic", "openai"; "" for no model
	URL           string    // TAS_MODEL_URL
	Key           string    // TAS_MODEL_KEY: a secret, that no worker is told
	Name          string    // TAS_MODEL
	Price         llm.Price // TAS_MODEL_INPUT_PRICE, TAS_MODEL_OUTPUT_PRICE
	DayBudget     float64   // TAS_MODEL_DAY_BUDGET: dollars of a project in 24 hours; default 5
	SessionTokens int64     // TAS_MODEL_SESSION_TOKENS: default 50,000, and 400,000 with Sources
	Sources       bool      // TAS_MODEL_SOURCES: it may see the tests' source and pages, and write repairs
}

const (
	defaultDayBudget     = 5
	defaultSessionTokens = 50_000
	defaultSourcesTokens = 400_000 // a conversation is sent again with each question
)

// Names of the kinds of models.
const (
	modelAnthropic = "anthropic"
	modelOpenAI    = "openai"
)

// model reads what concerns the language model. No error repeats the key.
func (c *Config) model(getenv func(string) string) error {
	m := &c.Model
	*m = ModelConfig{Kind: getenv("TAS_MODEL_KIND"), URL: getenv("TAS_MODEL_URL"), Key: strings.TrimSpace(getenv("TAS_MODEL_KEY")), Name: getenv("TAS_MODEL")}
	// Whatever is set, test code must not see the key.
	if slices.Contains(c.SandboxEnv, "TAS_MODEL_KEY") {
		return errors.New("TAS_SANDBOX_ENV names TAS_MODEL_KEY, which test code must not see: take it out")
	}
	set := m.URL != "" || m.Key != "" || m.Name != ""
	for _, f := range []struct {
		name string
		into *float64
	}{{"TAS_MODEL_INPUT_PRICE", &m.Price.Input}, {"TAS_MODEL_OUTPUT_PRICE", &m.Price.Output}, {"TAS_MODEL_DAY_BUDGET", &m.DayBudget}} {
		if v := getenv(f.name); v != "" {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || n <= 0 || math.IsInf(n, 0) || math.IsNaN(n) {
				return fmt.Errorf("%s is %q: set dollars above 0, such as 0.8, or leave it out", f.name, v)
			}
			*f.into, set = n, true
		}
	}
	if v := getenv("TAS_MODEL_SESSION_TOKENS"); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("TAS_MODEL_SESSION_TOKENS is %q: set a whole number of 1 or more, or leave it out", v)
		}
		m.SessionTokens, set = n, true
	}
	switch v := getenv("TAS_MODEL_SOURCES"); v {
	case "", "false":
	case "true":
		m.Sources, set = true, true
	default:
		return fmt.Errorf("TAS_MODEL_SOURCES is %q: set true to let the model see the tests' source and pages and write repairs, or leave it out", v)
	}
	switch u, err := url.Parse(m.URL); {
	case m.Kind == "" && set:
		return errors.New("TAS_MODEL_KIND is left out, and other settings of the model are not: set it to anthropic or openai, or leave out all of them")
	case m.Kind == "":
		return nil
	case m.Kind != modelAnthropic && m.Kind != modelOpenAI:
		return fmt.Errorf("TAS_MODEL_KIND is %q: set anthropic, or openai for any address that speaks its chat completions", m.Kind)
	case m.Name == "":
		return errors.New("TAS_MODEL is left out: set the name of the model that is to be asked")
	case m.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != ""):
		return errors.New("TAS_MODEL_URL is no address such as https://models.example.com/v1; the key goes into TAS_MODEL_KEY")
	case m.Kind == modelOpenAI && m.URL == "":
		return errors.New("TAS_MODEL_URL is left out: set what stands before /chat/completions, such as https://api.openai.com/v1")
	case m.Kind == modelAnthropic && m.URL == "" && m.Key == "":
		return errors.New("TAS_MODEL_KEY is left out, which Anthropic asks for: set it")
	case m.DayBudget > 0 && (m.Price.Input == 0 || m.Price.Output == 0):
		return errors.New("TAS_MODEL_DAY_BUDGET is set, and what the model costs is not: set TAS_MODEL_INPUT_PRICE and TAS_MODEL_OUTPUT_PRICE as well")
	}
	m.DayBudget = cmp.Or(m.DayBudget, defaultDayBudget)
	usual := int64(defaultSessionTokens)
	if m.Sources {
		usual = defaultSourcesTokens
	}
	m.SessionTokens = cmp.Or(m.SessionTokens, usual)
	return nil
}

// adviser answers who advises healing, and with sources may work on it; nil for nobody.
func (m ModelConfig) adviser(values func(ctx context.Context, projectID, environment string) (map[string]string, error), sources *heal.Sources) *heal.Adviser {
	var model llm.Model
	switch m.Kind {
	case modelAnthropic:
		model = anthropic.New(anthropic.Config{URL: m.URL, Key: m.Key, Model: m.Name})
	case modelOpenAI:
		model = openai.New(openai.Config{URL: m.URL, Key: m.Key, Model: m.Name})
	default:
		return nil
	}
	a := &heal.Adviser{Model: model, Price: m.Price, DayBudget: m.DayBudget, SessionTokens: m.SessionTokens, Values: values}
	if m.Sources {
		a.Sources = sources
	}
	return a
}
