package test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"tas-service/internal/server"
	"tas-service/test/harness"
)

// bucket answers the address of a new bucket, and what counts uploads that did not come
// from the service. The server is one in this process, or the one that TAS_TEST_S3 names.
func bucket(t *testing.T) (address string, direct func() int) {
	t.Helper()
	backend := os.Getenv("TAS_TEST_S3")
	if backend == "" {
		t.Setenv("AWS_ACCESS_KEY_ID", "test")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
		srv := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
		t.Cleanup(srv.Close)
		backend = srv.URL
	}
	name := "tas-" + uuid.NewString()
	client := s3.New(s3.Options{BaseEndpoint: aws.String(backend), Region: "us-east-1", UsePathStyle: true,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")}, nil
		})})
	if _, err := client.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	objects := func() int {
		out, err := client.ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: &name})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Contents)
	}
	return "s3://" + name + "?" + url.Values{"endpoint": {backend}, "region": {"us-east-1"}, "use_path_style": {"true"}}.Encode(), objects
}

// TestArtifactsOnS3 runs a sharded suite whose artifacts lie in a bucket: workers put them
// there by themselves, and people read them through the service.
func TestArtifactsOnS3(t *testing.T) {
	address, objects := bucket(t)
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.MaxAttempts, c.ArtifactsURL = 4, address }, Files: map[string]string{
		"tests/attach.spec.ts": `import { test, expect } from '@playwright/test';
test('attaches', async ({}, info) => {
  await info.attach('note.txt', { body: 'kept in the bucket', contentType: 'text/plain' });
  await info.attach('empty.txt', { body: '', contentType: 'text/plain' });
});
`, "tests/sum.spec.ts": harness.Test("adds")}})
	st := s.Wait(t, s.Begin(t, "/public-api/v1/execution/suite", map[string]any{"shardCount": 2}))
	if st["verdict"] != "pass" {
		t.Fatalf("status: %v", st)
	}
	if n := objects(); n < 5 {
		t.Errorf("%d objects in the bucket", n)
	}
	id := st["runId"].(string)
	test := s.Results(t, id)["tests/attach.spec.ts › attaches [chromium]"]["serviceTestId"].(string)
	found := false
	for _, x := range s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+id+"/tests/"+test+"/attachments", nil).Body["attachments"].([]any) {
		if x := x.(map[string]any); x["name"] == "note.txt" {
			found = string(fetch(t, x["url"].(string))) == "kept in the bucket"
		}
	}
	if !found {
		t.Error("the attachment cannot be read")
	}
	report := s.Call(t, http.MethodGet, "/public-api/v1/test-runs/"+id+"/report", nil)
	if page := string(fetch(t, report.Body["url"].(string))); !strings.Contains(page, "<html") {
		t.Errorf("the report is %.100q", page)
	}
}
