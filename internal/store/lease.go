package store

import (
	"context"
	"time"

	"tas-service/internal/fault"
)

// Hold takes or renews a lease and reports whether holder has it now. Time is the
// database's own, so that the clocks of the services need not agree.
func (db *DB) Hold(ctx context.Context, name, holder string, d time.Duration) (held bool, err error) {
	err = db.tx(ctx, func(tx txn) error {
		res, err := tx.ExecContext(ctx, `UPDATE lease SET holder = $2, expires_at = `+db.now+` + $3 WHERE name = $1 AND (holder = $2 OR expires_at < `+db.now+`)`,
			name, holder, d.Milliseconds())
		if err != nil {
			return translate(err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 1 {
			held = n == 1
			return translate(err)
		}
		res, err = tx.ExecContext(ctx, `INSERT INTO lease (name, holder, expires_at) VALUES ($1, $2, `+db.now+` + $3) ON CONFLICT (name) DO NOTHING`,
			name, holder, d.Milliseconds())
		if err != nil {
			return translate(err)
		}
		n, err := res.RowsAffected()
		held = n == 1
		return translate(err)
	})
	return held && err == nil, err
}

// LetGo gives a lease up, if holder has it.
func (db *DB) LetGo(ctx context.Context, name, holder string) error {
	return db.tx(ctx, func(tx txn) error {
		return exec(ctx, tx, `UPDATE lease SET expires_at = 0 WHERE name = $1 AND holder = $2`, name, holder)
	})
}

// keyPurpose is what the value in table installation is sealed for, keyValue what it is.
const (
	keyPurpose = "installation"
	keyValue   = "the same key everywhere"
)

// checkKey makes sure that the master key is the one that this database's secrets are
// sealed with; the first service to open it decides.
func (db *DB) checkKey(ctx context.Context) error {
	return db.tx(ctx, func(tx txn) error {
		err := exec(ctx, tx, `INSERT INTO installation (id, sealed) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`, db.keys.Seal(keyPurpose, "1", keyValue))
		if err != nil {
			return err
		}
		sealed, err := one(ctx, tx, func(r row) (s string, err error) { return s, r.Scan(&s) }, `SELECT sealed FROM installation WHERE id = 1`)
		if err != nil {
			return err
		}
		if value, err := db.keys.Open(keyPurpose, "1", sealed); err != nil || value != keyValue {
			return fault.New(fault.Invalid, "The master key is not the one that this database's secrets are sealed with.").
				WithFix("Set TAS_MASTER_KEY_FILE to a copy of the key of the service that made the database.")
		}
		return nil
	})
}
