package gitea_test

import (
	"net/http"
	"testing"

	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/gitea"
)

func fixture(t *testing.T) forgetest.Fixture {
	return forgetest.Of(t, forgetest.NewGitea(t), func(base, token string, c *http.Client) (forge.Forge, error) {
		return gitea.New(gitea.Config{BaseURL: base, Token: token, HTTP: c})
	})
}

func TestGitea(t *testing.T) { forgetest.Run(t, fixture) }
