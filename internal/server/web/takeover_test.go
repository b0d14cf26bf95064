package web_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"tas-service/internal/account"
)

// TestLinksOfFormerAdministrators do not open: who lost a role does not get it back by a
// link that they made while they had it.
func TestLinksOfFormerAdministrators(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	h.person("root@example.com", true, "")
	eve := h.person("eve@example.com", false, account.RoleAdministrator)
	mallory := h.person("mallory@example.com", true, "")
	as := account.Viewer{Person: eve, Projects: []account.Membership{{ProjectID: h.p.ID, Role: account.RoleAdministrator}}}
	link, err := h.people.Invite(ctx, as, h.p.ID, account.RoleAdministrator, "")
	if err != nil {
		t.Fatal(err)
	}
	over, err := h.people.InviteAdministrator(ctx, account.Viewer{Person: mallory}, "")
	if err != nil {
		t.Fatal(err)
	}
	h.browser().get(link).ok(http.StatusOK, "eve invites you")
	h.browser().get(over).ok(http.StatusOK, "administrator of this installation")

	root, b := h.as("root@example.com"), h.as("eve@example.com")
	if a := root.send("/profile", "/projects/web-shop/members/"+eve.ID+"/role", url.Values{"role": {"viewer"}}); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	if a := root.send("/profile", "/administration/people/"+mallory.ID+"/remove", url.Values{}); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	b.send("/profile", link, url.Values{}).ok(http.StatusNotFound, "withdrawn")
	b.get("/projects/web-shop/settings").ok(http.StatusForbidden)
	h.browser().post(over, url.Values{"email": {"m2@example.com"}, "name": {"m"}, "password": {password}}).ok(http.StatusNotFound, "withdrawn")
}
