package web_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/heal"
)

// film is a trace in which a page is seen before a click fails.
func film(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"screencast/a.jpeg": body, "0-trace.trace": `{"type":"screencast-frame","pageId":"p","file":"screencast/a.jpeg","width":800,"height":400,"timestamp":1}
{"type":"before","callId":"c","startTime":2,"pageId":"p","class":"Frame","method":"click","params":{"selector":"#gone"}}
{"type":"after","callId":"c","endTime":5,"error":{"message":"Timeout"}}
{"type":"before","callId":"d","startTime":6,"pageId":"p","class":"Frame","method":"click","params":{"selector":"#there"}}
{"type":"input","callId":"d","box":{"x":100,"y":50,"width":40,"height":20}}
{"type":"after","callId":"d","endTime":7}
`, "0-trace.stacks": `{"files":["/r/tests/area00.spec.ts"],"stacks":[["d",[[0,6,9,""]]]]}`} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPictureOfAFinding shows the page at the step that failed, as an image and nothing else.
func TestPictureOfAFinding(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	pictured := func(a *answer) (src string) {
		for _, i := range all(a.doc, "img") {
			src = attr(i, "src")
		}
		return src
	}
	x, trial := s.healed(red)
	at := shop + "/sessions/" + x.ID
	if src := pictured(s.get(at)); src != "" {
		t.Errorf("there is a picture of nothing: %s", src)
	}
	shot := s.attach(trial, 7, "failed.png", "image/png", "pixels")
	if src := pictured(s.get(at)); src != shop+"/runs/"+trial.ID+"/tests/"+testID(7)+"/artifacts/"+shot {
		t.Errorf("the screenshot is %q", src)
	}
	s.now = s.now.Add(time.Second)
	s.attach(trial, 7, "trace.zip", "application/zip", film(t, "\xff\xd8\xff\xe0 pixels"))
	src := pictured(s.get(at))
	a := s.get(src)
	if src != at+"/pictures/0" || a.code != http.StatusOK || a.text != "\xff\xd8\xff\xe0 pixels" || a.header.Get("Content-Type") != "image/jpeg" || !strings.Contains(a.header.Get("Content-Security-Policy"), "sandbox") || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: %d %v %q", src, a.code, a.header, a.text)
	}
	// With the repair the element that was taken is in a frame.
	var page bytes.Buffer
	if err := jpeg.Encode(&page, image.NewGray(image.Rect(0, 0, 400, 200)), nil); err != nil {
		t.Fatal(err)
	}
	proved := s.trial(x.ID, attempt.Trial{Trace: true, Repeat: 3}, results(8)[7:])
	s.attach(proved, 7, "trace.zip", "application/zip", film(t, page.String()))
	err := s.db.UpdateAgentSession(t.Context(), x.ID, func(x *agent.Session) ([]agent.Event, error) {
		seen, err := heal.Look(x.State)
		seen.Trials["prove-0"] = proved.ID
		x.State = s.found(seen)
		return nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	a = s.get(pictured(s.get(at)))
	img, err := jpeg.Decode(strings.NewReader(a.text))
	if err != nil || img.Bounds() != image.Rect(0, 0, 400, 200) {
		t.Fatalf("%d %v, %v", a.code, a.header, err)
	}
	bright := func(x, y int) bool { r, _, _, _ := img.At(x, y).RGBA(); return r > 0x8000 }
	// The box is 100, 50, 40 × 20 of a window that is twice as large.
	if bright(60, 30) || bright(10, 10) || !bright(44, 30) || !bright(60, 19) {
		t.Error("the frame is not around the element")
	}
	y, trial := s.healed(red)
	s.attach(trial, 7, "trace.zip", "application/zip", film(t, "<script>alert(1)</script>"))
	s.get(shop + "/sessions/" + y.ID + "/pictures/0").ok(http.StatusNotFound)
}

// TestSessionEvents tell of a change, and of the end.
func TestSessionEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	x := s.session(red, func(x *agent.Session) { x.Status = agent.Running; x.StartedAt = &x.CreatedAt })
	page := s.get(shop + "/sessions/" + x.ID)
	srv := httptest.NewServer(s.handler)
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+attr(all(page.doc, "body")[0], "data-events"), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	// What happens between the page and the stream is told.
	s.noted(x.ID, agent.Event{Kind: agent.Said, Text: "one"})
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
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
	await("event: changed")
	s.noted(x.ID, agent.Event{Kind: agent.Said, Text: "two"})
	s.hub.Publish(agent.Topic(x.ID))
	await("event: changed")
	err = s.db.UpdateAgentSession(ctx, x.ID, func(x *agent.Session) ([]agent.Event, error) {
		x.Status, x.FinishedAt = agent.Completed, &s.now
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.hub.Publish(agent.Topic(x.ID))
	await("event: over")
}

// TestFigures sums sessions up by week, and says what was rejected.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	outcome := func(v agent.Verdict, c heal.Class) []agent.Outcome {
		return []agent.Outcome{{TestID: testID(1), Title: "x", Outcome: v, Class: string(c)}}
	}
	for i, verdict := range []agent.Verdict{agent.Healed, agent.Healed, agent.ApplicationBug, agent.Flaky} {
		s.session(red, func(x *agent.Session) {
			began := s.now.AddDate(0, 0, -7*i)
			ended := began.Add(time.Duration(i+1) * time.Minute)
			x.Status, x.CreatedAt, x.StartedAt, x.FinishedAt, x.Outcomes = agent.Completed, began, &began, &ended, outcome(verdict, heal.Drift)
			if i == 1 {
				x.Pull = &agent.PullRequest{Key: "k", State: "closed", Number: 3}
				x.Decision = &agent.Decision{Word: heal.Rejected}
			}
		})
	}
	a := s.get(shop+"/healing").ok(http.StatusOK, "Of 4 failing tests 2 were healed (50 %)", "2 min 30 s", "2 of 4", "1 0 merged")
	var rows [][]string
	for _, tr := range all(all(a.doc, "table")[0], "tr")[1:] {
		var cells []string
		for _, td := range all(tr, "td") {
			cells = append(cells, words(td))
		}
		rows = append(rows, cells)
	}
	if len(rows) != 12 || len(rows[0]) != 13 {
		t.Fatalf("%d weeks: %v", len(rows), rows)
	}
	for i, want := range []string{"2026-03-02 1 1 0 0 0 0 0 0 0 0 0 60.0 s", "2026-02-23 1 1 0 0 0 0 1 0 1 1 0 2 min 0 s", "2026-02-16 1 0 1 0 0 0 0 0 0 0 0 3 min 0 s", "2026-02-09 1 0 0 1 0 0 0 0 0 0 0 4 min 0 s", "2026-02-02 0 0 0 0 0 0 0 0 0 0 0 –"} {
		if got := strings.Join(rows[i], " "); got != want {
			t.Errorf("week %d: %q, not %q", i, got, want)
		}
	}
	bars := 0
	for n := range a.doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "rect" && under(n, "figure") {
			bars++
		}
	}
	if bars != 4 {
		t.Errorf("%d bars", bars)
	}
}

// TestManySessions are shown by pages.
func TestManySessions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	red, _ := s.story()
	for i := range 45 {
		s.session(red, func(x *agent.Session) { x.Title = fmt.Sprintf("session %02d.", i) })
	}
	first := s.get(shop+"/sessions").ok(http.StatusOK, "session 44.", "session 05.", "Next page").without("session 04.")
	next := ""
	for _, l := range all(first.doc, "a") {
		if attr(l, "rel") == "next" {
			next = attr(l, "href")
		}
	}
	s.get(shop+"/sessions"+next).ok(http.StatusOK, "session 04.", "session 00.", "First page").without("session 05.", "Next page")
}
