package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tas-service/demo/shop"
)

// app is an application on loopback, with the flows through it.
type app struct {
	name  string
	base  string
	flows []*flow
}

// openApp serves an application until ctx ends. dir is where the packages are.
func openApp(ctx context.Context, name, dir string) (*app, error) {
	flows, err := readFlows(name)
	if err != nil {
		return nil, err
	}
	var h http.Handler
	switch name {
	case "shop":
		h, err = shop.New(shop.Config{MaxVisits: 5000})
	case "swagger":
		h, err = swagger(filepath.Join(dir, "node_modules/swagger-ui-dist"))
	case "wiki":
		h, err = wiki(ctx, dir)
	}
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go s.Serve(l) //nolint:errcheck // it ends with the process
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return &app{name: name, base: "http://" + l.Addr().String(), flows: flows}, nil
}

// swagger is Swagger UI as its package has it, over a small API that keeps nothing.
func swagger(dist string) (http.Handler, error) {
	if _, err := os.Stat(filepath.Join(dist, "swagger-ui-bundle.js")); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /ui/", http.StripPrefix("/ui/", http.FileServer(http.Dir(dist))))
	file := func(name, kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			text, err := driverFiles.ReadFile("driver/swagger/" + name)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", kind)
			w.Write(text) //nolint:errcheck // the browser is gone then
		}
	}
	mux.HandleFunc("GET /{$}", file("index.html", "text/html; charset=utf-8"))
	mux.HandleFunc("GET /openapi.json", file("openapi.json", "application/json"))
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			w.Write([]byte(body)) //nolint:errcheck // the browser is gone then
		}
	}
	mux.HandleFunc("GET /api/books", answer(200, `{"books":[{"id":1,"title":"The Quiet Harbour"},{"id":2,"title":"Salt and Copper"}]}`))
	mux.HandleFunc("POST /api/books", answer(201, `{"id":3,"title":"Northern Bread"}`))
	mux.HandleFunc("GET /api/books/{id}", answer(200, `{"id":2,"title":"Salt and Copper","pages":312}`))
	mux.HandleFunc("DELETE /api/books/{id}", answer(204, ``))
	mux.HandleFunc("GET /api/readers", answer(200, `{"readers":[{"id":7,"name":"Ada"}]}`))
	mux.HandleFunc("POST /api/readers/{id}/loans", answer(201, `{"loan":41}`))
	return mux, nil
}

// wiki is TiddlyWiki as its package builds it: one page that keeps all in the browser.
func wiki(ctx context.Context, dir string) (http.Handler, error) {
	c := exec.CommandContext(ctx, "node", "node_modules/tiddlywiki/tiddlywiki.js", "wiki", "--output", "wiki/output", "--render", "$:/core/save/all", "index.html", "text/plain")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		os.Stderr.Write(out) //nolint:errcheck // the error is told as well
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join(dir, "wiki/output/index.html"))
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page) //nolint:errcheck // the browser is gone then
	}), nil
}
