// Package webapp tests the web app in a real browser with our own product: its Playwright
// suite, in suite/, is run by the service whose pages it looks at.
package webapp

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"tas-service/internal/action"
	"tas-service/internal/pull"
	"testing"
	"time"

	"tas-service/internal/project"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// shop is a tests repository with something of everything: what passes, fails, flakes and
// is skipped, in pages that leave screenshots and traces behind. Videos take Playwright's own
// ffmpeg, which a system's Chromium does not bring.
const shop = `import { test, expect } from '@playwright/test';
const page1 = (tea: string) => '<title>Shop</title><main style="font: 20px sans-serif; padding: 2em"><h1>Tea and coffee</h1><p>Tea <b id="tea">' + tea + '</b></p><p>Coffee <b id="coffee">' + tea + '</b></p></main>';
const price = '4.50';

test('the price of tea @smoke', { tag: '@prices' }, async ({ page }) => {
  await page.setContent(page1(price));
  await page.evaluate(() => {
    console.warn('the price list is of yesterday');
    console.error('the till is out of \u001b[31mpaper\u001b[0m <b>now</b>');
    setTimeout(() => { throw new Error('no change for a ten'); });
    fetch('http://127.0.0.1:9/prices?of=tea').catch(() => {});
  });
  await test.step('reads the price', async () => { await expect(page.locator('#tea')).toHaveText('4.50'); });
});
test('the price of coffee', async ({ page }) => {
  await page.setContent(page1(price));
  await expect(page.locator('#coffee')).toHaveText('4.50');
});
test('tea is <script>alert(1)</script> green', async ({ page }) => {
  await page.setContent(page1(price));
  await expect(page.getByRole('heading')).toBeVisible();
});
test('impatient', async ({}, info) => { expect(info.retry).toBe(1); });
test.skip('milk', async () => {});
for (let i = 1; i <= 12; i++) test('sum ' + i, async () => { expect(i + i).toBe(2 * i); });
`

const shopConfig = `import { defineConfig, devices } from '@playwright/test';
export default defineConfig({
  testDir: './tests', fullyParallel: true, retries: 1, timeout: 30_000, expect: { timeout: 1_000 },
  use: { trace: 'retain-on-failure', screenshot: 'only-on-failure', viewport: { width: 640, height: 400 } },
  projects: [{ name: 'chromium', use: { ...devices['Desktop Chrome'], viewport: { width: 640, height: 400 } } }],
});
`

// TestWebApp fills a service with runs of every kind and has it run the suite.
func TestWebApp(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.MaxAttempts = 3 }, Project: func(p *project.Project) { p.Name = "Tea shop" },
		Files: map[string]string{"playwright.config.ts": shopConfig, "tests/shop.spec.ts": shop}})
	empty := s.Another(t, project.Project{Name: "Nothing yet"})

	passed := s.Begin(t, "/public-api/v1/execution/suite", nil)
	s.Wait(t, passed)
	broken := map[string]string{"tests/shop.spec.ts": strings.Replace(shop, "price = '4.50'", "price = '5.40'", 1)}
	s.Repo.Branch(t, "broken", broken)
	s.Repo.Branch(t, "slow", map[string]string{"tests/shop.spec.ts": strings.Replace(shop, "test('impatient', async ({}, info) => {", "test('impatient', async ({}, info) => { await new Promise(r => setTimeout(r, 25_000));", 1)})
	const grep = "/public-api/v2/execution/grep"
	failed := s.Begin(t, grep, map[string]any{"grep": ".", "branch": "broken"})
	s.Wait(t, failed)
	sharded := s.Begin(t, grep, map[string]any{"grep": ".", "branch": "broken", "shardCount": 2})
	nowhere := s.Begin(t, grep, map[string]any{"grep": ".", "branch": "nowhere"})
	s.Wait(t, sharded)
	s.Wait(t, nowhere)
	propose(t, s)
	s.Wait(t, s.Begin(t, grep, map[string]any{"grep": ".", "branch": "tas/heal-price", "prNumber": 1}))

	sessions := heals(t, s, failed)

	// The paths that people see; the API's key opens none of them.
	runs := func(p string) string { return "/projects/" + p + "/runs" }
	of := func(id string) string { return runs("tea-shop") + "/" + id }
	files := suite(t)
	repo := harness.NewRepo(t, files)
	tests := s.Another(t, project.Project{Name: "Web app", Workers: 2, RunLimit: 15 * time.Minute, Repository: project.Repository{URL: repo.URL()}, Env: map[string]string{
		"APP_URL": s.URL, "API_URL": s.URL, "WELCOME_URL": welcome(t, s), "SHOP_KEY": s.Key,
		"SHOP_RUNS": runs("tea-shop"), "EMPTY_RUNS": runs("nothing-yet"), "PASSED_RUN": of(passed), "FAILED_RUN": of(failed), "SHARDED_RUN": of(sharded), "BROKEN_RUN": of(nowhere),
		"APPROVE_SESSION": sessions.approve, "PROPOSED_SESSION": sessions.proposed, "WAITING_SESSION": sessions.waiting, "EVERY_SCHEME": os.Getenv("EVERY_SCHEME"),
	}})
	if empty.ProjectID == tests.ProjectID {
		t.Fatal("two projects are one")
	}
	id := tests.Begin(t, "/public-api/v1/execution/suite", nil)
	var st map[string]any
	for deadline := time.Now().Add(15 * time.Minute); ; {
		if st = tests.Status(t, id, "30s"); st["isTerminal"] == true || time.Now().After(deadline) {
			break
		}
	}
	results := tests.Results(t, id)
	n := keepShots(t, tests, id, results)
	t.Logf("%v of %v tests passed, %d screenshots are in %s", st["passed"], st["totalCount"], n, shots)
	if st["verdict"] != "pass" {
		t.Errorf("the web app's own tests: %v", st)
		for name, r := range results {
			if e, ok := r["error"].(map[string]any); ok && r["status"] == "failed" {
				t.Errorf("%s\n%.2000s\n%.1500s", name, e["message"], e["snippet"])
			}
		}
	}
	if passed := st["passed"].(float64); passed < 60 {
		t.Errorf("only %v tests ran: is the suite whole?", passed)
	}
}

