package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tas-service/internal/attempt"
	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/report"
	"tas-service/internal/sandbox"
	"tas-service/runner"
)

// flushEvery is how long events are gathered into one batch.
const flushEvery = 100 * time.Millisecond

// lastWord is how long an aborted runner has to write its reports.
const lastWord = 20 * time.Second

// lastUploads is how much longer sending may take then.
const lastUploads = time.Minute

// session is one conversation with the runner.
type session struct {
	w        *worker
	conn     net.Conn
	messages *report.Reader
	listing  attempt.Listing
	tests    map[string]attempt.Test
	ids      map[string]string // Playwright's → serviceTestId
	all      bool              // everything was selected, set-up included
	planned  bool              // another shard has told the service what will be executed
	stream   *stream
	uploads  *uploads
	fatal    bool // the runner said that nothing can run
	late     bool // an error came between the listing and the plan
	started  bool // events may be sent: the plan is with the service
	nothing  bool // no work is left for this shard
	merged   bool // the runner has merged the shards' reports
	feed     *feed
	asking   chan struct{} // a place for each question that is under way
	// editsMade says that the runner has told what became of a trial's edits.
	editsMade bool
	warnings  int // that the runner sent
	steps     report.Steps
	ended     bool // the runner said end
	bye       bool
	status    string
	output    lastOutput
}

// drive runs the tests in the sandbox and answers how that ended.
func (w *worker) drive(ctx context.Context, copied checkout.Copy, renames map[string]string, modules string) (attempt.Outcome, error) {
	workers := w.job.Workers
	if workers == 0 {
		workers = DefaultWorkers()
	}
	s := &session{w: w, tests: map[string]attempt.Test{}, stream: newStream(w.service, flushEvery), asking: make(chan struct{}, maxAsking),
		listing: attempt.Listing{Commit: copied.Commit, Branch: copied.Branch, Default: w.job.Repository.Default, Isolation: string(w.box.Level()), Workers: workers, Renames: renames}}
	// The program is ended before the service has heard all: what it said is still sent.
	running, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	sending, quit := context.WithCancel(context.WithoutCancel(ctx))
	defer quit()
	binds := w.binds()
	s.uploads = w.newUploads(sending, binds)
	start := w.startMessage(workers, w.inside)
	if w.job.Merge != nil {
		var err error
		if start.Merge, err = w.fetchBlobs(ctx); err != nil {
			return attempt.Outcome{}, err
		}
	}
	cmd, conn, err := w.startRunner(running, binds, modules, &s.output)
	if err != nil {
		return attempt.Outcome{}, err
	}
	s.conn, s.messages = conn, report.NewReader(conn)
	s.stream.failed = func() { conn.Close() } //nolint:errcheck // it ends the talk
	// A child that slipped out of the program's group may hold its end of the connection.
	defer context.AfterFunc(running, func() {
		killDescendants()
		conn.Close() //nolint:errcheck // it ends the talk
	})()
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	guard := w.startGuard(running, kill, w.processBound(workers))
	defer guard.stop()
	go s.stream.run(sending)
	stopped := context.AfterFunc(ctx, func() { s.abort(ctx, kill, quit) })
	defer stopped()

	s.feed = newFeed(s)
	feeding := make(chan error, 1)
	go func() { feeding <- s.feed.run(running) }()
	talkErr := s.talk(ctx, start)
	conn.Close() //nolint:errcheck // the runner has said its last word
	s.feed.stop()
	if err := <-feeding; err != nil && talkErr == nil {
		talkErr = err
	}
	exitErr := s.reapRunner(exited, kill)
	batches, streamErr := s.stream.close()
	outcome := attempt.Outcome{Complete: s.ended && s.bye, Status: s.status, Batches: batches}
	switch {
	case s.nothing && w.job.Merge == nil:
		outcome.Complete, outcome.Status, s.started = true, "passed", true
	case w.job.Merge != nil:
		outcome.Complete, s.started = s.merged && s.bye, s.merged
	}
	if err := guard.tripped(); err != nil {
		talkErr = err
	}
	if talkErr == nil {
		talkErr = streamErr
	}
	if errors.Is(talkErr, errSuperseded) {
		return outcome, talkErr
	}
	// What there is of a report is sent even when the run broke down: it helps to see why.
	w.beat.doing("uploading")
	if err := s.sendReport(); err != nil && talkErr == nil {
		talkErr = err
	}
	if s.uploads.missed > 0 {
		outcome.Warnings = append(outcome.Warnings, attempt.Warning{Code: "attachments-missing",
			Message: fmt.Sprintf("%d files could not be kept: they are none that the run itself wrote, or more than its disk quota.", s.uploads.missed)})
	}
	if talkErr == nil && !(outcome.Complete && s.started) {
		talkErr = s.died(exitErr)
	}
	if cause := context.Cause(ctx); cause != nil {
		talkErr = cause
	}
	return outcome, talkErr
}

// sendReport uploads what the runner left: a shard's for the merge, others' for people.
func (s *session) sendReport() error {
	if s.w.job.Shards > 0 && s.w.job.Merge == nil {
		return s.uploads.one("blob/report.zip", attempt.ShardReport)
	}
	return s.uploads.folder("html", "report")
}

