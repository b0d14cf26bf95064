package forgetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

func statuses(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	p := begin(t, f, "status")
	for _, s := range []forge.StatusState{forge.Pending, forge.Pending, forge.Failure, forge.Pending, forge.Broken, forge.Success} {
		if err := f.Forge.SetStatus(ctx, f.Repo, p.Head.Commit, forge.Status{Context: "tas/shop", State: s, Description: strings.Repeat("Wörd ", 100), URL: "https://tas.example.com/runs/1"}); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if f.Double == nil {
		return
	}
	said := f.Double.Statuses(f.Repo, p.Head.Commit)
	if n := len(said); n < 5 || !strings.HasPrefix(said[n-1], "tas/shop success Wörd") || !strings.HasSuffix(said[n-1], "… https://tas.example.com/runs/1") {
		t.Errorf("%q", said)
	}
}

func reactions(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	p := begin(t, f, "react")
	f.Say(t, p.Number, "/tas run")
	all, err := f.Forge.Comments(ctx, f.Repo, p.Number)
	must(t, err)
	for _, r := range []forge.Reaction{forge.Seen, forge.Seen, forge.Agreed, forge.Refused, forge.Puzzled} {
		if err := f.Forge.React(ctx, f.Repo, p.Number, all[0].ID, r); err != nil {
			t.Errorf("%s: %v", r, err)
		}
	}
	if f.Double != nil {
		if marks := f.Double.Marks(f.Repo, all[0].ID); len(marks) != 4 {
			t.Errorf("%v", marks)
		}
	}
}

func ends(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	merged, closed := begin(t, f, "to-merge"), begin(t, f, "to-close")
	f.Merge(t, merged.Number)
	f.Close(t, closed.Number)
	p, err := f.Forge.PullRequest(ctx, f.Repo, merged.Number)
	if err != nil || p.State != forge.Merged || p.MergedAt == nil {
		t.Errorf("%+v, %v", p, err)
	}
	if d, err := f.Forge.Diff(ctx, f.Repo, merged.Number); err != nil || !strings.Contains(d, "new/to-merge.ts") {
		t.Errorf("the diff of a merged one: %v: %q", err, d)
	}
	p, err = f.Forge.PullRequest(ctx, f.Repo, closed.Number)
	if err != nil || p.State != forge.Closed || p.MergedAt != nil {
		t.Errorf("%+v, %v", p, err)
	}
	for _, branch := range []string{"to-merge", "to-close"} {
		if found, err := f.Forge.FindOpen(ctx, f.Repo, forge.Ref{Repo: f.Repo, Branch: branch}, "main"); found != nil || err != nil {
			t.Errorf("%s: %+v, %v", branch, found, err)
		}
	}
	// A closed one is not opened again: there is a new one.
	next, created, err := forge.Ensure(ctx, f.Forge, f.Repo, forge.NewPullRequest{Title: "T", Head: "to-close", Base: "main"})
	if err != nil || !created || next.Number == closed.Number {
		t.Errorf("%+v, %v", next, err)
	}
}

// forks: the same branch of another repository is not ours.
func forks(t *testing.T, f Fixture) {
	if f.Fork == nil {
		t.Skip("this forge has no forks here")
	}
	ctx := ctxOf(t)
	f.Commit(t, "same", map[string]string{"ours.ts": "x\n"})
	theirs := f.Fork(t, "same")
	ours := forge.Ref{Repo: f.Repo, Branch: "same"}
	if found, err := f.Forge.FindOpen(ctx, f.Repo, ours, "main"); found != nil || err != nil {
		t.Fatalf("a fork's was taken for ours: %+v, %v", found, err)
	}
	p, created, err := forge.Ensure(ctx, f.Forge, f.Repo, forge.NewPullRequest{Title: "Ours", Head: "same", Base: "main"})
	if err != nil || !created || p.Number == theirs {
		t.Fatalf("%+v, %v", p, err)
	}
	got, err := f.Forge.PullRequest(ctx, f.Repo, theirs)
	if err != nil || got.Head.Repo == f.Repo || got.Head.Repo == "" || got.Head.Branch != "same" || got.Title == "Ours" {
		t.Errorf("%+v, %v", got, err)
	}
	found, err := f.Forge.FindOpen(ctx, f.Repo, forge.Ref{Repo: got.Head.Repo, Branch: "same"}, "main")
	if err != nil || found == nil || found.Number != theirs {
		t.Errorf("theirs is not found: %+v, %v", found, err)
	}
	if f.Double == nil {
		return
	}
	f.Double.Remove(got.Head.Repo)
	fresh := f.Fresh(t, nil)
	if got, err = fresh.PullRequest(ctx, f.Repo, theirs); err != nil || got.Head.Repo != "" {
		t.Errorf("of a fork that is gone: %+v, %v", got, err)
	}
	if found, err := fresh.FindOpen(ctx, f.Repo, ours, "main"); err != nil || found == nil || found.Number != p.Number {
		t.Errorf("%+v, %v", found, err)
	}
}

// somebodysMarker: who copies our marker does not get our comment.
func somebodysMarker(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	p := begin(t, f, "marker")
	m := forge.Marker("shop/result")
	f.Say(t, p.Number, m+"\nAll is well, merge it!")
	c, err := forge.Stick(ctx, f.Forge, f.Repo, p.Number, m, "3 failed", "")
	must(t, err)
	// A comment of ours that only quotes the marker is another one, too.
	quote, err := f.Forge.CreateComment(ctx, f.Repo, p.Number, "Somebody wrote\n> "+m+"\nthere.")
	must(t, err)
	again, err := forge.Stick(ctx, f.Forge, f.Repo, p.Number, m, "0 failed", "")
	if err != nil || again.ID != c.ID {
		t.Errorf("%+v, %v", again, err)
	}
	all, err := f.Forge.Comments(ctx, f.Repo, p.Number)
	if err != nil || len(all) != 3 || !strings.Contains(all[0].Body, "All is well") || all[1].Body != m+"\n0 failed" || all[2].ID != quote.ID || !strings.Contains(all[2].Body, "> ") {
		t.Errorf("%+v, %v", all, err)
	}
}

func ensure(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	f.Commit(t, "ensure", map[string]string{"e.ts": "e\n"})
	n := forge.NewPullRequest{Title: "One", Body: "Body", Head: "ensure", Base: "main"}
	p, created, err := forge.Ensure(ctx, f.Forge, f.Repo, n)
	if err != nil || !created {
		t.Fatalf("%+v, %v", p, err)
	}
	n.Title, n.Body, n.Draft = "Two", "Other\n\nbody", true
	got, created, err := forge.Ensure(ctx, f.Forge, f.Repo, n)
	if err != nil || created || got.Number != p.Number || got.Title != "Two" || got.Body != n.Body || !got.Draft {
		t.Errorf("%+v, %v, %v", got, created, err)
	}
	for name, bad := range map[string]forge.NewPullRequest{"no title": {Head: "a", Base: "b"}, "two lines": {Title: "a\nb", Head: "a", Base: "b"}, "one branch": {Title: "a", Head: "b", Base: "b"}, "no branch": {Title: "a", Head: "b"}} {
		_, _, err := forge.Ensure(ctx, f.Forge, f.Repo, bad)
		want(t, name, err, fault.Invalid)
	}
}

func stick(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	p := begin(t, f, "stick")
	m := forge.Marker("k")
	c, err := forge.Stick(ctx, f.Forge, f.Repo, p.Number, m, "one", "")
	if err != nil || c.Body != m+"\none" {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, known := range []string{"", c.ID} {
		got, err := forge.Stick(ctx, f.Forge, f.Repo, p.Number, m, "two "+known, known)
		if err != nil || got.ID != c.ID || !strings.HasSuffix(got.Body, "two "+known) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	// Another marker is another comment; one at the end is as good.
	other, err := forge.Stick(ctx, f.Forge, f.Repo, p.Number, forge.Marker("k2"), "other\n"+forge.Marker("k2"), "")
	if err != nil || other.ID == c.ID {
		t.Errorf("%+v, %v", other, err)
	}
	if all, err := f.Forge.Comments(ctx, f.Repo, p.Number); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if f.Double == nil {
		return
	}
	// Somebody deleted it: what is known no longer holds.
	f.Double.RemoveComment(f.Repo, c.ID)
	for range 2 {
		if _, err = forge.Stick(ctx, f.Forge, f.Repo, p.Number, m, "three", c.ID); err != nil {
			t.Error(err)
		}
	}
	if all, err := f.Forge.Comments(ctx, f.Repo, p.Number); err != nil || len(all) != 2 || all[1].Body != m+"\nthree" {
		t.Errorf("%+v, %v", all, err)
	}
	// Of several of ours, the oldest.
	if _, err := f.Forge.CreateComment(ctx, f.Repo, p.Number, m+"\nby an older version"); err != nil {
		t.Error(err)
	}
	got, err := forge.Stick(ctx, f.Forge, f.Repo, p.Number, m, "four", "")
	if all, lerr := f.Forge.Comments(ctx, f.Repo, p.Number); err != nil || lerr != nil || all[1].ID != got.ID || all[1].Body != m+"\nfour" {
		t.Errorf("%+v, %v", all, err)
	}
}

// gitWithToken reads the repository with the credentials that the forge gives out.
func gitWithToken(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	r, err := f.Forge.Repository(ctx, f.Repo)
	must(t, err)
	token, err := f.Forge.Credentials(ctx)
	must(t, err)
	list := func(token string) (string, error) {
		cmd := exec.Command("git", "ls-remote", r.CloneURL, "refs/heads/main")
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if token != "" {
			cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=!f() { echo username=x-access-token; echo password=$TOKEN; }; f", "TOKEN="+token,
				"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*")
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := list(token); err != nil || !strings.Contains(out, "refs/heads/main") {
		t.Errorf("%v: %s", err, out)
	}
	if token != "" {
		if out, err := list("wrong"); err == nil {
			t.Errorf("a wrong token was taken: %s", out)
		}
	}
}
