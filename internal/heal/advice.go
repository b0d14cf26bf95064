package heal

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
)

// What a model may do, and all of it: choose a candidate of the shortlist that nothing forbids,
// or none; say whether two texts mean the same, which is noted; and write a few sentences for
// the pull request. A heal is never asked about, nor an assertion, nor what is a bug of the
// application, of the environment, or flaky. What it chooses is only ever proposed.

// stageAdvise is when a model is asked, one question in each step.
const stageAdvise = "advise"

// secondedP is from which probability on an agreement of the model makes a proposal as good as
// a heal, once all of the proof has passed.
const secondedP = 0.85

// Kinds of questions.
const (
	askChoose  = "choose"
	askWording = "wording"
)

// Answers that are no candidate.
const (
	saidNone   = "none"
	saidSame   = "same meaning"
	saidOther  = "different"
	saidUnsure = "unclear"
)

// Question is what a model is to be asked about a finding. Its data is hidden and clean.
type Question struct {
	Kind    string          `json:"kind"`
	Key     string          `json:"key"` // the same where the same is asked
	Data    json.RawMessage `json:"data"`
	Choices []int           `json:"choices,omitempty"` // indexes of candidates that may be chosen
}

func newQuestion(kind string, data any, choices []int) (*Question, error) {
	text, err := jsonOf(data)
	if err != nil {
		return nil, err
	}
	return &Question{Kind: kind, Key: fmt.Sprintf("%x", sha256.Sum256([]byte(kind+text)))[:16], Data: json.RawMessage(text), Choices: choices}, nil
}

// Advice is what a model answered.
type Advice struct {
	Kind   string `json:"kind"`
	Answer string `json:"answer,omitempty"` // "none", "same meaning", …; "" for no advice
	Choice int    `json:"choice"`           // of the candidates; -1 for none of them
	Reason string `json:"reason,omitempty"`
	Effect string `json:"effect,omitempty"` // what came of it, in words
}

// pageElement is what a model is told of an element: nothing that was typed, no addresses'
// parameters, no attributes but names.
type pageElement struct {
	Index    int      `json:"index,omitempty"`
	Tag      string   `json:"tag,omitempty"`
	Role     string   `json:"role,omitempty"`
	Name     string   `json:"name,omitempty"`
	Text     string   `json:"text,omitempty"`
	TestID   string   `json:"testId,omitempty"`
	ID       string   `json:"id,omitempty"`
	Hint     string   `json:"placeholder,omitempty"`
	Title    string   `json:"title,omitempty"`
	Link     string   `json:"linkTo,omitempty"`
	Headings []string `json:"headings,omitempty"`
	Landmark string   `json:"landmark,omitempty"`
	Row      string   `json:"row,omitempty"`
	Form     string   `json:"form,omitempty"`
	Near     []string `json:"near,omitempty"`
	Path     string   `json:"path,omitempty"`
}

const (
	maxField = 160 // bytes of a field of an element
	maxLists = 3   // entries of its lists
)

func about(e *relocate.Element, hide hiding) pageElement {
	some := func(all []string) (out []string) {
		for _, s := range all[:min(len(all), maxLists)] {
			out = append(out, hide(s, maxField))
		}
		return out
	}
	p := pageElement{Tag: hide(e.Tag, maxField), Role: hide(e.Role, maxField), Name: hide(e.Name, maxField), TestID: hide(e.TestID, maxField), ID: hide(e.ID, maxField), Hint: hide(e.Hint, maxField),
		Title: hide(e.Title, maxField), Headings: some(e.Headings), Landmark: hide(e.Landmark, maxField), Row: hide(e.RowKey, maxField), Form: hide(e.Form, maxField), Near: some(e.Near), Path: hide(e.Path, 2*maxField)}
	if !slices.Contains([]string{"input", "textarea", "select"}, e.Tag) && e.Role != "textbox" && e.Text != e.Name {
		p.Text = hide(e.Text, maxField) // what fields hold was typed
	}
	if e.Href != "" {
		p.Link = hide(pathOf(e.Href), maxField)
	}
	return p
}

