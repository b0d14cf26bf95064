package evidence

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"tas-service/internal/artifact"
	"tas-service/internal/fault"
)

// Kept is what one passing run knows of a test.
type Kept struct {
	ProjectID   string
	TestID      string
	Browser     string
	Environment string
	RunID       string
	Commit      string
	At          time.Time
	Size        int64  // bytes, as it is kept
	Key         string // of its bytes
	// Places of the source that its steps come from, as "file:line", each once.
	Places []string
}

// KeepRuns is of how many passing runs the evidence of a test is kept.
const KeepRuns = 5

// KeepFor is how long evidence is kept that nothing newer replaces.
const KeepFor = 180 * 24 * time.Hour

// maxKept bounds what one test's evidence of one run may take, in bytes as it is kept.
const maxKept = 4 << 20

// Records keeps what is known of the evidence; its bytes are blobs.
type Records interface {
	// KeepEvidence saves one, and answers the keys of those that it replaces: all of the
	// same test, browser and environment but the newest keep.
	KeepEvidence(ctx context.Context, k Kept, keep int) (replaced []string, err error)
	// Evidence answers what is kept of a test in a browser and environment, the newest first.
	Evidence(ctx context.Context, projectID, testID, browser, environment string) ([]Kept, error)
	// TestsAt answers tests of which a step comes from a place of the source, by the newest
	// evidence first.
	TestsAt(ctx context.Context, projectID, place string, limit int) ([]string, error)
	// OldEvidence forgets what was kept before a time, and answers its keys.
	OldEvidence(ctx context.Context, before time.Time, limit int) ([]string, error)
	// OrderEvidence notes that a run records evidence, unless another one of the same commit
	// and environment was ordered since a time; of one that was ordered before it answers true.
	OrderEvidence(ctx context.Context, o Order, since time.Time) (bool, error)
	// DueEvidence has the evidence of a run read that was ordered to record it, or where none
	// of its commit and environment was ordered since a time.
	DueEvidence(ctx context.Context, o Order, since time.Time) error
	// EvidenceDue answers runs whose evidence is to be read, the oldest first.
	EvidenceDue(ctx context.Context, limit int) ([]Order, error)
	// EvidenceRead notes that a run's evidence was read.
	EvidenceRead(ctx context.Context, runID string) error
}

// Order is a run that evidence comes from.
type Order struct {
	RunID       string
	ProjectID   string
	Environment string
	Commit      string
	At          time.Time
}

// Shelf keeps evidence and answers it.
type Shelf struct {
	Records Records
	Blobs   artifact.Blobs
}

// Keep keeps what a passing run knows of a test; what is older than the last KeepRuns is
// removed.
func (s *Shelf) Keep(ctx context.Context, k Kept, t Test) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(t); err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	if b.Len() > maxKept {
		return fault.New(fault.Invalid, "The evidence of one test takes more than %d bytes.", maxKept)
	}
	k.Key = path.Join("evidence", k.ProjectID, k.TestID, k.RunID+"-"+digest(k.Browser, k.Environment)+".json.gz")
	k.Places = places(t)
	size, err := s.Blobs.Put(ctx, k.Key, "application/gzip", &b)
	if err != nil {
		return err
	}
	k.Size = size
	replaced, err := s.Records.KeepEvidence(ctx, k, KeepRuns)
	if err != nil {
		return err
	}
	return s.remove(ctx, replaced)
}

// Of answers what passing runs know of a test, the newest first. What cannot be read is left out.
func (s *Shelf) Of(ctx context.Context, projectID, testID, browser, environment string) ([]Kept, []Test, error) {
	all, err := s.Records.Evidence(ctx, projectID, testID, browser, environment)
	if err != nil {
		return nil, nil, err
	}
	var kept []Kept
	var tests []Test
	for _, k := range all {
		t, err := s.read(ctx, k.Key)
		switch {
		case err == nil:
			kept, tests = append(kept, k), append(tests, t)
		case fault.KindOf(err) == fault.Unavailable:
			return nil, nil, err
		}
	}
	return kept, tests, nil
}

// Open answers what one passing run knows of a test.
func (s *Shelf) Open(ctx context.Context, k Kept) (Test, error) { return s.read(ctx, k.Key) }

func (s *Shelf) read(ctx context.Context, key string) (t Test, err error) {
	b, err := s.Blobs.Open(ctx, key)
	if err != nil {
		return t, err
	}
	defer b.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(b)
	if err != nil {
		return t, fmt.Errorf("read evidence: %w", err)
	}
	return t, json.NewDecoder(io.LimitReader(z, maxUnpacked)).Decode(&t)
}

// Sweep removes evidence that was kept before a time.
func (s *Shelf) Sweep(ctx context.Context, before time.Time) error {
	for {
		keys, err := s.Records.OldEvidence(ctx, before, sweepAtOnce)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := s.remove(ctx, keys); err != nil || len(keys) < sweepAtOnce {
			return err
		}
	}
}

const sweepAtOnce = 200

func (s *Shelf) remove(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if err := s.Blobs.DeleteAll(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// places answers where the steps of a test come from, sorted.
func places(t Test) []string {
	seen := map[string]bool{}
	for i := range t.Steps {
		for _, f := range t.Steps[i].Stack {
			seen[f.Place()] = true
		}
	}
	out := make([]string, 0, len(seen))
	for p := range seen {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// Place names a line of the source: "tests/pages/cart.ts:12".
func (f Frame) Place() string { return fmt.Sprintf("%s:%d", f.File, f.Line) }

// Within makes the files of a test's steps relative to the folder in which the test's own file
// is, as the catalog has it, and leaves out what lies outside: libraries, and the runner.
func (t *Test) Within(file string) {
	root := ""
	for i := range t.Steps {
		for _, f := range t.Steps[i].Stack {
			if r, ok := strings.CutSuffix(f.File, "/"+file); ok {
				root = r + "/"
			}
		}
	}
	for i := range t.Steps {
		var stack []Frame
		for _, f := range t.Steps[i].Stack {
			rel, ok := strings.CutPrefix(f.File, root)
			if root == "" || !ok || strings.HasPrefix(rel, "node_modules/") {
				continue
			}
			f.File = rel
			stack = append(stack, f)
		}
		t.Steps[i].Stack = stack
	}
}

// digest names a browser and an environment in a key, whatever they are called.
func digest(names ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(names, "\x00"))))[:12]
}
