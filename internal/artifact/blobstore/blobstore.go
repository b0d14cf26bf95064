// Package blobstore keeps artifacts in a bucket of gocloud.dev/blob: a local folder, the
// embedded default, or a bucket of any S3-compatible server.
package blobstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"

	"tas-service/internal/artifact"
	"tas-service/internal/fault"
)

// Store is an artifact.Blobs over one bucket.
type Store struct {
	bucket *blob.Bucket
	direct bool   // workers can upload by themselves
	fix    string // what to check when it cannot be used
}

var _ artifact.Blobs = (*Store)(nil)

// OpenDir keeps artifacts in a folder, made when it is missing.
func OpenDir(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the artifact folder: %w", err)
	}
	// Temporary files beside the final ones make the closing rename atomic.
	bucket, err := fileblob.OpenBucket(dir, &fileblob.Options{NoTempDir: true, DirFileMode: 0o700})
	if err != nil {
		return nil, fmt.Errorf("open the artifact folder: %w", err)
	}
	return &Store{bucket: bucket, fix: "Check its disk space and its permissions."}, nil
}

// Put streams r to key.
func (s *Store) Put(ctx context.Context, key, contentType string, r io.Reader) (int64, error) {
	// A cancelled context is how gocloud is told to throw a half-written blob away.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.bucket.NewWriter(ctx, stored(key), &blob.WriterOptions{ContentType: contentType, DisableContentTypeDetection: true})
	if err != nil {
		return 0, s.translate(err, key)
	}
	n, err := io.Copy(w, r)
	if err != nil {
		cancel()
		w.Close() //nolint:errcheck // the copy's error is the one that matters
		return 0, s.translate(err, key)
	}
	if err := w.Close(); err != nil {
		return 0, s.translate(err, key)
	}
	return n, nil
}

// Open answers a reader that can seek.
func (s *Store) Open(ctx context.Context, key string) (*artifact.Blob, error) {
	r, err := s.bucket.NewReader(ctx, stored(key), nil)
	if err != nil {
		return nil, s.translate(err, key)
	}
	return &artifact.Blob{ReadSeekCloser: r, ContentType: r.ContentType(), Size: r.Size(), ModTime: r.ModTime()}, nil
}

// DeleteAll removes every blob whose key begins with prefix.
func (s *Store) DeleteAll(ctx context.Context, prefix string) error {
	it := s.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		obj, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.translate(err, prefix)
		}
		if err := s.bucket.Delete(ctx, obj.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return s.translate(err, obj.Key)
		}
	}
}

// Size answers how many bytes a blob has.
func (s *Store) Size(ctx context.Context, key string) (int64, error) {
	attrs, err := s.bucket.Attributes(ctx, stored(key))
	if err != nil {
		return 0, s.translate(err, key)
	}
	return attrs.Size, nil
}

// Check writes and removes a small blob.
func (s *Store) Check(ctx context.Context) error {
	const key = "health/probe"
	if _, err := s.Put(ctx, key, "text/plain", strings.NewReader("ok")); err != nil {
		return err
	}
	return s.translate(s.bucket.Delete(ctx, stored(key)), key)
}

// Close releases the bucket.
func (s *Store) Close() error { return s.bucket.Close() }

// Names that a bucket cannot keep: a file's name has at most 255 bytes, which escaping
// may triple, and fileblob notes what it knows of a blob beside it.
const (
	maxName  = 80
	reserved = ".attrs"
)

// stored answers the key under which a bucket keeps what callers know by key: tests
// choose names, and none of them may be one that cannot be kept.
func stored(key string) string {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		if len(p) > maxName || strings.HasSuffix(p, reserved) {
			parts[i] = fmt.Sprintf("%x", sha256.Sum256([]byte(p)))
		}
	}
	return strings.Join(parts, "/")
}

func (s *Store) translate(err error, key string) error {
	if err == nil || fault.As(err) != nil {
		return err
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return fault.Wrap(err, fault.NotFound, "There is no artifact %q.", key)
	case gcerrors.InvalidArgument:
		return fault.Wrap(err, fault.Invalid, "An artifact cannot be called %q, or its content type cannot be read.", key)
	}
	return fault.Wrap(err, fault.Unavailable, "The artifact store cannot be used.").
		WithFix("%s", s.fix)
}
