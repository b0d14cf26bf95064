package gitea

import (
	"context"
	"slices"
	"strconv"
	"strings"

	api "code.gitea.io/sdk/gitea"

	"tas-service/internal/forge"
	"tas-service/internal/outbound"
)

// draftMark is how Gitea writes a draft: in front of its title. Others that an operator
// may have set are read by the server's own word, and never written.
const draftMark = "WIP: "

func untitled(title string) (string, bool) {
	for _, mark := range []string{"WIP:", "[WIP]", "Draft:"} {
		if len(title) > len(mark) && strings.EqualFold(title[:len(mark)], mark) {
			return strings.TrimSpace(title[len(mark):]), true
		}
	}
	return title, false
}

func titled(title string, draft bool) string {
	title, _ = untitled(title)
	if draft {
		return draftMark + title
	}
	return title
}

// PullRequest answers one.
func (c *Client) PullRequest(ctx context.Context, repo string, number int) (forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	p, _, err := c.call(ctx).GetPullRequest(owner, name, int64(number))
	return answer(p, err)
}

func answer(p *api.PullRequest, err error) (forge.PullRequest, error) {
	if err != nil {
		return forge.PullRequest{}, outbound.Fault(who, err)
	}
	if p.Index == 0 || p.Base == nil || p.Head == nil {
		return forge.PullRequest{}, unreadable()
	}
	title, draft := untitled(p.Title)
	out := forge.PullRequest{Number: int(p.Index), State: forge.Open, Draft: draft || p.Draft, Title: title, Body: p.Body,
		Head: side(p.Head), Base: side(p.Base), Author: user(p.Poster), URL: p.HTMLURL}
	if p.Created != nil {
		out.CreatedAt = *p.Created
	}
	if p.Updated != nil {
		out.UpdatedAt = *p.Updated
	}
	switch {
	case p.HasMerged || p.Merged != nil:
		out.State, out.MergedAt = forge.Merged, p.Merged
	case p.State == api.StateClosed:
		out.State = forge.Closed
	}
	return out, nil
}

func side(b *api.PRBranchInfo) forge.Ref {
	out := forge.Ref{Branch: b.Ref, Commit: b.Sha}
	if strings.HasPrefix(b.Ref, "refs/pull/") && b.Name != "" {
		out.Branch = b.Name // the branch is gone; this is its name
	}
	if b.Repository != nil {
		out.Repo = b.Repository.FullName
	}
	return out
}

// FindOpen pages through all open ones: Gitea leaves a filter by head aside. One that is
// closed while we page moves the others forward, so what was not found is looked for again
// where the number of open ones changed meanwhile.
func (c *Client) FindOpen(ctx context.Context, repo string, head forge.Ref, base string) (*forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	client := c.call(ctx)
	for try := 1; ; try++ {
		counts := map[string]bool{}
		for page := 1; page <= maxPages; page++ {
			list, resp, err := client.ListRepoPullRequests(owner, name, api.ListPullRequestsOptions{State: api.StateOpen, Sort: "oldest", ListOptions: api.ListOptions{Page: page, PageSize: perPage}})
			if err != nil {
				return nil, outbound.Fault(who, err)
			}
			counts[resp.Header.Get("X-Total-Count")] = true
			for _, x := range list {
				p, err := answer(x, nil)
				if err != nil {
					return nil, err
				}
				if p.IsFrom(head, base) {
					return &p, nil
				}
			}
			if len(list) == 0 {
				break
			}
		}
		if len(counts) <= 1 || try == 3 {
			return nil, nil
		}
	}
}

// CreatePullRequest opens one between branches of the repository. Gitea does not refuse a
// second one reliably.
func (c *Client) CreatePullRequest(ctx context.Context, repo string, n forge.NewPullRequest) (forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	p, _, err := c.call(ctx).CreatePullRequest(owner, name, api.CreatePullRequestOption{Head: n.Head, Base: n.Base, Title: titled(n.Title, n.Draft), Body: n.Body})
	return answer(p, err)
}

// UpdatePullRequest changes one. Whether it is a draft stands in its title.
func (c *Client) UpdatePullRequest(ctx context.Context, repo string, number int, e forge.Edit) (forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	o := api.EditPullRequestOption{Body: e.Body}
	if e.Title != nil || e.Draft != nil {
		p, err := c.PullRequest(ctx, repo, number)
		if err != nil {
			return p, err
		}
		if e.Title != nil {
			p.Title = *e.Title
		}
		if e.Draft != nil {
			p.Draft = *e.Draft
		}
		o.Title = titled(p.Title, p.Draft)
	}
	if e.Close {
		closed := api.StateClosed
		o.State = &closed
	}
	p, _, err := c.call(ctx).EditPullRequest(owner, name, int64(number), o)
	return answer(p, err)
}

