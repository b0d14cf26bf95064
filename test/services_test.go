package test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tas-service/internal/store/storetest"
	"tas-service/test/harness"
)

// TestTwoServices runs two services on one PostgreSQL database: any of them answers, one
// leads. The leader is killed while the shards of a run are at work; the other one goes
// on with the run and takes the next.
func TestTwoServices(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	artifacts, _ := bucket(t)
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("tests/file%d.spec.ts", i)] = waiting("", 700, 700)
	}
	// Workers know one address for all services, as behind a load balancer.
	var living atomic.Pointer[url.URL]
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(living.Load()) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }})
	defer balancer.Close()
	a := harness.StartProcess(t, files, "TAS_DATABASE_URL="+storetest.Database(t), "TAS_ARTIFACTS_URL="+artifacts, "TAS_WORKER_URL="+balancer.URL,
		"TAS_MAX_ATTEMPTS=3", "TAS_LOST_AFTER=10s")
	at := func(p *harness.Process) *url.URL {
		u, err := url.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	living.Store(at(a))
	b := a.Beside(t)

	// Asked for at one, executed by the other, seen at both.
	st := b.Wait(t, b.Begin(t, "/public-api/v1/execution/suite", nil))
	if st["verdict"] != "pass" {
		t.Fatalf("status: %v", st)
	}
	if rs := a.Results(t, st["runId"].(string)); len(rs) != 12 {
		t.Errorf("%d results", len(rs))
	}

	id := a.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 2})
	b.Until(t, id, func(st map[string]any) bool { return st["phase"] == "running" && st["executedCount"].(float64) > 0 })
	living.Store(at(b))
	a.Stop(syscall.SIGKILL)
	st = b.Wait(t, id)
	harness.Ledger(t, st)
	if st["verdict"] != "pass" || st["passed"] != 12.0 {
		t.Fatalf("status: %v", st)
	}
	st = b.Wait(t, b.Begin(t, "/public-api/v2/execution/grep", map[string]any{"grep": "file0"}))
	if st["verdict"] != "pass" {
		t.Fatalf("status: %v", st)
	}
	// The killed one comes back and follows.
	a.Launch(t)
	if st := a.Status(t, id, ""); st["verdict"] != "pass" {
		t.Errorf("status: %v", st)
	}
	a.Stop(os.Interrupt)
	deadline := time.Now().Add(20 * time.Second)
	for left := withArgument("--work\x00" + a.Data + "/work\x00"); len(left) > 0; left = withArgument("--work\x00" + a.Data + "/work\x00") {
		if time.Now().After(deadline) {
			t.Fatalf("workers of the killed service are left: %v", left)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
