package pull

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/run"
)

// Command is what a comment asks for: its first line is "/tas run", alone or with a
// pattern that chooses tests.
type Command struct {
	Verb string // run, heal, generate, or what else was written
	Rest string // the pattern of run
}

// commandWord begins a comment that asks for something.
const commandWord = "/tas"

// ParseCommand reads a comment; false for one that asks for nothing.
func ParseCommand(body string) (Command, bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	word, rest, _ := strings.Cut(strings.TrimSpace(first), " ")
	if word != commandWord {
		return Command{}, false
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return Command{Verb: strings.ToLower(verb), Rest: strings.TrimSpace(rest)}, true
}

// staleAfter is how old a comment may be when its webhook arrives: what is older was sent
// again by somebody who has kept it.
const staleAfter = 6 * time.Hour

// reactionWish is the answer to a comment.
type reactionWish struct {
	Repo     string         `json:"repo"`
	Number   int            `json:"number"`
	Comment  string         `json:"comment"`
	Reaction forge.Reaction `json:"reaction"`
}

// obey does what a comment asks for, if whoever wrote it may push to the repository, and
// answers with a reaction: a thumb up for what is done, one down for who may not, confusion
// for what is not understood.
func (s *Service) obey(ctx context.Context, l Link, e forge.Event) error {
	c, asked := ParseCommand(e.Comment.Body)
	now := s.Clock()
	if !asked || l.Connection.Deaf || e.Comment.CreatedAt.Before(now.Add(-staleAfter)) {
		return nil
	}
	me, err := l.Forge.WhoAmI(ctx)
	if err != nil {
		return err
	}
	if e.Comment.Author.Is(me) {
		return nil // our own words come back as webhooks
	}
	may, err := l.Forge.MayWrite(ctx, e.Repo, e.Comment.Author)
	if err != nil {
		return err
	}
	sign := forge.Refused
	if may {
		if sign, err = s.carry(ctx, l, e, c); err != nil {
			return err
		}
	}
	_, err = s.Actions.Ask(ctx, action.Wish{ProjectID: l.Project.ID, Key: fmt.Sprintf("reaction/%s/%d/%s", e.Repo, e.Number, e.Comment.ID), Kind: action.Reaction,
		Target: target(e.Repo, e.Number), About: "the answer to a comment of " + e.Comment.Author.Login, AskedBy: string(account.ViaForge), Once: true,
		Detail: reactionWish{Repo: e.Repo, Number: e.Number, Comment: e.Comment.ID, Reaction: sign}})
	return err
}

// carry carries a command out.
func (s *Service) carry(ctx context.Context, l Link, e forge.Event, c Command) (forge.Reaction, error) {
	if c.Verb != "run" {
		return forge.Puzzled, nil
	}
	repo, _ := l.knows(e.Repo)
	in := run.StartInput{Selection: run.Selection{Kind: run.SelectSuite}, Trigger: run.TriggerCI, Pull: &run.Pull{Repo: repo, Number: e.Number},
		OnceKey: fmt.Sprintf("comment/%s/%s", l.Project.ID, e.Comment.ID)}
	if c.Rest != "" {
		in.Selection = run.Selection{Kind: run.SelectGrep, Grep: c.Rest}
	}
	if repo == l.Repo {
		p, err := l.Forge.PullRequest(ctx, repo, e.Number)
		if err != nil {
			return "", err
		}
		if !strings.EqualFold(p.Head.Repo, repo) {
			return forge.Refused, nil // a fork's code is not run with the project's variables
		}
		in.Branch = p.Head.Branch
	}
	_, err := s.Starter.Start(ctx, account.Actor{ProjectID: l.Project.ID, Via: account.ViaForge}, in)
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict:
		return forge.Puzzled, nil
	}
	return forge.Agreed, err
}

// reactions answers comments.
type reactions struct{ s *Service }

func (d reactions) Do(ctx context.Context, a action.Action) (json.RawMessage, string, error) {
	var w reactionWish
	if err := read(a, &w, &struct{}{}); err != nil {
		return nil, "", err
	}
	l, err := d.s.Link(ctx, a.ProjectID)
	if err != nil {
		return nil, "", err
	}
	return nil, "", l.Forge.React(ctx, w.Repo, w.Number, w.Comment, w.Reaction)
}
