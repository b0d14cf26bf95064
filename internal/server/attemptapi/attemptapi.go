// Package attemptapi is the surface for workers: what an attempt and the service say to
// each other over HTTP, each request with the attempt's own token.
package attemptapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"tas-service/internal/attempt"
	"tas-service/internal/dispatch"
	"tas-service/internal/fault"
	"tas-service/internal/server/route"
)

// API serves workers.
type API struct{ Dispatcher *dispatch.Dispatcher }

// maxBody bounds a listing or a batch: 20,000 tests take about 10 MB.
const maxBody = 256 << 20

// Mount registers every path.
func (a *API) Mount(mux *http.ServeMux) {
	d := a.Dispatcher
	post(mux, a, attempt.Claim, func(ctx context.Context, at dispatch.Attempt, _ struct{}) (attempt.Job, error) {
		return d.Claim(ctx, at)
	})
	post(mux, a, attempt.Heartbeat, d.Heartbeat)
	post(mux, a, attempt.Join, d.Join)
	post(mux, a, attempt.Plan, d.TakeListing)
	post(mux, a, attempt.Selected, d.TakeChosen)
	post(mux, a, attempt.Pin, d.Pin)
	post(mux, a, attempt.EditsMade, d.TakeEdited)
	post(mux, a, attempt.Lease, d.Lease)
	post(mux, a, attempt.Events, d.TakeBatch)
	post(mux, a, attempt.Begin, d.BeginUpload)
	post(mux, a, attempt.End, d.EndUpload)
	post(mux, a, attempt.Recover, d.Recover)
	post(mux, a, attempt.Finish, d.TakeOutcome)
	mux.HandleFunc("PUT "+attempt.Prefix+attempt.Artifact, a.artifact)
	mux.HandleFunc("GET "+attempt.Prefix+attempt.Artifact, a.read)
	mux.HandleFunc("GET "+attempt.Prefix+attempt.Orphans, a.orphans)
}

// post serves one call: decode, do, encode.
func post[In, Out any](mux *http.ServeMux, a *API, path string, do func(context.Context, dispatch.Attempt, In) (Out, error)) {
	mux.HandleFunc("POST "+attempt.Prefix+path, func(w http.ResponseWriter, r *http.Request) {
		at, err := a.who(r)
		if err != nil {
			route.Write(w, r, err)
			return
		}
		var in In
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
			route.Write(w, r, fault.Wrap(err, fault.Invalid, "The message cannot be read: %v.", err))
			return
		}
		out, err := do(r.Context(), at, in)
		if err != nil {
			route.Write(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(out) //nolint:errcheck // the worker is gone and asks again
	})
}

func (a *API) who(r *http.Request) (dispatch.Attempt, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return dispatch.Attempt{}, fault.New(fault.Unauthenticated, "An attempt's token is missing.")
	}
	return a.Dispatcher.Authenticate(r.Context(), token)
}

func (a *API) artifact(w http.ResponseWriter, r *http.Request) {
	at, err := a.who(r)
	if err != nil {
		route.Write(w, r, err)
		return
	}
	q := r.URL.Query()
	retry, _ := strconv.Atoi(q.Get("retry"))
	out, err := a.Dispatcher.StoreArtifact(r.Context(), at, attempt.Upload{ID: q.Get("id"), Name: q.Get("name"), Test: q.Get("test"),
		Retry: retry, ContentType: r.Header.Get("Content-Type")}, r.Body)
	if err != nil {
		route.Write(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out) //nolint:errcheck // the worker is gone
}

// read streams an artifact of the attempt's own run, named by its key.
func (a *API) read(w http.ResponseWriter, r *http.Request) {
	at, err := a.who(r)
	if err != nil {
		route.Write(w, r, err)
		return
	}
	blob, err := a.Dispatcher.ReadArtifact(r.Context(), at, r.URL.Query().Get("key"))
	if err != nil {
		route.Write(w, r, err)
		return
	}
	defer blob.Close() //nolint:errcheck // read only
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(blob.Size, 10))
	io.Copy(w, blob) //nolint:errcheck // the worker sees that it was cut off
}

// orphans streams results, one JSON object a line. An answer that breaks off is told by
// its last line, which is no object.
func (a *API) orphans(w http.ResponseWriter, r *http.Request) {
	at, err := a.who(r)
	if err != nil {
		route.Write(w, r, err)
		return
	}
	out := json.NewEncoder(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	err = a.Dispatcher.Orphans(r.Context(), at, func(o attempt.Orphan) error { return out.Encode(o) })
	if err != nil {
		out.Encode(err.Error()) //nolint:errcheck // the worker is gone, or reads that it broke off
	}
}