type chooseData struct {
	Test       string        `json:"test"`
	Action     string        `json:"action"`
	Locator    string        `json:"locator"`
	Broken     string        `json:"brokenPart"`
	Was        pageElement   `json:"elementThatItFoundBefore"`
	Candidates []pageElement `json:"candidatesNow"`
}

type wordingData struct {
	Expected string `json:"expected"`
	Received string `json:"received"`
}

// question answers what a model is to be asked about a finding; nil for nothing.
func question(f Finding, j Judgement, hide hiding, message string) (*Question, error) {
	switch {
	case f.Class == Wording:
		e, r := expected.FindStringSubmatch(message), received.FindStringSubmatch(message)
		if e == nil || r == nil || f.Step != nil && strings.Contains(f.Step.Matcher, "value") { // what a field holds was typed
			return nil, nil
		}
		return newQuestion(askWording, wordingData{Expected: hide(e[1], maxShown), Received: hide(r[1], maxShown)}, nil)
	case j.Proposal == nil || !slices.Contains([]Class{Drift, Ambiguity, Timing, Unknown}, f.Class):
		return nil, nil
	case f.Outcome != relocate.Propose && f.Outcome != relocate.Report:
		return nil, nil
	case f.Step == nil || f.Step.Method == "expect" || f.Step.Matcher != "" || f.Part < 0 || len(f.Stack) == 0:
		return nil, nil
	}
	p := j.Proposal
	data := chooseData{Test: hide(f.Title, maxField), Action: hide(f.Step.Method, maxField), Locator: hide(f.Step.Locator, maxShown), Broken: hide(f.Before, maxShown)}
	if p.Was.Target != nil {
		data.Was = about(p.Was.Target, hide)
	}
	var choices []int
	for i, c := range p.Answer.Candidates {
		if len(c.Vetoes) > 0 {
			continue // it is not even told
		}
		e := about(c.Element, hide)
		e.Index = i + 1
		data.Candidates, choices = append(data.Candidates, e), append(choices, i)
	}
	if len(choices) == 0 {
		return nil, nil
	}
	return newQuestion(askChoose, data, choices)
}

const chooseTask = `A step of a browser test used to find an element by a locator. The page has changed, and the locator finds nothing any more. The data has the element as it was, and elements of the page as it is now, each with an index.
Which of them is the same control for the same purpose, for a person who uses the page? Elements that only look alike, or do the same to another row or thing, are not it. The element may have been removed: then the answer is "none". When in doubt answer "none".
Answer {"choice": the index as a text, or "none", "reason": one sentence}.`

const wordingTask = `A browser test expected one text, and the page shows another one. Would a user of the page learn exactly the same from both? Another number, name, state or outcome is different.
Answer {"meaning": "same meaning", "different" or "unclear", "reason": one sentence}.`

