package local

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// Merge merges a pull request into its base, as somebody, with a commit of two parents; an
// empty message is one that names the pull request. It needs no working copy.
//
// The merge is recorded before the branch is moved, and the branch is moved only from where
// it was: whatever happens in between, it is merged once or not at all, and the next look
// at the record tells which.
func (c *Client) Merge(ctx context.Context, repo string, number int, by forge.User, message string) (forge.PullRequest, error) {
	r, rec, err := c.get(ctx, repo, number)
	if err != nil {
		return forge.PullRequest{}, err
	}
	if err := mergeable(rec); err != nil {
		return forge.PullRequest{}, err
	}
	m, err := c.prepare(ctx, r, rec, by, message)
	if err != nil {
		return forge.PullRequest{}, err
	}
	err = c.Records.UpdatePull(ctx, repo, number, func(now *forge.Record) error {
		if err := mergeable(*now); err != nil {
			return err
		}
		now.Merging = &m
		return nil
	})
	if err != nil {
		return forge.PullRequest{}, err
	}
	if err := r.move(ctx, rec, m); err != nil {
		return forge.PullRequest{}, err
	}
	var done forge.Record
	at := c.Clock().UTC().Truncate(time.Millisecond)
	err = c.Records.UpdatePull(ctx, repo, number, func(now *forge.Record) error {
		now.State, now.MergedAt, now.UpdatedAt, now.MergeCommit, now.MergedBy, now.Merging = forge.Merged, &at, at, m.Result, m.By, nil
		now.Head.Commit, now.Base.Commit = m.Head, m.Base
		done = *now
		return nil
	})
	return c.answer(done), err
}

func mergeable(rec forge.Record) error {
	switch {
	case rec.State == forge.Merged:
		return fault.New(fault.Conflict, "The pull request is merged already.")
	case rec.State == forge.Closed:
		return fault.New(fault.Conflict, "The pull request is closed.").WithFix("Open another one.")
	case rec.Draft:
		return fault.New(fault.Conflict, "The pull request is a draft.").WithFix("Mark it as ready first.")
	}
	return nil
}

// prepare makes the commit, to which no branch points yet.
func (c *Client) prepare(ctx context.Context, r repository, rec forge.Record, by forge.User, message string) (forge.Merging, error) {
	m := forge.Merging{By: by}
	var err error
	for branch, commit := range map[string]*string{rec.Base.Branch: &m.Base, rec.Head.Branch: &m.Head} {
		if *commit, err = r.head(ctx, branch); err != nil {
			return m, err
		}
		if *commit == "" {
			return m, fault.New(fault.Conflict, "The branch %q is gone.", branch).WithFix("Push it again, or close the pull request.")
		}
	}
	if done, err := r.within(ctx, m.Head, m.Base); err != nil || done {
		if err == nil {
			err = fault.New(fault.Conflict, "The branch %q has nothing that %q has not.", rec.Head.Branch, rec.Base.Branch).WithFix("Close the pull request.")
		}
		return m, err
	}
	if err := r.free(ctx, rec.Base.Branch); err != nil {
		return m, err
	}
	tree, err := r.mergedTree(ctx, rec, m)
	if err != nil {
		return m, err
	}
	if message == "" {
		message = fmt.Sprintf("Merge pull request #%d from %s\n\n%s", rec.Number, rec.Head.Branch, rec.Title)
	}
	name, email := person(by)
	when := fmt.Sprintf("%d +0000", c.Clock().Unix())
	out, said, status, err := r.git.Git(ctx, r.dir, []string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email, "GIT_COMMITTER_DATE=" + when},
		strings.ToValidUTF8(strings.ReplaceAll(message, "\x00", ""), "\uFFFD")+"\n", "commit-tree", "-p", m.Base, "-p", m.Head, "-F", "-", tree)
	if err != nil || status != 0 {
		return m, fault.Wrap(err, fault.Unavailable, "The merge's commit could not be made: %s", forge.Line(said, 300))
	}
	m.Result = strings.TrimSpace(out)
	return m, nil
}

// person answers what stands in the commit.
func person(u forge.User) (name, email string) {
	clean := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || strings.ContainsRune("<>\x7f", r) }), "")
	}
	name = strings.TrimSpace(clean(u.Login))
	if name == "" {
		name = Self
	}
	if email = strings.ReplaceAll(name, " ", "."); !strings.Contains(email, "@") {
		email += "@tas.invalid"
	}
	return name, email
}

// free refuses where a working copy shows the base: it would no longer fit its branch.
func (r repository) free(ctx context.Context, base string) error {
	out, err := r.run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(out, "\x00") {
		if line == "branch refs/heads/"+base {
			return fault.New(fault.Conflict, "The branch %q is checked out in a working copy of the repository, which would no longer fit it.", base).
				WithFix("Use a bare repository (git clone --bare), or check out another branch there.")
		}
	}
	return nil
}

// mergedTree merges three ways, and names the files that do not fit together.
func (r repository) mergedTree(ctx context.Context, rec forge.Record, m forge.Merging) (string, error) {
	out, said, status, err := r.git.Git(ctx, r.dir, nil, "", "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", m.Base, m.Head)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "Git could not merge.")
	}
	parts := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	switch {
	case status == 0 && parts[0] != "":
		return strings.TrimSpace(parts[0]), nil
	case status == 1 && len(parts) > 1:
		files := parts[1:]
		names := strings.Join(files[:min(len(files), 10)], ", ")
		if len(files) > 10 {
			names += fmt.Sprintf(" and %d more", len(files)-10)
		}
		e := fault.New(fault.Conflict, "%s and %s changed the same places: %s.", rec.Head.Branch, rec.Base.Branch, names).WithCode("merge-conflict").
			WithFix("Merge %s into %s by hand, settle the conflicts and push.", rec.Base.Branch, rec.Head.Branch)
		for _, f := range files[:min(len(files), 100)] {
			e.At(f, "conflict")
		}
		return "", e
	case strings.Contains(said, "unrelated histories"):
		return "", fault.New(fault.Conflict, "%s and %s have no commit in common.", rec.Head.Branch, rec.Base.Branch)
	}
	return "", fault.New(fault.Unavailable, "Git could not merge (status %d): %s", status, forge.Line(said, 300))
}

// move moves the base's branch, if both branches still are where they were.
func (r repository) move(ctx context.Context, rec forge.Record, m forge.Merging) error {
	input := "start\nverify refs/heads/" + rec.Head.Branch + " " + m.Head + "\nupdate refs/heads/" + rec.Base.Branch + " " + m.Result + " " + m.Base + "\nprepare\ncommit\n"
	_, said, status, err := r.git.Git(ctx, r.dir, nil, input, "update-ref", "--stdin")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "Git could not move the branch.")
	}
	if status == 0 {
		return nil
	}
	for branch, commit := range map[string]string{rec.Head.Branch: m.Head, rec.Base.Branch: m.Base} {
		if now, err := r.head(ctx, branch); err == nil && now != commit {
			return fault.New(fault.Conflict, "The branch %q moved meanwhile.", branch).WithFix("Look at the pull request again and merge it then.")
		}
	}
	return fault.New(fault.Unavailable, "Git could not move the branch: %s", forge.Line(said, 300))
}
