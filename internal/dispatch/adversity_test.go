package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tas-service/internal/artifact"
	"tas-service/internal/attempt"
	"tas-service/internal/dispatch"
	"tas-service/internal/executor/executortest"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

func (b *bench) outcome(t *testing.T, a dispatch.Attempt, o attempt.Outcome) {
	t.Helper()
	if _, err := b.TakeOutcome(context.Background(), a, o); err != nil {
		t.Fatal(err)
	}
}

// A shard has a unit in part: the part that it has ends before the service hears what it refuses.
func TestRefusedInPartLate(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	l := listing(2)
	l.Tests[0].Unit, l.Tests[1].Unit = "u", "u"
	b.list(t, shards[0], l)
	g := b.lease(t, shards[0], want)
	if len(g.Units) != 1 || len(g.Units[0]) != 2 {
		t.Fatalf("%+v", g)
	}
	has, lacks := g.Units[0][0], g.Units[0][1]
	b.pass(t, shards[0], 1, [][]string{{has}})
	w := want
	w.Received, w.Refused, w.Free = g.Number, []string{lacks}, 0
	b.lease(t, shards[0], w)
	rs, _ := b.db.Results(context.Background(), run.ResultQuery{RunID: b.runID, After: -1, Limit: 9})
	for _, x := range rs {
		if !x.Status.Final() {
			t.Fatalf("%s is %s", x.PlaywrightID, x.Status)
		}
	}
	waiting, held, err := b.db.Unfinished(context.Background(), b.runID)
	if err != nil || waiting+held != 0 {
		t.Errorf("every test has its result, and %d units wait, %d are held: %v", waiting, held, err)
	}
	// Nobody is ever told to stop: both shards go on asking until the run's limit.
	w.Refused = nil
	if g := b.lease(t, shards[0], w); !g.Close {
		t.Errorf("the shard is not closed: %+v", g)
	}
}

// The answer of EndUpload is lost: the worker says it again.
func TestEndUploadTwice(t *testing.T) {
	b := newSharded(t, 2, 1)
	b.step(t, 0)
	a := b.claimAll(t)[0]
	b.list(t, a, listing(1))
	ctx := context.Background()
	up := attempt.Upload{ID: "6f2c8a52-3f0e-4a53-9a0c-0d6ddfd0e9a1", Name: "trace.zip", Test: "t0", ContentType: "application/zip", Size: 3}
	key := artifact.RunPrefix(b.runID) + "tests/" + up.ID + "/trace.zip"
	if _, err := b.Blobs.Put(ctx, key, up.ContentType, strings.NewReader("abc")); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := b.EndUpload(ctx, a, up); err != nil {
			t.Errorf("time %d: %v (%v)", i+1, err, fault.KindOf(err))
		}
	}
}

// The answer of StoreArtifact is lost: the worker sends it again.
func TestStoreTwice(t *testing.T) {
	b := newSharded(t, 2, 1)
	b.step(t, 0)
	a := b.claimAll(t)[0]
	sel := b.list(t, a, listing(1))
	ctx := context.Background()
	for range 2 {
		if _, err := b.StoreArtifact(ctx, a, attempt.Upload{ID: "6f2c8a52-3f0e-4a53-9a0c-0d6ddfd0e9a1", Name: "trace.zip", Test: "t0", ContentType: "application/zip"}, strings.NewReader("abc")); err != nil {
			t.Fatal(err)
		}
	}
	if as, err := b.db.Artifacts(ctx, b.runID, sel.IDs["t0"]); err != nil || len(as) != 1 {
		t.Errorf("%d artifacts, %v", len(as), err)
	}
}

// A shard's worker ends itself at the run's limit, as it does before the service would.
func TestTimeLimitOfAShard(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	b.list(t, shards[0], listing(4))
	b.list(t, shards[1], listing(4))
	ctx := context.Background()
	for _, a := range shards {
		b.lease(t, a, want)
	}
	b.now = b.now.Add(10 * time.Minute)
	for _, a := range shards {
		b.outcome(t, a, attempt.Outcome{Status: "interrupted", Error: &attempt.Error{Code: run.CodeTimeLimit, Message: "The run took longer than its limit of 10m0s."}})
	}
	for range 4 {
		b.step(t, time.Second)
	}
	open, _ := b.db.OpenAttempts(ctx)
	if r := b.run(t); !r.Terminal() || r.Error == nil || r.Error.Code != run.CodeTimeLimit {
		t.Errorf("phase %s, %+v, and %d new attempts", r.Phase, r.Error, len(open))
	}
}

