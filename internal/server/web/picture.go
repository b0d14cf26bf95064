package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"tas-service/internal/artifact"
	"tas-service/internal/evidence"
	"tas-service/internal/fault"
	"tas-service/internal/heal"
	"tas-service/internal/run"
)

// pictures remembers which traces may hold pictures, which takes a look at the end of each.
// The zero value is usable; it is safe for concurrent use.
type pictures struct {
	mu    sync.Mutex
	known map[string]bool // by the artifact's key
	once  sync.Once
	busy  chan struct{}
}

// picturesKnown bounds what is remembered.
const picturesKnown = 500

func (p *pictures) in(ctx context.Context, blobs artifact.Blobs, key string) bool {
	p.mu.Lock()
	has, ok := p.known[key]
	p.mu.Unlock()
	if ok {
		return has
	}
	blob, err := blobs.Open(ctx, key)
	if err != nil {
		return false
	}
	defer blob.Close() //nolint:errcheck // read only
	has = evidence.HasPictures(&seeking{blob}, blob.Size)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) >= picturesKnown {
		p.known = map[string]bool{}
	}
	p.known[key] = has
	return has
}

// enter waits until there is room to read one more trace.
func (p *pictures) enter(ctx context.Context) (leave func(), err error) {
	p.once.Do(func() { p.busy = make(chan struct{}, tracesAtOnce) })
	select {
	case p.busy <- struct{}{}:
		return func() { <-p.busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// seeking reads at offsets of what can be sought. It is not safe for concurrent use.
type seeking struct{ io.ReadSeeker }

// ReadAt reads at an offset; see io.ReaderAt.
func (s *seeking) ReadAt(p []byte, off int64) (int, error) {
	if _, err := s.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// seenIn answers what shows the page at which a finding's step failed: a trace with pictures,
// else a screenshot; ok is false for neither.
func (a *App) seenIn(ctx context.Context, v *visit, f heal.Finding) (at run.Attachment, ok bool, err error) {
	if a.Blobs == nil || f.Step == nil || f.RunID == "" {
		return at, false, nil
	}
	all, err := a.Runs.Attachments(ctx, v.Actor, f.RunID, f.TestID)
	if k := fault.KindOf(err); err != nil && (k == fault.NotFound || k == fault.Invalid) {
		return at, false, nil
	}
	for _, x := range slices.Backward(all) {
		switch {
		case x.Browser != f.Browser:
		case x.Kind == artifact.Trace && a.pictures.in(ctx, a.Blobs, x.Key):
			return x, true, nil
		case !ok && x.Kind == artifact.Screenshot && slices.Contains(images, x.ContentType):
			at, ok = x, true
		}
	}
	return at, ok, err
}

// addPicture adds where the page of a finding can be seen.
func (a *App) addPicture(ctx context.Context, v *visit, p *sessionPage, f *findingView) error {
	at, ok, err := a.seenIn(ctx, v, f.Finding)
	if err != nil || !ok {
		return err
	}
	f.Picture = fmt.Sprintf("%s/pictures/%d", p.URL, f.N)
	f.PictureIn = f.URL
	if at.Kind != artifact.Trace {
		f.Picture = testInRun(v.runURL(f.RunID), f.TestID, "") + "/artifacts/" + url.PathEscape(at.ID)
	}
	return nil
}

// picture answers what the page looked like when the step of a finding gave up, as its trace
// has it.
func (a *App) picture(w http.ResponseWriter, r *http.Request, v *visit) error {
	none := fault.New(fault.NotFound, "There is no such picture, or it is too old and was removed.").WithFix("Open the session again: it shows what there is.")
	id, err := sessionID(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	x, err := a.Healing.Agents.Get(ctx, v.Actor, id)
	if err != nil {
		return err
	}
	seen, err := heal.Look(x.State)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(r.PathValue("finding"))
	if err != nil || n < 0 || n >= min(len(seen.Findings), picturesShown) {
		return none
	}
	f := seen.Findings[n]
	at, ok, err := a.seenIn(ctx, v, f)
	if err != nil {
		return err
	}
	if !ok || at.Kind != artifact.Trace {
		return none
	}
	leave, err := a.pictures.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	blob, err := a.Blobs.Open(ctx, at.Key)
	if err != nil {
		return err
	}
	defer blob.Close() //nolint:errcheck // read only
	p, err := evidence.PictureAt(ctx, &seeking{blob}, blob.Size, f.Step.Method, f.Step.Selector)
	if errors.Is(err, evidence.ErrNoTrace) {
		return none
	}
	if err != nil {
		return err
	}
	asImage(w, p.ContentType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.Body))
	return nil
}
