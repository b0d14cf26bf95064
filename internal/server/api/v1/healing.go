package v1

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/agent"
	"tas-service/internal/heal"
	"tas-service/internal/server/route"
)

func (a *API) mountHealing(h huma.API) {
	huma.Register(h, huma.Operation{OperationID: "start-healing", Method: http.MethodPost, Path: "/auto-heal", Tags: []string{"Healing"}, DefaultStatus: http.StatusCreated,
		Summary:     "Heal the failing tests of a run",
		Description: "Starts a session for all failures that have one cause. Each finds out why its tests fail, repairs what drifted, proves the repair and opens a pull request with it. Poll the batch until allTerminal is true.",
		Errors:      route.Statuses(http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)}, route.Handle(a.startHealing))
	huma.Register(h, huma.Operation{OperationID: "get-healing", Method: http.MethodGet, Path: "/auto-heal/batch/{batchId}", Tags: []string{"Healing"},
		Summary: "Read the progress of a healing", Errors: route.Statuses(http.StatusNotFound)}, route.Handle(a.healing))
}

// HealingIn starts a healing.
type HealingIn struct {
	OnceKey string `header:"Idempotency-Key" doc:"Makes the call safe to repeat for 24 hours: the same key with the same body answers the batch that was started first"`
	Body    struct {
		TestRunID    string         `json:"testRunId" doc:"The runId that the call which started the run answered, never the job name"`
		TestIDs      []string       `json:"testIds,omitempty" maxItems:"5000" doc:"Only these of the run's failures; absent for all"`
		AutoCreatePR *bool          `json:"autoCreatePR,omitempty" doc:"Open a pull request with a repair; default true. Otherwise it is kept in the session."`
		Branch       string         `json:"branch,omitempty" doc:"The branch that a pull request is to be merged into; default the one that the run executed"`
		RepoName     string         `json:"repoName,omitempty" doc:"owner/repo of the pull request prNumber; may be left out where there is only one"`
		PRNumber     int            `json:"prNumber,omitempty" doc:"The pull request that is told what came of it"`
		Metadata     map[string]any `json:"metadata,omitempty" doc:"Kept as it is"`
	}
}

// HealingStarted is the answer to it.
type HealingStarted struct {
	Location string `header:"Location"`
	Body     struct {
		BatchID    string   `json:"batchId" format:"uuid"`
		SessionIDs []string `json:"sessionIds"`
		Links      struct {
			Session string `json:"session" doc:"Where a person sees the first session"`
			TestRun string `json:"testRun"`
		} `json:"links"`
	}
}

func (a *API) startHealing(ctx context.Context, in *HealingIn) (*HealingStarted, error) {
	b := in.Body
	w := agent.Wish{AutoCreatePR: b.AutoCreatePR == nil || *b.AutoCreatePR, Branch: b.Branch, RepoName: b.RepoName, PRNumber: b.PRNumber, Metadata: b.Metadata}
	started, err := a.Healing.Start(ctx, route.ActorOf(ctx), heal.StartInput{RunID: strings.TrimSpace(b.TestRunID), TestIDs: b.TestIDs, Wish: w, OnceKey: in.OnceKey})
	if err != nil {
		return nil, err
	}
	out := &HealingStarted{Location: Prefix + "/auto-heal/batch/" + started.ID}
	out.Body.BatchID, out.Body.SessionIDs = started.ID, []string{}
	for _, s := range started.Sessions {
		out.Body.SessionIDs = append(out.Body.SessionIDs, s.ID)
	}
	if len(started.Sessions) > 0 {
		out.Body.Links.Session = a.SessionURL(started.Sessions[0].ID)
	}
	out.Body.Links.TestRun = a.Runs.PageURL(started.RunID)
	return out, nil
}

type healingIn struct {
	BatchID string `path:"batchId" doc:"That POST /auto-heal answered, or healBatchId of a run"`
}

// FileChange is how much of a file a session changes.
type FileChange struct {
	Path      string `json:"path"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
}

// TestOutcome is what came of one test.
type TestOutcome struct {
	ServiceTestID string   `json:"serviceTestId"`
	Browser       string   `json:"browser"`
	Title         string   `json:"title"`
	Outcome       string   `json:"outcome" enum:"healed,application-bug,flaky,environment,not-healable"`
	Class         string   `json:"class" doc:"Why it failed, such as locator-drift"`
	Confidence    float64  `json:"confidence" doc:"From 0 to 1"`
	Evidence      []string `json:"evidence"`
}

// SessionMessage is one thing that a session did, and why.
type SessionMessage struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind" enum:"read,ran,changed,decided,said,trouble"`
	Text string    `json:"text"`
}

