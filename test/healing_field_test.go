package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"tas-service/internal/project"
	"tas-service/test/harness"
)

// The page asks for an address and sends it; nothing but its label names the field.
const letterPage = `<!doctype html><title>Letter</title><main><h1>Our letter</h1>
<form><label>Email <input class="line" type="text"></label> <button>Subscribe</button></form><p role="status"></p></main>
<script>
const field = document.querySelector('input'), form = document.querySelector('form');
let typed = '';
field.addEventListener('input', () => typed = field.value);
form.addEventListener('submit', async e => {
  e.preventDefault();
  if (!typed) return;
  await fetch('/letters', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email: typed }) });
  document.querySelector('[role=status]').textContent = 'Thanks';
});
</script>`

const letterSpec = `import { test, expect } from '@playwright/test';
test('subscribes', async ({ page }) => {
  await page.goto(process.env.APP!);
  await page.getByLabel('Email').fill('ada@example.com', { timeout: 2000 });
  await page.getByRole('button', { name: 'Subscribe' }).click({ timeout: 2000 });
  await expect(page.getByRole('status')).toHaveText('Thanks', { timeout: 2000 });
});
`

// TestHealingField heals a field whose only name changed where the test is seen to need what is
// typed into it, and no field that only stands where it stood.
func TestHealingField(t *testing.T) {
	t.Parallel()
	var page atomic.Value
	page.Store(letterPage)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{}`)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page.Load())
	}))
	t.Cleanup(app.Close)
	s := harness.Start(t, harness.Options{Project: func(p *project.Project) { p.Env = map[string]string{"APP": app.URL} }, Files: map[string]string{"tests/a.spec.ts": letterSpec}})
	if st := s.Suite(t); st["verdict"] != "pass" {
		t.Fatal(st)
	}
	evident(t, s, s.ProjectID, 1)
	summary := func(now string) string {
		t.Helper()
		page.Store(now)
		st := s.Suite(t)
		if st["verdict"] != "fail" {
			t.Fatal(st)
		}
		b := healed(t, s, map[string]any{"testRunId": st["runId"], "autoCreatePR": false})
		said, _ := sessionOf(t, b, 0)["summary"].(string)
		if !strings.Contains(said, "is healed") {
			text, err := json.MarshalIndent(b, "", " ")
			t.Logf("%s %v", text, err)
		}
		return said
	}
	renamed := strings.Replace(letterPage, "<label>Email ", "<label>Your address ", 1)
	if said := summary(renamed); !strings.Contains(said, "is healed") {
		t.Errorf("the label has another text: %s", said)
	}
	// The field is gone; one that nobody reads stands there, and the form takes no address any more.
	removed := strings.Replace(renamed, `let typed = '';
field.addEventListener('input', () => typed = field.value);`, `const typed = '(none)';`, 1)
	if said := summary(removed); strings.Contains(said, "is healed") {
		t.Errorf("a field that nobody reads: %s", said)
	}
}