// Every runner dies after its last test; none says that it was done.
func TestPassWithoutAWord(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, b *bench, a dispatch.Attempt){
		"killed": func(t *testing.T, b *bench, a dispatch.Attempt) { b.dummy.Exit(a.ID, "killed") },
		"disk quota": func(t *testing.T, b *bench, a dispatch.Attempt) {
			b.outcome(t, a, attempt.Outcome{Status: "", Batches: 1, Error: &attempt.Error{Code: "disk-quota", Message: "The tests wrote more than a run may write."}})
		},
		"failed on flaky tests, then its report could not be sent": func(t *testing.T, b *bench, a dispatch.Attempt) {
			b.outcome(t, a, attempt.Outcome{Status: "failed", Complete: false, Batches: 1, Error: &attempt.Error{Message: "given up"}})
		},
		"its last batch never arrived": func(t *testing.T, b *bench, a dispatch.Attempt) {
			b.outcome(t, a, attempt.Outcome{Status: "failed", Complete: true, Batches: 2})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSharded(t, 2, 2)
			b.step(t, 0)
			shards := b.claimAll(t)
			b.list(t, shards[0], listing(2))
			b.list(t, shards[1], listing(2))
			for i := range 2 {
				b.pass(t, shards[i], 1, b.lease(t, shards[i], want).Units)
			}
			for i := range 2 {
				end(t, b, shards[i])
			}
			for range 4 {
				b.step(t, time.Second)
			}
			r := b.run(t)
			if r.Verdict == run.Pass {
				t.Errorf("phase %s, verdict %s, warnings %+v", r.Phase, r.Verdict, r.Warnings)
			}
			t.Logf("%s %s %+v", r.Phase, r.Verdict, r.Error)
		})
	}
}

