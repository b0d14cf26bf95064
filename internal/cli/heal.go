package cli

import (
	"context"
	"fmt"
	"time"

	"tas-service/client"
)

// Heal heals the failures of a run.
type Heal struct {
	Service
	RunID          string        `arg:"" name:"run" help:"ID of the run whose failures are to be healed."`
	Test           []string      `placeholder:"ID" help:"Only these failing tests, separated by commas or with the flag repeated."`
	CreatePR       bool          `name:"pull-request" default:"true" negatable:"" help:"Open a pull request with a repair (the default)."`
	Branch         string        `placeholder:"NAME" help:"Branch that the pull request is to be merged into; the one that the run executed otherwise."`
	PR             int           `name:"pr" placeholder:"NUMBER" help:"Pull request that is told what came of it."`
	Repo           string        `placeholder:"OWNER/REPO" help:"Repository that the pull request is in; needed where the project has several."`
	Wait           bool          `default:"true" negatable:"" help:"Wait until every session has ended (the default)."`
	Timeout        time.Duration `default:"1h" help:"Longest time to wait."`
	IdempotencyKey string        `placeholder:"KEY" help:"Repeating the same command with the same key within 24 hours follows the first healing instead of starting another."`
	JSON           bool          `name:"json" help:"Print one JSON document at the end, and nothing else on standard output."`
}

// healPoll is how often a healing is looked at.
const healPoll = 2 * time.Second

// Run starts the healing and tells what came of each session. It fails when a session could
// not do its work; that a test cannot be healed is an answer.
func (h *Heal) Run() error {
	c := newConsole(h.JSON)
	return c.ended(h.run(c))
}

func (h *Heal) run(c *console) error {
	for _, id := range h.Test {
		if !testID.MatchString(id) {
			return usage("%s is no test's ID. `tas results %s --json` lists them.", clean(id), clean(h.RunID))
		}
	}
	api, err := h.dial()
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	o := client.HealOptions{TestIDs: h.Test, Branch: h.Branch, PRNumber: h.PR, RepoName: h.Repo, IdempotencyKey: h.IdempotencyKey}
	if !h.CreatePR {
		o.AutoCreatePR = &h.CreatePR
	}
	begun, err := api.Heal(ctx, h.RunID, o)
	if err != nil {
		return err
	}
	c.printf("Healing %s\n%s\n", clean(begun.BatchID), clean(begun.Links.Session))
	if !h.Wait {
		return c.answer(begun)
	}
	seen := map[string]string{}
	for {
		b, err := patiently(ctx, readPatience, nil, func() (client.Healing, error) { return api.Healing(ctx, begun.BatchID) })
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, s := range b.Sessions {
			if seen[s.SessionID] != s.Status {
				seen[s.SessionID] = s.Status
				c.printf("%s  %s\n", c.paint(dim, clean(s.SessionID)), clean(s.Status))
			}
		}
		if b.AllTerminal {
			return h.tell(c, b)
		}
		select {
		case <-ctx.Done():
			return &Exit{Code: exitNoVerdict, Message: fmt.Sprintf("The healing goes on; `%s` was not enough to see its end. Look at %s.", h.Timeout, clean(begun.Links.Session))}
		case <-time.After(healPoll):
		}
	}
}

// tell prints what came of each session.
func (h *Heal) tell(c *console, b client.Healing) error {
	failed := 0
	for _, s := range b.Sessions {
		c.printf("\n%s\n", clean(s.Summary))
		for _, o := range s.Outcome {
			color := map[string]string{"healed": green, "application-bug": red}[o.Outcome]
			c.printf("  %s %s\n", c.paint(color, fmt.Sprintf("%-15s", clean(o.Outcome))), clean(o.Title))
		}
		if s.PRURL != nil {
			c.printf("  pull request: %s\n", clean(*s.PRURL))
		}
		c.printf("  %s\n", c.paint(dim, clean(s.URL)))
		if s.Status != "completed" {
			failed++
		}
	}
	if err := c.answer(b); err != nil {
		return err
	}
	if failed > 0 {
		return &Exit{Code: exitFail, Message: fmt.Sprintf("%d of %s did not end in good order.", failed, count(len(b.Sessions), "session"))}
	}
	return nil
}
