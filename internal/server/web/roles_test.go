package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tas-service/internal/account"
)

// TestRoles asks for every page of accounts and settings as everybody there is.
func TestRoles(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("root@example.com", true, "")
	h.person("admin@example.com", false, account.RoleAdministrator)
	h.person("member@example.com", false, account.RoleMember)
	viewer := h.person("viewer@example.com", false, account.RoleViewer)
	h.person("stranger@example.com", false, "")
	who := []*browser{h.browser(), h.as("stranger@example.com"), h.as("viewer@example.com"), h.as("member@example.com"), h.as("admin@example.com"), h.as("root@example.com")}
	names := []string{"nobody", "stranger", "viewer", "member", "administrator", "installation"}
	const p = "/projects/web-shop"
	in, no, none, bad, moved := http.StatusOK, http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest, http.StatusSeeOther
	for _, c := range []struct {
		method, path string
		want         [6]int
	}{
		{"GET", "/", [6]int{moved, in, in, in, in, in}},
		{"GET", "/profile", [6]int{moved, in, in, in, in, in}},
		{"GET", "/new-project", [6]int{moved, no, no, no, no, in}},
		{"POST", "/new-project", [6]int{moved, no, no, no, no, bad}},
		{"GET", "/administration", [6]int{moved, no, no, no, no, in}},
		{"GET", "/administration/audit", [6]int{moved, no, no, no, no, in}},
		{"POST", "/administration/invitations", [6]int{moved, no, no, no, no, in}},
		{"POST", "/administration/invitations/x/withdraw", [6]int{moved, no, no, no, no, none}},
		{"POST", "/administration/people/x/role", [6]int{moved, no, no, no, no, none}},
		{"POST", "/administration/people/x/remove", [6]int{moved, no, no, no, no, none}},
		{"GET", p + "/members", [6]int{moved, none, in, in, in, in}},
		{"POST", p + "/members/invitations", [6]int{moved, none, no, no, bad, bad}},
		{"POST", p + "/members/invitations/x/withdraw", [6]int{moved, none, no, no, none, none}},
		{"POST", p + "/members/" + viewer.ID + "/role", [6]int{moved, none, no, no, bad, bad}},
		{"POST", p + "/members/x/remove", [6]int{moved, none, no, no, none, none}},
		{"GET", p + "/settings", [6]int{moved, none, no, no, in, in}},
		{"GET", p + "/activity", [6]int{moved, none, in, in, in, in}},
		{"GET", p + "/activity/x", [6]int{moved, none, none, none, none, none}},
		{"POST", p + "/activity/x/approve", [6]int{moved, none, no, none, none, none}},
		{"POST", p + "/activity/x/reject", [6]int{moved, none, no, none, none, none}},
		{"POST", p + "/activity/x/retry", [6]int{moved, none, no, none, none, none}},
		{"GET", p + "/sessions", [6]int{moved, none, in, in, in, in}},
		{"GET", p + "/sessions/" + viewer.ID, [6]int{moved, none, none, none, none, none}},
		{"GET", p + "/healing", [6]int{moved, none, in, in, in, in}},
		{"GET", "/sessions/" + viewer.ID, [6]int{moved, none, none, none, none, none}},
		{"POST", p + "/sessions/" + viewer.ID + "/cancel", [6]int{moved, none, no, none, none, none}},
		{"POST", p + "/sessions/" + viewer.ID + "/decide", [6]int{moved, none, no, bad, bad, bad}},
		{"POST", p + "/sessions/" + viewer.ID + "/choose", [6]int{moved, none, no, none, none, none}},
		{"POST", p + "/sessions/" + viewer.ID + "/steer", [6]int{moved, none, no, bad, bad, bad}},
		{"POST", p + "/runs/" + viewer.ID + "/heal", [6]int{moved, none, no, none, none, none}},
		{"POST", p + "/settings/approval", [6]int{moved, none, no, no, moved, moved}},
		{"GET", p + "/settings/notifications", [6]int{moved, none, no, no, in, in}},
		{"GET", p + "/settings/notifications/new", [6]int{moved, none, no, no, in, in}},
		{"POST", p + "/settings/notifications/new", [6]int{moved, none, no, no, bad, bad}},
		{"GET", p + "/settings/notifications/x", [6]int{moved, none, no, no, none, none}},
		{"POST", p + "/settings/notifications/x", [6]int{moved, none, no, no, none, none}},
		{"POST", p + "/settings/notifications/x/test", [6]int{moved, none, no, no, none, none}},
		{"POST", p + "/settings/notifications/x/rotate", [6]int{moved, none, no, no, none, none}},
		{"POST", p + "/settings/notifications/x/remove", [6]int{moved, none, no, no, none, none}},
		{"GET", p + "/settings/audit", [6]int{moved, none, no, no, in, in}},
		{"POST", p + "/settings/general", [6]int{moved, none, no, no, bad, bad}},
		{"POST", p + "/settings/repository", [6]int{moved, none, no, no, moved, moved}},
		{"POST", p + "/settings/runs", [6]int{moved, none, no, no, moved, moved}},
		{"POST", p + "/settings/key/show", [6]int{moved, none, no, no, in, in}},
		{"POST", p + "/settings/key/rotate", [6]int{moved, none, bad, bad, bad, bad}},
		{"GET", p + "/settings/environments/new", [6]int{moved, none, no, no, in, in}},
		{"GET", p + "/settings/environments/" + h.p.ID, [6]int{moved, none, no, no, in, in}},
		{"GET", p + "/settings/environments/x", [6]int{moved, none, none, none, none, none}},
		{"POST", p + "/settings/environments/new", [6]int{moved, none, no, no, bad, bad}},
		{"POST", p + "/settings/environments/" + h.p.ID + "/default", [6]int{moved, none, no, no, moved, moved}},
		{"POST", p + "/settings/environments/" + h.p.ID + "/remove", [6]int{moved, none, no, no, http.StatusConflict, http.StatusConflict}},
	} {
		for i, b := range who {
			form := url.Values{}
			if c.method == http.MethodPost && i > 0 {
				form.Set("csrf", b.token("/profile"))
			}
			a := b.do(c.method, c.path, form)
			if a.code != c.want[i] {
				t.Errorf("%s %s as %s: %d, not %d", c.method, c.path, names[i], a.code, c.want[i])
			}
			if to := a.header.Get("Location"); i == 0 && !strings.HasPrefix(to, "/sign-in") {
				t.Errorf("%s %s sends nobody to %q", c.method, c.path, to)
			}
			if strings.Contains(a.text, "repo-s3cret") {
				t.Errorf("%s %s as %s shows the repository's token", c.method, c.path, names[i])
			}
			if a.doc != nil && a.code == in && c.method == http.MethodGet && i > 0 {
				a.sound(c.path)
			}
		}
	}
	// The key cannot be rotated by a member who says that they are sure.
	if a := who[3].send("/profile", p+"/settings/key/rotate", url.Values{"sure": {"yes"}}); a.code != no {
		t.Errorf("a member rotates the key: %d", a.code)
	}
	// A session that was ended opens nothing.
	ss, err := h.db.Sessions(context.Background(), viewer.ID, h.now())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range ss {
		if _, err := h.db.DropSession(context.Background(), viewer.ID, s.ID); err != nil {
			t.Fatal(err)
		}
	}
	if a := who[2].get("/profile"); a.code != moved {
		t.Errorf("an ended session: %d", a.code)
	}
}

