package store

import (
	"context"
	"strconv"

	"tas-service/internal/account"
)

const auditColumns = `id, at, person_id, who, address, act, project_id, about`

// Note adds an entry to the audit log.
func (db *DB) Note(ctx context.Context, e account.Entry) error {
	return exec(ctx, db.write, `INSERT INTO audit (`+auditColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		e.ID, ms(e.At), e.PersonID, e.Who, e.Address, string(e.Act), e.ProjectID, e.About)
}

// Audit answers entries of the audit log, the newest first.
func (db *DB) Audit(ctx context.Context, q account.AuditQuery) ([]account.Entry, error) {
	where, args := `WHERE 1 = 1`, []any{q.Limit}
	if q.ProjectID != "" {
		args = append(args, q.ProjectID)
		where += ` AND project_id = $2`
	}
	if q.Before != "" {
		args = append(args, q.Before)
		where += ` AND id < $` + strconv.Itoa(len(args))
	}
	return list(ctx, db.read, func(r row) (account.Entry, error) {
		var e account.Entry
		var when int64
		err := r.Scan(&e.ID, &when, &e.PersonID, &e.Who, &e.Address, &e.Act, &e.ProjectID, &e.About)
		e.At = at(when)
		return e, err
	}, `SELECT `+auditColumns+` FROM audit `+where+` ORDER BY id DESC LIMIT $1`, args...)
}
