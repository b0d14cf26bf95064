package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tas-service/internal/account"
)

// TestFirst makes the first administrator by the link that the first start prints, once.
func TestFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser()
	b.get("/sign-in").ok(http.StatusOK, "Nobody can sign in yet")
	path, err := h.people.SetUp(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b.get(path).ok(http.StatusOK, "first administrator")
	b.get(path[:len(path)-2]).ok(http.StatusNotFound, "used already")
	b.get("/invitations/" + path[strings.LastIndex(path, "/")+1:]).ok(http.StatusNotFound)
	in := url.Values{"email": {"Ada@Example.com"}, "name": {"Ada"}, "password": {"short"}}
	b.post(path, in).ok(http.StatusBadRequest, "fewer than 12 characters")
	in.Set("password", password)
	a := b.post(path, in)
	if a.code != http.StatusSeeOther || a.header.Get("Location") != "/" {
		t.Fatalf("%d %s", a.code, a.text)
	}
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"tas=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %q", cookie, want)
		}
	}
	if a := b.get("/"); a.code != http.StatusOK || !strings.Contains(a.text, "ada@example.com") {
		t.Errorf("%d %.200s", a.code, a.text)
	}
	h.browser().post(path, in).ok(http.StatusNotFound, "used already")
	if path, err := h.people.SetUp(context.Background()); err != nil || path != "" {
		t.Errorf("another first administrator: %q, %v", path, err)
	}
}

// TestSecureCookie gives the cookie the name that browsers guard, where there is HTTPS.
func TestSecureCookie(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.app.AppURL = "https://tas.example.com"
	h.person("ada@example.com", false, "")
	a := h.browser().post("/sign-in", url.Values{"email": {"ada@example.com"}, "password": {password}})
	if c := a.header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-tas=") || !strings.Contains(c, "Secure") || strings.Contains(c, "Domain") {
		t.Errorf("%d %q", a.code, c)
	}
}

// TestSignIn tells nobody whether an e-mail has an account, and leads on to our own pages
// only.
func TestSignIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("ada@example.com", false, account.RoleViewer)
	b := h.browser()
	var said []string
	for _, in := range []url.Values{{"email": {"ada@example.com"}, "password": {"wrong password"}}, {"email": {"eve@example.com"}, "password": {password}}} {
		a := b.post("/sign-in", in)
		a.ok(http.StatusUnauthorized, "do not belong together")
		said = append(said, strings.ReplaceAll(a.text, in.Get("email"), ""))
		if a.header.Get("Set-Cookie") != "" {
			t.Error("a cookie was set")
		}
	}
	if said[0] != said[1] {
		t.Error("the answers tell an unknown e-mail from a wrong password")
	}
	for next, to := range map[string]string{"/projects/web-shop/runs?branch=a%2Fb": "/projects/web-shop/runs?branch=a%2Fb", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/",
		"/\t/evil.example": "/", "javascript:alert(1)": "/", "": "/", "evil": "/", "/%2F/evil.example": "/", "http:/evil": "/", "///evil.example": "/"} {
		a := h.browser().post("/sign-in", url.Values{"email": {" ADA@example.com "}, "password": {password}, "next": {next}})
		if got := a.header.Get("Location"); a.code != http.StatusSeeOther || got != to {
			t.Errorf("%q leads to %q: %d", next, got, a.code)
		}
		h.people.Tries = account.NewTries(h.now)
	}
	// A page that needs a sign-in comes after it.
	a := b.get("/projects/web-shop/members")
	if a.code != http.StatusSeeOther || a.header.Get("Location") != "/sign-in?next="+url.QueryEscape("/projects/web-shop/members") {
		t.Errorf("%d %q", a.code, a.header.Get("Location"))
	}
}

// TestTries bounds how often passwords are tried as somebody, and from somewhere.
func TestTries(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("ada@example.com", false, "")
	now := time.Now()
	h.now = func() time.Time { return now }
	b := h.browser()
	in := url.Values{"email": {"ada@example.com"}, "password": {"wrong password"}}
	var a *answer
	for range 11 {
		a = b.post("/sign-in", in)
	}
	a.ok(http.StatusTooManyRequests, "too many tries", "Try again in 30 seconds")
	if a.header.Get("Retry-After") != "30" {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
	in.Set("password", password)
	b.post("/sign-in", in).ok(http.StatusTooManyRequests)
	b.post("/sign-in", url.Values{"email": {"bob@example.com"}, "password": {"x"}}).ok(http.StatusUnauthorized)
	now = now.Add(31 * time.Second)
	if a := b.post("/sign-in", in); a.code != http.StatusSeeOther {
		t.Errorf("after a while: %d", a.code)
	}
}

// TestOtherSites refuses forms that another site's page, or another session, sends.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("ada@example.com", true, "")
	b := h.as("ada@example.com")
	own := b.token("/")
	other := h.as("ada@example.com").token("/")
	for name, c := range map[string]struct {
		site, origin, token string
		code                int
	}{
		"cross-site":      {"cross-site", "", own, http.StatusForbidden},
		"same site":       {"same-site", "", own, http.StatusForbidden},
		"another origin":  {"", "https://evil.example", own, http.StatusForbidden},
		"no token":        {"same-origin", "", "", http.StatusForbidden},
		"another session": {"same-origin", "", other, http.StatusForbidden},
	} {
		b.from = http.Header{"Sec-Fetch-Site": {c.site}, "Origin": {c.origin}}
		if c.site == "" {
			b.from["Sec-Fetch-Site"] = nil
		}
		if c.origin == "" {
			b.from["Origin"] = nil
		}
		if a := b.post("/sign-out", url.Values{"csrf": {c.token}}); a.code != c.code {
			t.Errorf("%s: %d", name, a.code)
		}
	}
	b.from = http.Header{}
	b.get("/").ok(http.StatusOK)
	if a := b.post("/sign-out", url.Values{"csrf": {own}}); a.code != http.StatusSeeOther {
		t.Errorf("our own form: %d", a.code)
	}
	if a := b.get("/"); a.code != http.StatusSeeOther {
		t.Errorf("after signing out: %d", a.code)
	}
	// A sign-in that another site sends would sign its own person in.
	b.from = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	b.post("/sign-in", url.Values{"email": {"ada@example.com"}, "password": {password}}).ok(http.StatusForbidden, "another site")
}