// TestSettings changes what can be changed of a project, and finds it on record without
// any secret.
func TestSettings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("ada@example.com", false, account.RoleAdministrator)
	b, ctx := h.as("ada@example.com"), context.Background()
	const at = "/projects/web-shop/settings"
	send := func(path string, pairs ...string) *answer {
		t.Helper()
		form := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			form.Add(pairs[i], pairs[i+1])
		}
		return b.send(at, at+path, form)
	}
	send("/repository/check").ok(http.StatusOK, "Runs would fail", "there is none called main", "Push it.")
	// An empty token keeps the one that is there, as long as the host is the same.
	send("/repository", "url", "https://git.example.com/a.git", "token", "tok-1", "dir", "/e2e/")
	send("/repository", "url", "https://git.example.com/b.git")
	if p, err := h.db.Project(ctx, h.p.ID); err != nil || p.Repository.Token != "tok-1" || p.Repository.URL != "https://git.example.com/b.git" || p.Repository.Dir != "" {
		t.Errorf("%+v, %v", p.Repository, err)
	}
	send("/repository", "url", "https://evil.example/b.git")
	if p, err := h.db.Project(ctx, h.p.ID); err != nil || p.Repository.Token != "" {
		t.Errorf("the token goes to another host: %v", err)
	}
	send("/repository", "url", "https://me:pass@git.example.com/").ok(http.StatusBadRequest, "leave the credentials out")
	send("/runs", "workers", "99").ok(http.StatusBadRequest, "from 0 to 64")
	send("/runs", "workers", "3", "minutes", "90", "quota", "512", "keep", "7", "isolation", "none", "recovery", "yes")
	if p, err := h.db.Project(ctx, h.p.ID); err != nil || p.Workers != 3 || p.RunLimit.Minutes() != 90 || p.DiskQuota != 512<<20 || p.KeepDays != 7 || p.MinIsolation != "none" || !p.Recovery {
		t.Errorf("%+v, %v", p, err)
	}
	if boxes := b.get(at).count("input", "name", "recovery"); boxes != 1 {
		t.Errorf("%d boxes for recovery", boxes)
	}
	send("/runs", "workers", "3", "keep", "7")
	if p, err := h.db.Project(ctx, h.p.ID); err != nil || p.Recovery {
		t.Errorf("a box that is not ticked leaves it on: %v", err)
	}
	// The key is hidden until it is asked for; rotating stops the old one.
	if a := b.get(at); strings.Contains(a.text, h.key) {
		t.Error("the key is shown unasked")
	}
	if a := send("/key/show"); !strings.Contains(a.text, h.key) {
		t.Error("the key is not shown")
	}
	a := send("/key/rotate", "sure", "yes").ok(http.StatusOK, "The old key has stopped")
	_, fresh, err := h.db.CurrentKey(ctx, h.p.ID)
	if err != nil || fresh == h.key || !strings.Contains(a.text, fresh) {
		t.Errorf("the new key is not shown: %v", err)
	}
	auth := account.NewAuthenticator(h.db)
	if _, err := auth.Bearer(ctx, "Bearer "+h.key); err == nil {
		t.Error("the old key works")
	}
	// Environments: secrets go in and never come out, but to runs.
	send("/environments/new", "name", "staging", "variables", "BASE_URL=https://staging.example.com\nTEXT=\"a\\nb\"\nPATTERN=a\\nb", "secret", "ADMIN_PASSWORD", "value", "hunter22")
	values, err := h.db.Values(ctx, h.p.ID, "staging")
	if err != nil || values["ADMIN_PASSWORD"] != "hunter22" || values["TEXT"] != "a\nb" || values["PATTERN"] != `a\nb` || values["BASE_URL"] != "https://staging.example.com" {
		t.Errorf("%v, %v", values, err)
	}
	es, err := h.db.Environments(ctx, h.p.ID)
	if err != nil || len(es) != 2 {
		t.Fatalf("%+v, %v", es, err)
	}
	staging := "/environments/" + es[1].ID
	page := b.get(at+staging).ok(http.StatusOK, "ADMIN_PASSWORD")
	if strings.Contains(page.text, "hunter22") || !strings.Contains(page.text, "TEXT=&#34;a\\nb&#34;") && !strings.Contains(page.text, `TEXT="a\nb"`) {
		t.Errorf("%s", page.text)
	}
	send("/environments/new", "name", "staging").ok(http.StatusConflict, "of this name already")
	send(staging, "name", "staging", "variables", "PATH=x\nnonsense").ok(http.StatusBadRequest, "line 2")
	send(staging, "name", "staging", "variables", "PATH=x", "secret", "CI", "value", "top-s3cret").ok(http.StatusBadRequest, "PATH steers", "CI is reserved").without("top-s3cret")
	send(staging, "name", "staging", "variables", "A=1", "secret", "OTHER", "value", "x-s3cret")
	send(staging, "name", "staging", "variables", "A=1", "drop", "ADMIN_PASSWORD")
	if values, err := h.db.Values(ctx, h.p.ID, "staging"); err != nil || len(values) != 2 || values["OTHER"] != "x-s3cret" {
		t.Errorf("%v, %v", values, err)
	}
	send(staging + "/default")
	if values, err := h.db.Values(ctx, h.p.ID, ""); err != nil || values["A"] != "1" {
		t.Errorf("the default is %v, %v", values, err)
	}
	send(staging+"/remove").ok(http.StatusConflict, "default environment")
	send("/environments/" + h.p.ID + "/remove")
	log := b.get(at+"/audit").ok(http.StatusOK, "looked at the API key", "rotated the API key", "set a secret", "staging: ADMIN_PASSWORD", "removed a secret", "changed settings")
	for _, secret := range []string{"hunter22", "s3cret", "tok-1", fresh, h.key} {
		if strings.Contains(log.text, secret) {
			t.Errorf("the audit log holds %q", secret)
		}
	}
}

