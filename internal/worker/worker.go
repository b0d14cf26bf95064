// Package worker is `tas attempt`: it executes one attempt at a run, on any machine
// that reaches the service over HTTP. It checks the tests repository out, installs its
// dependencies, runs its tests in a sandbox and streams what happens to the service.
// It decides nothing: selection, outcome and verdict are the service's.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/checkout"
	"tas-service/internal/checkout/git"
	"tas-service/internal/fault"
	"tas-service/internal/filelock"
	"tas-service/internal/report"
	"tas-service/internal/sandbox"
)

// Config of a worker.
type Config struct {
	Server       string
	Token        string
	Work         string        // folder for mirrors, installs and runs; shared by the attempts of a machine
	Browsers     string        // folder that `playwright install` filled; "" for none
	SandboxEnv   []string      // names of variables that the operator lets through to test code
	Isolation    sandbox.Level // "" for the strongest that works here; else exactly this one
	Patience     time.Duration // how long the service may be out of reach
	HangFactor   float64
	HangGrace    time.Duration
	MaxProcesses int // of one run; 0 for a bound by the number of workers
	Log          *slog.Logger
}

// worker is one attempt under way.
type worker struct {
	Config
	service *service
	job     attempt.Job
	dir     string // this attempt's own folder
	source  checkout.Source
	copies  checkout.Checkouts
	box     sandbox.Box
	node    string
	beat    *heart
	warns   []attempt.Warning
}

// failure ends an attempt with an error for people.
func failure(code, format string, args ...any) *fault.Error {
	return fault.New(fault.External, format, args...).WithCode(code)
}

// Run executes the attempt that the token belongs to. It answers nil when the service
// was told how it ended, whatever that was.
func Run(ctx context.Context, cfg Config) error {
	w := &worker{Config: cfg, service: newService(cfg.Server, cfg.Token, cfg.Patience)}
	if err := w.service.call(ctx, attempt.Claim, struct{}{}, &w.job); err != nil {
		return fmt.Errorf("claim the attempt: %w", err)
	}
	w.service.direct = w.job.DirectUploads
	w.Log = cfg.Log.With("run", w.job.RunID, "attempt", w.job.AttemptID)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.beat = startHeart(ctx, w.service, time.Duration(w.job.HeartbeatMs)*time.Millisecond, stop)
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(w.job.LimitMs)*time.Millisecond, errTimeLimit)
	defer cancel()
	outcome, err := w.execute(limited)
	defer w.cleanUp()
	if errors.Is(context.Cause(ctx), errSuperseded) || errors.Is(err, errSuperseded) {
		w.Log.Info("the service wants nothing more from this attempt")
		return nil
	}
	if err != nil {
		outcome.Complete = false
		outcome.Error = w.explain(limited, err)
		w.Log.Warn("the attempt failed", "code", outcome.Error.Code, "error", err)
	}
	outcome.Warnings = append(w.warns, outcome.Warnings...)
	// The run's limit may be over and the service must hear of it all the same.
	last, done := context.WithTimeout(context.WithoutCancel(ctx), cfg.Patience)
	defer done()
	return w.service.call(last, attempt.Finish, outcome, nil)
}

var errTimeLimit = errors.New("the run's time limit is over")

// explain turns what stopped an attempt into an error for people.
func (w *worker) explain(ctx context.Context, err error) *attempt.Error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errTimeLimit) {
			return &attempt.Error{Code: "run-time-limit", Message: fmt.Sprintf("The run took longer than its limit of %s.", time.Duration(w.job.LimitMs)*time.Millisecond)}
		}
		return &attempt.Error{Code: "worker-stopped", Message: "The worker was stopped before the run was done."}
	}
	if f := fault.As(err); f != nil && f.Kind != fault.Internal {
		return &attempt.Error{Code: f.Code, Message: f.Public()}
	}
	return &attempt.Error{Code: "worker-failed", Message: "The worker failed: " + err.Error()}
}

func (w *worker) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// safeName keeps what the service sent from being anything but one folder's name.
var safeName = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// execute is the attempt from checkout to the runner's last word.
func (w *worker) execute(ctx context.Context) (attempt.Outcome, error) {
	if !safeName.MatchString(w.job.AttemptID) || !safeName.MatchString(w.job.ProjectID) {
		return attempt.Outcome{}, failure("worker-failed", "The service sent an unusable ID.")
	}
	unlock, err := w.prepareFolder(ctx)
	if err != nil {
		return attempt.Outcome{}, err
	}
	defer unlock()
	if w.box, err = chooseBox(ctx, w.Isolation, sandbox.Level(w.job.MinIsolation)); err != nil {
		return attempt.Outcome{}, err
	}
	if w.node, err = findNode(); err != nil {
		return attempt.Outcome{}, err
	}
	if w.box.Level() != sandbox.Bubblewrap {
		w.warn("weak-isolation", fmt.Sprintf("Test code ran at isolation level %q; install bubblewrap on the worker's machine for the strongest.", w.box.Level()))
	}
	w.beat.doing("checkout")
	w.copies = &git.Mirrors{Root: filepath.Join(w.Work, "mirrors")}
	w.source = checkout.Source{Key: w.job.ProjectID, URL: w.job.Repository.URL, Token: w.job.Repository.Token, Branch: w.job.Repository.Branch, Commit: w.job.Repository.Commit}
	copied, err := w.checkOut(ctx)
	if err != nil {
		return attempt.Outcome{}, err
	}
	renames, err := w.copies.Renames(ctx, w.source, w.job.Repository.KnownCommit, copied.Commit)
	if err != nil {
		w.Log.Warn("renames are not known", "error", err)
	}
	if err := w.applyPatch(ctx); err != nil {
		return attempt.Outcome{}, err
	}
	w.beat.doing("install")
	modules, err := w.install(ctx)
	if err != nil {
		return attempt.Outcome{}, err
	}
	w.beat.doing("list")
	return w.drive(ctx, copied, withinDir(renames, w.job.Repository.Dir), modules)
}

