package blobstore

import (
	"testing"

	"tas-service/internal/artifact"
	"tas-service/internal/artifact/blobtest"
)

func TestDir(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) artifact.Blobs {
		s, err := OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
