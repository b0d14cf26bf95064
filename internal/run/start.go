package run

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/project"
)

// Bounds of a start request.
const (
	MinShards  = 2
	MaxShards  = 40
	MaxWorkers = 8 // in each shard
	MaxTestIDs = 5000
)

// StartInput is what a caller asks for.
type StartInput struct {
	Selection    Selection
	Branch       string
	Environment  string `json:",omitempty"` // of the project; "" for its default
	EnvOverrides map[string]string
	ShardCount   int // 0: not sharded
	Workers      int // 0: the project's setting
	AutoHeal     *AutoHeal
	Trigger      Trigger
	Pull         *Pull `json:",omitempty"` // an empty Repo means the only one that there is
	// OnceKey, when set, makes a repeated call with the same input answer the first one's run.
	OnceKey string
}

// Once identifies a call that may arrive more than once.
type Once struct {
	Key         string
	Fingerprint string // of what was asked for
}

// OnceFor is how long a OnceKey is remembered.
const OnceFor = 24 * time.Hour

// maxOnceKey bounds its length in bytes.
const maxOnceKey = 255

// Start records a new run, which the reconcilers then execute. Errors: fault.Invalid for
// what the input gets wrong, fault.Conflict without a tests repository.
func (s *Service) Start(ctx context.Context, actor account.Actor, in StartInput) (Run, error) {
	if err := actor.MayAs(account.RoleMember, actor.ProjectID, "project"); err != nil {
		return Run{}, err
	}
	asked := in
	asked.OnceKey = ""
	once, err := NewOnce(in.OnceKey, asked)
	if err != nil {
		return Run{}, err
	}
	p, err := s.Projects.Project(ctx, actor.ProjectID)
	if err != nil {
		return Run{}, err
	}
	if err := s.check(ctx, p, &in); err != nil {
		return Run{}, err
	}
	if sel := &in.Selection; sel.Kind == SelectCollection {
		c, err := s.Collections.Collection(ctx, p.ID, sel.CollectionID)
		if err != nil {
			return Run{}, err
		}
		sel.CollectionID, sel.TestIDs, sel.Rule = c.ID, c.TestIDs, c.Rule
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Run{}, fault.Wrap(err, fault.Internal, "make an ID")
	}
	workers := in.Workers
	switch {
	case workers > 0:
	case in.ShardCount > 0:
		workers = 1
	default:
		workers = p.Workers
	}
	r := Run{
		ID: id.String(), ProjectID: p.ID, Name: jobName(p.Slug), Trigger: in.Trigger,
		Phase: Queued, Verdict: Pending, Selection: in.Selection, Branch: in.Branch, OnDefault: in.Branch == "" || in.Branch == p.Repository.Branch,
		Environment: in.Environment, EnvOverrides: in.EnvOverrides, ShardCount: in.ShardCount, Workers: workers, AutoHeal: in.AutoHeal, Pull: in.Pull, StartedBy: startedBy(actor), CreatedAt: s.Clock().UTC(),
	}
	if h := in.AutoHeal; h != nil && h.PRNumber > 0 && in.Pull == nil {
		// Said for healing; told as well, where it can be.
		switch repo, err := s.Pulls.PullRepo(ctx, p, h.RepoName); {
		case err == nil:
			r.Pull = &Pull{Repo: repo, Number: h.PRNumber}
		case fault.KindOf(err) == fault.Invalid:
			r.Warn("pull-request-unreachable", "The result is not told on the pull request of autoHeal: "+fault.As(err).Details[0].Message)
		default:
			return Run{}, err
		}
	}
	earlier, err := s.Store.CreateRun(ctx, &r, once)
	switch {
	case err != nil:
		return Run{}, err
	case earlier != nil:
		return *earlier, nil
	}
	s.changed(&r)
	s.Wake()
	if s.Started != nil {
		s.Started(ctx, r)
	}
	return r, nil
}

// startedBy answers what a run keeps of who started it: of calls, the trigger says enough.
func startedBy(a account.Actor) string {
	if a.Via != account.ViaSession {
		return ""
	}
	return a.By()
}

// NewOnce answers the identity of a call by the key that its caller gave and what was asked for;
// nil where there is no key, and fault.Invalid where it cannot be kept.
func NewOnce(key string, what any) (*Once, error) {
	if key == "" {
		return nil, nil
	}
	if len(key) > maxOnceKey {
		return nil, fault.New(fault.Invalid, "The Idempotency-Key has more than %d characters.", maxOnceKey).WithFix("Use a UUID, or the ID of the pipeline's job.").
			At("header.Idempotency-Key", "too long")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\uFFFD' }) {
		return nil, fault.New(fault.Invalid, "The Idempotency-Key has characters that cannot be kept.").WithFix("Use a UUID, or the ID of the pipeline's job.").
			At("header.Idempotency-Key", "letters, digits and signs only")
	}
	text, err := json.Marshal(what)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "fingerprint a request")
	}
	return &Once{Key: key, Fingerprint: fmt.Sprintf("%x", sha256.Sum256(text))}, nil
}

