package heal

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tas-service/internal/account"
	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/locator"
	"tas-service/internal/relocate"
)

// Words of a person's decision on a session's repair.
const (
	Approved = "approved"
	Rejected = "rejected"
)

// maxNote bounds what a person says with a decision, in bytes.
const maxNote = 2000

// Decide notes what a member thinks of a repair. An approved one that has no pull request yet
// gets one. Errors: fault.Conflict for a session that goes on, that has no repair, or that was
// decided otherwise.
func (s *Service) Decide(ctx context.Context, actor account.Actor, id, word, note string) error {
	if word != Approved && word != Rejected {
		return fault.New(fault.Invalid, "%.20q is no decision.", word).WithFix("Approve the repair or reject it.")
	}
	if len(note) > maxNote {
		return fault.New(fault.Invalid, "The note has more than %d bytes.", maxNote).WithFix("Say it in fewer words.")
	}
	return s.Agents.Change(ctx, actor, id, func(x *agent.Session, say func(agent.EventKind, string)) error {
		switch {
		case !x.Status.Final():
			return fault.New(fault.Conflict, "The session is not over: there is nothing to decide yet.").WithFix("Wait until it is completed.")
		case x.Patch == "":
			return fault.New(fault.Conflict, "The session has no repair, so there is nothing to decide.").WithFix("Look at what it says of the failures.")
		case x.Decision != nil && x.Decision.Word == word:
			return nil
		}
		x.Decision = &agent.Decision{Word: word, By: actor.By(), At: s.Clock().UTC(), Note: note}
		text := "The repair was " + word + "."
		if note != "" {
			text += " " + note
		}
		say(agent.Said, text)
		if word == Approved && (x.Pull == nil || x.Pull.State == "refused") {
			// The reconciler delivers it, as it would have at the end.
			now := s.Clock().UTC()
			x.Status, x.Stage, x.Pull, x.FinishedAt, x.ResumedAt = agent.Verifying, stageDeliver, nil, nil, &now
			st, err := load(x.State)
			if err != nil {
				return err
			}
			st.Asked, st.Wanted = 0, true
			x.State = st.save()
		}
		return nil
	})
}

// Choose tries another candidate than the one that was taken, because a person says so: in a
// new session of its own, with the same proof. What comes of it is a proposal. Errors:
// fault.Conflict for a session that goes on, fault.Invalid where there is no such candidate.
func (s *Service) Choose(ctx context.Context, actor account.Actor, id string, finding, candidate int) (agent.Session, error) {
	x, st, err := s.over(ctx, actor, id)
	if err != nil {
		return x, err
	}
	if finding < 0 || finding >= len(st.Findings) || candidate < 0 || candidate >= len(st.Findings[finding].Candidates) {
		return x, fault.New(fault.Invalid, "There is no such candidate.").WithFix("Choose one that the session's page lists.")
	}
	f := st.Findings[finding]
	c := f.Candidates[candidate]
	if c.Rival == "" || !f.Steerable() {
		return x, fault.New(fault.Invalid, "Nothing names this candidate that would find it alone.").WithFix("Choose another one, or repair the test by hand.")
	}
	f.Candidates = append([]CandidateSeen{c}, slices.Delete(slices.Clone(f.Candidates), candidate, candidate+1)...)
	return s.again(ctx, actor, x, st, f, c.Rival, fmt.Sprintf("Another candidate is tried in a session of its own: %s.", c.Label))
}

// maxSaid bounds what a person says to a session, in bytes.
const maxSaid = 2000

// Steer takes what a person says of a finding of a session that is over. A locator in it, of one
// part, is tried in place of the part that is broken: in a new session of its own, with the same
// proof, and what comes of it is a proposal. What has no locator is told to a model as a reviewer's
// wish, where one may work on the finding, in a new session as well. Else it is kept with the
// session and nothing is tried: the session answered is then the same one, and deaf says in words
// why. Errors: fault.Conflict for a session that goes on, fault.Invalid for a locator that cannot
// be tried.
func (s *Service) Steer(ctx context.Context, actor account.Actor, id string, finding int, message string) (fresh agent.Session, deaf string, err error) {
	if message == "" || len(message) > maxSaid {
		return agent.Session{}, "", fault.New(fault.Invalid, "A message has 1 to %d bytes.", maxSaid).WithFix("Say what is meant, or name the element by a locator.").At("message", "1 to %d bytes", maxSaid)
	}
	x, st, err := s.over(ctx, actor, id)
	if err != nil {
		return x, "", err
	}
	if finding < 0 || finding >= len(st.Findings) {
		return x, "", fault.New(fault.Invalid, "The session has no such finding.").WithFix("Load the page of the session again.")
	}
	f := st.Findings[finding]
	code := locatorIn(message)
	if code == "" {
		if deaf = s.deaf(st, f); deaf == "" {
			fresh, err = s.wish(ctx, actor, x, st, f, message)
			return fresh, "", err
		}
		return x, deaf, s.Agents.Change(ctx, actor, x.ID, func(_ *agent.Session, say func(agent.EventKind, string)) error {
			say(agent.Said, f.Title+": "+message)
			return nil
		})
	}
	if !f.Steerable() {
		return x, "", fault.New(fault.Invalid, "It is not known which part of which locator is broken there, so no other one can be tried.").WithFix("Repair the test by hand.")
	}
	if parts := Parts(code); len(parts) != 1 || locator.StrategyOf(code) == "" && parts[0].method != "locator" || code == f.Before {
		return x, "", fault.New(fault.Invalid, "%s cannot stand in place of %s.", quoted(code), quoted(f.Before)).
			WithFix("Name the element in one part, such as getByRole('button', { name: 'Save' }): what comes before and behind it stays.").At("message", "one part of a locator")
	}
	fresh, err = s.again(ctx, actor, x, st, f, code, fmt.Sprintf("%s is tried in a session of its own. %s", quoted(code), message))
	return fresh, "", err
}

