package pull_test

import (
	"context"
	"testing"

	"tas-service/internal/account"
	"tas-service/internal/forge"
	"tas-service/internal/project"
	"tas-service/internal/pull"
)

func (d *desk) Note(context.Context, account.Viewer, account.Act, string, string) error { return nil }

// TestSecretsStay sends no secret to a host that it was not entered for, whoever changes
// which address, and hands git the token of the repository's own host.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	ctx, d := context.Background(), newDesk(t)
	d.Notes = d
	v := account.Viewer{Person: account.Person{ID: "ada", Name: "Ada"}, Projects: []account.Membership{{ProjectID: d.p.ID, Role: account.RoleAdministrator}}}
	sent := map[string]string{} // by address: the token
	d.Connect = func(x pull.Dial) (forge.Forge, error) {
		sent[x.URL] = x.Token
		return withToken{token: x.Token}, nil
	}
	connect := func(change func(c *pull.Connection)) {
		t.Helper()
		if err := d.Update(ctx, v, d.p.ID, func(c *pull.Connection) error { change(c); return nil }); err != nil {
			t.Fatal(err)
		}
		clear(sent)
		if l, err := d.Link(ctx, d.p.ID); err == nil {
			src, err := l.Source(ctx)
			if err != nil {
				t.Fatal(err)
			}
			sent["git "+src.URL] = src.Token
		}
	}
	move := func(r project.Repository) {
		t.Helper()
		if err := d.db.UpdateProject(ctx, d.p.ID, func(p *project.Project) error { p.Repository = r; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	is := func(what string, want map[string]string) {
		t.Helper()
		if len(sent) != len(want) {
			t.Errorf("%s: sent %v", what, sent)
		}
		for at, token := range want {
			if got, ok := sent[at]; !ok || got != token {
				t.Errorf("%s: sent %v", what, sent)
			}
		}
	}
	const tests = "https://git.example.com/shop/tests.git"
	move(project.Repository{URL: tests, Token: "repository's"})
	connect(func(c *pull.Connection) { c.Kind, c.URL = forge.Gitea, "https://git.example.com" })
	is("at home", map[string]string{"https://git.example.com": "repository's", "git " + tests: "repository's"})
	connect(func(c *pull.Connection) { c.URL = "https://evil.example" })
	is("the repository's token at another address", nil)
	connect(func(c *pull.Connection) { c.URL, c.Token = "https://forge.example.com", "forge's" })
	is("a forge beside the repository's host", map[string]string{"https://forge.example.com": "forge's", "git " + tests: "repository's"})
	connect(func(c *pull.Connection) { c.URL = "https://evil.example" })
	is("the forge's token at another address", nil)
	connect(func(c *pull.Connection) { c.URL, c.Token = "", "forge's" })
	is("the forge's own token", map[string]string{"https://git.example.com": "forge's", "git " + tests: "forge's"})
	move(project.Repository{URL: "https://evil.example/shop/tests.git"})
	connect(func(*pull.Connection) {})
	is("the repository moved", nil)
	move(project.Repository{URL: tests})
	connect(func(*pull.Connection) {})
	is("the repository moved back", nil) // whoever saved meanwhile has dropped it
}

// withToken is a forge of which only the token matters.
type withToken struct {
	forge.Forge
	token string
}

func (f withToken) Credentials(context.Context) (string, error) { return f.token, nil }