// Diff answers the raw diff. Asked by the Accept header, Gitea answers the pull request as
// JSON instead.
func (c *Client) Diff(ctx context.Context, repo string, number int) (string, error) {
	owner, name, err := split(repo)
	if err != nil {
		return "", err
	}
	d, _, err := c.call(outbound.WithLimit(ctx, forge.MaxDiff)).GetPullRequestDiff(owner, name, int64(number), api.PullRequestDiffOptions{Binary: true})
	if err != nil {
		return "", forge.DiffError(outbound.Fault(who, err))
	}
	return string(d), forge.CheckDiff(forge.Gitea, string(d))
}

// ChangedFiles lists what changes.
func (c *Client) ChangedFiles(ctx context.Context, repo string, number int) (changes []forge.Change, more bool, err error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, false, err
	}
	client := c.call(ctx)
	for page := 1; page <= maxPages; page++ {
		list, _, err := client.ListPullRequestFiles(owner, name, int64(number), api.ListPullRequestFilesOptions{ListOptions: api.ListOptions{Page: page, PageSize: perPage}})
		if err != nil {
			return nil, false, outbound.Fault(who, err)
		}
		for _, f := range list {
			if len(changes) == forge.MaxFiles {
				return changes, true, nil
			}
			changes = append(changes, change(f))
		}
		if len(list) == 0 {
			break
		}
	}
	return changes, false, nil
}

func change(f *api.ChangedFile) forge.Change {
	out := forge.Change{Path: f.Filename, Kind: forge.Modified}
	switch f.Status {
	case "added", "copied":
		out.Kind = forge.Added
	case "deleted", "removed":
		out.Kind = forge.Deleted
	case "renamed":
		out.Kind, out.OldPath = forge.Renamed, f.PreviousFilename
	}
	return out
}

// Comments lists those under the pull request. Gitea answers all of them at once, whatever
// page is asked for.
func (c *Client) Comments(ctx context.Context, repo string, number int) ([]forge.Comment, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	list, _, err := c.call(ctx).ListIssueComments(owner, name, int64(number), api.ListIssueCommentOptions{})
	if err != nil {
		return nil, outbound.Fault(who, err)
	}
	out := make([]forge.Comment, 0, len(list))
	for _, x := range list {
		out = append(out, comment(x))
	}
	slices.SortStableFunc(out, func(a, b forge.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out, nil
}

func comment(x *api.Comment) forge.Comment {
	return forge.Comment{ID: strconv.FormatInt(x.ID, 10), Body: x.Body, Author: user(x.Poster), URL: x.HTMLURL, CreatedAt: x.Created}
}

func said(x *api.Comment, err error) (forge.Comment, error) {
	if err != nil {
		return forge.Comment{}, outbound.Fault(who, err)
	}
	if x.ID == 0 {
		return forge.Comment{}, unreadable()
	}
	return comment(x), nil
}

// CreateComment says something.
func (c *Client) CreateComment(ctx context.Context, repo string, number int, body string) (forge.Comment, error) {
	if err := forge.CheckBody(forge.Gitea, body); err != nil {
		return forge.Comment{}, err
	}
	owner, name, err := split(repo)
	if err != nil {
		return forge.Comment{}, err
	}
	x, _, err := c.call(ctx).CreateIssueComment(owner, name, int64(number), api.CreateIssueCommentOption{Body: body})
	return said(x, err)
}

// EditComment says something else. Gitea fails with status 500 when two edit it at once,
// which is Unavailable: it is tried again.
func (c *Client) EditComment(ctx context.Context, repo string, _ int, id, body string) (forge.Comment, error) {
	if err := forge.CheckBody(forge.Gitea, body); err != nil {
		return forge.Comment{}, err
	}
	owner, name, err := split(repo)
	if err != nil {
		return forge.Comment{}, err
	}
	n, err := forge.CommentNumber(id)
	if err != nil {
		return forge.Comment{}, err
	}
	x, _, err := c.call(ctx).EditIssueComment(owner, name, n, api.EditIssueCommentOption{Body: body})
	return said(x, err)
}

// React adds a reaction; Gitea answers the one that is there where it is there already.
func (c *Client) React(ctx context.Context, repo string, _ int, commentID string, r forge.Reaction) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	n, err := forge.CommentNumber(commentID)
	if err != nil {
		return err
	}
	_, _, err = c.call(ctx).PostIssueCommentReaction(owner, name, n, string(r))
	return outbound.Fault(who, err)
}
