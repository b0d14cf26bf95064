// Command demo shows the main job: it opens the demo shop, starts the service with a
// project for the shop's tests, runs the suite through the public API and shows what
// came of it. It uses the service as any caller would: the tas program and the API.
//
// DEMO_EXIT=1 ends it after the verdict, with the verdict's exit status; DEMO_BREAK
// names switches of the shop to break first (see demo/README.md). DEMO_HEAL names switches to
// turn on after the suite has passed: it is run again then, and what fails is healed.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"tas-service/client"
	"tas-service/demo/shop"
	"tas-service/demo/stage"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo: "+err.Error())
		code = 2
	}
	os.Exit(code)
}

func run() (code int, err error) {
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	if len(os.Args) > 1 && os.Args[1] == "prepare" {
		return 0, stage.Vendor(filepath.Join(root, "demo", "tests"))
	}
	at := stage.At(root, "demo")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	breaks := names(os.Getenv("DEMO_BREAK"))
	drift := names(os.Getenv("DEMO_HEAL"))
	shop, err := openShop(breaks)
	if err != nil {
		return 0, err
	}
	defer shop.close()
	if err := stage.Repository(root, at.Repo()); err != nil {
		return 0, fmt.Errorf("make the tests repository: %w", err)
	}
	addr, err := freeAddress(os.Getenv("TAS_ADDR"))
	if err != nil {
		return 0, err
	}
	p, err := at.Project("Morrow & Leaf", map[string]string{"SHOP_URL": shop.url})
	if err != nil {
		return 0, err
	}
	service, err := at.Start(ctx, addr)
	if err != nil {
		return 0, err
	}
	defer service.Stop()
	c := &client.Client{BaseURL: "http://" + addr, APIKey: p.Key}
	fmt.Printf("\n  Shop     %s%s\n  Service  %s (log: %s)\n\n", shop.url, broken(breaks), c.BaseURL, relative(root, at.Log()))
	verdict, err := runSuite(ctx, c, service, client.StartOptions{}, at.Welcome())
	if err != nil {
		return 0, err
	}
	if len(drift) > 0 && verdict == "pass" {
		if err := healSuite(ctx, c, service, shop, drift); err != nil {
			return 0, err
		}
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
	case <-service.Ended:
		return 0, fmt.Errorf("the service ended by itself; its log: %s", at.Log())
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

// names reads a list of switches.
func names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// stand is the shop as it is open.
type stand struct {
	url     string
	close   func()
	handler atomic.Pointer[http.Handler]
}

// turn opens the shop anew, at the same address, with these switches on.
func (s *stand) turn(breaks []string) error {
	h, err := shop.New(shop.Config{Breaks: breaks})
	if err == nil {
		var handler http.Handler = h
		s.handler.Store(&handler)
	}
	return err
}

// openShop serves the shop on its usual port, or on another when that is taken.
func openShop(breaks []string) (*stand, error) {
	s := &stand{}
	if err := s.turn(breaks); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:4300")
	if err != nil {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.handler.Load()).ServeHTTP(w, r) }), ReadHeaderTimeout: 5 * time.Second}
	go srv.Serve(l) //nolint:errcheck // ends with Close
	s.url, s.close = "http://"+l.Addr().String(), func() { srv.Close() }
	return s, nil
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
		return stage.FreeAddress()
	}
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // only asked
	return l.Addr().String(), nil
}
