package github

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// Receiver is a forge.Receiver of GitHub's webhooks.
type Receiver struct{}

var _ forge.Receiver = Receiver{}

// payload is what is read of all of GitHub's webhooks.
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
		Merged bool   `json:"merged"`
		Draft  bool   `json:"draft"`
	} `json:"pull_request"`
	Issue *struct {
		Number      int             `json:"number"`
		PullRequest json.RawMessage `json:"pull_request"`
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
	if p.ID == 0 {
		return forge.User{Login: p.Login}
	}
	return forge.User{ID: itoa(p.ID), Login: p.Login}
}

// read takes both forms in which GitHub sends: JSON, and a form with JSON in it.
func read(d forge.Delivery) (payload, error) {
	var p payload
	if err := forge.CheckDelivery(d); err != nil {
		return p, err
	}
	bad := fault.New(fault.Invalid, "That is no webhook of GitHub.").WithFix("Let GitHub send application/json.")
	if d.Header("X-GitHub-Event") == "" {
		return p, bad
	}
	body := d.Body
	if strings.HasPrefix(d.Header("Content-Type"), "application/x-www-form-urlencoded") {
		form, err := url.ParseQuery(string(d.Body))
		if err != nil {
			return p, bad
		}
		body = []byte(form.Get("payload"))
	}
	if json.Unmarshal(body, &p) != nil || forge.CheckRepo(p.Repository.FullName) != nil {
		return p, bad
	}
	return p, nil
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
	mac, ok := strings.CutPrefix(d.Header("X-Hub-Signature-256"), "sha256=")
	if !ok || !forge.Signed(d.Body, secret, mac) {
		return forge.Event{}, fault.New(fault.Unauthenticated, "The webhook is not signed with the project's secret.").WithFix("Set the same secret at GitHub.")
	}
	p, err := read(d)
	if err != nil {
		return forge.Event{}, err
	}
	e := forge.Event{Kind: forge.EventOther, ID: d.Header("X-GitHub-Delivery"), Repo: p.Repository.FullName, Sender: p.Sender.user(), Digest: forge.Digest(d.Body)}
	if e.ID == "" {
		return forge.Event{}, fault.New(fault.Invalid, "The webhook has no X-GitHub-Delivery header.")
	}
	switch d.Header("X-GitHub-Event") {
	case "ping":
		e.Kind = forge.EventPing
	case "push":
		e.Kind, e.Branch, e.Commit = forge.EventPush, forge.BranchOf(p.Ref), forge.PushedCommit(p.After)
		e.Default = e.Branch != "" && e.Branch == p.Repository.DefaultBranch
	case "pull_request":
		if p.PullRequest == nil || p.PullRequest.Number <= 0 {
			return forge.Event{}, fault.New(fault.Invalid, "The webhook tells of no pull request.")
		}
		e.Kind, e.Number, e.Draft, e.State = forge.EventPull, p.PullRequest.Number, p.PullRequest.Draft, forge.Open
		switch {
		case p.PullRequest.Merged:
			e.State = forge.Merged
		case p.PullRequest.State == "closed":
			e.State = forge.Closed
		}
		e.Action = action(p.Action, e.State)
	case "issue_comment":
		if p.Action != "created" || p.Comment == nil || p.Comment.ID == 0 || p.Issue == nil || p.Issue.Number <= 0 || len(p.Issue.PullRequest) == 0 || string(p.Issue.PullRequest) == "null" {
			break
		}
		c := p.Comment
		e.Kind, e.Number = forge.EventComment, p.Issue.Number
		e.Comment = forge.Comment{ID: itoa(c.ID), Body: c.Body, Author: c.User.user(), URL: c.URL, CreatedAt: c.CreatedAt}
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
	case "synchronize", "edited", "ready_for_review", "converted_to_draft":
		return forge.ActionUpdated
	default:
		return forge.ActionOther
	}
}
