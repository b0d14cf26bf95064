package store

import (
	"context"

	"tas-service/internal/dispatch"
	"tas-service/internal/run"
)

const historyColumns = `test_id, browser, file, recent, run_id`

func scanHistory(r row) (dispatch.History, error) {
	var h dispatch.History
	var recent string
	if err := r.Scan(&h.TestID, &h.Browser, &h.File, &recent, &h.RunID); err != nil {
		return h, err
	}
	return h, fromJSON(recent, &h.Recent)
}

// Histories answers how long a project's tests took when they last passed.
func (db *DB) Histories(ctx context.Context, projectID string) ([]dispatch.History, error) {
	return list(ctx, db.read, scanHistory, `SELECT `+historyColumns+` FROM history WHERE project_id = $1`, projectID)
}

// LearnDurations brings histories up to date with what passed in a run, once for each run.
func (db *DB) LearnDurations(ctx context.Context, runID string) error {
	return db.tx(ctx, func(tx txn) error {
		var projectID string
		if err := tx.QueryRowContext(ctx, `SELECT project_id FROM run WHERE id = $1`, runID).Scan(&projectID); err != nil {
			return translate(err)
		}
		// Two runs of one project wait for each other.
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		passed, err := list(ctx, tx, scanResult, `SELECT `+resultColumns+` FROM result WHERE run_id = $1 AND status IN ($2, $3) AND setup = 0 AND repeat_each = 0`,
			runID, string(run.StatusPassed), string(run.StatusFlaky))
		if err != nil || len(passed) == 0 {
			return err
		}
		known, err := list(ctx, tx, scanHistory, `SELECT `+historyColumns+` FROM history WHERE project_id = $1`, projectID)
		if err != nil {
			return err
		}
		byTest := map[[2]string]dispatch.History{}
		for _, h := range known {
			byTest[[2]string{h.TestID, h.Browser}] = h
		}
		st, err := tx.PrepareContext(ctx, `INSERT INTO history (project_id, `+historyColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (project_id, test_id, browser) DO UPDATE SET file = excluded.file, recent = excluded.recent, run_id = excluded.run_id`)
		if err != nil {
			return translate(err)
		}
		defer st.Close() //nolint:errcheck // the transaction's end closes it too
		for _, x := range passed {
			h := byTest[[2]string{x.TestID, x.Browser}]
			if h.RunID == runID {
				continue // learnt already
			}
			h.Learn(runID, dispatch.Sample{Ms: x.Duration().Milliseconds(), BodyHash: x.BodyHash})
			if _, err := st.ExecContext(ctx, clean([]any{projectID, x.TestID, x.Browser, x.File, toJSON(h.Recent), h.RunID})...); err != nil {
				return translate(err)
			}
		}
		return nil
	})
}
