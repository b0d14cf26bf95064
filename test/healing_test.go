package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
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

// keptEvidence is evident for a service of its own, by its files.
func keptEvidence(t *testing.T, p *harness.Process, tests int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if kept, _ := filepath.Glob(filepath.Join(p.Data, "artifacts", "evidence", p.ProjectID, "*")); len(kept) >= tests {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no evidence was kept")
		}
	}
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

// desk is an application whose parts break one by one.
const deskPage = `<!doctype html><html lang="en"><title>Desk</title><main><h1>Desk</h1>
<form aria-label="New note"><label>Title <input name="title" data-testid="note-title"></label><label>Body <input name="body"></label><button type="button" data-testid="note-save" id="save">Save note</button></form>
<section aria-label="Notes"><ul id="notes"></ul></section>
<button type="button" data-testid="archive-all" id="archive">Archive everything</button>
<p role="status"></p></main>
<script>
const said = text => document.querySelector("[role=status]").textContent = text;
document.querySelector("#save")?.addEventListener("click", async () => {
  const r = await fetch("/notes", { method: "POST", body: document.querySelector("[name=title]").value });
  if (!r.ok) return said("Something went wrong");
  document.querySelector("#notes").innerHTML += "<li>" + await r.text() + "</li>";
  said("Saved");
});
document.querySelector("#archive")?.addEventListener("click", async () => {
  const r = await fetch("/archive", { method: "POST" });
  said(r.ok ? "Archived" : "Something went wrong");
});
</script></html>`

const deskObject = `import type { Page } from '@playwright/test';
export class Desk {
  constructor(private page: Page) {}
  title = () => this.page.getByTestId('note-title');
  save = () => this.page.getByTestId('note-save');
  async open() { await this.page.goto(process.env.APP!); }
}
`

const deskSpec = `import { test, expect } from '@playwright/test';
import { Desk } from './desk';
test('saves a note', async ({ page }) => {
  const desk = new Desk(page);
  await desk.open();
  await desk.title().fill('Milk');
  await desk.save().click({ timeout: 2000 });
  await expect(page.getByRole('listitem')).toHaveText('Milk');
});
test('says that it saved', async ({ page }) => {
  const desk = new Desk(page);
  await desk.open();
  await desk.title().fill('Bread');
  await desk.save().click({ timeout: 2000 });
  await expect(page.getByRole('status')).toHaveText('Saved');
});
test('archives', async ({ page }) => {
  await new Desk(page).open();
  await page.getByTestId('archive-all').click({ timeout: 2000 });
  await expect(page.getByRole('status')).toHaveText('Archived');
});
test('is there', async ({ page }) => {
  await page.goto(process.env.APP! + '/visit');
  await expect(page.getByRole('heading')).toHaveText('Welcome');
});
`

