package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tas-service/test/harness"
)

// shopSpec answers a test file with these titles in each describe.
func shopSpec(describes map[string][]string) string {
	names := make([]string, 0, len(describes))
	for d := range describes {
		names = append(names, d)
	}
	slices.Sort(names)
	out := "import { test } from '@playwright/test';\n"
	for _, d := range names {
		out += "test.describe('" + d + "', () => {\n"
		for _, title := range describes[d] {
			out += "  test('" + title + "', async () => {});\n"
		}
		out += "});\n"
	}
	return out
}

// ids answers the serviceTestId of each test that is listed, by "file › title path".
func ids(t *testing.T, s *harness.System) map[string]string {
	t.Helper()
	a := s.Call(t, http.MethodGet, v1Root+"/tests?limit=200", nil)
	if a.Status != http.StatusOK {
		t.Fatalf("tests: %d %s", a.Status, a.Text)
	}
	out := map[string]string{}
	for _, x := range a.Body["tests"].([]any) {
		m := x.(map[string]any)
		name := m["file"].(string)
		for _, part := range m["titlePath"].([]any) {
			name += " › " + part.(string)
		}
		out[name] = m["serviceTestId"].(string)
	}
	return out
}

// ran answers the titles of a run's results, in order.
func ran(t *testing.T, s *harness.System, runID string) string {
	t.Helper()
	var titles []string
	for name := range s.Results(t, runID) {
		titles = append(titles, strings.TrimSuffix(name, " [chromium]"))
	}
	slices.Sort(titles)
	return strings.Join(titles, "\n")
}

// TestSelection runs what was asked for and nothing else.
func TestSelection(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: map[string]string{
		"tests/shop.spec.ts":  shopSpec(map[string][]string{"cart": {"adds @smoke", "removes"}, "checkout": {"pays @smoke", "pays later (10%)"}}),
		"tests/other.spec.ts": shopSpec(map[string][]string{"cart": {"adds"}}),
		"tests/gone.spec.ts":  shopSpec(map[string][]string{"old": {"leaves"}}),
	}})
	if st := s.Suite(t); st["verdict"] != "pass" || st["passed"] != 6.0 {
		t.Fatalf("status: %v", st)
	}
	id := ids(t, s)
	const adds, removes, pays, later, other = "tests/shop.spec.ts › cart › adds @smoke", "tests/shop.spec.ts › cart › removes",
		"tests/shop.spec.ts › checkout › pays @smoke", "tests/shop.spec.ts › checkout › pays later (10%)", "tests/other.spec.ts › cart › adds"
	t.Run("patterns", func(t *testing.T) {
		for _, c := range []struct {
			grep string
			want []string
		}{
			{"removes", []string{removes}},
			{"/REMOVES/", nil},
			{adds, []string{adds}},
			{"@smoke", []string{adds, pays}},
			{"checkout › pays", []string{pays, later}},
			{`later \(10%\)`, []string{later}},
			{id[adds], []string{adds}},
			{id[later] + "|" + id[other], []string{other, later}},
			{"no such test at all", nil},
			{".", []string{"tests/gone.spec.ts › old › leaves", other, adds, removes, pays, later}},
		} {
			t.Run(c.grep, func(t *testing.T) {
				t.Parallel()
				st := s.Wait(t, s.Begin(t, v2Root+"/execution/grep", map[string]any{"grep": c.grep}))
				harness.Ledger(t, st)
				slices.Sort(c.want)
				if got := ran(t, s, st["runId"].(string)); got != strings.Join(c.want, "\n") {
					t.Errorf("these ran:\n%s\nwant\n%s", got, strings.Join(c.want, "\n"))
				}
				if (st["verdict"] == "pass") != (len(c.want) > 0) || len(c.want) == 0 && harness.ErrorCode(st) != "no-tests-selected" {
					t.Errorf("status: %v", st)
				}
			})
		}
	})
	t.Run("tests by ID", func(t *testing.T) {
		st := s.Wait(t, s.Begin(t, v1Root+"/execution/tests", map[string]any{"testIds": []string{id[removes], id[other], id[removes]}}))
		if got := ran(t, s, st["runId"].(string)); got != other+"\n"+removes || st["verdict"] != "pass" {
			t.Errorf("these ran: %s\n%v", got, st)
		}
	})
	t.Run("pattern that never ends", func(t *testing.T) {
		s.Repo.Branch(t, "backtrack", map[string]string{"tests/long.spec.ts": shopSpec(map[string][]string{"x": {strings.Repeat("a", 60) + "!"}})})
		st := s.Wait(t, s.Begin(t, v2Root+"/execution/grep", map[string]any{"grep": "(a+)+$", "branch": "backtrack"}))
		wantError(t, st, "grep-timeout", "")
	})
	t.Run("tests that are gone from the branch", func(t *testing.T) {
		s.Repo.Commit(t, "Remove a file", map[string]string{"tests/gone.spec.ts": ""})
		gone := id["tests/gone.spec.ts › old › leaves"]
		st := s.Wait(t, s.Begin(t, v1Root+"/execution/tests", map[string]any{"testIds": []string{gone, id[adds]}}))
		harness.Ledger(t, st)
		if st["phase"] != "failed" || harness.ErrorCode(st) != "not-on-branch" || !strings.Contains(fmt.Sprint(st["error"]), gone) || st["passed"] != 1.0 {
			t.Errorf("status: %v", st)
		}
		st = s.Wait(t, s.Begin(t, v1Root+"/execution/tests", map[string]any{"testIds": []string{gone}}))
		if st["phase"] != "failed" || harness.ErrorCode(st) != "not-on-branch" || st["totalCount"] != 0.0 {
			t.Errorf("status: %v", st)
		}
	})
}
