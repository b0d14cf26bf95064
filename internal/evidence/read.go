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
	"time"

	"tas-service/internal/relocate"
)

// Bounds of what is read of a trace: a stranger packed it.
const (
	maxTrace    = 256 << 20 // of the zip
	maxUnpacked = 256 << 20 // of the files that are read
	maxLine     = 16 << 20
	maxFiles    = 200
	maxSteps    = 2000
	maxPages    = 400 // steps whose page is kept
)

// ErrNoTrace is answered for what is no trace that can be read.
var ErrNoTrace = errors.New("this is no trace that can be read")

// Read reads a trace of Playwright 1.50 or later, of size bytes. What is damaged or out of
// bounds is left out and told by Cut; errors are ErrNoTrace and those of ctx.
func Read(ctx context.Context, r io.ReaderAt, size int64) (Test, error) {
	if size <= 0 || size > maxTrace {
		return Test{}, fmt.Errorf("%w: it has %d bytes", ErrNoTrace, size)
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return Test{}, fmt.Errorf("%w: %w", ErrNoTrace, err)
	}
	t := tracing{frames: frames{}, stacks: map[string][]Frame{}, calls: map[string]*call{}, Test: Test{TestIDs: "data-testid"}}
	left, files := int64(maxUnpacked), 0
	for _, f := range z.File {
		kind := f.Name[strings.LastIndexByte(f.Name, '.')+1:]
		if kind != "trace" && kind != "stacks" && kind != "network" {
			continue
		}
		if files++; files > maxFiles || left <= 0 {
			t.Cut = true
			break
		}
		if err := ctx.Err(); err != nil {
			return Test{}, err
		}
		body, err := f.Open()
		if err != nil {
			t.Cut = true
			continue
		}
		in := &io.LimitedReader{R: body, N: left}
		err = t.file(in, kind, f.Name == "test.trace")
		left = in.N
		body.Close() //nolint:errcheck // what matters was read
		t.Cut = t.Cut || err != nil || left <= 0
	}
	t.fill(z)
	t.settle()
	return t.Test, nil
}

// tracing gathers what traces tell.
type tracing struct {
	Test
	frames frames
	stacks map[string][]Frame
	calls  map[string]*call
	order  []*call
	mine   map[string]*entry // of the test's own trace, by call
	went   []request
	events []happened
	shots  map[string][]*snapshot // by call
}

// call is an action as the browser's side of the trace has it.
type call struct {
	entry
	end   float64
	err   string
	ended bool
	box   *relocate.Box
}

// happened is an event of a page.
type happened struct {
	at       float64
	dialog   string
	uncaught bool
}

