package test

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"tas-service/internal/catalog"
	"tas-service/internal/project"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// walk remembers which answers of which operations were seen.
type walk struct {
	t    *testing.T
	ops  map[string]*openapi3.Operation // by "v1 GET /tests"
	seen map[string]bool                // by "v1 GET /tests 200"
}

// try calls an operation, with its path's parameters filled in, and notes the answer. The
// harness holds it to the document.
func (w *walk) try(s *harness.System, op string, fill map[string]string, query string, body any, headers ...string) harness.Answer {
	w.t.Helper()
	parts := strings.Fields(op)
	path := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(parts[2], func(p string) string {
		if v := fill[strings.Trim(p, "{}")]; v != "" {
			return v
		}
		return unknown
	})
	a := s.Call(w.t, parts[1], "/public-api/"+parts[0]+path+query, body, headers...)
	w.seen[fmt.Sprintf("%s %d", op, a.Status)] = true
	return a
}

// minimal are bodies that an operation takes, as far as their form goes.
var minimal = map[string]any{
	"v1 POST /execution/tests":                 map[string]any{"testIds": []string{unknown}},
	"v1 POST /execution/grep":                  map[string]any{"grep": "."},
	"v2 POST /execution/grep":                  map[string]any{"grep": "."},
	"v1 POST /test-runs/{id}/report/verdicts":  map[string]any{"verdicts": []any{map[string]any{"serviceTestId": unknown, "verdict": "failed"}}},
	"v1 POST /auto-heal":                       map[string]any{"testRunId": unknown},
	"v1 POST /collections":                     map[string]any{"name": "Smoke", "rule": map[string]any{"title": "x"}},
	"v1 PUT /collections/{collectionId}":       map[string]any{"name": "Smoke", "rule": map[string]any{"title": "x"}},
	"v1 PUT /tests/{serviceTestId}/quarantine": map[string]any{"owner": "x", "reason": "x", "expiresAt": time.Now().Add(time.Hour)},
}

// TestContract walks every operation to every answer that the documents say it gives.
func TestContract(t *testing.T) {
	t.Parallel()
	w := &walk{t: t, ops: harness.Operations(t), seen: map[string]bool{}}
	w.refusals()
	w.broken()
	w.works()
	for op, o := range w.ops {
		for status := range o.Responses.Map() {
			if !w.seen[op+" "+status] {
				t.Errorf("%s never answered %s", op, status)
			}
		}
	}
}

