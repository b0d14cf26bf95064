package heal

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/agent"
	"tas-service/internal/artifact"
	"tas-service/internal/bug"
	"tas-service/internal/checkout"
	"tas-service/internal/evidence"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/pull"
	"tas-service/internal/relocate"
	"tas-service/internal/run"
)

// Records is what healing needs to know of runs.
type Records interface {
	Run(ctx context.Context, id string) (run.Run, error)
	Results(ctx context.Context, q run.ResultQuery) ([]run.Result, error)
	Artifacts(ctx context.Context, runID, testID string) ([]artifact.Artifact, error)
	Past(ctx context.Context, q run.PastQuery) ([]run.Past, error)
	UpdateRun(ctx context.Context, id string, change func(*run.Run) error) error
}

// Sessions is what healing keeps besides what package agent does.
type Sessions interface {
	agent.Store
	// SessionsOfPull answers the sessions that asked for a pull request by a key.
	SessionsOfPull(ctx context.Context, projectID, key string) ([]agent.Session, error)
}

// Service heals failing tests.
type Service struct {
	Store    Sessions
	Agents   *agent.Service
	Records  Records
	Runs     *run.Service
	Projects project.Store
	Shelf    *evidence.Shelf
	Blobs    artifact.Blobs
	Bugs     *bug.Service
	Pulls    Pulls
	Model    *relocate.Model
	Adviser  *Adviser // a language model that may be asked; nil for none
	Clock    func() time.Time
	Log      *slog.Logger
	// SessionURL and RunURL answer where a person sees a session, and a run.
	SessionURL func(id string) string
	RunURL     func(id string) string

	recovering struct {
		once   sync.Once
		places chan struct{}
	}
}

// Pulls is how a repair is delivered.
type Pulls interface {
	Propose(ctx context.Context, projectID string, p pull.Proposal, askedBy string) (action.Action, error)
	// Proposed answers what became of a proposal: nil until it is done or refused.
	Proposed(ctx context.Context, projectID, actionID string) (*pull.Opened, action.State, string, error)
	PullRepo(ctx context.Context, p project.Project, name string) (string, error)
	// Remark keeps a sticky comment on a pull request; one for each topic.
	Remark(ctx context.Context, projectID string, at run.Pull, topic, body, about, askedBy string) error
}

// StartInput asks for the failures of a run to be healed.
type StartInput struct {
	RunID   string
	TestIDs []string // only these; empty for all that failed
	Wish    agent.Wish
	// OnceKey, when set, makes a repeated call with the same input answer the first one's batch.
	OnceKey string `json:"-"`
}

// Started is a batch with its sessions.
type Started struct {
	agent.Batch
	Sessions []agent.Session
}

// Bounds of a batch.
const (
	maxGroups = 50  // sessions of one batch
	maxTests  = 300 // results of one session; further ones that fail in the same way are left out
)

// lost are errors after which nothing is known of what the test itself would say.
var lost = []string{run.CodeShardLost, run.CodeNotReported, run.CodeDidNotRun, run.CodeCancelled, run.CodeInterrupted}

// Start makes sessions for the failures of a run: one for all that have one cause. Errors:
// fault.Conflict for a run that goes on or has nothing to heal, and without a tests
// repository; fault.Invalid for what the input gets wrong.
func (s *Service) Start(ctx context.Context, actor account.Actor, in StartInput) (Started, error) {
	return s.start(ctx, actor, in, false)
}

