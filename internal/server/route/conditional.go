package route

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// maxTagged bounds an answer that is held back to be tagged; a larger one goes out as it is.
const maxTagged = 4 << 20

// Conditional gives answers to GET below a prefix an ETag (RFC 9110, section 8.8.3) made of
// their bytes, and answers 304 to who has them already. The work of making them is done
// all the same: what is spared is the way.
func Conditional(prefix string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, prefix) {
			next.ServeHTTP(w, r)
			return
		}
		held := &tagging{w: w}
		next.ServeHTTP(held, r)
		held.send(r.Header.Values("If-None-Match"))
	})
}

// tagging holds an answer back until it is complete, as far as it is small.
type tagging struct {
	w      http.ResponseWriter
	status int
	body   bytes.Buffer
	gone   bool // sent without a tag
}

func (t *tagging) Header() http.Header { return t.w.Header() }

func (t *tagging) WriteHeader(status int) {
	if t.status == 0 {
		t.status = status
	}
}

func (t *tagging) Write(b []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	if !t.gone && t.body.Len()+len(b) > maxTagged {
		t.gone = true
		t.w.WriteHeader(t.status)
		if _, err := t.w.Write(t.body.Bytes()); err != nil {
			return 0, err
		}
	}
	if t.gone {
		return t.w.Write(b)
	}
	return t.body.Write(b)
}

func (t *tagging) Unwrap() http.ResponseWriter { return t.w }

func (t *tagging) send(has []string) {
	switch {
	case t.gone || t.status == 0:
		return
	case t.status == http.StatusOK:
		sum := sha256.Sum256(t.body.Bytes())
		tag := `"` + hex.EncodeToString(sum[:16]) + `"`
		h := t.w.Header()
		h.Set("ETag", "W/"+tag) // weak: compressed or not, it is the same
		if h.Get("Cache-Control") == "" {
			h.Set("Cache-Control", "private, no-cache")
		}
		if matches(has, tag) {
			h.Del("Content-Type")
			h.Del("Content-Length")
			t.w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	t.w.WriteHeader(t.status)
	t.w.Write(t.body.Bytes()) //nolint:errcheck // the caller is gone
}

// matches reports whether If-None-Match names the tag, by the weak comparison that RFC
// 9110 asks for.
func matches(has []string, tag string) bool {
	for _, line := range has {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
				return true
			}
		}
	}
	return false
}
