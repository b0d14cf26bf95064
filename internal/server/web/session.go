package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/fault"
	"tas-service/internal/heal"
)

// Bounds of a session's page.
const (
	eventsShown     = 300
	outcomesShown   = 100
	findingsShown   = 20
	candidatesShown = 10
	picturesShown   = 6
)

// sessionPage is what the page of a session shows.
type sessionPage struct {
	sessionRow
	Batch       *batchView
	AskedBy     string
	Track       []stop
	Outcomes    []outcomeView
	MoreTests   int
	Findings    []findingView
	MoreFinds   int
	Proof       *heal.Proof
	Trials      []trialLink
	Files       []diffFile
	Broken      *fault.Error // why there is no diff
	Events      []agent.Event
	Earlier     int64 // events that are not shown
	Cancellable bool
	Approvable  bool
	Rejectable  bool
}

// Sabotaged answers the page of the trial in which the application was broken on purpose.
func (p *sessionPage) Sabotaged() string {
	last := ""
	for _, t := range p.Trials {
		if t.What == "sabotage" || strings.HasPrefix(t.What, "sabotage (") {
			last = t.URL
		}
	}
	return last
}

// outcomeView is what came of one test, and where it is.
type outcomeView struct {
	agent.Outcome
	URL string
}

// trialLink is a trial of a session.
type trialLink struct{ What, URL string }

// findingView is what was found out about one failure.
type findingView struct {
	heal.Finding
	N          int    // which one
	URL        string // of the test in the trial in which it was seen
	Candidates []candidateView
	More       int
	Sayable    bool   // a person may say something of it
	Deaf       string // why nothing comes of that without a locator; "" where a model is told
	Picture    string // address of what the page looked like when the step gave up
	Found      string // and of what it looked like with the repair
}

// Repairs reports whether the finding led to an edit.
func (f findingView) Repairs() bool { return f.Repaired() }

// candidateView is an element that might be the one.
type candidateView struct {
	heal.CandidateSeen
	N         int
	Taken     bool
	Choosable bool
}

func (a *App) session(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx := r.Context()
	id, err := sessionID(r)
	if err != nil {
		return err
	}
	x, err := a.Healing.Agents.Get(ctx, v.Actor, id)
	if err != nil {
		return err
	}
	seen, err := heal.Look(x.State)
	if err != nil {
		return err
	}
	p := &sessionPage{sessionRow: a.sessionRow(v, &x), Track: track(x, seen), Proof: seen.Proof}
	p.RunName = a.runNamed(ctx, map[string]string{}, x.RunID)
	for _, step := range []func(context.Context, *visit, *sessionPage, heal.Seen) error{a.addBatch, a.addOutcomes, a.addFindings, a.addEvents} {
		if err := step(ctx, v, p, seen); err != nil {
			return err
		}
	}
	if x.Patch != "" {
		if p.Files, err = readDiff(x.Patch); err != nil {
			p.Broken = fault.As(err)
		}
	}
	over := x.Status.Final()
	p.Cancellable = !over && x.CancelBy == ""
	p.Approvable = over && x.Patch != "" && (x.Decision == nil || x.Decision.Word != heal.Approved)
	p.Rejectable = over && x.Patch != "" && (x.Decision == nil || x.Decision.Word != heal.Rejected)
	title := lookOf(x.Status).Text
	page := Page{Title: strings.ToUpper(title[:1]) + title[1:] + " · " + firstLine(x.Title, 80), Area: "healing", Signal: signalOfSession(x), Data: p,
		Crumbs: []Crumb{{"Healing", v.base() + "/sessions"}, {Name: firstLine(x.Title, 60)}}}
	if !over {
		page.Live = p.URL + "/events?since=" + url.QueryEscape(sessionStateOf(x))
	}
	a.show(w, r, http.StatusOK, "sessions/session", page)
	return nil
}

func signalOfSession(x agent.Session) Signal {
	switch {
	case !x.Status.Final():
		return IsRunning
	case x.Status == agent.Failed:
		return IsFailed
	case slices.ContainsFunc(x.Outcomes, func(o agent.Outcome) bool { return o.Outcome == agent.Healed }):
		return IsPassed
	}
	return Quiet
}

