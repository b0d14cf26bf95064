package local_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tas-service/internal/checkout/git"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/local"
	"tas-service/internal/secret"
	"tas-service/internal/store"
)

const repo = "local/shop"

var boss = forge.User{ID: "p1", Login: "boss@example.com"}

// world is one repository, its records, and the forge.
type world struct {
	*local.Client
	db  *store.DB
	dir string
}

// hooked lets a test look in between git's calls.
type hooked struct {
	git.Plain
	before func(args []string)
}

func (h hooked) Git(ctx context.Context, dir string, env []string, stdin string, args ...string) (string, string, int, error) {
	if h.before != nil {
		h.before(args)
	}
	return h.Plain.Git(ctx, dir, env, stdin, args...)
}

func start(t *testing.T) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop.git")
	run(t, "", "init", "--quiet", "--bare", "--initial-branch=main", dir)
	keys, err := secret.NewKeyring(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "db"), keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // a test's
	w := &world{db: db, dir: dir}
	w.Client = w.client(t, git.Plain{})
	w.commit(t, "main", map[string]string{"README.md": "# Tests\n", "tests/cart.spec.ts": strings.Repeat("line\n", 30), "tests/old.spec.ts": "old\n"})
	return w
}

func (w *world) client(t *testing.T, g local.Git) *local.Client {
	t.Helper()
	c, err := local.New(local.Config{Records: w.db, Git: g, Path: func(_ context.Context, name string) (string, error) {
		if name != repo {
			return "", fault.New(fault.NotFound, "There is no project of that name.")
		}
		return w.dir, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) commit(t *testing.T, branch string, files map[string]string) string {
	t.Helper()
	hash, err := forgetest.CommitTo(w.dir, branch, files)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestLocal(t *testing.T) {
	forgetest.Run(t, func(t *testing.T) forgetest.Fixture {
		w := start(t)
		return forgetest.Fixture{Forge: w, Repo: repo, Commit: w.commit,
			Say: func(t *testing.T, number int, body string) {
				if _, err := w.Say(t.Context(), repo, number, boss, body); err != nil {
					t.Error(err)
				}
			},
			Merge: func(t *testing.T, number int) {
				if _, err := w.Client.Merge(t.Context(), repo, number, boss, ""); err != nil {
					t.Error(err)
				}
			},
			Close: func(t *testing.T, number int) {
				if _, err := w.Client.Close(t.Context(), repo, number); err != nil {
					t.Error(err)
				}
			},
			Fresh: func(t *testing.T, _ *http.Client) forge.Forge { return w.client(t, git.Plain{}) },
		}
	})
}

func (w *world) open(t *testing.T, branch string, files map[string]string) forge.PullRequest {
	t.Helper()
	w.commit(t, branch, files)
	p, err := w.CreatePullRequest(t.Context(), repo, forge.NewPullRequest{Title: "T", Head: branch, Base: "main"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMerge(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.open(t, "heal/1", map[string]string{"a.ts": "a\n"})
	base := w.commit(t, "main", map[string]string{"b.ts": "b\n"})
	got, err := w.Merge(t.Context(), repo, p.Number, boss, "")
	if err != nil || got.State != forge.Merged || got.MergedAt == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if parents := run(t, w.dir, "log", "-1", "--format=%P %an %ae %s", "main"); parents != base+" "+p.Head.Commit+" boss@example.com boss@example.com Merge pull request #1 from heal/1" {
		t.Errorf("%s", parents)
	}
	if files := run(t, w.dir, "ls-tree", "-r", "--name-only", "main"); !strings.Contains(files, "a.ts\nb.ts") {
		t.Errorf("%s", files)
	}
	rec, err := w.Record(t.Context(), repo, p.Number)
	if err != nil || rec.MergedBy != boss || rec.MergeCommit != run(t, w.dir, "rev-parse", "main") {
		t.Errorf("%+v, %v", rec, err)
	}
	_, err = w.Merge(t.Context(), repo, p.Number, boss, "")
	conflict(t, err, "merged already")
	_, err = w.Client.Close(t.Context(), repo, p.Number)
	conflict(t, err, "merged already")
}

func conflict(t *testing.T, err error, says string) {
	t.Helper()
	if fault.KindOf(err) != fault.Conflict || err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want a conflict that says %q", err, says)
	}
}

func TestMergeIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	ctx := t.Context()
	before := run(t, w.dir, "rev-parse", "main")
	clash := w.open(t, "clash", map[string]string{"README.md": "# Mine\n", "tests/old.spec.ts": "mine\n"})
	closed := w.open(t, "closed", map[string]string{"c.ts": "c\n"})
	draft := w.open(t, "draft", map[string]string{"d.ts": "d\n"})
	gone := w.open(t, "gone", map[string]string{"e.ts": "e\n"})
	back := w.open(t, "back", map[string]string{"f.ts": "f\n"})
	yes := true
	_, err := w.UpdatePullRequest(ctx, repo, draft.Number, forge.Edit{Draft: &yes})
	if err == nil {
		_, err = w.Client.Close(ctx, repo, closed.Number)
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, w.dir, "update-ref", "-d", "refs/heads/gone")
	run(t, w.dir, "update-ref", "refs/heads/back", before)
	after := w.commit(t, "main", map[string]string{"README.md": "# Theirs\n", "tests/old.spec.ts": "theirs\n"})
	for number, says := range map[int]string{clash.Number: "README.md, tests/old.spec.ts", closed.Number: "closed", draft.Number: "draft", gone.Number: "gone", back.Number: "nothing"} {
		_, err := w.Merge(ctx, repo, number, boss, "")
		conflict(t, err, says)
	}
	if d := fault.As(second(w.Merge(ctx, repo, clash.Number, boss, ""))).Details; len(d) != 2 || d[0].Path != "README.md" {
		t.Errorf("%+v", d)
	}
	if now := run(t, w.dir, "rev-parse", "main"); now != after {
		t.Error("the base moved")
	}
	// A branch that was set back to its base is not merged, only empty.
	if p, err := w.PullRequest(ctx, repo, back.Number); err != nil || p.State != forge.Open {
		t.Errorf("%+v, %v", p, err)
	}
	if d, err := w.Diff(ctx, repo, back.Number); err != nil || d != "" {
		t.Errorf("%q, %v", d, err)
	}
	// A working copy that shows the base would no longer fit it.
	fine := w.open(t, "fine", map[string]string{"g.ts": "g\n"})
	run(t, w.dir, "worktree", "add", "--quiet", filepath.Join(t.TempDir(), "copy"), "main")
	_, err = w.Merge(ctx, repo, fine.Number, boss, "")
	conflict(t, err, "checked out")
}

func second[T any](_ T, err error) error { return err }

// TestMergeMeetsMoves moves a branch between each two calls of git in a merge.
func TestMergeMeetsMoves(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"heal", "main"} {
		w := start(t)
		p := w.open(t, "heal", map[string]string{"a.ts": "a\n"})
		moved := false
		c := w.client(t, hooked{before: func(args []string) {
			if args[0] == "update-ref" && !moved {
				moved = true
				w.commit(t, branch, map[string]string{"meanwhile.ts": "x\n"})
			}
		}})
		_, err := c.Merge(t.Context(), repo, p.Number, boss, "")
		conflict(t, err, `"`+branch+`" moved meanwhile`)
		if got, err := w.PullRequest(t.Context(), repo, p.Number); err != nil || got.State != forge.Open {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := c.Merge(t.Context(), repo, p.Number, boss, ""); err != nil || got.State != forge.Merged {
			t.Errorf("again: %+v, %v", got, err)
		}
	}
}

// dying keeps records until the service dies.
type dying struct {
	forge.Records
	left int
}

func (d *dying) UpdatePull(ctx context.Context, repo string, number int, change func(*forge.Record) error) error {
	if d.left--; d.left < 0 {
		return fault.New(fault.Unavailable, "The service died.")
	}
	return d.Records.UpdatePull(ctx, repo, number, change)
}

// TestMergeSurvivesDeath dies before the merge is recorded, before the branch is moved, and
// before it is known that it was.
func TestMergeSurvivesDeath(t *testing.T) {
	t.Parallel()
	for left, want := range []forge.State{forge.Open, forge.Merged} {
		w := start(t)
		p := w.open(t, "heal", map[string]string{"a.ts": "a\n"})
		c := w.client(t, git.Plain{})
		c.Records = &dying{Records: w.db, left: left}
		if _, err := c.Merge(t.Context(), repo, p.Number, boss, ""); err == nil {
			t.Error("no error")
		}
		got, err := w.Record(t.Context(), repo, p.Number)
		if err != nil || got.State != want || want == forge.Merged && (got.MergedBy != boss || got.MergeCommit == "" || got.Merging != nil) {
			t.Errorf("after %d: %+v, %v", left, got, err)
		}
		if want == forge.Merged {
			if d, err := w.Diff(t.Context(), repo, p.Number); err != nil || !strings.Contains(d, "a.ts") {
				t.Errorf("%q, %v", d, err)
			}
		}
	}
	// The branch was not moved, though the merge was recorded.
	w := start(t)
	p := w.open(t, "heal", map[string]string{"a.ts": "a\n"})
	ctx, die := context.WithCancel(t.Context())
	c := w.client(t, hooked{before: func(args []string) {
		if args[0] == "update-ref" {
			die()
		}
	}})
	if _, err := c.Merge(ctx, repo, p.Number, boss, ""); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if got, err := w.Record(t.Context(), repo, p.Number); err != nil || got.State != forge.Open || got.Merging == nil {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := w.Merge(t.Context(), repo, p.Number, boss, "By hand"); err != nil || got.State != forge.Merged {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMergedByHand sees what somebody did with git alone.
func TestMergedByHand(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.open(t, "heal", map[string]string{"a.ts": "a\n"})
	run(t, w.dir, "update-ref", "refs/heads/main", p.Head.Commit)
	list, err := w.List(t.Context(), forge.RecordQuery{Repo: repo})
	if err != nil || len(list) != 1 || list[0].State != forge.Merged {
		t.Errorf("%+v, %v", list, err)
	}
	if open, err := w.List(t.Context(), forge.RecordQuery{Repo: repo, State: forge.Open}); err != nil || len(open) != 0 {
		t.Errorf("%+v, %v", open, err)
	}
	if d, err := w.Diff(t.Context(), repo, p.Number); err != nil || !strings.Contains(d, "a.ts") {
		t.Errorf("%q, %v", d, err)
	}
}

// TestMergeOnce merges twenty times at once.
func TestMergeOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.open(t, "heal", map[string]string{"a.ts": "a\n"})
	var wait sync.WaitGroup
	var mu sync.Mutex
	merged := 0
	for range 20 {
		wait.Go(func() {
			_, err := w.Merge(context.Background(), repo, p.Number, boss, "")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				merged++
			} else if fault.KindOf(err) != fault.Conflict && fault.KindOf(err) != fault.Unavailable {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if commits := run(t, w.dir, "rev-list", "--count", "--merges", "main"); merged < 1 || commits != "1" {
		t.Errorf("%d merged, %s commits", merged, commits)
	}
	if got, err := w.PullRequest(t.Context(), repo, p.Number); err != nil || got.State != forge.Merged {
		t.Errorf("%+v, %v", got, err)
	}
}
