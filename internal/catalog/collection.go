package catalog

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// Collection is tests that are run together: those named by hand, and those that a rule
// fits. What it holds is decided when a run starts, by what the branch has then.
type Collection struct {
	ID          string
	ProjectID   string
	Name        string // unique within the project
	Description string
	TestIDs     []string // by hand
	Rule        *Rule    // nil for none
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Rule selects tests by what they are. A test fits when it has one of the tags, lies at
// one of the paths and has the title's text, as far as each is given.
type Rule struct {
	Tags  []string `json:"tags,omitempty"`  // such as @smoke
	Paths []string `json:"paths,omitempty"` // globs over the file, ** for any folders
	Title string   `json:"title,omitempty"` // part of "describe › title", in any letter case
}

// Bounds of a collection.
const (
	maxCollectionName = 100 // characters
	maxDescription    = 1000
	maxRuleParts      = 100
	maxRulePart       = 300
	MaxCollectionIDs  = 5000
	MaxCollections    = 500 // of one project
)

// Fits reports whether the rule selects a test; a nil rule selects none.
func (r *Rule) Fits(file string, titlePath, tags []string) bool {
	if r == nil {
		return false
	}
	tagged := len(r.Tags) == 0 || slices.ContainsFunc(r.Tags, func(t string) bool {
		return slices.ContainsFunc(tags, func(have string) bool { return strings.TrimPrefix(have, "@") == strings.TrimPrefix(t, "@") })
	})
	placed := len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(glob string) bool {
		return doublestar.MatchUnvalidated(glob, file)
	})
	titled := r.Title == "" || strings.Contains(strings.ToLower(strings.Join(titlePath, " › ")), strings.ToLower(r.Title))
	return tagged && placed && titled
}

// Holds reports whether a test is in the collection.
func (c *Collection) Holds(t *Test) bool {
	return slices.Contains(c.TestIDs, t.ID) || c.Rule.Fits(t.File, t.TitlePath, t.Tags)
}

// Check answers fault.Invalid for what is wrong with a collection, and tidies it.
func (c *Collection) Check() error {
	bad := fault.New(fault.Invalid, "The collection cannot be kept as it was sent.").WithFix("Correct the fields named in errors.")
	c.Name = strings.TrimSpace(c.Name)
	if n := utf8.RuneCountInString(c.Name); n == 0 || n > maxCollectionName {
		bad.At("body.name", "1 to %d characters", maxCollectionName)
	}
	if len(c.Description) > maxDescription {
		bad.At("body.description", "at most %d bytes", maxDescription)
	}
	slices.Sort(c.TestIDs)
	if c.TestIDs = slices.Compact(c.TestIDs); len(c.TestIDs) > MaxCollectionIDs {
		bad.At("body.testIds", "at most %d tests; use a rule for more", MaxCollectionIDs)
	}
	if r := c.Rule; r != nil {
		if len(r.Tags) == 0 && len(r.Paths) == 0 && r.Title == "" {
			bad.At("body.rule", "needs tags, paths or a title; a rule without any would hold every test")
		}
		if len(r.Tags) > maxRuleParts || len(r.Paths) > maxRuleParts || slices.ContainsFunc(append(slices.Concat(r.Tags, r.Paths), r.Title), func(s string) bool { return len(s) > maxRulePart }) {
			bad.At("body.rule", "at most %d tags and paths, of at most %d bytes", maxRuleParts, maxRulePart)
		}
		if slices.ContainsFunc(r.Tags, func(t string) bool { return strings.Trim(t, "@ ") == "" }) {
			bad.At("body.rule.tags", "an empty tag fits nothing")
		}
		for i, p := range r.Paths {
			if r.Paths[i] = strings.TrimPrefix(path.Clean(p), "/"); p == "" || !doublestar.ValidatePattern(p) {
				bad.At("body.rule.paths", "%.80q is no path: write tests/cart/** or **/*.spec.ts", p)
			}
		}
	} else if len(c.TestIDs) == 0 {
		bad.At("body", "needs testIds, a rule, or both")
	}
	if len(bad.Details) > 0 {
		return bad
	}
	return nil
}

// Collections keeps collections. Lookups answer fault.NotFound for what is not there,
// writes fault.Conflict for a name that is taken.
type Collections interface {
	Collections(ctx context.Context, projectID string) ([]Collection, error) // by name
	Collection(ctx context.Context, projectID, id string) (Collection, error)
	SaveCollection(ctx context.Context, c Collection) error
	DropCollection(ctx context.Context, projectID, id string) error
	// UnknownTests answers which of ids are no tests of the project.
	UnknownTests(ctx context.Context, projectID string, ids []string) ([]string, error)
}

