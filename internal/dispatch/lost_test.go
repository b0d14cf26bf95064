package dispatch_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/artifact/blobstore"
	"tas-service/internal/attempt"
	"tas-service/internal/dispatch"
	"tas-service/internal/event"
	"tas-service/internal/executor/executortest"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/secret"
	"tas-service/internal/store"
)

// bench is a dispatcher over a real database and an executor that does as it is told,
// at a time that only the test moves.
type bench struct {
	*dispatch.Dispatcher
	db    *store.DB
	dummy *executortest.Dummy
	now   time.Time
	runID string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ctx := context.Background()
	keys, err := secret.NewKeyring(make([]byte, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenSQLite(ctx, filepath.Join(t.TempDir(), "tas.db"), keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b := &bench{db: db, dummy: executortest.NewDummy(), now: time.Now(), runID: uuid.NewString()}
	p, _, err := db.CreateProject(ctx, project.Project{Name: "Case", RunLimit: 10 * time.Minute, Repository: project.Repository{URL: "/x"}})
	if err != nil {
		t.Fatal(err)
	}
	r := run.Run{ID: b.runID, ProjectID: p.ID, OnDefault: true, Name: "case-1", Phase: run.Queued, Verdict: run.Pending, Selection: run.Selection{Kind: run.SelectSuite}, CreatedAt: b.now}
	if _, err := db.CreateRun(ctx, &r, nil); err != nil {
		t.Fatal(err)
	}
	blobs, err := blobstore.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	b.Dispatcher = &dispatch.Dispatcher{Blobs: blobs, Store: db, Projects: db, Executor: b.dummy, Hub: event.NewHub(), Log: slog.New(slog.DiscardHandler),
		Limits: dispatch.Limits{Attempts: 1}, Timing: dispatch.DefaultTiming, Clock: func() time.Time { return b.now }, Wake: func() {}}
	return b
}

// step moves the time on and lets the dispatcher look, twice: what one step closes the
// next one judges.
func (b *bench) step(t *testing.T, later time.Duration) run.Run {
	t.Helper()
	b.now = b.now.Add(later)
	for range 2 {
		if err := b.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return b.run(t)
}

func (b *bench) run(t *testing.T) run.Run {
	t.Helper()
	r, err := b.db.Run(context.Background(), b.runID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// claim has the one attempt claim its job.
func (b *bench) claim(t *testing.T) dispatch.Attempt {
	t.Helper()
	for _, token := range b.dummy.Started() {
		a, err := b.Authenticate(context.Background(), token)
		if err != nil {
			continue
		}
		if _, err := b.Claim(context.Background(), a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	t.Fatal("no attempt can be claimed")
	return dispatch.Attempt{}
}

func (b *bench) lost(t *testing.T, r run.Run, code string) {
	t.Helper()
	if r.Phase != run.ProcessError || r.Verdict != run.Fail || r.Error == nil || r.Error.Code != code || r.FinishedAt == nil || r.Counts.Sum() != r.Total {
		t.Errorf("phase %s, verdict %s, error %+v", r.Phase, r.Verdict, r.Error)
	}
	open, err := b.db.OpenAttempts(context.Background())
	if err != nil || len(open) > 0 {
		t.Errorf("open attempts: %v, %v", open, err)
	}
}

func TestStartThatFails(t *testing.T) {
	b := newBench(t)
	b.dummy.Refuse(errors.New("no room"))
	for range 10 {
		b.step(t, time.Minute)
	}
	b.lost(t, b.run(t), run.CodeWorkerLost)
	if n := b.dummy.Starts(); n != 3 {
		t.Errorf("%d starts", n)
	}
}

func TestStartThatFailsOnce(t *testing.T) {
	b := newBench(t)
	b.dummy.Refuse(errors.New("no room"))
	if r := b.step(t, 0); r.Phase != run.Queued {
		t.Fatalf("phase %s", r.Phase)
	}
	b.dummy.Refuse(nil)
	if r := b.step(t, time.Minute); r.Phase != run.Preparing {
		t.Errorf("phase %s", r.Phase)
	}
}

func TestLost(t *testing.T) {
	timing := dispatch.DefaultTiming
	for name, c := range map[string]struct {
		claimed bool
		do      func(b *bench, id string)
		after   time.Duration
	}{
		"never claims":                    {false, func(*bench, string) {}, timing.StartBy + time.Second},
		"exits before it claims":          {false, func(b *bench, id string) { b.dummy.Exit(id, "killed") }, 0},
		"exits without a word":            {true, func(b *bench, id string) { b.dummy.Exit(id, "killed") }, 0},
		"vanishes with its machine":       {true, func(b *bench, id string) { b.dummy.Vanish(id) }, 3 * timing.Heartbeat},
		"hangs without a sign of life":    {true, func(*bench, string) {}, timing.LostAfter + time.Second},
		"hangs, and so does its executor": {true, func(b *bench, id string) { b.dummy.Vanish(id) }, timing.LostAfter + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.step(t, 0)
			var id string
			for id = range b.dummy.Started() {
			}
			var a dispatch.Attempt
			if c.claimed {
				a = b.claim(t)
			}
			if r := b.step(t, time.Second); r.Phase != run.Preparing {
				t.Fatalf("given up too early: %s %+v", r.Phase, r.Error)
			}
			c.do(b, id)
			b.lost(t, b.step(t, c.after), run.CodeWorkerLost)
			if c.claimed { // it comes back
				for name, err := range map[string]error{
					"heartbeat": second(b.Heartbeat(context.Background(), a, attempt.Beat{})), "claim": second(b.Claim(context.Background(), a)),
					"outcome": second(b.TakeOutcome(context.Background(), a, attempt.Outcome{Complete: true, Status: "passed"})),
					"batch":   second(b.TakeBatch(context.Background(), a, attempt.Batch{Seq: 1})),
					"plan":    second(b.TakeListing(context.Background(), a, attempt.Listing{Commit: "x"})),
				} {
					if fault.KindOf(err) != fault.Superseded {
						t.Errorf("%s after it was given up: %v", name, err)
					}
				}
				b.lost(t, b.step(t, time.Second), run.CodeWorkerLost)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// TestLimitIsKept ends a worker that lives and does not stop.
func TestLimitIsKept(t *testing.T) {
	b := newBench(t)
	b.step(t, 0)
	a := b.claim(t)
	for range 100 {
		if b.run(t).Phase.Final() {
			break
		}
		if _, err := b.Heartbeat(context.Background(), a, attempt.Beat{}); err != nil {
			t.Fatal(err)
		}
		b.step(t, 20*time.Second)
	}
	b.lost(t, b.run(t), run.CodeTimeLimit)
}

// TestExecutorOutOfReach waits instead of giving anything up.
func TestExecutorOutOfReach(t *testing.T) {
	b := newBench(t)
	b.step(t, 0)
	b.claim(t)
	b.dummy.Fail(errors.New("no answer"))
	b.now = b.now.Add(10 * time.Second)
	if err := b.Step(context.Background()); err == nil {
		t.Error("nobody hears of it")
	}
	b.dummy.Fail(nil)
	if r := b.step(t, time.Second); r.Phase != run.Preparing {
		t.Errorf("phase %s, %+v", r.Phase, r.Error)
	}
}
