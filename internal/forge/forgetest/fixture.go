package forgetest

import (
	"net/http"
	"testing"

	"tas-service/internal/forge"
)

// Of makes a fixture of a double: open answers a client of its forge.
func Of(t *testing.T, d *Double, open func(base, token string, c *http.Client) (forge.Forge, error)) Fixture {
	t.Helper()
	as := func(t *testing.T, login string, c *http.Client) forge.Forge {
		t.Helper()
		f, err := open(d.URL, d.Token(login), c)
		must(t, err)
		return f
	}
	const repo = "shop/tests"
	return Fixture{Forge: as(t, "tas-bot", nil), Repo: repo, Reader: as(t, "reader", nil), Double: d,
		Commit: func(t *testing.T, branch string, files map[string]string) string {
			return d.Commit(t, repo, branch, files)
		},
		Say:   func(_ *testing.T, number int, body string) { d.Say(repo, number, "reader", body) },
		Merge: func(t *testing.T, number int) { d.Merge(t, repo, number) },
		Close: func(t *testing.T, number int) { d.Close(t, repo, number) },
		Fork: func(t *testing.T, branch string) int {
			fork := d.Fork(t, repo)
			d.Commit(t, fork, branch, map[string]string{"theirs.ts": "x\n"})
			return d.OpenPull(t, repo, fork, branch, "main")
		},
		Fresh: func(t *testing.T, c *http.Client) forge.Forge { return as(t, "tas-bot", c) },
	}
}
