package test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tas-service/internal/catalog"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/test/harness"
)

// TestRecovery goes on with a test whose locator finds nothing any more, where the project
// wants that: the run is healed and passes, and a repair is proposed. What is gone is not
// recovered, nor is anything where the project does not want it.
func TestRecovery(t *testing.T) {
	t.Parallel()
	app, page := basket(t)
	// More than its text has to stay for an element to be surely the same.
	sure := strings.Replace(basketPage, `data-testid="drop-mug"`, `data-testid="drop-mug" name="drop" value="2"`, 1)
	page.Store(sure)
	s := harness.Start(t, harness.Options{Project: func(p *project.Project) { p.Env, p.Recovery = map[string]string{"APP": app.URL}, true },
		Files: map[string]string{"tests/a.spec.ts": fmt.Sprintf(basketSpec, "getByTestId('drop-mug')")}})
	if st := s.Suite(t); st["verdict"] != "pass" || st["status"] != "passed" {
		t.Fatal(st)
	}
	evident(t, s, s.ProjectID, 2)
	wants := func(recovery bool) {
		t.Helper()
		err := s.Server.Store().UpdateProject(t.Context(), s.ProjectID, func(p *project.Project) error {
			p.Recovery = recovery
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	page.Store(strings.Replace(sure, `<li class="line"><h2>Mug</h2><span>14.00</span> <button data-testid="drop-mug" name="drop" value="2" class="quiet drop">Remove mug</button></li>`, "", 1))
	if st := s.Suite(t); st["verdict"] != "fail" || st["recovered"] != 0.0 {
		t.Errorf("the button is gone, and the run is %v", st)
	}
	page.Store(strings.Replace(sure, `data-testid="drop-mug"`, `data-testid="remove-mug"`, 1))
	wants(false)
	if st := s.Suite(t); st["verdict"] != "fail" || st["recovered"] != 0.0 {
		t.Errorf("recovery is off, and the run is %v", st)
	}
	wants(true)
	st := s.Suite(t)
	if st["verdict"] != "pass" || st["status"] != "healed" || st["recovered"] != 1.0 || st["passed"] != 1.0 || st["failed"] != 0.0 {
		t.Fatalf("%v", st)
	}
	id := st["runId"].(string)
	results, err := s.Server.Store().Results(t.Context(), run.ResultQuery{RunID: id, Statuses: []run.Status{run.StatusRecovered}, After: -1, Limit: 10})
	if err != nil || len(results) != 1 || len(results[0].Recovered()) != 1 {
		t.Fatalf("%+v %v", results, err)
	}
	got := results[0].Recovered()[0]
	if got.Method != "click" || got.Before != "getByRole('main').getByTestId('drop-mug')" || got.After != "getByRole('main').getByTestId('remove-mug')" || got.File != "tests/a.spec.ts" || got.Line != 4 || got.Why == "" {
		t.Errorf("%+v", got)
	}
	// Nobody asked for it: what was recovered is proposed all the same.
	var batchID string
	for end := time.Now().Add(time.Minute); batchID == "" && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		batchID, _ = s.Status(t, id, "")["healBatchId"].(string)
	}
	if batchID == "" {
		t.Fatal("no session was begun for what was recovered")
	}
	b := batch(t, s, batchID)
	x := sessionOf(t, b, 0)
	if o := x["outcome"].([]any)[0].(map[string]any); len(b["sessions"].([]any)) != 1 || o["outcome"] != "healed" || x["prUrl"] == nil {
		text, _ := json.MarshalIndent(b, "", " ")
		t.Errorf("%s", text)
	}
	outcomes, err := s.Server.Store().Outcomes(t.Context(), s.ProjectID, []string{results[0].TestID})
	if err != nil || len(outcomes[results[0].TestID]) == 0 || outcomes[results[0].TestID][0].Result != catalog.OutcomeFlaky {
		t.Errorf("in test health it is %+v, %v", outcomes, err)
	}
}
