package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tas-service/internal/account"
	"tas-service/internal/run"
)

const shop = "/projects/web-shop"

func TestRunsList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.get(shop+"/runs").ok(http.StatusOK, "No run yet", "curl -X POST", "Start a run")
	red, live := s.story()
	a := s.get(shop+"/runs").ok(http.StatusOK, red.Name, live.Name, "topic/basket", "2 failed", "3 passed (60 %)", "15 of 40")
	if a.title() != "1 running · Web <Shop> · TAS" {
		t.Errorf("the title is %q", a.title())
	}
	if len(all(a.doc, "tr")) != 7 {
		t.Errorf("%d rows", len(all(a.doc, "tr")))
	}
	for query, want := range map[string]string{"branch=topic%2Fbasket": "20 passed", "state=failed": red.Name, "trigger=manual": live.Name, "q=" + red.Name[:12]: red.Name, "q=" + red.ID: red.Name, "q=a4a4": red.Name, "q=%25": "No run fits", "trigger=mcp": "No run fits"} {
		a := s.get(shop+"/runs?"+query).ok(http.StatusOK, want)
		if rows := len(all(a.doc, "tr")); rows > 3 {
			t.Errorf("%s: %d rows", query, rows)
		}
	}
	s.get(shop+"/runs?cursor=nonsense").ok(http.StatusBadRequest, "cursor")
}

func TestRunsPaging(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.catalog(1)
	for range 45 {
		s.finish("main", "a", results(1))
	}
	seen := map[string]bool{}
	at := shop + "/runs"
	for range 3 {
		a := s.get(at).ok(http.StatusOK)
		for _, tr := range all(a.doc, "tr") {
			if id := attr(tr, "id"); id != "" && seen[id] {
				t.Errorf("%s is on two pages", id)
			} else if id != "" {
				seen[id] = true
			}
		}
		next := ""
		for _, l := range all(a.doc, "a") {
			if attr(l, "rel") == "next" {
				next = attr(l, "href")
			}
		}
		if next == "" {
			break
		}
		at = shop + "/runs" + next
	}
	if len(seen) != 45 {
		t.Errorf("%d runs are on the pages", len(seen))
	}
}

func TestRunPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, live := s.story()
	a := s.get(shop+"/runs/"+red.ID).ok(http.StatusOK, "2 tests of 40 failed over 1 new bug and 1 known bug", "BUG-1", "BUG-3", "new", "known", "Flaky: passed on a retry",
		"Newly failing 1", "Still failing 1", "Newly passing 1", "Slower 1", "30.0 s instead of", "<script>alert('x')</script> red", "Playwright 1.65.1", "Run failed tests")
	if a.title() != "2 tests failed · "+red.Name+" · TAS" || strings.Contains(a.text, "\x1b") || strings.Contains(a.text, "\u202e") {
		t.Errorf("the title is %q, or what steers a terminal is in the page", a.title())
	}
	if strings.Index(a.body(), "BUG-3") > strings.Index(a.body(), "BUG-1") {
		t.Error("the known bug comes before the new one")
	}
	if a.count("body", "data-events", "") != 1 {
		t.Error("a run that is over asks for events")
	}
	a = s.get(shop+"/runs/"+live.ID).ok(http.StatusOK, "15 of 40 tests have a result so far; 1 failed", "manual by Ada", "Running now", "Cancel", "filed when the run ends").without("Run again")
	if attr(all(a.doc, "body")[0], "data-events") != shop+"/runs/"+live.ID+"/events" || !strings.Contains(a.text, `<noscript><meta http-equiv="refresh"`) {
		t.Error("a run that goes on is not live, or not without scripts")
	}
	a = s.get(shop + "/runs/" + red.ID + "?status=flaky").ok(http.StatusOK)
	if n := a.count("span", "class", "badge warn"); n == 0 {
		t.Error("the flaky tests are not listed")
	}
	s.role = account.RoleViewer
	s.get(shop+"/runs/"+red.ID).ok(http.StatusOK, "2 tests of 40 failed").without("Run again", "Copy link")
	s.get(shop + "/runs/" + live.ID).ok(http.StatusOK).without("Cancel")
	for _, path := range []string{"/runs/" + live.ID + "/cancel", "/runs", "/runs/" + red.ID + "/again", "/runs/" + red.ID + "/tests/" + testID(0) + "/verdict", "/tests/" + testID(0) + "/quarantine", "/collections", "/bugs", "/bugs/BUG-1/move"} {
		s.post(shop+path, url.Values{"to": {"fixed"}, "bug": {"BUG-1"}}).ok(http.StatusForbidden, "role member")
	}
	s.get(shop + "/runs/00000000-0000-7000-8000-000000000000").ok(http.StatusNotFound)
	s.get(shop + "/runs/nonsense").ok(http.StatusBadRequest)
	s.role = ""
	if a := s.get(shop + "/runs/" + red.ID); a.code != http.StatusSeeOther || a.header.Get("Location") != "/sign-in?to="+url.QueryEscape(shop+"/runs/"+red.ID) {
		t.Errorf("a stranger: %d %s", a.code, a.header.Get("Location"))
	}
	s.role = account.Role("stranger")
	s.get(shop+"/runs/"+red.ID).ok(http.StatusNotFound, "not a member")
}

