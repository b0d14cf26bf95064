package server

import (
	"strings"
	"testing"

	"tas-service/internal/heal"
)

// TestModelSettings reads the model's settings, says what is wrong with them, and tells the
// key to nobody.
func TestModelSettings(t *testing.T) {
	const key = "sk-very-secret"
	read := func(env map[string]string) (Config, error) {
		return FromEnv(func(name string) string { return env[name] })
	}
	c, err := read(nil)
	if err != nil || c.Model.adviser(nil, &heal.Sources{}) != nil {
		t.Fatalf("nothing set: %+v, %v", c.Model, err)
	}
	c, err = read(map[string]string{"TAS_MODEL_KIND": "anthropic", "TAS_MODEL": "m", "TAS_MODEL_KEY": key + "\n", "TAS_MODEL_INPUT_PRICE": "3", "TAS_MODEL_OUTPUT_PRICE": "15"})
	if a := c.Model.adviser(nil, &heal.Sources{}); err != nil || a == nil || a.Model.Name() != "m" || a.DayBudget != 5 || a.SessionTokens != 50_000 || a.Price.Output != 15 || a.Sources != nil || c.Model.Key != key {
		t.Fatalf("%+v, %v", c.Model, err)
	}
	t.Setenv("TAS_MODEL_KEY", key)
	for _, v := range workerEnv(c) {
		if strings.Contains(v, "TAS_MODEL") || strings.Contains(v, key) {
			t.Errorf("workers are told %s", v)
		}
	}
	c, err = read(map[string]string{"TAS_MODEL_KIND": "openai", "TAS_MODEL": "m", "TAS_MODEL_URL": "http://10.0.0.5:8000/v1", "TAS_MODEL_SESSION_TOKENS": "900"})
	if a := c.Model.adviser(nil, &heal.Sources{}); err != nil || a == nil || a.SessionTokens != 900 {
		t.Fatalf("on a private address, without a key: %+v, %v", c.Model, err)
	}
	// It sees sources only where that is said.
	c, err = read(map[string]string{"TAS_MODEL_KIND": "openai", "TAS_MODEL": "m", "TAS_MODEL_URL": "http://10.0.0.5:8000/v1", "TAS_MODEL_SOURCES": "true"})
	if a := c.Model.adviser(nil, &heal.Sources{}); err != nil || a == nil || a.Sources == nil || a.SessionTokens != 400_000 {
		t.Fatalf("with sources: %+v, %v", c.Model, err)
	}
	for name, env := range map[string]map[string]string{
		"sources alone":    {"TAS_MODEL_SOURCES": "true"},
		"sources, perhaps": {"TAS_MODEL_KIND": "anthropic", "TAS_MODEL": "m", "TAS_MODEL_KEY": key, "TAS_MODEL_SOURCES": "yes"},
		"no kind":          {"TAS_MODEL": "m"},
		"a budget alone":   {"TAS_MODEL_DAY_BUDGET": "1"},
		"unknown kind":     {"TAS_MODEL_KIND": "x", "TAS_MODEL": "m"},
		"no model":         {"TAS_MODEL_KIND": "anthropic", "TAS_MODEL_KEY": key},
		"no key":           {"TAS_MODEL_KIND": "anthropic", "TAS_MODEL": "m"},
		"no address":       {"TAS_MODEL_KIND": "openai", "TAS_MODEL": "m", "TAS_MODEL_KEY": key},
		"no such address":  {"TAS_MODEL_KIND": "openai", "TAS_MODEL": "m", "TAS_MODEL_URL": "models"},
		"key in address":   {"TAS_MODEL_KIND": "openai", "TAS_MODEL": "m", "TAS_MODEL_URL": "https://u:" + key + "@h/v1"},
		"budget, no price": {"TAS_MODEL_KIND": "anthropic", "TAS_MODEL": "m", "TAS_MODEL_KEY": key, "TAS_MODEL_DAY_BUDGET": "1"},
		"price":            {"TAS_MODEL_KIND": "anthropic", "TAS_MODEL": "m", "TAS_MODEL_KEY": key, "TAS_MODEL_INPUT_PRICE": "NaN"},
		"tokens":           {"TAS_MODEL_KIND": "anthropic", "TAS_MODEL": "m", "TAS_MODEL_KEY": key, "TAS_MODEL_SESSION_TOKENS": "0"},
		"key to tests":     {"TAS_MODEL_KIND": "anthropic", "TAS_MODEL": "m", "TAS_MODEL_KEY": key, "TAS_SANDBOX_ENV": "HTTPS_PROXY,TAS_MODEL_KEY"},
	} {
		if _, err := read(env); err == nil || !strings.Contains(err.Error(), "TAS_") || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
