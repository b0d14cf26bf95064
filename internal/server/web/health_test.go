package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/run"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.get(shop+"/health").ok(http.StatusOK, "Nothing to see yet")
	s.story()
	s.get(shop+"/health").ok(http.StatusOK, "97.5 %", "50 % of 4", "BUG-1", "BUG-3", "Flakiest", "2 of 4 (50 %)", "Slowest", "8.7 s", "Tests whose bugs nobody has triaged").without("\x1b")
	s.get(shop+"/health?tag=%40slow").ok(http.StatusOK, "BUG-3").without("BUG-2", "adds product 5 ")
	s.get(shop+"/health?branch=topic%2Fbasket").ok(http.StatusOK, "100.0 %", "100 % of 1", "No such bug was seen")
	s.get(shop+"/health?branch=*").ok(http.StatusOK, "of 5", "BUG-1")
	s.get(shop+"/health?state=fixed").ok(http.StatusOK, "No such bug was seen")
	s.get(shop + "/health?collection=nonsense").ok(http.StatusNotFound)
}

func TestBugPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	at := shop + "/bugs/BUG-1"
	s.get(at).ok(http.StatusOK, "needs triage", "2 failed results", "found it", red.Name, "Unlink")
	post := func(act string, form url.Values) {
		t.Helper()
		if a := s.post(at+"/"+act, form); a.code != http.StatusSeeOther || a.header.Get("Location") != at {
			t.Fatalf("%s: %d %s", act, a.code, a.text)
		}
	}
	post("comment", url.Values{"comment": {"<b>It is the cart</b>"}})
	post("severity", url.Values{"severity": {"critical"}})
	post("move", url.Values{"to": {"snoozed"}, "until": {"2026-04-01"}})
	post("move", url.Values{"to": {"confirmed"}})
	s.get(at+"?q=product+20").ok(http.StatusOK, "adds product 20")
	post("link", url.Values{"test": {testID(20)}})
	post("unlink", url.Values{"test": {testID(0)}})
	s.get(at).ok(http.StatusOK, "<b>It is the cart</b>", "rated it critical", "needs triage → snoozed", "Ada", "confirmed", "Linked test "+testID(20), "adds product 20").without("alert('x')")
	b, err := s.db.Bug(context.Background(), s.p.ID, 1)
	if err != nil || len(b.TestIDs) != 1 || b.TestIDs[0] != testID(20) || b.Severity != bug.Critical || b.State != bug.Confirmed {
		t.Errorf("%+v, %v", b, err)
	}
	s.post(at+"/move", url.Values{"to": {"needs-triage"}}).ok(http.StatusConflict, "cannot become")
	s.post(at+"/move", url.Values{"to": {"snoozed"}}).ok(http.StatusBadRequest, "until")
	s.post(at+"/comment", url.Values{"comment": {" "}}).ok(http.StatusBadRequest)
	s.post(at+"/severity", url.Values{"severity": {"huge"}}).ok(http.StatusBadRequest)
	s.post(at+"/link", url.Values{"test": {"nonsense"}}).ok(http.StatusNotFound)
	s.post(at+"/nonsense", nil).ok(http.StatusNotFound)
	s.get(shop+"/bugs/BUG-99").ok(http.StatusNotFound, "What to do")
	s.get(shop + "/bugs/nonsense").ok(http.StatusBadRequest)
	s.role = account.RoleViewer
	s.get(at).ok(http.StatusOK, "confirmed").without("Link a test", "Rate", "Keep the comment")
}

func TestBulkMoves(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.story()
	if a := s.post(shop+"/bugs/BUG-2/move", url.Values{"to": {"fixed"}}); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	a := s.post(shop+"/bugs", url.Values{"bug": {"BUG-1", "BUG-2", "BUG-3", "BUG-77"}, "to": {"not-bug"}, "comment": {"the stage was down"}})
	cookie := strings.Join(a.header.Values("Set-Cookie"), " ")
	if a.code != http.StatusSeeOther || !strings.Contains(cookie, "2+bugs+moved") && !strings.Contains(cookie, "2%20bugs%20moved") || !strings.Contains(cookie, "BUG-77") {
		t.Errorf("%d %s", a.code, cookie)
	}
	for n, want := range map[int]bug.State{1: bug.NotBug, 2: bug.Fixed, 3: bug.NotBug} {
		if b, err := s.db.Bug(context.Background(), s.p.ID, n); err != nil || b.State != want {
			t.Errorf("BUG-%d is %s, %v", n, b.State, err)
		}
	}
	s.post(shop+"/bugs", url.Values{"to": {"fixed"}}).ok(http.StatusBadRequest, "Tick")
	s.post(shop+"/bugs", url.Values{"bug": {"BUG-1"}, "to": {"nonsense"}}).ok(http.StatusBadRequest)
}

func TestTestPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.get(shop+"/tests").ok(http.StatusOK, "No test is known yet")
	s.get(shop+"/collections").ok(http.StatusOK, "No collection yet")
	red, _ := s.story()
	s.get(shop+"/tests").ok(http.StatusOK, "broken", "flaky", "healthy", "@checkout", "50 %")
	s.get(shop+"/tests?q=PRODUCT+20").ok(http.StatusOK, "adds product 20").without("adds product 21")
	s.get(shop+"/tests?owner=bob&tag=%40slow").ok(http.StatusOK, "adds product 1").without("adds product 2 ")
	s.get(shop+"/tests?q=%25").ok(http.StatusOK, "No test fits")
	s.get(shop+"/tests/"+testID(0)).ok(http.StatusOK, "broken", "<script>alert('x')</script> red", red.Name, "BUG-1", "Failing since")
	s.get(shop + "/tests/nonsense").ok(http.StatusNotFound)
	at := shop + "/runs/" + red.ID + "/tests/" + testID(0)
	a := s.get(at).ok(http.StatusOK, "First bad commit", "a3a3", "it last passed at a2a2", "Error: expect(locator)", "The attempt", "Why it failed")
	if n := a.count("a", "aria-current", "page"); n != 2 { // the area, and the run in the strip
		t.Errorf("%d marks of where one is", n)
	}
	s.get(shop+"/runs/"+red.ID+"/tests/"+testID(5)).ok(http.StatusOK, "Attempts side by side", "Attempt 2")
	s.get(shop + "/runs/" + red.ID + "/tests/nonsense").ok(http.StatusNotFound)
	if a := s.post(shop+"/tests/"+testID(5)+"/quarantine", url.Values{"reason": {"flakes"}, "until": {"2026-03-20"}, "back": {"//evil.example"}}); a.code != http.StatusSeeOther || a.header.Get("Location") != shop+"/tests/"+testID(5) {
		t.Fatalf("%d %s", a.code, a.header.Get("Location"))
	}
	s.get(shop+"/tests/"+testID(5)).ok(http.StatusOK, "quarantined", "End the quarantine", "flakes")
	s.get(shop+"/health").ok(http.StatusOK, "Ada sees to it: flakes")
	s.post(shop+"/tests/"+testID(5)+"/quarantine", url.Values{"until": {"2030-03-20"}}).ok(http.StatusBadRequest, "reason")
	s.post(shop+"/tests/"+testID(5)+"/quarantine", url.Values{"end": {"1"}})
	s.get(shop + "/tests/" + testID(5)).ok(http.StatusOK).without("quarantined")
	if a := s.post(at+"/verdict", url.Values{"verdict": {"flaky"}, "comment": {"moody"}}); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	s.get(at).ok(http.StatusOK, "judged flaky")
	s.post(at+"/verdict", url.Values{"verdict": {"nonsense"}}).ok(http.StatusBadRequest)
	again := s.post(at+"/again", nil)
	r, err := s.db.Run(context.Background(), strings.TrimPrefix(again.header.Get("Location"), shop+"/runs/"))
	if err != nil || r.Selection.Kind != run.SelectTests || r.Branch != "main" || r.Trigger != run.TriggerManual {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCollectionPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.catalog(20)
	s.get(shop+"/collections/new?tags=%40slow").ok(http.StatusOK, "7 tests of the default branch", "adds product 1")
	s.get(shop+"/collections/new?paths=%5B").ok(http.StatusOK, "is no path")
	s.post(shop+"/collections", url.Values{"name": {""}, "tags": {"@slow"}}).ok(http.StatusBadRequest, "name")
	a := s.post(shop+"/collections", url.Values{"name": {"<i>Slow</i>"}, "tags": {"@slow, checkout"}, "test": {testID(0)}})
	if a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	at := a.header.Get("Location")
	s.get(at).ok(http.StatusOK, "<i>Slow</i>", "8 tests of the default branch")
	s.get(shop+"/collections").ok(http.StatusOK, "<i>Slow</i>", "@slow", "8")
	s.get(shop+"/tests?collection="+strings.TrimPrefix(at, shop+"/collections/")).ok(http.StatusOK, "adds product 1").without("adds product 2 ")
	s.post(shop+"/collections", url.Values{"name": {"<i>Slow</i>"}, "tags": {"@slow"}}).ok(http.StatusConflict, "name")
	if a := s.post(at, url.Values{"name": {"Slower"}, "title": {"product 1"}}); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	s.get(at+"?name=x&title=product+19").ok(http.StatusOK, "1 test of the default branch")
	s.get(shop+"/runs/new?collection="+strings.TrimPrefix(at, shop+"/collections/")).ok(http.StatusOK, "Slower (11 tests)")
	s.role = account.RoleViewer
	s.get(at).ok(http.StatusOK, "Slower").without("Keep the collection", "Remove")
	s.get(shop+"/collections/new").ok(http.StatusForbidden, "role member")
	s.role = account.RoleMember
	if a := s.post(at+"/remove", nil); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	s.get(at).ok(http.StatusNotFound)
}
