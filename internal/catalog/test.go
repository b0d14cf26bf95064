// Package catalog is the tests that a project has. It gives each one an identity, the
// serviceTestId, that survives a new run, another browser project, a renamed file and a
// changed title, because history hangs on it.
package catalog

import (
	"context"
	"strings"
	"time"
)

// Test is one test of a project, whatever Playwright projects it runs in.
type Test struct {
	ID        string // serviceTestId
	ProjectID string
	File      string
	TitlePath []string // describes and title
	BodyHash  string
	Line      int
	Tags      []string
	Owner     string
	Browsers  []string
	Present   bool // in the latest listing of the default branch
	FirstSeen time.Time
	LastSeen  time.Time
	// Places are all file and title pairs under which the test was ever listed, as
	// Place makes them; the current one among them.
	Places []string
}

// Title is the test's own title, without its describes.
func (t *Test) Title() string {
	if len(t.TitlePath) == 0 {
		return ""
	}
	return t.TitlePath[len(t.TitlePath)-1]
}

// Listed is one test as a checkout lists it: once, whatever projects it runs in.
type Listed struct {
	File      string
	TitlePath []string
	BodyHash  string
	Line      int
	Tags      []string
	Owner     string
	Browsers  []string
}

// Place is the key of a file and a title path: different ones for all that differ.
func Place(file string, titlePath []string) string {
	parts := make([]string, 0, len(titlePath)+1)
	for _, p := range append([]string{file}, titlePath...) {
		parts = append(parts, escapeSeparator.Replace(p))
	}
	return strings.Join(parts, separator)
}

const separator = "\x1f"

// escapeSeparator keeps a title that holds the separator apart from two titles.
var escapeSeparator = strings.NewReplacer(separator, `\u`, `\`, `\\`)

// Store keeps the catalog.
type Store interface {
	// Tests lists what can be run, ordered by file, line and ID.
	Tests(ctx context.Context, q Query) ([]Test, error)
}

// Query selects tests for a listing.
type Query struct {
	ProjectID string
	Text      string // part of the file or a title, in any letter case; "" for all
	After     *Cursor
	Limit     int
}

// Cursor is where a page of a listing ended.
type Cursor struct {
	File string `json:"f"`
	Line int    `json:"l"`
	ID   string `json:"i"`
}

// Service is what callers can ask of the catalog.
type Service struct{ Store Store }

// List answers a page of tests, and the cursor of the next one or nil.
func (s *Service) List(ctx context.Context, q Query) ([]Test, *Cursor, error) {
	want := q.Limit
	q.Limit++
	ts, err := s.Store.Tests(ctx, q)
	if err != nil || len(ts) <= want {
		return ts, nil, err
	}
	last := ts[want-1]
	return ts[:want], &Cursor{File: last.File, Line: last.Line, ID: last.ID}, nil
}
