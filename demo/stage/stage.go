package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Stage is where things are kept: a folder below .tas in the source tree.
type Stage struct{ root, dir string }

// At answers the stage of a name.
func At(root, name string) Stage { return Stage{root: root, dir: filepath.Join(root, ".tas", name)} }

// Repo is the folder of the tests repository.
func (s Stage) Repo() string { return filepath.Join(s.dir, "repo") }

// Data is the service's data folder.
func (s Stage) Data() string { return filepath.Join(s.dir, "data") }

// Log is the file of the service's log.
func (s Stage) Log() string { return filepath.Join(s.dir, "service.log") }

// Browsers is the folder for Playwright's own browsers.
func (s Stage) Browsers() string { return filepath.Join(s.root, ".tas", "browsers") }

func (s Stage) tas() string { return filepath.Join(s.root, "bin", "tas") }

// Project is a project in the service.
type Project struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

// Project creates the stage's project at the first time, and gives it these application
// variables. Its key is noted in the stage's folder; a real one belongs into a secret store.
func (s Stage) Project(name string, env map[string]string, more ...string) (Project, error) {
	note := filepath.Join(s.dir, "project.json")
	args := append([]string{"--data-dir", s.Data(), "--repo", "file://" + s.Repo()}, more...)
	for k, v := range env {
		args = append(args, "--env", k+"="+v)
	}
	var p Project
	if text, err := os.ReadFile(note); err == nil && json.Unmarshal(text, &p) == nil {
		if _, err := s.project(append([]string{"set", p.ID}, args...)...); err == nil {
			return p, nil
		}
	}
	if err := os.MkdirAll(s.Data(), 0o755); err != nil {
		return p, err
	}
	out, err := s.project(append([]string{"create", name}, args...)...)
	if err != nil {
		return p, err
	}
	for line := range strings.Lines(out) {
		switch f := strings.Fields(line); {
		case len(f) == 2 && f[0] == "project":
			p.ID = f[1]
		case len(f) == 2 && f[0] == "key":
			p.Key = f[1]
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	return p, os.WriteFile(note, text, 0o600)
}

func (s Stage) project(args ...string) (string, error) {
	out, err := exec.Command(s.tas(), append([]string{"project"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tas project %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// Service is a running `tas serve`.
type Service struct {
	cmd   *exec.Cmd
	Ended chan struct{}
}

// Start starts the service at an address and waits until it is ready.
func (s Stage) Start(ctx context.Context, addr string, env ...string) (*Service, error) {
	log, err := os.OpenFile(s.Log(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the child has its own
	cmd := exec.Command(s.tas(), "serve")
	cmd.Env = append(os.Environ(), "TAS_ADDR="+addr, "TAS_DATA_DIR="+s.Data(), "TAS_BROWSERS_DIR="+s.Browsers())
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = log, log
	// Not in our group, so that Ctrl-C reaches it once, from us, after we have said why.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the service (run make build first): %w", err)
	}
	svc := &Service{cmd: cmd, Ended: make(chan struct{})}
	go func() {
		cmd.Wait() //nolint:errcheck // whoever waits reads the log
		close(svc.Ended)
	}()
	for {
		resp, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			resp.Body.Close() //nolint:errcheck // only the status counts
			if resp.StatusCode == http.StatusOK {
				return svc, nil
			}
		}
		select {
		case <-svc.Ended:
			text, _ := os.ReadFile(s.Log())
			return nil, errors.New("the service did not start:\n" + string(text))
		case <-ctx.Done():
			svc.Stop()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

var welcome = regexp.MustCompile(`\blink=(\S+/welcome/\S+)`)

// FreeAddress answers an address on loopback that nobody listens on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Welcome answers the link that makes the first administrator, which the service prints on
// its log as long as there is none; "" when there is one.
func (s Stage) Welcome() string {
	text, err := os.ReadFile(s.Log())
	if err != nil {
		return ""
	}
	if m := welcome.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// PID is the service's process.
func (s *Service) PID() int { return s.cmd.Process.Pid }

// Stop ends the service with what it still runs.
func (s *Service) Stop() {
	s.cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
	<-s.Ended
}
