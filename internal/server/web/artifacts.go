package web

import (
	"net/http"
	"slices"
)

// Types that are shown from the pages' own origin: a browser runs nothing in them. All
// else that tests left behind opens from the content's origin, where no session exists.
var (
	images = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
	videos = []string{"video/webm", "video/mp4"}
)

// artifact answers what a test left behind, to whoever may see the run.
func (a *App) artifact(w http.ResponseWriter, r *http.Request, v *visit) error {
	f, err := a.attachment(r, v)
	if err != nil {
		return err
	}
	switch inline := slices.Contains(images, f.ContentType) || slices.Contains(videos, f.ContentType); {
	case r.URL.Query().Get("viewer") != "" && f.ViewerURL != "" && a.Separate:
		http.Redirect(w, r, f.ViewerURL, http.StatusSeeOther)
		return nil
	case !inline || a.Blobs == nil:
		http.Redirect(w, r, f.URL, http.StatusSeeOther)
		return nil
	}
	blob, err := a.Blobs.Open(r.Context(), f.Key)
	if err != nil {
		return err
	}
	defer blob.Close() //nolint:errcheck // read only
	asImage(w, f.ContentType)
	http.ServeContent(w, r, "", blob.ModTime, blob)
	return nil
}

// asImage says of an answer that it is a stranger's image or video, and nothing else.
func asImage(w http.ResponseWriter, contentType string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	// Whatever its bytes are: opened by itself it is nobody's page.
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, max-age=3600")
}
