package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"tas-service/internal/run"
)

// AskRefresh counts a wish up.
func (db *DB) AskRefresh(ctx context.Context, projectID string, when time.Time) error {
	return db.tx(ctx, func(tx txn) error {
		return exec(ctx, tx, `INSERT INTO refresh (project_id, wanted, began, run_id, wanted_at, done_at, commit_hash, trouble) VALUES ($1, 1, 0, '', $2, 0, '', '')
			ON CONFLICT (project_id) DO UPDATE SET wanted = refresh.wanted + 1, wanted_at = excluded.wanted_at`, projectID, ms(when))
	})
}

// WantedRefreshes answers projects in the order of their wishes.
func (db *DB) WantedRefreshes(ctx context.Context) ([]string, error) {
	return list(ctx, db.read, scanText, `SELECT project_id FROM refresh WHERE run_id = '' AND wanted > began ORDER BY wanted_at, project_id`)
}

// BeginRefresh saves the run together with the note that it is under way.
func (db *DB) BeginRefresh(ctx context.Context, r *run.Run) (begun bool, err error) {
	err = db.tx(ctx, func(tx txn) error {
		res, err := tx.ExecContext(ctx, `UPDATE refresh SET run_id = $2, began = wanted WHERE project_id = $1 AND run_id = '' AND wanted > began`, r.ProjectID, r.ID)
		if err != nil {
			return translate(err)
		}
		n, err := res.RowsAffected()
		if begun = n == 1; err != nil || !begun {
			return translate(err)
		}
		return insertRun(ctx, tx, r)
	})
	return begun && err == nil, err
}

// endRefresh keeps what came of a look and removes the run that it was.
func endRefresh(ctx context.Context, tx txn, x *run.Run) error {
	trouble := ""
	if x.Error != nil {
		trouble = toJSON(x.Error)
	}
	err := exec(ctx, tx, `UPDATE refresh SET run_id = '', done_at = $2, commit_hash = $3, trouble = $4 WHERE run_id = $1`, x.ID, msPtr(x.FinishedAt), x.Commit, trouble)
	for _, table := range []string{"result", "unit", "artifact", "attempt"} {
		if err == nil {
			err = exec(ctx, tx, `DELETE FROM `+table+` WHERE run_id = $1`, x.ID)
		}
	}
	if err != nil {
		return err
	}
	return exec(ctx, tx, `DELETE FROM run WHERE id = $1`, x.ID)
}

// Refresh answers what is known of a project's looks; nothing for one that had none.
func (db *DB) Refresh(ctx context.Context, projectID string) (run.Refresh, error) {
	out := run.Refresh{ProjectID: projectID}
	var wanted, began, done int64
	var id, trouble string
	err := db.read.QueryRowContext(ctx, `SELECT wanted, began, run_id, done_at, commit_hash, trouble FROM refresh WHERE project_id = $1`, projectID).Scan(&wanted, &began, &id, &done, &out.Commit, &trouble)
	if errors.Is(err, sql.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return out, translate(err)
	}
	out.Pending = wanted > began || id != ""
	if done > 0 {
		out.DoneAt = at(done)
	}
	if trouble == "" {
		return out, nil
	}
	return out, fromJSON(trouble, &out.Trouble)
}
