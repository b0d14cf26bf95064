package cli_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestHeal starts a healing, follows it, and tells what came of each session.
func TestHeal(t *testing.T) {
	const batch = "01a1ff11-4c75-7dd5-9fd6-5ca7a96721a1"
	session := m{"sessionId": "01a1ff11-4c75-7dd5-9fd6-5ca7a96721a0", "kind": "heal", "status": "verifying", "stage": "prove", "testIds": []string{test2}, "outcome": []m{}, "summary": "", "prUrl": nil, "prState": nil,
		"fileChanges": []m{}, "messages": []m{}, "error": nil, "usage": m{"inputTokens": 0, "outputTokens": 0, "costUsd": 0}, "startedAt": nil, "finishedAt": nil, "url": "https://tas.example.com/sessions/1"}
	done := with(session, m{"status": "completed", "summary": "The test is \x1b[31mhealed.", "prUrl": "https://git.example.com/shop/tests/pull/7", "prState": "open",
		"outcome": []m{{"serviceTestId": test2, "browser": "chromium", "title": "counts the total", "outcome": "healed", "class": "locator-drift", "confidence": 0.99, "evidence": []string{"x"}}}})
	gaveUp := with(session, m{"status": "failed", "summary": "The session took longer than its limit of 1h0m0s.", "error": m{"code": "budget-time", "message": "…"}})
	progress := func(all bool, s m) http.HandlerFunc {
		return answer(200, m{"batchId": batch, "kind": "heal", "allTerminal": all, "counts": m{}, "sessions": []m{s}})
	}
	begun := answer(201, m{"batchId": batch, "sessionIds": []string{"01a1ff11-4c75-7dd5-9fd6-5ca7a96721a0"}, "links": m{"session": "https://tas.example.com/sessions/1", "testRun": "https://tas.example.com/runs/" + runID}})
	for _, c := range []struct {
		name string
		args string
		end  m
		code int
		body string
	}{
		{"healed", "heal " + runID, done, 0, `{"testRunId":"` + runID + `"}`},
		{"gave-up", "heal " + runID + " --no-pull-request --test " + test2 + " --branch main --pr 7 --repo a/b", gaveUp, 1,
			`{"testRunId":"` + runID + `","testIds":["` + test2 + `"],"autoCreatePR":false,"branch":"main","repoName":"a/b","prNumber":7}`},
		{"healed.json", "heal " + runID + " --json", done, 0, `{"testRunId":"` + runID + `"}`},
		{"started", "heal " + runID + " --no-wait", done, 0, `{"testRunId":"` + runID + `"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.on("POST /public-api/v1/auto-heal", begun)
			f.on("GET /public-api/v1/auto-heal/batch/"+batch, progress(false, session), progress(true, c.end))
			got := run(t, environment(f), strings.Fields(c.args)...)
			if calls := f.to("/public-api/v1/auto-heal"); got.code != c.code || calls[0].body != c.body {
				t.Errorf("%d, %s", got.code, calls[0].body)
			}
			golden(t, "heal-"+c.name+".txt", "$ tas "+c.args+"\n"+got.out+"--- standard error\n"+got.err)
		})
	}
	f := newFake(t)
	f.on("POST /public-api/v1/auto-heal", problem(409, "There is nothing to heal in this run: it passed."))
	if got := run(t, environment(f), "heal", runID); got.code == 0 || !strings.Contains(got.err, "nothing to heal") {
		t.Errorf("%d %s", got.code, got.err)
	}
	if got := run(t, environment(f), "heal", runID, "--test", "x"); got.code != 2 || len(f.to("/public-api")) != 1 {
		t.Errorf("%d %s", got.code, got.err)
	}
}