// A service that stood still between asking whether it leads and saving starts a run that the next leader has started.
func TestTwoLeaders(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	second := &dispatch.Dispatcher{Blobs: b.Blobs, Store: b.db, Projects: b.db, Executor: executortest.NewDummy(), Place: "other", Hub: b.Hub, Log: b.Log,
		Limits: dispatch.Limits{Attempts: 5}, Timing: dispatch.DefaultTiming, Clock: b.Clock, Wake: func() {}}
	b.Limits.Attempts = 5
	asked := 0
	b.Leading = func() bool {
		if asked++; asked == 2 { // in startNext; it is frozen right behind this, and the other one takes over
			if err := second.Step(ctx); err != nil {
				t.Fatal(err)
			}
		}
		return true
	}
	if err := b.Step(ctx); err != nil {
		t.Fatal(err)
	}
	open, err := b.db.OpenAttempts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(open) != 1 {
		t.Errorf("a run in one piece has %d attempts at once", len(open))
	}
	// Both execute everything. What fails in one and passes in the other passes.
	l := listing(1)
	for i, a := range open {
		if _, err := b.Claim(ctx, a); err != nil {
			t.Fatal(err)
		}
		b.choose(t, a, l)
		status := []string{"failed", "passed"}[i%2]
		if _, err := b.TakeBatch(ctx, a, attempt.Batch{Seq: 1, Events: []attempt.Event{{End: &attempt.TestEnd{ID: "t0", Status: status, ExpectedStatus: "passed", StartedAt: b.now}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(open) == 2 {
		b.outcome(t, open[1], attempt.Outcome{Complete: true, Status: "passed", Batches: 1})
		if r := b.step(t, time.Second); r.Verdict == run.Pass {
			t.Errorf("the test failed in the first attempt, and the run is %s %s", r.Phase, r.Verdict)
		}
		_, err := b.TakeBatch(ctx, open[0], attempt.Batch{Seq: 2, Events: []attempt.Event{{End: &attempt.TestEnd{ID: "t0", Status: "failed", ExpectedStatus: "passed", StartedAt: b.now}}}})
		rs, _ := b.db.Results(ctx, run.ResultQuery{RunID: b.runID, After: -1, Limit: 9})
		if r := b.run(t); err == nil && r.Terminal() {
			t.Errorf("a batch is taken after the verdict: run %s %s with test %s", r.Phase, r.Verdict, rs[0].Status)
		}
	}
}

// A shard that claims after another one pinned the commit still works on the default branch.
func TestDefaultAfterPin(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	ctx := context.Background()
	var as []dispatch.Attempt
	for _, token := range b.dummy.Started() {
		a, err := b.Authenticate(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, a)
	}
	job, err := b.Claim(ctx, as[0])
	if err != nil || !job.Repository.Default {
		t.Fatal(job.Repository, err)
	}
	if _, err := b.Pin(ctx, as[0], attempt.Pinned{Branch: "main", Commit: "c"}); err != nil {
		t.Fatal(err)
	}
	if job, err = b.Claim(ctx, as[1]); err != nil || !job.Repository.Default {
		t.Errorf("the run asked for no branch, and shard %d is told %+v, %v", as[1].Shard, job.Repository, err)
	}
}

// tokens answers what it was told to.
type tokens struct{ err error }

func (t *tokens) GitToken(context.Context, project.Project) (string, error) { return "good", t.err }

// A worker that claims while the forge asks for patience asks again, and gets the token then.
func TestTokenLater(t *testing.T) {
	b := newBench(t)
	b.step(t, 0)
	ctx, give := context.Background(), &tokens{err: fault.New(fault.RateLimited, "Later.")}
	b.Tokens = give
	var a dispatch.Attempt
	for _, token := range b.dummy.Started() {
		var err error
		if a, err = b.Authenticate(ctx, token); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Claim(ctx, a); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a job without its token: %v", err)
	}
	give.err = nil
	if job, err := b.Claim(ctx, a); err != nil || job.Repository.Token != "good" {
		t.Errorf("%+v, %v", job.Repository, err)
	}
}

// A started worker may take StartBy to claim its job.
func TestStartBy(t *testing.T) {
	b := newBench(t)
	b.step(t, 0)
	if r := b.step(t, dispatch.DefaultTiming.StartBy-5*time.Second); r.Phase != run.Preparing {
		t.Errorf("given up before StartBy: %s %+v", r.Phase, r.Error)
	}
}

// A unit that a shard refuses goes to another one.
func TestRefusedComesBack(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	b.list(t, shards[0], listing(1))
	g := b.lease(t, shards[0], want)
	w := want
	w.Received, w.Refused, w.Lacks = g.Number, g.Units[0], g.Units[0]
	if again, err := b.Lease(timeout(t, 2*time.Second), shards[0], w); err == nil && fmt.Sprint(again.Units) == fmt.Sprint(g.Units) {
		t.Errorf("the shard that refused %v gets it again", again.Units)
	}
}

func timeout(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// blobsThatHang is a store of artifacts that takes requests and never answers.
type blobsThatHang struct{ artifact.Blobs }

func (blobsThatHang) DeleteAll(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }

// A bucket that does not answer holds one run up at most, and not the loop that all runs are moved on by.
func TestBucketThatHangs(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.Blobs = blobsThatHang{b.Blobs}
	b.step(t, 0)
	shards := b.claimAll(t)
	b.list(t, shards[0], listing(1))
	b.pass(t, shards[0], 1, b.lease(t, shards[0], want).Units)
	for _, a := range shards {
		batches := int64(0)
		if a.Shard == 0 {
			batches = 1
		}
		b.outcome(t, a, attempt.Outcome{Complete: true, Status: "passed", Batches: batches})
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		for range 5 {
			b.Step(ctx)
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(40 * time.Second):
		t.Error("no step has come to its end in 40 s: no run of any project moves on")
		cancel()
		<-done
	}
}

// A stale leader starts an attempt for a sharded run that is over.
func TestStartOfARunThatIsOver(t *testing.T) {
	b := newSharded(t, 2, 2)
	ctx := context.Background()
	asked := 0
	b.Leading = func() bool {
		if asked++; asked == 2 {
			if err := b.db.UpdateRun(ctx, b.runID, func(r *run.Run) error { return r.MoveTo(run.ProcessError) }); err != nil {
				t.Fatal(err)
			}
		}
		return true
	}
	if err := b.Step(ctx); err != nil {
		t.Logf("step: %v", err)
	}
	if open, _ := b.db.OpenAttempts(ctx); len(open) > 0 {
		t.Errorf("the run is %s and has %d open attempts", b.run(t).Phase, len(open))
	}
}

// A test of a serial group failed for good, and its worker died before it could say that the rest did not run.
func TestSerialFailureIsForgotten(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	l := listing(3)
	for i := range l.Tests {
		l.Tests[i].Unit, l.Tests[i].SerialGroup = "t0", "g"
	}
	b.list(t, shards[0], l)
	ctx := context.Background()
	g := b.lease(t, shards[0], want)
	end := func(id, status string) attempt.Event {
		return attempt.Event{End: &attempt.TestEnd{ID: id, Status: status, ExpectedStatus: "passed", StartedAt: b.now}}
	}
	if _, err := b.TakeBatch(ctx, shards[0], attempt.Batch{Seq: 1, Events: []attempt.Event{end("t0", "passed"), end("t1", "failed")}}); err != nil {
		t.Fatal(err)
	}
	if r := b.run(t); r.Counts.Failed != 1 {
		t.Fatalf("%+v", r.Counts)
	}
	b.dummy.Exit(shards[0].ID, "killed")
	b.step(t, time.Second)
	b.list(t, shards[1], l)
	if g = b.lease(t, shards[1], want); len(g.Units) > 0 {
		b.pass(t, shards[1], 1, g.Units)
		b.outcome(t, shards[1], attempt.Outcome{Complete: true, Status: "passed", Batches: 1})
	}
	for range 4 { // a second worker of shard 0 finds nothing to do
		b.step(t, time.Second)
		for _, a := range b.claimAll(t) {
			if sel := b.list(t, a, l); sel.Nothing {
				b.outcome(t, a, attempt.Outcome{Complete: true, Status: "passed"})
			}
		}
	}
	if r := b.run(t); r.Counts.Failed == 0 {
		t.Errorf("t1 failed, without a retry to come, and the run is %s %s, %+v", r.Phase, r.Verdict, r.Counts)
	}
}

type directBlobs struct{ artifact.Blobs }

func (directBlobs) Direct() bool { return true }
func (directBlobs) UploadURL(context.Context, string, string, int64) (string, error) {
	return "http://x", nil
}

// An upload that is refused, being too large, leaves room for those that are not.
func TestRefusedUploadTakesNoRoom(t *testing.T) {
	b := newSharded(t, 2, 1)
	b.Blobs = directBlobs{b.Blobs}
	b.step(t, 0)
	a := b.claimAll(t)[0]
	b.list(t, a, listing(1))
	ctx := context.Background()
	if _, err := b.BeginUpload(ctx, a, attempt.Upload{Name: "huge.bin", Test: "t0", Size: 1 << 50}); fault.KindOf(err) != fault.TooLarge {
		t.Fatal(err)
	}
	if _, err := b.BeginUpload(ctx, a, attempt.Upload{Name: "report/index.html", Size: 10}); err != nil {
		t.Errorf("10 bytes: %v", err)
	}
}

// Every test has its result and the other shard hangs in its preparation.
func TestShardThatIsNotNeeded(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	ctx := context.Background()
	b.list(t, shards[0], listing(1))
	b.pass(t, shards[0], 1, b.lease(t, shards[0], want).Units)
	b.outcome(t, shards[0], attempt.Outcome{Complete: true, Status: "passed", Batches: 1})
	for range 56 { // 9 minutes 20
		if _, err := b.Heartbeat(ctx, shards[1], attempt.Beat{Phase: "install"}); err != nil {
			break
		}
		b.step(t, 10*time.Second)
	}
	if r := b.run(t); r.Phase == run.Running {
		t.Errorf("nine minutes after the last test the run is %s", r.Phase)
	}
	for range 60 {
		if _, err := b.Heartbeat(ctx, shards[1], attempt.Beat{Phase: "install"}); err != nil {
			break
		}
		b.step(t, 10*time.Second)
	}
	if r := b.run(t); r.Verdict == run.Fail {
		t.Errorf("and in the end %s %s %+v", r.Phase, r.Verdict, r.Error)
	}
}

// slowProjects is a database that answers late, while heartbeats come in.
type slowProjects struct {
	project.Store
	late func()
}

func (s slowProjects) Project(ctx context.Context, id string) (project.Project, error) {
	s.late()
	return s.Store.Project(ctx, id)
}

// A step that takes long judges the silence of workers by what it read at its beginning.
func TestStaleHeartbeat(t *testing.T) {
	b := newSharded(t, 2, 2)
	b.step(t, 0)
	shards := b.claimAll(t)
	ctx := context.Background()
	b.Projects = slowProjects{b.db, func() {
		for range 5 { // 50 s, in which both workers beat every ten
			b.now = b.now.Add(10 * time.Second)
			for _, a := range shards {
				b.Heartbeat(ctx, a, attempt.Beat{Phase: "install"}) //nolint:errcheck // looked at below
			}
		}
	}}
	if err := b.Step(ctx); err != nil {
		t.Fatal(err)
	}
	for _, a := range shards {
		if _, err := b.Heartbeat(ctx, a, attempt.Beat{}); err != nil {
			t.Errorf("shard %d has beaten all the time: %v", a.Shard, err)
		}
	}
}

// One shard's machine has a full disk before there is a plan.
func TestMachineTroubleBeforeThePlan(t *testing.T) {
	for _, code := range []string{"disk-full", ""} { // "": such as "The mirror of the tests repository is locked."
		b := newSharded(t, 2, 2)
		b.step(t, 0)
		shards := b.claimAll(t)
		b.outcome(t, shards[1], attempt.Outcome{Error: &attempt.Error{Code: code, Message: "The worker's disk is full."}})
		if r := b.step(t, time.Second); r.Phase != run.Preparing {
			t.Errorf("%q of one shard ends the run: %s %+v", code, r.Phase, r.Error)
		}
	}
}