// checkOut makes the working copy: of a sharded run at the commit that its first shard found.
func (w *worker) checkOut(ctx context.Context) (checkout.Copy, error) {
	copied, err := w.copies.Make(ctx, w.source, w.path("repo"))
	if err != nil || w.job.Shards == 0 || w.source.Commit != "" {
		return copied, err
	}
	var pinned attempt.Pinned
	err = w.service.call(ctx, attempt.Pin, attempt.Pinned{Branch: copied.Branch, Commit: copied.Commit}, &pinned)
	if err != nil || pinned.Commit == copied.Commit {
		return copied, err
	}
	// The branch was pushed to in between.
	if err := w.copies.Discard(ctx, w.source, w.path("repo")); err != nil {
		return copied, err
	}
	w.source.Commit = pinned.Commit
	return w.copies.Make(ctx, w.source, w.path("repo"))
}

// prepareFolder makes this attempt's folder and holds its lock until unlock; folders of
// attempts that died are swept away on the way.
func (w *worker) prepareFolder(ctx context.Context) (unlock func(), err error) {
	runs := filepath.Join(w.Work, "runs")
	if err := os.MkdirAll(runs, 0o711); err != nil {
		return nil, diskTrouble(err)
	}
	w.sweep(runs)
	w.dir = filepath.Join(runs, w.job.AttemptID)
	if unlock, err = filelock.Lock(ctx, w.dir+".lock"); err != nil {
		return nil, diskTrouble(err)
	}
	for _, dir := range []string{"out", "home", "tmp", "browsers"} {
		if err := errors.Join(os.MkdirAll(w.path(dir), 0o700), os.Chmod(w.dir, 0o711)); err != nil {
			unlock()
			return nil, diskTrouble(err)
		}
	}
	return unlock, nil
}

func diskTrouble(err error) error {
	return fault.Wrap(err, fault.External, "The worker cannot write to its folder.").
		WithCode("disk").WithFix("Check the disk space and the permissions of the worker's folder.")
}

// sweep removes what attempts left that were killed: their locks are free.
func (w *worker) sweep(runs string) {
	locks, _ := filepath.Glob(filepath.Join(runs, "*.lock"))
	for _, lock := range locks {
		unlock, ok := filelock.TryLock(lock)
		if !ok {
			continue
		}
		if err := errors.Join(os.RemoveAll(lock[:len(lock)-len(".lock")]), os.Remove(lock)); err != nil {
			w.Log.Warn("an old folder cannot be removed", "folder", lock, "error", err)
		}
		unlock()
	}
}

func (w *worker) cleanUp() {
	killDescendants()
	if w.dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if w.copies != nil {
		if err := w.copies.Discard(ctx, w.source, w.path("repo")); err != nil {
			w.Log.Warn("the working copy cannot be removed", "error", err)
		}
	}
	if err := errors.Join(os.RemoveAll(w.dir), os.Remove(w.dir+".lock")); err != nil {
		w.Log.Warn("the attempt's folder cannot be removed", "error", err)
	}
}

func (w *worker) warn(code, message string) {
	w.warns = append(w.warns, attempt.Warning{Code: code, Message: message})
}

// withinDir makes repository paths relative to the package's folder.
func withinDir(renames map[string]string, dir string) map[string]string {
	if dir == "" {
		return renames
	}
	out := map[string]string{}
	for from, to := range renames {
		f, err1 := filepath.Rel(dir, from)
		t, err2 := filepath.Rel(dir, to)
		if err1 == nil && err2 == nil {
			out[f] = t
		}
	}
	return out
}

// start is the runner's first message.
func (w *worker) startMessage(workers int, inside func(string) string) report.Start {
	m := report.Start{Type: "start", Protocol: report.Protocol, OutDir: inside("out"), Workers: workers,
		BrowsersDir: inside("browsers"), SystemBrowsers: systemBrowsers(), GrepTimeoutMs: grepTimeout.Milliseconds(),
		HangFactor: w.HangFactor, HangGraceMs: w.HangGrace.Milliseconds()}
	if w.Browsers != "" {
		m.ManagedBrowsers = w.Browsers
	}
	m.Shards, m.Trial, m.Recover = w.job.Shards, w.trial(), w.job.Recover
	return m
}

// grepTimeout bounds the matching of a pattern against all tests.
const grepTimeout = 5 * time.Second
