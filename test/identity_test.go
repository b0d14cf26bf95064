package test

import (
	"strings"
	"testing"

	"tas-service/test/harness"
)

// TestIdentity follows tests through what people do to their files.
func TestIdentity(t *testing.T) {
	t.Parallel()
	body := func(n string) string { return "async () => { expect(" + n + " + 1).toBe(" + n + " + 1); }" }
	file := func(tests ...string) string {
		return "import { test, expect } from '@playwright/test';\n" + strings.Join(tests, "\n") + "\n"
	}
	one := func(title, n string) string { return "test('" + title + "', " + body(n) + ");" }
	params := func(names ...string) string {
		return "for (const name of ['" + strings.Join(names, "', '") + "']) test(`greets ${name}`, async () => { expect(name).toBeTruthy(); });"
	}
	s := harness.Start(t, harness.Options{Files: map[string]string{
		"tests/a.spec.ts": file(one("first", "1"), one("second", "2"), params("Ada", "Grace", "Edsger")),
		"tests/b.spec.ts": file(one("third", "3")),
	}})
	sync := func() map[string]string {
		t.Helper()
		st := s.Suite(t)
		if st["verdict"] != "pass" {
			t.Fatalf("status: %v", st)
		}
		now := ids(t, s)
		seen := map[string]string{}
		for name, id := range now {
			if seen[id] != "" {
				t.Fatalf("%q and %q share an ID", name, seen[id])
			}
			seen[id] = name
		}
		if st["totalCount"] != float64(len(now)) && !strings.Contains(strings.Join(keys(s.Results(t, st["runId"].(string))), " "), "[wide]") {
			t.Fatalf("%v results of %d tests", st["totalCount"], len(now))
		}
		return now
	}
	was := sync()
	same := func(what string, now map[string]string, pairs ...string) {
		t.Helper()
		for i := 0; i+1 < len(pairs); i += 2 {
			if was[pairs[i]] == "" || now[pairs[i+1]] != was[pairs[i]] {
				t.Errorf("%s: %q was %q and %q is %q", what, pairs[i], was[pairs[i]], pairs[i+1], now[pairs[i+1]])
			}
		}
		was = now
	}
	const first, second, third = "tests/a.spec.ts › first", "tests/a.spec.ts › second", "tests/b.spec.ts › third"
	const ada, grace, edsger = "tests/a.spec.ts › greets Ada", "tests/a.spec.ts › greets Grace", "tests/a.spec.ts › greets Edsger"
	same("a second run", sync(), first, first, second, second, third, third, ada, ada, grace, grace, edsger, edsger)

	s.Repo.Commit(t, "Add a Playwright project", map[string]string{"playwright.config.ts": strings.Replace(harness.Config, "projects: [", "projects: [{ name: 'wide' }, ", 1)})
	same("another Playwright project", sync(), first, first, ada, ada, third, third)
	s.Repo.Commit(t, "Remove it", map[string]string{"playwright.config.ts": harness.Config})

	s.Repo.Commit(t, "Rename a file", map[string]string{"tests/b.spec.ts": "", "tests/deep/c.spec.ts": file(one("third", "3"))})
	same("a file renamed", sync(), third, "tests/deep/c.spec.ts › third", first, first)

	s.Repo.Commit(t, "Change a title beside other edits", map[string]string{"tests/a.spec.ts": file("// a comment\n"+one("new here", "9"), one("second", "22"), one("first of all", "1"), params("Ada", "Grace", "Edsger"))})
	now := sync()
	same("a title changed", now, first, "tests/a.spec.ts › first of all", second, second, ada, ada, grace, grace, edsger, edsger)

	s.Repo.Commit(t, "Add and remove a parameter", map[string]string{"tests/a.spec.ts": file(one("second", "22"), one("first of all", "1"), params("Barbara", "Ada", "Edsger", "Donald"))})
	now = sync()
	if now["tests/a.spec.ts › greets Donald"] == was[grace] && now["tests/a.spec.ts › greets Barbara"] == was[grace] {
		t.Error("two new parameters have one ID")
	}
	same("parameters added and removed", now, ada, ada, edsger, edsger, second, second)

	s.Repo.Commit(t, "Move a test and change its title", map[string]string{
		"tests/a.spec.ts":      file(one("second", "22"), params("Barbara", "Ada", "Edsger", "Donald")),
		"tests/moved.spec.ts":  file("// moved\nconst unrelated = 5;\ntest.describe('elsewhere', () => {\n"+one("primus", "1")+"\n});", one("brand new", "77"), "test('x', () => { unrelated.toFixed(); });"),
		"tests/deep/c.spec.ts": file(one("third", "3")),
	})
	same("moved with a new title", sync(), "tests/a.spec.ts › first of all", "tests/moved.spec.ts › elsewhere › primus", ada, ada)

	// A branch where a test is called otherwise, and back again, twice.
	s.Repo.Branch(t, "other", map[string]string{"tests/deep/c.spec.ts": file(one("third otherwise", "3"))})
	third1 := was["tests/deep/c.spec.ts › third"]
	for range 2 {
		st := s.Wait(t, s.Begin(t, v2Root+"/execution/grep", map[string]any{"grep": ".", "branch": "other"}))
		r := s.Results(t, st["runId"].(string))["tests/deep/c.spec.ts › third otherwise [chromium]"]
		if st["verdict"] != "pass" || r == nil {
			t.Fatalf("status: %v", st)
		}
		if r["serviceTestId"] != third1 {
			t.Errorf("on the other branch it is %q, not %q", r["serviceTestId"], third1)
		}
		if listed := ids(t, s); listed["tests/deep/c.spec.ts › third"] != third1 || listed["tests/deep/c.spec.ts › third otherwise"] != "" {
			t.Errorf("the branch changed what is listed: %v", listed)
		}
		if got := sync()["tests/deep/c.spec.ts › third"]; got != third1 {
			t.Errorf("back again it is %q, not %q", got, third1)
		}
	}
}

func keys[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}
