package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tas-service/internal/project"
	"tas-service/test/harness"
)

// basketSpec is a test of the basket, with its locator left out.
const basketSpec = `import { test, expect } from '@playwright/test';
test('drops the mug', async ({ page }) => {
  await page.goto(process.env.APP!);
  await page.getByRole('main').%s.click({ timeout: 2000 });
  await expect(page.getByRole('status')).toHaveText('Gone', { timeout: 2000 });
});
test('shows the basket', async ({ page }) => {
  await page.goto(process.env.APP!);
  await expect(page.getByRole('heading', { name: 'Your basket' })).toBeVisible();
});
`

// basket serves a page that can be changed under the tests.
func basket(t *testing.T) (app *httptest.Server, page *atomic.Value) {
	t.Helper()
	page = &atomic.Value{}
	page.Store(basketPage)
	app = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page.Load())
	}))
	t.Cleanup(app.Close)
	return app, page
}

// healed starts the healing of a run and answers its batch once that has ended.
func healed(t *testing.T, s *harness.System, body map[string]any) map[string]any {
	t.Helper()
	a := s.Call(t, http.MethodPost, "/public-api/v1/auto-heal", body)
	if a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Text)
	}
	return batch(t, s, a.Body["batchId"].(string))
}

func batch(t *testing.T, s *harness.System, id string) map[string]any {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		a := s.Call(t, http.MethodGet, "/public-api/v1/auto-heal/batch/"+id, nil)
		if a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Text)
		}
		if a.Body["allTerminal"] == true {
			return a.Body
		}
	}
	t.Fatal("the batch does not end")
	return nil
}

func sessionOf(t *testing.T, b map[string]any, i int) map[string]any {
	t.Helper()
	return b["sessions"].([]any)[i].(map[string]any)
}

// evident waits until evidence of a run was read.
func evident(t *testing.T, s *harness.System, projectID string, tests int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		n := 0
		for _, x := range s.Call(t, http.MethodGet, "/public-api/v1/tests", nil).Body["tests"].([]any) {
			kept, err := s.Server.Store().Evidence(t.Context(), projectID, x.(map[string]any)["serviceTestId"].(string), "chromium", project.DefaultEnvironment)
			if err != nil {
				t.Fatal(err)
			}
			n += min(1, len(kept))
		}
		if n >= tests {
			return
		}
	}
	t.Fatal("no evidence was kept")
}

// TestHealing heals what drifted, from a failed run to a pull request, and refuses what is
// broken: with real Playwright, against an application that changes under its tests.
func TestHealing(t *testing.T) {
	t.Parallel()
	app, page := basket(t)
	s := harness.Start(t, harness.Options{Project: func(p *project.Project) { p.Env = map[string]string{"APP": app.URL} },
		Files: map[string]string{"tests/a.spec.ts": fmt.Sprintf(basketSpec, "getByTestId('drop-mug')")}})
	if st := s.Suite(t); st["verdict"] != "pass" {
		t.Fatal(st)
	}
	evident(t, s, s.ProjectID, 2)
	page.Store(strings.Replace(basketPage, `data-testid="drop-mug"`, `data-testid="remove-mug"`, 1))
	st := s.Suite(t)
	if st["verdict"] != "fail" {
		t.Fatal(st)
	}
	b := healed(t, s, map[string]any{"testRunId": st["runId"]})
	x := sessionOf(t, b, 0)
	text, _ := json.MarshalIndent(b, "", " ")
	outcome := x["outcome"].([]any)[0].(map[string]any)
	if x["status"] != "completed" || outcome["outcome"] != "healed" || outcome["class"] != "locator-drift" || x["prUrl"] == nil {
		t.Fatalf("%s", text)
	}
	t.Logf("%s", text)
}
