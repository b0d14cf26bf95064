package test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"tas-service/internal/server"
	"tas-service/test/harness"
)

// waiting answers a test file whose tests wait for so long each, in milliseconds.
func waiting(mode string, ms ...int) string {
	var b strings.Builder
	b.WriteString("import { test, expect } from '@playwright/test';\n")
	if mode != "" {
		fmt.Fprintf(&b, "test.describe.configure({ mode: '%s' });\n", mode)
	}
	for i, n := range ms {
		fmt.Fprintf(&b, "test('waits %d', async () => { await new Promise(r => setTimeout(r, %d)); expect(1).toBe(1); });\n", i, n)
	}
	return b.String()
}

func fourAtOnce(c *server.Config) { c.MaxAttempts = 4 }

// TestShards splits a run into shards: every test has one result, and the report is one.
func TestShards(t *testing.T) {
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("tests/file%d.spec.ts", i)] = waiting("", 100, 100)
	}
	files["tests/parallel.spec.ts"] = waiting("parallel", 50, 50, 50, 50)
	files["tests/serial.spec.ts"] = waiting("serial", 50, 50)
	s := harness.Start(t, harness.Options{Files: files, Config: fourAtOnce})
	a := s.Call(t, "POST", "/public-api/v1/execution/suite", map[string]any{"shardCount": 3})
	if a.Status != 201 || a.Body["sharded"] != true || a.Body["name"] != nil || a.Body["shardCount"] != 3.0 {
		t.Fatalf("start: %s", a.Text)
	}
	st := s.Wait(t, a.Body["runId"].(string))
	harness.Ledger(t, st)
	if st["verdict"] != "pass" || st["passed"] != 18.0 || st["totalCount"] != 18.0 {
		t.Fatalf("status: %v", st)
	}
	shards, given := st["shards"].([]any), 0.0
	for _, x := range shards {
		x := x.(map[string]any)
		given += x["totalCount"].(float64)
		if x["phase"] != "finished" || x["lost"] != false || x["executedCount"] != x["totalCount"] {
			t.Errorf("shard: %v", x)
		}
	}
	if len(shards) != 3 || given != 18 {
		t.Errorf("shards: %v", shards)
	}
}

// TestShardIsKilled kills the worker of a shard while the run is under way: what it held
// is executed by others, and no test is missing or counted twice.
func TestShardIsKilled(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("tests/file%d.spec.ts", i)] = waiting("", 400, 400)
	}
	s := harness.Start(t, harness.Options{Files: files, Config: fourAtOnce})
	id := s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 3})
	s.Until(t, id, func(st map[string]any) bool {
		for _, x := range st["shards"].([]any) {
			if x.(map[string]any)["totalCount"] == 0.0 {
				return false
			}
		}
		return st["phase"] == "running"
	})
	workers := withArgument("--work\x00" + s.Data + "/work\x00")
	if len(workers) != 3 {
		t.Fatalf("workers: %v", workers)
	}
	if err := syscall.Kill(atoi(t, workers[1]), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	st := s.Wait(t, id)
	harness.Ledger(t, st)
	if st["verdict"] != "pass" || st["passed"] != 16.0 {
		t.Fatalf("status: %v", st)
	}
	if rs := s.Results(t, id); len(rs) != 16 {
		t.Errorf("%d results", len(rs))
	}
}

// TestShardKillers holds a test that kills its worker each time to its own failure: it
// fails as shard-lost, and every other test has its result.
func TestShardKillers(t *testing.T) {
	files := map[string]string{"tests/killer.spec.ts": "import { test } from '@playwright/test';\n" +
		"test('kills', async () => { process.kill(process.ppid, 'SIGKILL'); await new Promise(r => setTimeout(r, 60_000)); });\n"}
	for i := range 4 {
		files[fmt.Sprintf("tests/file%d.spec.ts", i)] = waiting("", 50, 50)
	}
	s := harness.Start(t, harness.Options{Files: files, Config: fourAtOnce})
	st := s.Wait(t, s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 2}))
	harness.Ledger(t, st)
	if st["verdict"] != "fail" || st["phase"] != "failed" || st["failed"] != 1.0 || st["passed"] != 8.0 {
		t.Fatalf("status: %v", st)
	}
	e := s.Results(t, st["runId"].(string))["tests/killer.spec.ts › kills [chromium]"]["error"].(map[string]any)
	if e["code"] != "shard-lost" {
		t.Errorf("error: %v", e)
	}
}
