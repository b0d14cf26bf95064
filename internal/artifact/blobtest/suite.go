// Package blobtest is what every store of artifacts has to pass.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"tas-service/internal/artifact"
	"tas-service/internal/fault"
)

// Run holds a store to its interface. Each test gets an empty one.
func Run(t *testing.T, open func(t *testing.T) artifact.Blobs) {
	ctx := context.Background()
	read := func(t *testing.T, s artifact.Blobs, key string) (string, *artifact.Blob) {
		t.Helper()
		b, err := s.Open(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		text, err := io.ReadAll(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(text), b
	}
	put := func(t *testing.T, s artifact.Blobs, key, text string) {
		t.Helper()
		if n, err := s.Put(ctx, key, "text/x-test", strings.NewReader(text)); err != nil || n != int64(len(text)) {
			t.Fatalf("put %q: %d, %v", key, n, err)
		}
	}
	t.Run("what was put is there", func(t *testing.T) {
		s := open(t)
		for _, key := range []string{"runs/1/a", "runs/1/deep/b.html", "runs/1/ä ›%20&?#", "runs/1/../2"} {
			put(t, s, key, "text of "+key)
			if text, b := read(t, s, key); text != "text of "+key || b.ContentType != "text/x-test" || b.Size != int64(len(text)) || b.ModTime.IsZero() {
				t.Errorf("%q holds %q, %+v", key, text, b)
			}
		}
		put(t, s, "runs/1/a", "")
		if text, _ := read(t, s, "runs/1/a"); text != "" {
			t.Errorf("it was not replaced: %q", text)
		}
	})
	t.Run("seeks", func(t *testing.T) {
		s := open(t)
		put(t, s, "runs/1/a", "0123456789")
		b, err := s.Open(ctx, "runs/1/a")
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if _, err := b.Seek(7, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(b); err != nil || string(rest) != "789" {
			t.Errorf("%q, %v", rest, err)
		}
	})
	t.Run("what is not there", func(t *testing.T) {
		s := open(t)
		if _, err := s.Open(ctx, "runs/none"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
		if err := s.DeleteAll(ctx, "runs/none/"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a broken put leaves what was there", func(t *testing.T) {
		s := open(t)
		put(t, s, "runs/1/a", "old")
		broken := io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), errReader{})
		if _, err := s.Put(ctx, "runs/1/a", "", broken); err == nil {
			t.Error("no error")
		}
		if _, err := s.Put(ctx, "runs/1/b", "", io.MultiReader(strings.NewReader("half"), errReader{})); err == nil {
			t.Error("no error")
		}
		if text, _ := read(t, s, "runs/1/a"); text != "old" {
			t.Errorf("%q", text)
		}
		if _, err := s.Open(ctx, "runs/1/b"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("half a blob: %v", err)
		}
	})
	t.Run("deletes one prefix", func(t *testing.T) {
		s := open(t)
		for _, key := range []string{"runs/1/a", "runs/1/b/c", "runs/10/a", "runs/2/a"} {
			put(t, s, key, "x")
		}
		if err := s.DeleteAll(ctx, "runs/1/"); err != nil {
			t.Fatal(err)
		}
		for key, there := range map[string]bool{"runs/1/a": false, "runs/1/b/c": false, "runs/10/a": true, "runs/2/a": true} {
			b, err := s.Open(ctx, key)
			if (err == nil) != there {
				t.Errorf("%s: %v", key, err)
			}
			if err == nil {
				b.Close()
			}
		}
	})
	t.Run("many writers of one key", func(t *testing.T) {
		s := open(t)
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				if _, err := s.Put(ctx, "runs/1/a", "", bytes.NewReader(bytes.Repeat([]byte{byte('a' + i)}, 100_000))); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if text, _ := read(t, s, "runs/1/a"); len(text) != 100_000 || strings.Count(text, text[:1]) != len(text) {
			t.Error("it is a mixture")
		}
	})
	t.Run("knows sizes", func(t *testing.T) {
		s := open(t)
		put(t, s, "runs/1/a", "12345")
		if n, err := s.Size(ctx, "runs/1/a"); err != nil || n != 5 {
			t.Errorf("%d, %v", n, err)
		}
		if _, err := s.Size(ctx, "runs/1/b"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
	})
	t.Run("takes uploads from others, or says that it does not", func(t *testing.T) {
		s := open(t)
		at, err := s.UploadURL(ctx, "runs/1/ä ›%20&?#.html", "text/x-test", 5)
		if !s.Direct() {
			if fault.KindOf(err) != fault.Conflict {
				t.Errorf("%q, %v", at, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest(http.MethodPut, at, strings.NewReader("12345"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "text/x-test")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if text, b := read(t, s, "runs/1/ä ›%20&?#.html"); resp.StatusCode != http.StatusOK || text != "12345" || b.ContentType != "text/x-test" {
			t.Errorf("%s: %q, %q", resp.Status, text, b.ContentType)
		}
	})
	t.Run("can be checked", func(t *testing.T) {
		if err := open(t).Check(ctx); err != nil {
			t.Error(err)
		}
	})
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("broken") }
