package heal

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/bug"
	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/pull"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
)

// outcomes says what came of each failed test: what its findings say, or that it was healed.
func outcomes(st *state, repaired bool, trouble string) (out []agent.Outcome) {
	for _, f := range st.Failures {
		o := agent.Outcome{TestID: f.TestID, Browser: f.Browser, Title: f.Title, Outcome: agent.NotHealable}
		first, last := -1, -1
		for i, x := range st.Findings {
			if x.TestID == f.TestID && x.Browser == f.Browser {
				if last = i; first < 0 {
					first = i
				}
			}
		}
		switch {
		case first < 0 && repaired && slices.Contains(st.Passed, f.TestID):
			o.Outcome, o.Class, o.Confidence = agent.Healed, string(Drift), lowest(st)
			o.Evidence = []string{"It failed in the same way, and passes with the repair."}
		case first < 0 && trouble != "":
			o.Class, o.Evidence = string(Unknown), []string{trouble}
		case first < 0 && st.alike() != nil:
			x := st.alike()
			o.Outcome, o.Class, o.Confidence = x.Class.outcome(), string(x.Class), x.Confidence/2
			o.Evidence = []string{fmt.Sprintf("It failed in the same way as %d others that were looked at: %s", len(st.Findings), x.Why)}
		case first < 0:
			o.Class, o.Evidence = string(Unknown), []string{"It failed in the same way as others, and was not looked at by itself."}
		default:
			x := st.Findings[first]
			o.Class, o.Confidence = string(x.Class), x.Confidence
			o.Evidence = append([]string{x.Why}, x.Evidence...)
			switch {
			case repaired && (x.Repaired() || st.Findings[last].Written):
				o.Outcome = agent.Healed
			case x.Edit >= 0:
				o.Evidence = append(o.Evidence, trouble)
				if l := st.Findings[last]; last != first && l.Edit < 0 {
					o.Evidence = append(o.Evidence, "Behind the repair: "+l.Why)
				}
			case slices.Contains(st.Passed, f.TestID) && repaired:
				o.Outcome = agent.Healed
				o.Evidence = append(o.Evidence, "It passes with the repair.")
			default:
				o.Outcome = x.Class.outcome()
			}
		}
		if draft, why := st.doubtful(); o.Outcome == agent.Healed && draft {
			o.Evidence = append(o.Evidence, "It is only proposed: "+why)
		}
		out = append(out, o)
	}
	return out
}

// alike answers a finding where all are of one class, and none led to a repair; else nil.
func (st *state) alike() *Finding {
	for i := range st.Findings {
		if st.Findings[i].Class != st.Findings[0].Class || st.Findings[i].Edit >= 0 {
			return nil
		}
	}
	if len(st.Findings) == 0 {
		return nil
	}
	return &st.Findings[0]
}

// writtenP is how likely a repair is taken to be meant so that a model wrote: nothing measures it.
const writtenP = 0.5

// lowest answers the probability of the least sure repair.
func lowest(st *state) float64 {
	p := 1.0
	for _, f := range st.Findings {
		if f.Edit >= 0 {
			p = min(p, f.P)
		}
		if f.Written {
			p = min(p, writtenP)
		}
	}
	return p
}

// summary says in one or two sentences what came of a session.
func summary(st *state, outs []agent.Outcome, repaired bool) string {
	counts := map[agent.Verdict]int{}
	for _, o := range outs {
		counts[o.Outcome]++
	}
	var parts []string
	for _, v := range agent.Verdicts() {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, map[agent.Verdict]string{agent.Healed: "healed", agent.ApplicationBug: "because of a bug of the application", agent.Flaky: "flaky",
				agent.Environment: "because of the environment", agent.NotHealable: "not healable"}[v]))
		}
	}
	text := fmt.Sprintf("Of %d failures: %s.", len(outs), strings.Join(parts, ", "))
	if len(outs) == 1 {
		text = map[agent.Verdict]string{agent.Healed: "The test is healed.", agent.ApplicationBug: "The application is at fault, not the test.", agent.Flaky: "The test is flaky: it passes unchanged.",
			agent.Environment: "The environment is at fault, not the test.", agent.NotHealable: "The test cannot be healed."}[outs[0].Outcome]
		if !repaired && len(st.Findings) > 0 {
			text += " " + st.Findings[len(st.Findings)-1].Why
		}
	}
	if draft, why := st.doubtful(); repaired && draft {
		if len(outs) == 1 && counts[agent.Healed] == 1 {
			text = "The test passes with a repair."
		}
		text += " It is only proposed: " + why
	}
	return text
}

