// Package catalog is the tests that a project has. It gives each one an identity, the
// serviceTestId, that survives a new run, another browser project, a renamed file and a
// changed title, because history hangs on it.
package catalog

import (
	"context"
	"strings"
	"time"

	"tas-service/internal/fault"
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
	// TestsByID answers tests, also those that the branch has no more, in any order.
	TestsByID(ctx context.Context, projectID string, ids []string) ([]Test, error)
	// Facets answers the tags and the owners that a project's tests have, in order.
	Facets(ctx context.Context, projectID string) (tags, owners []string, err error)
}

// Query selects tests for a listing.
type Query struct {
	ProjectID string
	Text      string // part of the file or a title, in any letter case; "" for all
	Tag       string // "" for all
	Owner     string // "" for all
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
	Sums    Sums
	Clock   func() time.Time
}

// Entry is a test in a listing.
type Entry struct {
	Test
	Health     Health
	Quarantine *Quarantine // nil when it has none
	Outcomes   []Outcome   // that its health is made of, newest first
}

// Get answers one test of a project with its health: fault.NotFound for none.
func (s *Service) Get(ctx context.Context, projectID, id string) (Entry, error) {
	found, err := s.Named(ctx, projectID, []string{strings.ToLower(id)})
	if err != nil {
		return Entry{}, err
	}
	for _, t := range found {
		page := []Entry{{Test: t}}
		err := s.describe(ctx, projectID, page)
		return page[0], err
	}
	return Entry{}, fault.New(fault.NotFound, "There is no such test in this project.").WithFix("Look for it among the project's tests.")
}

// Named answers tests by their IDs; those that there are not are left out.
func (s *Service) Named(ctx context.Context, projectID string, ids []string) (map[string]Test, error) {
	out := make(map[string]Test, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	found, err := s.Store.TestsByID(ctx, projectID, ids)
	for _, t := range found {
		out[t.ID] = t
	}
	return out, err
}

// All answers every test of a project that a collection holds, or has a tag; all for "".
func (s *Service) All(ctx context.Context, projectID, collectionID, tag string) ([]Test, error) {
	holds := func(*Test) bool { return true }
	if collectionID != "" {
		c, err := s.Collection(ctx, projectID, collectionID)
		if err != nil {
			return nil, err
		}
		holds = c.Holds
	}
	var out []Test
	err := s.each(ctx, Query{ProjectID: projectID, Tag: tag, Limit: 999}, func(t *Test) bool {
		if holds(t) {
			out = append(out, *t)
		}
		return true
	})
	return out, err
}

// Preview answers what a collection would hold if it were kept so, the first of them, and
// how many: fault.Invalid where it cannot be kept.
func (s *Service) Preview(ctx context.Context, c Collection, most int) (first []Test, n int, err error) {
	c.Name = "preview"
	if err := c.Check(); err != nil {
		return nil, 0, err
	}
	err = s.each(ctx, Query{ProjectID: c.ProjectID, Limit: 999}, func(t *Test) bool {
		if c.Holds(t) {
			if n++; n <= most {
				first = append(first, *t)
			}
		}
		return true
	})
	return first, n, err
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
		page[i].Outcomes = outcomes[page[i].ID]
		page[i].Health, page[i].Quarantine = HealthOf(page[i].Outcomes), byTest[page[i].ID]
	}
	return nil
}
