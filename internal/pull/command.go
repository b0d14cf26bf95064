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
// pattern that chooses tests, or "/tas heal".
type Command struct {
	Verb string `json:"verb"`           // run, heal, generate, or what else was written
	Rest string `json:"rest,omitempty"` // the pattern of run
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

// commandWish is a comment that asks for something, as its webhook told it.
type commandWish struct {
	Repo    string     `json:"repo"`
	Number  int        `json:"number"`
	Comment string     `json:"comment"`
	Author  forge.User `json:"author"`
	Command Command    `json:"command"`
}

// hear takes a comment in. What it asks for is done as an action, so that a forge which
// does not answer now delays it and loses nothing.
func (s *Service) hear(ctx context.Context, l Link, e forge.Event) error {
	c, asked := ParseCommand(e.Comment.Body)
	if !asked || l.Connection.Deaf || e.Comment.CreatedAt.Before(s.Clock().Add(-staleAfter)) {
		return nil
	}
	_, err := s.Actions.Ask(ctx, action.Wish{ProjectID: l.Project.ID, Key: fmt.Sprintf("command/%s/%d/%s", e.Repo, e.Number, e.Comment.ID), Kind: action.Command,
		Target: target(e.Repo, e.Number), About: "a comment of " + e.Comment.Author.Login + ": " + commandWord + " " + strings.TrimSpace(c.Verb+" "+c.Rest), AskedBy: string(account.ViaForge), Once: true,
		Detail: commandWish{Repo: e.Repo, Number: e.Number, Comment: e.Comment.ID, Author: e.Comment.Author, Command: c}})
	return err
}

// commands do what comments ask for, if whoever wrote one may push to the repository, and
// have it answered with a reaction: a thumb up for what is done, one down for who may not,
// confusion for what is not understood.
type commands struct{ s *Service }

func (d commands) Do(ctx context.Context, a action.Action) (json.RawMessage, string, error) {
	var w commandWish
	l, err := d.s.begin(ctx, a, &w, &struct{}{})
	if err != nil {
		return nil, "", err
	}
	me, err := l.Forge.WhoAmI(ctx)
	if err != nil {
		return nil, "", err
	}
	if w.Author.Is(me) {
		return nil, "The service said it itself.", nil // our own words come back as webhooks
	}
	may, err := l.Forge.MayWrite(ctx, w.Repo, w.Author)
	if err != nil {
		return nil, "", err
	}
	sign := forge.Refused
	if may {
		if sign, err = d.s.carry(ctx, l, w); err != nil {
			return nil, "", err
		}
	}
	_, err = d.s.Actions.Ask(ctx, action.Wish{ProjectID: a.ProjectID, Key: fmt.Sprintf("reaction/%s/%d/%s", w.Repo, w.Number, w.Comment), Kind: action.Reaction,
		Target: target(w.Repo, w.Number), About: "the answer to a comment of " + w.Author.Login, AskedBy: string(account.ViaForge), Once: true,
		Detail: reactionWish{Repo: w.Repo, Number: w.Number, Comment: w.Comment, Reaction: sign}})
	return nil, map[forge.Reaction]string{forge.Agreed: "It is done.", forge.Refused: "It was refused: the author may not push there, or the branch is a fork's.", forge.Puzzled: "It was not understood."}[sign], err
}

// carry carries a command out.
func (s *Service) carry(ctx context.Context, l Link, w commandWish) (forge.Reaction, error) {
	repo, _ := l.knows(w.Repo)
	switch {
	case w.Command.Verb == "heal" && w.Command.Rest == "" && s.Heal != nil:
		return s.heal(ctx, l, run.Pull{Repo: repo, Number: w.Number}, w.Comment)
	case w.Command.Verb != "run":
		return forge.Puzzled, nil
	}
	in := run.StartInput{Selection: run.Selection{Kind: run.SelectSuite}, Trigger: run.TriggerCI, Pull: &run.Pull{Repo: repo, Number: w.Number},
		OnceKey: fmt.Sprintf("comment/%s/%s", l.Project.ID, w.Comment)}
	if w.Command.Rest != "" {
		in.Selection = run.Selection{Kind: run.SelectGrep, Grep: w.Command.Rest}
	}
	if repo == l.Repo {
		p, err := l.Forge.PullRequest(ctx, repo, w.Number)
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

// heal starts the healing of the latest run of a pull request that failed and speaks still.
func (s *Service) heal(ctx context.Context, l Link, at run.Pull, comment string) (forge.Reaction, error) {
	runs, err := s.speaking(ctx, l.Project.ID, at)
	if err != nil {
		return "", err
	}
	sign := forge.Puzzled
	for _, r := range runs {
		if r.Phase != run.Failed {
			continue
		}
		err := s.Heal(ctx, account.Actor{ProjectID: l.Project.ID, Via: account.ViaForge}, r.ID, at, fmt.Sprintf("comment/%s/%s/%s", l.Project.ID, comment, r.ID))
		switch fault.KindOf(err) {
		case fault.Invalid, fault.Conflict:
			continue
		}
		if err != nil {
			return "", err
		}
		sign = forge.Agreed
	}
	return sign, nil
}

// reactions answers comments.
type reactions struct{ s *Service }

func (d reactions) Do(ctx context.Context, a action.Action) (json.RawMessage, string, error) {
	var w reactionWish
	l, err := d.s.begin(ctx, a, &w, &struct{}{})
	if err != nil {
		return nil, "", err
	}
	return nil, "", l.Forge.React(ctx, w.Repo, w.Number, w.Comment, w.Reaction)
}
