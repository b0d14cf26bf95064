package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/catalog"
	"tas-service/internal/run"
	"tas-service/internal/store"
)

// onceFromTwo starts one run of many calls with the same key, through two services.
func onceFromTwo(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	p, _, _ := fill(t, db)
	var mu sync.Mutex
	started := map[string]bool{}
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			r := run.Run{ID: uuid.NewString(), ProjectID: p.ID, Name: uuid.NewString(), Phase: run.Queued, Verdict: run.Pending, CreatedAt: time.Now()}
			earlier, err := []*store.DB{db, other}[i%2].CreateRun(ctx, &r, &run.Once{Key: "k", Fingerprint: "f"})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case earlier != nil:
				started[earlier.ID] = true
			default:
				started[r.ID] = true
			}
		})
	}
	wait.Wait()
	if len(started) != 1 {
		t.Errorf("%d runs were started", len(started))
	}
}

func tests(t *testing.T, db *store.DB, projectID string, files ...string) {
	t.Helper()
	must(t, db.SyncCatalog(context.Background(), projectID, "c", true, func([]catalog.Test) (save []catalog.Test, err error) {
		for i, f := range files {
			save = append(save, catalog.Test{ID: uuid.NewString(), ProjectID: projectID, File: f, Line: i, Present: true, FirstSeen: time.Now(), LastSeen: time.Now()})
		}
		return save, nil
	}))
}

// order lists by bytes, as Go compares text, whatever the database's language is.
func order(t *testing.T, db, _ *store.DB) {
	p, _, _ := fill(t, db)
	files := []string{"b.ts", "B.ts", "a.ts", "A.ts", "ä.ts", "z.ts", "_.ts", "é.ts", "a/b.ts", "a-b.ts", "a b.ts", "ß.ts", "日本.ts"}
	tests(t, db, p.ID, files...)
	slices.Sort(files)
	var got []string
	var after *catalog.Cursor
	for {
		page, err := db.Tests(context.Background(), catalog.Query{ProjectID: p.ID, Limit: 2, After: after})
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, x := range page {
			got = append(got, x.File)
		}
		last := page[len(page)-1]
		after = &catalog.Cursor{File: last.File, Line: last.Line, ID: last.ID}
	}
	if !slices.Equal(got, files) {
		t.Errorf("%q, want %q", got, files)
	}
}

// pages goes on behind where it was while rows come in between.
func pages(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	tests(t, db, p.ID, "b", "d", "f", "h")
	page, err := db.Tests(context.Background(), catalog.Query{ProjectID: p.ID, Limit: 2})
	must(t, err)
	tests(t, other, p.ID, "a", "c", "e", "z")
	last := page[1]
	rest, err := db.Tests(context.Background(), catalog.Query{ProjectID: p.ID, Limit: 9, After: &catalog.Cursor{File: last.File, Line: last.Line, ID: last.ID}})
	must(t, err)
	var files []string
	for _, x := range rest {
		files = append(files, x.File)
	}
	if fmt.Sprint(files) != "[e f h z]" {
		t.Errorf("behind %s: %v", last.File, files)
	}
}

// oddText keeps what can be kept of text that a database may refuse.
func oddText(t *testing.T, db, _ *store.DB) {
	p, _, _ := fill(t, db)
	tests(t, db, p.ID, "a\x00b", "c\xff\xfed", "quote'\"\\", strings.Repeat("ü", 50_000))
	got, err := db.Tests(context.Background(), catalog.Query{ProjectID: p.ID, Limit: 9})
	must(t, err)
	var files []string
	for _, x := range got[:3] {
		files = append(files, x.File)
	}
	if len(got) != 4 || !slices.Equal(files, []string{"a\uFFFDb", "c\uFFFDd", "quote'\"\\"}) || len(got[3].File) != 100_000 {
		t.Errorf("%q", files)
	}
}
