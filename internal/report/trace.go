package report

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of what is read of a trace, and kept: a stranger packed it.
const (
	maxTraceSize  = 512 << 20 // of the zip
	maxDirectory  = 4 << 20   // read of it to find its files
	maxUnpacked   = 256 << 20 // of all files that are read
	maxTraceFiles = 200
	maxTraceLine  = 256 << 10
	maxTraceText  = 1 << 10
	maxTaken      = 20_000 // lines that are looked into; others are counted
	maxKept       = 100    // of each list
)

// Trace is what the trace of one attempt says went wrong in its pages.
type Trace struct {
	Console  []Complaint // by time
	Requests []Request   // by time
	// How many more there are that are not kept, since they are too many or too long.
	MoreConsole, MoreRequests int
	// Cut says that the trace was read in part only: it is damaged or unusually large.
	Cut bool
}

// Complaint is something that pages said on their console, or an error that nothing caught.
type Complaint struct {
	Kind         ComplaintKind
	Text         string
	URL          string // where in the code, "" if unknown
	Line, Column int    // from 1; 0 if unknown
	At           time.Duration
	N            int // times that it was said
}

// ComplaintKind sorts what consoles say.
type ComplaintKind string

// The kinds.
const (
	ConsoleError   ComplaintKind = "error"
	ConsoleWarning ComplaintKind = "warning"
	Uncaught       ComplaintKind = "uncaught"
)

// Request is one that failed, or that was answered with a status of 400 or more.
type Request struct {
	Method, URL string
	Status      int    // 0 for none
	Text        string // of the status, or why there is none
	At          time.Duration
	N           int // times that it came to this
}

// ErrNoTrace is answered for what is no zip file that can be read.
var ErrNoTrace = errors.New("this is no trace that can be read")

// ReadTrace reads a trace of Playwright 1.50 or later, which has size bytes. What is damaged
// or out of bounds is left out and told by Cut; errors are ErrNoTrace and those of r.
func ReadTrace(ctx context.Context, r io.ReadSeeker, size int64) (Trace, error) {
	if size <= 0 || size > maxTraceSize {
		return Trace{}, fmt.Errorf("%w: it has %d bytes", ErrNoTrace, size)
	}
	at := &readerAt{ctx: ctx, r: r, left: maxDirectory}
	z, err := zip.NewReader(at, size)
	switch {
	case at.err != nil:
		return Trace{}, at.err
	case err != nil:
		return Trace{}, fmt.Errorf("%w: %w", ErrNoTrace, err)
	}
	at.left = maxTraceSize
	t := tracer{begin: -1, consoles: map[Complaint]int{}, requests: map[Request]int{}}
	left, files := int64(maxUnpacked), 0
	for _, f := range z.File {
		network := strings.HasSuffix(f.Name, ".network")
		if !network && !strings.HasSuffix(f.Name, ".trace") {
			continue
		}
		if files++; files > maxTraceFiles || left <= 0 {
			t.Cut = true
			break
		}
		body, err := f.Open()
		if err == nil {
			lines := &io.LimitedReader{R: body, N: left}
			err = t.read(lines, network)
			left = lines.N
			body.Close() //nolint:errcheck // what matters was read
		}
		if at.err != nil {
			return Trace{}, at.err
		}
		t.Cut = t.Cut || err != nil || left <= 0
	}
	t.settle()
	return t.Trace, nil
}

// readerAt reads at offsets; whoever reads on seeks nothing. It is not safe for concurrent
// use.
type readerAt struct {
	ctx  context.Context
	r    io.ReadSeeker
	at   int64
	left int64 // bytes that may still be read
	err  error // the first of r's own
}

var errOut = errors.New("the zip names more than there is, or than is read")

func (a *readerAt) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || int64(len(p)) > a.left {
		return 0, errOut
	}
	if a.err == nil {
		a.err = a.ctx.Err()
	}
	if a.err == nil && off != a.at {
		a.at, a.err = a.r.Seek(off, io.SeekStart)
	}
	if a.err != nil {
		return 0, a.err
	}
	n, err = io.ReadFull(a.r, p)
	a.at += int64(n)
	a.left -= int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		a.err = err
	}
	return n, err
}