// asks answers how a question is put; the answer goes into a.
func (q *Question) asks(f *Finding, a *Advice) asking {
	if q.Kind == askWording {
		return asking{about: "whether a new wording says the same", task: wordingTask, data: q.Data, patient: true,
			schema: `{"type":"object","properties":{"meaning":{"type":"string","enum":["same meaning","different","unclear"]},"reason":{"type":"string"}},"required":["meaning","reason"],"additionalProperties":false}`,
			read: func(text string) (string, error) {
				var in struct{ Meaning, Reason string }
				if err := decode(text, &in); err != nil {
					return "", err
				}
				if !slices.Contains([]string{saidSame, saidOther, saidUnsure}, in.Meaning) {
					return "", errors.New("since it is none of the three")
				}
				a.Answer, a.Reason = in.Meaning, saidBy(in.Reason)
				return fmt.Sprintf("%s, “%s”", a.Answer, a.Reason), nil
			}}
	}
	indexes := []string{strconv.Quote(saidNone)}
	for _, i := range q.Choices {
		indexes = append(indexes, strconv.Quote(strconv.Itoa(i+1)))
	}
	return asking{about: fmt.Sprintf("which of %d candidates %s used to find", len(q.Choices), quoted(f.Before)), task: chooseTask, data: q.Data, patient: true,
		schema: `{"type":"object","properties":{"choice":{"type":"string","enum":[` + strings.Join(indexes, ",") + `]},"reason":{"type":"string"}},"required":["choice","reason"],"additionalProperties":false}`,
		read: func(text string) (string, error) {
			var in struct{ Choice, Reason string }
			if err := decode(text, &in); err != nil {
				return "", err
			}
			if !slices.Contains(indexes, strconv.Quote(in.Choice)) {
				return "", errors.New("since it is none of the shortlist")
			}
			a.Answer, a.Reason = in.Choice, saidBy(in.Reason)
			if n, err := strconv.Atoi(in.Choice); err == nil {
				a.Choice = n - 1
				return fmt.Sprintf("number %d, %s, “%s”", n, quoted(f.Candidates[a.Choice].Label), a.Reason), nil
			}
			return fmt.Sprintf("none of them, “%s”", a.Reason), nil
		}}
}

// advise goes on with what was found out: by asking a model first, where there is one and
// something is not sure. had is how many edits were tried already, why what is said where no
// other one is found.
func (s *Service) advise(ctx context.Context, x *agent.Step, st *state, r run.Run, had int, why string) error {
	st.Had, st.NoMore = had, why
	if !slices.ContainsFunc(st.Findings, func(f Finding) bool { return f.Question != nil }) {
		return s.goOn(ctx, x, st, r)
	}
	x.Stage, x.NotBefore = stageAdvise, x.Now
	return nil
}

// advised asks the next question, or, when all are answered, goes on with the answers.
func (s *Service) advised(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	for i := range st.Findings {
		f := &st.Findings[i]
		if f.Question == nil {
			continue
		}
		key := f.Question.Key
		if _, known := st.Advice[key]; known {
			continue
		}
		a := Advice{Kind: f.Question.Kind, Choice: -1}
		_, later, err := s.put(ctx, x, st, f.Question.asks(f, &a))
		if err != nil || later {
			return err
		}
		if st.Advice == nil {
			st.Advice = map[string]Advice{}
		}
		st.Advice[key] = a
		x.NotBefore = x.Now // the answer is saved before anything comes of it
		return nil
	}
	for i := range st.Findings {
		if f := &st.Findings[i]; f.Question != nil {
			st.heed(f, st.Advice[f.Question.Key])
			f.Question = nil
			if f.Advice != nil && f.Advice.Effect != "" {
				x.Note(agent.Decided, "%s: %s", f.Title, f.Advice.Effect)
			}
		}
	}
	st.dropEdits()
	return s.goOn(ctx, x, st, r)
}

// heed makes of an answer what may come of it.
func (st *state) heed(f *Finding, a Advice) {
	if a.Answer == "" {
		return
	}
	q := f.Question
	switch {
	case q.Kind == askWording:
		a.Effect = fmt.Sprintf("A model was asked whether the new wording says the same: %s. “%s” No assertion is changed.", a.Answer, a.Reason)
	case a.Choice < 0 && f.Outcome == relocate.Propose:
		f.Edit, f.Outcome, f.After = -1, relocate.Report, ""
		f.Why = "One element is likely to be it, but not surely enough, and a model takes none of them for it."
		a.Effect = fmt.Sprintf("A model takes no candidate for the element: “%s” Nothing is proposed.", a.Reason)
	case a.Choice < 0:
		a.Effect = fmt.Sprintf("A model takes no candidate for the element either: “%s”", a.Reason)
	case !slices.Contains(q.Choices, a.Choice) || a.Choice >= len(f.Candidates) || len(f.Candidates[a.Choice].Vetoes) > 0:
		return // it was never offered
	case a.Choice == 0 && f.Outcome == relocate.Propose && f.Edit >= 0:
		f.Seconded = f.P >= secondedP
		a.Effect = fmt.Sprintf("A model takes the same candidate for the element: “%s”", a.Reason)
	default:
		st.chosen(f, &a)
	}
	f.Advice = &a
	f.Evidence = append(f.Evidence, a.Effect)
}

