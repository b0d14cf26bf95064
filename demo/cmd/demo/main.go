// Command demo shows the main job: it opens the demo shop, starts the service with a
// project for the shop's tests, runs the suite through the public API and shows what
// came of it. It uses the service as any caller would: the tas program and the API.
//
// DEMO_EXIT=1 ends it after the verdict, with the verdict's exit status; DEMO_BREAK
// names switches of the shop to break first (see demo/README.md).
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

	breaks := strings.FieldsFunc(os.Getenv("DEMO_BREAK"), func(r rune) bool { return r == ',' || r == ' ' })
	shopURL, closeShop, err := openShop(breaks)
	if err != nil {
		return 0, err
	}
	defer closeShop()
	if err := stage.Repository(root, at.Repo()); err != nil {
		return 0, fmt.Errorf("make the tests repository: %w", err)
	}
	addr, err := freeAddress(os.Getenv("TAS_ADDR"))
	if err != nil {
		return 0, err
	}
	p, err := at.Project("Morrow & Leaf", map[string]string{"SHOP_URL": shopURL})
	if err != nil {
		return 0, err
	}
	service, err := at.Start(ctx, addr)
	if err != nil {
		return 0, err
	}
	defer service.Stop()
	c := &client.Client{BaseURL: "http://" + addr, APIKey: p.Key}
	fmt.Printf("\n  Shop     %s%s\n  Service  %s (log: %s)\n\n", shopURL, broken(breaks), c.BaseURL, relative(root, at.Log()))
	verdict, err := runSuite(ctx, c, service, at.Welcome())
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
