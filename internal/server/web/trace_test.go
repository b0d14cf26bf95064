package web_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"tas-service/internal/account"
	"tas-service/internal/run"
)

// TestConsoleAndNetwork shows what a real trace says, and says so where one cannot be read.
func TestConsoleAndNetwork(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	recorded, err := os.ReadFile("../../report/testdata/traces/playwright-1.65.zip")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("a.trace")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(`{"type":"console","messageType":"error","text":"<img src=x onerror=alert(1)> \u001b[31mred\u001b[0m \u202etxt","location":{"url":"javascript:alert(1)","lineNumber":3,"columnNumber":1}}`)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole, hostile, broken := s.attach(red, 0, "trace", "application/zip", string(recorded)), s.attach(red, 7, "trace", "application/zip", b.String()), s.attach(red, 9, "trace", "application/zip", "no zip")
	shot := s.attach(red, 0, "failed.png", "image/png", "pixels")

	at := func(n int, id string) string {
		return shop + "/runs/" + red.ID + "/tests/" + testID(n) + "/artifacts/" + id + "/errors"
	}
	page := s.get(shop+"/runs/"+red.ID+"/tests/"+testID(0)).ok(http.StatusOK, "Errors on the console and the network")
	if page.count("div", "data-load", at(0, whole)) != 1 || page.count("a", "href", at(0, whole)) != 1 {
		t.Error("the page of the test does not lead to what its trace says")
	}
	for range 2 { // read, and remembered
		a := s.get(at(0, whole)).ok(http.StatusOK, "ReferenceError: cart is not defined", "uncaught error", "the price is old {tea: 4.5}", "no stock of tea", "/api/cart", "503", "Service Unavailable", "net::ERR_ABORTED", "shop.js:8:20").without("all is well", "\x1b")
		if a.count("div", "id", "said-there") != 1 {
			t.Error("there is nothing that the page of the test could load")
		}
	}
	a := s.get(at(7, hostile)).ok(http.StatusOK, "<img src=x onerror=alert(1)> red txt", "no request failed")
	if len(all(a.doc, "img")) > 0 || strings.Contains(a.text, "\u202e") || a.count("a", "href", "javascript:alert(1)") > 0 {
		t.Error("what the page logged is a part of ours")
	}
	s.get(at(9, broken)).ok(http.StatusOK, "cannot be read", "show-trace")
	s.get(at(0, shot)).ok(http.StatusNotFound, "no trace")
	s.get(at(0, hostile)).ok(http.StatusNotFound) // another test's
	s.role = "stranger"
	s.get(at(0, whole)).ok(http.StatusNotFound, "not a member")
}

// TestCancelIsTold to whoever watches the run, or the runs of the project, at once.
func TestCancelIsTold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.role = account.RoleMember
	_, live := s.story()
	ofRun, stop := s.hub.Watch(run.Topic(live.ID))
	defer stop()
	ofProject, stop := s.hub.Watch(run.ProjectTopic(s.p.ID))
	defer stop()
	s.post(shop+"/runs/"+live.ID+"/cancel", url.Values{})
	for name, told := range map[string]<-chan struct{}{"run": ofRun, "project": ofProject} {
		select {
		case <-told:
		default:
			t.Errorf("who watches the %s hears nothing of a cancellation", name)
		}
	}
	s.post(shop+"/runs", url.Values{"select": {"suite"}})
	select {
	case <-ofProject:
	default:
		t.Error("nobody hears of a new run")
	}
}
