package gitlab

import (
	"context"
	"strings"
	"time"

	api "gitlab.com/gitlab-org/api/client-go/v2"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/outbound"
)

// draftMark is how GitLab writes a draft: in front of its title.
const draftMark = "Draft: "

// untitled takes GitLab's marks of a draft off a title.
func untitled(title string) (string, bool) {
	for _, mark := range []string{"Draft:", "[Draft]", "(Draft)"} {
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

// PullRequest answers a merge request.
func (c *Client) PullRequest(ctx context.Context, repo string, number int) (forge.PullRequest, error) {
	if err := forge.CheckRepo(repo); err != nil {
		return forge.PullRequest{}, err
	}
	m, _, err := c.api.MergeRequests.GetMergeRequest(repo, int64(number), nil, api.WithContext(ctx))
	return c.answer(ctx, repo, m, err)
}

func (c *Client) answer(ctx context.Context, repo string, m *api.MergeRequest, err error) (forge.PullRequest, error) {
	if err != nil {
		return forge.PullRequest{}, outbound.Fault(who, err)
	}
	p, err := c.basic(ctx, repo, &m.BasicMergeRequest)
	// Where the base was when the diff was made.
	p.Base.Commit = m.DiffRefs.StartSha
	return p, err
}

func (c *Client) basic(ctx context.Context, repo string, m *api.BasicMergeRequest) (forge.PullRequest, error) {
	if m.IID == 0 {
		return forge.PullRequest{}, unreadable()
	}
	title, draft := untitled(m.Title)
	p := forge.PullRequest{Number: int(m.IID), State: forge.Open, Draft: draft || m.Draft, Title: title, Body: m.Description, URL: m.WebURL,
		Head: forge.Ref{Branch: m.SourceBranch, Commit: m.SHA}, Base: forge.Ref{Repo: repo, Branch: m.TargetBranch}, CreatedAt: when(m.CreatedAt), UpdatedAt: when(m.UpdatedAt)}
	if m.Author != nil {
		p.Author = forge.User{ID: itoa(m.Author.ID), Login: m.Author.Username}
	}
	switch m.State {
	case "merged":
		p.State, p.MergedAt = forge.Merged, m.MergedAt
	case "closed":
		p.State = forge.Closed
	}
	if m.SourceProjectID == m.TargetProjectID {
		p.Head.Repo = repo
		return p, nil
	}
	var err error
	p.Head.Repo, err = c.nameOf(ctx, m.SourceProjectID)
	return p, err
}

// FindOpen pages through the open ones of the branches.
func (c *Client) FindOpen(ctx context.Context, repo string, head forge.Ref, base string) (*forge.PullRequest, error) {
	if err := forge.CheckRepo(repo); err != nil {
		return nil, err
	}
	o := &api.ListProjectMergeRequestsOptions{State: api.Ptr("opened"), SourceBranch: &head.Branch, TargetBranch: &base,
		OrderBy: api.Ptr("created_at"), Sort: api.Ptr("asc"), ListOptions: api.ListOptions{PerPage: perPage, Page: 1}}
	for {
		list, _, err := c.api.MergeRequests.ListProjectMergeRequests(repo, o, api.WithContext(ctx))
		if err != nil {
			return nil, outbound.Fault(who, err)
		}
		for _, m := range list {
			if m.SourceBranch != head.Branch || m.TargetBranch != base {
				continue
			}
			p, err := c.basic(ctx, repo, m)
			if err != nil {
				return nil, err
			}
			if p.IsFrom(head, base) {
				return &p, nil
			}
		}
		if len(list) < perPage {
			return nil, nil
		}
		o.Page++
	}
}

// CreatePullRequest opens one between branches of the project.
func (c *Client) CreatePullRequest(ctx context.Context, repo string, n forge.NewPullRequest) (forge.PullRequest, error) {
	if err := forge.CheckRepo(repo); err != nil {
		return forge.PullRequest{}, err
	}
	m, _, err := c.api.MergeRequests.CreateMergeRequest(repo, &api.CreateMergeRequestOptions{Title: api.Ptr(titled(n.Title, n.Draft)), Description: &n.Body,
		SourceBranch: &n.Head, TargetBranch: &n.Base}, api.WithContext(ctx))
	return c.answer(ctx, repo, m, err)
}

// UpdatePullRequest changes one. Whether it is a draft stands in its title.
func (c *Client) UpdatePullRequest(ctx context.Context, repo string, number int, e forge.Edit) (forge.PullRequest, error) {
	if err := forge.CheckRepo(repo); err != nil {
		return forge.PullRequest{}, err
	}
	o := &api.UpdateMergeRequestOptions{Description: e.Body}
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
		o.Title = api.Ptr(titled(p.Title, p.Draft))
	}
	if e.Close {
		o.StateEvent = api.Ptr("close")
	}
	if o.Title == nil && o.Description == nil && o.StateEvent == nil {
		return c.PullRequest(ctx, repo, number) // GitLab refuses a change of nothing
	}
	m, _, err := c.api.MergeRequests.UpdateMergeRequest(repo, int64(number), o, api.WithContext(ctx))
	return c.answer(ctx, repo, m, err)
}

// Diff answers the raw diff.
func (c *Client) Diff(ctx context.Context, repo string, number int) (string, error) {
	if err := forge.CheckRepo(repo); err != nil {
		return "", err
	}
	d, _, err := c.api.MergeRequests.ShowMergeRequestRawDiffs(repo, int64(number), nil, api.WithContext(outbound.WithLimit(ctx, forge.MaxDiff)))
	if err != nil {
		return "", forge.DiffError(outbound.Fault(who, err))
	}
	return string(d), forge.CheckDiff(forge.GitLab, string(d))
}

// ChangedFiles lists what changes.
func (c *Client) ChangedFiles(ctx context.Context, repo string, number int) (changes []forge.Change, more bool, err error) {
	if err := forge.CheckRepo(repo); err != nil {
		return nil, false, err
	}
	o := &api.ListMergeRequestDiffsOptions{ListOptions: api.ListOptions{PerPage: perPage, Page: 1}}
	for {
		list, resp, err := c.api.MergeRequests.ListMergeRequestDiffs(repo, int64(number), o, api.WithContext(ctx))
		if err != nil {
			return nil, false, outbound.Fault(who, err)
		}
		for _, d := range list {
			if len(changes) == forge.MaxFiles {
				return changes, true, nil
			}
			changes = append(changes, change(d))
		}
		// A page may be smaller than was asked for: large diffs are served in smaller ones.
		if len(list) == 0 || resp.NextPage == 0 && len(list) < perPage {
			return changes, false, nil
		}
		o.Page++
	}
}

func change(d *api.MergeRequestDiff) forge.Change {
	switch {
	case d.NewFile:
		return forge.Change{Path: d.NewPath, Kind: forge.Added}
	case d.DeletedFile:
		return forge.Change{Path: d.OldPath, Kind: forge.Deleted}
	case d.RenamedFile:
		return forge.Change{Path: d.NewPath, OldPath: d.OldPath, Kind: forge.Renamed}
	default:
		return forge.Change{Path: d.NewPath, Kind: forge.Modified}
	}
}

// Comments lists the notes of people under the merge request, not those beside lines of
// its diff and not GitLab's own.
func (c *Client) Comments(ctx context.Context, repo string, number int) ([]forge.Comment, error) {
	if err := forge.CheckRepo(repo); err != nil {
		return nil, err
	}
	var out []forge.Comment
	o := &api.ListMergeRequestNotesOptions{OrderBy: api.Ptr("created_at"), Sort: api.Ptr("asc"), ListOptions: api.ListOptions{PerPage: perPage, Page: 1}}
	for {
		list, _, err := c.api.Notes.ListMergeRequestNotes(repo, int64(number), o, api.WithContext(ctx))
		if err != nil {
			return nil, outbound.Fault(who, err)
		}
		for _, n := range list {
			if !n.System && n.Type != api.DiffNote {
				out = append(out, comment(n))
			}
		}
		if len(list) < perPage {
			return out, nil
		}
		o.Page++
	}
}

func comment(n *api.Note) forge.Comment {
	return forge.Comment{ID: itoa(n.ID), Body: n.Body, Author: forge.User{ID: itoa(n.Author.ID), Login: n.Author.Username}, CreatedAt: when(n.CreatedAt)}
}

func said(n *api.Note, err error) (forge.Comment, error) {
	if err != nil {
		return forge.Comment{}, outbound.Fault(who, err)
	}
	if n.ID == 0 {
		return forge.Comment{}, unreadable()
	}
	return comment(n), nil
}

// CreateComment says something.
func (c *Client) CreateComment(ctx context.Context, repo string, number int, body string) (forge.Comment, error) {
	if err := forge.CheckBody(forge.GitLab, body); err != nil {
		return forge.Comment{}, err
	}
	if err := forge.CheckRepo(repo); err != nil {
		return forge.Comment{}, err
	}
	n, _, err := c.api.Notes.CreateMergeRequestNote(repo, int64(number), &api.CreateMergeRequestNoteOptions{Body: &body}, api.WithContext(ctx))
	return said(n, err)
}

// EditComment says something else.
func (c *Client) EditComment(ctx context.Context, repo string, number int, id, body string) (forge.Comment, error) {
	if err := forge.CheckBody(forge.GitLab, body); err != nil {
		return forge.Comment{}, err
	}
	if err := forge.CheckRepo(repo); err != nil {
		return forge.Comment{}, err
	}
	n, err := forge.CommentNumber(id)
	if err != nil {
		return forge.Comment{}, err
	}
	x, _, err := c.api.Notes.UpdateMergeRequestNote(repo, int64(number), n, &api.UpdateMergeRequestNoteOptions{Body: &body}, api.WithContext(ctx))
	return said(x, err)
}

// signs are our reactions in GitLab's words.
var signs = map[forge.Reaction]string{forge.Seen: "eyes", forge.Agreed: "thumbsup", forge.Refused: "thumbsdown", forge.Puzzled: "confused"}

// React adds an emoji. One that is there already is refused by GitLab as if there were no
// such comment.
func (c *Client) React(ctx context.Context, repo string, number int, commentID string, r forge.Reaction) error {
	if err := forge.CheckRepo(repo); err != nil {
		return err
	}
	n, err := forge.CommentNumber(commentID)
	if err != nil {
		return err
	}
	if signs[r] == "" {
		return fault.New(fault.Invalid, "GitLab has no sign for %.40q.", r)
	}
	_, _, err = c.api.AwardEmoji.CreateMergeRequestAwardEmojiOnNote(repo, int64(number), n, &api.CreateAwardEmojiOptions{Name: signs[r]}, api.WithContext(ctx))
	err = outbound.Fault(who, err)
	if f := fault.As(err); f != nil && strings.Contains(f.Message, "already been taken") {
		return nil
	}
	return err
}

func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
