package store_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

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
