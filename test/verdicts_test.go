package test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/project"
	"tas-service/test/harness"
)

// broken is a suite with two tests that fail over one thing, one over another, and some
// that pass.
var broken = map[string]string{
	"pages/cart.ts": "import { expect, type Page } from '@playwright/test';\nexport const total = (page: Page, euros: string) => expect(page.getByTestId('total')).toHaveText(euros, { timeout: 300 });\n",
	"tests/cart.spec.ts": `import { test, expect } from '@playwright/test';
import { total } from '../pages/cart';
test.beforeEach(async ({ page }) => { await page.setContent('<b data-testid="total">€ 11</b>'); });
test('one item @smoke', async ({ page }) => { await total(page, '€ 12'); });
test('two items', async ({ page }) => { await total(page, '€ 24'); });
test('is there @smoke', async ({ page }) => { await expect(page.getByTestId('total')).toBeVisible(); });
`,
	"tests/pay.spec.ts": `import { test, expect } from '@playwright/test';
test('pays', async ({ page }) => { await page.setContent('<p>closed</p>'); await expect(page.getByRole('button', { name: 'Pay' })).toBeVisible({ timeout: 300 }); });
test('adds up @smoke', async () => { expect(1 + 1).toBe(2); });
`,
}

func bugs(t *testing.T, s *harness.System, query string) []map[string]any {
	t.Helper()
	a := s.Call(t, "GET", v1Root+"/health-dashboard/bugs"+query, nil)
	if a.Status != http.StatusOK {
		t.Fatalf("bugs: %s", a.Text)
	}
	var out []map[string]any
	for _, b := range a.Body["bugs"].([]any) {
		out = append(out, b.(map[string]any))
	}
	return out
}

// titled answers a run's results by the tests' titles.
func titled(t *testing.T, s *harness.System, runID string) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, r := range s.Results(t, runID) {
		out[r["title"].(string)] = r
	}
	return out
}

