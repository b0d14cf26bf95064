// Package process runs attempts as child processes on the service's own machine. They
// outlive the service: one that restarts finds them by the files it wrote of them.
package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"tas-service/internal/executor"
	"tas-service/internal/fault"
)

// Config says how attempts are started.
type Config struct {
	Program []string // the program and its first arguments: ["/…/tas", "attempt"]
	Dir     string   // where this executor notes what it started
	Work    string   // the attempts' own folder
	Env     []string // their whole environment
}

// Executor is an executor.Executor of child processes.
type Executor struct {
	cfg     Config
	changed chan struct{}

	mu       sync.Mutex
	children map[string]*child // started by this process
}

var _ executor.Executor = (*Executor)(nil)

type child struct {
	pid    int
	exited bool
	reason string
	done   chan struct{}
}

// note is what is kept on disk of a started attempt.
type note struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // when the process started, so that a reused number is not taken for it
}

const noteFile = "process.json"

// New makes the folders it needs.
func New(cfg Config) (*Executor, error) {
	// Test code may run as another user, who must get through to its run's own folder.
	for dir, mode := range map[string]os.FileMode{cfg.Dir: 0o700, cfg.Work: 0o711} {
		if err := os.MkdirAll(dir, mode); err != nil {
			return nil, fmt.Errorf("make the executor's folder: %w", err)
		}
	}
	return &Executor{cfg: cfg, changed: make(chan struct{}, 1), children: map[string]*child{}}, nil
}

// Changed receives when an attempt has exited.
func (e *Executor) Changed() <-chan struct{} { return e.changed }

func (e *Executor) dir(id string) string { return filepath.Join(e.cfg.Dir, id) }

// Start starts the attempt's process with its token on standard input.
func (e *Executor) Start(_ context.Context, spec executor.Spec) error {
	if spec.ID == "" || spec.ID != filepath.Base(spec.ID) {
		return fault.New(fault.Internal, "an attempt cannot have the ID %q", spec.ID)
	}
	err := os.Mkdir(e.dir(spec.ID), 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The executor cannot write to its folder.")
	}
	c, err := e.spawn(spec)
	if err != nil {
		return errors.Join(fault.Wrap(err, fault.Unavailable, "The attempt's process could not be started."), os.RemoveAll(e.dir(spec.ID)))
	}
	e.mu.Lock()
	e.children[spec.ID] = c
	e.mu.Unlock()
	return nil
}

func (e *Executor) spawn(spec executor.Spec) (*child, error) {
	log, err := os.OpenFile(filepath.Join(e.dir(spec.ID), "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the child has its own
	args := append(append([]string(nil), e.cfg.Program[1:]...), "--server", spec.Server, "--work", e.cfg.Work, "--id", spec.ID)
	cmd := exec.Command(e.cfg.Program[0], args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = e.cfg.Env, e.cfg.Work, log, log
	cmd.Stdin = strings.NewReader(spec.Token + "\n")
	// A session of its own: neither Ctrl-C at the service's terminal nor its end ends it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c := &child{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// A child may die with the thread that started it; this one lives as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		c.pid = cmd.Process.Pid
		started <- e.write(spec.ID, note{PID: c.pid, Start: startOf(c.pid)})
		err := cmd.Wait()
		e.mu.Lock()
		c.exited = true
		c.reason = "exit status 0"
		if err != nil {
			c.reason = err.Error()
		}
		if last := tail(filepath.Join(e.dir(spec.ID), "log")); err != nil && last != "" {
			c.reason += ": " + last
		}
		e.mu.Unlock()
		close(c.done)
		select {
		case e.changed <- struct{}{}:
		default:
		}
	}()
	return c, <-started
}

func (e *Executor) write(id string, n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.dir(id), noteFile), text, 0o600)
}

// Observe lists this process's children and what earlier ones left.
func (e *Executor) Observe(context.Context) ([]executor.Observation, error) {
	entries, err := os.ReadDir(e.cfg.Dir)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The executor's folder cannot be read.")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []executor.Observation
	for _, entry := range entries {
		id := entry.Name()
		o := executor.Observation{ID: id, State: executor.Running}
		if c := e.children[id]; c != nil {
			if c.exited {
				o.State, o.Reason = executor.Exited, c.reason
			}
		} else if _, alive := e.orphan(id); !alive {
			o.State, o.Reason = executor.Exited, "it ended while the service was not running"
		}
		out = append(out, o)
	}
	return out, nil
}

// orphan answers the process that an earlier service started, and whether it lives.
func (e *Executor) orphan(id string) (pid int, alive bool) {
	text, err := os.ReadFile(filepath.Join(e.dir(id), noteFile))
	if err != nil {
		return 0, false
	}
	var n note
	if json.Unmarshal(text, &n) != nil || n.PID <= 1 {
		return 0, false
	}
	start := startOf(n.PID)
	return n.PID, start != "" && start == n.Start
}

// stopAfter is how long a cancelled attempt may take to end by itself.
const stopAfter = 5 * time.Second

// Cancel asks the attempt to end, and ends it when it does not.
func (e *Executor) Cancel(ctx context.Context, id string) error {
	e.mu.Lock()
	c := e.children[id]
	e.mu.Unlock()
	pid, alive := 0, false
	if c != nil {
		e.mu.Lock()
		pid, alive = c.pid, !c.exited
		e.mu.Unlock()
	} else {
		pid, alive = e.orphan(id)
	}
	if !alive {
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fault.Wrap(err, fault.Unavailable, "The attempt's process cannot be ended.")
	}
	go func() {
		deadline := time.Now().Add(stopAfter)
		for time.Now().Before(deadline) {
			if startOf(pid) == "" {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		if c != nil || stillThere(e, id) {
			syscall.Kill(-pid, syscall.SIGKILL) //nolint:errcheck // it may just have ended
		}
	}()
	return ctx.Err()
}

func stillThere(e *Executor, id string) bool {
	_, alive := e.orphan(id)
	return alive
}

// Reap removes what was noted of an attempt that has exited.
func (e *Executor) Reap(_ context.Context, id string) error {
	e.mu.Lock()
	c := e.children[id]
	if c != nil && !c.exited {
		e.mu.Unlock()
		return fault.New(fault.Conflict, "the attempt still runs")
	}
	delete(e.children, id)
	e.mu.Unlock()
	return os.RemoveAll(e.dir(id))
}

// startOf answers when a live process started, "" for one that is gone or only waits to
// be reaped. The form differs between systems; it is only compared.
func startOf(pid int) string {
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		// The second field is the program's name in brackets, with any character in it.
		if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(fields) > 19 && fields[0] != "Z" {
			return fields[19]
		}
		return ""
	}
	if runtime.GOOS == "linux" {
		return ""
	}
	out, err := exec.Command("ps", "-o", "lstart=", "-p", fmt.Sprint(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// tail answers the last line of a log, shortened.
func tail(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // read only
	const most = 1000
	if info, err := f.Stat(); err == nil && info.Size() > most {
		f.Seek(-most, 2) //nolint:errcheck // the beginning serves as well
	}
	buf := make([]byte, most)
	n, _ := f.Read(buf)
	lines := strings.Split(strings.TrimSpace(string(buf[:n])), "\n")
	return lines[len(lines)-1]
}
