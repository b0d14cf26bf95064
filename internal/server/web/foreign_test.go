package web_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"tas-service/internal/account"
	"tas-service/internal/catalog"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// TestForeignIDs takes IDs of another project into the addresses and forms of one's own: an
// administrator of one project is nobody in the other.
func TestForeignIDs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	h.person("admin@example.com", false, account.RoleAdministrator)
	root := h.person("root@example.com", true, "")
	other, _, err := h.db.CreateProject(ctx, project.Project{Name: "Other", Repository: project.Repository{URL: "https://git.example.com/other.git"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, db: h.db, app: h.app, p: other, now: h.now()}
	s.catalog(3)
	over := s.finish("main", "a1", results(3, told{n: 1, status: run.StatusFailed, message: "Error: theirs"}))
	live := s.begin("main", "a2", nil, []told{{n: 1, status: run.StatusPending}})
	id := s.attach(over, 1, "a.png", "image/png", "theirs")
	c, err := h.app.Tests.Create(ctx, account.Actor{ProjectID: other.ID, Via: account.ViaOperator}, catalog.Collection{ProjectID: other.ID, Name: "theirs", TestIDs: []string{testID(1)}})
	if err != nil {
		t.Fatal(err)
	}
	v := account.Viewer{Person: root, Projects: []account.Membership{{ProjectID: other.ID, Role: account.RoleAdministrator}}}
	if _, err := h.people.Invite(ctx, v, other.ID, account.RoleViewer, ""); err != nil {
		t.Fatal(err)
	}
	links, err := h.people.Invitations(ctx, v, other.ID)
	if err != nil || len(links) != 1 {
		t.Fatal(links, err)
	}
	b := h.as("admin@example.com")
	const p = "/projects/web-shop"
	inRun := p + "/runs/" + over.ID
	for _, path := range []string{inRun, p + "/runs/" + live.ID + "/events", inRun + "/report", inRun + "/tests/" + testID(1), inRun + "/tests/" + testID(1) + "/artifacts/" + id, p + "/tests/" + testID(1),
		p + "/collections/" + c.ID, p + "/bugs/BUG-1", p + "/settings/environments/" + other.ID, "/runs/" + over.ID, "/bugs/" + other.ID + "/BUG-1", "/projects/" + other.ID + "/runs", "/projects/other/settings"} {
		if a := b.get(path); a.code != http.StatusNotFound {
			t.Errorf("GET %s: %d", path, a.code)
		}
	}
	for path, form := range map[string]url.Values{
		p + "/runs/" + live.ID + "/cancel": {}, inRun + "/again": {}, inRun + "/tests/" + testID(1) + "/verdict": {"verdict": {"passed"}}, inRun + "/tests/" + testID(1) + "/again": {},
		p + "/tests/" + testID(1) + "/quarantine": {"reason": {"x"}, "until": {h.now().AddDate(0, 0, 2).Format("2006-01-02")}}, p + "/collections/" + c.ID: {"name": {"mine"}, "tags": {"@a"}}, p + "/collections/" + c.ID + "/remove": {},
		p + "/bugs/BUG-1/comment": {"comment": {"x"}}, p + "/bugs/BUG-1/move": {"to": {"confirmed"}}, p + "/settings/environments/" + other.ID: {"name": {"x"}}, p + "/settings/environments/" + other.ID + "/default": {},
		p + "/settings/environments/" + other.ID + "/remove": {}, p + "/members/invitations/" + links[0].ID + "/withdraw": {}, p + "/members/" + root.ID + "/role": {"role": {"viewer"}}, p + "/members/" + root.ID + "/remove": {},
	} {
		if a := b.send("/profile", path, form); a.code != http.StatusNotFound {
			t.Errorf("POST %s: %d %.200s", path, a.code, a.text)
		}
	}
	for path, form := range map[string]url.Values{p + "/collections": {"name": {"mine"}, "test": {testID(1)}}, p + "/runs": {"select": {"tests"}, "test": {testID(1)}}} {
		if a := b.send("/profile", path, form); a.code != http.StatusBadRequest {
			t.Errorf("POST %s: %d", path, a.code)
		}
	}
	if a := b.send("/profile", p+"/runs", url.Values{"select": {"collection"}, "collection": {c.ID}}); a.code != http.StatusNotFound {
		t.Errorf("a run of another project's collection: %d", a.code)
	}
	b.get(p + "/runs/new?test=" + testID(1)).ok(http.StatusOK).without("adds product 1")
	if r, err := h.db.Run(ctx, live.ID); err != nil || r.Cancel != nil {
		t.Errorf("%+v, %v", r.Cancel, err)
	}
	if es, err := h.db.Environments(ctx, other.ID); err != nil || len(es) != 1 || es[0].Name != "default" {
		t.Errorf("%+v, %v", es, err)
	}
}
