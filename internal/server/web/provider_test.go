package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/account/oidc"
	"tas-service/internal/account/oidctest"
	"tas-service/internal/server/web"
)

// away goes to the provider with a browser and answers the address that it is sent back to.
func (b *browser) away(next string) string {
	b.h.t.Helper()
	a := b.get("/sign-in/oidc?next=" + url.QueryEscape(next))
	if a.code != http.StatusSeeOther {
		b.h.t.Fatalf("%d %s", a.code, a.text)
	}
	resp, err := b.client.Get(a.header.Get("Location"))
	if err != nil {
		b.h.t.Fatal(err)
	}
	resp.Body.Close()
	return strings.TrimPrefix(resp.Header.Get("Location"), b.h.url)
}

// TestSignInElsewhere lets in whom a provider vouches for: who is known, who was invited,
// and others only where the operator says so.
func TestSignInElsewhere(t *testing.T) {
	t.Parallel()
	double := oidctest.New(t)
	h := newHouseWith(t, func(a *web.App) {
		a.Provider = oidc.New(oidc.Config{Issuer: double.URL, ClientID: double.ClientID, ClientSecret: double.ClientSecret, Callback: a.AppURL + web.Callback})
	})
	ada := h.person("ada@example.com", true, "")
	h.browser().get("/sign-in").ok(http.StatusOK, "Sign in with 127.0.0.1")

	double.Become("1", "ADA@example.com", false, "Ada")
	b := h.browser()
	b.get(b.away("/profile")).ok(http.StatusForbidden, "does not say that your e-mail address is yours")
	double.Become("1", "ADA@example.com", true, "Ada")
	if a := b.get(b.away("/profile?x=1")); a.code != http.StatusSeeOther || a.header.Get("Location") != "/profile?x=1" {
		t.Fatalf("%d %s", a.code, a.text)
	}
	b.get("/profile").ok(http.StatusOK, "ada@example.com")
	// From then on by the provider's own number, whatever the e-mail there is.
	double.Become("1", "other@example.com", false, "Ada")
	c := h.browser()
	c.get(c.away("//evil.example"))
	c.get("/profile").ok(http.StatusOK, "ada@example.com")

	// Who was not invited stays out, and comes in by a link, or by the e-mail of one.
	double.Become("2", "bob@example.com", true, "Bob")
	bob := h.browser()
	bob.get(bob.away("/")).ok(http.StatusForbidden, "Nobody has invited bob@example.com yet")
	inviter := account.Viewer{Person: ada, Projects: []account.Membership{{ProjectID: h.p.ID, Role: account.RoleAdministrator}}}
	link, err := h.people.Invite(context.Background(), inviter, h.p.ID, account.RoleMember, "")
	if err != nil {
		t.Fatal(err)
	}
	bob.get(link).ok(http.StatusOK, "Come in with")
	bob.get(bob.away(link))
	bob.get("/projects/web-shop/members").ok(http.StatusOK, "Bob", "bob@example.com")
	bob.get(link).ok(http.StatusNotFound)
	if _, err := h.people.Invite(context.Background(), inviter, h.p.ID, account.RoleViewer, "eve@example.com"); err != nil {
		t.Fatal(err)
	}
	double.Become("3", "eve@example.com", true, "")
	eve := h.browser()
	eve.get(eve.away("/"))
	eve.get("/projects/web-shop/members").ok(http.StatusOK, "eve@example.com")
	// Who has no password sets one without an old one.
	if a := eve.send("/profile", "/profile/password", url.Values{"password": {password}}); a.code != http.StatusSeeOther {
		t.Errorf("%d %s", a.code, a.text)
	}
	h.as("eve@example.com")

	double.Become("4", "new@example.com", true, "New")
	h.app.SignUp = true
	fresh := h.browser()
	fresh.get(fresh.away("/"))
	fresh.get("/").ok(http.StatusOK, "in no project yet")

	// A sign-in ends in the browser that began it, once, soon, and as it was begun.
	back := b.away("/")
	h.browser().get(back).ok(http.StatusUnauthorized, "not begun in this browser")
	b.get(strings.Replace(back, "state=", "state=x", 1)).ok(http.StatusUnauthorized, "not begun in this browser")
	b.get(back).ok(http.StatusUnauthorized, "not begun in this browser")
	back = b.away("/")
	h.now = func() time.Time { return time.Now().Add(time.Hour) }
	b.get(back).ok(http.StatusUnauthorized, "too long ago")
	h.now = time.Now
	b.get(b.away("/")+"&error=access_denied").ok(http.StatusUnauthorized, "did not sign you in (access_denied)")
}