// Collection answers one collection of a project: fault.NotFound for none.
func (s *Service) Collection(ctx context.Context, projectID, id string) (Collection, error) {
	c, err := s.Sets.Collection(ctx, projectID, strings.ToLower(id))
	if fault.KindOf(err) == fault.NotFound {
		return c, fault.New(fault.NotFound, "There is no such collection in this project.").WithFix("GET /collections lists them.")
	}
	return c, err
}

// Counted is a collection with how many tests it holds now.
type Counted struct {
	Collection
	Tests int
}

// ListCollections answers a project's collections by name, and how many of the tests that
// the default branch has each one holds.
func (s *Service) ListCollections(ctx context.Context, projectID string) ([]Counted, error) {
	cs, err := s.Sets.Collections(ctx, projectID)
	if err != nil || len(cs) == 0 {
		return nil, err
	}
	out := make([]Counted, len(cs))
	for i, c := range cs {
		out[i].Collection = c
	}
	return out, s.each(ctx, Query{ProjectID: projectID}, func(t *Test) bool {
		for i := range out {
			if out[i].Holds(t) {
				out[i].Tests++
			}
		}
		return true
	})
}

// Create keeps a new collection, for a member of its project.
func (s *Service) Create(ctx context.Context, actor account.Actor, c Collection) (Collection, error) {
	if err := actor.MayAs(account.RoleMember, c.ProjectID, "collection"); err != nil {
		return c, err
	}
	if err := s.checkCollection(ctx, &c); err != nil {
		return c, err
	}
	all, err := s.Sets.Collections(ctx, c.ProjectID)
	if err != nil {
		return c, err
	}
	if len(all) >= MaxCollections {
		return c, fault.New(fault.Conflict, "The project has %d collections already, and that is the most.", MaxCollections).WithFix("Remove one that is not used.")
	}
	c.ID, c.CreatedAt = uuid.NewString(), s.Clock()
	c.UpdatedAt = c.CreatedAt
	return c, s.Sets.SaveCollection(ctx, c)
}

// Replace changes a collection to what is given; its ID and creation stay.
func (s *Service) Replace(ctx context.Context, actor account.Actor, c Collection) (Collection, error) {
	if err := actor.MayAs(account.RoleMember, c.ProjectID, "collection"); err != nil {
		return c, err
	}
	old, err := s.Collection(ctx, c.ProjectID, c.ID)
	if err != nil {
		return c, err
	}
	if err := s.checkCollection(ctx, &c); err != nil {
		return c, err
	}
	c.ID, c.CreatedAt, c.UpdatedAt = old.ID, old.CreatedAt, s.Clock()
	return c, s.Sets.SaveCollection(ctx, c)
}

// Drop removes a collection. Runs of it keep their results.
func (s *Service) Drop(ctx context.Context, actor account.Actor, id string) error {
	projectID := actor.ProjectID
	if err := actor.MayAs(account.RoleMember, projectID, "collection"); err != nil {
		return err
	}
	if _, err := s.Collection(ctx, projectID, id); err != nil {
		return err
	}
	return s.Sets.DropCollection(ctx, projectID, strings.ToLower(id))
}

func (s *Service) checkCollection(ctx context.Context, c *Collection) error {
	if err := c.Check(); err != nil {
		return err
	}
	unknown, err := s.Sets.UnknownTests(ctx, c.ProjectID, c.TestIDs)
	if err != nil || len(unknown) == 0 {
		return err
	}
	return fault.New(fault.Invalid, "The collection cannot be kept as it was sent.").WithFix("Correct the fields named in errors.").
		At("body.testIds", "%d are no tests of this project, the first %.64q; GET /tests lists them", len(unknown), unknown[0])
}

// each tells fn of every test that a query finds, until fn answers false. The query's limit
// is how many are read at first; later ones are larger.
func (s *Service) each(ctx context.Context, q Query, fn func(*Test) bool) error {
	for q.Limit++; ; q.Limit = 1000 {
		ts, err := s.Store.Tests(ctx, q)
		if err != nil {
			return err
		}
		for i := range ts {
			if !fn(&ts[i]) {
				return nil
			}
		}
		if len(ts) < q.Limit {
			return nil
		}
		last := ts[len(ts)-1]
		q.After = &Cursor{File: last.File, Line: last.Line, ID: last.ID}
	}
}
