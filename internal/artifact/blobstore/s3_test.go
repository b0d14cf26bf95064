package blobstore

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

	"tas-service/internal/artifact"
	"tas-service/internal/artifact/blobtest"
)

// server starts an S3 server in this process, or takes the one that TAS_TEST_S3 names,
// and answers its address.
func server(t *testing.T) string {
	t.Helper()
	if at := os.Getenv("TAS_TEST_S3"); at != "" {
		return at
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	srv := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(srv.Close)
	return srv.URL
}

func address(endpoint, bucket string) string {
	return "s3://" + bucket + "?" + url.Values{"endpoint": {endpoint}, "region": {"us-east-1"}, "use_path_style": {"true"}}.Encode()
}

func newBucket(t *testing.T, endpoint string) string {
	t.Helper()
	name := "tas-" + uuid.NewString()
	client := s3.New(s3.Options{BaseEndpoint: aws.String(endpoint), Region: "us-east-1", UsePathStyle: true,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")}, nil
		})})
	if _, err := client.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestS3(t *testing.T) {
	endpoint := server(t)
	blobtest.Run(t, func(t *testing.T) artifact.Blobs {
		s, err := OpenS3(context.Background(), address(endpoint, newBucket(t, endpoint)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// TestS3UploadsAreBound refuses another size, another type and another name than the
// address is for. Only a server that checks signatures can.
func TestS3UploadsAreBound(t *testing.T) {
	if os.Getenv("TAS_TEST_S3") == "" {
		t.Skip("the server in this process checks no signatures: make test-s3 starts one that does")
	}
	endpoint := server(t)
	s, err := OpenS3(context.Background(), address(endpoint, newBucket(t, endpoint)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at, err := s.UploadURL(context.Background(), "runs/1/a", "text/plain", 5)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ url, contentType, body string }{
		"another size": {at, "text/plain", "123456"}, "another type": {at, "text/html", "12345"}, "another name": {strings.Replace(at, "runs/1/a", "runs/2/a", 1), "text/plain", "12345"},
	} {
		req, err := http.NewRequest(http.MethodPut, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", c.contentType)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode < 400 {
			t.Errorf("%s: %s", name, resp.Status)
		}
	}
}

// TestS3Problems says at the start what is wrong, and what to do.
func TestS3Problems(t *testing.T) {
	endpoint := server(t)
	for name, c := range map[string]struct{ address, says string }{
		"no bucket":         {address(endpoint, "tas-none-"+uuid.NewString()), "no such bucket"},
		"nobody there":      {address("http://127.0.0.1:1", "bucket"), "cannot be used"},
		"not an address":    {"bucket", "write s3://bucket"},
		"another scheme":    {"gs://bucket", "write s3://bucket"},
		"a folder in it":    {"s3://bucket/folder", "write s3://bucket"},
		"an unknown option": {"s3://bucket?regoin=x", "regoin"},
	} {
		if s, err := OpenS3(context.Background(), c.address); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				s.Close()
			}
		}
	}
}
