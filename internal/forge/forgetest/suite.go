// Package forgetest is what every forge has to pass, and doubles of the hosted ones: HTTP
// servers that keep real git repositories and answer as GitHub, GitLab and Gitea do, with
// their quirks, and with trouble where a test asks for it.
package forgetest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// Fixture is a forge under test, with one repository whose default branch is main and has
// the files README.md, tests/cart.spec.ts (30 lines) and tests/old.spec.ts. What is nil is
// left out.
type Fixture struct {
	Forge forge.Forge
	Repo  string
	// Commit pushes a commit and answers it: files by path, "" for one that is removed. A
	// branch that is not there begins at main.
	Commit func(t *testing.T, branch string, files map[string]string) string
	// Reader is the same forge for an account that may read and comment only.
	Reader forge.Forge
	// Say comments as somebody else, for forges without a second account's client.
	Say func(t *testing.T, number int, body string)
	// Merge and Close are done by a person.
	Merge, Close func(t *testing.T, number int)
	// Fork answers a pull request's number from a fork's branch of that name into main.
	Fork func(t *testing.T, branch string) int
	// Double is the server, where it is one of ours; Fresh answers a client as after a
	// restart, with an HTTP client of its own where one is given.
	Double *Double
	Fresh  func(t *testing.T, c *http.Client) forge.Forge
}

