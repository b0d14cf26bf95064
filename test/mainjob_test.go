package test

import (
	"net/http"
	"testing"

	"tas-service/test/harness"
)

// TestMainJob is the whole of the main job on a small suite: start, poll, verdict,
// results, report, attachments, with a test that fails and one that does not.
func TestMainJob(t *testing.T) {
	s := harness.Start(t, harness.Options{Files: map[string]string{
		"tests/page.spec.ts": `import { test, expect } from '@playwright/test';
test.describe('page', () => {
  test('shows its heading @smoke', async ({ page }) => {
    await page.setContent('<h1>Hello</h1>');
    await expect(page.getByRole('heading')).toHaveText('Hello');
  });
  test('shows another heading', async ({ page }) => {
    await page.setContent('<h1>Hello</h1>');
    await expect(page.getByRole('heading')).toHaveText('Goodbye');
  });
});
`}})
	st := s.Suite(t)
	harness.Ledger(t, st)
	if st["verdict"] != "fail" || st["phase"] != "failed" || st["passed"] != 1.0 || st["failed"] != 1.0 {
		t.Fatalf("status: %v", st)
	}
	id := st["runId"].(string)
	rs := s.Results(t, id)
	bad := rs["tests/page.spec.ts › page › shows another heading [chromium]"]
	if bad == nil {
		t.Fatalf("results: %v", rs)
	}
	e := bad["error"].(map[string]any)
	if e["code"] != "assertion" || e["location"].(map[string]any)["line"] != 9.0 {
		t.Errorf("error: %v", e)
	}
	a := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+id+"/tests/"+bad["serviceTestId"].(string)+"/attachments", nil)
	var kinds []any
	for _, x := range a.Body["attachments"].([]any) {
		kinds = append(kinds, x.(map[string]any)["kind"])
	}
	if len(kinds) == 0 {
		t.Errorf("the failed test has no attachments: %s", a.Text)
	}
	report := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+id+"/report", nil)
	if report.Status != http.StatusOK {
		t.Fatalf("report: %s", report.Text)
	}
	latest := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/latest", nil)
	if latest.Body["id"] != id {
		t.Errorf("latest: %s", latest.Text)
	}
}