func (s *Service) check(ctx context.Context, p project.Project, in *StartInput) error {
	if !p.HasTestsRepo() {
		return fault.New(fault.Conflict, "This project has no tests repository connected.").
			WithFix("Connect one in the project's settings, then start the run again.")
	}
	bad := fault.New(fault.Invalid, "The run cannot be started as it was asked for.").
		WithFix("Correct the fields named in errors.")
	switch {
	case in.ShardCount == 0:
	case in.ShardCount < MinShards || in.ShardCount > MaxShards:
		bad.At("body.shardCount", "from %d to %d; leave it out for a run in one piece", MinShards, MaxShards)
	}
	if in.Workers < 0 || in.Workers > MaxWorkers {
		bad.At("body.workers", "from 1 to %d; leave it out for the project's setting", MaxWorkers)
	}
	if b := in.Branch; b != "" && !checkout.ValidBranch(b) {
		bad.At("body.branch", "this cannot be the name of a git branch")
	}
	if in.Environment != "" {
		if err := s.checkEnvironment(ctx, p.ID, in.Environment, bad); err != nil {
			return err
		}
	}
	if err := s.checkPull(ctx, p, in, bad); err != nil {
		return err
	}
	if err := fault.As(project.CheckEnv(in.EnvOverrides, "body.envOverrides")); err != nil {
		bad.Details = append(bad.Details, err.Details...)
	}
	switch in.Selection.Kind {
	case SelectGrep:
		if err := s.Patterns.CheckPattern(in.Selection.Grep); err != nil {
			f := fault.As(err)
			if f == nil || f.Kind != fault.Invalid {
				return err
			}
			bad.Details = append(bad.Details, f.Details...)
		}
	case SelectTests:
		if err := s.checkTests(ctx, p.ID, in.Selection.TestIDs, bad); err != nil {
			return err
		}
	case SelectSuite, SelectCollection, SelectNothing:
	}
	if len(bad.Details) > 0 {
		return bad
	}
	return nil
}

func (s *Service) checkEnvironment(ctx context.Context, projectID, name string, bad *fault.Error) error {
	es, err := s.Environments.Environments(ctx, projectID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(es, func(e project.Environment) bool { return e.Name == name }) {
		bad.At("body.environment", "%.60q is no environment of this project; its settings list them", name)
	}
	return nil
}

// checkPull sees to it that the result can be told where the pull request is.
func (s *Service) checkPull(ctx context.Context, p project.Project, in *StartInput, bad *fault.Error) error {
	if in.Pull == nil {
		return nil
	}
	if in.Pull.Number < 1 {
		bad.At("body.prNumber", "the number of a pull request, from 1")
		return nil
	}
	repo, err := s.Pulls.PullRepo(ctx, p, in.Pull.Repo)
	if f := fault.As(err); f != nil && f.Kind == fault.Invalid {
		bad.Details = append(bad.Details, f.Details...)
		return nil
	}
	in.Pull = &Pull{Repo: repo, Number: in.Pull.Number}
	return err
}

func (s *Service) checkTests(ctx context.Context, projectID string, ids []string, bad *fault.Error) error {
	if len(ids) == 0 || len(ids) > MaxTestIDs {
		bad.At("body.testIds", "1 to %d IDs, here are %d", MaxTestIDs, len(ids))
		return nil
	}
	unknown, err := s.Store.UnknownTests(ctx, projectID, ids)
	if err != nil {
		return err
	}
	isUnknown := make(map[string]bool, len(unknown))
	for _, id := range unknown {
		isUnknown[id] = true
	}
	const show = 20
	for i, id := range ids {
		if isUnknown[id] {
			bad.At(fmt.Sprintf("body.testIds[%d]", i), "%.64q is no test of this project; GET /tests lists them", id)
			if len(bad.Details) >= show {
				bad.At("body.testIds", "%d unknown IDs in all", len(unknown))
				break
			}
		}
	}
	return nil
}

// jobName is short enough to name a Kubernetes Job with its pods too (50 characters).
func jobName(slug string) string {
	raw := make([]byte, 6)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails
	return slug + "-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw))
}
