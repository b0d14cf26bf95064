package evidence

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"tas-service/internal/artifact"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// Recorded is the name under which a trace is kept that was recorded for evidence alone; it
// is removed once it was read.
const Recorded = "evidence.zip"

// Every is how often evidence of one commit and environment is recorded: the application
// changes without a commit of the tests.
const Every = 24 * time.Hour

// Runs is what Gatherer needs to know of runs.
type Runs interface {
	Run(ctx context.Context, id string) (run.Run, error)
	Results(ctx context.Context, q run.ResultQuery) ([]run.Result, error)
	Artifacts(ctx context.Context, runID, testID string) ([]artifact.Artifact, error)
	// DropArtifact forgets an artifact.
	DropArtifact(ctx context.Context, id string) error
}

// Gatherer decides which runs record evidence, and reads what they recorded.
type Gatherer struct {
	Runs  Runs
	Shelf *Shelf
	Every time.Duration // 0: never
	Clock func() time.Time
	Log   *slog.Logger
	// Leading, when set, reports whether this one of several services gathers.
	Leading func() bool
	Wake    func()
	// Compared, when set, hears of each test what a run recorded, and may ask what earlier ones
	// did: that costs reading them.
	Compared func(ctx context.Context, r run.Run, x run.Result, now Test, older func() ([]Test, error)) error
}

// Environment answers under which name evidence of a run is kept: the default environment has
// one, whether it was named or not.
func Environment(r run.Run) string { return cmp.Or(r.Environment, project.DefaultEnvironment) }

func orderOf(r run.Run, commit string, now time.Time) Order {
	return Order{RunID: r.ID, ProjectID: r.ProjectID, Environment: Environment(r), Commit: commit, At: now}
}

// Wants reports whether a run should record a trace of every test: one run of each commit of
// the default branch does, in each environment, and another one each time that evidence has
// grown old.
func (g *Gatherer) Wants(ctx context.Context, r run.Run, commit string) bool {
	if g.Every <= 0 || !r.OnDefault || r.Trial != nil || r.Trigger == run.TriggerRefresh || len(r.EnvOverrides) > 0 {
		return false
	}
	now := g.Clock()
	ordered, err := g.Shelf.Records.OrderEvidence(ctx, orderOf(r, commit, now), now.Add(-g.Every))
	if err != nil {
		g.Log.Warn("a run records no evidence", "run", r.ID, "error", err)
	}
	return ordered && err == nil
}

// RunEnded is for a run.Announcer.
func (g *Gatherer) RunEnded(ctx context.Context, r run.Run) error {
	if g.Every <= 0 || !r.OnDefault || r.Commit == "" || len(r.EnvOverrides) > 0 || r.Phase != run.Passed && r.Phase != run.Failed && r.Phase != run.Healed {
		return nil
	}
	now := g.Clock()
	err := g.Shelf.Records.DueEvidence(ctx, orderOf(r, r.Commit, now), now.Add(-g.Every))
	if err == nil {
		g.Wake()
	}
	return err
}

const dueAtOnce = 10

// Step is for a reconcile.Loop: it reads what runs have recorded.
func (g *Gatherer) Step(ctx context.Context) error {
	if g.Leading != nil && !g.Leading() {
		return nil
	}
	for {
		due, err := g.Shelf.Records.EvidenceDue(ctx, dueAtOnce)
		if err != nil {
			return err
		}
		var errs []error
		for _, o := range due {
			if err := g.gather(ctx, o); err != nil {
				errs = append(errs, fmt.Errorf("read the evidence of run %s: %w", o.RunID, err))
			}
		}
		if err := errors.Join(errs...); err != nil || len(due) < dueAtOnce {
			return err
		}
	}
}

func (g *Gatherer) gather(ctx context.Context, o Order) error {
	r, err := g.Runs.Run(ctx, o.RunID)
	if fault.KindOf(err) == fault.NotFound {
		return g.Shelf.Records.EvidenceRead(ctx, o.RunID)
	}
	if err != nil {
		return err
	}
	began, kept, bytes := g.Clock(), 0, int64(0)
	for x, err := range run.AllResults(ctx, g.Runs, run.ResultQuery{RunID: r.ID, Statuses: []run.Status{run.StatusPassed}}) {
		if err != nil {
			return err
		}
		if x.Setup || x.RepeatEach > 0 {
			continue
		}
		n, err := g.keep(ctx, r, x)
		if err != nil {
			return err
		}
		if n > 0 {
			kept, bytes = kept+1, bytes+n
		}
	}
	g.Log.Info("evidence was read", "run", r.ID, "tests", kept, "traceBytes", bytes, "took", g.Clock().Sub(began).Round(time.Millisecond))
	return g.Shelf.Records.EvidenceRead(ctx, o.RunID)
}

// keep keeps what one passing test's trace tells, and answers the trace's size. A trace that
// cannot be read is no reason to stop.
func (g *Gatherer) keep(ctx context.Context, r run.Run, x run.Result) (int64, error) {
	arts, err := g.Runs.Artifacts(ctx, r.ID, x.TestID)
	if err != nil {
		return 0, err
	}
	for _, a := range arts {
		if a.Browser != x.Browser || a.Retry != 0 || a.Name != Recorded && a.Kind != artifact.Trace {
			continue
		}
		t, err := Open(ctx, g.Shelf.Blobs, a)
		switch {
		case errors.Is(err, ErrNoTrace), fault.KindOf(err) == fault.NotFound:
			g.Log.Warn("a trace cannot be read", "run", r.ID, "test", x.TestID, "error", err)
			return 0, nil
		case err != nil:
			return 0, err
		}
		t.Within(x.File)
		if g.Compared != nil {
			err := g.Compared(ctx, r, x, t, func() ([]Test, error) {
				_, older, err := g.Shelf.Of(ctx, r.ProjectID, x.TestID, x.Browser, Environment(r))
				return older, err
			})
			if err != nil {
				return 0, err
			}
		}
		err = g.Shelf.Keep(ctx, Kept{ProjectID: r.ProjectID, TestID: x.TestID, Browser: x.Browser, Environment: Environment(r), RunID: r.ID, Commit: r.Commit, At: g.Clock()}, t)
		if err != nil && fault.KindOf(err) != fault.Invalid {
			return 0, err
		}
		if a.Name == Recorded {
			if err := errors.Join(g.Shelf.Blobs.DeleteAll(ctx, a.Key), g.Runs.DropArtifact(ctx, a.ID)); err != nil {
				return 0, err
			}
		}
		return a.Size, nil
	}
	return 0, nil
}

// maxRead bounds the traces that are read into memory, in bytes.
const maxRead = 64 << 20

// Open reads a trace that is kept as an artifact.
func Open(ctx context.Context, blobs artifact.Blobs, a artifact.Artifact) (Test, error) {
	b, err := blobs.Open(ctx, a.Key)
	if err != nil {
		return Test{}, err
	}
	defer b.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(b, maxRead+1))
	if err != nil {
		return Test{}, fault.Wrap(err, fault.Unavailable, "A trace cannot be read now.")
	}
	if len(body) > maxRead {
		return Test{}, fmt.Errorf("%w: it has more than %d bytes", ErrNoTrace, maxRead)
	}
	return Read(ctx, bytes.NewReader(body), int64(len(body)))
}