// propose has the service open a pull request, whose branch nobody has checked out.
func propose(t *testing.T, s *harness.System) {
	t.Helper()
	ctx, db := context.Background(), s.Server.Store()
	s.Repo.Git(t, "checkout", "--quiet", "-b", "work")
	if err := db.UpdateProject(ctx, s.ProjectID, func(p *project.Project) error { p.Repository.Branch = "main"; return nil }); err != nil {
		t.Fatal(err)
	}
	const was, is = "price = '4.50'", "price = '5.40'"
	from := 0
	for i, line := range strings.Split(shop, "\n") {
		if strings.Contains(line, was) {
			from = i
		}
	}
	lines := strings.Split(shop, "\n")
	hunk := fmt.Sprintf("@@ -%d,3 +%d,3 @@\n %s\n-%s\n+%s\n %s\n", from, from, lines[from-1], lines[from], strings.Replace(lines[from], was, is, 1), lines[from+1])
	a, err := s.Server.Pulls().Propose(ctx, s.ProjectID, pull.Proposal{Key: "heal-price", Base: "main", BaseCommit: s.Repo.Git(t, "rev-parse", "main"), Branch: "tas/heal-price",
		Patch: "diff --git a/tests/shop.spec.ts b/tests/shop.spec.ts\n--- a/tests/shop.spec.ts\n+++ b/tests/shop.spec.ts\n" + hunk, At: time.Now().Truncate(time.Second),
		Message: "Expect the price that the page shows", Title: "Expect the price that the page shows", Body: "The page shows `5.40`.\n\n| before | after |\n|---|---|\n| 4.50 | 5.40 |\n\n- one\n- <b>two</b>", About: "a repair"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		now, err := db.Action(ctx, s.ProjectID, a.ID)
		if err != nil || now.State == action.Failed || time.Now().After(deadline) {
			t.Fatalf("%+v, %v", now, err)
		}
		if now.State == action.Done {
			return
		}
	}
}

// suite reads the tests repository that stands beside this file.
func suite(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	dir := os.DirFS("suite")
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dir, path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// welcome asks the operator's command for the link that makes an administrator.
func welcome(t *testing.T, s *harness.System) string {
	t.Helper()
	cmd := exec.Command(harness.Binary(), "admin", "link")
	cmd.Env = append(os.Environ(), "TAS_DATA_DIR="+s.Data, "TAS_ADDR="+strings.TrimPrefix(s.URL, "http://"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tas admin link: %v", err)
	}
	link, _, _ := strings.Cut(string(out), "\n")
	return link
}

// shots is where the screenshots of the last run are kept, to be looked at.
const shots = ".tas/web-app"

// keepShots stores the screenshots that the suite attached, and answers how many.
func keepShots(t *testing.T, s *harness.System, runID string, results map[string]map[string]any) int {
	t.Helper()
	dir := filepath.Join(harness.Root(), shots)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	n := 0
	seen := map[string]bool{}
	for _, r := range results {
		id := r["serviceTestId"].(string)
		if seen[id] {
			continue
		}
		seen[id] = true
		a := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+runID+"/tests/"+id+"/attachments", nil)
		list, _ := a.Body["attachments"].([]any)
		for _, x := range list {
			m := x.(map[string]any)
			if m["contentType"] != "image/png" {
				continue
			}
			name := strings.NewReplacer("/", " ", " ", "-", ",", "").Replace(fmt.Sprintf("%v %v", m["browser"], strings.TrimSuffix(m["name"].(string), ".png")))
			if err := download(m["url"].(string), filepath.Join(dir, name+".png")); err != nil {
				t.Errorf("keep %s: %v", name, err)
				continue
			}
			n++
		}
	}
	return n
}

func download(url, path string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", resp.Status)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(f, resp.Body)
	return err
}
