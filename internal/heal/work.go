package heal

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/llm"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// What a model may do where an operator lets it see sources, and all of it: look at the tests'
// source, at the page and at what a trial showed, and have exact pieces of the source replaced.
// What it writes passes the same lint and the same proof as every repair, and is only ever
// proposed. It has no working copy, no network and no process: each of its wishes is a call of a
// tool, which is looked at here. A step of the session is one question or one call, and each is
// saved: a service that is killed goes on where it was.

// stageWork is when a model works on what nothing else healed.
const stageWork = "work"

// Bounds of a model's work.
const (
	maxTurns      = 30       // questions
	maxWorkRuns   = 4        // of the tests, beside the proofs
	maxFinishes   = 3        // proofs
	maxTogether   = 8        // calls of one answer
	maxSilent     = 3        // answers in a row that call no tool
	maxTurnTokens = 4000     // of one answer
	maxTalk       = 96 << 10 // bytes of the conversation that are kept; older results are shortened
	maxResult     = 12 << 10 // bytes of a result
	maxArguments  = 24 << 10 // bytes of a call's arguments
	maxSaying     = 2000     // bytes of what it says beside its calls
	keptResult    = 200      // bytes of a result that was shortened
	shortened     = "\n[shortened]"
)

// Sources is how a model reads the tests' source, where an operator allows it.
type Sources struct {
	Reads checkout.Reads
	// Token answers the token by which a project's repository is read, "" for none.
	Token func(ctx context.Context, p project.Project) (string, error)
}

// work is what a model did on the failures of a session.
type work struct {
	Model    string            `json:"model"`
	Wish     string            `json:"wish,omitempty"` // of a reviewer
	Why      string            `json:"why,omitempty"`  // why nothing else healed it
	Talk     []turn            `json:"talk,omitempty"`
	Rewrites []attempt.Rewrite `json:"rewrites,omitempty"`
	Turns    int               `json:"turns,omitempty"`
	Runs     int               `json:"runs,omitempty"`
	Finishes int               `json:"finishes,omitempty"`
	Silent   int               `json:"silent,omitempty"` // answers in a row that called nothing
	Trial    string            `json:"trial,omitempty"`  // what it is called that a call waits for
	Last     string            `json:"last,omitempty"`   // and the newest that is over
	Proving  bool              `json:"proving,omitempty"`
	Over     string            `json:"over,omitempty"` // why it is over; "" while it is not
	Held     *held             `json:"held,omitempty"`
}

// held is what the session knew before the model began, for when nothing comes of its work.
type held struct {
	Findings []Finding          `json:"findings"`
	Edits    []attempt.Edit     `json:"edits,omitempty"`
	Made     []attempt.EditDone `json:"made,omitempty"`
	Proof    *Proof             `json:"proof,omitempty"`
}

// turn is what one side said.
type turn struct {
	Role    llm.Role   `json:"role"`
	Text    string     `json:"text,omitempty"`
	Calls   []toolCall `json:"calls,omitempty"`
	Results []toolDone `json:"results,omitempty"`
}

// toolCall is a call as it is kept: its arguments are an object, or Bad says why not.
type toolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Bad       string `json:"bad,omitempty"`
}