// TestRecoveredPage shows with which locators tests passed that are not those of the source.
func TestRecoveredPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.catalog(3)
	r := s.finish("main", "a1", results(3, told{n: 1, status: run.StatusRecovered}))
	s.get(shop+"/runs/"+r.ID).ok(http.StatusOK, "3 tests passed. 1 of them with a locator that was recovered", "Recovered: passed with another locator", "tests/cart.ts:12", "getByTestId('old')", "getByTestId('<b>new')")
	s.get(shop+"/runs/"+r.ID+"/tests/"+testID(1)).ok(http.StatusOK, "Recovered while it ran", "It is the same button.")
}

func TestCancelForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, live := s.story()
	if a := s.post(shop+"/runs/"+live.ID+"/cancel", nil); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	r, err := s.db.Run(context.Background(), live.ID)
	if err != nil || r.Cancel == nil || r.Cancel.By != "person:ada" {
		t.Fatalf("%+v, %v", r.Cancel, err)
	}
	s.get(shop+"/runs/"+live.ID).ok(http.StatusOK, "Ada cancelled the run", "Being cancelled")
}

func TestStartForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.catalog(5)
	s.get(shop+"/runs/new").ok(http.StatusOK, "Which tests", "there is none yet")
	s.get(shop+"/runs/new?test="+testID(0)+"&test="+testID(2)).ok(http.StatusOK, "2 chosen tests", "adds product 2")
	a := s.post(shop+"/runs", url.Values{"select": {"tests"}, "test": {testID(2)}, "branch": {"topic"}, "shards": {"3"}, "workers": {"2"}, "env": {"BASE_URL=http://x\r\nEMPTY="}})
	if a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	id := strings.TrimPrefix(a.header.Get("Location"), shop+"/runs/")
	r, err := s.db.Run(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	if r.Trigger != run.TriggerManual || r.StartedBy != "person:ada" || r.Branch != "topic" || r.ShardCount != 3 || r.Workers != 2 || r.EnvOverrides["BASE_URL"] != "http://x" || len(r.EnvOverrides) != 2 || len(r.Selection.TestIDs) != 1 {
		t.Errorf("%+v", r)
	}
	for name, form := range map[string]url.Values{
		"branch": {"branch": {"a b"}}, "shards": {"shards": {"x"}}, "variables": {"env": {"no value"}}, "envOverrides.CI": {"env": {"CI=1"}}, "collection": {"select": {"collection"}}, "grep": {"select": {"grep"}, "grep": {"("}}, "testIds": {"select": {"tests"}},
	} {
		a := s.post(shop+"/runs", form).ok(http.StatusBadRequest, name)
		if b := form.Get("branch"); b != "" && a.count("input", "value", b) != 1 {
			t.Error("what was entered is lost")
		}
	}
}
