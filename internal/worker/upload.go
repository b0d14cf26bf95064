package worker

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"tas-service/internal/artifact"
	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/report"
	"tas-service/internal/sandbox"
)

// uploads sends files to the service while tests still run.
type uploads struct {
	w      *worker
	group  *errgroup.Group
	base   context.Context
	ctx    context.Context // of base, done at the first error
	binds  []sandbox.Bind
	mu     sync.Mutex
	missed int
}

// parallelUploads at once: enough to hide the waiting, few enough to leave the tests alone.
const parallelUploads = 4

// maxReportFiles bounds the files of one HTML report.
const maxReportFiles = 50_000

func (w *worker) newUploads(ctx context.Context, binds []sandbox.Bind) *uploads {
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(parallelUploads)
	return &uploads{w: w, group: g, base: ctx, ctx: inner, binds: binds}
}

// attachment sends what a test left behind. A file that is not there or not the run's
// own is left out and counted.
func (u *uploads) attachment(testID string, retry int, a report.Attachment) {
	name := a.Name
	if a.Path != "" && path.Ext(name) == "" {
		name += path.Ext(a.Path)
	}
	up := attempt.Upload{Name: cleanFile(name), Test: testID, Retry: retry}
	if _, _, err := mime.ParseMediaType(a.ContentType); err != nil {
		a.ContentType = artifact.ContentType(name)
	}
	up.ContentType = a.ContentType
	if a.Path == "" {
		body, err := base64.StdEncoding.DecodeString(a.Body)
		if err != nil {
			u.miss()
			return
		}
		u.group.Go(func() error {
			return u.skip(u.w.service.upload(u.ctx, up, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }))
		})
		return
	}
	u.group.Go(func() error {
		return u.skip(u.w.service.upload(u.ctx, up, func() (io.ReadCloser, error) { return u.open(a.Path) }))
	})
}

// errUnreadable is a file that test code named and that is not the run's own.
var errUnreadable = errors.New("no readable file of this run")

// skip passes over what cannot be kept for its own sake, which is no reason to fail the
// run: it is counted and warned about.
func (u *uploads) skip(err error) error {
	if kind := fault.KindOf(err); errors.Is(err, errUnreadable) || kind == fault.Invalid || kind == fault.TooLarge {
		u.w.Log.Warn("a file is not kept", "error", err)
		u.miss()
		return nil
	}
	return err
}

func (u *uploads) miss() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.missed++
}

// open opens a file by the path under which test code knows it, and only below what
// test code may write: a link cannot lead out, since os.Root follows none that does.
func (u *uploads) open(inside string) (io.ReadCloser, error) {
	bind, rel, ok := sandbox.HostPath(u.binds, inside)
	if !ok {
		return nil, errUnreadable
	}
	root, err := os.OpenRoot(bind.Host)
	if err != nil {
		return nil, errUnreadable
	}
	defer root.Close() //nolint:errcheck // the file stays open
	// Opening must not wait: test code may have put a pipe there.
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errUnreadable
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close() //nolint:errcheck // nothing was read
		return nil, errUnreadable
	}
	return f, nil
}

// folder sends every file below a folder of the output as prefix/…, and waits for
// everything that is under way; a missing folder is none. Nothing can be sent after it.
func (u *uploads) folder(dir, prefix string) error {
	root, err := os.OpenRoot(u.w.path("out"))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // read only
	n := 0
	var index string
	err = fs.WalkDir(root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what cannot be read is not part of the report
		}
		if n++; n > maxReportFiles {
			return fs.SkipAll
		}
		rel := strings.TrimPrefix(p, dir+"/")
		if rel == "index.html" {
			index = p // last, below: a report is there when all of it is
			return nil
		}
		if _, err := artifact.CleanName(prefix + "/" + rel); err != nil {
			u.miss()
			return nil
		}
		u.file(p, prefix+"/"+rel)
		return nil
	})
	if err != nil {
		return err
	}
	if err := u.group.Wait(); err != nil {
		return err
	}
	if index != "" {
		return u.w.service.upload(u.base, attempt.Upload{Name: prefix + "/index.html", ContentType: "text/html; charset=utf-8"}, func() (io.ReadCloser, error) { return u.openOut(index) })
	}
	return nil
}

// one sends a single file of the output, if it is there, and waits for everything that is
// under way. Nothing can be sent after it.
func (u *uploads) one(p, name string) error {
	if err := u.group.Wait(); err != nil {
		return err
	}
	f, err := u.openOut(p)
	if err != nil {
		return nil //nolint:nilerr // the runner did not come that far
	}
	f.Close() //nolint:errcheck // opened again for each try
	return u.skip(u.w.service.upload(u.base, attempt.Upload{Name: name, ContentType: artifact.ContentType(name)}, func() (io.ReadCloser, error) { return u.openOut(p) }))
}

func (u *uploads) file(p, name string) {
	u.group.Go(func() error {
		return u.skip(u.w.service.upload(u.ctx, attempt.Upload{Name: name, ContentType: artifact.ContentType(name)}, func() (io.ReadCloser, error) { return u.openOut(p) }))
	})
}

func (u *uploads) openOut(p string) (io.ReadCloser, error) {
	return u.open(path.Join(u.w.inside("out"), p))
}

// cleanFile makes a test's own name for an attachment usable as a file name.
func cleanFile(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	if len(clean) > 150 {
		clean = strings.ToValidUTF8(clean[:150], "")
	}
	if clean == "" || clean == "." || clean == ".." {
		return "attachment"
	}
	return clean
}
