package web_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/run"
)

// TestNamesAreNotForged records who did something by ID, and shows the name of now: who
// takes a colleague's name, or the service's, does nothing in their name.
func TestNamesAreNotForged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	eve := h.person("eve@example.com", false, account.RoleMember)
	h.person("boss@example.com", false, account.RoleAdministrator)
	s := &site{t: t, db: h.db, app: h.app, p: h.p, now: time.Now()}
	s.catalog(3)
	over := s.end(s.begin("main", "a1", nil, []told{{n: 1, status: run.StatusFailed, message: "Error: it broke"}}), time.Minute)
	const p = "/projects/web-shop"
	b := h.as("eve@example.com")
	rename := func(name string) {
		t.Helper()
		if a := b.send("/profile", "/profile/name", url.Values{"name": {name}}); a.code != http.StatusSeeOther {
			t.Fatalf("%d %s", a.code, a.text)
		}
	}
	rename("service")
	live := s.begin("main", "a2", nil, []told{{n: 1, status: run.StatusPending}})
	for path, form := range map[string]url.Values{
		p + "/bugs/BUG-1/comment":                                   {"comment": {"no bug at all"}},
		p + "/runs/" + over.ID + "/tests/" + testID(1) + "/verdict": {"verdict": {"bug"}, "severity": {"minor"}},
		p + "/runs/" + live.ID + "/cancel":                          {},
		p + "/tests/" + testID(1) + "/quarantine":                   {"reason": {"x"}, "until": {time.Now().AddDate(0, 0, 3).Format("2006-01-02")}},
		p + "/runs/" + over.ID + "/again":                           {},
	} {
		if a := b.send("/profile", path, form); a.code != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", path, a.code, a.text)
		}
	}
	who := "person:" + eve.ID
	x, err := h.db.Bug(ctx, h.p.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, e := range x.History {
		if e.By == "service" && (e.Comment != "" || e.To == bug.Confirmed) || e.By != "service" && e.By != who {
			t.Errorf("the bug's history says %+v", e)
		}
		if e.By == who {
			said++
		}
	}
	if said < 2 {
		t.Errorf("history %+v", x.History)
	}
	if r, err := h.db.Run(ctx, live.ID); err != nil || r.Cancel == nil || r.Cancel.By != who {
		t.Errorf("cancelled: %+v, %v", r.Cancel, err)
	}
	if qs, err := h.db.Quarantines(ctx, h.p.ID, time.Now()); err != nil || len(qs) != 1 || qs[0].SetBy != who {
		t.Errorf("quarantines %+v, %v", qs, err)
	}
	if rs, err := h.db.Runs(ctx, run.Query{ProjectID: h.p.ID, Limit: 1}); err != nil || rs[0].StartedBy != who {
		t.Errorf("started %+v, %v", rs, err)
	}
	rename("Eve Adams")
	boss := h.as("boss@example.com")
	boss.get(p+"/bugs/BUG-1").ok(http.StatusOK, "Eve Adams", "the service").without(eve.ID)
	boss.get(p+"/runs/"+live.ID).ok(http.StatusOK, "Eve Adams cancelled the run")
	boss.get(p+"/runs").ok(http.StatusOK, "by Eve Adams")
	// Whoever looks for who it was finds the names of before.
	es, err := h.db.Audit(ctx, account.AuditQuery{Limit: 100})
	if i := slices.IndexFunc(es, func(e account.Entry) bool {
		return e.Act == account.ActRenamed && e.PersonID == eve.ID && e.About == "service is Eve Adams now"
	}); err != nil || i < 0 {
		t.Errorf("%+v, %v", es, err)
	}
	// An invitation says who made it, by the name of now.
	if _, err := h.people.Invite(ctx, account.Viewer{Person: eve, Projects: []account.Membership{{ProjectID: h.p.ID, Role: account.RoleAdministrator}}}, h.p.ID, account.RoleViewer, ""); err != nil {
		t.Fatal(err)
	}
	boss.get(p+"/members").ok(http.StatusOK, "Eve Adams")
}
