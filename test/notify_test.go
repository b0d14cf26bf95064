package test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"tas-service/internal/notify/notifytest"
	"tas-service/test/harness"
)

var (
	csrfField  = regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	signingKey = regexp.MustCompile(`id="signing-key"><code>(whsec_[^<]+)<`)
)

// signedIn answers a browser in which the first administrator of a service has signed in, and what
// reads its answers.
func signedIn(t *testing.T, p *harness.Process) (browser *http.Client, read func(*http.Response, error) string) {
	t.Helper()
	link := exec.Command(harness.Binary(), "admin", "link")
	link.Env = append(p.Environ(), "TAS_DATA_DIR="+p.Data, "TAS_ADDR="+strings.TrimPrefix(p.URL, "http://"))
	out, err := link.Output()
	if err != nil {
		t.Fatal(err)
	}
	welcome, _, _ := strings.Cut(string(out), "\n")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser = &http.Client{Jar: jar}
	read = func(resp *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text := body(t, resp)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %.2000s", resp.Request.URL, resp.StatusCode, text)
		}
		return text
	}
	read(browser.PostForm(welcome, url.Values{"name": {"Ada"}, "email": {"ada@example.com"}, "password": {"correct horse battery"}}))
	return browser, read
}

// TestWebhook ends a run while the receiver is out of order, and kills the service in
// between: the message arrives once, signed, and the log of deliveries tells how.
func TestWebhook(t *testing.T) {
	t.Parallel()
	p := harness.StartProcess(t, map[string]string{"tests/a.spec.ts": harness.Test("adds"), "tests/b.spec.ts": spec("throw new Error('no <!everyone> \\u001b[31mred');")}, "TAS_WEBHOOKS_PRIVATE=true")
	key := ""
	receiver := notifytest.NewReceiver(t, func(http.Header, []byte) error { return nil })
	receiver.Answer(func(n int) (int, map[string]string, string) {
		if n <= 2 {
			return http.StatusInternalServerError, nil, "out of order"
		}
		return http.StatusOK, nil, "taken"
	})

	// An administrator adds the webhook in the web app.
	browser, read := signedIn(t, p)
	at := p.URL + "/projects/case/settings/notifications"
	page := read(browser.Get(at + "/new"))
	token := csrfField.FindStringSubmatch(page)[1]
	page = read(browser.PostForm(at+"/new", url.Values{"csrf": {token}, "name": {"ops"}, "kind": {"webhook"}, "url": {receiver.URL + "/hook-s3cret"}, "event": {"run.finished"}, "failures": {"yes"}}))
	m := signingKey.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no key is shown: %.3000s", page)
	}
	key = html.UnescapeString(m[1])
	receiver.Check(notifytest.Signed(key))

	arrived := func() notifytest.Got {
		t.Helper()
		select {
		case g := <-receiver.Arrived:
			if g.Wrong != nil {
				t.Fatalf("%v: %s", g.Wrong, g.Body)
			}
			return g
		case <-time.After(3 * time.Minute):
			t.Fatal("no message arrived")
		}
		return notifytest.Got{}
	}
	id := p.Begin(t, "/public-api/v1/execution/suite", nil)
	first := arrived()
	p.Stop(syscall.SIGKILL)
	p.Launch(t)
	second, third := arrived(), arrived()
	if first.Status != http.StatusInternalServerError || second.Status != http.StatusInternalServerError || third.Status != http.StatusOK || first.ID != third.ID || second.ID != third.ID || third.ID == "" {
		t.Errorf("%d %d %d, %q %q %q", first.Status, second.Status, third.Status, first.ID, second.ID, third.ID)
	}
	var got struct {
		Type string
		Data struct {
			Run struct {
				ID, Verdict, URL string
				Failures         []struct{ Title, Error, Bug string }
			}
		}
	}
	if err := json.Unmarshal(third.Body, &got); err != nil || got.Type != "run.finished" || got.Data.Run.ID != id || got.Data.Run.Verdict != "fail" || len(got.Data.Run.Failures) != 1 ||
		got.Data.Run.Failures[0].Error != "Error: no <!everyone> red" || got.Data.Run.Failures[0].Bug == "" || !strings.HasPrefix(got.Data.Run.URL, p.URL) {
		t.Errorf("%s, %v", third.Body, err)
	}

	// The log of deliveries has it as done, with the answer and without the address.
	activity := p.URL + "/projects/case/activity"
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		page = read(browser.Get(activity + "?kind=message"))
		if strings.Contains(page, "200 taken") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the delivery is not done: %.3000s", page)
		}
	}
	if strings.Contains(page, "hook-s3cret") || strings.Count(page, "<tr><td>") != 1 {
		t.Errorf("%.3000s", page)
	}
	select {
	case g := <-receiver.Arrived:
		t.Errorf("another message: %s", g.Body)
	default:
	}
}
