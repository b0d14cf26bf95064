package test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tas-service/internal/evidence"
	"tas-service/internal/locator"
	"tas-service/test/harness"
)

// trickyPage has elements whose names are parts of others', hidden twins and odd texts.
const trickyPage = `<!doctype html><title>Tricky</title><header><nav aria-label="Main"><a href="/a">Orders</a> <a href="/b">Order’s “history”</a></nav></header>
<main><h1>Orders</h1><p>Thanks <b>a lot</b></p><p>Nothing   to
 see</p>
<form aria-label="Find"><label>Search <input name="q" placeholder="Tea or mug"></label><label for="m">E-mail</label><input id="m" type="email"><input type="password" aria-label="Pass\\word's">
<select aria-label="Size"><option>Small</option><option>Large</option></select><label><input type="checkbox"> I agree</label></form>
<button>Save</button><button>Save all</button><button data-testid="drop" title="Drop it">×</button><button style="display:none">Cancel</button><button>Cancel</button>
<ul><li>Tea <button>Remove</button></li><li>Mug <button>Remove</button></li></ul><img alt="A cat" src="data:,"><span title="Only here">i</span>
<div role="tablist"><div role="tab">One</div><div role="tab">Two</div></div><dialog open aria-label="Hello">Hi</dialog><button disabled>Pay</button></main>`

// TestLocators has Playwright itself say of each locator that is written for an element of a
// page that it finds that element, and no other.
func TestLocators(t *testing.T) {
	t.Parallel()
	set := "await page.setContent(" + "`" + strings.NewReplacer("`", "\\`", "$", "\\$", `\`, `\\`).Replace(trickyPage) + "`" + ");"
	s := harness.Start(t, harness.Options{Files: map[string]string{
		"tests/a.spec.ts":      "import { test, expect } from '@playwright/test';\ntest('looks', async ({ page }) => {\n  " + set + "\n  await expect(page.getByRole('heading')).toHaveText('Orders');\n});\n",
		"playwright.config.ts": strings.Replace(harness.Config, "trace: 'retain-on-failure'", "trace: { mode: 'on', screenshots: false, sources: false, snapshots: true }", 1)}})
	st := s.Suite(t)
	if st["verdict"] != "pass" {
		t.Fatalf("%v", st)
	}
	var got evidence.Test
	for _, r := range s.Results(t, st["runId"].(string)) {
		got = traceOf(t, s, st["runId"].(string), r["serviceTestId"].(string))
	}
	page := got.Steps[len(got.Steps)-1].Page
	var b strings.Builder
	fmt.Fprintf(&b, "import { test, expect } from '@playwright/test';\ntest('finds', async ({ page }) => {\n  %s\n  const is = (path: string) => page.locator('xpath=' + path);\n", set)
	n, by := 0, map[locator.Strategy]int{}
	for i := range page {
		for _, l := range locator.For(&page[i], page, "") {
			n++
			by[l.Strategy]++
			fmt.Fprintf(&b, "  await expect.soft(page.%s, %s).toHaveCount(1);\n  expect.soft(await page.%s.first().evaluate((a, b) => a === b, await is(%s).elementHandle()), %s).toBe(true);\n",
				l.Code, locator.Quote(l.Code+" finds one"), l.Code, locator.Quote(page[i].Path), locator.Quote(l.Code+" finds "+page[i].Path))
		}
	}
	if n < 25 || len(by) < 7 {
		t.Fatalf("%d locators, %v: this shows little", n, by)
	}
	s.Repo.Commit(t, "Ask Playwright", map[string]string{"tests/a.spec.ts": "", "tests/b.spec.ts": b.String() + "});\n"})
	if st := s.Suite(t); st["verdict"] != "pass" {
		for name, r := range s.Results(t, st["runId"].(string)) {
			t.Errorf("%s: %v", name, r["error"])
		}
	}
}

// traceOf reads the evidence of one test of a run.
func traceOf(t *testing.T, s *harness.System, runID, testID string) evidence.Test {
	t.Helper()
	list := s.Call(t, http.MethodGet, v1Root+"/test-runs/"+runID+"/tests/"+testID+"/attachments", nil)
	for _, a := range list.Body["attachments"].([]any) {
		m := a.(map[string]any)
		if m["kind"] != "trace" {
			continue
		}
		resp, err := http.Get(m["url"].(string))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		trace, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := evidence.Read(context.Background(), bytes.NewReader(trace), int64(len(trace)))
		if err != nil || got.Cut || got.Playwright != harness.PlaywrightVersion {
			t.Fatalf("%v, cut %v, %s of %d bytes", err, got.Cut, got.Playwright, len(trace))
		}
		return got
	}
	t.Fatalf("there is no trace: %s", list.Text)
	return evidence.Test{}
}