// died explains a runner that ended without its last word.
func (s *session) died(exit error) error {
	if s.late && s.ended {
		return s.cannotRun("bad-config", "The tests could not be run.")
	}
	said := s.output.String()
	if said != "" {
		said = "\nIts last output:\n" + said
	}
	return failure("runner-died", "The test runner ended before it was done (%s).%s", exitText(exit), said)
}

func exitText(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// reapRunner waits for the runner to exit, and ends it when it does not.
func (s *session) reapRunner(exited <-chan error, kill func()) error {
	if s.bye {
		// Everything is written; what test code left running is of no interest.
		select {
		case err := <-exited:
			return err
		case <-time.After(2 * time.Second):
		}
		kill()
		return <-exited
	}
	select {
	case err := <-exited:
		return err
	case <-time.After(5 * time.Second):
		kill()
		return <-exited
	}
}

// abort asks the runner to stop and write its reports, and ends it when it does not.
// When it is not the run's time that is over, nobody waits for what is left to say.
func (s *session) abort(ctx context.Context, kill, quit func()) {
	if !errors.Is(context.Cause(ctx), errTimeLimit) {
		kill()
		quit()
		return
	}
	time.AfterFunc(lastWord, kill)
	time.AfterFunc(lastWord+lastUploads, quit)
	s.send(report.Abort{Type: "abort", Reason: "the run's time limit is over"}) //nolint:errcheck // it is killed then
}

// startRunner starts the bundled runner in the sandbox, talking over descriptor 3.
func (w *worker) startRunner(ctx context.Context, binds []sandbox.Bind, modules string, output *lastOutput) (*exec.Cmd, net.Conn, error) {
	bundle, err := runner.Extract(filepath.Join(w.Work, "runner"))
	if err != nil {
		return nil, nil, diskTrouble(err)
	}
	cache, err := w.cacheDir()
	if err != nil {
		return nil, nil, err
	}
	insideCache := w.box.Inside(cache, "/tas/cache")
	insideBundle := w.box.Inside(bundle, "/tas/runner")
	program := filepath.Join(insideBundle, "dist", "main.js")
	if m := w.job.Merge; m != nil && m.OwnRunner {
		program = filepath.Join(w.insidePackage(), "node_modules", "tas-runner", "dist", "main.js")
	}
	writable := append(binds, sandbox.Bind{Host: cache, Inside: insideCache})
	readOnly := append(w.tools(), sandbox.Bind{Host: bundle, Inside: insideBundle})
	if modules != "" {
		ro, rw, err := w.mountModules(modules)
		if err != nil {
			return nil, nil, err
		}
		readOnly, writable = append(readOnly, ro...), append(writable, rw...)
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, nil, err
	}
	defer theirs.Close() //nolint:errcheck // the child has its own
	cmd, err := w.box.Command(ctx, sandbox.Spec{
		Args: []string{w.node, program},
		Env:  w.environment(w.job.Env, "PWTEST_CACHE_DIR="+insideCache), Dir: w.insidePackage(),
		ReadOnly: readOnly, Writable: writable, Files: []*os.File{theirs}, Stdout: output, Stderr: output,
		Limits: sandbox.Limits{FileSize: w.job.DiskQuota, OpenFiles: openFiles}, User: sandbox.UserOf(w.job.ProjectID),
	})
	if err != nil {
		ours.Close() //nolint:errcheck // unused
		return nil, nil, err
	}
	started := make(chan error)
	go func() {
		// bwrap dies with the thread that started it; this one stays for as long as the program.
		runtime.LockOSThread()
		started <- sandbox.Start(cmd)
		<-ctx.Done()
	}()
	if err := <-started; err != nil {
		ours.Close() //nolint:errcheck // unused
		return nil, nil, failure("sandbox", "The sandbox could not be started: %v.", err)
	}
	return cmd, ours, nil
}

// mountModules gives the package its shared dependencies: bound over its node_modules, or
// linked there where the box has no view of its own.
func (w *worker) mountModules(modules string) (readOnly, writable []sandbox.Bind, err error) {
	pkg, err := w.openPackage()
	if err != nil {
		return nil, nil, err
	}
	defer pkg.Close()                                     //nolint:errcheck // nothing is kept open
	if err := pkg.RemoveAll("node_modules"); err != nil { // the repository may have one of its own
		return nil, nil, diskTrouble(err)
	}
	if w.box.Level() != sandbox.Bubblewrap {
		if err := os.Symlink(modules, filepath.Join(w.packageDir(), "node_modules")); err != nil {
			return nil, nil, diskTrouble(err)
		}
		return []sandbox.Bind{{Host: modules, Inside: modules}}, nil, nil
	}
	cache := w.path("tmp", ".node-cache") // tools expect to write there
	if err := errors.Join(pkg.Mkdir("node_modules", 0o755), os.MkdirAll(cache, 0o755)); err != nil {
		return nil, nil, diskTrouble(err)
	}
	inside := filepath.Join(w.insidePackage(), "node_modules")
	return []sandbox.Bind{{Host: modules, Inside: inside}}, []sandbox.Bind{{Host: cache, Inside: filepath.Join(inside, ".cache")}}, nil
}

// socketPair answers two ends of a connection, one for us and one to hand on.
func socketPair() (net.Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	mine := os.NewFile(uintptr(fds[0]), "runner")
	defer mine.Close() //nolint:errcheck // FileConn made a copy
	conn, err := net.FileConn(mine)
	return conn, os.NewFile(uintptr(fds[1]), "runner-end"), err
}

func (s *session) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.conn.Write(append(text, '\n'))
	return err
}

