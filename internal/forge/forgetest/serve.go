package forgetest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Trouble is what goes wrong with one call.
type Trouble struct {
	Status int // answered instead of doing it; 0 for none
	Header map[string]string
	Body   string
	Drop   bool   // the connection is cut instead of doing it
	Lost   bool   // it is done, and the connection is cut instead of answering
	Hang   bool   // it is done, and no answer comes until the caller gives up
	Then   func() // called before the connection is cut
}

// SetTrouble has each call of the API asked for its trouble; calls count from 1 anew.
func (d *Double) SetTrouble(f func(call int, r *http.Request) Trouble) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trouble, d.calls = f, 0
}

// Calls answers how many calls of the API there were since SetTrouble.
func (d *Double) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// serve answers git and the API, with the trouble that was asked for.
func (d *Double) serve(api http.Handler, w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, ".git/") {
		d.serveGit(w, r)
		return
	}
	d.mu.Lock()
	d.calls++
	var trouble Trouble
	if d.trouble != nil {
		trouble = d.trouble(d.calls, r)
	}
	d.mu.Unlock()
	switch {
	case trouble.Drop:
		trouble.then()
		cut(w)
		return
	case trouble.Status != 0:
		for k, v := range trouble.Header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(trouble.Status)
		w.Write([]byte(trouble.Body)) //nolint:errcheck // the caller may be gone
		return
	}
	kept := httptest.NewRecorder()
	// What was begun is done, even if the caller goes away.
	api.ServeHTTP(kept, r.WithContext(context.WithoutCancel(r.Context())))
	body := kept.Body.Bytes()
	if d.check != nil {
		d.check(r, kept.Code, kept.Header(), body)
	}
	switch {
	case trouble.Lost:
		trouble.then()
		cut(w)
		return
	case trouble.Hang:
		<-r.Context().Done()
		cut(w)
		return
	}
	for k, v := range kept.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(kept.Code)
	w.Write(body) //nolint:errcheck // the caller may be gone
}

func (t Trouble) then() {
	if t.Then != nil {
		t.Then()
	}
}

func cut(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close() //nolint:errcheck // that is the trouble
	}
}

// serveGit asks for a token as HTTPS remotes do.
func (d *Double) serveGit(w http.ResponseWriter, r *http.Request) {
	_, password, _ := r.BasicAuth()
	d.mu.Lock()
	by := d.byToken(password)
	path, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	h := d.repo(path)
	allowed := by != nil && h != nil && h.roles[by.id] != "" && (h.roles[by.id] != "read" || !strings.Contains(r.URL.String(), "receive-pack"))
	d.mu.Unlock()
	if !allowed {
		w.Header().Set("WWW-Authenticate", `Basic realm="forge"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	d.git.ServeHTTP(w, r)
}

func (d *Double) byToken(token string) *account {
	for _, a := range d.accounts {
		if token != "" && a.token == token {
			return a
		}
	}
	return nil
}
