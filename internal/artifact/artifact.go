// Package artifact is what runs leave behind: traces, videos, screenshots, reports.
// It knows their names, how they are kept (Blobs) and how a link to one is made that
// opens without sign-in until it expires.
package artifact

import (
	"context"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/secret"
)

// Kind sorts attachments for those who look at them.
type Kind string

// The kinds of the API.
const (
	Trace      Kind = "trace"
	Screenshot Kind = "screenshot"
	Video      Kind = "video"
	HAR        Kind = "har"
	Log        Kind = "log"
	Other      Kind = "other"
)

// Artifact is one kept file of a run.
type Artifact struct {
	ID          string
	RunID       string
	TestID      string // empty: of the run as a whole
	Browser     string
	Retry       int
	Name        string // as the test named it
	Kind        Kind
	ContentType string
	Size        int64  // bytes
	Key         string // where Blobs keeps it
	CreatedAt   time.Time
}

// Blobs keeps bytes under keys with slashes. Implementations stream: nothing is held
// whole in memory. Open answers fault.NotFound for an unknown key. Put is atomic: a
// reader sees all of the new bytes or none. Safe for concurrent use.
type Blobs interface {
	Put(ctx context.Context, key, contentType string, r io.Reader) (size int64, err error)
	Open(ctx context.Context, key string) (*Blob, error)
	DeleteAll(ctx context.Context, prefix string) error
	// Size answers how many bytes a blob has.
	Size(ctx context.Context, key string) (int64, error)
	// Direct reports whether whoever has an UploadURL can put a blob there without us.
	Direct() bool
	// UploadURL answers where exactly so many bytes of this type can be PUT as key, for
	// UploadTTL from now on; fault.Conflict where Direct is false.
	UploadURL(ctx context.Context, key, contentType string, size int64) (string, error)
	// Check answers nil when the store can be written to.
	Check(ctx context.Context) error
	Close() error
}

// UploadTTL is how long an upload's address can be used.
const UploadTTL = 15 * time.Minute

// Blob is one open artifact; the caller closes it.
type Blob struct {
	io.ReadSeekCloser
	ContentType string
	Size        int64
	ModTime     time.Time
}

// RunPrefix begins the key of everything that a run leaves behind.
func RunPrefix(runID string) string { return "runs/" + runID + "/" }

// CleanName checks a relative name that a test process chose, such as
// "report/data/a.png": no way out of its folder, no odd characters.
func CleanName(name string) (string, error) {
	clean := path.Clean("/" + strings.ReplaceAll(name, "\\", "/"))[1:]
	if clean == "" || clean != name || len(name) > 512 || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return "", fault.New(fault.Invalid, "%.80q is not a usable artifact name.", name)
	}
	return clean, nil
}

// KindOf guesses an attachment's kind from what Playwright calls it.
func KindOf(name, contentType string) Kind {
	ext := strings.ToLower(path.Ext(name))
	switch {
	case name == "trace" || strings.HasSuffix(name, "trace.zip"):
		return Trace
	case strings.HasPrefix(contentType, "image/"):
		return Screenshot
	case strings.HasPrefix(contentType, "video/"):
		return Video
	case ext == ".har":
		return HAR
	case strings.HasPrefix(contentType, "text/") || ext == ".log" || name == "stdout" || name == "stderr":
		return Log
	default:
		return Other
	}
}

// ContentType answers a content type for a file name, never one with a sniffable gap.
func ContentType(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".zip":
		return "application/zip"
	case ".webm":
		return "video/webm"
	case ".md", ".log":
		return "text/plain; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".woff2", ".ttf":
		return "font/" + ext[1:]
	default:
		if t := mime.TypeByExtension(ext); t != "" {
			return t
		}
		return "application/octet-stream"
	}
}

// Links makes and checks addresses under which artifacts open without sign-in.
type Links struct {
	Keys *secret.Keyring
	// ContentURL is the origin that serves artifacts: not the web app's own, so that a
	// report, which is a stranger's program, cannot act as the signed-in user.
	ContentURL string
	// TTL is how long a link works.
	TTL time.Duration
	Now func() time.Time
}

const linkPurpose = "content"

// Link answers an address of a file below a run's prefix, and when it expires. The token
// in the path vouches for the whole run, so that a report's relative links work.
func (l Links) Link(runID, name string) (url string, expires time.Time) {
	expires = l.Now().Add(l.TTL).UTC().Truncate(time.Second)
	token := l.Keys.Sign(linkPurpose, runID, expires)
	return fmt.Sprintf("%s/content/%s/%s/%s", l.ContentURL, token, runID, escapePath(name)), expires
}

// Check answers nil when token opens the run's artifacts now.
func (l Links) Check(runID, token string) error {
	return l.Keys.Verify(linkPurpose, runID, token, l.Now())
}

func escapePath(p string) string {
	var b strings.Builder
	for i := range len(p) {
		c := p[i]
		if c == '/' || c == '-' || c == '_' || c == '.' || c == '~' ||
			'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
