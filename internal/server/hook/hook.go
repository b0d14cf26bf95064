// Package hook is the surface for forges: they tell what happened to repositories.
package hook

import (
	"context"
	"errors"
	"io"
	"net/http"

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

// Path answers where a kind of forge sends its webhooks.
func Path(kind forge.Kind) string { return "/hooks/" + string(kind) }

// Mount registers the path.
func (h *Hooks) Mount(mux *http.ServeMux) {
	mux.HandleFunc("POST /hooks/{kind}", h.take)
}

func (h *Hooks) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, forge.MaxDelivery))
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