func (a *App) addBatch(ctx context.Context, v *visit, p *sessionPage, _ heal.Seen) error {
	b, err := a.batchOf(ctx, v, p.BatchID)
	if err != nil {
		return err
	}
	p.AskedBy = b.AskedBy
	if len(b.Sessions) > 1 {
		p.Batch = b
	}
	return nil
}

func (a *App) addOutcomes(_ context.Context, v *visit, p *sessionPage, _ heal.Seen) error {
	all := p.Session.Outcomes
	p.MoreTests = max(0, len(all)-outcomesShown)
	for _, o := range all[:min(len(all), outcomesShown)] {
		p.Outcomes = append(p.Outcomes, outcomeView{o, testInRun(v.runURL(p.RunID), o.TestID, o.Browser)})
	}
	return nil
}

func (a *App) addFindings(ctx context.Context, v *visit, p *sessionPage, seen heal.Seen) error {
	over := p.Status.Final() && v.mayAct()
	for i, f := range seen.Findings[:min(len(seen.Findings), findingsShown)] {
		x := findingView{Finding: f, N: i, Sayable: over, More: max(0, len(f.Candidates)-candidatesShown)}
		if over {
			x.Deaf = a.Healing.Deaf(*p.Session, i)
		}
		if f.RunID != "" {
			x.URL = testInRun(v.runURL(f.RunID), f.TestID, f.Browser)
		}
		for n, c := range f.Candidates[:min(len(f.Candidates), candidatesShown)] {
			taken := n == 0 && f.Edit >= 0
			x.Candidates = append(x.Candidates, candidateView{c, n, taken, over && !taken && c.Rival != "" && f.Steerable()})
		}
		if i < picturesShown && f.Step != nil {
			if err := a.addPictures(ctx, v, p, seen, &x); err != nil {
				return err
			}
		}
		p.Findings = append(p.Findings, x)
	}
	p.MoreFinds = len(seen.Findings) - len(p.Findings)
	for what, id := range seen.Trials {
		p.Trials = append(p.Trials, trialLink{what, v.runURL(id)})
	}
	// In the order in which they come.
	turn := func(t trialLink) string {
		stage, _, _ := strings.Cut(strings.ReplaceAll(t.What, " ", "-"), "-")
		// Each proof of a model's work has trials of its own, with its number behind their names.
		_, lap, _ := strings.Cut(t.What, " (")
		return map[string]string{"reproduce": "0", "work": "1"}[stage] + lap + map[string]string{"prove": "2", "share": "8", "sabotage": "9"}[stage] + t.What
	}
	slices.SortFunc(p.Trials, func(x, y trialLink) int { return strings.Compare(turn(x), turn(y)) })
	return nil
}

func (a *App) addEvents(ctx context.Context, v *visit, p *sessionPage, _ heal.Seen) (err error) {
	if p.Events, err = a.Healing.Agents.Latest(ctx, v.Actor, p.ID, eventsShown); err == nil && len(p.Events) > 0 {
		p.Earlier = p.Events[0].Seq - 1
	}
	return err
}

// changeSession takes one of the forms of a session's page.
func (a *App) changeSession(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx, f, text := r.Context(), r.PostForm, ""
	id, err := sessionID(r)
	if err != nil {
		return err
	}
	to := v.sessionURL(id)
	switch r.PathValue("act") {
	case "cancel":
		err, text = a.Healing.Agents.Cancel(ctx, v.Actor, id), "The session is being ended."
	case "decide":
		word := f.Get("word")
		err, text = a.Healing.Decide(ctx, v.Actor, id, word, strings.TrimSpace(f.Get("note"))), "Your decision is kept: "+word+"."
	case "choose":
		finding, ferr := strconv.Atoi(f.Get("finding"))
		candidate, cerr := strconv.Atoi(f.Get("candidate"))
		if ferr != nil || cerr != nil {
			finding, candidate = -1, -1 // none of any session
		}
		var fresh agent.Session
		if fresh, err = a.Healing.Choose(ctx, v.Actor, id, finding, candidate); err == nil {
			to, text = v.sessionURL(fresh.ID), "The other element is tried here, with the same proof."
		}
	case "steer":
		finding, ferr := strconv.Atoi(f.Get("finding"))
		if ferr != nil {
			finding = -1 // none of any session
		}
		var fresh agent.Session
		var deaf string
		fresh, deaf, err = a.Healing.Steer(ctx, v.Actor, id, finding, strings.TrimSpace(f.Get("message")))
		switch {
		case err == nil && fresh.ID == id:
			text = "Your message is kept. No locator is in it, so nothing is tried. " + deaf
		case err == nil:
			to, text = v.sessionURL(fresh.ID), "What you said is tried here, with the same proof."
		}
	default:
		err = fault.New(fault.NotFound, "There is no such form.").WithFix("Load the page of the session again.")
	}
	if err != nil {
		return err
	}
	done(w, r, to, text)
	return nil
}

