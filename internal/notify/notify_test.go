package notify_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/notify"
	"tas-service/internal/notify/notifytest"
	"tas-service/internal/run"
)

// hostile is an event in which everything that test code chooses tries something.
func hostile(text string) notify.Event {
	r := &notify.Run{ID: "1", Name: text, Branch: text, Commit: text, Phase: run.Failed, Verdict: run.Fail, Total: 30, Counts: run.Counts{Failed: 25, Passed: 5}, Error: text, URL: "https://tas.example/runs/1"}
	for range 20 {
		r.Failures = append(r.Failures, notify.Failure{Title: text, File: text, Error: text, Bug: "BUG-1"})
	}
	return notify.Event{ID: "evt_1", Type: notify.RunFinished, Data: notify.Data{Project: notify.Project{ID: "p", Name: text}, Run: r}}
}

var checks = map[notify.Kind]func(http.Header, []byte) error{notify.Slack: notifytest.Slack, notify.Teams: notifytest.Teams, notify.Discord: notifytest.Discord}

// TestChats holds what is posted to what the chats take, whatever test code says.
func TestChats(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "plain", "@everyone @here <!channel> <@U123> <https://evil.example|your bank>", "[your bank](https://evil.example) **x** `y` <at>Ada</at>",
		strings.Repeat("long ", 10_000), strings.Repeat("ж*", 20_000), strings.Repeat("😀", 5000), "\x1b[31mred\x1b[0m\u202e\u200b", strings.Repeat("@", 3000), `\[x\](https://evil.example)`, "\xff\xfe",
	} {
		for kind, check := range checks {
			for _, e := range []notify.Event{hostile(text), {Type: notify.Test, Data: notify.Data{Message: text}},
				{Type: notify.BugReopened, Data: notify.Data{Run: hostile(text).Data.Run, Bug: &notify.Bug{Key: "BUG-1", Title: text, Severity: text, URL: "https://tas.example/bugs/p/BUG-1"}}},
				{Type: notify.SessionFinished, Data: notify.Data{Session: &notify.Session{Kind: "healing", Outcome: text, URL: "https://tas.example"}}}} {
				body, err := notify.Body(kind, e)
				if err == nil {
					err = check(nil, body)
				}
				if err != nil {
					t.Errorf("%s of %s with %.60q: %v", kind, e.Type, text, err)
				}
			}
		}
	}
	body, err := notify.Body(notify.Slack, hostile("a <b>"))
	if err != nil || !strings.Contains(string(body), "25 of 30 tests failed") || !strings.Contains(string(body), "and 17 more") {
		t.Errorf("%s, %v", body, err)
	}
}

// FuzzChats posts whatever a test may be called.
func FuzzChats(f *testing.F) {
	f.Add("@everyone [a](https://b)")
	f.Add("\\[x\\](y) <@1> \x1b[1m")
	f.Fuzz(func(t *testing.T, text string) {
		for kind, check := range checks {
			body, err := notify.Body(kind, hostile(text))
			if err == nil {
				err = check(nil, body)
			}
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
	})
}

// TestPayload is what webhooks are promised in docs/notifications.md.
func TestPayload(t *testing.T) {
	t.Parallel()
	e := hostile("x")
	e.Timestamp = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	body, err := notify.Body(notify.Webhook, e)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(body, &got); err != nil || got["type"] != "run.finished" || got["timestamp"] != "2026-03-04T12:00:00Z" || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	data := got["data"].(map[string]any)["run"].(map[string]any)
	for _, key := range []string{"id", "name", "branch", "commit", "trigger", "phase", "verdict", "total", "counts", "failures", "url"} {
		if _, ok := data[key]; !ok {
			t.Errorf("the run has no %s", key)
		}
	}
}

// TestCheck names what is wrong with a destination, and never its address.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := func() notify.Destination {
		return notify.Destination{Name: "ops", Kind: notify.Slack, Secrets: notify.Secrets{URL: "https://hooks.example/s3cret"}, Filter: notify.Filter{Events: notify.Types(), Branches: []string{"main", "release/**"}}}
	}
	for name, c := range map[string]struct {
		change func(*notify.Destination)
		says   string
	}{
		"good":     {func(*notify.Destination) {}, ""},
		"http":     {func(d *notify.Destination) { d.Secrets.URL = "http://hooks.example/s3cret" }, "https"},
		"no host":  {func(d *notify.Destination) { d.Secrets.URL = "https:///s3cret" }, "address such as"},
		"file":     {func(d *notify.Destination) { d.Secrets.URL = "file:///s3cret" }, "address such as"},
		"password": {func(d *notify.Destination) { d.Secrets.URL = "https://a:s3cret@x.example/" }, "user and password"},
		"long":     {func(d *notify.Destination) { d.Secrets.URL += strings.Repeat("x", 3000) }, "at most 2000"},
		"name":     {func(d *notify.Destination) { d.Name = " " }, "characters"},
		"kind":     {func(d *notify.Destination) { d.Kind = "pigeon" }, "offered"},
		"events":   {func(d *notify.Destination) { d.Filter.Events = nil }, "at least one"},
		"test":     {func(d *notify.Destination) { d.Filter.Events = []notify.Type{notify.Test} }, "offered"},
		"glob":     {func(d *notify.Destination) { d.Filter.Branches = []string{"a["} }, "no pattern"},
		"nobody":   {func(d *notify.Destination) { d.Kind = notify.Email }, "1 to 20"},
		"mail":     {func(d *notify.Destination) { d.Kind, d.To = notify.Email, []string{"a@b.example\r\nBcc: c@d.example"} }, "no e-mail address"},
	} {
		d := good()
		c.change(&d)
		err := d.Check(false)
		if (err == nil) != (c.says == "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err == nil {
			continue
		}
		text := err.Error()
		for _, x := range fault.As(err).Details {
			text += " " + x.Message
		}
		if !strings.Contains(text, c.says) || strings.Contains(text, "s3cret") {
			t.Errorf("%s: %s", name, text)
		}
	}
	d := good()
	d.Secrets.URL = "http://inside/s3cret"
	if err := d.Check(true); err != nil {
		t.Errorf("an installation that allows it: %v", err)
	}
}
