package web_test

import (
	"net/http"
	"strings"
	"testing"

	"tas-service/internal/account"
)

func TestShell(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.get("/").ok(http.StatusOK, "Web <Shop>")
	if got := a.title(); got != "Start · TAS" {
		t.Errorf("the title is %q", got)
	}
	for _, e := range append(all(a.doc, "script"), all(a.doc, "link")...) {
		at := attr(e, "src") + attr(e, "href")
		file := s.get(at)
		if file.code != http.StatusOK || !strings.Contains(file.header.Get("Cache-Control"), "immutable") || !strings.HasPrefix(at, "/assets/") {
			t.Errorf("%s: %d %v", at, file.code, file.header)
		}
	}
	scripts := all(a.doc, "script")
	if attr(scripts[0], "type") != "" || strings.Index(a.text, attr(scripts[0], "src")) > strings.Index(a.text, `rel="stylesheet"`) || !strings.Contains(s.get(attr(scripts[0], "src")).text, "localStorage") {
		t.Error("the theme is not there before the first paint")
	}
	script := s.get(attr(scripts[1], "src")).text
	_, rest, _ := strings.Cut(script, "from './")
	name, _, ok := strings.Cut(rest, "'")
	if module := s.get("/assets/" + name); !ok || module.code != http.StatusOK {
		t.Errorf("the script loads %q: %d", name, module.code)
	}
	s.role = ""
	s.get("/").ok(http.StatusOK, "Sign in").without("Web <Shop>")
	s.get("/assets/app.css").ok(http.StatusNotFound, "What to do")
	s.get("/problems/unauthenticated").ok(http.StatusOK, "Not authenticated")
	s.get("/problems/nonsense").ok(http.StatusNotFound)
}

func TestSwitcherShowsOwnProjectsOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.role = account.Role("nonsense")
	s.get("/").ok(http.StatusOK).without("Web <Shop>")
}
