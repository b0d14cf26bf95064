package test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"tas-service/internal/evidence"
	"tas-service/internal/heal"
	"tas-service/internal/project"
	"tas-service/internal/relocate"
	"tas-service/test/harness"
)

// basketPage is the application: its test drops the mug and reads the message.
const basketPage = `<!doctype html><html lang="en"><title>Basket</title><header><nav aria-label="Main"><a href="/shop">Shop</a> <a href="/orders">Orders</a> <a href="/help">Help</a></nav></header>
<main id="main"><h1>Your basket</h1><p>Two things are in it.</p><form id="add"><label>How many <input name="n" type="number" value="1"></label><button type="button" class="quiet">Update</button></form>
<ul class="lines"><li class="line"><h2>Tea</h2><span>4.50</span> <button data-testid="drop-tea" class="quiet drop">Remove tea</button></li><li class="line"><h2>Mug</h2><span>14.00</span> <button data-testid="drop-mug" class="quiet drop">Remove mug</button></li></ul>
<button data-testid="checkout" class="main">Check out</button><p role="status"></p></main><footer><a href="/imprint">Imprint</a></footer>
<script>for (const b of document.querySelectorAll(".drop")) b.onclick = () => { document.querySelector("[role=status]").textContent = "Gone"; };</script></html>`

// TestPropose changes the application under a passing test: what drifted gets a locator with
// which the test passes again, what is gone gets none.
func TestPropose(t *testing.T) {
	t.Parallel()
	var page atomic.Value
	page.Store(basketPage)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page.Load())
	}))
	t.Cleanup(app.Close)
	const spec = "import { test, expect } from '@playwright/test';\ntest('drops the mug', async ({ page }) => {\n  await page.goto(process.env.APP!);\n  await page.getByRole('main').%s.click({ timeout: 2000 });\n  await expect(page.getByRole('status')).toHaveText('Gone', { timeout: 2000 });\n});\n"
	s := harness.Start(t, harness.Options{Project: func(p *project.Project) { p.Env = map[string]string{"APP": app.URL} }, Files: map[string]string{
		"tests/a.spec.ts":      "",
		"playwright.config.ts": strings.Replace(harness.Config, "trace: 'retain-on-failure'", "trace: { mode: 'on', screenshots: false, sources: false, snapshots: true }", 1)}})
	run := func() (verdict any, got evidence.Test) {
		t.Helper()
		st := s.Suite(t)
		for _, r := range s.Results(t, st["runId"].(string)) {
			got = traceOf(t, s, st["runId"].(string), r["serviceTestId"].(string))
		}
		return st["verdict"], got
	}
	model, err := relocate.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what     string
		locator  string // in the test
		from, to string // in the page
		after    string // that is proposed; "" for none
	}{
		{"another test id", "getByTestId('drop-mug')", `data-testid="drop-mug"`, `data-testid="remove-mug"`, "getByTestId('remove-mug')"},
		{"another name", "getByRole('button', { name: 'Remove mug' })", `>Remove mug<`, `>Remove the mug<`, "getByRole('button', { name: 'Remove the mug' })"},
		{"moved and without its test id", "getByTestId('drop-mug')", `<button data-testid="drop-mug" class="quiet drop">Remove mug</button>`, `<div class="acts"><button class="quiet drop">Remove mug</button></div>`, "getByRole('button', { name: 'Remove mug' })"},
		{"gone", "getByTestId('drop-mug')", `<button data-testid="drop-mug" class="quiet drop">Remove mug</button>`, ``, ""},
		{"the whole line gone", "getByTestId('drop-mug')", `<li class="line"><h2>Mug</h2><span>14.00</span> <button data-testid="drop-mug" class="quiet drop">Remove mug</button></li>`, ``, ""},
		{"broken behind it", "getByTestId('drop-mug')", `textContent = "Gone"`, `textContent = ""`, ""},
	} {
		page.Store(basketPage)
		s.Repo.Commit(t, "For "+c.what, map[string]string{"tests/a.spec.ts": fmt.Sprintf(spec, c.locator)})
		verdict, passing := run()
		if verdict != "pass" {
			t.Fatalf("%s: the test does not pass at first", c.what)
		}
		if !strings.Contains(basketPage, c.from) {
			t.Fatalf("%s: the page has no %s", c.what, c.from)
		}
		page.Store(strings.Replace(basketPage, c.from, c.to, 1))
		verdict, failed := run()
		step := -1
		for i, x := range failed.Steps {
			if x.Error != "" && step < 0 {
				step = i
			}
		}
		if verdict != "fail" || step < 0 {
			t.Fatalf("%s: %v, no step failed", c.what, verdict)
		}
		p := heal.Propose(model, failed, step, []evidence.Test{passing})
		if p.After != c.after || c.after == "" && p.Outcome != relocate.Report {
			t.Errorf("%s: %s %q, want %q: %s", c.what, p.Outcome, p.After, c.after, p.Why)
			for _, x := range p.Answer.Candidates {
				t.Logf("%s %q %.3f %v %v", x.Element.Path, x.Element.Name, x.Share, x.Why, x.Vetoes)
			}
			continue
		}
		if c.after == "" {
			continue
		}
		s.Repo.Commit(t, "Repair "+c.what, map[string]string{"tests/a.spec.ts": strings.Replace(fmt.Sprintf(spec, c.locator), p.Before, p.After, 1)})
		if verdict, _ := run(); verdict != "pass" {
			t.Errorf("%s: with %s the test does not pass", c.what, p.After)
		}
	}
}
