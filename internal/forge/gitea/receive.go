package gitea

import (
	"encoding/json"
	"strconv"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// Receiver is a forge.Receiver of the webhooks of Gitea and Forgejo.
type Receiver struct{}

var _ forge.Receiver = Receiver{}

// payload is what is read of all of Gitea's webhooks.
type payload struct {
	Action     string `json:"action"`
	Ref        string `json:"ref"`
	After      string `json:"after"`
	Repository struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
	Sender      person `json:"sender"`
	PullRequest *struct {
		Number int    `json:"number"`
		State  string `json:"state"`
		Title  string `json:"title"`
		Merged bool   `json:"merged"`
		Draft  bool   `json:"draft"`
	} `json:"pull_request"`
	IsPull bool `json:"is_pull"`
	Issue  *struct {
		Number int `json:"number"`
	} `json:"issue"`
	Comment *struct {
		ID        int64     `json:"id"`
		Body      string    `json:"body"`
		URL       string    `json:"html_url"`
		User      person    `json:"user"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"comment"`
}

type person struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

func (p person) user() forge.User {
	if p.ID <= 0 {
		return forge.User{Login: p.Login}
	}
	return forge.User{ID: strconv.FormatInt(p.ID, 10), Login: p.Login}
}

func read(d forge.Delivery) (payload, error) {
	var p payload
	if err := forge.CheckDelivery(d); err != nil {
		return p, err
	}
	if header(d, "Event") == "" || json.Unmarshal(d.Body, &p) != nil || forge.CheckRepo(p.Repository.FullName) != nil {
		return p, fault.New(fault.Invalid, "That is no webhook of Gitea.").WithFix("Choose the type Gitea (or Forgejo) and the content type application/json.")
	}
	return p, nil
}

// header answers what Gitea says under its own name, and Forgejo under both.
func header(d forge.Delivery, name string) string {
	if v := d.Header("X-Gitea-" + name); v != "" {
		return v
	}
	return d.Header("X-Forgejo-" + name)
}

// Peek answers the repository.
func (Receiver) Peek(d forge.Delivery) (string, error) {
	p, err := read(d)
	return p.Repository.FullName, err
}

// Receive verifies and reads.
func (Receiver) Receive(d forge.Delivery, secret string) (forge.Event, error) {
	if err := forge.CheckDelivery(d); err != nil {
		return forge.Event{}, err
	}
	if !forge.Signed(d.Body, secret, header(d, "Signature")) {
		return forge.Event{}, fault.New(fault.Unauthenticated, "The webhook is not signed with the project's secret.").WithFix("Set the same secret at Gitea.")
	}
	p, err := read(d)
	if err != nil {
		return forge.Event{}, err
	}
	e := forge.Event{Kind: forge.EventOther, ID: header(d, "Delivery"), Repo: p.Repository.FullName, Sender: p.Sender.user(), Digest: forge.Digest(d.Body)}
	if e.ID == "" {
		return forge.Event{}, fault.New(fault.Invalid, "The webhook has no X-Gitea-Delivery header.")
	}
	switch header(d, "Event") {
	case "push":
		e.Kind, e.Branch, e.Commit = forge.EventPush, forge.BranchOf(p.Ref), forge.PushedCommit(p.After)
		e.Default = e.Branch != "" && e.Branch == p.Repository.DefaultBranch
	case "pull_request", "pull_request_sync":
		if p.PullRequest == nil || p.PullRequest.Number <= 0 {
			return forge.Event{}, fault.New(fault.Invalid, "The webhook tells of no pull request.")
		}
		_, marked := untitled(p.PullRequest.Title)
		e.Kind, e.Number, e.Draft, e.State = forge.EventPull, p.PullRequest.Number, marked || p.PullRequest.Draft, forge.Open
		switch {
		case p.PullRequest.Merged:
			e.State = forge.Merged
		case p.PullRequest.State == "closed":
			e.State = forge.Closed
		}
		e.Action = action(p.Action, e.State)
	case "issue_comment", "pull_request_comment":
		// A comment beside a line of a diff has the second name and no issue.
		if p.Action != "created" || !p.IsPull || p.Comment == nil || p.Comment.ID <= 0 || p.Issue == nil || p.Issue.Number <= 0 {
			break
		}
		c := p.Comment
		e.Kind, e.Number = forge.EventComment, p.Issue.Number
		e.Comment = forge.Comment{ID: strconv.FormatInt(c.ID, 10), Body: c.Body, Author: c.User.user(), URL: c.URL, CreatedAt: c.CreatedAt}
	}
	return e, nil
}

func action(said string, state forge.State) string {
	switch said {
	case "opened":
		return forge.ActionOpened
	case "reopened":
		return forge.ActionReopened
	case "closed":
		if state == forge.Merged {
			return forge.ActionMerged
		}
		return forge.ActionClosed
	case "synchronized", "edited":
		return forge.ActionUpdated
	default:
		return forge.ActionOther
	}
}