// refusals provokes what every operation refuses alike.
func (w *walk) refusals() {
	s := idle(w.t)
	slow := harness.Start(w.t, harness.Options{Config: func(c *server.Config) { c.RateLimit = 1 }})
	for slow.Call(w.t, "GET", v1Root+"/me", nil).Status != http.StatusTooManyRequests {
	}
	for op, o := range w.ops {
		body := minimal[op]
		w.try(s, op, nil, "?nonsense=1", body)
		w.try(s, op, nil, "", body, "Authorization", "")
		w.try(s, op, nil, "", body, "Accept", "text/html")
		for a := w.try(slow, op, nil, "", body); a.Status != http.StatusTooManyRequests; {
			a = w.try(slow, op, nil, "", body)
		}
		if o.RequestBody != nil {
			w.try(s, op, nil, "", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`)
			w.try(s, op, nil, "", "x=1", "Content-Type", "application/x-www-form-urlencoded")
		}
		if o.Responses.Value("404") != nil {
			w.try(s, op, map[string]string{"jobName": "no-such-job"}, "", body)
		}
	}
	w.try(s, "v1 GET /tests", nil, "?collectionId="+unknown, nil)
}

// broken takes the database away below a running service: its tables, then all of it.
func (w *walk) broken() {
	if os.Getenv("TAS_TEST_DATABASE") == "postgres" {
		w.t.Skip("it breaks SQLite's file")
	}
	for _, breaks := range []func(s *harness.System) error{
		func(s *harness.System) error {
			db, err := sql.Open("sqlite", filepath.Join(s.Data, "tas.db"))
			if err != nil {
				return err
			}
			defer db.Close()
			for _, table := range []string{"run", "test", "project", "collection", "quarantine", "bug", "batch"} {
				if _, err := db.Exec(`ALTER TABLE ` + table + ` RENAME TO gone_` + table); err != nil {
					return err
				}
			}
			return nil
		},
		func(s *harness.System) error { return s.Server.Store().Close() },
	} {
		s := harness.Start(w.t, harness.Options{Config: func(c *server.Config) { c.Program = []string{"/bin/false"} }})
		if a := s.Call(w.t, "GET", v1Root+"/me", nil); a.Status != http.StatusOK { // the key is remembered for a moment
			w.t.Fatal(a.Text)
		}
		if err := breaks(s); err != nil {
			w.t.Fatal(err)
		}
		for op := range w.ops {
			w.try(s, op, map[string]string{"jobName": "some-job"}, "", minimal[op])
		}
	}
}

// works has every operation do what it is for, and meet what it cannot do.
func (w *walk) works() {
	s := harness.Start(w.t, harness.Options{Files: map[string]string{"tests/a.spec.ts": `import { test } from '@playwright/test';
test('good', async ({}, info) => { if (process.env.FAILS) throw new Error('it fails'); await info.attach('note', { body: 'x' }); });
`}})
	empty := s.Another(w.t, project.Project{Name: "No repository"})
	done := s.Begin(w.t, v1Root+"/execution/suite", nil)
	s.Wait(w.t, done)
	test := titled(w.t, s, done)["good"]["serviceTestId"].(string)
	c := w.try(s, "v1 POST /collections", nil, "", map[string]any{"name": "All", "rule": map[string]any{"paths": []string{"**"}}}).Body["id"].(string)
	other := w.try(s, "v1 POST /collections", nil, "", map[string]any{"name": "Other", "testIds": []string{test}}).Body["id"].(string)
	taken := map[string]any{"name": "All", "testIds": []string{test}}
	w.try(s, "v1 POST /collections", nil, "", taken)
	w.try(s, "v1 PUT /collections/{collectionId}", map[string]string{"collectionId": other}, "", taken)
	w.try(s, "v1 PUT /collections/{collectionId}", map[string]string{"collectionId": c}, "", minimal["v1 POST /collections"])

	hold := minimal["v1 PUT /tests/{serviceTestId}/quarantine"]
	w.try(s, "v1 PUT /tests/{serviceTestId}/quarantine", map[string]string{"serviceTestId": test}, "", hold)
	w.try(s, "v1 GET /quarantine", nil, "", nil)
	w.try(s, "v1 DELETE /tests/{serviceTestId}/quarantine", map[string]string{"serviceTestId": test}, "", nil)
	for i := range catalog.QuarantineCap(1) {
		if err := s.Server.Store().SetQuarantine(w.t.Context(), catalog.Quarantine{ProjectID: s.ProjectID, TestID: fmt.Sprint("other-", i), CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)},
			func(int, int) error { return nil }); err != nil {
			w.t.Fatal(err)
		}
	}
	w.try(s, "v1 PUT /tests/{serviceTestId}/quarantine", map[string]string{"serviceTestId": test}, "", hold)

	failed := s.Begin(w.t, "/public-api/v2/execution/grep", map[string]any{"grep": ".", "envOverrides": map[string]string{"FAILS": "1"}})
	s.Wait(w.t, failed)
	batch, _ := w.try(s, "v1 POST /auto-heal", nil, "", map[string]any{"testRunId": failed}).Body["batchId"].(string)
	w.try(s, "v1 POST /auto-heal", nil, "", map[string]any{"testRunId": done})

	bodies := map[string]any{"v1 POST /execution/tests": map[string]any{"testIds": []string{test}},
		"v1 POST /test-runs/{id}/report/verdicts": map[string]any{"verdicts": []any{map[string]any{"serviceTestId": test, "verdict": "bug"}}}}
	var going string
	for op := range w.ops {
		body := minimal[op]
		if b := bodies[op]; b != nil {
			body = b
		}
		switch {
		case strings.Contains(op, "POST /execution/"):
			a := w.try(s, op, map[string]string{"collectionId": c}, "", body)
			if going, _ = a.Body["runId"].(string); going == "" {
				w.t.Errorf("%s: %s", op, a.Text)
			}
			if strings.Contains(op, "/execution/collection/") { // a key that was used with another request
				w.try(s, op, map[string]string{"collectionId": c}, "", nil, "Idempotency-Key", "k")
				w.try(s, op, map[string]string{"collectionId": c}, "", map[string]any{"workers": 2}, "Idempotency-Key", "k")
				break
			}
			w.try(empty, op, nil, "", body)
		case strings.Contains(op, " GET "):
			name, _ := s.Status(w.t, done, "")["name"].(string)
			fill := map[string]string{"runId": done, "id": done, "serviceTestId": test, "jobName": name, "batchId": batch}
			if a := w.try(s, op, fill, "", nil); a.Status != http.StatusOK {
				w.t.Errorf("%s: %s", op, a.Text)
			}
			w.try(s, op, fill, "", nil, "If-None-Match", "*")
		}
	}
	w.try(s, "v1 GET /test-runs/{id}/report", map[string]string{"id": going}, "", nil)
	w.try(s, "v1 POST /test-runs/{id}/report/verdicts", map[string]string{"id": going}, "", bodies["v1 POST /test-runs/{id}/report/verdicts"])
	w.try(s, "v1 POST /test-runs/{id}/report/verdicts", map[string]string{"id": done}, "", bodies["v1 POST /test-runs/{id}/report/verdicts"])
	w.try(empty, "v1 GET /test-runs/latest", nil, "", nil)
	w.try(s, "v1 DELETE /collections/{collectionId}", map[string]string{"collectionId": other}, "", nil)
}
