// Package report reads what the runner says while Playwright runs (runner/PROTOCOL.md)
// and turns it into what the service is told. What arrives was written by a process in
// which a stranger's program runs: it is bounded, and never believed blindly.
package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"tas-service/internal/attempt"
)

// Protocol is the version of the runner's protocol that is spoken.
const Protocol = 1

// maxLine bounds one message; a longer one ends the stream.
const maxLine = 64 << 20

// Start is the first message to the runner.
type Start struct {
	Type            string            `json:"type"` // "start"
	Protocol        int               `json:"protocol"`
	Config          string            `json:"config,omitempty"`
	OutDir          string            `json:"outDir"`
	Workers         int               `json:"workers"`
	BrowsersDir     string            `json:"browsersDir"`
	ManagedBrowsers string            `json:"managedBrowsers,omitempty"`
	SystemBrowsers  map[string]string `json:"systemBrowsers,omitempty"`
	GrepTimeoutMs   int64             `json:"grepTimeoutMs"`
	HangFactor      float64           `json:"hangFactor"`
	HangGraceMs     int64             `json:"hangGraceMs"`
	Shards          int               `json:"shards,omitempty"`
	Merge           *Merge            `json:"merge,omitempty"`
	Trial           *attempt.Trial    `json:"trial,omitempty"` // without its patch
	Recover         bool              `json:"recover,omitempty"`
}

// Merge asks for one report of many, and for no tests. Paths are the runner's own.
type Merge struct {
	Blobs   []string `json:"blobs"`
	Results string   `json:"results,omitempty"` // NDJSON of attempt.Orphan
}

// Select tells the runner what to run.
type Select struct {
	Type string `json:"type"` // "select"
	attempt.Selection
}

// Abort tells the runner to stop.
type Abort struct {
	Type   string `json:"type"` // "abort"
	Reason string `json:"reason"`
}

// Grant hands units to a sharded runner: tests of one unit are run in one go.
type Grant struct {
	Type  string     `json:"type"` // "grant"
	Units [][]string `json:"units"`
}

// Close tells a sharded runner that what it offers will get nothing more.
type Close struct {
	Type string `json:"type"` // "close"
}

// Answer tells the runner which element is meant now.
type Answer struct {
	Type string `json:"type"` // "answer"
	ID   string `json:"id"`
	attempt.Found
}

// Message is any message of the runner; Type says which fields are meant.
type Message struct {
	Type string `json:"type"`

	// hello
	Runner           string `json:"runner"`
	Playwright       string `json:"playwright"`
	Node             string `json:"node"`
	RepositoryRunner string `json:"repositoryRunner"`

	// suite
	Projects []Project `json:"projects"`

	// tests, listed, selected
	Tests    []Test   `json:"tests"`
	Total    int      `json:"total"`
	Fatal    bool     `json:"fatal"`
	Focused  bool     `json:"focused"`
	IDs      []string `json:"ids"`
	SetupIDs []string `json:"setupIds"`

	// edited
	Edits    []attempt.EditDone `json:"edits"`
	Patch    string             `json:"patch"`
	Offences []attempt.Offence  `json:"offences"`

	// recover; its ID names the question
	Test     string               `json:"test"`
	Method   string               `json:"method"`
	Selector string               `json:"selector"`
	Frames   []attempt.Frame      `json:"frames"`
	Earlier  []attempt.Place      `json:"earlier"`
	URL      string               `json:"url"`
	Page     string               `json:"page"`
	Refused  []attempt.FailedCall `json:"failed"`
	Uncaught int                  `json:"uncaught"`

	// want
	Free   int `json:"free"`
	Queued int `json:"queued"`

	// merged
	Skipped []string `json:"skipped"`

	// testBegin, testEnd, step, output, hung
	ID             string              `json:"id"`
	Retry          int                 `json:"retry"`
	Title          string              `json:"title"`
	Status         string              `json:"status"` // also of end
	ExpectedStatus string              `json:"expectedStatus"`
	StartedAt      time.Time           `json:"startedAt"`
	DurationMs     float64             `json:"durationMs"`
	WillRetry      bool                `json:"willRetry"`
	Errors         []Error             `json:"errors"`
	Attachments    []Attachment        `json:"attachments"`
	Sabotaged      bool                `json:"sabotaged"`
	Recovered      []attempt.Recovered `json:"recovered"`
	LimitMs        int64               `json:"limitMs"`
	Category       string              `json:"category"`
	Depth          int                 `json:"depth"`
	Failed         *Error              `json:"error"` // of a step

	// failed, error, warning
	Code     string            `json:"code"`
	Message  string            `json:"message"`
	Stack    string            `json:"stack"`
	Snippet  string            `json:"snippet"`
	Location *attempt.Location `json:"location"`
}

// Project is a Playwright project of the suite.
type Project struct {
	Name             string `json:"name"`
	BrowserName      string `json:"browserName"`
	BrowserAvailable *bool  `json:"browserAvailable"`
}

// Test is a listed test.
type Test struct {
	attempt.Test
	Annotations []struct {
		Type        string `json:"type"`
		Description string `json:"description"`
	} `json:"annotations"`
}

// Error is an error as the runner tells it.
type Error struct {
	Message  string            `json:"message"`
	Stack    string            `json:"stack"`
	Snippet  string            `json:"snippet"`
	Value    string            `json:"value"`
	Location *attempt.Location `json:"location"`
}

// Attachment is a file, or its bytes, that a test left behind.
type Attachment struct {
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
	Path        string `json:"path"`
	Body        string `json:"body"` // base64
}

// Reader reads messages. It is not safe for concurrent use.
type Reader struct{ r *bufio.Reader }

// NewReader reads messages from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// ErrGarbled is answered for a line that is no message.
var ErrGarbled = errors.New("the runner sent something that is no message")

// Next answers the next message: io.EOF at the end of the stream, ErrGarbled for a line
// that is none.
func (r *Reader) Next() (Message, error) {
	var line []byte
	for {
		part, err := r.r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				return Message{}, fmt.Errorf("%w: its last line is cut off", ErrGarbled)
			}
			return Message{}, err
		}
		if len(line) > maxLine {
			return Message{}, fmt.Errorf("%w: a line has more than %d bytes", ErrGarbled, maxLine)
		}
	}
	var m Message
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrGarbled, err)
	}
	if m.Type == "" {
		return Message{}, fmt.Errorf("%w: it has no type", ErrGarbled)
	}
	return m, nil
}