// entry is a line of a trace; Type says which fields are meant.
type entry struct {
	Type      string  `json:"type"`
	CallID    string  `json:"callId"`
	StartTime float64 `json:"startTime"`
	EndTime   float64 `json:"endTime"`
	Time      float64 `json:"time"`
	Class     string  `json:"class"`
	Method    string  `json:"method"`
	APIName   string  `json:"apiName"` // before 1.53
	Params    struct {
		Selector   string `json:"selector"`
		Locator    any    `json:"locator"`
		Expression string `json:"expression"`
		IsNot      bool   `json:"isNot"`
		Type       string `json:"type"`
		Expected   []struct {
			String string `json:"string"`
			Regex  string `json:"regexSource"`
		} `json:"expectedText"`
	} `json:"params"`
	Stack []struct {
		File     string `json:"file"`
		Line     int    `json:"line"`
		Column   int    `json:"column"`
		Function string `json:"function"`
	} `json:"stack"`
	Error *struct {
		Message string `json:"message"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"error"`
	Box *relocate.Box `json:"box"`

	// context-options
	Playwright string `json:"playwrightVersion"`
	TestID     string `json:"testIdAttributeName"`

	Snapshot struct {
		// frame-snapshot
		CallID string `json:"callId"`
		Phase  string `json:"phase"`
		Name   string `json:"snapshotName"` // before 1.6x: "before@call@12"
		Frame  string `json:"frameId"`
		URL    string `json:"frameUrl"`
		Main   bool   `json:"isMainFrame"`
		HTML   *node  `json:"html"`
		har
	} `json:"snapshot"`
}

func (t *tracing) file(r io.Reader, kind string, own bool) error {
	if kind == "stacks" {
		return t.readStacks(r)
	}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(in)
		if errors.Is(err, errLong) {
			t.Cut = true
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var e entry
			if json.Unmarshal(line, &e) != nil {
				t.Cut = true
			} else {
				t.take(&e, own)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

var errLong = errors.New("a line is too long")

// readLine reads a line; of one that is too long nothing but errLong.
func readLine(r *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, errLong
		case long:
			return nil, err
		}
		return line, err
	}
}

func (t *tracing) take(e *entry, own bool) {
	switch e.Type {
	case "context-options":
		t.Playwright = cmp.Or(e.Playwright, t.Playwright)
		if e.TestID != "" && !strings.ContainsAny(e.TestID, " \t\"'>/=") {
			t.TestIDs = e.TestID
		}
	case "before":
		switch {
		case own:
			if t.mine == nil {
				t.mine = map[string]*entry{}
			}
			if len(t.mine) < 10*maxSteps {
				t.mine[e.CallID] = e
			}
		case len(t.order) < maxSteps:
			c := &call{entry: *e}
			t.calls[e.CallID] = c
			t.order = append(t.order, c)
		default:
			t.Cut = true
		}
	case "input":
		if c := t.calls[e.CallID]; c != nil && e.Box != nil {
			c.box = e.Box
		}
	case "after":
		if c := t.calls[e.CallID]; c != nil && !own {
			c.end, c.ended = e.EndTime, true
			if e.Error != nil {
				c.err = e.Error.Message
				if e.Error.Error != nil {
					c.err = e.Error.Error.Message
				}
				c.err = clip(cmp.Or(c.err, "it failed"))
			}
		}
	case "event":
		switch e.Method {
		case "dialog":
			t.events = append(t.events, happened{at: e.Time, dialog: clip(cmp.Or(e.Params.Type, "dialog"))})
		case "pageError":
			t.events = append(t.events, happened{at: e.Time, uncaught: true})
		}
	case "frame-snapshot":
		t.snapshot(e)
	case "resource-snapshot":
		if r, ok := e.Snapshot.request(); ok {
			t.went = append(t.went, r)
		}
	}
}

func (t *tracing) snapshot(e *entry) {
	s := e.Snapshot
	if s.HTML == nil {
		t.Cut = true
		return
	}
	phase, id := s.Phase, s.CallID
	if phase == "" {
		phase, id, _ = strings.Cut(s.Name, "@")
		id = cmp.Or(s.CallID, id)
		if phase == "input" {
			phase = "action"
		}
	}
	shot := &snapshot{callID: id, phase: phase, url: s.URL, frame: s.Frame, main: s.Main, html: s.HTML}
	t.frames.add(shot)
	if t.shots == nil {
		t.shots = map[string][]*snapshot{}
	}
	t.shots[id] = append(t.shots[id], shot)
}

// readStacks reads {"files": […], "stacks": [[call, [[file, line, column, function], …]], …]}.
func (t *tracing) readStacks(r io.Reader) error {
	var all struct {
		Files  []string            `json:"files"`
		Stacks [][]json.RawMessage `json:"stacks"`
	}
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	for _, s := range all.Stacks {
		if len(s) != 2 {
			continue
		}
		var id string
		var number int
		if json.Unmarshal(s[0], &id) != nil {
			if json.Unmarshal(s[0], &number) != nil {
				continue
			}
			id = fmt.Sprintf("call@%d", number)
		}
		var places [][]any
		if json.Unmarshal(s[1], &places) != nil {
			continue
		}
		var stack []Frame
		for _, p := range places[:min(len(places), 50)] {
			if len(p) < 3 {
				continue
			}
			file, ok := p[0].(float64)
			line, lok := p[1].(float64)
			column, cok := p[2].(float64)
			if !ok || !lok || !cok || file < 0 || int(file) >= len(all.Files) {
				continue
			}
			f := Frame{File: all.Files[int(file)], Line: int(line), Column: int(column)}
			if len(p) > 3 {
				f.Function, _ = p[3].(string)
			}
			stack = append(stack, f)
		}
		t.stacks[id] = stack
	}
	return nil
}

// settle makes steps of what was gathered.
func (t *tracing) settle() {
	slices.SortStableFunc(t.order, func(a, b *call) int { return cmp.Compare(a.StartTime, b.StartTime) })
	slices.SortStableFunc(t.went, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	pages := 0
	for i, c := range t.order {
		if c.Class != "Frame" && c.Class != "Page" && c.Class != "ElementHandle" && c.APIName == "" && c.Params.Selector == "" {
			continue
		}
		s := Step{CallID: c.CallID, Method: c.Method, Matcher: c.Params.Expression, Negative: c.Params.IsNot, Selector: c.Params.Selector, Stack: t.stacks[c.CallID],
			Start: millis(c.StartTime), End: millis(c.end), Error: c.err}
		if !c.ended {
			s.Error = cmp.Or(s.Error, "it did not end")
		}
		for _, x := range c.Params.Expected[:min(len(c.Params.Expected), 1)] {
			s.Expected = clip(cmp.Or(x.String, x.Regex))
		}
		if mine := t.mine[c.CallID]; mine != nil {
			s.Locator, _ = mine.Params.Locator.(string)
			if len(s.Stack) == 0 {
				for _, f := range mine.Stack[:min(len(mine.Stack), 50)] {
					s.Stack = append(s.Stack, Frame(f))
				}
			}
		}
		if !c.looks() {
			s.Effect = t.effect(c, t.until(i))
		}
		if shot, root := t.pageOf(c); shot != nil {
			s.URL = shot.url
			if pages++; pages <= maxPages {
				all, target, more := elements(root, t.TestIDs, c.box)
				s.Page, t.Cut = all, t.Cut || more
				if target >= 0 {
					s.Target = &s.Page[target]
				}
			} else {
				t.Cut = true
			}
		}
		t.Steps = append(t.Steps, s)
	}
}

// looking are the calls that only look, or wait: what happens under them is the effect of the
// act before them.
var looking = []string{"expect", "waitForSelector", "waitForFunction", "waitForTimeout", "querySelector", "querySelectorAll", "queryCount", "evalOnSelector", "evalOnSelectorAll", "evaluateExpression", "evaluateExpressionHandle",
	"textContent", "innerText", "innerHTML", "inputValue", "getAttribute", "isVisible", "isHidden", "isEnabled", "isDisabled", "isChecked", "isEditable", "title", "content", "ariaSnapshot", "screenshot", "expectScreenshot", "frameElement", "highlight"}

func (c *call) looks() bool { return slices.Contains(looking, c.Method) }

// until answers when the effect of a call ends: when the next one begins that acts, else with
// the last that is known. A request that a click brings about is often made only while the
// check after it waits.
func (t *tracing) until(i int) float64 {
	end := t.order[i].end
	for _, c := range t.order[i+1:] {
		if !c.looks() && (c.Class == "Frame" || c.Class == "Page" || c.Class == "ElementHandle" || c.APIName != "" || c.Params.Selector != "") {
			return max(end, c.StartTime)
		}
		end = max(end, c.end)
	}
	if n := len(t.went); n > 0 {
		end = max(end, t.went[n-1].at)
	}
	return end
}

// pageOf answers the snapshot that shows what a step was done to: the one with its target;
// else the main frame's, as it was before the step, or for a check after it.
func (t *tracing) pageOf(c *call) (*snapshot, *Node) {
	shots := t.shots[c.CallID]
	best, root, score := (*snapshot)(nil), (*Node)(nil), -1
	for _, s := range shots {
		page, whole := t.frames.page(s)
		t.Cut = t.Cut || !whole
		if page == nil {
			continue
		}
		n := 0
		if marked(page) {
			n += 4
		}
		if s.main {
			n += 2
		}
		if (s.phase == "after") == (c.Method == "expect" || c.Method == "goto") {
			n++
		}
		if n > score {
			best, root, score = s, page, n
		}
	}
	return best, root
}

func marked(n *Node) bool {
	return n.target || slices.ContainsFunc(n.Kids, marked)
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
