package test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tas-service/internal/server"
	"tas-service/test/harness"
)

// get fetches an address without a key and without following redirects; host, if set, is
// the Host header.
func get(t *testing.T, address, host string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	var b strings.Builder
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}

// redRun is a finished run with one failure whose error text holds markup.
func redRun(t *testing.T, s *harness.System) map[string]any {
	t.Helper()
	return s.Branch(t, "red", map[string]string{"tests/red.spec.ts": `import { test, expect } from '@playwright/test';
test('is <b>red</b>', async ({ page }) => {
  await page.setContent('<h1>Hello</h1>');
  await expect(page.getByRole('heading'), '<script>alert(1)</script>').toHaveText('Goodbye');
});
`})
}

func TestRunPage(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{})
	st := redRun(t, s)
	page := st["testRunUrl"].(string)
	if page != s.URL+"/runs/"+st["runId"].(string) {
		t.Fatalf("the run is at %s", page)
	}
	resp := get(t, page, "")
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/sign-in?") {
		t.Errorf("a stranger is sent to %s: %d", to, resp.StatusCode)
	}
	for _, address := range []string{"/sign-in", "/problems/unauthenticated"} {
		if resp := get(t, s.URL+address, ""); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", address, resp.StatusCode)
		}
	}
}

// TestContentOrigin holds strangers' content to its own origin, where the pages are not.
func TestContentOrigin(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{})
	st := redRun(t, s)
	report := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+st["runId"].(string)+"/report", nil).Body["url"].(string)
	at, err := url.Parse(report)
	if err != nil {
		t.Fatal(err)
	}
	if at.Hostname() != "localhost" || !strings.HasPrefix(s.URL, "http://127.0.0.1:") {
		t.Fatalf("the report is at %s, the app at %s", report, s.URL)
	}
	here := s.URL + at.Path
	resp := get(t, here, at.Host)
	if resp.StatusCode != http.StatusOK || !strings.Contains(body(t, resp), "<html") {
		t.Errorf("the report does not open: %d", resp.StatusCode)
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "object-src 'none'") || resp.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers: %v", resp.Header)
	}
	if resp := get(t, here, ""); resp.StatusCode != http.StatusTemporaryRedirect || resp.Header.Get("Location") != report {
		t.Errorf("the app's own host serves the report: %d", resp.StatusCode)
	}
	if resp := get(t, s.URL+"/sign-in", at.Host); resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("the content host serves the app: %d", resp.StatusCode)
	}
	parts := strings.SplitN(strings.TrimPrefix(at.Path, "/content/"), "/", 3)
	for name, path := range map[string]string{
		"changed token":   "/content/" + parts[0][:8] + "AAAA" + parts[0][12:] + "/" + parts[1] + "/" + parts[2],
		"another run":     "/content/" + parts[0] + "/00000000-0000-7000-8000-000000000000/" + parts[2],
		"out of the run":  "/content/" + parts[0] + "/" + parts[1] + "/..%2f..%2f..%2ftas.db",
		"no such content": "/content/" + parts[0] + "/" + parts[1] + "/nothing",
	} {
		if resp := get(t, s.URL+path, at.Host); resp.StatusCode < 400 || resp.StatusCode >= 500 {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
}

// TestOneOrigin locks reports into a sandbox where there is no second host name, and
// lets no link outlive its time.
func TestOneOrigin(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) {
		c.AppURL, c.ContentURL, c.LinkTTL = "http://tas.example", "http://tas.example", time.Nanosecond
	}})
	st := redRun(t, s)
	report, err := url.Parse(s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+st["runId"].(string)+"/report", nil).Body["url"].(string))
	if err != nil {
		t.Fatal(err)
	}
	// The time of a link is cut to whole seconds, so this one ends within the second.
	for {
		resp := get(t, s.URL+report.Path, "")
		if resp.StatusCode == http.StatusForbidden {
			return
		}
		if csp := resp.Header.Get("Content-Security-Policy"); resp.StatusCode != http.StatusOK || !strings.Contains(csp, "sandbox") || strings.Contains(csp, "allow-same-origin") {
			t.Fatalf("the report is not locked in: %d %q", resp.StatusCode, csp)
		}
	}
}

