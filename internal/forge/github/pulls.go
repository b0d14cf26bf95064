package github

import (
	"context"
	"encoding/json"
	"net/http"

	api "github.com/google/go-github/v92/github"

	"tas-service/internal/forge"
	"tas-service/internal/outbound"
)

// PullRequest answers one.
func (c *Client) PullRequest(ctx context.Context, repo string, number int) (forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	p, _, err := c.api.PullRequests.Get(ctx, owner, name, number)
	return answer(p, err)
}

func answer(p *api.PullRequest, err error) (forge.PullRequest, error) {
	if err != nil {
		return forge.PullRequest{}, outbound.Fault(who, err)
	}
	if p.GetNumber() == 0 {
		return forge.PullRequest{}, unreadable()
	}
	out := forge.PullRequest{Number: p.GetNumber(), State: forge.Open, Draft: p.GetDraft(), Title: p.GetTitle(), Body: p.GetBody(),
		Head:   forge.Ref{Repo: p.GetHead().GetRepo().GetFullName(), Branch: p.GetHead().GetRef(), Commit: p.GetHead().GetSHA()},
		Base:   forge.Ref{Repo: p.GetBase().GetRepo().GetFullName(), Branch: p.GetBase().GetRef(), Commit: p.GetBase().GetSHA()},
		Author: user(p.GetUser()), URL: p.GetHTMLURL(), CreatedAt: p.GetCreatedAt().Time, UpdatedAt: p.GetUpdatedAt().Time}
	if p.GetState() == "closed" {
		out.State = forge.Closed
	}
	// Lists tell the time of the merge only.
	if at := p.GetMergedAt().Time; !at.IsZero() || p.GetMerged() {
		out.State = forge.Merged
		if !at.IsZero() {
			out.MergedAt = &at
		}
	}
	return out, nil
}

// FindOpen pages through the open ones.
func (c *Client) FindOpen(ctx context.Context, repo string, head forge.Ref, base string) (*forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	of, _, err := split(head.Repo)
	if err != nil {
		return nil, err
	}
	o := &api.PullRequestListOptions{State: "open", Head: of + ":" + head.Branch, Base: base, Sort: "created", Direction: "asc", ListOptions: api.ListOptions{PerPage: perPage}}
	for {
		list, resp, err := c.api.PullRequests.List(ctx, owner, name, o)
		if err != nil {
			return nil, outbound.Fault(who, err)
		}
		for _, x := range list {
			p, err := answer(x, nil)
			if err != nil {
				return nil, err
			}
			if p.IsFrom(head, base) {
				return &p, nil
			}
		}
		if resp.NextPage == 0 || resp.NextPage <= o.Page {
			return nil, nil
		}
		o.Page = resp.NextPage
	}
}

// CreatePullRequest opens one between branches of the repository.
func (c *Client) CreatePullRequest(ctx context.Context, repo string, n forge.NewPullRequest) (forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	p, _, err := c.api.PullRequests.Create(ctx, owner, name, api.CreatePullRequest{Title: &n.Title, Body: &n.Body, Head: owner + ":" + n.Head, Base: n.Base, Draft: &n.Draft})
	return answer(p, err)
}

// UpdatePullRequest changes one. Whether it is a draft can be said in GraphQL only.
func (c *Client) UpdatePullRequest(ctx context.Context, repo string, number int, e forge.Edit) (forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	if e.Draft != nil {
		p, _, err := c.api.PullRequests.Get(ctx, owner, name, number)
		if err != nil {
			return forge.PullRequest{}, outbound.Fault(who, err)
		}
		if p.GetDraft() != *e.Draft {
			if err := c.setDraft(ctx, p.GetNodeID(), *e.Draft); err != nil {
				return forge.PullRequest{}, err
			}
		}
	}
	change := &api.PullRequest{Title: e.Title, Body: e.Body}
	if e.Close {
		change.State = new("closed")
	}
	p, _, err := c.api.PullRequests.Edit(ctx, owner, name, number, change)
	return answer(p, err)
}

func (c *Client) setDraft(ctx context.Context, node string, draft bool) error {
	query := `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`
	if draft {
		query = `mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`
	}
	r, err := c.api.NewRequest(ctx, http.MethodPost, c.graph, map[string]any{"query": query, "variables": map[string]string{"id": node}})
	if err != nil {
		return outbound.Fault(who, err)
	}
	var out struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if _, err := c.api.Do(r, &out); err != nil {
		return outbound.Fault(who, err)
	}
	if len(out.Errors) == 0 {
		if len(out.Data) == 0 {
			return unreadable()
		}
		return nil
	}
	status := http.StatusUnprocessableEntity
	switch first := out.Errors[0]; first.Type {
	case "RATE_LIMITED":
		status = http.StatusTooManyRequests
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		status = http.StatusForbidden
	case "NOT_FOUND":
		status = http.StatusNotFound
	}
	return forge.Explain(forge.GitHub, status, func(string) string { return "" }, forge.Line(out.Errors[0].Message, 300), c.clock())
}

