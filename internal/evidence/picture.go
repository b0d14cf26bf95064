package evidence

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tas-service/internal/relocate"
)

// Bounds of looking for a picture, beside those of Read.
const (
	maxPicture   = 8 << 20
	maxPictures  = 20_000 // that a trace names
	maxPageCalls = 20_000
)

// Picture is what a page looked like.
type Picture struct {
	Body        []byte
	ContentType string // image/jpeg, image/png or image/webp, by what the bytes begin with
	// Width and Height are of the window that it shows, in CSS pixels; 0 where the trace does
	// not tell.
	Width, Height float64
	Box           *relocate.Box // of PictureOf: where the element was in it; nil if not known
}

// HasPictures reports whether a trace of size bytes may hold pictures of its pages. It reads
// no more than the list of its files.
func HasPictures(r io.ReaderAt, size int64) bool {
	if size <= 0 || size > maxTrace {
		return false
	}
	z, err := zip.NewReader(r, size)
	return err == nil && slices.ContainsFunc(z.File, func(f *zip.File) bool {
		return strings.HasPrefix(f.Name, "screencast/") || strings.HasPrefix(f.Name, "resources/page@") && strings.HasSuffix(f.Name, ".jpeg")
	})
}

// PictureAt answers what the page looked like when the last step with a method and a selector
// that failed gave up, or where none is known when the last step that failed did: the latest
// picture that was taken until then, of the same page where the trace tells it. Errors are
// ErrNoTrace, also where a trace has no picture, and those of ctx.
func PictureAt(ctx context.Context, r io.ReaderAt, size int64, method, selector string) (Picture, error) {
	return find(ctx, r, size, func(g *gallery) *pageCall { return g.failed(method, selector) })
}

// PictureOf answers what the page looked like before a call was done to an element of it, and
// where that was. Errors are those of PictureAt.
func PictureOf(ctx context.Context, r io.ReaderAt, size int64, callID string) (Picture, error) {
	return find(ctx, r, size, func(g *gallery) *pageCall {
		c := g.calls[callID]
		if c != nil {
			c.end = c.start
		}
		return c
	})
}

func find(ctx context.Context, r io.ReaderAt, size int64, step func(*gallery) *pageCall) (Picture, error) {
	if size <= 0 || size > maxTrace {
		return Picture{}, fmt.Errorf("%w: it has %d bytes", ErrNoTrace, size)
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return Picture{}, fmt.Errorf("%w: %w", ErrNoTrace, err)
	}
	g := &gallery{calls: map[string]*pageCall{}}
	left, files := int64(maxUnpacked), 0
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".trace") || f.Name == "test.trace" {
			continue
		}
		if files++; files > maxFiles || left <= 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return Picture{}, err
		}
		body, err := f.Open()
		if err != nil {
			continue
		}
		in := &io.LimitedReader{R: body, N: left}
		g.read(in)
		left = in.N
		body.Close() //nolint:errcheck // what matters was read
	}
	if len(g.shown) == 0 {
		return Picture{}, fmt.Errorf("%w: it has no pictures", ErrNoTrace)
	}
	c := step(g)
	shot := g.until(c)
	p, err := unpack(z, shot.Name)
	if err != nil {
		return Picture{}, err
	}
	if p.Width, p.Height = shot.Width, shot.Height; c != nil {
		p.Box = c.box
	}
	return p, nil
}

// gallery is the pictures that a trace names, and its calls.
type gallery struct {
	shown []pageShot
	calls map[string]*pageCall
}

type pageShot struct {
	Page          string
	Name          string // in the zip
	At            float64
	Width, Height float64
}

type pageCall struct {
	page, method, selector string
	start, end             float64
	failed                 bool
	box                    *relocate.Box
}

// read takes what it needs of a trace file, as far as it can be read.
func (g *gallery) read(r io.Reader) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, errLong) && !errors.Is(err, io.EOF) {
			return
		}
		if bytes.Contains(line, []byte(`"screencast-frame"`)) || bytes.Contains(line, []byte(`"before"`)) || bytes.Contains(line, []byte(`"after"`)) || bytes.Contains(line, []byte(`"input"`)) {
			g.take(line)
		}
		if errors.Is(err, io.EOF) {
			return
		}
	}
}

func (g *gallery) take(line []byte) {
	var e struct {
		Type      string  `json:"type"`
		CallID    string  `json:"callId"`
		PageID    string  `json:"pageId"`
		Method    string  `json:"method"`
		StartTime float64 `json:"startTime"`
		EndTime   float64 `json:"endTime"`
		Timestamp float64 `json:"timestamp"`
		File      string  `json:"file"`
		SHA1      string  `json:"sha1"` // before 1.6x: a name below resources
		Width     float64 `json:"width"`
		Height    float64 `json:"height"`
		Params    struct {
			Selector string `json:"selector"`
		} `json:"params"`
		Error json.RawMessage `json:"error"`
		Box   *relocate.Box   `json:"box"`
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Type {
	case "screencast-frame":
		if e.File == "" && e.SHA1 != "" {
			e.File = "resources/" + e.SHA1
		}
		if e.File != "" && len(g.shown) < maxPictures {
			g.shown = append(g.shown, pageShot{e.PageID, e.File, e.Timestamp, e.Width, e.Height})
		}
	case "before":
		if len(g.calls) < maxPageCalls {
			g.calls[e.CallID] = &pageCall{page: e.PageID, method: e.Method, selector: e.Params.Selector, start: e.StartTime}
		}
	case "input":
		if c := g.calls[e.CallID]; c != nil {
			c.box = e.Box
		}
	case "after":
		if c := g.calls[e.CallID]; c != nil {
			c.end, c.failed = e.EndTime, len(e.Error) > 0 && !bytes.Equal(e.Error, []byte("null"))
		}
	}
}

// failed answers the last call of a method and a selector that failed, else the last one that
// did; nil for none.
func (g *gallery) failed(method, selector string) (step *pageCall) {
	exact := false
	for _, c := range g.calls {
		same := c.method == method && c.selector == selector
		switch {
		case !c.failed || exact && !same:
		case step == nil, same && !exact, c.end > step.end:
			step, exact = c, same
		}
	}
	return step
}

// until answers the latest picture that was taken until the end of a call; the last one for
// no call. There is at least one.
func (g *gallery) until(c *pageCall) pageShot {
	slices.SortStableFunc(g.shown, func(a, b pageShot) int { return cmp.Compare(a.At, b.At) })
	if c == nil {
		return g.shown[len(g.shown)-1]
	}
	best := -1
	for i, s := range g.shown {
		if s.At <= c.end && (c.page == "" || s.Page == c.page) {
			best = i
		}
	}
	return g.shown[max(0, best)]
}

// unpack reads a picture by its name in the zip.
func unpack(z *zip.Reader, name string) (p Picture, err error) {
	i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return p, fmt.Errorf("%w: a picture is missing", ErrNoTrace)
	}
	if p.Body, err = unzip(z.File[i], maxPicture+1); err != nil || len(p.Body) > maxPicture {
		return Picture{}, fmt.Errorf("%w: a picture is damaged or too large", ErrNoTrace)
	}
	switch b := p.Body; {
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		p.ContentType = "image/jpeg"
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		p.ContentType = "image/png"
	case len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		p.ContentType = "image/webp"
	default:
		return Picture{}, fmt.Errorf("%w: what it calls a picture is none", ErrNoTrace)
	}
	return p, nil
}
