// Package faults runs seeded schedules of faults over real processes: workers, the test
// runner and the service are killed and paused, messages between them are lost, doubled
// and delayed, the database restarts or stalls. Whatever happens, no test may be lost or
// counted twice, nothing may pass that does not, and every run ends.
package faults

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tas-service/internal/store/storetest"
	"tas-service/test/harness"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise int) int {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s is %q, no number", name, v)
	}
	return n
}

// TestFaults plays TAS_FAULTS schedules (3 unless said), from the seed TAS_FAULTS_FROM on,
// by turns with records in SQLite and in PostgreSQL. TAS_FAULTS=1 TAS_FAULTS_FROM=N plays
// schedule N again.
func TestFaults(t *testing.T) {
	n, from := setting(t, "TAS_FAULTS", 3), setting(t, "TAS_FAULTS_FROM", 1)
	stages := map[bool]*stage{}
	total := outcomeOf{}
	for seed := from; seed < from+n; seed++ {
		postgres := seed%2 == 0
		if stages[postgres] == nil {
			stages[postgres] = newStage(t, postgres)
		}
		o := stages[postgres].play(t, uint64(seed))
		total.add(o)
		if t.Failed() {
			break
		}
	}
	t.Logf("%d schedules: %d ended as without faults, %d failed openly; %d executions of %d tests", n, total.clean, total.degraded, total.executions, total.tests)
	for _, s := range stages {
		t.Logf("messages: %v", s.proxy.faults)
	}
}

type outcomeOf struct{ clean, degraded, executions, tests int }

func (o *outcomeOf) add(p outcomeOf) {
	o.clean, o.degraded, o.executions, o.tests = o.clean+p.clean, o.degraded+p.degraded, o.executions+p.executions, o.tests+p.tests
}

// plan is what a seed means.
type plan struct {
	shards int
	fail   []string // titles of tests that fail
	flaky  []string // titles of tests that fail at first
	rate   float64  // of messages
	deeds  []deed
}

type deed struct {
	after time.Duration
	what  string
	span  time.Duration
}

var deeds = []string{"kill worker", "kill worker", "kill runner", "pause worker", "cut network", "kill service", "restart database", "stall database"}

func draw(seed uint64, titles []string) plan {
	random := rand.New(rand.NewPCG(seed, 0))
	p := plan{shards: 2 + random.IntN(2), rate: []float64{0, 0.03, 0.15}[random.IntN(3)]}
	for _, title := range titles {
		switch random.IntN(20) {
		case 0:
			p.fail = append(p.fail, title)
		case 1:
			p.flaky = append(p.flaky, title)
		}
	}
	for range random.IntN(4) {
		p.deeds = append(p.deeds, deed{after: time.Duration(random.IntN(7000)) * time.Millisecond, what: deeds[random.IntN(len(deeds))],
			span: time.Duration(200+random.IntN(6000)) * time.Millisecond})
	}
	slices.SortFunc(p.deeds, func(a, b deed) int { return int(a.after - b.after) })
	return p
}

func (p plan) String() string {
	s := fmt.Sprintf("%d shards, %.0f %% of messages", p.shards, p.rate*100)
	for _, d := range p.deeds {
		s += fmt.Sprintf("; at %s %s", d.after.Round(time.Millisecond), d.what)
	}
	return s
}

// endsWithin is how long a run may take whatever happens to it, on a slow machine.
const endsWithin = 4 * time.Minute

// play runs the suite once under a schedule and holds what came of it to the truth.
func (s *stage) play(t *testing.T, seed uint64) outcomeOf {
	t.Helper()
	p := draw(seed, s.titles)
	t.Logf("schedule %d: %s", seed, p)
	s.proxy.begin(seed, p.rate)
	s.collector.begin()
	before := time.Now()
	a := s.Call(t, http.MethodPost, "/public-api/v2/execution/grep", map[string]any{"grep": ".", "shardCount": p.shards,
		"envOverrides": map[string]string{"FAIL": strings.Join(p.fail, ","), "FLAKY": strings.Join(p.flaky, ",")}})
	if a.Status != http.StatusCreated {
		t.Fatalf("schedule %d: start: %s", seed, a.Text)
	}
	id := a.Body["runId"].(string)
	for _, d := range p.deeds {
		time.Sleep(time.Until(before.Add(d.after)))
		s.do(t, d)
	}
	st := s.await(t, id)
	if st["isTerminal"] != true {
		t.Errorf("schedule %d: the run hangs: %v", seed, st)
		return outcomeOf{}
	}
	return s.judge(t, seed, p, st)
}

// judge holds a run's end to the truth: what was to fail has not passed, nothing is
// missing or double, and a pass is one.
func (s *stage) judge(t *testing.T, seed uint64, p plan, st map[string]any) outcomeOf {
	t.Helper()
	harness.Ledger(t, st)
	o := outcomeOf{executions: s.collector.count(), tests: len(s.titles)}
	rs := s.Results(t, st["runId"].(string))
	seen := map[string]int{}
	asTold := true
	for _, r := range rs {
		title, status := r["title"].(string), r["status"].(string)
		if !slices.Contains(s.titles, title) {
			continue // set-up
		}
		seen[title]++
		want := "passed"
		switch {
		case slices.Contains(p.fail, title):
			want = "failed"
		case slices.Contains(p.flaky, title):
			want = "flaky"
		}
		if status == want || want == "flaky" && status == "passed" {
			continue
		}
		if s.explained(title, p) && (status == "skipped" || status == "flaky" || status == "passed" && want != "failed") {
			continue
		}
		asTold = false
		if want == "failed" && status != "skipped" {
			t.Errorf("schedule %d: %s must fail and is %s", seed, title, status)
		}
		code := ""
		if e, ok := r["error"].(map[string]any); ok {
			code, _ = e["code"].(string)
		}
		if status == "failed" && !slices.Contains([]string{"shard-lost", "interrupted", "not-reported", "worker-lost"}, code) && !slices.Contains(p.fail, title) && !s.explained(title, p) {
			t.Errorf("schedule %d: %s failed as %q: %v", seed, title, code, r["error"])
		}
	}
	planned := len(seen) > 0
	for _, title := range s.titles {
		if planned && seen[title] != 1 {
			t.Errorf("schedule %d: %s has %d results", seed, title, seen[title])
		}
	}
	ideal := "pass"
	if len(p.fail) > 0 {
		ideal = "fail"
	}
	switch verdict := st["verdict"]; {
	case verdict == "pass" && (ideal == "fail" || !planned || !asTold):
		t.Errorf("schedule %d: a false pass: %v", seed, st)
	case verdict == "pending":
		t.Errorf("schedule %d: no verdict: %v", seed, st)
	case verdict != ideal || !asTold || st["phase"] == "process-error":
		if len(p.deeds) == 0 && p.rate == 0 {
			t.Errorf("schedule %d: nothing happened and it is not as it should be: %v", seed, st)
		}
		t.Logf("schedule %d: %s, %s %v", seed, verdict, st["phase"], st["error"])
		o.degraded++
	default:
		o.clean++
	}
	return o
}

// explained reports whether a test may fail because an earlier one of its serial group did.
func (s *stage) explained(title string, p plan) bool {
	return strings.HasPrefix(title, "serial") && slices.ContainsFunc(append(p.fail, p.flaky...), func(other string) bool { return strings.HasPrefix(other, "serial") })
}
