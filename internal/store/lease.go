package store

import (
	"context"
	"time"
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