// TestBugsAndVerdicts follows failures to their bugs, and the verdicts on them to the run's.
func TestBugsAndVerdicts(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: broken})
	id := s.Begin(t, v1Root+"/execution/suite", nil)
	st := s.Wait(t, id)
	harness.Ledger(t, st)
	results := titled(t, s, id)
	if st["verdict"] != "fail" || st["failed"] != 3.0 || results["one item @smoke"]["bugKey"] == nil || results["one item @smoke"]["bugKey"] != results["two items"]["bugKey"] ||
		results["pays"]["bugKey"] == results["two items"]["bugKey"] || results["adds up @smoke"]["bugKey"] != nil {
		t.Fatalf("the failures are not filed: %v\n%v", st, results)
	}
	found := bugs(t, s, "")
	if len(found) != 2 || found[0]["key"] != "BUG-2" || found[1]["key"] != "BUG-1" {
		t.Fatalf("bugs: %v", found)
	}
	cart := bugs(t, s, "?serviceTestId="+results["two items"]["serviceTestId"].(string))
	if len(cart) != 1 || cart[0]["occurrences"] != 2.0 || cart[0]["status"] != "needs-triage" || cart[0]["severity"] != "major" || cart[0]["outage"] != false ||
		len(cart[0]["serviceTestIds"].([]any)) != 2 || cart[0]["firstRunId"] != id || cart[0]["lastRunId"] != id || !strings.Contains(cart[0]["title"].(string), "total") {
		t.Errorf("the cart's bug: %v", cart)
	}
	address := strings.TrimPrefix(cart[0]["url"].(string), s.URL)
	if page := s.Call(t, "GET", address, nil); page.Status != http.StatusSeeOther || page.Header.Get("Location") != "/sign-in?next="+url.QueryEscape(address) {
		t.Errorf("the bug's page asks nobody to sign in: %d %v", page.Status, page.Header)
	}
	for name, query := range map[string]string{"other states": "?status=fixed,snoozed", "other severity": "?severity=critical", "another test": "?serviceTestId=" + unknown} {
		if got := bugs(t, s, query); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	first := s.Call(t, "GET", v1Root+"/health-dashboard/bugs?limit=1", nil)
	next := bugs(t, s, "?limit=1&cursor="+first.Body["nextCursor"].(string))
	if len(next) != 1 || next[0]["key"] != "BUG-1" {
		t.Errorf("the second page: %v", next)
	}

	judge := func(run string, status int, verdicts ...map[string]any) harness.Answer {
		t.Helper()
		a := s.Call(t, "POST", v1Root+"/test-runs/"+run+"/report/verdicts", map[string]any{"verdicts": verdicts})
		if a.Status != status {
			t.Fatalf("%v: %s", verdicts, a.Text)
		}
		return a
	}
	of := func(title, verdict string, more ...string) map[string]any {
		v := map[string]any{"serviceTestId": results[title]["serviceTestId"], "verdict": verdict}
		for i := 0; i < len(more); i += 2 {
			v[more[i]] = more[i+1]
		}
		return v
	}
	// All or nothing: the second one is wrong, so the first is not taken either.
	problem(t, judge(id, 400, of("one item @smoke", "passed"), map[string]any{"serviceTestId": unknown, "verdict": "passed"}), 400)
	problem(t, judge(id, 409, of("one item @smoke", "passed"), of("adds up @smoke", "not-bug")), 409)
	problem(t, judge(id, 400, of("one item @smoke", "passed"), of("one item @smoke", "failed")), 400)
	problem(t, judge(id, 400, of("one item @smoke", "passed", "severity", "major")), 400)
	problem(t, judge(unknown, 404, of("one item @smoke", "passed")), 404)
	if now := s.Status(t, id, ""); now["failed"] != 3.0 || now["bug"] != 0.0 {
		t.Fatalf("something was taken: %v", now)
	}
	a := judge(id, 200, of("one item @smoke", "bug", "severity", "critical", "comment", "wrong price"), of("pays", "flaky", "source", "automation"))
	if c := a.Body["counts"].(map[string]any); a.Body["updated"] != 2.0 || a.Body["verdict"] != "fail" || c["bug"] != 1.0 || c["flaky"] != 1.0 || c["failed"] != 1.0 || c["passed"] != 2.0 {
		t.Errorf("the first verdicts: %s", a.Text)
	}
	if cart = bugs(t, s, "?status=confirmed&severity=critical"); len(cart) != 1 || cart[0]["key"] != results["two items"]["bugKey"] {
		t.Errorf("a human's bug is not confirmed: %v", bugs(t, s, ""))
	}
	if got := titled(t, s, id)["pays"]; got["status"] != "flaky" || got["verdict"] != "flaky" || got["bugKey"] != nil || got["error"] == nil {
		t.Errorf("a flaky result: %v", got)
	}
	a = judge(id, 200, of("one item @smoke", "passed"), of("two items", "passed"))
	now := s.Status(t, id, "")
	harness.Ledger(t, now)
	if a.Body["verdict"] != "pass" || now["verdict"] != "pass" || now["phase"] != "passed" || now["passed"] != 4.0 {
		t.Errorf("nothing fails any more: %s\n%v", a.Text, now)
	}
	if a = judge(id, 200, of("adds up @smoke", "bug")); a.Body["verdict"] != "fail" {
		t.Errorf("a bug in a test that passed: %s", a.Text)
	}

	// Fixed, and seen again.
	actor, key := account.Actor{ProjectID: s.ProjectID, Via: account.ViaOperator, KeyID: "test"}, results["two items"]["bugKey"].(string)
	service := &bug.Service{Store: s.Server.Store(), Clock: time.Now}
	if err := service.Move(t.Context(), actor, key, bug.Fixed, nil, "repaired"); err != nil {
		t.Fatal(err)
	}
	again := s.Begin(t, v2Root+"/execution/grep", map[string]any{"grep": "two items"})
	s.Wait(t, again)
	b, err := service.Get(t.Context(), actor, key)
	if err != nil || b.State != bug.NeedsTriage || b.LastRunID != again || b.History[len(b.History)-2].To != bug.Fixed || b.History[len(b.History)-1].RunID != again {
		t.Errorf("a fixed bug that is seen again: %+v, %v", b, err)
	}
	going := s.Begin(t, v1Root+"/execution/suite", nil)
	problem(t, judge(going, 409, of("two items", "passed")), 409)
	other := s.Another(t, project.Project{Name: "Other", Repository: project.Repository{URL: s.Repo.URL()}})
	problem(t, other.Call(t, "POST", v1Root+"/test-runs/"+id+"/report/verdicts", map[string]any{"verdicts": []any{of("two items", "passed")}}), 404)
	if got := bugs(t, other, ""); len(got) != 0 {
		t.Errorf("another project sees %v", got)
	}
	s.Wait(t, going)
}

