package test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tas-service/internal/run"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// TestRefresh sees added, renamed and removed tests at the next push, without a run that
// anybody would see, and says what keeps it from looking.
func TestRefresh(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.Watch = 300 * time.Millisecond },
		Files: map[string]string{"tests/a.spec.ts": harness.Test("adds"), "tests/b.spec.ts": harness.Test("subtracts")}})
	if st := s.Suite(t); st["verdict"] != "pass" {
		t.Fatalf("%v", st)
	}
	before := ids(t, s)
	look := func() run.Refresh {
		t.Helper()
		r, err := s.Server.Store().Refresh(context.Background(), s.ProjectID)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(100 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the catalog has %v; %+v", what, ids(t, s), look())
			}
		}
	}
	s.Repo.Commit(t, "Rename, remove and add", map[string]string{"tests/a.spec.ts": "", "tests/sum.spec.ts": harness.Test("adds"), "tests/b.spec.ts": "", "tests/c.spec.ts": strings.ReplaceAll(harness.Test("multiplies"), "1 + 1", "2 * 1")})
	until("a push", func() bool { return slices.Contains(keys(ids(t, s)), "tests/c.spec.ts › multiplies") })
	now := ids(t, s)
	if len(now) != 2 || now["tests/sum.spec.ts › adds"] != before["tests/a.spec.ts › adds"] {
		t.Errorf("before %v\nnow %v", before, now)
	}
	if r := look(); r.Commit != s.Repo.Git(t, "rev-parse", "HEAD") || r.Trouble != nil || r.DoneAt.IsZero() {
		t.Errorf("%+v", r)
	}
	s.Repo.Commit(t, "Break it", map[string]string{"tests/c.spec.ts": "import './nowhere';\n"})
	until("a push that cannot be listed", func() bool { return look().Trouble != nil })
	if r := look(); !strings.Contains(r.Trouble.Message, "nowhere") || len(ids(t, s)) != 2 {
		t.Errorf("%+v, %v", r.Trouble, ids(t, s))
	}
	s.Repo.Commit(t, "Break the package", map[string]string{"package.json": "{"})
	until("a push that cannot be installed", func() bool { return look().Trouble != nil && look().Trouble.Code != "load-error" && !look().Pending })
	runs := s.Call(t, http.MethodGet, v1Root+"/test-runs", nil).Body["testRuns"].([]any)
	if len(runs) != 1 {
		t.Errorf("%d runs are listed", len(runs))
	}
	if latest := s.Call(t, http.MethodGet, v1Root+"/test-runs/latest", nil); latest.Body["id"] != runs[0].(map[string]any)["id"] {
		t.Errorf("the latest is %v", latest.Body)
	}
}
