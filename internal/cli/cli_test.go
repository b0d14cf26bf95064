package cli_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// everyResult is what the failed run has.
var everyResult = []m{good, wrong, shaky, left}

func sharded(base m, shards ...m) m {
	return with(base, m{"name": nil, "shards": shards, "plan": m{"units": 4, "totalMs": 90000, "predictedMs": 48000, "actualMs": 52000,
		"longestMs": 20000, "longestFile": "tests/cart.spec.ts", "testsTimed": 3, "testsNotTimed": 1}})
}

func shard(index int, phase string, executed, total int, lost bool) m {
	s := m{"index": index - 1, "phase": phase, "executedCount": executed, "totalCount": total, "startedAt": "2026-11-21T06:00:05Z", "finishedAt": nil, "lost": lost}
	if phase == "finished" {
		s["finishedAt"] = "2026-11-21T06:00:55Z"
	}
	return s
}

// TestRunOutput holds what a run says to its recorded form, in each way of saying it.
func TestRunOutput(t *testing.T) {
	for _, c := range []struct {
		name    string
		results []m
		states  []m
		args    []string
		code    int
	}{
		{"pass", []m{good}, []m{queued, running, passed}, nil, 0},
		{"fail", everyResult, []m{running, failed}, nil, 1},
		{"fail.json", everyResult, []m{running, failed}, []string{"--json"}, 1},
		{"healed", nil, []m{with(passed, m{"phase": "healed", "recovered": 1, "passed": 3})}, nil, 0},
		{"process-error", nil, []m{with(failed, m{"phase": "process-error", "totalCount": 0, "executedCount": 0, "passed": 0, "failed": 0, "flaky": 0, "skipped": 0,
			"error": m{"code": "branch-not-found", "message": "There is no branch \"x\".\nPush it first."}})}, nil, 1},
		{"shards", []m{good}, []m{
			sharded(running, shard(1, "running", 1, 2, false), shard(2, "preparing", 0, 0, false)),
			sharded(running, shard(1, "running", 1, 2, false), shard(2, "running", 1, 2, true)),
			sharded(with(passed, m{"warnings": []m{{"code": "shards-lost", "message": "A worker died."}}}), shard(1, "finished", 3, 3, false), shard(2, "finished", 1, 1, true)),
		}, []string{"--shards", "2"}, 0},
		{"too-old", nil, []m{running, tooOld}, nil, 4},
		{"too-old.json", nil, []m{running, tooOld}, []string{"--json"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t).plays(c.results, c.states...)
			got := run(t, environment(f), append([]string{"run"}, c.args...)...)
			if got.code != c.code {
				t.Errorf("exit code %d, expected %d", got.code, c.code)
			}
			golden(t, "run-"+c.name+".txt", "$ tas run "+strings.Join(c.args, " ")+"\n"+got.out+"--- standard error\n"+got.err)
			if strings.ContainsFunc(got.out+got.err, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
				t.Errorf("control characters in a pipe: %q", got.out+got.err)
			}
			if strings.HasSuffix(c.name, ".json") && !json.Valid([]byte(got.out)) {
				t.Errorf("no JSON: %s", got.out)
			}
		})
	}
}