// talk leads the conversation until the runner's last word or the end of the stream.
func (s *session) talk(ctx context.Context, start report.Start) error {
	if err := s.send(start); err != nil {
		return nil //nolint:nilerr // the runner is gone: how it ended tells why
	}
	for {
		m, err := s.messages.Next()
		if err != nil {
			if errors.Is(err, report.ErrGarbled) {
				return fault.Wrap(err, fault.External, "The test runner's messages cannot be read.").WithCode("runner-died")
			}
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				s.w.Log.Warn("the connection to the runner broke", "error", err)
			}
			return nil
		}
		if err := s.take(ctx, m); err != nil || s.bye {
			return err
		}
	}
}

// take acts on one message.
func (s *session) take(ctx context.Context, m report.Message) error {
	switch m.Type {
	case "hello":
		s.listing.PlaywrightVersion, s.listing.RunnerVersion, s.listing.RepositoryRunner = m.Playwright, m.Runner, m.RepositoryRunner
		if m.RepositoryRunner == "" {
			s.listing.Warnings = append(s.listing.Warnings, attempt.Warning{Code: "runner-missing",
				Message: "The tests repository has no tas-runner installed: the reports of shards are merged by the service's own. Add it to the devDependencies to pin its version."})
		}
	case "suite":
		for _, p := range m.Projects {
			if p.BrowserAvailable != nil && !*p.BrowserAvailable {
				s.listing.Warnings = append(s.listing.Warnings, attempt.Warning{Code: "browser-not-available",
					Message: fmt.Sprintf("The Playwright project %q needs %s, which this machine does not have.", p.Name, p.BrowserName)})
			}
		}
	case "tests":
		for _, t := range m.Tests {
			listed := t.Listed()
			s.listing.Tests = append(s.listing.Tests, listed)
			s.tests[listed.PlaywrightID] = listed
		}
	case "listed":
		return s.choose(ctx, m)
	case "selected":
		return s.plan(ctx, m)
	case "offer":
		s.feed.offer(s.projectsOf(m.IDs))
	case "want":
		s.feed.want(m.Free, m.Queued)
	case "refused":
		s.feed.refused(m.IDs)
	case "merged":
		s.merged = true
		if len(m.Skipped) > 0 {
			s.w.warn("report-incomplete", fmt.Sprintf("The reports of %d shards could not be read and are missing in the merged one. The results are complete.", len(m.Skipped)))
		}
	case "warning":
		s.warned(m)
	case "edited":
		return s.edited(ctx, m)
	case "failed":
		e := m.Failure()
		if s.fatal {
			return s.cannotRun(e.Code, e.Message)
		}
		return failure(e.Code, "%s", e.Message)
	case "error":
		if !s.started {
			e := m.Failure()
			s.listing.Errors, s.late = append(s.listing.Errors, e), true
			return nil
		}
		return s.event(m)
	case "testBegin", "testEnd":
		err := s.event(m)
		for _, a := range m.Attachments {
			s.uploads.attachment(m.ID, m.Retry, a)
		}
		return err
	case "recover":
		s.recover(ctx, m)
	case "step":
		s.steps.Take(m)
	case "over":
		return s.event(m)
	case "hung":
		s.w.Log.Warn("a test hung and its worker process was killed", "test", m.ID, "limitMs", m.LimitMs)
	case "end":
		s.ended, s.status = true, m.Status
	case "bye":
		s.bye = true
		if s.fatal {
			return s.cannotRun("bad-config", "The tests could not be listed.")
		}
	}
	return nil
}

func (s *session) event(m report.Message) error {
	if e, ok := m.Event(); ok && s.started {
		if e.End != nil {
			s.steps.Give(e.End)
		}
		return s.stream.add(e)
	}
	return nil
}

// cannotRun explains a suite in which nothing can run, once the runner has said all, by
// the first errors that it told.
func (s *session) cannotRun(code, message string) error {
	var told []string
	for _, e := range s.listing.Errors[:min(3, len(s.listing.Errors))] {
		told = append(told, locate(e))
	}
	if len(told) > 0 {
		message = strings.Join(told, "\n")
	}
	return failure(code, "%s", message)
}

// locate begins a message with its place, where that lies in the repository.
func locate(e attempt.Error) string {
	if e.Location == nil || e.Location.File == "" || filepath.IsAbs(e.Location.File) {
		return e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.Location.File, e.Location.Line, e.Message)
}