// TestHealingBatch heals the failures of one run, each by its cause: a locator that two tests
// share is repaired once, a request that fails is the application's bug and becomes one, and
// what passes unchanged is flaky.
func TestHealingBatch(t *testing.T) {
	t.Parallel()
	var page, mood atomic.Value
	page.Store(deskPage)
	mood.Store("well")
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/notes":
			body, _ := io.ReadAll(r.Body)
			w.Write(body) //nolint:errcheck // the browser is gone
		case "/archive":
			if mood.Load() != "well" {
				w.WriteHeader(http.StatusInternalServerError)
			}
		case "/visit":
			word := "Welcome"
			if mood.CompareAndSwap("ill", "getting better") {
				word = "Sorry"
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<!doctype html><html lang=en><title>x</title><h1>%s</h1>", word)
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, page.Load())
		}
	}))
	t.Cleanup(app.Close)
	s := harness.Start(t, harness.Options{Project: func(p *project.Project) { p.Env = map[string]string{"APP": app.URL} },
		Files: map[string]string{"tests/desk.ts": deskObject, "tests/a.spec.ts": deskSpec}})
	if st := s.Suite(t); st["verdict"] != "pass" {
		t.Fatal(st)
	}
	evident(t, s, s.ProjectID, 4)
	page.Store(strings.Replace(deskPage, `data-testid="note-save"`, `data-testid="save-note"`, 1))
	mood.Store("ill")
	// autoHeal on the start is all that a pipeline says.
	st := s.Wait(t, s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"autoHeal": map[string]any{}}))
	if st["verdict"] != "fail" || st["failed"] != 4.0 {
		t.Fatalf("%v", st)
	}
	// The batch begins once the run is over, so it may be named a moment later.
	for end := time.Now().Add(time.Minute); st["healBatchId"] == nil; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no healing began: %v", st)
		}
		st = s.Status(t, st["runId"].(string), "")
	}
	b := batch(t, s, st["healBatchId"].(string))
	text, _ := json.MarshalIndent(b, "", " ")
	got, pulls := map[string]string{}, map[any]int{}
	for i := range b["sessions"].([]any) {
		x := sessionOf(t, b, i)
		if x["status"] != "completed" {
			t.Errorf("session %d is %v", i, x["status"])
		}
		if x["prUrl"] != nil {
			pulls[x["prUrl"]]++
			if n := len(x["fileChanges"].([]any)); n != 1 || x["fileChanges"].([]any)[0].(map[string]any)["path"] != "tests/desk.ts" {
				t.Errorf("changes %v", x["fileChanges"])
			}
		}
		for _, o := range x["outcome"].([]any) {
			o := o.(map[string]any)
			got[o["title"].(string)] = o["outcome"].(string)
		}
	}
	for title, want := range map[string]string{"saves a note": "healed", "says that it saved": "healed", "archives": "application-bug", "is there": "flaky"} {
		if got[title] != want {
			t.Errorf("%s: %s, want %s", title, got[title], want)
		}
	}
	if len(pulls) != 1 {
		t.Errorf("%d pull requests, want one for the one cause", len(pulls))
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
	// The bug is one now; the run is as failed as it was.
	now := s.Status(t, st["runId"].(string), "")
	if now["verdict"] != "fail" || now["bug"] != 1.0 || now["failed"] != 3.0 {
		t.Errorf("verdict %v, %v bugs, %v failed", now["verdict"], now["bug"], now["failed"])
	}
	latest := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/latest", nil)
	if latest.Body["id"] != st["runId"] {
		t.Errorf("the latest run is %v", latest.Body["id"])
	}
	for _, r := range s.Call(t, http.MethodGet, "/public-api/v1/test-runs", nil).Body["testRuns"].([]any) {
		if tr := r.(map[string]any)["trigger"]; tr == "trial" {
			t.Error("a trial is listed among runs")
		}
	}
}

