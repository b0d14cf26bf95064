package test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"tas-service/internal/evidence"
	"tas-service/test/harness"
)

// shopTest serves a page of its own and uses it as people would.
const shopTest = `import { test, expect } from '@playwright/test';
import http from 'node:http';

const page1 = '<!doctype html><title>Basket</title><main><h1>Basket</h1><form id="add"><label>How many <input name="n" type="number" value="1"></label></form>'
  + '<ul><li>Tea <button data-testid="drop" class="quiet">Remove</button></li><li>Mug <button data-testid="drop" class="quiet">Remove</button></li></ul><p role="status"></p></main>'
  + '<script>for (const b of document.querySelectorAll("button")) b.onclick = async () => { if (!confirm("Sure?")) return; const r = await fetch("/api/lines/" + (1000 + Math.floor(Math.random() * 1000)), { method: "DELETE" });'
  + ' document.querySelector("[role=status]").textContent = "Gone: " + r.status; b.closest("li").remove(); }</script>';

class Basket {
  constructor(page) { this.page = page; this.status = page.getByRole('status'); }
  async drop(name) { await this.page.getByRole('listitem').filter({ hasText: name }).getByTestId('drop').click(); }
}

test('drops a line', async ({ page }) => {
  const server = http.createServer((q, a) => { a.writeHead(q.method === 'DELETE' ? 204 : 200, { 'content-type': 'text/html' }); a.end(q.method === 'DELETE' ? undefined : page1); });
  await new Promise(r => server.listen(0, '127.0.0.1', () => r(undefined)));
  page.on('dialog', d => d.accept());
  await page.goto('http://127.0.0.1:' + server.address().port + '/basket/7');
  await page.getByLabel('How many').fill('1234567');
  const basket = new Basket(page);
  await basket.drop('Mug');
  await expect(basket.status).toHaveText('Gone: 204');
  server.close();
});
`

// TestEvidence reads from the trace of a passing test what it did: to which element of which
// page, where in the source, and to what effect.
func TestEvidence(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: map[string]string{"tests/basket.spec.ts": shopTest,
		"playwright.config.ts": strings.Replace(harness.Config, "trace: 'retain-on-failure'", "trace: { mode: 'on', screenshots: false, sources: false, snapshots: true }", 1)}})
	st := s.Suite(t)
	if st["verdict"] != "pass" {
		t.Fatalf("%v", st)
	}
	var testID string
	for _, r := range s.Results(t, st["runId"].(string)) {
		testID = r["serviceTestId"].(string)
	}
	got := traceOf(t, s, st["runId"].(string), testID)
	steps := map[string]evidence.Step{}
	for _, x := range got.Steps {
		steps[x.Method] = x
	}
	for method, line := range map[string]string{"goto": "page.goto", "fill": "fill(", "click": ".click()", "expect": "toHaveText"} {
		x, ok := steps[method]
		if !ok || x.Error != "" {
			t.Fatalf("%s: %+v", method, x)
		}
		lines := strings.Split(shopTest, "\n")
		if at := x.At(); !strings.HasSuffix(at.File, "tests/basket.spec.ts") || at.Line < 1 || at.Line > len(lines) || !strings.Contains(lines[at.Line-1], line) {
			t.Errorf("%s is at %+v", method, at)
		}
	}
	if x := steps["goto"]; x.Effect.Navigated != "loopback/basket/{}" {
		t.Errorf("%+v", x.Effect)
	}
	if x := steps["fill"]; x.Target == nil || x.Target.Name != "How many" || x.Target.Role != "spinbutton" || x.Target.NameAttr != "n" || x.Target.Form != "add" || x.Target.Headings[0] != "Basket" {
		t.Errorf("%+v", x.Target)
	}
	x := steps["click"]
	if x.Target == nil || x.Target.TestID != "drop" || x.Target.Name != "Remove" || x.Target.RowKey != "Mug" || x.Target.Landmark != "main" || x.Target.Box == nil || x.Target.Box.Width < 10 || len(x.Stack) != 2 {
		t.Errorf("%+v, %+v", x.Target, x.Stack)
	}
	if want := (evidence.Effect{Calls: []evidence.Call{{Method: "DELETE", Path: "loopback/api/lines/{}", Status: 204}}, Dialog: "confirm"}); !x.Effect.Same(want) {
		t.Errorf("the click's effect: %+v", x.Effect)
	}
	if text, err := json.Marshal(got); err != nil || bytes.Contains(text, []byte("1234567")) {
		t.Errorf("what was typed is kept: %v", err)
	}
	if x := steps["expect"]; x.Matcher != "to.have.text" || x.Expected != "Gone: 204" || x.Target == nil || x.Target.Role != "status" || x.Target.Text != "Gone: 204" {
		t.Errorf("%+v", x)
	}
}
