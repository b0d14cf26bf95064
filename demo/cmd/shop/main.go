// Command shop serves the demo shop.
//
// SHOP_ADDR is where it listens (127.0.0.1:4300 by default); SHOP_BREAK names switches that break it,
// separated by commas.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"tas-service/demo/shop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until ctx ends, then lets running requests finish.
func run(ctx context.Context) error {
	addr := os.Getenv("SHOP_ADDR")
	if addr == "" {
		addr = "127.0.0.1:4300"
	}
	breaks := strings.FieldsFunc(os.Getenv("SHOP_BREAK"), func(r rune) bool { return r == ',' || r == ' ' })
	handler, err := shop.New(shop.Config{Breaks: breaks})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("Morrow & Leaf is open at http://%s\n", listener.Addr())
	if len(breaks) > 0 {
		fmt.Printf("broken on purpose: %s\n", strings.Join(breaks, ", "))
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		done <- server.Shutdown(grace)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}
