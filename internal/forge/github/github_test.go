package github_test

import (
	"net/http"
	"testing"

	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/github"
)

func fixture(t *testing.T) forgetest.Fixture {
	return forgetest.Of(t, forgetest.NewGitHub(t), func(base, token string, c *http.Client) (forge.Forge, error) {
		return github.New(github.Config{BaseURL: base, Token: token, HTTP: c})
	})
}

func TestGitHub(t *testing.T) { forgetest.Run(t, fixture) }
