package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/run"
)

// absurd is what no page of ours puts into an address.
var absurd = []string{"", "0", "-1", "99999999999999999999999", "9223372036854775807", "-9223372036854775808", "NaN", "1e309", "0x10", "\x00", "\xff\xfe", "'; --", "%", "_", `\`, "*",
	"../../etc/passwd", "<script>", "\r\nSet-Cookie: a=b", "\u202e", strings.Repeat("x", 5000), "eyJ", "e30", "bnVsbA", "W10", "eyJmIjoxLCJsIjoieCJ9", "eyJmIjoiYSIsImwiOjk5OTk5OTk5OTk5OTk5OTk5OTk5LCJpIjoiIn0", "all", "true"}

// names are those that some page reads from its address.
var names = []string{"q", "branch", "state", "environment", "trigger", "cursor", "tag", "owner", "collection", "days", "severity", "status", "after", "browser", "viewer", "select", "test", "grep", "env", "shards",
	"workers", "name", "tags", "paths", "title", "description", "before", "next", "error", "code"}

// TestAbsurdAddresses asks for every page with all of it: a page may say what is wrong, or
// take no notice, and never break.
func TestAbsurdAddresses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("root@example.com", true, "")
	h.person("admin@example.com", false, account.RoleAdministrator)
	s := &site{t: t, db: h.db, app: h.app, p: h.p, now: time.Now().Add(-time.Hour)}
	s.catalog(12)
	over := s.finish("main", "a1", results(12, told{n: 1, status: run.StatusFailed, message: "Error: it broke"}))
	id := s.attach(over, 1, "a.png", "image/png", "png")
	const p = "/projects/web-shop"
	inRun := p + "/runs/" + over.ID
	pages := []string{"/", "/sign-in", "/profile", "/new-project", "/administration", "/administration/audit", "/reference", "/problems/not-found", "/welcome/x", "/invitations/x", "/password/x",
		p, p + "/runs", p + "/runs/new", inRun, inRun + "/report", inRun + "/tests/" + testID(1), inRun + "/tests/" + testID(1) + "/artifacts/" + id, p + "/tests", p + "/tests/" + testID(1),
		p + "/collections", p + "/collections/new", p + "/health", p + "/bugs/BUG-1", p + "/members", p + "/settings", p + "/settings/audit", p + "/settings/environments/new", p + "/settings/environments/" + h.p.ID,
		"/runs/" + over.ID, "/runs/" + over.ID + "/x", "/bugs/" + h.p.ID + "/BUG-1", "/bugs/" + h.p.ID + "/BUG-1/x"}
	b := h.as("root@example.com")
	look := func(path string) {
		t.Helper()
		if a := b.get(path); a.code >= http.StatusInternalServerError || a.header.Get("Set-Cookie") != "" && strings.Contains(a.header.Get("Set-Cookie"), "a=b") {
			t.Errorf("%.200s: %d %.300s", path, a.code, a.text)
		}
	}
	for _, page := range pages {
		for _, value := range absurd {
			all := url.Values{}
			for _, name := range names {
				all.Set(name, value)
			}
			look(page + "?" + all.Encode())
		}
	}
	// One by one, where names could hide each other.
	for _, page := range []string{p + "/runs", inRun, p + "/tests", p + "/health", p + "/settings/audit"} {
		for _, name := range []string{"q", "branch", "cursor", "collection", "days", "after", "before"} {
			for _, value := range absurd {
				look(page + "?" + name + "=" + url.QueryEscape(value))
			}
		}
	}
	// In the place of what a path names.
	for _, value := range absurd {
		if value == "" || strings.Contains(value, "..") {
			continue
		}
		x := url.PathEscape(value)
		for _, path := range []string{"/projects/" + x + "/runs", p + "/runs/" + x, p + "/runs/" + x + "/events", p + "/runs/" + x + "/report", inRun + "/tests/" + x, inRun + "/tests/" + testID(1) + "/artifacts/" + x, p + "/tests/" + x, p + "/collections/" + x,
			p + "/bugs/" + x, p + "/bugs/BUG-" + x, p + "/settings/environments/" + x, "/problems/" + x, "/welcome/" + x, "/runs/" + x, "/runs/" + x + "/" + x, "/bugs/" + x + "/" + x, "/assets/" + x} {
			look(path)
		}
	}
}