// tracer gathers what traces tell.
type tracer struct {
	Trace
	begin    float64 // of the first context, in milliseconds of the trace's clock; -1 for unknown
	consoles map[Complaint]int
	requests map[Request]int
	taken    int // lines that were looked into
}

// read reads the lines of one file.
func (t *tracer) read(r io.Reader, network bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var buf []byte
	for {
		line, long, err := nextLine(in, buf)
		buf = line
		switch {
		case !matters(line, network):
		case (long || t.taken >= maxTaken) && network:
			t.MoreRequests++
		case long || t.taken >= maxTaken:
			t.MoreConsole++
		default:
			t.taken++
			t.take(line)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// matters looks at a line without reading it as JSON: most of a trace are snapshots.
func matters(line []byte, network bool) bool {
	has := func(s string) bool { return bytes.Contains(line, []byte(s)) }
	if !network {
		return has(`"type":"console"`) && !has(`"messageType":"log"`) || has(`"pageError"`) || has(`"type":"context-options"`)
	}
	if has(`"_failureText"`) {
		return true
	}
	const status = `"status":`
	for rest := line; ; {
		i := bytes.Index(rest, []byte(status))
		if i < 0 {
			return false
		}
		if rest = rest[i+len(status):]; len(rest) > 0 && rest[0] >= '4' && rest[0] <= '9' {
			return true
		}
	}
}

// entry is a line of a trace; Type says which fields are meant.
type entry struct {
	Type          string  `json:"type"`
	Time          float64 `json:"time"`          // console, event
	MonotonicTime float64 `json:"monotonicTime"` // context-options

	// console
	MessageType string `json:"messageType"`
	Text        string `json:"text"`
	Location    place  `json:"location"`

	// event
	Method string `json:"method"`
	Params struct {
		Location place `json:"location"`
		Error    struct {
			Error *struct {
				Name    string `json:"name"`
				Message string `json:"message"`
				Stack   string `json:"stack"`
			} `json:"error"`
			Value *struct {
				S string  `json:"s"`
				N float64 `json:"n"`
			} `json:"value"`
		} `json:"error"`
	} `json:"params"`

	// resource-snapshot, as in a HAR file
	Snapshot struct {
		MonotonicTime float64 `json:"_monotonicTime"`
		Request       struct {
			Method string `json:"method"`
			URL    string `json:"url"`
		} `json:"request"`
		Response struct {
			Status      int    `json:"status"`
			StatusText  string `json:"statusText"`
			FailureText string `json:"_failureText"`
		} `json:"response"`
	} `json:"snapshot"`
}

// place is where in the code, counted from 0; consoles and page errors name it differently.
type place struct {
	URL          string `json:"url"`
	Line         int    `json:"line"`
	Column       int    `json:"column"`
	LineNumber   int    `json:"lineNumber"`
	ColumnNumber int    `json:"columnNumber"`
}

func (t *tracer) take(line []byte) {
	var e entry
	if json.Unmarshal(line, &e) != nil {
		t.Cut = true
		return
	}
	switch {
	case e.Type == "context-options":
		if t.begin < 0 || e.MonotonicTime < t.begin {
			t.begin = e.MonotonicTime
		}
	case e.Type == "console" && (e.MessageType == "error" || e.MessageType == "warning" || e.MessageType == "assert"):
		c := Complaint{Kind: ConsoleError, Text: e.Text}
		if e.MessageType == "warning" {
			c.Kind = ConsoleWarning
		}
		c.at(e.Location)
		t.complain(c, e.Time)
	case e.Type == "event" && e.Method == "pageError":
		c := Complaint{Kind: Uncaught, Text: "Something was thrown that is no error."}
		switch x := e.Params.Error; {
		case x.Error != nil:
			if c.Text = x.Error.Message; x.Error.Name != "" && !strings.HasPrefix(c.Text, x.Error.Name) {
				c.Text = strings.TrimSuffix(x.Error.Name+": "+c.Text, ": ")
			}
			c.URL, c.Line, c.Column = topOf(x.Error.Stack)
		case x.Value != nil && x.Value.S != "":
			c.Text = x.Value.S
		}
		if e.Params.Location.URL != "" {
			c.at(e.Params.Location)
		}
		t.complain(c, e.Time)
	case e.Type == "resource-snapshot":
		r := Request{Method: clip(e.Snapshot.Request.Method, 40), URL: showURL(e.Snapshot.Request.URL), Status: e.Snapshot.Response.Status, Text: e.Snapshot.Response.StatusText}
		if r.Status < 400 || r.Status > 999 {
			if r.Status, r.Text = 0, e.Snapshot.Response.FailureText; r.Text == "" {
				return
			}
		}
		r.Text = clip(r.Text, 200)
		t.ask(r, e.Snapshot.MonotonicTime)
	}
}

func (c *Complaint) at(p place) {
	const most = 1 << 30
	c.URL, c.Line, c.Column = p.URL, min(max(p.Line, p.LineNumber, 0), most)+1, min(max(p.Column, p.ColumnNumber, 0), most)+1
	if c.Line <= 1 && c.Column <= 1 || c.URL == "" {
		c.Line, c.Column = 0, 0 // of a resource, not of code
	}
}

// complain keeps what was said; what was said before is counted.
func (t *tracer) complain(c Complaint, ms float64) {
	c.Text, c.URL = clip(c.Text, maxTraceText), showURL(c.URL)
	i, known := t.consoles[c]
	switch {
	case known:
		t.Console[i].N++
	case len(t.Console) >= maxKept:
		t.MoreConsole++
	default:
		t.consoles[c] = len(t.Console)
		c.N, c.At = 1, sinceZero(ms)
		t.Console = append(t.Console, c)
	}
}

func (t *tracer) ask(r Request, ms float64) {
	i, known := t.requests[r]
	switch {
	case known:
		t.Requests[i].N++
	case len(t.Requests) >= maxKept:
		t.MoreRequests++
	default:
		t.requests[r] = len(t.Requests)
		r.N, r.At = 1, sinceZero(ms)
		t.Requests = append(t.Requests, r)
	}
}

// sinceZero is a time of the trace's clock.
func sinceZero(ms float64) time.Duration {
	const most = float64(365 * 24 * time.Hour / time.Millisecond)
	if !(ms > 0) { // nor a number
		return 0
	}
	return time.Duration(min(ms, most) * float64(time.Millisecond))
}

// settle brings everything into the order of time, which begins with the first context.
func (t *tracer) settle() {
	begin := sinceZero(t.begin)
	for i := range t.Console {
		t.Console[i].At = max(0, t.Console[i].At-begin)
	}
	for i := range t.Requests {
		t.Requests[i].At = max(0, t.Requests[i].At-begin)
	}
	slices.SortStableFunc(t.Console, func(a, b Complaint) int { return int(a.At - b.At) })
	slices.SortStableFunc(t.Requests, func(a, b Request) int { return int(a.At - b.At) })
}

// showURL is an address without the password that it may carry.
func showURL(s string) string {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		s = u.Redacted()
	}
	return clip(s, maxTraceText)
}

// topOf answers where a stack begins, as "at f (https://x/a.js:7:3)" or "f@https://x/a.js:7:3".
func topOf(stack string) (at string, line, column int) {
	for s := range strings.SplitSeq(stack, "\n") {
		rest, l, c, ok := numbered(strings.TrimSuffix(strings.TrimSpace(s), ")"))
		if !ok {
			continue
		}
		rest = rest[strings.LastIndexAny(rest, " (")+1:]
		if i := strings.Index(rest, "://"); i > 0 {
			if j := strings.LastIndex(rest[:i], "@"); j >= 0 {
				rest = rest[j+1:]
			}
			return rest, l, c
		}
	}
	return "", 0, 0
}

// numbered takes the two numbers off the end of a place.
func numbered(s string) (rest string, line, column int, ok bool) {
	var n [2]int
	for i := range n {
		cut := strings.LastIndexByte(s, ':')
		if cut < 0 || len(s)-cut > 10 {
			return "", 0, 0, false
		}
		x, err := strconv.Atoi(s[cut+1:])
		if err != nil || x < 0 {
			return "", 0, 0, false
		}
		n[i], s = x, s[:cut]
	}
	return s, n[1], n[0], true
}

// nextLine answers a line, made in buf, and whether it is only the beginning of a long one.
// The last one comes with an error, io.EOF at a sound end.
func nextLine(r *bufio.Reader, buf []byte) (line []byte, long bool, err error) {
	for line = buf[:0]; ; {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxTraceLine; !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
