// Package hook is the surface for forges: they tell what happened to repositories.
package hook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/server/route"
)

// Inbox takes webhooks in.
type Inbox interface {
	Take(ctx context.Context, kind forge.Kind, d forge.Delivery) error
}

// Hooks serves forges.
type Hooks struct{ Inbox Inbox }

// readFor bounds the time in which a webhook arrives; forges wait ten seconds for all.
const readFor = 20 * time.Second

// Mount registers the path.
func (h *Hooks) Mount(mux *http.ServeMux) {
	mux.HandleFunc("POST /hooks/{kind}", h.take)
}

func (h *Hooks) take(w http.ResponseWriter, r *http.Request) {
	// Whoever sends slowly holds a connection for so long, and no longer. Not every writer can.
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(readFor)) //nolint:errcheck // see above
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, forge.MaxDelivery))
	control.SetReadDeadline(time.Time{}) //nolint:errcheck // see above
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		err = fault.New(fault.TooLarge, "The webhook is larger than %d MiB.", forge.MaxDelivery>>20).WithFix("Choose fewer events at the forge: pushes, pull requests and comments.")
	case err != nil:
		err = fault.Wrap(err, fault.Invalid, "The webhook did not arrive whole.").WithFix("Send it again.")
	default:
		err = h.Inbox.Take(r.Context(), forge.Kind(r.PathValue("kind")), forge.Delivery{Header: r.Header.Get, Body: body})
	}
	if err != nil {
		route.Write(w, r, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}
