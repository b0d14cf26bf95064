package test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tas-service/internal/action"
	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/gitea"
	"tas-service/internal/forge/github"
	"tas-service/internal/forge/gitlab"
	"tas-service/internal/project"
	"tas-service/internal/pull"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// hookHeaders are those by which forges say what a webhook is.
var hookHeaders = []string{"Content-Type", "X-GitHub-Event", "X-GitHub-Delivery", "X-Hub-Signature-256", "X-Gitea-Event", "X-Gitea-Delivery", "X-Gitea-Signature",
	"X-Gitlab-Event", "X-Gitlab-Token", "X-Gitlab-Event-UUID", "X-Gitlab-Webhook-UUID", "Idempotency-Key", "webhook-id", "webhook-timestamp", "webhook-signature"}

// deliver sends a webhook as the forge would, and answers the status.
func deliver(t *testing.T, s *harness.System, kind forge.Kind, d forge.Delivery) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.URL+"/hooks/"+string(kind), bytes.NewReader(d.Body))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range hookHeaders {
		if v := d.Header(name); v != "" {
			r.Header.Set(name, v)
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// eventually waits for something that is done in the background.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come to this: %s", what)
		}
	}
}

// packageFiles are what a tests repository needs beside its tests.
func packageFiles(t *testing.T) map[string]string {
	t.Helper()
	repo := harness.NewRepo(t, map[string]string{})
	out := map[string]string{}
	for _, name := range []string{"package.json", "package-lock.json", "playwright.config.ts"} {
		text, err := os.ReadFile(filepath.Join(repo.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

// TestPullRequest follows a pull request at each hosted forge: a run for it is told there,
// as a status and in one comment that is kept up to date; comments of who may push are
// obeyed; a push brings the catalog up to date; and the service opens one of its own.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	const repo, secret = "shop/tests", "hook-s3cret"
	broken := strings.Replace(harness.Test("adds"), "toBe(2)", "toBe(3)", 1)
	for _, c := range []struct {
		kind forge.Kind
		open func(*testing.T) *forgetest.Double
		dial func(url, token string) (forge.Forge, error)
	}{
		{forge.GitHub, forgetest.NewGitHub, func(u, t string) (forge.Forge, error) { return github.New(github.Config{BaseURL: u, Token: t}) }},
		{forge.GitLab, forgetest.NewGitLab, func(u, t string) (forge.Forge, error) { return gitlab.New(gitlab.Config{BaseURL: u, Token: t}) }},
		{forge.Gitea, forgetest.NewGitea, func(u, t string) (forge.Forge, error) { return gitea.New(gitea.Config{BaseURL: u, Token: t}) }},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			ctx, d := context.Background(), c.open(t)
			d.SetTime(time.Now())
			files := packageFiles(t)
			files["tests/cart.spec.ts"], files["tests/old.spec.ts"] = "", ""
			files["tests/a.spec.ts"], files["tests/b.spec.ts"] = harness.Test("adds"), harness.Test("also adds @smoke")
			d.Commit(t, repo, "main", files)
			head := d.Commit(t, repo, "feature", map[string]string{"tests/a.spec.ts": broken})
			s := harness.Start(t, harness.Options{Project: func(p *project.Project) {
				p.Repository = project.Repository{URL: d.URL + "/" + repo + ".git", Token: d.Token("tas-bot")}
			}, Config: func(cfg *server.Config) { cfg.Watch = 500 * time.Millisecond }})
			db := s.Server.Store()
			if err := db.UpdateConnection(ctx, s.ProjectID, func(x *pull.Connection) error { x.Kind, x.HookSecret = c.kind, secret; return nil }); err != nil {
				t.Fatal(err)
			}
			d.AddHook(repo, s.URL+"/hooks/"+string(c.kind), secret)
			number := d.OpenPull(t, repo, repo, "feature", "main")
			me, err := c.dial(d.URL, d.Token("tas-bot"))
			if err != nil {
				t.Fatal(err)
			}
			said := func() (ours []forge.Comment) {
				t.Helper()
				all, err := me.Comments(ctx, repo, number)
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range all {
					if strings.Contains(x.Body, "<!-- tas:") && x.Author.Login == "tas-bot" {
						ours = append(ours, x)
					}
				}
				return ours
			}
			statuses := func() string { return strings.Join(d.Statuses(repo, head), "\n") }

			if st := s.Suite(t); st["verdict"] != "pass" {
				t.Fatalf("%v", st)
			}
			refused := s.Call(t, http.MethodPost, v1Root+"/execution/suite", map[string]any{"prNumber": number, "repoName": "shop/other"})
			if refused.Status != http.StatusBadRequest || !strings.Contains(refused.Text, "body.repoName") || !strings.Contains(refused.Text, repo) {
				t.Errorf("another repository: %d %s", refused.Status, refused.Text)
			}
			id := s.Begin(t, v2Root+"/execution/grep", map[string]any{"grep": ".", "branch": "feature", "prNumber": number})
			if st := s.Wait(t, id); st["verdict"] != "fail" {
				t.Fatalf("%v", st)
			}
			eventually(t, "one comment tells the failure", func() bool { return len(said()) == 1 && strings.Contains(said()[0].Body, "1 new") })
			comment := said()[0]
			for _, want := range []string{"❌", "a.spec.ts › adds", "/runs/" + id, "**new**", "BUG-1"} {
				if !strings.Contains(comment.Body, want) {
					t.Errorf("the comment lacks %q:\n%s", want, comment.Body)
				}
			}
			eventually(t, "the commit's status is failure", func() bool { return strings.Contains(statuses(), "1 of 2 tests failed") })
			if !strings.Contains(statuses(), "tas/case") {
				t.Errorf("statuses:\n%s", statuses())
			}

			// A comment of who may push is obeyed, once; others are refused.
			runs := func() int {
				return len(s.Call(t, http.MethodGet, v1Root+"/test-runs", nil).Body["testRuns"].([]any))
			}
			head = d.Commit(t, repo, "feature", map[string]string{"tests/a.spec.ts": harness.Test("adds")})
			by := d.Say(repo, number, "owner", "/tas run adds")
			eventually(t, "the comment says pass", func() bool { return len(said()) == 1 && strings.Contains(said()[0].Body, "✅") })
			if got := said()[0]; got.ID != comment.ID {
				t.Errorf("the comment was %s and is %s", comment.ID, got.ID)
			}
			eventually(t, "the comment is answered", func() bool { return len(d.Marks(repo, by)) == 1 })
			if status := deliver(t, s, c.kind, d.Delivery(repo, number, "commented", by, secret)); status != http.StatusAccepted {
				t.Errorf("the webhook again: %d", status)
			}
			stranger := d.Say(repo, number, "reader", "/tas run")
			eventually(t, "the stranger is answered", func() bool { return len(d.Marks(repo, stranger)) == 1 })
			if marks := fmt.Sprint(d.Marks(repo, by), d.Marks(repo, stranger)); !slices.Contains([]string{"[+1] [-1]", "[thumbsup] [thumbsdown]"}, marks) {
				t.Errorf("reactions: %s", marks)
			}
			puzzled := d.Say(repo, number, "owner", "/tas dance")
			eventually(t, "what is not understood is answered", func() bool { return len(d.Marks(repo, puzzled)) == 1 })
			if n := runs(); n != 3 {
				t.Errorf("%d runs", n)
			}

			// Webhooks that nobody signed change nothing.
			d.Commit(t, repo, "main", map[string]string{"tests/c.spec.ts": harness.Test("multiplies")})
			if status := deliver(t, s, c.kind, d.PushDelivery(repo, "main", "another")); status != http.StatusUnauthorized {
				t.Errorf("a wrong signature: %d", status)
			}
			if status := deliver(t, s, c.kind, d.PushDelivery("shop/tests", "feature", secret)); status != http.StatusAccepted {
				t.Errorf("a push of another branch: %d", status)
			}
			if _, ok := ids(t, s)["tests/c.spec.ts › multiplies"]; ok {
				t.Error("the catalog followed what nobody signed")
			}
			if status := deliver(t, s, c.kind, d.PushDelivery(repo, "main", secret)); status != http.StatusAccepted {
				t.Errorf("a push: %d", status)
			}
			eventually(t, "the catalog follows the push", func() bool { _, ok := ids(t, s)["tests/c.spec.ts › multiplies"]; return ok })
			if n := runs(); n != 3 {
				t.Errorf("%d runs after a push", n)
			}

			// One of its own, opened once however often it is asked for.
			base := d.Commit(t, repo, "main", map[string]string{"tests/d.spec.ts": "one\n"})
			p := pull.Proposal{Key: "heal-1", Base: "main", BaseCommit: base, Branch: "tas/heal-1", At: time.Now().Truncate(time.Second), Message: "Say two", Title: "Say two", Body: "As the page does.",
				Patch: "--- a/tests/d.spec.ts\n+++ b/tests/d.spec.ts\n@@ -1 +1 @@\n-one\n+two\n", About: "a repair"}
			var asked action.Action
			for range 3 {
				if asked, err = s.Server.Pulls().Propose(ctx, s.ProjectID, p, ""); err != nil {
					t.Fatal(err)
				}
			}
			done := func(version int) func() bool {
				return func() bool {
					a, err := db.Action(ctx, s.ProjectID, asked.ID)
					if err != nil || a.State == action.Failed {
						t.Fatalf("%+v, %v", a, err)
					}
					return a.DoneAs == version
				}
			}
			eventually(t, "the pull request is opened", done(1))
			p.Title, p.Patch = "Say three", strings.Replace(p.Patch, "two", "three", 1)
			if asked, err = s.Server.Pulls().Propose(ctx, s.ProjectID, p, ""); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the pull request is brought up to date", done(2))
			own, err := me.FindOpen(ctx, repo, forge.Ref{Repo: repo, Branch: "tas/heal-1"}, "main")
			if err != nil || own == nil || own.Title != "Say three" || own.Number != number+1 {
				t.Fatalf("%+v, %v", own, err)
			}
			diff, err := me.Diff(ctx, repo, own.Number)
			if err != nil || !strings.Contains(diff, "+three") || strings.Contains(diff, "+two") {
				t.Errorf("%v\n%s", err, diff)
			}
			if leaked := holding(t, s.Data, nil, d.Token("tas-bot"), secret); leaked != "" {
				t.Errorf("a secret is in %s", leaked)
			}
		})
	}
}
