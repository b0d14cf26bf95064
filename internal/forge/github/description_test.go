package github_test

import (
	"context"
	"crypto/rsa"
	"testing"
	"time"

	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/github"
)

// TestDouble holds what the double answers to GitHub's own description of its API, in every
// operation that the client uses.
func TestDouble(t *testing.T) {
	t.Parallel()
	d := forgetest.NewGitHub(t)
	checked := d.HoldTo(t, forgetest.Description(t))
	var key *rsa.PrivateKey
	key, text := keyPair(t)
	d.InstallApp(7, 8, &key.PublicKey, time.Hour)
	ctx := context.Background()
	const repo = "shop/tests"
	person, err := github.New(github.Config{BaseURL: d.URL, Token: d.Token("tas-bot")})
	if err != nil {
		t.Fatal(err)
	}
	app, err := github.New(github.Config{BaseURL: d.URL, AppID: 7, InstallationID: 8, PrivateKey: text})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range []forge.Forge{person, app} {
		branch := []string{"a", "b"}[i]
		commit := d.Commit(t, repo, branch, map[string]string{"README.md": "# Other\n", "tests/old.spec.ts": "", "tests/cart.spec.ts": "", "tests/basket.spec.ts": "line\n"})
		me, err := f.WhoAmI(ctx)
		must(t, err)
		_, err = f.Repository(ctx, repo)
		must(t, err)
		_, err = f.MayWrite(ctx, repo, me)
		must(t, err)
		p, _, err := forge.Ensure(ctx, f, repo, forge.NewPullRequest{Title: "T", Body: "B", Head: branch, Base: "main"})
		must(t, err)
		_, _, err = forge.Ensure(ctx, f, repo, forge.NewPullRequest{Title: "T2", Body: "B", Head: branch, Base: "main", Draft: true})
		must(t, err)
		_, err = f.Diff(ctx, repo, p.Number)
		must(t, err)
		_, _, err = f.ChangedFiles(ctx, repo, p.Number)
		must(t, err)
		for _, body := range []string{"one", "two"} {
			c, err := forge.Stick(ctx, f, repo, p.Number, forge.Marker("m"), body, "")
			must(t, err)
			must(t, f.React(ctx, repo, p.Number, c.ID, forge.Seen))
		}
		must(t, f.SetStatus(ctx, repo, commit, forge.Status{Context: "tas", State: forge.Success}))
		d.Merge(t, repo, p.Number)
		_, err = f.PullRequest(ctx, repo, p.Number)
		must(t, err)
	}
	const in = "/repos/{owner}/{repo}"
	for _, operation := range []string{"GET /user 200", "GET /users/{username} 200", "GET /app 200", "POST /app/installations/{installation_id}/access_tokens 201", "GET " + in + " 200", "GET " + in + "/pulls 200", "POST " + in + "/pulls 201",
		"GET " + in + "/pulls/{pull_number} 200", "PATCH " + in + "/pulls/{pull_number} 200", "GET " + in + "/pulls/{pull_number}/files 200", "GET " + in + "/issues/{issue_number}/comments 200", "POST " + in + "/issues/{issue_number}/comments 201",
		"PATCH " + in + "/issues/comments/{comment_id} 200", "POST " + in + "/issues/comments/{comment_id}/reactions 201", "POST " + in + "/issues/comments/{comment_id}/reactions 200", "POST " + in + "/statuses/{sha} 201",
		"GET " + in + "/collaborators/{username}/permission 200"} {
		if checked.Count(operation) == 0 {
			t.Errorf("%s was not checked", operation)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