// TestHealth holds the operator's addresses to what the guide says.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.MetricsToken = "see" }})
	for _, path := range []string{"/healthz", "/readyz"} {
		if resp := get(t, s.URL+path, ""); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	if resp := get(t, s.URL+"/metrics", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("metrics without the token: %d", resp.StatusCode)
	}
	a := s.Call(t, http.MethodGet, "/metrics", nil, "Authorization", "Bearer see")
	for _, name := range []string{"tas_http_request_seconds", `tas_runs{phase="queued"} 0`} {
		if !strings.Contains(a.Text, name) {
			t.Errorf("the metrics lack %s", name)
		}
	}
	runner := get(t, s.URL+"/runner/tas-runner-4.4.0.tgz", "")
	if runner.StatusCode != http.StatusOK || runner.Header.Get("Content-Type") != "application/gzip" {
		t.Errorf("runner: %d %v", runner.StatusCode, runner.Header)
	}
}

// TestConditionalReads spares who has an answer already from reading it again, and sends
// long answers in fewer bytes.
func TestConditionalReads(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: map[string]string{"tests/sum.spec.ts": waiting("", 1, 1, 1, 1, 1, 1, 1, 1)}})
	id := s.Suite(t)["runId"].(string)
	for _, path := range []string{"/public-api/v1/execution/status/run/" + id, "/public-api/v1/test-runs/" + id + "/results", "/public-api/v1/me"} {
		plain := s.Call(t, "GET", path, nil, "Accept-Encoding", "identity")
		tag := plain.Header.Get("ETag")
		if plain.Status != http.StatusOK || tag == "" || plain.Header.Get("Cache-Control") != "private, no-cache" {
			t.Fatalf("%s: %d, %v", path, plain.Status, plain.Header)
		}
		for header, want := range map[string]int{tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, strings.TrimPrefix(tag, "W/"): 304} {
			if a := s.Call(t, "GET", path, nil, "If-None-Match", header); a.Status != want || want == 304 && a.Text != "" {
				t.Errorf("%s with %s: %d %q", path, header, a.Status, a.Text)
			}
		}
		packed := s.Call(t, "GET", path, nil, "Accept-Encoding", "gzip")
		if packed.Header.Get("ETag") != tag {
			t.Errorf("%s compressed has another tag", path)
		}
		if long := len(plain.Text) > 2000; long != (packed.Header.Get("Content-Encoding") == "gzip") || long && len(packed.Text) >= len(plain.Text) {
			t.Errorf("%s: %d bytes as %q, %d plain", path, len(packed.Text), packed.Header.Get("Content-Encoding"), len(plain.Text))
		}
	}
	if a := s.Call(t, "GET", "/public-api/v1/execution/status/run/"+unknown, nil); a.Status != http.StatusNotFound || a.Header.Get("ETag") != "" {
		t.Errorf("a problem has a tag: %d %v", a.Status, a.Header)
	}
}

// TestReference shows every call of the API, with its fields, and works without scripts.
func TestReference(t *testing.T) {
	t.Parallel()
	s := idle(t)
	page := s.Call(t, "GET", "/reference", nil)
	if page.Status != http.StatusOK || strings.Contains(page.Text, "<script>") {
		t.Fatalf("%d", page.Status)
	}
	for name, op := range harness.Operations(t) {
		parts := strings.Fields(name)
		if id := `id="` + parts[0] + "-" + op.OperationID + `"`; !strings.Contains(page.Text, id) || !strings.Contains(page.Text, "/public-api/"+parts[0]+parts[2]) {
			t.Errorf("%s is not on the page", name)
		}
	}
	for _, field := range []string{"shardCount", "2 to 40", "expiresAt", "bug | not-bug | flaky | passed | failed", "Retry-After tells"} {
		if !strings.Contains(page.Text, field) {
			t.Errorf("the page does not say %q", field)
		}
	}
}