// doubtful reports whether a repair is only to be proposed, and why.
func (st *state) doubtful() (bool, string) {
	if st.writing() {
		why := "a model wrote the change, so a person has to judge."
		if left := st.Proof.survivors(); len(left) > 0 {
			why += " With it the test does not notice when " + strings.Join(left, ", nor when ") + "."
		}
		return true, why
	}
	for _, f := range st.Findings {
		if f.Chosen {
			return true, "a person chose the element."
		}
		if f.Edit >= 0 && f.ByModel {
			return true, "a model chose the element, so a person has to judge."
		}
		if f.Edit >= 0 && f.Outcome != relocate.Heal && f.ByDeed && f.P >= relocate.DefaultLimits().Heal {
			return true, fmt.Sprintf("nothing that named the element names %s, and that it does the same was not seen.", quoted(f.After))
		}
		if f.Edit >= 0 && f.Outcome != relocate.Heal {
			return true, fmt.Sprintf("%s is likely to be the element, but not surely enough (%.2f).", quoted(f.After), f.P)
		}
	}
	if st.Proof == nil {
		return true, "it was not proved."
	}
	for _, f := range st.Findings {
		if f.Edit >= 0 && !slices.ContainsFunc(st.Proof.Sabotage, func(b Sabotage) bool { return b.Edit == f.Edit }) {
			return true, "whether " + f.Title + " still detects anything could not be tried."
		}
	}
	if left := st.missed(); len(left) > 0 {
		return true, "with it the test does not notice when " + strings.Join(left, ", nor when ") + "."
	}
	return false, ""
}

// missed answers in words what repaired tests no longer detect. What they did not detect before
// either does not count, and that much is known of an edit whose step was seen to have the effect
// outside the page that it had before; or, of the element's doing and of its rival, where what
// named the element names it still: the assertions are the same, so they see no less.
func (st *state) missed() (out []string) {
	for _, b := range st.Proof.Sabotage {
		seen, named := true, true
		for _, f := range st.Findings {
			if f.Edit == b.Edit {
				seen, named = seen && f.EffectSeen, named && (f.EffectSeen || !f.ByDeed)
			}
		}
		doing := b.Order.Kind == attempt.SabotageHandler || b.Order.Kind == attempt.SabotageRequest || b.Order.Kind == attempt.SabotageRival
		if b.Survived() && !seen && (!named || !doing) {
			out = append(out, b.What)
		}
	}
	return out
}

