package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/notify"
	"tas-service/internal/notify/notifytest"
)

// TestActivity decides about what waits, and shows what came of it.
func TestActivity(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("ada@example.com", false, account.RoleAdministrator)
	h.person("bob@example.com", false, account.RoleViewer)
	b, ctx := h.as("ada@example.com"), context.Background()
	const at = "/projects/web-shop/activity"
	b.get(at).ok(http.StatusOK, "Nothing was done to the outside yet", "Choose who hears of runs")
	h.as("bob@example.com").get(at).ok(http.StatusOK, "What waits for a person here: nothing").without("Choose who hears")
	b.send(at, "/projects/web-shop/settings/approval", url.Values{"policy": {"nonsense"}}).ok(http.StatusBadRequest)
	b.send(at, "/projects/web-shop/settings/approval", url.Values{"policy": {"pull-requests"}})
	wish := func(detail string) action.Action {
		a, err := h.app.Actions.Ask(ctx, action.Wish{ProjectID: h.p.ID, Key: "pr", Kind: action.PullRequest, Target: "shop/<tests>", About: "heal <b>bold</b>", Detail: map[string]string{"title": detail}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := wish("one")
	page := b.get(at).ok(http.StatusOK, "heal <b>bold</b>", "shop/<tests>", "waits for approval")
	if !strings.Contains(words(all(page.doc, "header")[0]), "Activity 1 waits for approval") {
		t.Errorf("the navigation says %q", words(all(page.doc, "header")[0]))
	}
	b.get(at+"?state=done").ok(http.StatusOK, "Nothing fits")
	one := at + "/" + a.ID
	if h.as("bob@example.com").get(one).ok(http.StatusOK, `"title": "one"`).count("form", "action", one+"/approve") != 0 {
		t.Error("a viewer may approve")
	}
	wish("two")
	b.send(one, one+"/approve", url.Values{"version": {"1"}}).ok(http.StatusConflict, "version 2 now")
	b.send(one, one+"/reject", url.Values{"version": {"2"}})
	b.get(one).ok(http.StatusOK, "rejected version 2", "Approve").without("Try again")
	b.send(one, one+"/approve", url.Values{"version": {"2"}})
	h.app.Actions.Doers = map[action.Kind]action.Doer{action.PullRequest: done{}}
	if err := h.app.Actions.Step(ctx); err != nil {
		t.Fatal(err)
	}
	h.app.Actions.Wait()
	page = b.get(one).ok(http.StatusOK, "opened #7", "done")
	for _, act := range []string{"approve", "reject", "retry"} {
		if page.count("form", "action", one+"/"+act) != 0 {
			t.Errorf("what is done has a form to %s", act)
		}
	}
	if page.count("a", "href", "https://forge.example/7") != 1 {
		t.Error("the pull request is not linked")
	}
	b.get("/projects/web-shop/settings/audit").ok(http.StatusOK, "approved a pull request", "rejected an action", "waits for approval: pull-requests")
}

type done struct{}

func (done) Do(context.Context, action.Action) (json.RawMessage, string, error) {
	return json.RawMessage(`{"url":"https://forge.example/7"}`), "opened #7", nil
}

// TestNotifications adds a webhook, tests it, rotates its key and removes it; no page tells
// its address or, but for once, its key.
func TestNotifications(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.person("ada@example.com", false, account.RoleAdministrator)
	b := h.as("ada@example.com")
	actions := h.app.Actions
	actions.Doers = map[action.Kind]action.Doer{action.Message: h.app.Notify}
	actions.Wake = func() { go actions.Step(context.Background()) } //nolint:errcheck // the page tells
	t.Cleanup(actions.Wait)
	r := notifytest.NewReceiver(t, func(http.Header, []byte) error { return nil })
	const at = "/projects/web-shop/settings/notifications"
	b.get(at).ok(http.StatusOK, "Nobody is told yet")
	b.get(at+"/new").ok(http.StatusOK, "Standard Webhooks").without("email")
	form := url.Values{"name": {"ops <b>"}, "kind": {"webhook"}, "url": {r.URL + "/hook-s3cret"}, "event": {"run.finished", "bug.opened"}, "changes": {"yes"}, "branches": {"main\nrelease/**\n"}}
	bad := url.Values{"name": {"x"}, "kind": {"email"}, "to": {"nonsense"}}
	b.send(at, at+"/new", bad).ok(http.StatusBadRequest, "sends no e-mail")
	made := b.send(at, at+"/new", form).ok(http.StatusOK, "shown this once")
	key := words(all(made.doc, "pre")[0])
	b.send(at, at+"/new", form).ok(http.StatusConflict, "of this name already").without("s3cret")
	ds, err := h.db.Destinations(context.Background(), h.p.ID)
	if err != nil || len(ds) != 1 || ds[0].Secrets.Key != key || len(ds[0].Filter.Branches) != 2 || !ds[0].Filter.OnlyChanges || ds[0].Filter.OnlyFailures {
		t.Fatalf("%+v, %v", ds, err)
	}
	one := at + "/" + ds[0].ID
	r.Check(notifytest.Signed(key))
	b.send(one, one+"/test", url.Values{})
	b.get(one).ok(http.StatusOK, "200 ok", "a test message")
	r.Answer(func(int) (int, map[string]string, string) { return http.StatusGone, nil, "gone" })
	b.send(one, one+"/test", url.Values{})
	b.get(one).ok(http.StatusOK, "Nothing is sent there", "410 gone")
	b.get(at).ok(http.StatusOK, "off", "ops <b>")
	edit := url.Values{"name": {"ops"}, "event": {"bug.reopened"}}
	b.send(one, one, edit)
	ds, err = h.db.Destinations(context.Background(), h.p.ID)
	if err != nil || ds[0].Disabled != "" || ds[0].Secrets.URL != r.URL+"/hook-s3cret" || ds[0].Secrets.Key != key || ds[0].Filter.Events[0] != notify.BugReopened {
		t.Errorf("%+v, %v", ds, err)
	}
	rotated := b.send(one, one+"/rotate", url.Values{}).ok(http.StatusOK, "The key before signs as well for a day")
	fresh := words(all(rotated.doc, "pre")[0])
	for _, page := range []string{at, one, "/projects/web-shop/activity", "/projects/web-shop/settings/audit"} {
		if a := b.get(page); strings.Contains(a.text, "s3cret") || strings.Contains(a.text, key) || strings.Contains(a.text, fresh) {
			t.Errorf("%s tells a secret", page)
		}
	}
	b.send(one, one+"/remove", url.Values{})
	b.get(at).ok(http.StatusOK, "Nobody is told yet")
}