// Diff answers the raw diff.
func (c *Client) Diff(ctx context.Context, repo string, number int) (string, error) {
	owner, name, err := split(repo)
	if err != nil {
		return "", err
	}
	d, _, err := c.api.PullRequests.GetRaw(outbound.WithLimit(ctx, forge.MaxDiff), owner, name, number, api.RawOptions{Type: api.Diff})
	if err != nil {
		return "", forge.DiffError(outbound.Fault(who, err))
	}
	return d, forge.CheckDiff(forge.GitHub, d)
}

// ChangedFiles lists what changes.
func (c *Client) ChangedFiles(ctx context.Context, repo string, number int) (changes []forge.Change, more bool, err error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, false, err
	}
	o := &api.ListOptions{PerPage: perPage}
	for {
		list, resp, err := c.api.PullRequests.ListFiles(ctx, owner, name, number, o)
		if err != nil {
			return nil, false, outbound.Fault(who, err)
		}
		for _, f := range list {
			if len(changes) == forge.MaxFiles {
				return changes, true, nil
			}
			changes = append(changes, change(f))
		}
		if resp.NextPage == 0 || resp.NextPage <= o.Page {
			break
		}
		o.Page = resp.NextPage
	}
	if len(changes) < forge.MaxFiles {
		return changes, false, nil
	}
	// GitHub lists as many as we do: whether there were more, the pull request itself tells.
	p, _, err := c.api.PullRequests.Get(ctx, owner, name, number)
	return changes, p.GetChangedFiles() > len(changes), outbound.Fault(who, err)
}

func change(f *api.CommitFile) forge.Change {
	out := forge.Change{Path: f.GetFilename(), Kind: forge.Modified}
	switch f.GetStatus() {
	case "added", "copied":
		out.Kind = forge.Added
	case "removed":
		out.Kind = forge.Deleted
	case "renamed":
		out.Kind, out.OldPath = forge.Renamed, f.GetPreviousFilename()
	}
	return out
}

// Comments lists those under the pull request, not those beside lines of its diff.
func (c *Client) Comments(ctx context.Context, repo string, number int) ([]forge.Comment, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	var out []forge.Comment
	o := &api.IssueListCommentsOptions{ListOptions: api.ListOptions{PerPage: perPage}}
	for {
		list, resp, err := c.api.Issues.ListComments(ctx, owner, name, number, o)
		if err != nil {
			return nil, outbound.Fault(who, err)
		}
		for _, x := range list {
			out = append(out, comment(x))
		}
		if resp.NextPage == 0 || resp.NextPage <= o.Page {
			return out, nil
		}
		o.Page = resp.NextPage
	}
}

func comment(x *api.IssueComment) forge.Comment {
	return forge.Comment{ID: itoa(x.GetID()), Body: x.GetBody(), Author: user(x.GetUser()), URL: x.GetHTMLURL(), CreatedAt: x.GetCreatedAt().Time}
}

func said(x *api.IssueComment, err error) (forge.Comment, error) {
	if err != nil {
		return forge.Comment{}, outbound.Fault(who, err)
	}
	if x.GetID() == 0 {
		return forge.Comment{}, unreadable()
	}
	return comment(x), nil
}

// CreateComment says something.
func (c *Client) CreateComment(ctx context.Context, repo string, number int, body string) (forge.Comment, error) {
	if err := forge.CheckBody(forge.GitHub, body); err != nil {
		return forge.Comment{}, err
	}
	owner, name, err := split(repo)
	if err != nil {
		return forge.Comment{}, err
	}
	x, _, err := c.api.Issues.CreateComment(ctx, owner, name, number, api.IssueCommentRequest{Body: body})
	return said(x, err)
}

// EditComment says something else.
func (c *Client) EditComment(ctx context.Context, repo string, _ int, id, body string) (forge.Comment, error) {
	if err := forge.CheckBody(forge.GitHub, body); err != nil {
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
	x, _, err := c.api.Issues.UpdateComment(ctx, owner, name, n, api.IssueCommentRequest{Body: body})
	return said(x, err)
}

// React adds a reaction; GitHub answers the one that is there where it is there already.
func (c *Client) React(ctx context.Context, repo string, _ int, commentID string, r forge.Reaction) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	n, err := forge.CommentNumber(commentID)
	if err != nil {
		return err
	}
	_, _, err = c.api.Reactions.CreateIssueCommentReaction(ctx, owner, name, n, string(r))
	return outbound.Fault(who, err)
}