// TestHealingRefused says why a healing cannot be started, and starts one twice only once.
func TestHealingRefused(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: map[string]string{"tests/a.spec.ts": harness.Test("adds"), "tests/b.spec.ts": strings.Replace(harness.Test("fails"), "toBe(2)", "toBe(3)", 1)}})
	st := s.Suite(t)
	failing := ""
	for _, r := range s.Results(t, st["runId"].(string)) {
		if r["status"] == "failed" {
			failing = r["serviceTestId"].(string)
		}
	}
	passing := s.Wait(t, s.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": "adds"}))
	for name, c := range map[string]struct {
		body   any
		status int
		says   string
	}{
		"no run":        {map[string]any{"testRunId": "0190a6c4-7f3e-7a11-9c1e-2b9f3d8e5a77"}, 404, "no such run"},
		"a job name":    {map[string]any{"testRunId": st["name"]}, 400, "job name"},
		"nothing":       {map[string]any{}, 400, "testRunId"},
		"nothing fails": {map[string]any{"testRunId": passing["runId"]}, 409, "nothing to heal"},
		"no failure":    {map[string]any{"testRunId": st["runId"], "testIds": []string{"0190a6c4-7f3e-7a11-9c1e-2b9f3d8e5a77"}}, 400, "body.testIds[0]"},
		"no branch":     {map[string]any{"testRunId": st["runId"], "branch": "a..b"}, 400, "body.branch"},
		"misspelt":      {map[string]any{"testRunId": st["runId"], "autoCreatePr": true}, 400, "autoCreatePr"},
		"no number":     {map[string]any{"testRunId": st["runId"], "prNumber": -1}, 400, "body.prNumber"},
	} {
		a := s.Call(t, http.MethodPost, "/public-api/v1/auto-heal", c.body)
		if a.Status != c.status || !strings.Contains(a.Text, c.says) {
			t.Errorf("%s: %d %s", name, a.Status, a.Text)
		}
	}
	for _, id := range []string{"0190a6c4-7f3e-7a11-9c1e-2b9f3d8e5a77", "x"} {
		if a := s.Call(t, http.MethodGet, "/public-api/v1/auto-heal/batch/"+id, nil); a.Status != 404 {
			t.Errorf("%s: %d", id, a.Status)
		}
	}
	body := map[string]any{"testRunId": st["runId"], "testIds": []string{failing}, "autoCreatePR": false}
	one := s.Call(t, http.MethodPost, "/public-api/v1/auto-heal", body, "Idempotency-Key", "k")
	two := s.Call(t, http.MethodPost, "/public-api/v1/auto-heal", body, "Idempotency-Key", "k")
	if one.Status != 201 || one.Body["batchId"] != two.Body["batchId"] {
		t.Fatalf("%s\n%s", one.Text, two.Text)
	}
	if other := s.Call(t, http.MethodPost, "/public-api/v1/auto-heal", map[string]any{"testRunId": st["runId"]}, "Idempotency-Key", "k"); other.Status != 409 {
		t.Errorf("another body under the same key: %d", other.Status)
	}
	x := sessionOf(t, batch(t, s, one.Body["batchId"].(string)), 0)
	if o := x["outcome"].([]any)[0].(map[string]any); o["outcome"] == "healed" || x["prUrl"] != nil || len(x["fileChanges"].([]any)) > 0 {
		t.Errorf("%v", x)
	}
}

// TestHealingSurvives kills the service at every stage of a session: it goes on where it was,
// and opens one pull request.
func TestHealingSurvives(t *testing.T) {
	t.Parallel()
	app, page := basket(t)
	text := strings.ReplaceAll(fmt.Sprintf(basketSpec, "getByTestId('drop-mug')"), "process.env.APP!", "'"+app.URL+"'")
	p := harness.StartProcess(t, map[string]string{"tests/a.spec.ts": text})
	if st := p.Suite(t); st["verdict"] != "pass" {
		t.Fatal(st)
	}
	keptEvidence(t, p, 2)
	page.Store(strings.Replace(basketPage, `data-testid="drop-mug"`, `data-testid="remove-mug"`, 1))
	st := p.Suite(t)
	a := p.Call(t, http.MethodPost, "/public-api/v1/auto-heal", map[string]any{"testRunId": st["runId"]})
	if a.Status != http.StatusCreated {
		t.Fatal(a.Text)
	}
	id, seen := a.Body["batchId"].(string), map[string]bool{}
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		b := p.Call(t, http.MethodGet, "/public-api/v1/auto-heal/batch/"+id, nil)
		x := sessionOf(t, b.Body, 0)
		if b.Body["allTerminal"] == true {
			break
		}
		if stage := x["stage"].(string); !seen[stage] {
			seen[stage] = true
			p.Stop(syscall.SIGKILL)
			p.Launch(t)
		}
	}
	b := batch(t, p.System, id)
	x := sessionOf(t, b, 0)
	if o := x["outcome"].([]any)[0].(map[string]any); x["status"] != "completed" || o["outcome"] != "healed" || x["prState"] != "open" {
		text, _ := json.MarshalIndent(b, "", " ")
		t.Errorf("%s", text)
	}
	if !seen["reproduce"] || !seen["prove"] || !seen["verify"] {
		t.Errorf("it was killed at %v only", seen)
	}
	if out := p.Repo.Git(t, "branch", "--list", "tas/*"); len(strings.Fields(strings.ReplaceAll(out, "*", ""))) != 1 {
		t.Errorf("these branches were made: %s", out)
	}
}
