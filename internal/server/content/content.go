// Package content serves what runs left behind, under signed links that expire. All of
// it is strangers' content: it is served from an origin of its own, where no cookie of
// the web app exists; where the operator has only one origin, it is locked into a
// sandbox without any.
package content

import (
	"errors"
	"net/http"
	"strings"

	"tas-service/internal/artifact"
	"tas-service/internal/fault"
	"tas-service/internal/secret"
	"tas-service/internal/server/route"
)

// Pages serves artifacts.
type Pages struct {
	Blobs artifact.Blobs
	Links artifact.Links
	// Separate says that ContentURL is another origin than the web app's.
	Separate bool
}

// policy lets Playwright's report and trace viewer work, and nothing reach elsewhere.
const policy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; " +
	"frame-src 'self' blob: data:; worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// locked is added on a shared origin: scripts run, but as nobody. The trace viewer needs
// a service worker and does not work there.
const locked = "; sandbox allow-scripts allow-popups allow-downloads"

// Mount registers the one path.
func (p *Pages) Mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /content/{token}/{run}/{name...}", p.serve)
}

func (p *Pages) serve(w http.ResponseWriter, r *http.Request) {
	runID, name := r.PathValue("run"), r.PathValue("name")
	if err := p.Links.Check(runID, r.PathValue("token")); err != nil {
		f := fault.Wrap(err, fault.Forbidden, "This link is not one of this service, or it was changed.")
		if errors.Is(err, secret.ErrExpired) {
			f = fault.Wrap(err, fault.Forbidden, "This link has expired.").WithFix("Ask for a new one: GET /test-runs/{id}/report or …/attachments.")
		}
		route.Write(w, r, f)
		return
	}
	clean, err := artifact.CleanName(name)
	if err != nil {
		route.Write(w, r, err)
		return
	}
	blob, err := p.Blobs.Open(r.Context(), artifact.RunPrefix(runID)+clean)
	if err != nil {
		route.Write(w, r, err)
		return
	}
	defer blob.Close() //nolint:errcheck // read only
	h := w.Header()
	csp := policy
	if !p.Separate {
		csp += locked
	}
	h.Set("Content-Security-Policy", csp)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	contentType := blob.ContentType
	if p.Separate {
		// The trace viewer fetches its traces from its own origin only.
		h.Set("Service-Worker-Allowed", r.URL.Path[:strings.LastIndex(r.URL.Path, "/")+1])
	}
	h.Set("Content-Type", contentType)
	http.ServeContent(w, r, "", blob.ModTime, blob)
}
