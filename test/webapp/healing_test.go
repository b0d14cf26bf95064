package webapp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/heal"
	"tas-service/test/harness"
)

// shown are sessions that the suite looks at, by what they are.
type shown struct{ approve, proposed, waiting string }

// heals saves sessions that heal a failed run of the branch "broken": how one comes to what it
// says is tried elsewhere, here it is shown and decided.
func heals(t *testing.T, s *harness.System, runID string) shown {
	t.Helper()
	ctx, db := context.Background(), s.Server.Store()
	const was, is = "price = '5.40'", "price = '4.50'"
	lines := strings.Split(strings.Replace(shop, is, was, 1), "\n")
	at := 0
	for i, line := range lines {
		if strings.Contains(line, was) {
			at = i
		}
	}
	patch := fmt.Sprintf("diff --git a/tests/shop.spec.ts b/tests/shop.spec.ts\n--- a/tests/shop.spec.ts\n+++ b/tests/shop.spec.ts\n@@ -%d,3 +%d,3 @@\n %s\n-%s\n+%s\n %s\n",
		at, at, lines[at-1], lines[at], strings.Replace(lines[at], was, is, 1), lines[at+1])
	tea := ""
	for name, r := range s.Results(t, runID) {
		if strings.Contains(name, "price of tea") {
			tea = r["serviceTestId"].(string)
		}
	}
	if tea == "" {
		t.Fatal("nobody looked at the tea")
	}
	const title = "the price of tea"
	stack := []attempt.Location{{File: "tests/shop.spec.ts", Line: 13, Column: 76}}
	found := heal.Finding{TestID: tea, Browser: "chromium", Title: title, File: "tests/shop.spec.ts", Class: heal.Drift, Why: "The element is there under another name.", Confidence: 0.98, RunID: runID, Evidence: []string{"When it last passed it was the cell “4.50” in the row “Tea”.", "Nothing on the page has the old name any more."},
		Before: "locator('#tea')", After: "getByTestId('price-of-tea')", Outcome: "heal", P: 0.987, Margin: 0.94, Stack: stack,
		Step: &heal.StepSeen{Method: "expect", Matcher: "to.have.text", Locator: "locator('#tea')", Selector: "#tea", File: "tests/shop.spec.ts", Line: 13, Column: 76, Error: "expect(locator).toHaveText(expected) failed\n\nLocator: locator('#tea')\nExpected: \"4.50\"\nReceived: <element(s) not found>", URL: "http://127.0.0.1/<b>shop</b>"},
		Candidates: []heal.CandidateSeen{{Label: "cell “4.50” in the row “Tea”", Rival: "getByTestId('price-of-tea')", Share: 0.962, Why: []string{"the same text", "in the same row", "the same place on the page"}},
			{Label: "cell “4.50” in the row “Coffee”", Rival: "getByTestId('price-of-coffee')", Share: 0.031, Why: []string{"the same text"}, Vetoes: []string{"another row, and the old one stands"}},
			{Label: "heading “Tea and <script>alert(1)</script> coffee”", Rival: "getByRole('heading')", Share: 0.005, Why: []string{"near it"}}}}
	proof := &heal.Proof{Passed: true, Runs: 3, Ran: 3, Good: 3, Shared: 14, Checks: []heal.Check{{What: "steps", OK: true, Note: "2 steps, as when it was last green"}, {What: "assertions", OK: true, Note: "all 1 assertions were reached"}, {What: "effect", OK: true, Note: "the repaired step has the same effect"}},
		Sabotage: []heal.Sabotage{{What: "the element is removed", Done: true, Found: true, Error: "Error: expect(locator).toHaveText(expected) failed"}, {What: "the text that “locator('#tea')” is expected to have is altered", Done: true, Found: true, Error: "Error: expect(locator).toHaveText(expected) failed"}}}
	save := func(change func(x *agent.Session, f *heal.Finding, p *heal.Proof)) string {
		t.Helper()
		now := time.Now().UTC().Truncate(time.Millisecond)
		began := now.Add(-94 * time.Second)
		b := agent.Batch{ID: uuid.Must(uuid.NewV7()).String(), ProjectID: s.ProjectID, Kind: agent.Heal, RunID: runID, CreatedAt: began}
		x := agent.Session{ID: uuid.Must(uuid.NewV7()).String(), BatchID: b.ID, ProjectID: s.ProjectID, RunID: runID, Kind: agent.Heal, Status: agent.Completed, Stage: "deliver", Title: title, TestIDs: []string{tea}, Summary: "The test is healed.", Patch: patch,
			Outcomes: []agent.Outcome{{TestID: tea, Browser: "chromium", Title: title, Outcome: agent.Healed, Class: string(heal.Drift), Confidence: 0.98, Evidence: append([]string{found.Why}, found.Evidence...)}},
			Changes:  []agent.FileChange{{Path: "tests/shop.spec.ts", Additions: 1, Deletions: 1}}, Usage: agent.Usage{Trials: 4, Executions: 20}, CreatedAt: began, StartedAt: &began, FinishedAt: &now}
		f, p := found, *proof
		change(&x, &f, &p)
		state := map[string]any{"findings": []heal.Finding{f}, "proof": &p, "trials": map[string]string{"reproduce": runID}, "edits": []attempt.Edit{{Stack: stack, Locator: f.Before, Replacement: f.After}}}
		var err error
		if x.State, err = json.Marshal(state); err != nil {
			t.Fatal(err)
		}
		if _, err := db.CreateBatch(ctx, b, []agent.Session{x}, nil, false); err != nil {
			t.Fatal(err)
		}
		err = db.UpdateAgentSession(ctx, x.ID, func(*agent.Session) ([]agent.Event, error) {
			return []agent.Event{{At: began, Kind: agent.Ran, RunID: runID, Text: "The failing tests are executed once more, unchanged, and a trace of each is recorded."},
				{At: began.Add(20 * time.Second), Kind: agent.Decided, RunID: runID, Text: title + ": locator-drift. " + f.Why},
				{At: began.Add(40 * time.Second), Kind: agent.Changed, Text: "tests/shop.spec.ts:8: “price = '5.40'” became “price = '4.50'”."}, {At: began.Add(60 * time.Second), Kind: agent.Decided, Text: x.Summary}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return "/projects/tea-shop/sessions/" + x.ID
	}
	var out shown
	out.approve = save(func(x *agent.Session, _ *heal.Finding, _ *heal.Proof) { x.Title = "to be approved: " + title })
	out.proposed = save(func(x *agent.Session, f *heal.Finding, p *heal.Proof) {
		x.Summary = "The test passes with a repair. It is only proposed: with it the test does not notice when the element is removed."
		f.Outcome, f.P, f.Margin = "propose", 0.71, 0.4
		p.Sabotage = append([]heal.Sabotage(nil), p.Sabotage...)
		p.Sabotage[0].Found, p.Sabotage[0].Error = false, ""
		x.Decision = &agent.Decision{Word: heal.Rejected, By: "operator", At: *x.FinishedAt, Note: "The coffee is meant."}
	})
	out.waiting = save(func(x *agent.Session, _ *heal.Finding, p *heal.Proof) {
		x.Status, x.Stage, x.Summary, x.Patch, x.Outcomes, x.FinishedAt = agent.Waiting, "prove", "", "", nil, nil
		*p = heal.Proof{Runs: 3}
	})
	return out
}
