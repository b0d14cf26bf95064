package web_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"tas-service/internal/run"
)

// TestSignedLinks show a run to whoever has one, and change nothing.
func TestSignedLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, live := s.story()
	shot := s.attach(red, 0, "failed.png", "image/png", "pixels")
	page := s.get(shop + "/runs/" + red.ID).ok(http.StatusOK)
	link := ""
	for _, b := range all(page.doc, "button") {
		if c := attr(b, "data-copy"); c != "" {
			link = strings.TrimPrefix(c, s.app.AppURL)
		}
	}
	if !strings.HasPrefix(link, "/runs/"+red.ID+"/") {
		t.Fatalf("the link is %q", link)
	}
	s.role = ""
	a := s.get(link).ok(http.StatusOK, "2 tests of 40 failed", "BUG-1").without("Run again", "Copy link", "Collections", "Quarantine")
	for _, l := range all(a.doc, "a") {
		if strings.HasPrefix(attr(l, "href"), shop) && under(l, "main") {
			t.Errorf("it links behind the sign-in: %s", attr(l, "href"))
		}
	}
	s.get(link+"/tests/"+testID(0)).ok(http.StatusOK, "Why it failed", "The step that failed", "add to the cart").without("Run this test", "Verdict")
	if a := s.get(link + "/tests/" + testID(0) + "/artifacts/" + shot); a.code != http.StatusOK || a.text != "pixels" || !strings.Contains(a.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("the screenshot: %d %v", a.code, a.header)
	}
	if a := s.post(link, nil); a.code < 400 {
		t.Errorf("a form is taken: %d", a.code)
	}
	for name, bad := range map[string]string{"changed": link[:len(link)-3] + "AAA", "another run": strings.Replace(link, red.ID, live.ID, 1)} {
		s.get(bad).ok(http.StatusNotFound, "not valid")
		s.get(bad + "/tests/" + testID(0)).ok(http.StatusNotFound)
		if name == "changed" {
			s.get(bad + "/events").ok(http.StatusNotFound)
		}
	}
	s.now = s.now.Add(32 * 24 * time.Hour)
	s.get(link).ok(http.StatusNotFound, "expired")
}

// TestPlainAddresses of the API's answers lead to the pages behind the sign-in.
func TestPlainAddresses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	for at, to := range map[string]string{"/runs/" + red.ID: shop + "/runs/" + red.ID, "/bugs/" + s.p.ID + "/BUG-1": shop + "/bugs/BUG-1", shop: shop + "/runs"} {
		if a := s.get(at); a.code != http.StatusSeeOther || a.header.Get("Location") != to {
			t.Errorf("%s: %d %s", at, a.code, a.header.Get("Location"))
		}
	}
	s.role = ""
	if a := s.get("/runs/" + red.ID); a.code != http.StatusSeeOther || a.header.Get("Location") != "/sign-in?to="+url.QueryEscape("/runs/"+red.ID) {
		t.Errorf("a stranger: %d %s", a.code, a.header.Get("Location"))
	}
	s.role = "stranger"
	s.get("/runs/"+red.ID).ok(http.StatusNotFound, "member")
	s.get("/bugs/"+s.p.ID+"/BUG-1").ok(http.StatusNotFound, "member")
}

// TestEvents tell of a change, and of the end.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, live := s.story()
	srv := httptest.NewServer(s.handler)
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+shop+"/runs/"+live.ID+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	await := func(want string) {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == want {
				return
			}
		}
		t.Fatalf("%q never came: %v", want, lines.Err())
	}
	await("retry: 2000")
	change := func(fn func(*run.Run) error) {
		t.Helper()
		if err := s.db.UpdateRun(ctx, live.ID, fn); err != nil {
			t.Fatal(err)
		}
		s.hub.Publish(run.Topic(live.ID))
	}
	change(func(r *run.Run) error { r.Executed++; return nil })
	await("event: changed")
	change(func(r *run.Run) error {
		at := s.now
		r.Verdict, r.FinishedAt = run.Fail, &at
		return r.MoveTo(run.Cancelled)
	})
	await("event: over")
	left := 0
	for lines.Scan() {
		left++
	}
	if left > 3 { // the rest of the last event
		t.Errorf("%d lines come after the end", left)
	}
}