// Run holds a forge to its interface.
func Run(t *testing.T, start func(t *testing.T) Fixture) {
	for name, test := range map[string]func(t *testing.T, f Fixture){
		"accounts": accounts, "pull requests": pullRequests, "refusals": refusals, "drafts": drafts, "changes": changesAndDiff, "many files": manyFiles, "comments": comments,
		"many comments": manyComments, "many pull requests": manyPulls, "odd text": oddText, "longest bodies": longest, "statuses": statuses, "reactions": reactions, "ends": ends, "forks": forks,
		"somebody's marker": somebodysMarker, "ensure": ensure, "stick": stick, "fifty at once": fiftyAtOnce, "trouble": troubles, "every crash": everyCrash, "no secrets": noSecrets, "git": gitWithToken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

func ctxOf(t *testing.T) context.Context { return t.Context() }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if fault.KindOf(err) != kind || err == nil {
		t.Errorf("%s: %v (%s), want %s", what, err, fault.KindOf(err), kind)
	}
}

// begin pushes a branch and opens a pull request of it.
func begin(t *testing.T, f Fixture, branch string) forge.PullRequest {
	t.Helper()
	f.Commit(t, branch, map[string]string{"new/" + branch + ".ts": "x\n"})
	p, err := f.Forge.CreatePullRequest(ctxOf(t), f.Repo, forge.NewPullRequest{Title: "Title of " + branch, Body: "Body", Head: branch, Base: "main"})
	must(t, err)
	return p
}

func accounts(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	me, err := f.Forge.WhoAmI(ctx)
	if err != nil || me.ID == "" || me.Login == "" {
		t.Fatalf("%+v, %v", me, err)
	}
	r, err := f.Forge.Repository(ctx, f.Repo)
	if err != nil || r.Name != f.Repo || r.DefaultBranch != "main" || r.CloneURL == "" || !r.CanPush || strings.Contains(r.CloneURL, "s3cret") {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = f.Forge.Repository(ctx, "nobody/nothing")
	want(t, "an unknown repository", err, fault.NotFound)
	for _, bad := range []string{"", "x", "../../etc", "a/b/../c", "a/b?x=1", "a/ b", "a/b#c", "https://x/y"} {
		if _, err := f.Forge.Repository(ctx, bad); err == nil || !fault.Permanent(err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if may, err := f.Forge.MayWrite(ctx, f.Repo, me); err != nil || !may {
		t.Errorf("may we? %v, %v", may, err)
	}
	for _, nobody := range []forge.User{{}, {ID: "987654321", Login: "no-such-person"}, {ID: "x", Login: "a/../b"}} {
		if may, err := f.Forge.MayWrite(ctx, f.Repo, nobody); may || err != nil && !fault.Permanent(err) {
			t.Errorf("%+v may: %v, %v", nobody, may, err)
		}
	}
	_, err = f.Forge.MayWrite(ctx, "nobody/nothing", me)
	want(t, "in an unknown repository", err, fault.NotFound)
	if f.Reader == nil {
		return
	}
	reader, err := f.Reader.WhoAmI(ctx)
	must(t, err)
	if may, err := f.Forge.MayWrite(ctx, f.Repo, reader); err != nil || may {
		t.Errorf("may a reader? %v, %v", may, err)
	}
	// Who took over the login of somebody who may, may not.
	if may, err := f.Forge.MayWrite(ctx, f.Repo, forge.User{ID: reader.ID, Login: me.Login}); err != nil || may {
		t.Errorf("by another's name: %v, %v", may, err)
	}
	if r, err := f.Reader.Repository(ctx, f.Repo); err != nil || r.CanPush {
		t.Errorf("a reader can push: %+v, %v", r, err)
	}
}

func pullRequests(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	commit := f.Commit(t, "heal/1", map[string]string{"a.ts": "a\n"})
	p, err := f.Forge.CreatePullRequest(ctx, f.Repo, forge.NewPullRequest{Title: "Heal", Body: "Why", Head: "heal/1", Base: "main"})
	must(t, err)
	me, err := f.Forge.WhoAmI(ctx)
	must(t, err)
	if p.Number <= 0 || p.State != forge.Open || p.Draft || p.Title != "Heal" || p.Body != "Why" || p.Head != (forge.Ref{Repo: f.Repo, Branch: "heal/1", Commit: commit}) ||
		p.Base.Repo != f.Repo || p.Base.Branch != "main" || !p.Author.Is(me) || p.URL == "" || p.CreatedAt.IsZero() || p.MergedAt != nil {
		t.Errorf("%+v", p)
	}
	got, err := f.Forge.PullRequest(ctx, f.Repo, p.Number)
	if err != nil || got.Head != p.Head || got.Title != p.Title {
		t.Errorf("%+v, %v", got, err)
	}
	head := forge.Ref{Repo: f.Repo, Branch: "heal/1"}
	found, err := f.Forge.FindOpen(ctx, f.Repo, head, "main")
	if err != nil || found == nil || found.Number != p.Number || found.Body != "Why" {
		t.Errorf("%+v, %v", found, err)
	}
	for _, other := range []struct {
		head forge.Ref
		base string
	}{{forge.Ref{Repo: f.Repo, Branch: "heal/2"}, "main"}, {forge.Ref{Repo: f.Repo, Branch: "HEAL/1"}, "main"}, {head, "other"}, {forge.Ref{Repo: "else/where", Branch: "heal/1"}, "main"}} {
		if found, err := f.Forge.FindOpen(ctx, f.Repo, other.head, other.base); found != nil || err != nil && fault.KindOf(err) != fault.NotFound {
			t.Errorf("%+v into %s: %+v, %v", other.head, other.base, found, err)
		}
	}
	// A push moves the head.
	second := f.Commit(t, "heal/1", map[string]string{"b.ts": "b\n"})
	if got, err := f.Forge.PullRequest(ctx, f.Repo, p.Number); err != nil || got.Head.Commit != second {
		t.Errorf("after a push: %+v, %v", got, err)
	}
	title, body := "Healed", ""
	got, err = f.Forge.UpdatePullRequest(ctx, f.Repo, p.Number, forge.Edit{Title: &title})
	if err != nil || got.Title != title || got.Body != "Why" {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = f.Forge.UpdatePullRequest(ctx, f.Repo, p.Number, forge.Edit{Body: &body})
	if err != nil || got.Title != title || got.Body != "" {
		t.Errorf("an empty body: %+v, %v", got, err)
	}
	if got, err = f.Forge.UpdatePullRequest(ctx, f.Repo, p.Number, forge.Edit{}); err != nil || got.Title != title {
		t.Errorf("a change of nothing: %+v, %v", got, err)
	}
	got, err = f.Forge.UpdatePullRequest(ctx, f.Repo, p.Number, forge.Edit{Close: true})
	if err != nil || got.State != forge.Closed {
		t.Errorf("%+v, %v", got, err)
	}
	if found, err := f.Forge.FindOpen(ctx, f.Repo, head, "main"); found != nil || err != nil {
		t.Errorf("a closed one is open: %+v, %v", found, err)
	}
}

func refusals(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	p := begin(t, f, "one")
	for name, n := range map[string]forge.NewPullRequest{
		"no such head": {Title: "T", Head: "nothing-like-it", Base: "main"},
		"no such base": {Title: "T", Head: "one", Base: "nothing-like-it"},
		"no title":     {Head: "one", Base: "main"},
	} {
		if _, err := f.Forge.CreatePullRequest(ctx, f.Repo, n); err == nil || !fault.Permanent(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f.Forge.Kind() != forge.Gitea {
		_, err := f.Forge.CreatePullRequest(ctx, f.Repo, forge.NewPullRequest{Title: "T", Head: "one", Base: "main"})
		want(t, "a second one", err, fault.Conflict)
	}
	_, err := f.Forge.PullRequest(ctx, f.Repo, 4711)
	want(t, "an unknown one", err, fault.NotFound)
	_, err = f.Forge.UpdatePullRequest(ctx, f.Repo, 4711, forge.Edit{Close: true})
	want(t, "an update", err, fault.NotFound)
	_, err = f.Forge.Diff(ctx, f.Repo, 4711)
	want(t, "a diff", err, fault.NotFound)
	_, _, err = f.Forge.ChangedFiles(ctx, f.Repo, 4711)
	want(t, "files", err, fault.NotFound)
	_, err = f.Forge.CreateComment(ctx, f.Repo, 4711, "x")
	want(t, "a comment", err, fault.NotFound)
	_, err = f.Forge.Comments(ctx, f.Repo, 4711)
	want(t, "comments", err, fault.NotFound)
	for _, id := range []string{"987654", "x", "", "-1", "../1"} {
		_, err = f.Forge.EditComment(ctx, f.Repo, p.Number, id, "x")
		want(t, "an edit of "+id, err, fault.NotFound)
		want(t, "a reaction to "+id, f.Forge.React(ctx, f.Repo, p.Number, id, forge.Seen), fault.NotFound)
	}
	for _, s := range []struct {
		commit string
		status forge.Status
	}{{"abc", forge.Status{Context: "tas", State: forge.Success}}, {p.Head.Commit, forge.Status{State: forge.Success}}, {p.Head.Commit, forge.Status{Context: "tas", State: "great"}},
		{strings.Repeat("1", 40), forge.Status{Context: "tas", State: forge.Success}}} {
		if err := f.Forge.SetStatus(ctx, f.Repo, s.commit, s.status); err == nil || !fault.Permanent(err) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if f.Reader == nil {
		return
	}
	title := "Mine now"
	_, err = f.Reader.UpdatePullRequest(ctx, f.Repo, p.Number, forge.Edit{Title: &title})
	want(t, "a reader's update", err, fault.Forbidden)
	want(t, "a reader's status", f.Reader.SetStatus(ctx, f.Repo, p.Head.Commit, forge.Status{Context: "tas", State: forge.Success}), fault.Forbidden)
	c, err := f.Forge.CreateComment(ctx, f.Repo, p.Number, "ours")
	must(t, err)
	_, err = f.Reader.EditComment(ctx, f.Repo, p.Number, c.ID, "mine")
	want(t, "a reader's edit of ours", err, fault.Forbidden)
}

func drafts(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	f.Commit(t, "draft", map[string]string{"d.ts": "d\n"})
	p, err := f.Forge.CreatePullRequest(ctx, f.Repo, forge.NewPullRequest{Title: "A draft", Head: "draft", Base: "main", Draft: true})
	if err != nil || !p.Draft || p.Title != "A draft" {
		t.Fatalf("%+v, %v", p, err)
	}
	title, yes, no := "Still one", true, false
	if p, err = f.Forge.UpdatePullRequest(ctx, f.Repo, p.Number, forge.Edit{Title: &title}); err != nil || !p.Draft || p.Title != title {
		t.Errorf("a new title: %+v, %v", p, err)
	}
	if p, err = f.Forge.UpdatePullRequest(ctx, f.Repo, p.Number, forge.Edit{Draft: &no}); err != nil || p.Draft || p.Title != title {
		t.Errorf("ready: %+v, %v", p, err)
	}
	if p, err = f.Forge.UpdatePullRequest(ctx, f.Repo, p.Number, forge.Edit{Draft: &yes}); err != nil || !p.Draft || p.Title != title {
		t.Errorf("a draft again: %+v, %v", p, err)
	}
	if p, err = f.Forge.PullRequest(ctx, f.Repo, p.Number); err != nil || !p.Draft {
		t.Errorf("%+v, %v", p, err)
	}
}

func changesAndDiff(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	f.Commit(t, "changes", map[string]string{"README.md": "# Other\n", "tests/cart.spec.ts": "", "tests/basket.spec.ts": strings.Repeat("line\n", 30), "tests/old.spec.ts": "", "tests/new ü.spec.ts": "new\n"})
	p, err := f.Forge.CreatePullRequest(ctx, f.Repo, forge.NewPullRequest{Title: "T", Head: "changes", Base: "main"})
	must(t, err)
	f.Commit(t, "main", map[string]string{"elsewhere.ts": "not of the pull request\n"})
	got, more, err := f.Forge.ChangedFiles(ctx, f.Repo, p.Number)
	must(t, err)
	slices.SortFunc(got, func(a, b forge.Change) int { return strings.Compare(a.Path, b.Path) })
	wanted := []forge.Change{{Path: "README.md", Kind: forge.Modified}, {Path: "tests/basket.spec.ts", OldPath: "tests/cart.spec.ts", Kind: forge.Renamed}, {Path: "tests/new ü.spec.ts", Kind: forge.Added}, {Path: "tests/old.spec.ts", Kind: forge.Deleted}}
	if more || !slices.Equal(got, wanted) {
		t.Errorf("%+v, want %+v", got, wanted)
	}
	d, err := f.Forge.Diff(ctx, f.Repo, p.Number)
	if err != nil || !strings.HasPrefix(d, "diff --git ") || !strings.Contains(d, "+# Other\n") || !strings.Contains(d, "rename from tests/cart.spec.ts") || strings.Contains(d, "elsewhere") {
		t.Errorf("%v: %s", err, d)
	}
	// Too large a diff is refused, not cut.
	f.Commit(t, "large", map[string]string{"large.txt": strings.Repeat("0123456789abcde\n", forge.MaxDiff/16+1)})
	p, err = f.Forge.CreatePullRequest(ctx, f.Repo, forge.NewPullRequest{Title: "T", Head: "large", Base: "main"})
	must(t, err)
	_, err = f.Forge.Diff(ctx, f.Repo, p.Number)
	want(t, "a large diff", err, fault.Invalid)
}

func manyFiles(t *testing.T, f Fixture) {
	files := map[string]string{}
	for i := range forge.MaxFiles + 1 {
		files[fmt.Sprintf("many/%04d.ts", i)] = fmt.Sprint(i, "\n")
	}
	f.Commit(t, "many", files)
	p, err := f.Forge.CreatePullRequest(ctxOf(t), f.Repo, forge.NewPullRequest{Title: "T", Head: "many", Base: "main"})
	must(t, err)
	got, more, err := f.Forge.ChangedFiles(ctxOf(t), f.Repo, p.Number)
	paths := map[string]bool{}
	for _, c := range got {
		paths[c.Path] = true
	}
	if err != nil || !more || len(paths) != forge.MaxFiles {
		t.Errorf("%d files, more: %v, %v", len(paths), more, err)
	}
}

func comments(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	p := begin(t, f, "talk")
	if all, err := f.Forge.Comments(ctx, f.Repo, p.Number); err != nil || len(all) != 0 {
		t.Errorf("before anything: %+v, %v", all, err)
	}
	first, err := f.Forge.CreateComment(ctx, f.Repo, p.Number, "first")
	must(t, err)
	f.Say(t, p.Number, "second")
	edited, err := f.Forge.EditComment(ctx, f.Repo, p.Number, first.ID, "first, edited")
	if err != nil || edited.ID != first.ID || edited.Body != "first, edited" {
		t.Errorf("%+v, %v", edited, err)
	}
	all, err := f.Forge.Comments(ctx, f.Repo, p.Number)
	me, _ := f.Forge.WhoAmI(ctx)
	if err != nil || len(all) != 2 || all[0].ID != first.ID || all[0].Body != "first, edited" || all[1].Body != "second" || !all[0].Author.Is(me) || all[1].Author.Is(me) || all[0].CreatedAt.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := f.Forge.CreateComment(ctx, f.Repo, p.Number, ""); err == nil || !fault.Permanent(err) {
		t.Errorf("an empty comment: %v", err)
	}
}

func manyComments(t *testing.T, f Fixture) {
	p := begin(t, f, "much-talk")
	for i := range 205 {
		f.Say(t, p.Number, fmt.Sprint("comment ", i))
	}
	all, err := f.Forge.Comments(ctxOf(t), f.Repo, p.Number)
	if err != nil || len(all) != 205 || all[0].Body != "comment 0" || all[204].Body != "comment 204" {
		t.Errorf("%d comments, %v", len(all), err)
	}
}

func manyPulls(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	n := 105 // more than a page anywhere
	for i := range n {
		begin(t, f, fmt.Sprintf("many-%03d", i))
	}
	for _, i := range []int{0, 50, n - 1} {
		branch := fmt.Sprintf("many-%03d", i)
		found, err := f.Forge.FindOpen(ctx, f.Repo, forge.Ref{Repo: f.Repo, Branch: branch}, "main")
		if err != nil || found == nil || found.Head.Branch != branch {
			t.Errorf("%s: %+v, %v", branch, found, err)
		}
	}
}

const odd = "Ünïcödé 日本語 \U0001F600 <script>alert(1)</script> & \"quotes\" `code`\n\n- [ ] list\n```diff\n+x\n```\n@everyone #1"

func oddText(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	f.Commit(t, "odd/ünï-日本", map[string]string{"ü.ts": "ü\n"})
	p, created, err := forge.Ensure(ctx, f.Forge, f.Repo, forge.NewPullRequest{Title: "Tïtle \U0001F600 & <b>", Body: odd, Head: "odd/ünï-日本", Base: "main"})
	if err != nil || !created || p.Title != "Tïtle \U0001F600 & <b>" || p.Body != odd || p.Head.Branch != "odd/ünï-日本" {
		t.Fatalf("%+v, %v", p, err)
	}
	if again, created, err := forge.Ensure(ctx, f.Forge, f.Repo, forge.NewPullRequest{Title: p.Title, Body: odd, Head: p.Head.Branch, Base: "main"}); err != nil || created || again.Number != p.Number {
		t.Errorf("%+v, %v", again, err)
	}
	c, err := f.Forge.CreateComment(ctx, f.Repo, p.Number, odd)
	if err != nil || c.Body != odd {
		t.Errorf("%+v, %v", c, err)
	}
}

func longest(t *testing.T, f Fixture) {
	ctx := ctxOf(t)
	most := forge.MaxBody(f.Forge.Kind())
	body := strings.Repeat("ü", most)
	f.Commit(t, "long", map[string]string{"l.ts": "l\n"})
	p, _, err := forge.Ensure(ctx, f.Forge, f.Repo, forge.NewPullRequest{Title: strings.Repeat("t", forge.MaxTitle), Body: body, Head: "long", Base: "main"})
	if err != nil || p.Body != body {
		t.Fatalf("%d characters came back: %v", len([]rune(p.Body)), err)
	}
	c, err := f.Forge.CreateComment(ctx, f.Repo, p.Number, body)
	if err != nil || c.Body != body {
		t.Errorf("%d characters came back: %v", len([]rune(c.Body)), err)
	}
	_, err = forge.Stick(ctx, f.Forge, f.Repo, p.Number, forge.Marker("x"), body, "")
	want(t, "one line too long", err, fault.Invalid)
	_, _, err = forge.Ensure(ctx, f.Forge, f.Repo, forge.NewPullRequest{Title: "T", Body: body + "x", Head: "long", Base: "main"})
	want(t, "one character too long", err, fault.Invalid)
}
