package pull_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"tas-service/internal/action"
	"tas-service/internal/checkout/git"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/pull"
)

// TestSettledIsNotOpenedAgain opens no second pull request in place of one that a person
// has closed or merged, whatever is asked for under its key afterwards.
func TestSettledIsNotOpenedAgain(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(d *teller, n int){
		"closed": func(d *teller, n int) { d.d.Close(t, "shop/tests", n) },
		"merged": func(d *teller, n int) { d.d.Merge(t, "shop/tests", n) },
	} {
		d, ctx := newTeller(t), context.Background()
		d.Writes = &git.Mirrors{Root: filepath.Join(t.TempDir(), "looks")}
		base := d.d.Commit(t, "shop/tests", "main", map[string]string{"a.ts": "a\n"})
		propose := func(text string) action.Action {
			t.Helper()
			a, err := d.Propose(ctx, d.p.ID, pull.Proposal{Key: "k", Base: "main", BaseCommit: base, Branch: "tas/heal-1", At: time.Unix(1_790_000_000, 0), Message: "Heal a", Title: "Heal a", Body: text,
				Patch: "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-a\n+" + text + "\n"}, "")
			if err != nil {
				t.Fatal(err)
			}
			d.step(t)
			if a, err = d.db.Action(ctx, d.p.ID, a.ID); err != nil {
				t.Fatal(err)
			}
			return a
		}
		if a := propose("b"); a.State != action.Done {
			t.Fatalf("%s: %+v", name, a)
		}
		if a := propose("c"); a.State != action.Done { // brought up to date
			t.Fatalf("%s: %+v", name, a)
		}
		settle(d, 1)
		if a := propose("d"); a.State != action.Failed {
			t.Errorf("%s: %+v", name, a)
		}
		l, err := d.Link(ctx, d.p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := l.Forge.PullRequest(ctx, "shop/tests", 2); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: a second one: %+v, %v", name, p, err)
		}
		if open, err := l.Forge.FindOpen(ctx, "shop/tests", forge.Ref{Repo: "shop/tests", Branch: "tas/heal-1"}, "main"); open != nil || err != nil {
			t.Errorf("%s: open is %+v, %v", name, open, err)
		}
	}
}