// chosen proposes the candidate that a model chose, with the repair that a person's choice
// would have.
func (st *state) chosen(f *Finding, a *Advice) {
	c := f.Candidates[a.Choice]
	if c.Rival == "" {
		f.Edit, f.Outcome, f.After = -1, relocate.Report, ""
		a.Effect = fmt.Sprintf("A model takes %s for the element: “%s” Nothing names it that would find it alone.", c.Label, a.Reason)
		return
	}
	if f.Class == Unknown {
		f.Class = Drift
	}
	f.After, f.Outcome, f.ByModel, f.Seconded = c.Rival, relocate.Propose, true, false
	f.P, f.Margin = min(f.P, c.Share), 0
	f.Confidence = f.P
	f.Why = "A model chose the element."
	f.Candidates = append([]CandidateSeen{c}, slices.Delete(slices.Clone(f.Candidates), a.Choice, a.Choice+1)...)
	edit := attempt.Edit{Stack: f.Stack, Locator: f.Step.Locator, Part: f.Part, Through: f.Through, Replacement: c.Rival}
	if f.Edit = slices.IndexFunc(st.Edits, func(e attempt.Edit) bool { return sameEdit(e, edit) }); f.Edit < 0 {
		st.Edits, f.Edit = append(st.Edits, edit), len(st.Edits)
	}
	a.Effect = fmt.Sprintf("A model takes %s for the element: “%s” It is tried, and only proposed.", c.Label, a.Reason)
}

// dropEdits strikes the edits of this round that no finding wants any more.
func (st *state) dropEdits() {
	for i := len(st.Edits) - 1; i >= st.Had; i-- {
		if slices.ContainsFunc(st.Findings, func(f Finding) bool { return f.Edit == i }) {
			continue
		}
		st.Edits = slices.Delete(st.Edits, i, i+1)
		for k := range st.Findings {
			if st.Findings[k].Edit > i {
				st.Findings[k].Edit--
			}
		}
	}
}

// goOn tries what was found, or ends where there is nothing new to try.
func (s *Service) goOn(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	if len(st.Edits) > st.Had {
		if st.Had > 0 {
			x.Note(agent.Decided, "Behind the repaired locator another one is broken: it is repaired as well.")
			st.Round++
		}
		return s.prove(ctx, x, st, r)
	}
	if st.Had > 0 {
		x.Patch, x.Changes = "", nil
	}
	return s.conclude(ctx, x, st, r, st.NoMore)
}

// lift makes heals of proposals that are as good.
func (st *state) lift(x *agent.Step) {
	for i := range st.Findings {
		switch f := &st.Findings[i]; {
		case st.lifted(*f):
			f.Outcome = relocate.Heal
			x.Note(agent.Decided, "%s: a model agrees, and all of the proof has passed, so it is more than a proposal.", f.Title)
		case st.doesTheSame(*f):
			f.Outcome = relocate.Heal
			x.Note(agent.Decided, "%s: nothing names the element as it did, but it does what it did, so it is more than a proposal.", f.Title)
		}
	}
}

// doesTheSame reports whether a repair that only its names speak against was seen to do what the
// step did: it has the effect outside the page that it had, or the test fails when it has none.
func (st *state) doesTheSame(f Finding) bool {
	limits, p := relocate.DefaultLimits(), st.Proof
	return f.ByDeed && !f.Chosen && !f.ByModel && f.Edit >= 0 && f.Outcome == relocate.Propose && f.P >= limits.Heal && f.Margin >= limits.Margin &&
		len(f.Candidates) > 0 && len(f.Candidates[0].Vetoes) == 0 && p != nil && p.Passed && len(p.SharedFailed) == 0 && (f.EffectSeen || st.provedByDoing(&f))
}

