package faults

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// proxy stands between the workers and the service and does to their messages what a bad
// network does: it holds them back, sends them twice, loses them or their answers.
type proxy struct {
	*httptest.Server
	target string

	mu     sync.Mutex
	random *rand.Rand
	rate   float64 // of messages that something happens to
	cut    bool    // nothing gets through
	faults map[string]int
}

func newProxy(target string) *proxy {
	p := &proxy{target: target, random: rand.New(rand.NewPCG(0, 0)), faults: map[string]int{}}
	p.Server = httptest.NewServer(p)
	return p
}

// begin takes the dice of a schedule.
func (p *proxy) begin(seed uint64, rate float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.random, p.rate, p.cut = rand.New(rand.NewPCG(seed, 1)), rate, false
}

func (p *proxy) sever(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
}

// draw answers what happens to one message.
func (p *proxy) draw() (fault string, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cut:
		fault = "cut"
	case p.random.Float64() < p.rate:
		fault = []string{"delayed", "doubled", "lost", "answer lost", "bad gateway"}[p.random.IntN(5)]
	}
	p.faults[fault]++
	return fault, time.Duration(p.random.IntN(400)) * time.Millisecond
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	fault, delay := p.draw()
	switch fault {
	case "cut", "lost":
		hangUp(w)
		return
	case "bad gateway":
		w.WriteHeader(http.StatusBadGateway)
		return
	case "delayed":
		time.Sleep(delay)
	}
	resp, err := p.send(r, body)
	if err == nil && fault == "doubled" {
		resp.Body.Close()
		resp, err = p.send(r, body)
	}
	if err != nil || fault == "answer lost" {
		if err == nil {
			resp.Body.Close()
		}
		hangUp(w)
		return
	}
	defer resp.Body.Close()
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body) //nolint:errcheck // the worker may be gone
}

func (p *proxy) send(r *http.Request, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, p.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = r.Header.Clone()
	return http.DefaultTransport.RoundTrip(req)
}

func hangUp(w http.ResponseWriter) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		conn.Close()
	}
}
