package store_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/secret"
	"tas-service/internal/store"
	"tas-service/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

func keys(t *testing.T) *secret.Keyring {
	t.Helper()
	k, err := secret.NewKeyring(make([]byte, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func twice(t *testing.T, open func() (*store.DB, error)) (one, other *store.DB) {
	t.Helper()
	var dbs [2]*store.DB
	for i := range dbs {
		db, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		dbs[i] = db
	}
	return dbs[0], dbs[1]
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (one, other *store.DB) {
		path := filepath.Join(t.TempDir(), "a folder with %20 and ?", "..", "tas.db")
		return twice(t, func() (*store.DB, error) {
			return store.OpenSQLite(context.Background(), filepath.Clean(path), keys(t))
		})
	})
}

func TestPostgres(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (one, other *store.DB) {
		address := storetest.Database(t)
		return twice(t, func() (*store.DB, error) { return store.OpenPostgres(context.Background(), address, 10, keys(t)) })
	})
}

// TestSecretsAreSealed looks into the tables: a token is not there in clear.
func TestSecretsAreSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tas.db")
	address := storetest.Database(t)
	lite, err := store.OpenSQLite(context.Background(), path, keys(t))
	if err != nil {
		t.Fatal(err)
	}
	defer lite.Close()
	pg, err := store.OpenPostgres(context.Background(), address, 0, keys(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close()
	for _, c := range []struct {
		db             *store.DB
		driver, source string
	}{{lite, "sqlite", path}, {pg, "pgx", address}} {
		p, _, err := c.db.CreateProject(context.Background(), project.Project{Name: "Case", Repository: project.Repository{URL: "/x", Token: "s3cret"}})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := sql.Open(c.driver, c.source)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		var sealed string
		if err := raw.QueryRow(`SELECT repo_token FROM project WHERE id = $1`, p.ID).Scan(&sealed); err != nil || sealed == "" || strings.Contains(sealed, "s3cret") {
			t.Errorf("%s keeps the token as %q, %v", c.driver, sealed, err)
		}
		// Placeholders count by their number, not by the order of their coming.
		var one, two string
		if err := raw.QueryRow(`SELECT CAST($2 AS TEXT), CAST($1 AS TEXT)`, "1", "2").Scan(&two, &one); err != nil || one != "1" || two != "2" {
			t.Errorf("%s takes placeholders in the order of their coming: %q %q, %v", c.driver, one, two, err)
		}
	}
}

// TestOtherKey refuses to open a database whose secrets are sealed with another key.
func TestOtherKey(t *testing.T) {
	ctx := context.Background()
	other, err := secret.NewKeyring([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	path, address := filepath.Join(t.TempDir(), "tas.db"), storetest.Database(t)
	for name, open := range map[string]func(*secret.Keyring) (*store.DB, error){
		"SQLite":     func(k *secret.Keyring) (*store.DB, error) { return store.OpenSQLite(ctx, path, k) },
		"PostgreSQL": func(k *secret.Keyring) (*store.DB, error) { return store.OpenPostgres(ctx, address, 0, k) },
	} {
		for _, k := range []*secret.Keyring{keys(t), keys(t)} {
			db, err := open(k)
			if err != nil {
				t.Fatal(err)
			}
			db.Close()
		}
		if db, err := open(other); err == nil || !strings.Contains(fault.As(err).Public(), "TAS_MASTER_KEY_FILE") {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				db.Close()
			}
		}
	}
}

// TestPostgresProblems says at the start what is wrong, and never the password.
func TestPostgresProblems(t *testing.T) {
	address := storetest.Database(t)
	for name, c := range map[string]struct{ address, says string }{
		"no database":    {strings.Replace(address, "/case", "/none", 1), "there is no database"},
		"wrong password": {strings.Replace(address, "secret-of-tests", "secret-of-others", 1), "refuses the user"},
		"nobody there":   {"postgres://tas:secret-of-tests@127.0.0.1:1/tas?sslmode=disable", "cannot be reached"},
		"no address":     {"postgres://tas:secret-of-tests@host:port:5/x", "cannot be read"},
	} {
		db, err := store.OpenPostgres(context.Background(), c.address, 0, keys(t))
		if err == nil {
			db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret-of") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