// stop is one stage of a session on its way.
type stop struct {
	Name, About string
	State       string // "done", "now", "failed", "skipped", "kept", "ahead"
}

// Words says the state.
func (s stop) Words() string {
	return map[string]string{"done": "done", "now": "under way", "failed": "ended here", "skipped": "not needed", "kept": "kept here", "ahead": "to come"}[s.State]
}

// Look says how the state is shown.
func (s stop) Look() look {
	return map[string]look{"done": {"check", "good", ""}, "now": {"spin", "live", ""}, "failed": {"cross", "bad", ""}, "skipped": {"dash", "quiet", ""}, "kept": {"dash", "quiet", ""}, "ahead": {"dot", "quiet", ""}}[s.State]
}

// track answers how far a session has come.
func track(x agent.Session, seen heal.Seen) []stop {
	out := []stop{{Name: "Reproduce", About: "once more, unchanged"}, {Name: "Find out", About: "why, and what would help"}, {Name: "Prove", About: "the repair, three times"},
		{Name: "Verify", About: "what shares it, sabotage"}, {Name: "Deliver", About: "a pull request"}}
	at := map[string]int{"": 0, "reproduce": 0, "advise": 1, "work": 1, "prove": 2, "verify": 3, "deliver": 4}[x.Stage]
	if x.Stage == "reproduce" && len(seen.Findings) > 0 {
		at = 1
	}
	chosen := len(seen.Findings) > 0 && seen.Findings[0].Chosen // by a person: nothing is to be found out
	for i := range out {
		s := &out[i]
		switch {
		case chosen && i < 2:
			s.State = "skipped"
		case i < at:
			s.State = "done"
		case i > at && x.Status.Final():
			s.State = "skipped"
		case i > at || x.Status == agent.Queued:
			s.State = "ahead"
		case !x.Status.Final():
			s.State = "now"
		default:
			s.State = endedAt(x, at)
		}
	}
	return out
}

// endedAt answers the state of the stage at which a session ended.
func endedAt(x agent.Session, at int) string {
	switch {
	case x.Status != agent.Completed, at == 0:
		return "failed" // also where it could not be executed again
	case at == 1:
		return "done" // and nothing was to be repaired
	case at == 4 && x.Pull == nil:
		return "kept"
	case x.Patch == "":
		return "failed" // the repair does not hold
	}
	return "done"
}

// classWords says why a test fails.
func classWords(class any) string {
	text := fmt.Sprint(class)
	if known, ok := map[heal.Class]string{heal.PreExisting: "fails on the default branch as well", heal.Drift: "the element has another name now", heal.Ambiguity: "the locator finds several",
		heal.Overlay: "something covers the element", heal.Timing: "it comes too late", heal.Wording: "a text has other words", heal.Flow: "another page comes", heal.ApplicationBug: "a bug of the application",
		heal.Environment: "browser, network or sign-in", heal.Flaky: "passes unchanged", heal.Unknown: "not known", "": "not known"}[heal.Class(text)]; ok {
		return known
	}
	return text
}

// sureWords says how sure something is, from 0 to 1.
func sureWords(p float64) string {
	switch {
	case p >= 0.97:
		return "as good as certain"
	case p >= 0.9:
		return "very sure"
	case p >= 0.75:
		return "fairly sure"
	case p >= 0.5:
		return "likely"
	case p > 0:
		return "a guess"
	}
	return "not known"
}