// TestCollections runs what is named by hand and what a rule fits, on the branch as it is.
func TestCollections(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: broken})
	s.Wait(t, s.Begin(t, v1Root+"/execution/suite", nil))
	tests := s.Call(t, "GET", v1Root+"/tests?q=pays", nil).Body["tests"].([]any)
	pays := tests[0].(map[string]any)["serviceTestId"].(string)
	create := func(status int, body map[string]any) harness.Answer {
		t.Helper()
		a := s.Call(t, "POST", v1Root+"/collections", body)
		if a.Status != status {
			t.Fatalf("%v: %s", body, a.Text)
		}
		return a
	}
	if a := s.Call(t, "GET", v1Root+"/collections", nil); fmt.Sprint(a.Body["collections"]) != "[]" {
		t.Errorf("no collection yet: %s", a.Text)
	}
	smoke := create(201, map[string]any{"name": "Smoke", "testIds": []string{pays}, "rule": map[string]any{"tags": []string{"@smoke"}}}).Body["id"].(string)
	problem(t, create(409, map[string]any{"name": "Smoke", "testIds": []string{pays}}), 409)
	problem(t, create(400, map[string]any{"name": "Nothing"}), 400)
	problem(t, create(400, map[string]any{"name": "Unknown", "testIds": []string{unknown}}), 400)
	list := s.Call(t, "GET", v1Root+"/collections", nil).Body["collections"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["testCount"] != 4.0 {
		t.Errorf("the list: %v", list)
	}
	if held := s.Call(t, "GET", v1Root+"/tests?limit=3&collectionId="+smoke, nil); len(held.Body["tests"].([]any)) != 3 || held.Body["nextCursor"] == nil ||
		len(s.Call(t, "GET", v1Root+"/tests?limit=3&collectionId="+smoke+"&cursor="+held.Body["nextCursor"].(string), nil).Body["tests"].([]any)) != 1 {
		t.Errorf("its tests: %s", held.Text)
	}
	problem(t, s.Call(t, "GET", v1Root+"/tests?collectionId="+unknown, nil), 404)
	problem(t, s.Call(t, "POST", v1Root+"/execution/collection/"+unknown, nil), 404)
	id := s.Begin(t, v1Root+"/execution/collection/"+smoke, nil)
	if st := s.Wait(t, id); st["totalCount"] != 4.0 || st["failed"] != 2.0 {
		t.Errorf("its run: %v", st)
	}
	// What the branch has counts, not what was there when the collection was made.
	s.Repo.Commit(t, "another smoke test, and no pay", map[string]string{"tests/pay.spec.ts": "import { test } from '@playwright/test';\ntest('new @smoke', async () => {});\n"})
	st := s.Wait(t, s.Begin(t, v1Root+"/execution/collection/"+smoke, map[string]any{"shardCount": 2}))
	harness.Ledger(t, st)
	if st["totalCount"] != 3.0 || !strings.Contains(fmt.Sprint(st["warnings"]), "collection-tests-missing") {
		t.Errorf("after a push: %v", st)
	}
	if a := s.Call(t, "PUT", v1Root+"/collections/"+smoke, map[string]any{"name": "Slow", "rule": map[string]any{"paths": []string{"nowhere/**"}}}); a.Status != 200 || a.Body["name"] != "Slow" {
		t.Errorf("a change: %s", a.Text)
	}
	if st := s.Wait(t, s.Begin(t, v1Root+"/execution/collection/"+smoke, nil)); st["verdict"] != "fail" || harness.ErrorCode(st) != "no-tests-selected" {
		t.Errorf("an empty collection: %v", st)
	}
	if a := s.Call(t, "DELETE", v1Root+"/collections/"+smoke, nil); a.Status != 204 || s.Call(t, "DELETE", v1Root+"/collections/"+smoke, nil).Status != 404 {
		t.Errorf("removal: %s", a.Text)
	}
}