func (s *Service) start(ctx context.Context, actor account.Actor, in StartInput, onlyFirst bool) (Started, error) {
	r, err := s.Runs.Get(ctx, actor, in.RunID)
	if err != nil {
		return Started{}, err
	}
	if err := actor.MayAs(account.RoleMember, r.ProjectID, "run"); err != nil {
		return Started{}, err
	}
	p, err := s.Projects.Project(ctx, r.ProjectID)
	if err != nil {
		return Started{}, err
	}
	switch {
	case r.Trial != nil:
		return Started{}, actor.May("", "run")
	case !r.Terminal():
		return Started{}, fault.New(fault.Conflict, "The run has not finished, so its failures cannot be healed yet.").
			WithFix("Poll GET /execution/status/run/%s until isTerminal is true.", r.ID)
	case !p.HasTestsRepo():
		return Started{}, fault.New(fault.Conflict, "This project has no tests repository connected.").
			WithFix("Connect one in the project's settings, run the tests, then heal that run.")
	}
	in.RunID = r.ID
	if err := s.check(ctx, p, &in); err != nil {
		return Started{}, err
	}
	once, err := run.NewOnce(in.OnceKey, in)
	if err != nil {
		return Started{}, err
	}
	failed, err := s.failed(ctx, r)
	if err != nil {
		return Started{}, err
	}
	if failed, err = chosen(failed, in.TestIDs); err != nil {
		return Started{}, err
	}
	if len(failed) == 0 || r.Commit == "" {
		return Started{}, fault.New(fault.Conflict, "There is nothing to heal in this run: %s", nothing(r)).
			WithFix("Heal a run in which tests failed.")
	}
	now := s.Clock().UTC()
	b := agent.Batch{ID: newID(), ProjectID: p.ID, Kind: agent.Heal, RunID: r.ID, Wish: in.Wish, AskedBy: actor.By(), CreatedAt: now}
	var ss []agent.Session
	for _, g := range groups(failed) {
		st := state{}
		var ids []string
		st.Left = max(0, len(g)-maxTests)
		for _, x := range g[:min(len(g), maxTests)] {
			st.Failures = append(st.Failures, failureOf(x))
			if !slices.Contains(ids, x.TestID) {
				ids = append(ids, x.TestID)
			}
		}
		ss = append(ss, agent.Session{ID: newID(), BatchID: b.ID, ProjectID: p.ID, RunID: r.ID, Kind: agent.Heal, Status: agent.Queued,
			Title: title(g), TestIDs: ids, State: st.save(), CreatedAt: now})
	}
	earlier, err := s.Store.CreateBatch(ctx, b, ss, (*agent.Once)(once), onlyFirst)
	if err != nil {
		return Started{}, err
	}
	if earlier != nil {
		known, err := s.Agents.Progress(ctx, actor, agent.Heal, earlier.ID)
		return Started(known), err
	}
	s.Agents.Wake()
	return Started{Batch: b, Sessions: ss}, nil
}

func (s *Service) check(ctx context.Context, p project.Project, in *StartInput) error {
	bad := fault.New(fault.Invalid, "The healing cannot be started as it was asked for.").WithFix("Correct the fields named in errors.")
	w := &in.Wish
	if w.Branch != "" && !checkout.ValidBranch(w.Branch) {
		bad.At("body.branch", "this cannot be the name of a git branch")
	}
	if w.PRNumber < 0 {
		bad.At("body.prNumber", "the number of a pull request, from 1")
	}
	if w.PRNumber > 0 {
		repo, err := s.Pulls.PullRepo(ctx, p, w.RepoName)
		if f := fault.As(err); f != nil && f.Kind == fault.Invalid {
			bad.Details = append(bad.Details, f.Details...)
		} else if err != nil {
			return err
		}
		w.RepoName = repo
	}
	if len(in.TestIDs) > run.MaxTestIDs {
		bad.At("body.testIds", "at most %d IDs", run.MaxTestIDs)
	}
	if len(bad.Details) > 0 {
		return bad
	}
	return nil
}

// failed answers what failed in a run by itself, and what passed only because it was recovered
// while it ran; what a person called a bug is left alone.
func (s *Service) failed(ctx context.Context, r run.Run) (out []run.Result, err error) {
	for x, err := range run.AllResults(ctx, s.Records, run.ResultQuery{RunID: r.ID, Statuses: []run.Status{run.StatusFailed, run.StatusRecovered}}) {
		if err != nil {
			return nil, err
		}
		if x.Error == nil || !slices.Contains(lost, x.Error.Code) {
			out = append(out, x)
		}
	}
	return out, nil
}

// chosen answers the failures of some tests: fault.Invalid where one of them did not fail.
func chosen(failed []run.Result, ids []string) ([]run.Result, error) {
	if len(ids) == 0 {
		return failed, nil
	}
	var out []run.Result
	var bad *fault.Error
	for i, id := range ids {
		id = strings.ToLower(id)
		found := false
		for _, x := range failed {
			if x.TestID == id {
				out, found = append(out, x), true
			}
		}
		if !found {
			if bad == nil {
				bad = fault.New(fault.Invalid, "The healing cannot be started as it was asked for.").WithFix("Correct the fields named in errors.")
			}
			bad.At(fmt.Sprintf("body.testIds[%d]", i), "%.64q did not fail in this run; GET /test-runs/{id}/results?status=failed lists what did", id)
		}
	}
	if bad != nil {
		return nil, bad
	}
	return out, nil
}

