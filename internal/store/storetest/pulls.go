package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/store"
)

func pull(repo, head string) forge.Record {
	now := time.Now()
	return forge.Record{PullRequest: forge.PullRequest{State: forge.Open, Title: "T " + head, Body: "b", Head: forge.Ref{Repo: repo, Branch: head, Commit: "h"},
		Base: forge.Ref{Repo: repo, Branch: "main", Commit: "b"}, Author: forge.User{ID: "1", Login: "me"}, CreatedAt: now, UpdatedAt: now}}
}

// pullNumbers opens many at once through two services: numbers have no gap, each
// repository has its own, and of two for the same branches one is refused.
func pullNumbers(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	const n = 30
	var wait sync.WaitGroup
	var mu sync.Mutex
	numbers, refused := map[string]bool{}, 0
	for i := range 2 * n { // each pair of branches twice
		for _, repo := range []string{"local/a", "local/b"} {
			wait.Go(func() {
				r, err := []*store.DB{db, other}[i%2].OpenPull(ctx, pull(repo, fmt.Sprint("head-", i/2)))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case fault.KindOf(err) == fault.Conflict:
					refused++
				case err != nil:
					t.Error(err)
				case numbers[fmt.Sprint(repo, r.Number)]:
					t.Errorf("%s has %d twice", repo, r.Number)
				default:
					numbers[fmt.Sprint(repo, r.Number)] = true
				}
			})
		}
	}
	wait.Wait()
	if refused != 2*n || len(numbers) != 2*n || !numbers[fmt.Sprint("local/b", n)] {
		t.Errorf("%d were refused, numbers %v", refused, numbers)
	}
	page, err := db.Pulls(ctx, forge.RecordQuery{Repo: "local/a", State: forge.Open, Before: 10, Limit: 3})
	if err != nil || len(page) != 3 || page[0].Number != 9 || page[2].Number != 7 {
		t.Errorf("a page: %+v, %v", page, err)
	}
	// Closed, the branches may have another one.
	must(t, db.UpdatePull(ctx, "local/a", 1, func(r *forge.Record) error { r.State = forge.Closed; return nil }))
	first, err := db.Pull(ctx, "local/a", 1)
	must(t, err)
	again, err := other.OpenPull(ctx, pull("local/a", first.Head.Branch))
	if err != nil || again.Number != n+1 {
		t.Errorf("again: %+v, %v", again, err)
	}
	found, err := db.Pulls(ctx, forge.RecordQuery{Repo: "local/a", Head: first.Head.Branch, Base: "main"})
	if err != nil || len(found) != 2 || found[0].Number != n+1 || found[1].State != forge.Closed {
		t.Errorf("of the branch: %+v, %v", found, err)
	}
}

// pullRecords keeps everything of a pull request, and changes of many sides at once.
func pullRecords(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	const repo = "local/a"
	r, err := db.OpenPull(ctx, pull(repo, "heal/1"))
	must(t, err)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			at := []*store.DB{db, other}[i%2]
			if err := at.UpdatePull(ctx, repo, r.Number, func(p *forge.Record) error { p.Body += "x"; return nil }); err != nil {
				t.Error(err)
			}
			if err := at.AddPullComment(ctx, repo, r.Number, forge.Comment{ID: fmt.Sprintf("%02d", i), Body: "ü\U0001F600", Author: forge.User{ID: "2"}, CreatedAt: time.UnixMilli(int64(1000 - i))}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	merged := time.UnixMilli(5)
	must(t, db.UpdatePull(ctx, repo, r.Number, func(p *forge.Record) error {
		p.State, p.Draft, p.MergedAt, p.MergeCommit, p.MergedBy = forge.Merged, true, &merged, "m", forge.User{Login: "boss"}
		p.Merging = &forge.Merging{Head: "1", Base: "2", Result: "3"}
		return nil
	}))
	got, err := other.Pull(ctx, repo, r.Number)
	must(t, err)
	if len(got.Body) != 21 || got.State != forge.Merged || !got.Draft || !got.MergedAt.Equal(merged) || got.MergeCommit != "m" || got.MergedBy.Login != "boss" || *got.Merging != (forge.Merging{Head: "1", Base: "2", Result: "3"}) ||
		got.Author != (forge.User{ID: "1", Login: "me"}) || got.Head != (forge.Ref{Repo: repo, Branch: "heal/1", Commit: "h"}) {
		t.Errorf("%+v", got)
	}
	must(t, db.UpdatePullComment(ctx, repo, r.Number, "03", func(c *forge.Comment) error { c.Body = "new"; return nil }))
	for range 2 {
		must(t, db.MarkComment(ctx, repo, r.Number, forge.Mark{CommentID: "03", By: forge.User{ID: "1"}, Reaction: forge.Seen}))
	}
	comments, err := db.PullComments(ctx, repo, r.Number)
	if err != nil || len(comments) != 20 || comments[0].ID != "19" || comments[16].Body != "new" || comments[0].Body != "ü\U0001F600" {
		t.Errorf("comments: %+v, %v", comments, err)
	}
	if marks, err := db.Marks(ctx, repo, r.Number); err != nil || len(marks) != 1 || marks[0].Reaction != forge.Seen {
		t.Errorf("marks: %+v, %v", marks, err)
	}
	now := time.Now()
	must(t, db.SaveStatus(ctx, repo, "c", forge.Status{Context: "tas", State: forge.Success}, now))
	must(t, other.SaveStatus(ctx, repo, "c", forge.Status{Context: "tas", State: forge.Pending}, now.Add(-time.Second)))
	if s, err := db.CommitStatuses(ctx, repo, "c"); err != nil || len(s) != 1 || s[0].State != forge.Success {
		t.Errorf("an older word won: %+v, %v", s, err)
	}
	for name, err := range map[string]error{
		"pull":    second(db.Pull(ctx, repo, 99)),
		"update":  db.UpdatePull(ctx, repo, 99, func(*forge.Record) error { return nil }),
		"comment": db.AddPullComment(ctx, repo, 99, forge.Comment{ID: "x"}),
		"edit":    db.UpdatePullComment(ctx, repo, r.Number, "none", func(*forge.Comment) error { return nil }),
		"mark":    db.MarkComment(ctx, repo, r.Number, forge.Mark{CommentID: "none"}),
	} {
		if fault.KindOf(err) != fault.NotFound || err == nil {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}
