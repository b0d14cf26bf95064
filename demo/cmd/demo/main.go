// Command demo shows the main job: it opens the demo shop, starts the service with a
// project for the shop's tests, runs the suite through the public API and shows what
// came of it. It uses the service as any caller would: the tas program and the API.
//
// DEMO_EXIT=1 ends it after the verdict, with the verdict's exit status; DEMO_BREAK
// names switches of the shop to break first (see demo/README.md).
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tas-service/client"
	"tas-service/demo/shop"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo: "+err.Error())
		code = 2
	}
	os.Exit(code)
}

// places are where the demo keeps its things, below the source tree.
type places struct{ root, dir, repo, data, log string }

func run() (code int, err error) {
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	at := places{root: root, dir: filepath.Join(root, ".tas", "demo")}
	at.repo, at.data, at.log = filepath.Join(at.dir, "repo"), filepath.Join(at.dir, "data"), filepath.Join(at.dir, "service.log")
	if err := os.MkdirAll(at.data, 0o755); err != nil {
		return 0, err
	}
	if len(os.Args) > 1 && os.Args[1] == "prepare" {
		return 0, prepareTests(filepath.Join(root, "demo", "tests"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	breaks := strings.FieldsFunc(os.Getenv("DEMO_BREAK"), func(r rune) bool { return r == ',' || r == ' ' })
	shopURL, closeShop, err := openShop(breaks)
	if err != nil {
		return 0, err
	}
	defer closeShop()
	if err := makeRepository(at); err != nil {
		return 0, fmt.Errorf("make the tests repository: %w", err)
	}
	addr, err := freeAddress(os.Getenv("TAS_ADDR"))
	if err != nil {
		return 0, err
	}
	p, err := ensureProject(at, shopURL)
	if err != nil {
		return 0, err
	}
	service, err := startService(ctx, at, addr)
	if err != nil {
		return 0, err
	}
	defer service.stop()
	c := &client.Client{BaseURL: "http://" + addr, APIKey: p.Key}
	fmt.Printf("\n  Shop     %s%s\n  Service  %s (log: %s)\n\n", shopURL, broken(breaks), c.BaseURL, relative(root, at.log))
	verdict, err := runSuite(ctx, c, service)
	if err != nil {
		return 0, err
	}
	if os.Getenv("DEMO_EXIT") == "1" {
		if verdict != "pass" {
			return 1, nil
		}
		return 0, nil
	}
	fmt.Println("The service keeps running. Ctrl-C stops it.")
	select {
	case <-ctx.Done():
	case <-service.ended:
		return 0, fmt.Errorf("the service ended by itself; its log: %s", at.log)
	}
	return 0, nil
}

func broken(breaks []string) string {
	if len(breaks) == 0 {
		return ""
	}
	return "  (broken on purpose: " + strings.Join(breaks, ", ") + ")"
}

func relative(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil {
		return rel
	}
	return path
}

// openShop serves the shop on its usual port, or on another when that is taken.
func openShop(breaks []string) (url string, closeShop func(), err error) {
	handler, err := shop.New(shop.Config{Breaks: breaks})
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:4300")
	if err != nil {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return "", nil, err
		}
	}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go srv.Serve(l) //nolint:errcheck // ends with Close
	return "http://" + l.Addr().String(), func() { srv.Close() }, nil
}

// freeAddress answers an address that nobody listens on: the wanted one if it is free.
func freeAddress(wanted string) (string, error) {
	usual := wanted == ""
	if usual {
		wanted = "127.0.0.1:8700"
	}
	l, err := net.Listen("tcp", wanted)
	if err != nil && usual {
		fmt.Printf("  %s is taken, so the service gets another port.\n", wanted)
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // only asked
	return l.Addr().String(), nil
}

// service is a running `tas serve`.
type service struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

func (p places) tas() string { return filepath.Join(p.root, "bin", "tas") }

// startService starts the service and waits until it is ready.
func startService(ctx context.Context, at places, addr string) (*service, error) {
	log, err := os.OpenFile(at.log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the child has its own
	cmd := exec.Command(at.tas(), "serve")
	cmd.Env = append(os.Environ(), "TAS_ADDR="+addr, "TAS_DATA_DIR="+at.data, "TAS_BROWSERS_DIR="+filepath.Join(at.root, ".tas", "browsers"))
	cmd.Stdout, cmd.Stderr = log, log
	// Not in our group, so that Ctrl-C reaches it once, from us, after we have said why.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the service (run make build first): %w", err)
	}
	s := &service{cmd: cmd, ended: make(chan struct{})}
	go func() {
		cmd.Wait() //nolint:errcheck // whoever waits reads the log
		close(s.ended)
	}()
	for {
		resp, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			resp.Body.Close() //nolint:errcheck // only the status counts
			if resp.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(at.log)
			return nil, errors.New("the service did not start:\n" + string(text))
		case <-ctx.Done():
			s.stop()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the service with what it still runs.
func (s *service) stop() {
	s.cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
	<-s.ended
}
