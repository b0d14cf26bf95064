package store_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/internal/store"
	"tas-service/internal/store/storetest"
)

// TestPeopleMigration gives projects of before slugs of their own, and an environment with
// the variables that their runs were given.
func TestPeopleMigration(t *testing.T) {
	ctx := context.Background()
	path, address := filepath.Join(t.TempDir(), "tas.db"), storetest.Database(t)
	for _, c := range []struct {
		name, driver, source string
		dialect              goose.Dialect
		open                 func() (*store.DB, error)
	}{
		{"sqlite", "sqlite", path, goose.DialectSQLite3, func() (*store.DB, error) { return store.OpenSQLite(ctx, path, keys(t)) }},
		{"postgres", "pgx", address, goose.DialectPostgres, func() (*store.DB, error) { return store.OpenPostgres(ctx, address, 0, keys(t)) }},
	} {
		raw, err := sql.Open(c.driver, c.source)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		p, err := goose.NewProvider(c.dialect, raw, os.DirFS("migrations/"+c.name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.UpTo(ctx, 5); err != nil {
			t.Fatal(err)
		}
		// The third one has by itself the slug that the second one would get.
		for i, slug := range []string{"shop", "shop", "shop-2", "shop", "other"} {
			id := string(rune('a'+i)) + "0000000-0000-4000-8000-000000000000"
			if _, err := raw.Exec(`INSERT INTO project (id, name, slug, repo_url, repo_branch, repo_dir, repo_token, workers, env, min_isolation, run_limit_ms, disk_quota, created_at)
				VALUES ($1, 'x', $2, '', '', '', '', 0, '{"A":"b"}', '', 0, 0, $3)`, id, slug, i); err != nil {
				t.Fatal(err)
			}
			if _, err := raw.Exec(`INSERT INTO api_key (id, project_id, hash, hint, created_at) VALUES ($1, $1, $1, 'hint', 0)`, id); err != nil {
				t.Fatal(err)
			}
		}
		db, err := c.open()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		defer db.Close()
		ps, err := db.Projects(ctx)
		if err != nil {
			t.Fatal(err)
		}
		slugs := map[string]bool{}
		for _, p := range ps {
			slugs[p.Slug] = true
			values, err := db.Values(ctx, p.ID, "")
			if err != nil || values["A"] != "b" || p.Env["A"] != "b" {
				t.Errorf("%s: %s is given %v, %v", c.name, p.Slug, values, err)
			}
			if k, plain, err := db.CurrentKey(ctx, p.ID); err != nil || plain != "" || k.Hint != "hint" {
				t.Errorf("%s: the key of before is %q, %v", c.name, plain, err)
			}
		}
		if len(slugs) != 5 || !slugs["shop"] || !slugs["shop-2"] || !slugs["shop-3"] || !slugs["other"] {
			t.Errorf("%s: slugs %v", c.name, slugs)
		}
	}
}

// TestOutsideMigration keeps projects and runs of before pull requests, of which those that
// had ended are old news; and goes back.
func TestOutsideMigration(t *testing.T) {
	ctx := context.Background()
	path, address := filepath.Join(t.TempDir(), "tas.db"), storetest.Database(t)
	for _, c := range []struct {
		name, driver, source string
		dialect              goose.Dialect
		open                 func() (*store.DB, error)
	}{
		{"sqlite", "sqlite", path, goose.DialectSQLite3, func() (*store.DB, error) { return store.OpenSQLite(ctx, path, keys(t)) }},
		{"postgres", "pgx", address, goose.DialectPostgres, func() (*store.DB, error) { return store.OpenPostgres(ctx, address, 0, keys(t)) }},
	} {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		db, err := c.open()
		must(err)
		p, _, err := db.CreateProject(ctx, project.Project{Name: "Shop", Repository: project.Repository{URL: "https://git.example.com/shop/tests", Token: "s3cret"}})
		must(err)
		over := run.Run{ID: "1", ProjectID: p.ID, Name: "shop-1", Phase: run.Queued, Verdict: run.Pending, CreatedAt: time.Now()}
		open := run.Run{ID: "2", ProjectID: p.ID, Name: "shop-2", Phase: run.Queued, Verdict: run.Pending, CreatedAt: time.Now()}
		for _, r := range []*run.Run{&over, &open} {
			if _, err := db.CreateRun(ctx, r, nil); err != nil {
				t.Fatal(err)
			}
		}
		end := func(id string) {
			t.Helper()
			must(db.UpdateRun(ctx, id, func(r *run.Run) error {
				now := time.Now()
				r.FinishedAt, r.Verdict = &now, run.Fail
				return r.MoveTo(run.Cancelled)
			}))
		}
		end(over.ID)
		must(db.Close())
		raw, err := sql.Open(c.driver, c.source)
		must(err)
		defer raw.Close()
		g, err := goose.NewProvider(c.dialect, raw, os.DirFS("migrations/"+c.name))
		must(err)
		_, err = g.DownTo(ctx, 7)
		must(err)
		db, err = c.open()
		must(err)
		defer db.Close()
		if rs, err := db.Unannounced(ctx, "", 10); err != nil || len(rs) != 0 {
			t.Errorf("%s: %d runs of before are told of, %v", c.name, len(rs), err)
		}
		end(open.ID)
		if rs, err := db.Unannounced(ctx, "", 10); err != nil || len(rs) != 1 || rs[0].ID != open.ID || rs[0].Pull != nil {
			t.Errorf("%s: %+v, %v", c.name, rs, err)
		}
		if got, err := db.Project(ctx, p.ID); err != nil || got.Repository.Token != "s3cret" {
			t.Errorf("%s: %+v, %v", c.name, got.Repository, err)
		}
	}
}
