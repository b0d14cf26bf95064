package test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tas-service/internal/artifact/blobstore"
	"tas-service/internal/run"
	"tas-service/test/harness"
)

// TestRetention removes what an old run left behind and keeps its results.
func TestRetention(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{})
	st := s.Suite(t)
	id := st["runId"].(string)
	dir := filepath.Join(s.Data, "artifacts", "runs", id)
	blobs, err := blobstore.OpenDir(filepath.Join(s.Data, "artifacts"))
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	now := time.Now()
	r := run.Retention{Store: s.Server.Store(), Blobs: blobs, Keep: time.Hour, Clock: func() time.Time { return now }}
	if err := r.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "report", "index.html")); err != nil {
		t.Fatalf("a young run lost its report: %v", err)
	}
	now = now.Add(2 * time.Hour)
	if err := r.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "report", "index.html")); !os.IsNotExist(err) {
		t.Errorf("the old run still has its report: %v", err)
	}
	if a := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+id+"/report", nil); a.Status != http.StatusNotFound {
		t.Errorf("report: %d %s", a.Status, a.Text)
	}
	if rs := s.Results(t, id); len(rs) != 1 {
		t.Errorf("results: %v", rs)
	}
}
