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

// Histories answers the latest outcomes of tests on the default branch, newest first and
// at most HealthWindow of each.
type Histories interface {
	Outcomes(ctx context.Context, projectID string, testIDs []string) (map[string][]Outcome, error)
}

// Service is what callers can ask of the catalog.
type Service struct {
	Store   Store
	Sets    Collections
	Held    Quarantines
	History Histories
	Clock   func() time.Time
}

// Entry is a test in a listing.
type Entry struct {
	Test
	Health     Health
	Quarantine *Quarantine // nil when it has none
}

// List answers a page of tests, and the cursor of the next one or nil. With a collection it
// answers those that it holds: fault.NotFound for one that is not there.
func (s *Service) List(ctx context.Context, q Query, collectionID string) ([]Entry, *Cursor, error) {
	want, holds := q.Limit, func(*Test) bool { return true }
	if collectionID != "" {
		c, err := s.Collection(ctx, q.ProjectID, collectionID)
		if err != nil {
			return nil, nil, err
		}
		holds = c.Holds
	}
	var page []Entry
	err := s.each(ctx, q, func(t *Test) bool {
		if holds(t) {
			page = append(page, Entry{Test: *t})
		}
		return len(page) <= want
	})
	if err != nil {
		return nil, nil, err
	}
	var next *Cursor
	if len(page) > want {
		page = page[:want]
		last := page[want-1]
		next = &Cursor{File: last.File, Line: last.Line, ID: last.ID}
	}
	return page, next, s.describe(ctx, q.ProjectID, page)
}

// describe adds what history and quarantine say.
func (s *Service) describe(ctx context.Context, projectID string, page []Entry) error {
	ids := make([]string, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	outcomes, err := s.History.Outcomes(ctx, projectID, ids)
	if err != nil {
		return err
	}
	held, err := s.Quarantined(ctx, projectID)
	if err != nil {
		return err
	}
	byTest := map[string]*Quarantine{}
	for i := range held {
		byTest[held[i].TestID] = &held[i]
	}
	for i := range page {
		page[i].Health, page[i].Quarantine = HealthOf(outcomes[page[i].ID]), byTest[page[i].ID]
	}
	return nil
}