// Deaf answers in words why nothing comes of a message without a locator about a finding of a
// session, "" where a model would be told it.
func (s *Service) Deaf(x agent.Session, finding int) string {
	st, err := load(x.State)
	if err != nil || finding < 0 || finding >= len(st.Findings) {
		return "The session has no such finding."
	}
	return s.deaf(st, st.Findings[finding])
}

func (s *Service) deaf(st state, f Finding) string {
	st.Mute = false // what was so in that session need not be so in the next one
	if why := s.noWork(&st); why != "" {
		return why
	}
	if f.Step == nil || !slices.Contains(workable, f.Class) {
		return "This failure is none that a change of the test may repair."
	}
	return ""
}

// wish begins a session of its own in which a model works with what a reviewer wishes, going on
// from what one wrote before.
func (s *Service) wish(ctx context.Context, actor account.Actor, x agent.Session, st state, f Finding, message string) (agent.Session, error) {
	fresh := state{Wish: message, Resumed: st.Resumed}
	if st.Work != nil {
		fresh.Resumed = st.Work.Rewrites
	}
	return s.anew(ctx, actor, x, st, f, fresh, "A model is told, in a session of its own: "+message)
}

// Steerable reports whether it is known which part of which locator would have to be another one.
func (f *Finding) Steerable() bool { return f.Step != nil && f.Part >= 0 && len(f.Stack) > 0 }

// begins is where a locator begins in what people write.
var begins = regexp.MustCompile(`\b(?:getBy[A-Z][A-Za-z]+|locator)\(`)

// locatorIn answers the first locator in a text, "" for none.
func locatorIn(text string) string {
	at := begins.FindStringIndex(text)
	if at == nil {
		return ""
	}
	// The longest beginning that is one: what follows may be a sentence.
	for end := len(text); end > at[0]; end-- {
		if code := text[at[0]:end]; strings.HasSuffix(code, ")") && len(Parts(code)) > 0 {
			return code
		}
	}
	return ""
}

// over answers a session that has ended, for a member.
func (s *Service) over(ctx context.Context, actor account.Actor, id string) (x agent.Session, st state, err error) {
	if x, err = s.Agents.Get(ctx, actor, id); err != nil {
		return x, st, err
	}
	if err := actor.MayAs(account.RoleMember, x.ProjectID, "session"); err != nil {
		return x, st, err
	}
	if !x.Status.Final() {
		return x, st, fault.New(fault.Conflict, "The session is not over.").WithFix("Wait until it is completed, or cancel it.")
	}
	st, err = load(x.State)
	return x, st, err
}

// again begins a session of its own in which another locator is tried, because a person says so.
func (s *Service) again(ctx context.Context, actor account.Actor, x agent.Session, st state, f Finding, after, said string) (agent.Session, error) {
	f.After, f.Edit, f.Outcome, f.Chosen = after, 0, relocate.Propose, true
	f.Why = "A person chose the element."
	fresh := state{Findings: []Finding{f}, Edits: []attempt.Edit{{Stack: f.Stack, Locator: f.Step.Locator, Part: f.Part, Through: f.Through, Replacement: after}}}
	return s.anew(ctx, actor, x, st, f, fresh, said)
}

// anew begins another session for the failure of one finding.
func (s *Service) anew(ctx context.Context, actor account.Actor, x agent.Session, st state, f Finding, fresh state, said string) (agent.Session, error) {
	b, err := s.Store.Batch(ctx, x.BatchID)
	if err != nil {
		return x, err
	}
	now := s.Clock().UTC()
	b.ID, b.AskedBy, b.CreatedAt = newID(), actor.By(), now
	b.Wish.AutoCreatePR = true
	fresh.Failures = slices.DeleteFunc(slices.Clone(st.Failures), func(o failure) bool { return o.TestID != f.TestID || o.Browser != f.Browser })
	y := agent.Session{ID: newID(), BatchID: b.ID, ProjectID: x.ProjectID, RunID: x.RunID, Kind: agent.Heal, Status: agent.Queued,
		Title: f.Title, TestIDs: []string{f.TestID}, State: fresh.save(), CreatedAt: now}
	if _, err := s.Store.CreateBatch(ctx, b, []agent.Session{y}, nil, false); err != nil {
		return x, err
	}
	err = s.Agents.Change(ctx, actor, x.ID, func(_ *agent.Session, say func(agent.EventKind, string)) error {
		say(agent.Said, said)
		return nil
	})
	s.Agents.Wake()
	return y, err
}
