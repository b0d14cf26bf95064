package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/run"
)

// TestHostileRepository gives every word that a repository chooses what would turn a page
// around, and more of it than a page may show.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const evil = "\u202eevil\u2066\x1b[31m\u009b</title><script>alert(1)</script>"
	long := strings.Repeat("long ", 2000)
	var tags []string
	for i := range 3000 {
		tags = append(tags, fmt.Sprintf("@tag%04d", i))
	}
	ctx := context.Background()
	err := s.db.SyncCatalog(ctx, s.p.ID, "c0", true, func([]catalog.Test) (save []catalog.Test, err error) {
		for i := range 2 {
			save = append(save, catalog.Test{ID: testID(i), ProjectID: s.p.ID, File: "tests/" + evil, TitlePath: []string{evil, long}, Line: i, Tags: append([]string{evil}, tags...), Owner: evil, Browsers: []string{evil}, Present: true, FirstSeen: s.now, LastSeen: s.now})
		}
		return save, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := s.planned([]run.Result{{TestID: testID(0), Status: run.StatusFailed, Tags: append([]string{evil}, tags...), Owner: evil, Error: &run.Error{Message: evil, Stack: evil, Snippet: evil, Steps: []string{evil}, Location: &run.Location{File: evil}}}})
	if err := s.db.UpdateRun(ctx, r.ID, func(r *run.Run) error {
		r.Branch, r.Commit, r.Playwright = evil, evil, evil
		r.Warn(evil, evil)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/runs", "/runs/" + r.ID, "/runs/" + r.ID + "/tests/" + testID(0), "/tests", "/tests?tag=" + url.QueryEscape("@tag2999"), "/tests/" + testID(0), "/health?branch=*", "/health?tag=@tag2999", "/bugs/BUG-1", "/collections/new", "/runs/new?test=" + testID(0)} {
		a := s.get(shop + path)
		a.ok(http.StatusOK)
		if i := strings.IndexAny(a.text, "\u202e\u2066\x1b\u009b"); i >= 0 {
			t.Errorf("%s is turned around: %q", path, a.text[max(0, i-60):i+20])
		}
		if strings.Contains(a.text, "<script>alert") {
			t.Errorf("%s runs a script", path)
		}
		if len(a.text) > 120_000 {
			t.Errorf("%s has %d bytes", path, len(a.text))
		}
	}
	if a := s.get(shop + "/tests?tag=" + url.QueryEscape("@tag2999")); !strings.Contains(a.text, "<option selected>@tag2999") {
		t.Error("the chosen tag is not offered")
	}
}

// TestVerdictsComeFromSomewhere keeps the address that people come from, and not that of a
// proxy with the port of the day.
func TestVerdictsComeFromSomewhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("eve@example.com", false, "member")
	s := &site{t: t, db: h.db, app: h.app, p: h.p, now: h.now()}
	s.catalog(2)
	r := s.finish("main", "a1", results(2, told{n: 1, status: run.StatusFailed, message: "Error: x"}))
	var kept []bug.Verdict
	h.app.Bugs.Store = keeping{h.app.Bugs.Store, &kept}
	if a := h.as("eve@example.com").send("/profile", "/projects/web-shop/runs/"+r.ID+"/tests/"+testID(1)+"/verdict", url.Values{"verdict": {"not-bug"}}); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	if len(kept) != 1 || kept[0].From != "127.0.0.1" {
		t.Errorf("%+v", kept)
	}
}

// keeping notes the verdicts that are kept.
type keeping struct {
	bug.Store
	kept *[]bug.Verdict
}

func (k keeping) Work(ctx context.Context, runID string, which bug.Which, fn func(bug.Desk) error) error {
	return k.Store.Work(ctx, runID, which, func(d bug.Desk) error { return fn(noting{d, k.kept}) })
}

type noting struct {
	bug.Desk
	kept *[]bug.Verdict
}

func (n noting) Keep(v bug.Verdict) error {
	*n.kept = append(*n.kept, v)
	return n.Desk.Keep(v)
}