// TestMembers invites, changes roles and removes, up to the last administrator.
func TestMembers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	root := h.person("root@example.com", true, "")
	b := h.as("root@example.com")
	const at = "/projects/web-shop/members"
	made := func(a *answer) string {
		t.Helper()
		link := words(all(a.ok(http.StatusOK, "shown this once").doc, "pre")[0])
		return strings.TrimPrefix(link, h.url)
	}
	link := made(b.send(at, at+"/invitations", url.Values{"role": {"member"}, "email": {"bob@example.com"}}))
	bob := h.browser()
	bob.get(link).ok(http.StatusOK, "Join Web <Shop>", "as member")
	if a := bob.post(link, url.Values{"name": {"Bob"}, "email": {"eve@example.com"}, "password": {password}}); a.code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.code, a.text)
	}
	who, _, err := h.db.PersonByEmail(context.Background(), "bob@example.com") // not eve
	if err != nil {
		t.Fatal(err)
	}
	h.browser().get(link).ok(http.StatusNotFound)
	b.send(at, at+"/"+who.ID+"/role", url.Values{"role": {"administrator"}})
	bob.get("/projects/web-shop/settings").ok(http.StatusOK)
	// Somebody who is signed in accepts as who they are; another's invitation is refused.
	link = made(b.send(at, at+"/invitations", url.Values{"role": {"viewer"}, "email": {"carl@example.com"}}))
	bob.send(link, link, url.Values{}).ok(http.StatusForbidden, "for carl@example.com")
	b.send(at, at+"/"+who.ID+"/remove", url.Values{})
	bob.get("/projects/web-shop/settings").ok(http.StatusNotFound)
	bob.get("/").ok(http.StatusOK, "in no project yet")
	// The last administrator of the installation stays.
	b.send("/administration", "/administration/people/"+root.ID+"/remove", url.Values{}).ok(http.StatusConflict, "last administrator")
	b.send("/administration", "/administration/people/"+root.ID+"/role", url.Values{"administrator": {"no"}}).ok(http.StatusConflict, "last administrator")
	b.send("/administration", "/administration/people/"+who.ID+"/remove", url.Values{})
	if a := bob.get("/profile"); a.code != http.StatusSeeOther {
		t.Errorf("who was removed is still there: %d", a.code)
	}
}

