package pull

import (
	"strings"
	"testing"

	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/project"
)

// TestParseCommand takes what begins a comment, and nothing else.
func TestParseCommand(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]*Command{
		"/tas run": {Verb: "run"}, " \n/tas  RUN  cart|pay \nplease": {Verb: "run", Rest: "cart|pay"}, "/tas": {}, "/tas heal x": {Verb: "heal", Rest: "x"},
		"please /tas run": nil, "/tasrun": nil, "": nil, "> /tas run": nil, "/TAS run": nil,
	} {
		got, ok := ParseCommand(body)
		if ok != (want != nil) || ok && got != *want {
			t.Errorf("%q: %+v, %v", body, got, ok)
		}
	}
}

// TestDial completes what was set by what the repository's address says.
func TestDial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url, token string
		c          Connection
		want       Dial
		repo       string
		none       string
	}{
		"github.com":                   {"https://github.com/shop/tests.git", "t", Connection{}, Dial{Kind: forge.GitHub, URL: "https://github.com", Token: "t"}, "shop/tests", ""},
		"its own token":                {"git@gitlab.com:a/b/tests.git", "t", Connection{Token: "own", SecretsFor: "https://gitlab.com"}, Dial{Kind: forge.GitLab, URL: "https://gitlab.com", Token: "own"}, "a/b/tests", ""},
		"below a path":                 {"https://h/git/shop/tests.git", "t", Connection{Kind: forge.Gitea, URL: "https://h/git/"}, Dial{Kind: forge.Gitea, URL: "https://h/git", Token: "t"}, "shop/tests", ""},
		"an app":                       {"https://github.com/shop/tests", "", Connection{App: App{1, 2, "k"}, SecretsFor: "https://github.com"}, Dial{Kind: forge.GitHub, URL: "https://github.com", App: App{1, 2, "k"}}, "shop/tests", ""},
		"local":                        {"file:///srv/tests", "", Connection{}, Dial{Kind: forge.Local, Path: "file:///srv/tests", Repo: "local/shop"}, "local/shop", ""},
		"unknown host":                 {"https://git.example.com/shop/tests", "t", Connection{}, Dial{}, "", "which kind"},
		"no token":                     {"https://github.com/shop/tests", "", Connection{}, Dial{}, "", "no token"},
		"no repository":                {"", "", Connection{}, Dial{}, "", "no tests repository"},
		"not local":                    {"https://github.com/shop/tests", "t", Connection{Kind: forge.Local}, Dial{}, "", "not on the service's own machine"},
		"an app beside a token":        {"https://github.com/shop/tests", "t", Connection{App: App{1, 2, "k"}, SecretsFor: "https://github.com"}, Dial{Kind: forge.GitHub, URL: "https://github.com", App: App{1, 2, "k"}}, "shop/tests", ""},
		"its api":                      {"https://github.com/shop/tests", "t", Connection{URL: "https://api.github.com"}, Dial{Kind: forge.GitHub, URL: "https://api.github.com", Token: "t"}, "shop/tests", ""},
		"repository's token elsewhere": {"https://github.com/shop/tests", "t", Connection{Kind: forge.Gitea, URL: "https://evil.example"}, Dial{}, "", "is not sent to https://evil.example"},
		"at another port":              {"https://git.example.com/shop/tests", "t", Connection{Kind: forge.Gitea, URL: "https://git.example.com:8443"}, Dial{}, "", "is not sent to"},
		"in clear":                     {"https://git.example.com/shop/tests", "t", Connection{Kind: forge.Gitea, URL: "http://git.example.com"}, Dial{}, "", "is not sent to"},
		"repository moved":             {"https://evil.example/shop/tests", "", Connection{Kind: forge.Gitea, Token: "own", SecretsFor: "https://git.example.com"}, Dial{}, "", "is not sent to https://evil.example"},
		"app's repository moved":       {"https://evil.example/shop/tests", "", Connection{Kind: forge.GitHub, App: App{1, 2, "k"}, SecretsFor: "https://github.com"}, Dial{}, "", "is not sent to https://evil.example"},
		"no path":                      {"https://github.com/tests", "t", Connection{}, Dial{}, "", "does not lead"},
	} {
		d, repo, err := dialOf(project.Project{ID: "p", Slug: "shop", Repository: project.Repository{URL: c.url, Token: c.token}}, c.c)
		switch f := fault.As(err); {
		case c.none != "" && (f == nil || f.Code != "no-forge" || !strings.Contains(f.Message, c.none)):
			t.Errorf("%s: %v", name, err)
		case c.none == "" && (err != nil || d != c.want || repo != c.repo):
			t.Errorf("%s: %+v, %q, %v", name, d, repo, err)
		}
	}
}

// TestCheckConnection refuses what cannot work, without repeating a secret.
func TestCheckConnection(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]Connection{
		"kind": {Kind: "svn"}, "url": {URL: "https://user:s3cret@h"}, "sources": {Sources: []string{"shop"}}, "app": {App: App{ID: 1, Key: "s3cret"}},
		"author": {Author: named("A", "")}, "committer": {Committer: named("A\nB", "a@b")}, "signingKey": {SigningKey: "s3cret"}, "hookSecret": {HookSecret: strings.Repeat("s3cret", 50)},
	} {
		f := fault.As(c.Check())
		if f == nil || len(f.Details) != 1 || f.Details[0].Path != path || strings.Contains(f.Error()+f.Details[0].Message, "s3cret") {
			t.Errorf("%s: %+v", path, f)
		}
	}
	if err := (Connection{Kind: forge.GitHub, URL: "https://h/x", Sources: []string{"a/b"}, App: App{1, 2, "k"}, Author: named("A", "a@b"), SigningKey: "-----BEGIN OPENSSH PRIVATE KEY-----"}).Check(); err != nil {
		t.Error(err)
	}
}

func named(name, email string) checkout.Person { return checkout.Person{Name: name, Email: email} }
