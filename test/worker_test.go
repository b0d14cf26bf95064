package test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// puppet is a worker that a test plays by hand, with the token that the service gave to
// a process which does nothing.
type puppet struct {
	s     *harness.System
	run   string
	token string
}

// newPuppet starts a service whose workers are puppets.
func newPuppet(t *testing.T) (*harness.System, string) {
	t.Helper()
	dir := t.TempDir()
	script := "read token; echo \"$token\" > \"$0.part\"; mv \"$0.part\" \"$0/$$\"; exec sleep 600"
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) {
		c.MaxAttempts, c.Program = 50, []string{"/bin/sh", "-c", script, dir}
	}})
	return s, dir
}

func play(t *testing.T, s *harness.System, dir string, body any) *puppet {
	t.Helper()
	path := "/public-api/v2/execution/grep"
	if body == nil {
		body = map[string]any{"grep": "."}
	}
	p := &puppet{s: s, run: s.Begin(t, path, body)}
	deadline := time.Now().Add(20 * time.Second)
	for p.token == "" {
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err == nil && os.Remove(f) == nil {
				p.token = strings.TrimSpace(string(text))
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no worker was started")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return p
}

// say sends a message and fails the test unless the answer has this status.
func (p *puppet) say(t *testing.T, path string, body any, want int) (answer string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, p.s.URL+attempt.Prefix+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Fatalf("%s: %d, want %d: %s", path, resp.StatusCode, want, out)
	}
	return string(out)
}

func listed(names ...string) (ts []attempt.Test) {
	for i, n := range names {
		ts = append(ts, attempt.Test{PlaywrightID: n, Title: n, TitlePath: []string{n}, File: "a.spec.ts", Line: i + 1, BodyHash: n})
	}
	return ts
}

// plan brings the run to where its tests begin.
func (p *puppet) plan(t *testing.T, names ...string) {
	t.Helper()
	p.say(t, attempt.Claim, struct{}{}, 200)
	var sel attempt.Selection
	if err := json.Unmarshal([]byte(p.say(t, attempt.Plan, attempt.Listing{Commit: "c", Branch: "main", Tests: listed(names...)}, 200)), &sel); err != nil {
		t.Fatal(err)
	}
	var c attempt.Chosen
	for _, l := range listed(names...) {
		c.Tests = append(c.Tests, attempt.ChosenTest{Test: l, TestID: sel.IDs[l.PlaywrightID]})
	}
	p.say(t, attempt.Selected, c, 200)
}

func ended(id, status string) attempt.Event {
	return attempt.Event{End: &attempt.TestEnd{ID: id, Status: status, ExpectedStatus: "passed", StartedAt: time.Now(), DurationMs: 5}}
}

// TestWhatWorkersSay holds the verdict to what a worker reports: it passes only when
// every planned test was reported, and all that was sent arrived.
func TestWhatWorkersSay(t *testing.T) {
	t.Parallel()
	s, dir := newPuppet(t)
	ok := func(batches int64) attempt.Outcome {
		return attempt.Outcome{Complete: true, Status: "passed", Batches: batches}
	}
	for _, c := range []struct {
		name        string
		events      []attempt.Event
		outcome     attempt.Outcome
		phase, code string
	}{
		{"all is well", []attempt.Event{ended("a", "passed"), ended("b", "passed")}, ok(1), "passed", ""},
		{"one was never reported", []attempt.Event{ended("a", "passed")}, ok(1), "failed", ""},
		{"one only began", []attempt.Event{ended("a", "passed"), {Begin: &attempt.TestBegin{ID: "b"}}}, ok(1), "failed", ""},
		{"a batch was lost", []attempt.Event{ended("a", "passed"), ended("b", "passed")}, ok(2), "process-error", "incomplete"},
		{"not complete", []attempt.Event{ended("a", "passed"), ended("b", "passed")}, attempt.Outcome{Status: "passed", Batches: 1}, "process-error", "incomplete"},
		{"complete with an error", []attempt.Event{ended("a", "passed"), ended("b", "passed")},
			attempt.Outcome{Complete: true, Status: "passed", Batches: 1, Error: &attempt.Error{Code: "odd", Message: "odd"}}, "process-error", "odd"},
		{"Playwright says failed", []attempt.Event{ended("a", "passed"), ended("b", "passed")}, attempt.Outcome{Complete: true, Status: "failed", Batches: 1}, "failed", "runner-failed"},
		{"Playwright says nothing", []attempt.Event{ended("a", "passed"), ended("b", "passed")}, attempt.Outcome{Complete: true, Batches: 1}, "failed", ""},
		{"a test that was not planned", []attempt.Event{ended("a", "passed"), ended("b", "passed"), ended("c", "passed")}, ok(1), "failed", "not-planned"},
		{"an error outside tests", []attempt.Event{ended("a", "passed"), ended("b", "passed"), {Error: &attempt.Error{Message: "boom"}}}, ok(1), "failed", "load-error"},
		{"a retry is promised and never comes", []attempt.Event{ended("a", "passed"),
			{End: &attempt.TestEnd{ID: "b", Status: "failed", ExpectedStatus: "passed", WillRetry: true}}}, ok(1), "failed", ""},
		{"a status that there is not", []attempt.Event{ended("a", "passed"), ended("b", "PASSED")}, ok(1), "failed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, s, dir, nil)
			p.plan(t, "a", "b")
			p.say(t, attempt.Events, attempt.Batch{Seq: 1, Events: c.events}, 200)
			p.say(t, attempt.Events, attempt.Batch{Seq: 1, Events: []attempt.Event{ended("a", "failed")}}, 200) // came before: taken once
			p.say(t, attempt.Events, attempt.Batch{Seq: 3, Events: []attempt.Event{ended("a", "failed")}}, 409) // leaves a gap
			p.say(t, attempt.Finish, c.outcome, 200)
			p.say(t, attempt.Finish, c.outcome, 410)
			p.say(t, attempt.Events, attempt.Batch{Seq: 2, Events: []attempt.Event{ended("b", "passed")}}, 410)
			st := s.Wait(t, p.run)
			harness.Ledger(t, st)
			if st["phase"] != c.phase || (st["verdict"] == "pass") != (c.phase == "passed") || c.code != "" && harness.ErrorCode(st) != c.code {
				t.Errorf("status: %v", st)
			}
		})
	}
	t.Run("done before anything was planned", func(t *testing.T) {
		p := play(t, s, dir, nil)
		p.say(t, attempt.Claim, struct{}{}, 200)
		p.say(t, attempt.Finish, ok(0), 200)
		wantError(t, s.Wait(t, p.run), "incomplete", "")
	})
	t.Run("planned nothing", func(t *testing.T) {
		p := play(t, s, dir, nil)
		p.plan(t)
		p.say(t, attempt.Finish, ok(0), 200)
		if st := s.Wait(t, p.run); st["phase"] != "failed" || harness.ErrorCode(st) != "no-tests-selected" {
			t.Errorf("status: %v", st)
		}
	})
	t.Run("events before the plan", func(t *testing.T) {
		p := play(t, s, dir, nil)
		p.say(t, attempt.Claim, struct{}{}, 200)
		p.say(t, attempt.Events, attempt.Batch{Seq: 1, Events: []attempt.Event{ended("a", "passed")}}, 200)
		p.say(t, attempt.Finish, ok(1), 200)
		wantError(t, s.Wait(t, p.run), "incomplete", "")
	})
	t.Run("comes back after it was given up", func(t *testing.T) {
		p := play(t, s, dir, nil)
		p.plan(t, "a", "b")
		p.say(t, attempt.Events, attempt.Batch{Seq: 1, Events: []attempt.Event{ended("a", "passed")}}, 200)
		for _, pid := range withArgument("sleep\x00600\x00") {
			kill(t, pid, s.Data)
		}
		st := s.Wait(t, p.run)
		wantError(t, st, "worker-lost", "without reporting")
		if st["passed"] != 1.0 || st["failed"] != 1.0 {
			t.Errorf("status: %v", st)
		}
		p.say(t, attempt.Heartbeat, attempt.Beat{}, 410)
		p.say(t, attempt.Claim, struct{}{}, 410)
		p.say(t, attempt.Events, attempt.Batch{Seq: 2, Events: []attempt.Event{ended("b", "passed")}}, 410)
		p.say(t, attempt.Finish, ok(2), 410)
		if again := s.Status(t, p.run, "0s"); again["verdict"] != "fail" || again["passed"] != 1.0 {
			t.Errorf("the run changed after its end: %v", again)
		}
	})
	t.Run("a token that is none", func(t *testing.T) {
		for _, token := range []string{"", "x", s.Key} {
			(&puppet{s: s, token: token}).say(t, attempt.Claim, struct{}{}, 401)
		}
	})
	t.Run("messages that cannot be read", func(t *testing.T) {
		p := play(t, s, dir, nil)
		p.say(t, attempt.Claim, "text", 400)
		p.say(t, attempt.Events, map[string]any{"seq": "one"}, 400)
		p.say(t, attempt.Claim, struct{}{}, 200)
	})
}

// kill ends a process whose working directory is a service's own.
func kill(t *testing.T, pid, data string) {
	t.Helper()
	if dir, err := os.Readlink("/proc/" + pid + "/cwd"); err != nil || !strings.HasPrefix(dir, data) {
		return
	}
	n, err := os.FindProcess(atoi(t, pid))
	if err == nil {
		err = n.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
