package pull

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tas-service/internal/action"
	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/run"
)

// Proposal is a pull request that the service wants to open in the tests repository.
type Proposal struct {
	Key        string // the same key is the same pull request
	Base       string // branch to merge into
	BaseCommit string // full hash that the patch is against
	Branch     string // begins with checkout.Prefix
	Patch      string // unified diff
	Message    string // of the commit
	At         time.Time
	Title      string
	Body       string
	Draft      bool
	About      string // one line, for people
}

// Opened is what became of a proposal.
type Opened struct {
	At     string `json:"at"` // the forge
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	URL    string `json:"url"`
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}

// Propose asks for a pull request, which is opened once the project's policy allows it, and
// brought up to date when it is asked for again under the same key.
func (s *Service) Propose(ctx context.Context, projectID string, p Proposal, askedBy string) (action.Action, error) {
	l, err := s.Link(ctx, projectID)
	if err != nil {
		return action.Action{}, err
	}
	if !strings.HasPrefix(p.Branch, checkout.Prefix) || p.Base == "" || p.Key == "" {
		return action.Action{}, fault.New(fault.Internal, "a proposal needs a key, a base and a branch that begins with %s", checkout.Prefix)
	}
	return s.Actions.Ask(ctx, action.Wish{ProjectID: projectID, Key: "pull-request/" + p.Key, Kind: action.PullRequest, Target: l.Repo, About: p.About,
		Serial: fmt.Sprintf("%s/%s/%s/%s", l.dial.Kind, l.dial.URL, l.Repo, p.Branch), AskedBy: askedBy, Detail: p})
}

// Proposed answers what became of a proposal, by its action's ID: the pull request once it is
// there, else nil with the action's state and answer. Where one was there before, it is
// answered also while it is brought up to date.
func (s *Service) Proposed(ctx context.Context, projectID, actionID string) (*Opened, action.State, string, error) {
	a, err := s.Actions.Look(ctx, projectID, actionID)
	if err != nil {
		return nil, "", "", err
	}
	var p Proposal
	var o Opened
	if err := read(a, &p, &o); err != nil || o.Number == 0 {
		return nil, a.State, a.Answer, err
	}
	return &o, a.State, a.Answer, nil
}

// Remark keeps a comment on a pull request, one for each topic, beside the one that tells
// results. fault.Conflict and fault.Invalid where the project cannot speak there.
func (s *Service) Remark(ctx context.Context, projectID string, at run.Pull, topic, body, about, askedBy string) error {
	l, err := s.Link(ctx, projectID)
	if err != nil {
		return err
	}
	if repo, known := l.knows(at.Repo); !known || repo == "" {
		return fault.New(fault.Invalid, "%.80q is no repository that the project is connected to.", at.Repo).WithFix("Add it to the sources in the project's connection.")
	}
	if most := forge.MaxBody(l.dial.Kind) - 200; len([]rune(body)) > most {
		body = string([]rune(body)[:most]) + "…"
	}
	_, err = s.Actions.Ask(ctx, action.Wish{ProjectID: projectID, Key: fmt.Sprintf("comment/%s/%d/%s", at.Repo, at.Number, topic), Kind: action.Comment, Target: target(at.Repo, at.Number), About: about,
		Serial: serial(l, &at), AskedBy: askedBy, Detail: commentWish{Repo: at.Repo, Number: at.Number, Marker: forge.Marker(topic + "/" + l.Project.Slug), Body: body}})
	return err
}

// opener opens pull requests. Each of its steps finds what an earlier try has done.
type opener struct{ s *Service }

func (o opener) Do(ctx context.Context, a action.Action) (json.RawMessage, string, error) {
	var p Proposal
	var before Opened
	l, err := o.s.begin(ctx, a, &p, &before)
	if err != nil {
		return nil, "", err
	}
	src, err := l.Source(ctx)
	if err != nil {
		return nil, "", err
	}
	// What was opened and is not open any more was decided: it is not opened a second time.
	if before.Number > 0 && before.Repo == l.Repo && before.At == l.at() {
		there, err := l.Forge.PullRequest(ctx, before.Repo, before.Number)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, "", err
		}
		if err == nil && there.State != forge.Open {
			return nil, "", fault.New(fault.Conflict, "Pull request #%d was %s meanwhile, so it is not changed, and no other one is opened in its place.", before.Number, there.State).WithCode("pull-request-settled").
				WithFix("Open it again at the forge, then try again; or have the change made anew.")
		}
	} else {
		before = Opened{} // of another repository
	}
	author, committer := l.Connection.who()
	src.Branch = p.Base
	commit, err := o.s.Writes.Commit(ctx, src, checkout.Change{Base: p.BaseCommit, Patch: p.Patch, Message: p.Message, Author: author, Committer: committer, At: p.At, SigningKey: l.Connection.SigningKey})
	if err != nil {
		return nil, "", err
	}
	if err := o.s.Writes.Push(ctx, src, checkout.Branch{Name: p.Branch, Commit: commit, Was: before.Commit}); err != nil {
		return nil, "", err
	}
	opened, created, err := forge.Ensure(ctx, l.Forge, l.Repo, forge.NewPullRequest{Title: p.Title, Body: p.Body, Head: p.Branch, Base: p.Base, Draft: p.Draft})
	if err != nil {
		return nil, "", err
	}
	answer := fmt.Sprintf("Pull request #%d was brought up to date.", opened.Number)
	if created {
		answer = fmt.Sprintf("Pull request #%d was opened.", opened.Number)
	}
	return result(Opened{At: l.at(), Repo: l.Repo, Number: opened.Number, URL: opened.URL, Branch: p.Branch, Commit: commit}), answer, nil
}

// begin reads what is to be done and what is there, and answers the way to the forge.
func (s *Service) begin(ctx context.Context, a action.Action, wish, before any) (Link, error) {
	if err := read(a, wish, before); err != nil {
		return Link{}, err
	}
	return s.Link(ctx, a.ProjectID)
}

func read(a action.Action, wish, before any) error {
	if err := json.Unmarshal(a.Wish, wish); err != nil {
		return fault.Wrap(err, fault.Invalid, "What is to be done cannot be read.")
	}
	if len(a.Result) == 0 || string(a.Result) == "null" {
		return nil
	}
	if err := json.Unmarshal(a.Result, before); err != nil {
		return fault.Wrap(err, fault.Invalid, "What was done before cannot be read.")
	}
	return nil
}

func result(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // never of our own shapes
	}
	return out
}
