package gitlab_test

import (
	"net/http"
	"testing"

	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/gitlab"
)

func fixture(t *testing.T) forgetest.Fixture {
	return forgetest.Of(t, forgetest.NewGitLab(t), func(base, token string, c *http.Client) (forge.Forge, error) {
		return gitlab.New(gitlab.Config{BaseURL: base, Token: token, HTTP: c})
	})
}

func TestGitLab(t *testing.T) { forgetest.Run(t, fixture) }
