package web_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tas-service/internal/catalog"
	"tas-service/internal/run"
)

// TestBugForms bounds what is said with a move, of which one form makes a thousand, and
// links a test once, however its ID is written.
func TestBugForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const lettered = "0000000a-0000-7000-8000-00000000000b"
	err := s.db.SyncCatalog(context.Background(), s.p.ID, "c0", true, func([]catalog.Test) ([]catalog.Test, error) {
		return []catalog.Test{{ID: lettered, ProjectID: s.p.ID, File: "a.spec.ts", TitlePath: []string{"a"}, Present: true, FirstSeen: s.now, LastSeen: s.now}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.finish("main", "a1", results(2, told{n: 1, status: run.StatusFailed, message: "Error: x"}))
	long := url.Values{"to": {"confirmed"}, "comment": {strings.Repeat("x", 500_000)}, "bug": {"BUG-1"}}
	s.post(shop+"/bugs/BUG-1/move", long).ok(http.StatusBadRequest, "at most 4000 bytes")
	s.post(shop+"/bugs", long)
	for _, id := range []string{lettered, strings.ToUpper(lettered)} {
		if a := s.post(shop+"/bugs/BUG-1/link", url.Values{"test": {id}}); a.code != http.StatusSeeOther {
			t.Fatalf("%d %s", a.code, a.text)
		}
	}
	b, err := s.db.Bug(context.Background(), s.p.ID, 1)
	if err != nil || len(b.History) != 2 || b.State != "needs-triage" || !slices.Equal(b.TestIDs, []string{testID(1), lettered}) {
		t.Errorf("%s, %d entries, tests %v, %v", b.State, len(b.History), b.TestIDs, err)
	}
}