// provedByDoing reports whether a test was seen to fail when what is done to the element has
// no effect, or the text is altered that it checks: then a look-alike that does nothing, or says
// something else, is not what it found. A field takes what is typed into it whether the
// application hears of it or not, so of a field it must be something else that the test misses,
// and what the test sends must carry values under the same names as before.
func (st *state) provedByDoing(f *Finding) bool {
	if f.Step == nil {
		return false
	}
	kind, beyond := attempt.SabotageHandler, false
	switch f.Step.Method {
	case "expect":
		kind = attempt.SabotageText
	case "click", "dblclick", "tap", "hover":
	case "fill", "type", "selectOption": // pressSequentially is type on the wire
		if beyond = true; !f.Carried {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(st.Proof.Sabotage, func(b Sabotage) bool {
		return b.Edit == f.Edit && b.Order.Kind == kind && !b.Survived() && (b.Beyond || !beyond)
	})
}

// tellBugs says of the tests that fail because of the application that a bug is to blame. It
// tags nothing and skips nothing, and the run stays failed.
func (s *Service) tellBugs(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	var sayings []bug.Saying
	for _, f := range st.Findings {
		// In every browser in which it failed: a verdict speaks for all of them.
		if slices.ContainsFunc(st.Findings, func(o Finding) bool { return o.TestID == f.TestID && o.Class != ApplicationBug }) ||
			slices.ContainsFunc(sayings, func(s bug.Saying) bool { return s.TestID == f.TestID }) {
			continue
		}
		sayings = append(sayings, bug.Saying{TestID: f.TestID, Word: run.WordBug, Source: bug.Automation,
			Comment: clip(strings.TrimSpace(f.Why+" "+strings.Join(f.Evidence, " ")), 2000)})
	}
	if len(sayings) == 0 {
		return nil
	}
	judged, err := s.Bugs.Submit(ctx, account.Actor{ProjectID: x.ProjectID, Via: account.ViaService}, r.ID, "", sayings)
	switch {
	case err == nil:
		x.Note(agent.Decided, "%d tests were judged to fail because of a bug of the application.", judged.Updated)
	case fault.Permanent(err): // a person has judged them meanwhile, or they passed in another browser
		x.Note(agent.Trouble, "The verdict that the application is at fault was not taken: %s", fault.As(err).Public())
		err = nil
	}
	return err
}

// deliver opens a pull request for a repair, if the caller wanted one, and waits a while until
// it is there.
func (s *Service) deliver(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	if !x.Batch.Wish.AutoCreatePR && !st.Wanted {
		x.Note(agent.Decided, "The caller wanted no pull request: the change is kept in the session.")
		x.End(x.Summary)
		return s.remark(ctx, x, st, r)
	}
	if x.Pull == nil && s.Adviser != nil && !st.ProseAsked {
		return s.explain(ctx, x, st, r)
	}
	if x.Pull == nil {
		return s.propose(ctx, x, st, r)
	}
	opened, state, answer, err := s.Pulls.Proposed(ctx, x.ProjectID, x.Pull.ActionID)
	if err != nil {
		return err
	}
	switch st.Asked++; {
	case opened != nil:
		x.Pull.Repo, x.Pull.Number, x.Pull.URL, x.Pull.State = opened.Repo, opened.Number, opened.URL, "open"
		x.Note(agent.Decided, "Pull request #%d was opened.", opened.Number)
	case state == action.Rejected || state == action.Failed:
		x.Pull.State = "refused"
		x.Note(agent.Trouble, "The pull request was not opened: %s", answer)
	case state == action.Waiting:
		x.Note(agent.Decided, "The pull request waits for a person's approval, as the project's policy wants.")
	case st.Asked < deliverFor:
		x.Wait(deliverEvery)
		return nil
	default:
		x.Note(agent.Trouble, "The pull request is not open yet; it is tried further.")
	}
	x.End(x.Summary)
	return s.remark(ctx, x, st, r)
}

// propose asks for the pull request. The same repair of the same base is the same one, whoever
// finds it.
func (s *Service) propose(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	base := x.Batch.Wish.Branch
	if base == "" {
		base = r.Branch
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(base+"\x00"+r.Commit+"\x00"+x.Patch)))[:12]
	draft, _ := st.doubtful()
	p := pull.Proposal{Key: "heal/" + sum, Base: base, BaseCommit: r.Commit, Branch: checkout.Prefix + "heal-" + sum, Patch: x.Patch,
		Title: headline(st), Message: message(st), At: x.StartedAt.UTC(), Draft: draft, Body: s.body(x, st, r), About: headline(st)}
	earlier, err := s.Store.SessionsOfPull(ctx, x.ProjectID, "pull-request/"+p.Key)
	if err != nil {
		return err
	}
	for _, o := range earlier {
		if o.ID != x.ID && o.Pull != nil {
			shared := *o.Pull
			x.Pull = &shared
			x.Note(agent.Decided, "Another session found the same repair: its pull request is this one's as well.")
			x.Wait(deliverEvery)
			return nil
		}
	}
	a, err := s.Pulls.Propose(ctx, x.ProjectID, p, x.Batch.AskedBy)
	if f := fault.As(err); err != nil && fault.Permanent(err) {
		x.Note(agent.Trouble, "The pull request cannot be opened: %s", f.Public())
		x.End(x.Summary + " The change is kept here: no pull request could be opened.")
		return s.remark(ctx, x, st, r)
	}
	if err != nil {
		return err
	}
	x.Pull = &agent.PullRequest{ActionID: a.ID, Key: a.Key, Draft: draft, State: "requested"}
	x.Note(agent.Decided, "A pull request is asked for%s.", map[bool]string{true: ", as a draft, since a person has to decide"}[draft])
	x.Wait(deliverEvery)
	return nil
}

// remark tells the pull request that the run was for what came of the session.
func (s *Service) remark(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	at := run.Pull{Repo: x.Batch.Wish.RepoName, Number: x.Batch.Wish.PRNumber}
	if at.Number == 0 {
		if r.Pull == nil {
			return nil
		}
		at = *r.Pull
	}
	err := s.Pulls.Remark(ctx, x.ProjectID, at, "heal/"+x.ID, s.remarkBody(x, st, r), "what came of healing run "+r.Name, x.Batch.AskedBy)
	if err != nil && fault.Permanent(err) {
		x.Note(agent.Trouble, "The pull request is not told: %s", fault.As(err).Public())
		return nil
	}
	return err
}

// Settled hears that a pull request was merged or closed: the sessions that asked for it say so.
func (s *Service) Settled(ctx context.Context, projectID, repo string, number int, state forge.State) error {
	all, err := s.Store.AgentSessions(ctx, agent.Query{ProjectID: projectID, Limit: settledLooks})
	if err != nil {
		return err
	}
	for _, x := range all {
		if x.Pull == nil || x.Pull.Number != number || !strings.EqualFold(x.Pull.Repo, repo) {
			continue
		}
		now := s.Clock().UTC()
		err := s.Store.UpdateAgentSession(ctx, x.ID, func(x *agent.Session) ([]agent.Event, error) {
			if x.Pull == nil || x.Pull.State == string(state) {
				return nil, nil
			}
			x.Pull.State = string(state)
			return []agent.Event{{SessionID: x.ID, At: now, Kind: agent.Decided, Text: fmt.Sprintf("Pull request #%d was %s.", number, state)}}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settledLooks is among how many of a project's latest sessions the one of a pull request is
// looked for.
const settledLooks = 1000
