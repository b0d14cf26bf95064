// Package store keeps every record in SQL: the text of each statement stands once, one
// file a noun. Read-change-write goes only through the Update methods, which lock what
// they read until they have saved it, and no transaction leaves the package.
package store

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"time"

	"github.com/pressly/goose/v3"
	sqlite "modernc.org/sqlite"

	"tas-service/internal/fault"
	"tas-service/internal/secret"
)

//go:embed migrations/sqlite/*.sql
var migrations embed.FS

// DB is the database. It is safe for concurrent use.
type DB struct {
	write *sql.DB // one connection: SQLite has one writer, and waiting in Go is fair
	read  *sql.DB
	keys  *secret.Keyring
}

// readers is the size of the read pool.
const readers = 4

// OpenSQLite opens a database file, made when it is missing, and brings its tables up to date.
func OpenSQLite(ctx context.Context, path string, keys *secret.Keyring) (*DB, error) {
	dsn := func(mode string) string {
		q := url.Values{"_txlock": {mode}, "_pragma": {"journal_mode(WAL)", "busy_timeout(10000)", "synchronous(NORMAL)", "foreign_keys(1)"}}
		return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	}
	write, err := sql.Open("sqlite", dsn("immediate"))
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", dsn("deferred"))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	db := &DB{write: write, read: read, keys: keys}
	if err := db.migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (db *DB) migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db.write, dir)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the database up to date: %w", err)
	}
	return nil
}

// Close closes both pools.
func (db *DB) Close() error { return errors.Join(db.read.Close(), db.write.Close()) }

// Check answers nil when the database can be read and written.
func (db *DB) Check(ctx context.Context) error {
	return db.tx(ctx, func(tx *sql.Tx) error {
		var n int
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM project WHERE id = ''`).Scan(&n)
	})
}

// tx runs fn in a write transaction, once. SQLite lets one in at a time, so what fn reads is
// locked; another database will need row locks where records are read to be changed.
func (db *DB) tx(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return translate(err)
	}
	// Also when fn panics: the one connection that writes must not stay taken.
	defer tx.Rollback() //nolint:errcheck // done already, as a rule
	if err := fn(tx); err != nil {
		return errors.Join(translate(err), ignoreDone(tx.Rollback()))
	}
	return translate(tx.Commit())
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// querier is what statements run on: the read pool, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// translate turns what the database says into our vocabulary: faults stay as they are.
func translate(err error) error {
	var own *fault.Error
	switch {
	case err == nil || errors.As(err, &own):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Unavailable, "The database did not answer in time.")
	case errors.Is(err, sql.ErrNoRows):
		return fault.Wrap(err, fault.NotFound, "There is no such record.")
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff {
		case 5, 6, 8, 10, 13, 14: // busy, locked, read-only, I/O error, full, cannot open
			return fault.Wrap(err, fault.Unavailable, "The database cannot be used now.").
				WithFix("Check the disk space and the permissions of the service's data folder.")
		}
	}
	return fault.Wrap(err, fault.Internal, "a statement failed")
}

// row is one result row, or the single row of a query.
type row interface{ Scan(dest ...any) error }

// list reads every row of a query.
func list[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, translate(err)
	}
	defer rows.Close() //nolint:errcheck // Err below tells
	var out []T
	for rows.Next() {
		t, err := scan(rows)
		if err != nil {
			return nil, translate(err)
		}
		out = append(out, t)
	}
	return out, translate(rows.Err())
}

// one reads the single row of a query: fault.NotFound when there is none.
func one[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) (T, error) {
	t, err := scan(q.QueryRowContext(ctx, query, args...))
	return t, translate(err)
}

func exec(ctx context.Context, q querier, query string, args ...any) error {
	_, err := q.ExecContext(ctx, query, args...)
	return translate(err)
}

func ms(t time.Time) int64 { return t.UnixMilli() }

func msPtr(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UnixMilli()
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func atPtr(ms sql.NullInt64) *time.Time {
	if !ms.Valid {
		return nil
	}
	t := at(ms.Int64)
	return &t
}

// toJSON writes a value of ours: one that cannot be written is a defect.
func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: %T does not marshal: %v", v, err))
	}
	return string(b)
}

func fromJSON(s string, v any) error {
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("a stored value cannot be read: %w", err)
	}
	return nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