// SessionUsage is what a session has used up.
type SessionUsage struct {
	InputTokens  int64   `json:"inputTokens"`
	OutputTokens int64   `json:"outputTokens"`
	CostUSD      float64 `json:"costUsd"`
}

// Session is one session of a batch.
type Session struct {
	SessionID   string           `json:"sessionId" format:"uuid"`
	Kind        string           `json:"kind"`
	Status      string           `json:"status" enum:"queued,cloning,running,waiting-for-input,verifying,completed,failed,cancelled"`
	Stage       string           `json:"stage"`
	TestIDs     []string         `json:"testIds"`
	Outcome     []TestOutcome    `json:"outcome"`
	Summary     string           `json:"summary"`
	PRURL       *string          `json:"prUrl"`
	PRState     *string          `json:"prState" doc:"requested, open, merged, closed or refused"`
	FileChanges []FileChange     `json:"fileChanges"`
	Messages    []SessionMessage `json:"messages" doc:"The latest"`
	Error       *RunProblem      `json:"error"`
	Usage       SessionUsage     `json:"usage"`
	StartedAt   *time.Time       `json:"startedAt"`
	FinishedAt  *time.Time       `json:"finishedAt"`
	URL         string           `json:"url"`
}

// RunProblem is why a session could not do its work.
type RunProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type healingOut struct {
	Body struct {
		BatchID     string         `json:"batchId" format:"uuid"`
		Kind        string         `json:"kind"`
		AllTerminal bool           `json:"allTerminal" doc:"True when every session has ended"`
		Counts      map[string]int `json:"counts" doc:"Sessions by status"`
		Sessions    []Session      `json:"sessions"`
	}
}

// latestMessages is how many messages of a session are answered.
const latestMessages = 20

func (a *API) healing(ctx context.Context, in *healingIn) (*healingOut, error) {
	actor := route.ActorOf(ctx)
	p, err := a.Healing.Agents.Progress(ctx, actor, agent.Heal, strings.ToLower(strings.TrimSpace(in.BatchID)))
	if err != nil {
		return nil, err
	}
	out := &healingOut{}
	out.Body.BatchID, out.Body.Kind, out.Body.AllTerminal, out.Body.Sessions, out.Body.Counts = p.ID, string(p.Kind), p.AllTerminal(), []Session{}, map[string]int{}
	for _, st := range agent.Statuses() {
		out.Body.Counts[string(st)] = 0
	}
	for _, x := range p.Sessions {
		out.Body.Counts[string(x.Status)]++
		events, err := a.Healing.Agents.Latest(ctx, actor, x.ID, latestMessages)
		if err != nil {
			return nil, err
		}
		out.Body.Sessions = append(out.Body.Sessions, a.session(x, events))
	}
	return out, nil
}

func (a *API) session(x agent.Session, events []agent.Event) Session {
	s := Session{SessionID: x.ID, Kind: string(x.Kind), Status: string(x.Status), Stage: x.Stage, TestIDs: x.TestIDs, Outcome: []TestOutcome{}, Summary: x.Summary, FileChanges: []FileChange{}, Messages: []SessionMessage{},
		Usage: SessionUsage{InputTokens: x.Usage.InputTokens, OutputTokens: x.Usage.OutputTokens, CostUSD: x.Usage.CostUSD}, StartedAt: x.StartedAt, FinishedAt: x.FinishedAt, URL: a.SessionURL(x.ID)}
	if x.Stage == "" {
		s.Stage = string(x.Status)
	}
	for _, o := range x.Outcomes {
		s.Outcome = append(s.Outcome, TestOutcome{ServiceTestID: o.TestID, Browser: o.Browser, Title: o.Title, Outcome: string(o.Outcome), Class: o.Class, Confidence: o.Confidence, Evidence: append([]string{}, o.Evidence...)})
	}
	for _, c := range x.Changes {
		s.FileChanges = append(s.FileChanges, FileChange(c))
	}
	for _, e := range events {
		s.Messages = append(s.Messages, SessionMessage{At: e.At, Kind: string(e.Kind), Text: e.Text})
	}
	if p := x.Pull; p != nil {
		s.PRState = &p.State
		if p.URL != "" {
			s.PRURL = &p.URL
		}
	}
	if x.Problem != nil {
		s.Error = &RunProblem{Code: x.Problem.Code, Message: x.Problem.Message}
	}
	return s
}