// lifted reports whether a proposal is as good as a heal: a model that knew nothing of the
// ranking took the same element, and the whole proof of this very repair has passed, with
// nothing that the test does not notice.
func (st *state) lifted(f Finding) bool {
	p := st.Proof
	return f.Seconded && !f.ByModel && f.Edit >= 0 && f.Outcome == relocate.Propose && f.P >= secondedP && p != nil && p.Passed && len(p.SharedFailed) == 0 &&
		slices.ContainsFunc(p.Sabotage, func(b Sabotage) bool { return b.Edit == f.Edit }) && len(p.survivors()) == 0
}

type proseData struct {
	Test   string   `json:"test"`
	Class  Class    `json:"class"`
	Why    string   `json:"why"`
	Before string   `json:"locatorBefore"`
	After  string   `json:"locatorAfter"`
	Was    []string `json:"evidence,omitempty"`
	Proof  string   `json:"proof,omitempty"`
}

const proseTask = `A repair of a browser test was found and proved. The data says which. Write two or three plain sentences for the reviewer of the pull request: what changed on the page, as far as the data shows it, and why the new locator means the same element.
No Markdown, no code, no links, no greetings. Do not say that it is safe or should be merged.
Answer {"text": the sentences}.`

// maxProse bounds what a model writes for a pull request, in bytes.
const maxProse = 700

// explain has a model write a few words for the pull request.
func (s *Service) explain(ctx context.Context, x *agent.Step, st *state, r run.Run) error {
	st.ProseAsked, x.NotBefore = true, x.Now
	all := st.repairs()
	hide, err := s.hider(ctx, r)
	if len(all) == 0 || err != nil && fault.Permanent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var data []proseData
	for _, f := range all[:min(len(all), maxLists)] {
		d := proseData{Test: hide(f.Title, maxField), Class: f.Class, Why: hide(f.Why, maxShown), Before: hide(f.Before, maxShown), After: hide(f.After, maxShown)}
		for _, e := range f.Evidence[:min(len(f.Evidence), maxLists)] {
			d.Was = append(d.Was, hide(e, maxShown))
		}
		if p := st.Proof; p != nil {
			d.Proof = fmt.Sprintf("passed %d of %d times; of %d ways to break the application it noticed %d", p.Good, p.Ran, len(p.Sabotage), len(p.Sabotage)-len(p.survivors()))
		}
		data = append(data, d)
	}
	_, _, err = s.put(ctx, x, st, asking{about: "for a few words about the repair", task: proseTask, data: data,
		schema: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`,
		read: func(text string) (string, error) {
			var in struct{ Text string }
			if err := decode(text, &in); err != nil {
				return "", err
			}
			if !plain(in.Text) {
				return "", errors.New("since it is not plain text of two or three sentences")
			}
			st.Prose = clean(in.Text, maxProse)
			return fmt.Sprintf("“%s”", saidBy(st.Prose)), nil
		}})
	return err
}

var (
	leads  = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://|\b(?:mailto|javascript|data):|\bwww\.|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|ai|co|info|biz|xyz|me|ru|cn|de|uk|eu|sh|gg|ly|to)\b`)
	markup = regexp.MustCompile("[<>`|\\[\\]\\\\]|\\*\\*|__|~~|(?m)^\\s*(?:#{1,6}\\s|[-*+]\\s|\\d+\\.\\s|>)|&[#a-zA-Z0-9]+;|!\\[")
)

// plain reports whether a model's text may stand in a pull request: no address, no markup, not
// empty, not long.
func plain(s string) bool {
	return strings.TrimSpace(s) != "" && len(s) <= maxProse && !leads.MatchString(s) && !markup.MatchString(s)
}
