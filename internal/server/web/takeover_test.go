package web_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"tas-service/internal/account"
	"tas-service/internal/account/oidc"
	"tas-service/internal/account/oidctest"
	"tas-service/internal/server/web"
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

// TestAccountInWaiting makes an account under somebody else's e-mail, which takes nothing
// but an invitation to anything: its maker is out as soon as the e-mail's owner comes in.
func TestAccountInWaiting(t *testing.T) {
	t.Parallel()
	double := oidctest.New(t)
	h := newHouseWith(t, func(a *web.App) {
		a.Provider = oidc.New(oidc.Config{Issuer: double.URL, ClientID: double.ClientID, ClientSecret: double.ClientSecret, Callback: a.AppURL + web.Callback})
	})
	h.person("boss@example.com", false, account.RoleViewer) // as who in truth is somebody else entered it
	thief := h.as("boss@example.com")
	thief.get("/profile").ok(http.StatusOK)

	double.Become("1", "boss@example.com", true, "Boss")
	boss := h.browser()
	if a := boss.get(boss.away("/profile")); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	boss.get("/profile").ok(http.StatusOK, "boss@example.com")
	if a := thief.get("/profile"); a.code != http.StatusSeeOther {
		t.Errorf("who made the account is still in it: %d", a.code)
	}
	h.browser().post("/sign-in", url.Values{"email": {"boss@example.com"}, "password": {password}}).ok(http.StatusUnauthorized)
	// The owner sets a password, which stays.
	if a := boss.send("/profile", "/profile/password", url.Values{"password": {password}}); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	boss.get(boss.away("/"))
	h.as("boss@example.com")

	// Years later the provider gives the e-mail to somebody else, who gets nothing by it.
	double.Become("2", "boss@example.com", true, "Heir")
	heir := h.browser()
	heir.get(heir.away("/")).ok(http.StatusConflict, "belongs to somebody else")
	if a := heir.get("/profile"); a.code != http.StatusSeeOther {
		t.Errorf("the heir is in: %d", a.code)
	}
}

// TestLocalRepository lets no administrator of one project read the service's own disk,
// where the mirrors of all projects' repositories lie.
func TestLocalRepository(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("root@example.com", true, "")
	h.person("admin@example.com", false, account.RoleAdministrator)
	admin, root := h.as("admin@example.com"), h.as("root@example.com")
	save := func(b *browser, address string) *answer {
		return b.send("/profile", "/projects/web-shop/settings/repository", url.Values{"url": {address}, "branch": {"main"}})
	}
	// What the operator chose may stay as it is.
	if a := save(admin, "file:///nowhere"); a.code != http.StatusSeeOther {
		t.Errorf("%d %s", a.code, a.text)
	}
	for _, place := range []string{"file:///var/lib/tas/looks/other", "/var/lib/tas/looks/other", "../looks/other"} {
		save(admin, place).ok(http.StatusForbidden, "service's own machine")
		if p, err := h.db.Project(context.Background(), h.p.ID); err != nil || p.Repository.URL != "file:///nowhere" {
			t.Fatalf("%+v, %v", p.Repository, err)
		}
		if a := save(root, place); a.code != http.StatusSeeOther {
			t.Errorf("%d %s", a.code, a.text)
		}
		save(root, "file:///nowhere")
	}
}
