package test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/project"
	"tas-service/internal/pull"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// TestLocalPullRequest has the whole loop without an account anywhere: the service opens a
// pull request to a repository beside it, a run for it is told there, a person merges it,
// and the catalog follows.
func TestLocalPullRequest(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.Watch = 300 * time.Millisecond }, Project: func(p *project.Project) { p.Repository.Branch = "main" },
		Files: map[string]string{"tests/a.spec.ts": harness.Test("adds")}})
	// Nobody has the default branch checked out, as in a repository that is pushed to.
	s.Repo.Git(t, "checkout", "--quiet", "--detach")
	if st := s.Suite(t); st["verdict"] != "pass" {
		t.Fatalf("%v", st)
	}
	pulls := s.Server.Pulls()
	ada := account.Viewer{Person: account.Person{ID: "ada", Name: "Ada"}, Projects: []account.Membership{{ProjectID: s.ProjectID, PersonID: "ada", Role: account.RoleMember}}}
	guest := account.Viewer{Person: account.Person{ID: "guest", Name: "Guest"}, Projects: []account.Membership{{ProjectID: s.ProjectID, PersonID: "guest", Role: account.RoleViewer}}}
	base := s.Repo.Git(t, "rev-parse", "main")
	p := pull.Proposal{Key: "heal-1", Base: "main", BaseCommit: base, Branch: "tas/heal-1", At: time.Now().Truncate(time.Second), Message: "Rename it", Title: "Rename <it>", Body: "**As** the page does.",
		Patch: "--- a/tests/a.spec.ts\n+++ b/tests/a.spec.ts\n@@ -1,2 +1,2 @@\n import { test, expect } from '@playwright/test';\n-test('adds', async () => { expect(1 + 1).toBe(2); });\n+test('adds up', async () => { expect(1 + 1).toBe(2); });\n", About: "a repair"}
	if _, err := pulls.Propose(ctx, s.ProjectID, p, ""); err != nil {
		t.Fatal(err)
	}
	list := func(state forge.State) []forge.PullRequest {
		t.Helper()
		all, err := pulls.Pulls(ctx, guest, s.ProjectID, state, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	eventually(t, "the pull request is opened", func() bool { return len(list(forge.Open)) == 1 })
	n := list(forge.Open)[0].Number
	id := s.Begin(t, v2Root+"/execution/grep", map[string]any{"grep": ".", "branch": "tas/heal-1", "prNumber": n})
	if st := s.Wait(t, id); st["verdict"] != "pass" {
		t.Fatalf("%v", st)
	}
	page := func() pull.Page {
		t.Helper()
		x, err := pulls.Pull(ctx, guest, s.ProjectID, n)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	eventually(t, "the result is told", func() bool {
		x := page()
		return len(x.Comments) == 1 && len(x.Statuses) == 1 && x.Statuses[0].State == forge.Success
	})
	if x := page(); x.DiffErr != nil || !strings.Contains(x.Diff, "+test('adds up'") || !strings.Contains(x.Comments[0].Body, "✅") || x.Head.Commit != s.Repo.Git(t, "rev-parse", "tas/heal-1") {
		t.Errorf("%+v", x)
	}
	for what, err := range map[string]error{"merge": pulls.Merge(ctx, guest, s.ProjectID, n), "close": pulls.Close(ctx, guest, s.ProjectID, n), "comment": pulls.Say(ctx, guest, s.ProjectID, n, "hm")} {
		if fault.KindOf(err) != fault.Forbidden {
			t.Errorf("%s by a viewer: %v", what, err)
		}
	}
	if err := pulls.Merge(ctx, account.Viewer{Person: account.Person{ID: "x"}}, s.ProjectID, n); fault.KindOf(err) != fault.NotFound {
		t.Errorf("merge by a stranger: %v", err)
	}
	// Somebody who has the branch checked out would not see it move.
	s.Repo.Git(t, "checkout", "--quiet", "main")
	if err := pulls.Merge(ctx, ada, s.ProjectID, n); fault.KindOf(err) != fault.Conflict {
		t.Errorf("merge into what is checked out: %v", err)
	}
	s.Repo.Git(t, "checkout", "--quiet", "--detach")
	if err := pulls.Merge(ctx, ada, s.ProjectID, n); err != nil {
		t.Fatal(err)
	}
	if err := pulls.Merge(ctx, ada, s.ProjectID, n); fault.KindOf(err) != fault.Conflict {
		t.Errorf("merge again: %v", err)
	}
	eventually(t, "the catalog follows", func() bool { _, ok := ids(t, s)["tests/a.spec.ts › adds up"]; return ok })
	if got := list(""); len(got) != 1 || got[0].State != forge.Merged {
		t.Errorf("%+v", got)
	}
	if a := s.Call(t, http.MethodGet, v1Root+"/test-runs", nil); len(a.Body["testRuns"].([]any)) != 2 {
		t.Errorf("%s", a.Text)
	}
}