// TestProfile changes a password, which ends the other sessions.
func TestProfile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("ada@example.com", false, "")
	one, two, three := h.as("ada@example.com"), h.as("ada@example.com"), h.as("ada@example.com")
	one.send("/profile", "/profile/password", url.Values{"old": {"wrong"}, "password": {"another long one"}}).ok(http.StatusBadRequest, "current password is not right")
	one.send("/profile", "/profile/name", url.Values{"name": {"Ada <b>"}})
	one.get("/profile").ok(http.StatusOK, "this one")
	ss, err := h.db.Sessions(context.Background(), mustPerson(h, "ada@example.com").ID, h.now())
	if err != nil || len(ss) != 4 { // and the one of the link
		t.Fatalf("%d sessions, %v", len(ss), err)
	}
	one.send("/profile", "/profile/password", url.Values{"old": {password}, "password": {"another long one"}})
	for _, b := range []*browser{two, three} {
		if a := b.get("/profile"); a.code != http.StatusSeeOther {
			t.Errorf("another session lives: %d", a.code)
		}
	}
	one.get("/profile").ok(http.StatusOK, "this one")
	if a := h.browser().post("/sign-in", url.Values{"email": {"ada@example.com"}, "password": {password}}); a.code != http.StatusUnauthorized {
		t.Errorf("the old password works: %d", a.code)
	}
}

func mustPerson(h *house, email string) account.Person {
	h.t.Helper()
	p, _, err := h.db.PersonByEmail(context.Background(), email)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}
