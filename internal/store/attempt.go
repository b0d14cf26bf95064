package store

import (
	"context"
	"database/sql"
	"time"

	"tas-service/internal/artifact"
	"tas-service/internal/dispatch"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

const attemptColumns = `id, run_id, project_id, number, state, token_hash, seq, doing, reason, heartbeat_at, created_at, finished_at,
	kind, shard, claimed_at, grants, status, blob_key, place`

func scanAttempt(r row) (dispatch.Attempt, error) {
	var a dispatch.Attempt
	var beat, created int64
	var finished, claimed sql.NullInt64
	err := r.Scan(&a.ID, &a.RunID, &a.ProjectID, &a.Number, &a.State, &a.TokenHash, &a.Seq, &a.Doing, &a.Reason, &beat, &created, &finished,
		&a.Kind, &a.Shard, &claimed, &a.Grants, &a.Status, &a.BlobKey, &a.Place)
	a.HeartbeatAt, a.CreatedAt, a.FinishedAt, a.ClaimedAt = at(beat), at(created), atPtr(finished), atPtr(claimed)
	return a, err
}

// OpenAttempts answers every attempt that may still report.
func (db *DB) OpenAttempts(ctx context.Context) ([]dispatch.Attempt, error) {
	return list(ctx, db.read, scanAttempt, `SELECT `+attemptColumns+` FROM attempt WHERE open = 1 ORDER BY created_at, id`)
}

// RunAttempts answers every attempt that a run has had.
func (db *DB) RunAttempts(ctx context.Context, runID string) ([]dispatch.Attempt, error) {
	return list(ctx, db.read, scanAttempt, `SELECT `+attemptColumns+` FROM attempt WHERE run_id = $1 ORDER BY number`, runID)
}

// Beat notes that an attempt lives, if it is open. It touches nothing that others wait for.
func (db *DB) Beat(ctx context.Context, attemptID string, now time.Time, doing string) (open bool, err error) {
	res, err := db.write.ExecContext(ctx, `UPDATE attempt SET heartbeat_at = $2, doing = $3 WHERE id = $1 AND open = 1`, clean([]any{attemptID, ms(now), doing})...)
	if err != nil {
		return false, translate(err)
	}
	n, err := res.RowsAffected()
	return n == 1, translate(err)
}

// AttemptByToken answers the attempt that a token's hash belongs to.
func (db *DB) AttemptByToken(ctx context.Context, hash string) (dispatch.Attempt, error) {
	return one(ctx, db.read, scanAttempt, `SELECT `+attemptColumns+` FROM attempt WHERE token_hash = $1`, hash)
}

// CreateAttempt saves a new attempt together with its run's change.
func (db *DB) CreateAttempt(ctx context.Context, a dispatch.Attempt, change func(*run.Run) error) error {
	return db.tx(ctx, func(tx txn) error {
		if err := updateRun(ctx, tx, a.RunID, change); err != nil {
			return err
		}
		return exec(ctx, tx, `INSERT INTO attempt (`+attemptColumns+`, open) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
			a.ID, a.RunID, a.ProjectID, a.Number, string(a.State), a.TokenHash, a.Seq, a.Doing, a.Reason,
			ms(a.HeartbeatAt), ms(a.CreatedAt), msPtr(a.FinishedAt), string(a.Kind), a.Shard, msPtr(a.ClaimedAt), a.Grants, a.Status, a.BlobKey, a.Place, bit(a.State.Open()))
	})
}

// UpdateAttempt changes an attempt and its run.
func (db *DB) UpdateAttempt(ctx context.Context, id string, change func(*dispatch.Attempt, *run.Run) error) error {
	return db.tx(ctx, func(tx txn) error { return updateAttempt(ctx, tx, id, change) })
}

func updateAttempt(ctx context.Context, tx txn, id string, change func(*dispatch.Attempt, *run.Run) error) error {
	var runID string
	if err := tx.QueryRowContext(ctx, `SELECT run_id FROM attempt WHERE id = $1`, id).Scan(&runID); err != nil {
		return translate(err)
	}
	return updateRun(ctx, tx, runID, func(r *run.Run) error {
		a, err := one(ctx, tx, scanAttempt, `SELECT `+attemptColumns+` FROM attempt WHERE id = $1`+tx.lock, id)
		if err != nil {
			return err
		}
		if err := change(&a, r); err != nil {
			return err
		}
		return exec(ctx, tx, `UPDATE attempt SET state = $2, open = $3, seq = $4, doing = $5, reason = $6, heartbeat_at = $7, finished_at = $8,
			claimed_at = $9, grants = $10, status = $11, blob_key = $12 WHERE id = $1`,
			a.ID, string(a.State), bit(a.State.Open()), a.Seq, a.Doing, a.Reason, ms(a.HeartbeatAt), msPtr(a.FinishedAt),
			msPtr(a.ClaimedAt), a.Grants, a.Status, a.BlobKey)
	})
}

// AddArtifact notes an artifact of an open attempt. Its TestID comes in as Playwright's
// ID of the test and is saved as the test's own, with its browser.
func (db *DB) AddArtifact(ctx context.Context, attemptID string, x artifact.Artifact, change func(*dispatch.Attempt, *run.Run) error) error {
	return db.tx(ctx, func(tx txn) error {
		return updateAttempt(ctx, tx, attemptID, func(a *dispatch.Attempt, r *run.Run) error {
			if !a.State.Open() {
				return fault.New(fault.Superseded, "This attempt is %s.", a.State)
			}
			if x.TestID == "" {
				return change(a, r) // of the run as a whole: found by its name
			}
			type place struct{ id, browser string }
			test, err := one(ctx, tx, func(rw row) (p place, err error) { return p, rw.Scan(&p.id, &p.browser) },
				`SELECT test_id, browser FROM result WHERE run_id = $1 AND playwright_id = $2`, r.ID, x.TestID)
			if err != nil {
				return err
			}
			return exec(ctx, tx, `INSERT INTO artifact (id, run_id, test_id, browser, retry, name, kind, content_type, size, blob_key, created_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING`,
				x.ID, x.RunID, test.id, test.browser, x.Retry, x.Name, string(x.Kind), x.ContentType, x.Size, x.Key, ms(x.CreatedAt))
		})
	})
}

// Artifacts answers what a test of a run left behind, in the order of its coming.
func (db *DB) Artifacts(ctx context.Context, runID, testID string) ([]artifact.Artifact, error) {
	return list(ctx, db.read, func(r row) (artifact.Artifact, error) {
		var x artifact.Artifact
		var created int64
		err := r.Scan(&x.ID, &x.RunID, &x.TestID, &x.Browser, &x.Retry, &x.Name, &x.Kind, &x.ContentType, &x.Size, &x.Key, &created)
		x.CreatedAt = at(created)
		return x, err
	}, `SELECT id, run_id, test_id, browser, retry, name, kind, content_type, size, blob_key, created_at FROM artifact
		WHERE run_id = $1 AND test_id = $2 ORDER BY created_at, id`, runID, testID)
}