// toolDone is what came of a call. Its text is strangers' words, hidden and clean.
type toolDone struct {
	CallID string `json:"callId"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// workable are the classes on which a model may work. Of the others nothing in the test is
// wrong, or what it checks would have to be changed.
var workable = []Class{Drift, Ambiguity, Overlay, Timing, Flow, Unknown}

// writing reports whether what a model wrote is being proved, or was.
func (st *state) writing() bool { return st.Work != nil && st.Work.Proving }

// targets answers which findings a model may work on, the last of each failed test.
func (st *state) targets() (out []int) {
	for i, f := range st.Findings {
		behind := slices.ContainsFunc(st.Findings[i+1:], func(o Finding) bool { return o.TestID == f.TestID && o.Browser == f.Browser })
		if !behind && f.Step != nil && slices.Contains(workable, f.Class) {
			out = append(out, i)
		}
	}
	return out
}

// noWork answers in words why no model works on the failures of a session, "" where one may.
func (s *Service) noWork(st *state) string {
	switch {
	case s.Adviser == nil:
		return "This service has no model that could."
	case s.Adviser.Sources == nil:
		return "The operator of this service does not let a model see sources."
	case st.Mute:
		return "The model is not asked any more in this session."
	case slices.ContainsFunc(st.Findings, func(f Finding) bool { return f.Class == ApplicationBug }):
		return "The application is at fault, and no test is changed to pass all the same."
	case len(st.targets()) == 0:
		return "None of the failures is one that a change of the test may repair."
	}
	return ""
}

// beginWork lets a model work on what nothing else healed; false where none may.
func (s *Service) beginWork(ctx context.Context, x *agent.Step, st *state, r run.Run, why string) (bool, error) {
	if st.Work != nil && st.Work.Over != "" || st.Trials["reproduce"] == "" { // what a person chose is tried and nothing else
		return false, nil
	}
	deaf := func(why string) (bool, error) {
		if st.Wish != "" {
			x.Note(agent.Decided, "The reviewer's wish is not told to a model. %s", why)
			st.Wish = ""
		}
		return false, nil
	}
	if why := s.noWork(st); why != "" {
		return deaf(why)
	}
	known := false
	for _, i := range st.targets() {
		f := st.Findings[i]
		_, passing, err := s.Shelf.Of(ctx, r.ProjectID, f.TestID, f.Browser, f.Environment)
		if err != nil {
			return false, err
		}
		known = known || len(passing) > 0
	}
	if !known {
		return deaf("No passing run of the test is known, so nothing could be proved.")
	}
	if st.Work == nil {
		st.Work = &work{Wish: st.Wish, Rewrites: st.Resumed}
	}
	w := st.Work
	w.Model, w.Why, w.Last = s.Adviser.Model.Name(), why, "reproduce"
	w.Held = &held{Findings: slices.Clone(st.Findings), Edits: st.Edits, Made: st.Made, Proof: st.Proof}
	st.Edits, st.Made, st.Proof, st.Wish, st.Resumed = nil, nil, nil, "", nil
	for i := range st.Findings {
		st.Findings[i].Edit = -1
	}
	x.Note(agent.Decided, "The model %s works on it: it may read the tests' source, look at the page, have the source changed and the tests run. What it writes is linted and proved like every repair, and only proposed.", w.Model)
	x.Stage, x.NotBefore, x.Status, x.Patch, x.Changes = stageWork, x.Now, agent.Running, "", nil
	return true, nil
}

// worked asks the model the next question, or does the next of what it called for.
func (s *Service) worked(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	w := st.Work
	if w == nil || s.Adviser == nil || s.Adviser.Sources == nil { // the operator has changed the settings meanwhile
		return s.endWork(ctx, x, st, r, "it is not allowed any more.")
	}
	call, open := w.next()
	if !open {
		return s.askWorker(ctx, x, st, r)
	}
	done, ready, err := s.use(ctx, x, st, r, call)
	if err != nil || !ready {
		return err
	}
	if w.Over != "" {
		return s.endWork(ctx, x, st, r, w.Over)
	}
	w.answer(call, done)
	x.NotBefore = x.Now
	return nil
}

// next answers the first call that has no result yet.
func (w *work) next() (toolCall, bool) {
	n := len(w.Talk)
	if n == 0 {
		return toolCall{}, false
	}
	last, done := w.Talk[n-1], 0
	if last.Role == llm.User && n > 1 {
		done, last = len(last.Results), w.Talk[n-2]
	}
	if last.Role != llm.Assistant || done >= len(last.Calls) {
		return toolCall{}, false
	}
	return last.Calls[done], true
}

// answer keeps what came of a call.
func (w *work) answer(call toolCall, done toolDone) {
	done.CallID = call.ID
	if len(done.Text) > maxResult {
		done.Text = strings.ToValidUTF8(done.Text[:maxResult], "") + shortened
	}
	if n := len(w.Talk); w.Talk[n-1].Role == llm.User {
		w.Talk[n-1].Results = append(w.Talk[n-1].Results, done)
	} else {
		w.Talk = append(w.Talk, turn{Role: llm.User, Results: []toolDone{done}})
	}
	w.shorten()
}

// size is how many bytes the conversation has.
func (w *work) size() (n int) {
	for _, t := range w.Talk {
		n += len(t.Text)
		for _, c := range t.Calls {
			n += len(c.Arguments)
		}
		for _, d := range t.Results {
			n += len(d.Text)
		}
	}
	return n
}

// shorten takes from the oldest results what is too much, and says so in them.
func (w *work) shorten() {
	over := w.size() - maxTalk
	for i := range max(0, len(w.Talk)-1) {
		for k := range w.Talk[i].Results {
			if d := &w.Talk[i].Results[k]; over > 0 && len(d.Text) > keptResult+len(shortened) {
				over -= len(d.Text)
				d.Text = strings.ToValidUTF8(d.Text[:keptResult], "") + shortened
				over += len(d.Text)
			}
		}
	}
}

// messages puts the conversation as it is asked, with strangers' words between fences.
func (w *work) messages(first, fence string) []llm.Message {
	out := []llm.Message{{Role: llm.User, Text: first}}
	for _, t := range w.Talk {
		m := llm.Message{Role: t.Role, Text: t.Text}
		for _, c := range t.Calls {
			m.Calls = append(m.Calls, llm.Call{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments)})
		}
		for _, d := range t.Results {
			m.Results = append(m.Results, llm.Result{CallID: d.CallID, Text: within(d.Text, fence), Failed: d.Failed})
		}
		out = append(out, m)
	}
	return out
}

func within(text, fence string) string { return fmt.Sprintf("<<<%s\n%s\n%s>>>", fence, text, fence) }

// askWorker asks the model what it wants to do next, within the budgets.
func (s *Service) askWorker(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	a, w := s.Adviser, st.Work
	if w.Turns >= maxTurns {
		return s.endWork(ctx, x, st, r, fmt.Sprintf("it has used up its %d turns.", maxTurns))
	}
	if w.size() > 2*maxTalk {
		return s.endWork(ctx, x, st, r, "its conversation became too long.")
	}
	task, wish, err := s.taskOf(ctx, st, r)
	if f := fault.As(err); f != nil && fault.Permanent(err) {
		return s.endWork(ctx, x, st, r, f.Public())
	}
	if err != nil {
		return err
	}
	fence := rand.Text()
	first := workTask + "\n\n" + within(task, fence)
	if wish != "" {
		first += "\n\n" + workWish + "\n\n" + within(wish, fence)
	}
	ask := llm.Request{System: fmt.Sprintf(workRails, fence), MaxTokens: maxTurnTokens, Tools: tools, Messages: w.messages(first, fence)}
	over, err := s.overBudget(ctx, x, ask, 0)
	if err != nil {
		return err
	}
	if over != "" {
		return s.endWork(ctx, x, st, r, "the budget is used up: "+over)
	}
	reply, err := a.ask(ctx, x, ask)
	switch f := fault.As(err); {
	case ctx.Err() != nil:
		return err // the service stops
	case err == nil:
	case f != nil && f.Kind == fault.TooLarge:
		return s.endWork(ctx, x, st, r, f.Public())
	default:
		if s.silent(x, st, asking{about: "to work on the failure", patient: true}, err) {
			return nil
		}
		return s.endWork(ctx, x, st, r, "it does not answer.")
	}
	u := reply.Usage
	st.Patience = 0
	w.Turns++
	t := turn{Role: llm.Assistant, Text: clip(strings.ToValidUTF8(reply.Text, ""), maxSaying)}
	for _, c := range reply.Calls[:min(len(reply.Calls), maxTogether)] {
		k := keptCall(c)
		if k.ID == "" || len(k.ID) > 200 || slices.ContainsFunc(t.Calls, func(o toolCall) bool { return o.ID == k.ID }) {
			k.ID = fmt.Sprintf("call-%d-%d", w.Turns, len(t.Calls))
		}
		t.Calls = append(t.Calls, k)
	}
	x.Note(agent.Decided, "Turn %d of the model %s: %s (%d and %d tokens, $%.4f)", w.Turns, w.Model, t.words(), u.Input, u.Output, a.Price.Cost(u))
	x.NotBefore = x.Now
	switch {
	case reply.Stop == llm.Refused:
		return s.endWork(ctx, x, st, r, "it does not want to.")
	case len(t.Calls) > 0:
		w.Silent = 0
		w.Talk = append(w.Talk, t)
		return nil
	}
	if w.Silent++; w.Silent == maxSilent {
		return s.endWork(ctx, x, st, r, fmt.Sprintf("it called no tool %d times in a row.", maxSilent))
	}
	t.Text = cmp.Or(t.Text, "(nothing)")
	w.Talk = append(w.Talk, t, turn{Role: llm.User, Text: "Only calls of tools do anything. Call one: finish when the repair is done, give_up when there is none."})
	return nil
}

// keptCall makes of a call what can be kept and sent again.
func keptCall(c llm.Call) toolCall {
	out := toolCall{ID: c.ID, Name: c.Name, Arguments: string(c.Arguments)}
	if !toolName.MatchString(out.Name) {
		out.Name, out.Bad = "unknown", "There is no such tool."
	}
	var object map[string]json.RawMessage
	switch {
	case len(out.Arguments) > maxArguments:
		out.Arguments, out.Bad = "{}", fmt.Sprintf("The arguments have more than %d bytes: do it in smaller pieces.", maxArguments)
	case json.Unmarshal(c.Arguments, &object) != nil || object == nil:
		out.Arguments, out.Bad = "{}", cmp.Or(out.Bad, "The arguments are no JSON object: call it again with one.")
	}
	return out
}

// endWork concludes without a repair of the model's.
func (s *Service) endWork(ctx context.Context, x *agent.Step, st *state, r run.Run, why string) error {
	w := st.Work
	if w == nil {
		return s.conclude(ctx, x, st, r, "")
	}
	w.Over, w.Talk, w.Proving = cmp.Or(why, "it is over."), nil, false
	if h := w.Held; h != nil {
		st.Findings, st.Edits, st.Made, st.Proof, w.Held = h.Findings, h.Edits, h.Made, h.Proof, nil
	}
	x.Patch, x.Changes = "", nil
	said := fmt.Sprintf("A model worked on it in %d turns, and nothing came of it: %s", w.Turns, w.Over)
	for _, i := range st.targets() {
		st.Findings[i].Evidence = append(st.Findings[i].Evidence, said)
	}
	x.Note(agent.Decided, "%s", said)
	return s.conclude(ctx, x, st, r, w.Why)
}

// written takes what came of the proof of a model's repair: it holds, or the model is told why
// not and goes on; false where no proof of a model's work was under way.
func (s *Service) written(x *agent.Step, st *state, trouble string) bool {
	w := st.Work
	if w == nil || !w.Proving || w.Over != "" {
		return false
	}
	if x.Patch != "" {
		w.Over, w.Talk, w.Held = "it is proved.", nil, nil
		return false
	}
	call, open := w.next()
	w.Proving, st.Made, st.Proof, st.Passed = false, nil, nil, nil
	for i := range st.Findings {
		st.Findings[i].Written, st.Findings[i].Outcome = false, ""
	}
	if open {
		w.answer(call, toolDone{Failed: true, Text: "The proof failed, so the repair is not taken. " + trouble + "\nGo on, or give up."})
	}
	x.Note(agent.Decided, "The model's repair does not pass the proof: %s", trouble)
	x.Stage, x.NotBefore, x.Status = stageWork, x.Now, agent.Running
	return true
}