// TestQuarantine keeps a failure from failing the run, in plain sight and for a while.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: map[string]string{"tests/a.spec.ts": `import { test, expect } from '@playwright/test';
test('bad', async () => { expect(1).toBe(2); });
test('good', async () => {});
`}})
	suite := func() map[string]any {
		st := s.Wait(t, s.Begin(t, v1Root+"/execution/suite", nil))
		harness.Ledger(t, st)
		return st
	}
	red := suite()
	bad := titled(t, s, red["runId"].(string))["bad"]["serviceTestId"].(string)
	at := v1Root + "/tests/" + bad + "/quarantine"
	in := map[string]any{"owner": "cart-team", "reason": "waits for a fix", "expiresAt": time.Now().Add(time.Hour)}
	for name, change := range map[string]map[string]any{"owner": {"owner": " "}, "reason": {"reason": ""}, "expiresAt": {"expiresAt": time.Now().Add(-time.Hour)}, "a year": {"expiresAt": time.Now().AddDate(1, 0, 0)}} {
		body := map[string]any{}
		for k, v := range in {
			body[k] = v
		}
		for k, v := range change {
			body[k] = v
		}
		if a := s.Call(t, "PUT", at, body); a.Status != 400 {
			t.Errorf("%s: %s", name, a.Text)
		}
	}
	problem(t, s.Call(t, "PUT", v1Root+"/tests/"+unknown+"/quarantine", in), 404)
	if a := s.Call(t, "PUT", at, in); a.Status != 200 || a.Body["owner"] != "cart-team" {
		t.Fatalf("quarantine: %s", a.Text)
	}
	green := suite()
	if green["verdict"] != "pass" || green["phase"] != "passed" || green["failed"] != 1.0 || !strings.Contains(fmt.Sprint(green["warnings"]), "quarantined-failures") {
		t.Errorf("in quarantine: %v", green)
	}
	if r := titled(t, s, green["runId"].(string))["bad"]; r["quarantined"] != true || r["status"] != "failed" {
		t.Errorf("the result: %v", r)
	}
	if red := s.Status(t, red["runId"].(string), ""); red["verdict"] != "fail" {
		t.Errorf("a run from before changed: %v", red)
	}
	alone := s.Wait(t, s.Begin(t, v1Root+"/execution/tests", map[string]any{"testIds": []string{bad}}))
	if alone["verdict"] != "fail" || harness.ErrorCode(alone) != "no-test-executed" {
		t.Errorf("nothing but what is in quarantine: %v", alone)
	}
	entry := s.Call(t, "GET", v1Root+"/tests?q=bad", nil).Body["tests"].([]any)[0].(map[string]any)
	if q, _ := entry["quarantine"].(map[string]any); q["owner"] != "cart-team" || entry["health"].(map[string]any)["state"] != "broken" {
		t.Errorf("the listing: %v", entry)
	}
	if l := s.Call(t, "GET", v1Root+"/quarantine", nil).Body["tests"].([]any); len(l) != 1 {
		t.Errorf("the list: %v", l)
	}
	if a := s.Call(t, "DELETE", at, nil); a.Status != 204 || s.Call(t, "DELETE", at, nil).Status != 404 {
		t.Errorf("release: %s", a.Text)
	}
	if after := suite(); after["verdict"] != "fail" {
		t.Errorf("after its release: %v", after)
	}
}