// TestReading holds the commands that only read to their recorded form.
func TestReading(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"me", []string{"me"}, 0},
		{"me.json", []string{"me", "--json"}, 0},
		{"tests", []string{"tests", "--query", "cart"}, 0},
		{"tests.json", []string{"tests", "--json"}, 0},
		{"results", []string{"results", runID}, 0},
		{"results-failed.json", []string{"results", runID, "--status", "failed", "--json"}, 0},
		{"report", []string{"report", runID}, 0},
		{"report.json", []string{"report", runID, "--json"}, 0},
		{"status", []string{"status", runID}, 1},
		{"status.json", []string{"status", runID, "--json"}, 1},
		{"status-unknown", []string{"status", "0199a0c0-0000-7000-8000-00000000dead"}, 3},
		{"results-unknown.json", []string{"results", "0199a0c0-0000-7000-8000-00000000dead", "--json"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t).plays(everyResult, failed)
			f.on("GET /public-api/v1/me", answer(200, m{"id": "0199a0c0-0000-7000-8000-0000000000ff", "name": "Web \x1b[31mshop", "hasTestsRepo": false}))
			page := func(title string, next any) http.HandlerFunc {
				return answer(200, m{"tests": []m{{"serviceTestId": test1, "title": title, "titlePath": []string{"cart", title}, "file": "tests/cart.spec.ts", "line": 10,
					"browsers": []string{"chromium"}, "tags": []string{"@smoke"}, "owner": nil, "firstSeenAt": "2026-11-21T06:00:00Z", "lastSeenAt": "2026-11-21T06:00:00Z"}}, "nextCursor": next})
			}
			f.on("GET /public-api/v1/tests", page("first page", "next"), page("second page", nil))
			got := run(t, environment(f), c.args...)
			if got.code != c.code {
				t.Errorf("exit code %d, expected %d", got.code, c.code)
			}
			golden(t, c.name+".txt", "$ tas "+strings.Join(c.args, " ")+"\n"+got.out+"--- standard error\n"+got.err)
			if c.name == "tests" {
				if calls := f.to("/public-api/v1/tests?"); len(calls) != 2 || !strings.Contains(calls[1].path, "cursor=next") || !strings.Contains(calls[0].path, "q=cart") {
					t.Errorf("pages: %v", calls)
				}
			}
		})
	}
}

