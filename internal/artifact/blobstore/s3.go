package blobstore

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // opens s3:// addresses
	"gocloud.dev/gcerrors"

	"tas-service/internal/artifact"
	"tas-service/internal/fault"
)

// OpenS3 keeps artifacts in a bucket of an S3-compatible server, by an address such as
// s3://bucket?region=eu-central-1 or s3://bucket?endpoint=https://s3.example.com&region=x&use_path_style=true.
// prefix=folder/ keeps them below a folder. Credentials come from where AWS's own programs
// have them (AWS_ACCESS_KEY_ID, AWS_PROFILE, the machine's role). A server that does not
// know the newer checksums takes request_checksum_calculation=when_required.
func OpenS3(ctx context.Context, address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.Path != "" && u.Path != "/" {
		return nil, fmt.Errorf("%q is no address of a bucket: write s3://bucket?region=eu-central-1, and endpoint=https://… for a server that is not AWS", address)
	}
	if q := u.Query(); !q.Has(lenient) {
		// The SDK warns of every answer without a checksum, which many servers send none of.
		q.Set(lenient, "when_required")
		u.RawQuery = q.Encode()
	}
	bucket, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", u.Host, err)
	}
	s := &Store{bucket: bucket, direct: true, fix: "Check the bucket's address, the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) and what they allow."}
	if err := s.Check(ctx); err != nil {
		bucket.Close() //nolint:errcheck // the check's error is the one that matters
		return nil, fmt.Errorf("the bucket %s cannot be used: %w", u.Host, explain(err))
	}
	return s, nil
}

const lenient = "response_checksum_validation"

// explain says what of a bucket is wrong, where that can be told.
func explain(err error) error {
	cause := fault.As(err)
	if cause == nil {
		return err
	}
	switch gcerrors.Code(cause.Err) {
	case gcerrors.NotFound:
		return fmt.Errorf("there is no such bucket: make it, or correct its name, region or endpoint (%w)", cause.Err)
	case gcerrors.PermissionDenied:
		return fmt.Errorf("the credentials do not allow to write: it takes s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket (%w)", cause.Err)
	default:
		return fmt.Errorf("%s (%w)", cause.Public(), cause.Err)
	}
}

// Direct reports whether workers can upload by themselves.
func (s *Store) Direct() bool { return s.direct }

// UploadURL answers where exactly so many bytes of this type can be PUT as key.
func (s *Store) UploadURL(ctx context.Context, key, contentType string, size int64) (string, error) {
	if !s.direct {
		return "", fault.New(fault.Conflict, "Artifacts in a folder are sent through the service.")
	}
	at, err := s.bucket.SignedURL(ctx, stored(key), &blob.SignedURLOptions{Method: http.MethodPut, Expiry: artifact.UploadTTL,
		BeforeSign: func(as func(any) bool) error {
			var in *s3.PutObjectInput
			if as(&in) {
				in.ContentLength, in.ContentType = aws.Int64(size), aws.String(contentType)
			}
			return nil
		}})
	return at, s.translate(err, key)
}
