package local

import (
	"context"
	"strings"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// settle answers a record as git shows it now, and saves what changed. One whose merge was
// begun and whose branch was moved is merged, even if the service died in between; and one
// that somebody merged by hand.
//
// The head that is recorded was beyond the base when it was: so a branch that was only set
// back to its base is not taken for merged.
func (c *Client) settle(ctx context.Context, r repository, rec forge.Record) (forge.Record, error) {
	if rec.State != forge.Open {
		return rec, nil
	}
	base, err := r.head(ctx, rec.Base.Branch)
	if err != nil {
		return rec, err
	}
	head, err := r.head(ctx, rec.Head.Branch)
	if err != nil {
		return rec, err
	}
	seen, err := c.look(ctx, r, rec, head, base)
	if err != nil || seen.State == rec.State && seen.Head == rec.Head && seen.Base == rec.Base {
		return seen, err
	}
	err = c.Records.UpdatePull(ctx, r.name, rec.Number, func(now *forge.Record) error {
		if now.State == forge.Open && now.Head == rec.Head && now.Base == rec.Base {
			title, body, draft := now.Title, now.Body, now.Draft
			*now = seen
			now.Title, now.Body, now.Draft = title, body, draft
		}
		seen = *now
		return nil
	})
	return seen, err
}

// look answers what a record should say, with its branches at these commits.
func (c *Client) look(ctx context.Context, r repository, rec forge.Record, head, base string) (forge.Record, error) {
	merged := func(m forge.Merging) forge.Record {
		at := c.Clock().UTC().Truncate(time.Millisecond)
		rec.State, rec.MergedAt, rec.UpdatedAt, rec.MergeCommit, rec.MergedBy, rec.Merging = forge.Merged, &at, at, m.Result, m.By, nil
		rec.Head.Commit, rec.Base.Commit = m.Head, m.Base
		return rec
	}
	if m := rec.Merging; m != nil {
		if done, err := r.within(ctx, m.Result, base); err != nil || done {
			return merged(*m), err
		}
	}
	was, err := r.within(ctx, rec.Head.Commit, base)
	if err != nil {
		return rec, err
	}
	is := was
	if head != "" && head != rec.Head.Commit {
		if is, err = r.within(ctx, head, base); err != nil {
			return rec, err
		}
	}
	switch {
	case was && is:
		return merged(forge.Merging{Head: rec.Head.Commit, Base: rec.Base.Commit}), nil
	case head != "" && !is:
		rec.Head.Commit = head
		if base != "" {
			rec.Base.Commit = base
		}
	}
	return rec, nil
}

func (c *Client) get(ctx context.Context, repo string, number int) (repository, forge.Record, error) {
	r, err := c.open(ctx, repo)
	if err != nil {
		return r, forge.Record{}, err
	}
	rec, err := c.Records.Pull(ctx, repo, number)
	if err != nil {
		return r, rec, err
	}
	rec, err = c.settle(ctx, r, rec)
	return r, rec, err
}

func (c *Client) answer(rec forge.Record) forge.PullRequest {
	p := rec.PullRequest
	p.URL = c.page(p.Base.Repo, p.Number)
	return p
}

// PullRequest answers one as it is now.
func (c *Client) PullRequest(ctx context.Context, repo string, number int) (forge.PullRequest, error) {
	_, rec, err := c.get(ctx, repo, number)
	return c.answer(rec), err
}

// Record answers one with who merged it, for its page.
func (c *Client) Record(ctx context.Context, repo string, number int) (forge.Record, error) {
	_, rec, err := c.get(ctx, repo, number)
	rec.PullRequest = c.answer(rec)
	return rec, err
}

// List answers a page of pull requests, the newest first, each as it is now.
func (c *Client) List(ctx context.Context, q forge.RecordQuery) ([]forge.PullRequest, error) {
	r, err := c.open(ctx, q.Repo)
	if err != nil {
		return nil, err
	}
	recs, err := c.Records.Pulls(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []forge.PullRequest
	for _, rec := range recs {
		rec, err := c.settle(ctx, r, rec)
		if err != nil {
			return nil, err
		}
		if q.State == "" || rec.State == q.State {
			out = append(out, c.answer(rec))
		}
	}
	return out, nil
}

// FindOpen asks the records.
func (c *Client) FindOpen(ctx context.Context, repo string, head forge.Ref, base string) (*forge.PullRequest, error) {
	r, err := c.open(ctx, repo)
	if err != nil {
		return nil, err
	}
	recs, err := c.Records.Pulls(ctx, forge.RecordQuery{Repo: repo, State: forge.Open, Head: head.Branch, Base: base, Limit: 10})
	if err != nil {
		return nil, err
	}
	for _, rec := range recs {
		if rec, err = c.settle(ctx, r, rec); err != nil {
			return nil, err
		}
		if p := c.answer(rec); p.IsFrom(head, base) {
			return &p, nil
		}
	}
	return nil, nil
}

// CreatePullRequest opens one.
func (c *Client) CreatePullRequest(ctx context.Context, repo string, n forge.NewPullRequest) (forge.PullRequest, error) {
	r, err := c.open(ctx, repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	if strings.TrimSpace(n.Title) == "" || n.Head == n.Base {
		return forge.PullRequest{}, fault.New(fault.Invalid, "A pull request needs a title and two different branches.")
	}
	if len([]rune(n.Body)) > forge.MaxBody(forge.Local) {
		return forge.PullRequest{}, forge.CheckBody(forge.Local, n.Body)
	}
	var commits [2]string
	for i, branch := range []string{n.Head, n.Base} {
		if err := checkBranch(branch); err != nil {
			return forge.PullRequest{}, err
		}
		if commits[i], err = r.head(ctx, branch); err != nil {
			return forge.PullRequest{}, err
		}
		if commits[i] == "" {
			return forge.PullRequest{}, fault.New(fault.Invalid, "The repository has no branch %q.", branch).WithFix("Push it first.")
		}
	}
	done, err := r.within(ctx, commits[0], commits[1])
	if err != nil {
		return forge.PullRequest{}, err
	}
	// One that is open and was merged by hand would stand in the way of a new one.
	if _, err := c.FindOpen(ctx, repo, forge.Ref{Repo: repo, Branch: n.Head}, n.Base); err != nil {
		return forge.PullRequest{}, err
	}
	if done {
		return forge.PullRequest{}, fault.New(fault.Invalid, "The branch %q has nothing that %q has not.", n.Head, n.Base)
	}
	me, err := c.WhoAmI(ctx)
	if err != nil {
		return forge.PullRequest{}, err
	}
	now := c.Clock().UTC().Truncate(time.Millisecond)
	rec, err := c.Records.OpenPull(ctx, forge.Record{PullRequest: forge.PullRequest{State: forge.Open, Draft: n.Draft, Title: n.Title, Body: n.Body, Author: me, CreatedAt: now, UpdatedAt: now,
		Head: forge.Ref{Repo: repo, Branch: n.Head, Commit: commits[0]}, Base: forge.Ref{Repo: repo, Branch: n.Base, Commit: commits[1]}}})
	if err != nil {
		return forge.PullRequest{}, err
	}
	return c.answer(rec), nil
}

// UpdatePullRequest changes one.
func (c *Client) UpdatePullRequest(ctx context.Context, repo string, number int, e forge.Edit) (forge.PullRequest, error) {
	if e.Body != nil && len([]rune(*e.Body)) > forge.MaxBody(forge.Local) {
		return forge.PullRequest{}, forge.CheckBody(forge.Local, *e.Body)
	}
	if e.Title != nil && strings.TrimSpace(*e.Title) == "" {
		return forge.PullRequest{}, fault.New(fault.Invalid, "A pull request needs a title.")
	}
	if _, _, err := c.get(ctx, repo, number); err != nil {
		return forge.PullRequest{}, err
	}
	var out forge.Record
	err := c.Records.UpdatePull(ctx, repo, number, func(rec *forge.Record) error {
		if e.Close && rec.State == forge.Merged {
			return fault.New(fault.Conflict, "The pull request is merged already.")
		}
		if e.Title != nil {
			rec.Title = *e.Title
		}
		if e.Body != nil {
			rec.Body = *e.Body
		}
		if e.Draft != nil {
			rec.Draft = *e.Draft
		}
		if e.Close {
			rec.State, rec.Merging = forge.Closed, nil
		}
		rec.UpdatedAt = c.Clock().UTC().Truncate(time.Millisecond)
		out = *rec
		return nil
	})
	return c.answer(out), err
}

// Close closes one without merging it.
func (c *Client) Close(ctx context.Context, repo string, number int) (forge.PullRequest, error) {
	return c.UpdatePullRequest(ctx, repo, number, forge.Edit{Close: true})
}

// span answers what is compared: where the histories parted, and the head.
func (r repository) span(ctx context.Context, rec forge.Record) (from, to string, err error) {
	to = rec.Head.Commit
	if rec.State == forge.Open {
		// The branch may be back within its base.
		if now, err := r.head(ctx, rec.Head.Branch); err != nil || now != "" {
			to = now
			if err != nil {
				return "", "", err
			}
		}
	}
	from, err = r.fork(ctx, rec.Base.Commit, to)
	if err == nil && from == "" {
		from, err = r.run(ctx, "hash-object", "-t", "tree", "--stdin") // the empty tree: nothing in common
		from = strings.TrimSpace(from)
	}
	return from, to, err
}

// Diff answers the raw diff.
func (c *Client) Diff(ctx context.Context, repo string, number int) (string, error) {
	r, rec, err := c.get(ctx, repo, number)
	if err != nil {
		return "", err
	}
	from, to, err := r.span(ctx, rec)
	if err != nil {
		return "", err
	}
	d, err := r.run(ctx, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--binary", "--full-index", "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", from, to)
	if err != nil {
		return "", err
	}
	return d, forge.CheckDiff(forge.Local, d)
}

// ChangedFiles lists what changes.
func (c *Client) ChangedFiles(ctx context.Context, repo string, number int) (changes []forge.Change, more bool, err error) {
	r, rec, err := c.get(ctx, repo, number)
	if err != nil {
		return nil, false, err
	}
	from, to, err := r.span(ctx, rec)
	if err != nil {
		return nil, false, err
	}
	out, err := r.run(ctx, "diff", "--name-status", "-z", "--no-ext-diff", "--find-renames", "--end-of-options", from, to)
	if err != nil {
		return nil, false, err
	}
	for fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"); len(fields) >= 2; {
		if len(changes) == forge.MaxFiles {
			return changes, true, nil
		}
		x := forge.Change{Path: fields[1], Kind: forge.Modified}
		used := 2
		switch fields[0][:1] {
		case "A":
			x.Kind = forge.Added
		case "D":
			x.Kind = forge.Deleted
		case "R", "C":
			if len(fields) < 3 {
				return changes, false, nil
			}
			x, used = forge.Change{Path: fields[2], OldPath: fields[1], Kind: forge.Renamed}, 3
		}
		changes, fields = append(changes, x), fields[used:]
	}
	return changes, false, nil
}