// TestWhatIsAskedFor holds flags to the calls that they make.
func TestWhatIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		name, args, path, body string
	}{
		{"everything", "run --all", suitePath, `{}`},
		{"options", "run --shards 3 --workers 2 --auto-heal", suitePath, `{"shardCount":3,"workers":2,"autoHeal":{}}`},
		{"one shard is none", "run --shards 1", suitePath, `{}`},
		{"tests", "run --test " + test1 + "," + test2 + " --test " + test1, testsPath, `{"testIds":["` + test1 + `","` + test2 + `","` + test1 + `"]}`},
		{"pattern", "run --grep @smoke --shards 2", grepPath, `{"grep":"@smoke","shardCount":2}`},
		{"everything elsewhere", "run --branch feature-x", grepPath, `{"grep":".","branch":"feature-x"}`},
		{"everything with variables", "run --all --env A=1;2 --env B=x=y", grepPath, `{"grep":".","envOverrides":{"A":"1;2","B":"x=y"}}`},
		{"tests elsewhere", "run --test " + test1 + "," + test2 + " --branch b", grepPath, `{"grep":"` + test1 + "|" + test2 + `","branch":"b"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t).plays(nil, passed)
			got := run(t, environment(f, "CI=true"), append(strings.Fields(c.args), "--no-wait")...)
			calls := f.to("/public-api")
			if got.code != 0 || len(calls) != 1 || calls[0].path != c.path || calls[0].body != c.body {
				t.Fatalf("%d %s%s\n%+v", got.code, got.out, got.err, calls)
			}
			if h := calls[0].header; h.Get("X-TAS-Trigger") != "ci" || len(h.Get("Idempotency-Key")) != 36 {
				t.Errorf("headers: %v", h)
			}
		})
	}
}

// TestOrigin holds what the service is told of the caller.
func TestOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ci, flag, want string }{{"", "", "api"}, {"false", "", "api"}, {"1", "", "ci"}, {"true", "api", "api"}, {"", "ci", "ci"}} {
		f := newFake(t).plays(nil, passed)
		got := run(t, environment(f, "CI="+c.ci), "run", "--no-wait", "--json", "--trigger="+c.flag, "--idempotency-key", "job-7")
		h := f.to(suitePath)[0].header
		if got.code != 0 || h.Get("X-TAS-Trigger") != c.want || h.Get("Idempotency-Key") != "job-7" {
			t.Errorf("%+v: %+v %v", c, got, h)
		}
		var doc m
		if err := json.Unmarshal([]byte(got.out), &doc); err != nil || doc["runId"] != runID || doc["verdict"] != "pending" || doc["isTerminal"] != false {
			t.Errorf("document: %v %s", err, got.out)
		}
	}
}

// TestRefusals holds every way of not getting through to its exit code and words.
func TestRefusals(t *testing.T) {
	invalid := problem(400, "The run cannot be started as it was asked for.", map[string]string{"path": "body.branch", "message": "this cannot be the name of a git branch"})
	for _, c := range []struct {
		name  string
		start http.HandlerFunc
		env   []string
		args  string
		code  int
		words string
	}{
		{"bad flag", nil, nil, "run --shards many", 2, "tas run --help"},
		{"no such command", nil, nil, "walk", 2, "tas --help"},
		{"exclusive flags", nil, nil, "run --all --grep x", 2, "together"},
		{"a key as a flag", nil, nil, "run --api-key x", 2, "unknown flag"},
		{"shards", nil, nil, "run --shards 41", 2, "2 to 40"},
		{"workers", nil, nil, "run --workers 9", 2, "1 to 8"},
		{"empty pattern", nil, nil, "run --grep=", 2, "--grep is empty"},
		{"no IDs", nil, nil, "run --test=", 2, "--test"},
		{"no ID", nil, nil, "run --test cart", 2, "tas tests"},
		{"reporter", nil, nil, "run --reporter html", 2, "junit=FILE"},
		{"junit without a file", nil, nil, "run --reporter junit", 2, "junit=FILE"},
		{"reporter without a verdict", nil, nil, "run --no-wait --reporter github", 2, "--no-wait"},
		{"junit nowhere", nil, nil, "run --reporter junit=/proc/none/x.xml", 2, "cannot"},
		{"timeout", nil, nil, "run --timeout 0s", 2, "--timeout"},
		{"address", nil, nil, "run --base-url tas.example.com", 2, "SERVICE_BASE_URL"},
		{"no address", nil, []string{"SERVICE_BASE_URL="}, "me", 2, "SERVICE_BASE_URL"},
		{"no key", nil, []string{"SERVICE_API_KEY="}, "me", 2, "SERVICE_API_KEY"},
		{"odd key", nil, []string{"SERVICE_API_KEY=a b"}, "me", 2, "SERVICE_API_KEY"},
		{"invalid", invalid, nil, "run", 2, "body.branch: this cannot"},
		{"another body", problem(409, "The Idempotency-Key was used with another body."), nil, "run", 2, "another body"},
		{"wrong key", nil, []string{"SERVICE_API_KEY=other"}, "run", 3, "not known"},
		{"forbidden", problem(403, "Not this project."), nil, "run", 3, "Not this project."},
		{"moved", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://new.example.com/", http.StatusMovedPermanently)
		}, nil, "run", 3, "https://new.example.com/"},
		{"not TAS", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, nil, "run --patience 1ms", 3, "does not answer as TAS"},
		{"away", hangUp, nil, "run --patience 1ms", 3, "cannot be reached"},
		{"broken", problem(500, "Something went wrong."), nil, "run --patience 1ms", 3, "req-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t).plays(nil, passed)
			if c.start != nil {
				f.on("POST "+suitePath, c.start)
			}
			got := run(t, environment(f, c.env...), strings.Fields(c.args)...)
			if got.code != c.code || !strings.Contains(got.err, c.words) || got.out != "" {
				t.Errorf("exit code %d, expected %d with %q\n%s--- standard error\n%s", got.code, c.code, c.words, got.out, got.err)
			}
		})
	}
}

// TestHiccups holds a run to its verdict through everything that passes.
func TestHiccups(t *testing.T) {
	t.Parallel()
	f := newFake(t).plays([]m{good}, running)
	f.on("POST "+suitePath, hangUp, problem(503, "Starting."), answer(201, began))
	f.on("GET "+statusPath, answer(200, running), hangUp, problem(503, "Stopping."), func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<html>bad gateway", http.StatusBadGateway)
	}, answer(200, passed))
	got := run(t, environment(f), "run")
	if got.code != 0 || !strings.Contains(got.out, "trying again") || !strings.Contains(got.out, "answers again") {
		t.Errorf("%d\n%s%s", got.code, got.out, got.err)
	}
	starts := f.to(suitePath)
	for _, s := range starts {
		if k := s.header.Get("Idempotency-Key"); k == "" || k != starts[0].header.Get("Idempotency-Key") {
			t.Errorf("a repeated start may start twice: %q", k)
		}
	}
	if polls := f.to(statusPath); len(starts) != 3 || len(polls) != 5 || !strings.HasSuffix(polls[1].path, "?wait=30s") {
		t.Errorf("calls: %v %v", starts, polls)
	}
}

// TestNoVerdict holds a run that outlives the command's patience to exit code 4.
func TestNoVerdict(t *testing.T) {
	t.Parallel()
	f := newFake(t).plays(nil, running)
	f.on("GET "+statusPath, answer(200, running), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	file := filepath.Join(t.TempDir(), "junit.xml")
	if err := os.WriteFile(file, []byte("of an earlier run"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, environment(f), "run", "--timeout", "2s", "--json", "--reporter", "junit="+file)
	var doc m
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil || got.code != 4 || doc["exitCode"] != 4.0 || doc["verdict"] != "pending" || doc["runId"] != runID {
		t.Errorf("%v: %+v", err, got)
	}
	if !strings.Contains(got.err, "tas status --wait "+runID) {
		t.Errorf("it does not say how to go on: %s", got.err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("an earlier run's file stands for this one: %v", err)
	}
	f.on("GET "+statusPath, answer(200, running))
	if got := run(t, environment(f), "status", runID); got.code != 4 {
		t.Errorf("a pending run is %d: %s%s", got.code, got.out, got.err)
	}
	f.on("GET "+statusPath, answer(200, tooOld))
	if got := run(t, environment(f), "status", runID); got.code != 4 || !strings.Contains(got.err, "tas-runner 4.3.0") {
		t.Errorf("a run without end is %d: %s%s", got.code, got.out, got.err)
	}
}

// TestInterrupt stops the polling and leaves the run alone.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	f := newFake(t).plays(nil, running)
	polled := make(chan struct{})
	f.on("GET "+statusPath, answer(200, running), func(_ http.ResponseWriter, r *http.Request) {
		close(polled)
		<-r.Context().Done()
	})
	cmd := exec.Command(tas(), "status", "--wait", runID)
	cmd.Env = environment(f)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-polled
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	cmd.Wait() //nolint:errcheck // its code is looked at
	if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(line, runID) || !strings.Contains(line, "goes on") {
		t.Errorf("%d %q %v", cmd.ProcessState.ExitCode(), line, err)
	}
	for _, c := range f.to("/") {
		if c.method != http.MethodGet {
			t.Errorf("%s %s", c.method, c.path)
		}
	}
}

// TestLostResults holds a verdict to its exit code where the results cannot be read.
func TestLostResults(t *testing.T) {
	t.Parallel()
	f := newFake(t).plays(nil, passed)
	f.on("GET "+resultsPath, problem(404, "They are gone."))
	f.on("GET "+reportPath, problem(409, "There is no report."))
	got := run(t, environment(f), "run")
	if got.code != 0 || !strings.Contains(got.out, "They are gone.") || strings.Contains(got.out, "Report") {
		t.Errorf("%+v", got)
	}
	got = run(t, environment(f), "run", "--reporter", "junit="+filepath.Join(t.TempDir(), "a", "b.xml"))
	if got.code != 2 || !strings.Contains(got.err, "was not written") {
		t.Errorf("a pass without its report: %+v", got)
	}
}
