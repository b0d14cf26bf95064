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
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"tas-service/internal/fault"
	"tas-service/internal/secret"
)

//go:embed migrations/*/*.sql
var migrations embed.FS

// DB is the database. It is safe for concurrent use.
type DB struct {
	write *sql.DB
	read  *sql.DB // may be the same
	keys  *secret.Keyring
	// listen is how to reach the server for what changes; nil where no other service can be.
	listen *pgx.ConnConfig
	dialect
}

// dialect is what differs between the databases.
type dialect struct {
	name string // of its migrations' folder
	goose.Dialect
	options []goose.ProviderOption
	now     string // its clock, in milliseconds
	lock    string // behind a SELECT in a transaction: nobody else may change the row
}

// prepare brings a database that was opened up to date.
func (db *DB) prepare(ctx context.Context) error {
	if err := db.migrate(ctx); err != nil {
		return err
	}
	return db.checkKey(ctx)
}

// migrate brings the tables up to date.
func (db *DB) migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations/"+db.name)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(db.Dialect, db.write, dir, db.options...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the database up to date: %w", err)
	}
	return nil
}

// Close closes both pools.
func (db *DB) Close() error {
	if db.read == db.write {
		return db.write.Close()
	}
	return errors.Join(db.read.Close(), db.write.Close())
}

// Check answers nil when the database can be read and written.
func (db *DB) Check(ctx context.Context) error {
	return db.tx(ctx, func(tx txn) error {
		var n int
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM project WHERE id = ''`).Scan(&n)
	})
}

// txn is a transaction.
type txn struct {
	*sql.Tx
	lock string
}

// tries is how often a transaction is begun that the database broke off for another.
const tries = 10

// tx runs fn in a write transaction; fn may be called again where the database asks for
// it. SQLite lets one in at a time; elsewhere fn locks the rows that it reads to change,
// the run's before its attempt's before all others, so that no two wait for each other.
func (db *DB) tx(ctx context.Context, fn func(txn) error) error {
	for n := 1; ; n++ {
		err := db.once(ctx, fn)
		if err == nil || n == tries || !again(err) {
			return translate(err)
		}
		select {
		case <-ctx.Done():
			return translate(err)
		case <-time.After(time.Duration(n*n) * time.Millisecond):
		}
	}
}

func (db *DB) once(ctx context.Context, fn func(txn) error) error {
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	// Also when fn panics: the one connection that writes must not stay taken.
	defer tx.Rollback() //nolint:errcheck // done already, as a rule
	if err := fn(txn{Tx: tx, lock: db.lock}); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
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
	if unusable(err) {
		return fault.Wrap(err, fault.Unavailable, "The database cannot be used now.").
			WithFix("Check that it runs, its disk space and its permissions.")
	}
	return fault.Wrap(err, fault.Internal, "a statement failed")
}

// clean answers arguments that every database takes: text is UTF-8 and has no NUL.
func clean(args []any) []any {
	for i, a := range args {
		if s, ok := a.(string); ok && (strings.ContainsRune(s, 0) || !utf8.ValidString(s)) {
			args[i] = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
		}
	}
	return args
}

// row is one result row, or the single row of a query.
type row interface{ Scan(dest ...any) error }

// list reads every row of a query.
func list[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, clean(args)...)
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
	t, err := scan(q.QueryRowContext(ctx, query, clean(args)...))
	return t, translate(err)
}

func exec(ctx context.Context, q querier, query string, args ...any) error {
	_, err := q.ExecContext(ctx, query, clean(args)...)
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