func nothing(r run.Run) string {
	switch {
	case r.Verdict == run.Pass:
		return "it passed."
	case r.Error != nil:
		return "no test failed by itself. The run ended so: " + r.Error.Message
	}
	return "no test failed by itself."
}

// groups sorts failures by their cause, as far as it shows in what they say, in the order in
// which they came.
func groups(failed []run.Result) (out [][]run.Result) {
	at := map[string]int{}
	for _, x := range failed {
		key := x.BugKey
		if key == "" {
			key = "test " + x.TestID
		}
		if all := x.Recovered(); len(all) > 0 {
			key = fmt.Sprintf("recovered %s:%d %s", all[0].File, all[0].Line, all[0].Before)
		}
		i, ok := at[key]
		if !ok && len(out) == maxGroups {
			i, ok = maxGroups-1, true
		}
		if !ok {
			i = len(out)
			out = append(out, nil)
		}
		at[key] = i
		out[i] = append(out[i], x)
	}
	return out
}

func title(g []run.Result) string {
	x := g[0]
	name := cmp.Or(strings.Join(x.TitlePath, " › "), x.Title)
	tests := map[string]bool{}
	for _, o := range g {
		tests[o.TestID] = true
	}
	if n := len(tests) - 1; n > 0 {
		return fmt.Sprintf("%s, and %d more", name, n)
	}
	return name
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString()
	}
	return id.String()
}

// RunEnded is for a run.Announcer: it starts what a run's caller asked for in advance, and
// proposes what would make a recovery needless.
func (s *Service) RunEnded(ctx context.Context, r run.Run) error {
	h := r.AutoHeal
	wanted := h != nil && r.Phase == run.Failed
	if r.Counts.Recovered == 0 && !wanted || r.HealBatch != "" || r.Trial != nil {
		return nil
	}
	in := StartInput{RunID: r.ID, Wish: agent.Wish{AutoCreatePR: true}}
	if h != nil {
		in.Wish = agent.Wish{AutoCreatePR: h.AutoCreatePR, Branch: h.Branch, RepoName: h.RepoName, PRNumber: h.PRNumber, Metadata: h.Metadata}
	}
	if !wanted {
		var err error
		if in.TestIDs, err = s.recovered(ctx, r); err != nil || len(in.TestIDs) == 0 {
			return err
		}
	}
	_, err := s.start(ctx, account.Actor{ProjectID: r.ProjectID, Via: account.ViaService}, in, true)
	if err == nil || !fault.Permanent(err) {
		return err
	}
	return s.Records.UpdateRun(ctx, r.ID, func(r *run.Run) error {
		f := fault.As(err)
		text := f.Public()
		for _, d := range f.Details {
			text += " " + d.Path + ": " + d.Message
		}
		r.Warn("auto-heal-impossible", "The failures are not healed: "+text)
		return nil
	})
}

// recovered answers the tests that passed in a run because they were recovered, and for which
// no pull request waits yet.
func (s *Service) recovered(ctx context.Context, r run.Run) (ids []string, err error) {
	all, err := s.failed(ctx, r)
	if err != nil {
		return nil, err
	}
	waits, err := s.waiting(ctx, r.ProjectID)
	for _, x := range all {
		if x.Status == run.StatusRecovered && !waits[x.TestID] && !slices.Contains(ids, x.TestID) && len(ids) < run.MaxTestIDs {
			ids = append(ids, x.TestID)
		}
	}
	return ids, err
}

// Sessions among which a repair that waits is looked for.
const (
	waitsFor    = 14 * 24 * time.Hour
	waitsLooked = 500
)

// waiting answers the tests that a pull request would heal which is not merged yet.
func (s *Service) waiting(ctx context.Context, projectID string) (map[string]bool, error) {
	out := map[string]bool{}
	all, err := s.Store.AgentSessions(ctx, agent.Query{ProjectID: projectID, Since: s.Clock().Add(-waitsFor), Limit: waitsLooked})
	for _, x := range all {
		if x.Pull == nil || x.Pull.State != "open" && x.Pull.State != "requested" {
			continue
		}
		for _, o := range x.Outcomes {
			out[o.TestID] = out[o.TestID] || o.Outcome == agent.Healed
		}
	}
	return out, err
}
