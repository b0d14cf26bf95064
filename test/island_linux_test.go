package test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tas-service/internal/project"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// An island is a machine of its own as far as one machine can be two: other network, other
// files. What leads to it are the ports that it is told of, by name: the service's, the
// repository's, and a proxy to where npm has its packages.

// islandEnv makes this test binary an island that runs its arguments.
const islandEnv = "TAS_TEST_ISLAND"

// island brings the network up, hides the service's files, opens a way to each port and
// runs a program. It is the whole of the process and never comes back.
func island() {
	settings := strings.Split(os.Getenv(islandEnv), "|")
	hide, sockets, ports := settings[0], settings[1], strings.Split(settings[2], ",")
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "island:", err)
			os.Exit(1)
		}
	}
	fail(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	fail(unix.Mount("island", hide, "tmpfs", 0, "mode=0711"))
	fail(loopbackUp())
	for _, port := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		fail(err)
		go ferry(l, func() (net.Conn, error) { return net.Dial("unix", filepath.Join(sockets, port)) })
	}
	os.Unsetenv(islandEnv)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// ferry carries connections from a listener to wherever dial leads.
func ferry(l net.Listener, dial func() (net.Conn, error)) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			out, err := dial()
			if err != nil {
				return
			}
			defer out.Close()
			go func() {
				io.Copy(out, in) //nolint:errcheck // one of both is gone
				if c, ok := out.(*net.UnixConn); ok {
					c.CloseWrite()
				}
			}()
			io.Copy(in, out) //nolint:errcheck // one of both is gone
		}()
	}
}

// bridge lets connections at a unix socket out to a port of this machine.
func bridge(t *testing.T, sockets, port string) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(sockets, port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go ferry(l, func() (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+port) })
}

// wayOut is a proxy to the world, for npm.
func wayOut(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			r.RequestURI = ""
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			defer resp.Body.Close()
			w.WriteHeader(resp.StatusCode)
			io.Copy(w, resp.Body) //nolint:errcheck // npm is gone
			return
		}
		out, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer out.Close()
		in, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer in.Close()
		io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n") //nolint:errcheck // the copy tells
		go io.Copy(out, in)                           //nolint:errcheck // one of both is gone
		io.Copy(in, out)                              //nolint:errcheck // one of both is gone
	}))
	t.Cleanup(srv.Close)
	return srv
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

// TestWorkersElsewhere runs a sharded run on workers that share neither network nor files
// with the service: what they have in common is HTTP. It takes root to make an island.
func TestWorkersElsewhere(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a process a network of its own: run this test as root")
	}
	sockets, err := os.MkdirTemp("", "tas-island-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sockets) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	proxy := wayOut(t)
	// The wrapper is what the service starts; which ports there are it reads when it starts.
	wrapper := filepath.Join(sockets, "wrapper")
	script := fmt.Sprintf("#!/bin/sh\nexport HTTPS_PROXY=%[1]s HTTP_PROXY=%[1]s NO_PROXY=127.0.0.1 %[2]s=\"$(cat %[3]s/settings)\"\nexec unshare --net --mount -- %[4]s \"$@\"\n", proxy.URL, islandEnv, sockets, self)
	if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := harness.Start(t, harness.Options{Files: map[string]string{"tests/a.spec.ts": waiting("", 200, 200), "tests/b.spec.ts": waiting("", 200, 200),
		"tests/where.spec.ts": `import { test, expect } from '@playwright/test';
import * as os from 'os';
test('is elsewhere', async ({}, info) => {
  expect(Object.keys(os.networkInterfaces())).toEqual(['lo']);
  await info.attach('note.txt', { body: 'from elsewhere', contentType: 'text/plain' });
});
`},
		Config: func(c *server.Config) {
			c.MaxAttempts, c.SandboxEnv = 3, []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"}
			c.Program = []string{wrapper, harness.Binary()}
		}})
	forge := newGitServer(t, s.Repo, "token")
	if err := s.Server.Store().UpdateProject(t.Context(), s.ProjectID, func(p *project.Project) error {
		p.Repository.URL, p.Repository.Token = forge.URL+"/.git", "token"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ports := []string{portOf(t, s.URL), portOf(t, forge.URL), portOf(t, proxy.URL)}
	for _, port := range ports {
		bridge(t, sockets, port)
	}
	// What is hidden are all the files of this test: the service's data and the repository.
	settings := strings.Join([]string{filepath.Dir(s.Data), sockets, strings.Join(ports, ",")}, "|")
	if err := errors.Join(os.WriteFile(filepath.Join(sockets, "settings"), []byte(settings), 0o644), syscall.Access(s.Data, 0)); err != nil {
		t.Fatal(err)
	}
	st := s.Wait(t, s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 2}))
	harness.Ledger(t, st)
	if st["verdict"] != "pass" || st["passed"] != 5.0 {
		t.Fatalf("status: %v", st)
	}
	if runs, _ := filepath.Glob(filepath.Join(s.Data, "work", "runs", "*")); len(runs) > 0 {
		t.Errorf("workers wrote into the service's folder: %v", runs)
	}
	if mirrors, _ := filepath.Glob(filepath.Join(s.Data, "work", "mirrors", "*")); len(mirrors) > 0 {
		t.Errorf("workers wrote into the service's folder: %v", mirrors)
	}
	if a := s.Call(t, "GET", "/public-api/v1/test-runs/"+st["runId"].(string)+"/report", nil); a.Status != 200 {
		t.Errorf("report: %s", a.Text)
	}
}
