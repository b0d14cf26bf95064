package gitea_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "code.gitea.io/sdk/gitea"

	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/gitea"
)

// TestServer holds a real server to the suite, where one is given: TAS_TEST_GITEA_URL, and
// in TAS_TEST_GITEA_TOKEN a token of an account that may make repositories and, if a second
// one is to be tried, of an administrator. Repositories of the tests are removed again.
func TestServer(t *testing.T) {
	base, token := os.Getenv("TAS_TEST_GITEA_URL"), os.Getenv("TAS_TEST_GITEA_TOKEN")
	if base == "" || token == "" {
		t.Skip("TAS_TEST_GITEA_URL and TAS_TEST_GITEA_TOKEN name no server")
	}
	forgetest.Run(t, func(t *testing.T) forgetest.Fixture { return realFixture(t, base, token) })
}

func realFixture(t *testing.T, base, token string) forgetest.Fixture {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func(t *testing.T, c *http.Client) forge.Forge {
		t.Helper()
		f, err := gitea.New(gitea.Config{BaseURL: base, Token: token, HTTP: c})
		check(err)
		return f
	}
	sdk, err := api.NewClient(base, api.SetToken(token))
	check(err)
	me, _, err := sdk.GetMyUserInfo()
	check(err)
	name := fmt.Sprintf("tas-%d", time.Now().UnixNano())
	r, _, err := sdk.CreateRepo(api.CreateRepoOption{Name: name, Private: true, DefaultBranch: "main"})
	check(err)
	t.Cleanup(func() { sdk.DeleteRepo(me.UserName, name) }) //nolint:errcheck // the server's owner sees what is left
	copyOf := filepath.Join(t.TempDir(), "copy.git")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper",
			"GIT_CONFIG_VALUE_0=!f() { echo username=x; echo password=$TOKEN; }; f", "TOKEN="+token)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "--quiet", "--bare", "--initial-branch=main", copyOf)
	commit := func(t *testing.T, branch string, files map[string]string) string {
		t.Helper()
		hash, err := forgetest.CommitTo(copyOf, branch, files)
		check(err)
		git("-C", copyOf, "push", "--quiet", r.CloneURL, "refs/heads/"+branch+":refs/heads/"+branch)
		return hash
	}
	commit(t, "main", map[string]string{"README.md": "# Tests\n", "tests/cart.spec.ts": strings.Repeat("line\n", 30), "tests/old.spec.ts": "old\n"})
	f := forgetest.Fixture{Forge: open(t, nil), Repo: r.FullName, Commit: commit, Fresh: open,
		Merge: func(t *testing.T, n int) {
			t.Helper()
			if ok, _, err := sdk.MergePullRequest(me.UserName, name, int64(n), api.MergePullRequestOption{Style: api.MergeStyleMerge}); err != nil || !ok {
				t.Errorf("merge: %v, %v", ok, err)
			}
		},
		Close: func(t *testing.T, n int) {
			t.Helper()
			closed := api.StateClosed
			_, _, err := sdk.EditPullRequest(me.UserName, name, int64(n), api.EditPullRequestOption{State: &closed})
			check(err)
		},
	}
	// Somebody else: an administrator's token may make one.
	login, password := "tas-reader-"+name[4:], url.QueryEscape(name)+"Aa1!"
	no := false
	if _, _, err := sdk.AdminCreateUser(api.CreateUserOption{LoginName: login, Username: login, Email: login + "@example.invalid", Password: password, MustChangePassword: &no}); err != nil {
		t.Skipf("the suite needs a second account, and the token's account may make none: %v", err)
	}
	t.Cleanup(func() { sdk.AdminDeleteUser(login) }) //nolint:errcheck // as above
	read := api.AccessModeRead
	_, err = sdk.AddCollaborator(me.UserName, name, login, api.AddCollaboratorOption{Permission: &read})
	check(err)
	theirs, err := api.NewClient(base, api.SetBasicAuth(login, password))
	check(err)
	made, _, err := theirs.CreateAccessToken(api.CreateAccessTokenOption{Name: name, Scopes: []api.AccessTokenScope{api.AccessTokenScopeAll}})
	check(err)
	if f.Reader, err = gitea.New(gitea.Config{BaseURL: base, Token: made.Token}); err != nil {
		t.Fatal(err)
	}
	f.Say = func(t *testing.T, n int, body string) {
		t.Helper()
		_, _, err := theirs.CreateIssueComment(me.UserName, name, int64(n), api.CreateIssueCommentOption{Body: body})
		check(err)
	}
	return f
}
