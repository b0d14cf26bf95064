package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"tas-service/internal/secret"
)

// Bounds of PostgreSQL's pool, for each service. The server's own default is 100
// connections for all.
const (
	poolSize  = 20
	idleConns = 5
	connLife  = 30 * time.Minute
)

// connectIn bounds the opening of one connection.
const connectIn = 10 * time.Second

// OpenPostgres opens a PostgreSQL database by its address, such as
// postgres://tas:password@db.example.com/tas?sslmode=verify-full, and brings its tables up
// to date; of several services that start at once, one does. maxConns 0 is a good default.
// No error tells the password.
func OpenPostgres(ctx context.Context, address string, maxConns int, keys *secret.Keyring) (*DB, error) {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the address of the database cannot be read: write postgres://user:password@host:5432/database, with ?sslmode=verify-full for a server elsewhere")
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectIn
	}
	pool := stdlib.OpenDB(*cfg)
	if maxConns <= 0 {
		maxConns = poolSize
	}
	pool.SetMaxOpenConns(maxConns)
	pool.SetMaxIdleConns(min(idleConns, maxConns))
	pool.SetConnMaxLifetime(connLife)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(refused(cfg, err), pool.Close())
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120)) // each second, for two minutes
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	db := &DB{write: pool, read: pool, keys: keys, listen: cfg, dialect: dialect{name: "postgres", Dialect: goose.DialectPostgres,
		options: []goose.ProviderOption{goose.WithSessionLocker(locker)}, lock: " FOR NO KEY UPDATE",
		now: "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"}}
	if err := db.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// refused explains why there is no connection, without the password.
func refused(cfg *pgx.ConnConfig, err error) error {
	where := fmt.Sprintf("%s, port %d", cfg.Host, cfg.Port)
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "3D000":
			return fmt.Errorf("there is no database %q on %s: create it (CREATE DATABASE %s OWNER %s)", cfg.Database, where, cfg.Database, cfg.User)
		case "28P01", "28000":
			return fmt.Errorf("%s refuses the user %q: check the password and pg_hba.conf (%s)", where, cfg.User, pg.Message)
		case "53300":
			return fmt.Errorf("%s has no connection left: raise max_connections, or lower TAS_DATABASE_CONNECTIONS of the services", where)
		}
		return fmt.Errorf("%s says: %s", where, pg.Message)
	}
	reason := err.Error()
	if cfg.Password != "" {
		reason = strings.ReplaceAll(reason, cfg.Password, "…")
	}
	return fmt.Errorf("the database on %s cannot be reached: check its address and that it runs (%s)", where, reason)
}

// unusable reports whether an error says that the database cannot be used now.
func unusable(err error) bool {
	if unusableSQLite(err) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code[:2] {
		case "08", "40", "53", "55", "57", "58": // connection, rollback, resources, not ready, operator, system
			return true
		}
		return pg.Code == "25006" // read-only: it is a standby
	}
	var connect *pgconn.ConnectError
	var network net.Error
	if err.Error() == "sql: database is closed" { // the service is about to end
		return true
	}
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || pgconn.SafeToRetry(err)
}

// again reports whether a transaction may succeed when it is tried again: it was broken
// off for another, or never reached the server.
func again(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "40001" || pg.Code == "40P01"
	}
	return errors.Is(err, driver.ErrBadConn) || pgconn.SafeToRetry(err)
}
