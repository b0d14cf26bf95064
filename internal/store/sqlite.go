package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/pressly/goose/v3"
	sqlite "modernc.org/sqlite"

	"tas-service/internal/secret"
)

// readers is the size of SQLite's read pool.
const readers = 4

// OpenSQLite opens a database file, made when it is missing, and brings its tables up to
// date.
func OpenSQLite(ctx context.Context, path string, keys *secret.Keyring) (*DB, error) {
	dsn := func(mode string) string {
		q := url.Values{"_txlock": {mode}, "_pragma": {"journal_mode(WAL)", "busy_timeout(10000)", "synchronous(NORMAL)", "foreign_keys(1)"}}
		return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	}
	write, err := sql.Open("sqlite", dsn("immediate"))
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	write.SetMaxOpenConns(1) // SQLite has one writer, and waiting in Go is fair
	read, err := sql.Open("sqlite", dsn("deferred"))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	db := &DB{write: write, read: read, keys: keys, dialect: dialect{name: "sqlite", Dialect: goose.DialectSQLite3,
		now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)"}}
	if err := db.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// unusableSQLite reports whether SQLite says that its file cannot be used now.
func unusableSQLite(err error) bool {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return false
	}
	switch lite.Code() & 0xff {
	case 5, 6, 8, 10, 13, 14: // busy, locked, read-only, I/O error, full, cannot open
		return true
	default:
		return false
	}
}
