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
	return a.leftBy(ctx, v, f, f.RunID, true)
}

// foundIn answers the trace of the latest trial of a repair, which shows the element that was
// taken; ok is false where there is none with pictures.
func (a *App) foundIn(ctx context.Context, v *visit, seen heal.Seen, f heal.Finding) (at run.Attachment, ok bool, err error) {
	id := ""
	for i := range picturesShown {
		if t := seen.Trials[fmt.Sprintf("prove-%d", i)]; t != "" {
			id = t
		}
	}
	if f.Edit < 0 || seen.Proof == nil || !seen.Proof.Passed {
		id = ""
	}
	return a.leftBy(ctx, v, f, id, false)
}

// leftBy answers the latest trace with pictures that a finding's test left behind in a run,
// or else, where one will do, a screenshot.
func (a *App) leftBy(ctx context.Context, v *visit, f heal.Finding, runID string, screenshot bool) (at run.Attachment, ok bool, err error) {
	if a.Blobs == nil || f.Step == nil || runID == "" {
		return at, false, nil
	}
	all, err := a.Runs.Attachments(ctx, v.Actor, runID, f.TestID)
	if k := fault.KindOf(err); err != nil && (k == fault.NotFound || k == fault.Invalid) {
		return at, false, nil
	}
	for _, x := range slices.Backward(all) {
		switch {
		case x.Browser != f.Browser:
		case x.Kind == artifact.Trace && a.pictures.in(ctx, a.Blobs, x.Key):
			return x, true, nil
		case screenshot && !ok && x.Kind == artifact.Screenshot && slices.Contains(images, x.ContentType):
			at, ok = x, true
		}
	}
	return at, ok, err
}

// addPictures adds where the page of a finding can be seen, as it was when its step gave up
// and as it was with the repair.
func (a *App) addPictures(ctx context.Context, v *visit, p *sessionPage, seen heal.Seen, f *findingView) error {
	at, ok, err := a.seenIn(ctx, v, f.Finding)
	if err != nil {
		return err
	}
	if ok {
		f.Picture = fmt.Sprintf("%s/pictures/%d", p.URL, f.N)
		if at.Kind != artifact.Trace {
			f.Picture = testInRun(v.runURL(f.RunID), f.TestID, "") + "/artifacts/" + url.PathEscape(at.ID)
		}
	}
	if _, ok, err = a.foundIn(ctx, v, seen, f.Finding); ok {
		f.Found = fmt.Sprintf("%s/pictures/%d?found=1", p.URL, f.N)
	}
	return err
}

// picture answers what the page of a finding looked like, as a trace has it: when its step
// gave up, or with found when it was done to the element that was taken, which is marked.
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
	f, found := seen.Findings[n], r.URL.Query().Get("found") != ""
	at, ok, err := a.seenIn(ctx, v, f)
	if found {
		at, ok, err = a.foundIn(ctx, v, seen, f)
	}
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
	p, err := a.pictured(ctx, at, f, found)
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

// pictured reads a picture out of a trace: evidence.ErrNoTrace where there is none.
func (a *App) pictured(ctx context.Context, at run.Attachment, f heal.Finding, found bool) (evidence.Picture, error) {
	blob, err := a.Blobs.Open(ctx, at.Key)
	if err != nil {
		return evidence.Picture{}, err
	}
	defer blob.Close() //nolint:errcheck // read only
	in := &seeking{blob}
	if !found {
		return evidence.PictureAt(ctx, in, blob.Size, f.Step.Method, f.Step.Selector)
	}
	t, err := evidence.Read(ctx, in, blob.Size)
	if err != nil {
		return evidence.Picture{}, err
	}
	t.Within(f.File)
	step, ok := heal.StepOf(t, f)
	if !ok {
		return evidence.Picture{}, fmt.Errorf("%w: the step is not in it", evidence.ErrNoTrace)
	}
	p, err := evidence.PictureOf(ctx, in, blob.Size, t.Steps[step].CallID)
	return marked(p), err
}
