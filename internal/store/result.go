package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"tas-service/internal/dispatch"
	"tas-service/internal/run"
)

const resultColumns = `run_id, playwright_id, test_id, browser, repeat_each, setup, companion, position, title, title_path, file, line,
	tags, owner, status, tries, error, verdict, bug_key, attempt_id, shard, unit, body_hash, overruled, quarantined`

// notAnswers are codes of results that tell nothing of their test.
const notAnswers = `('not-reported', 'interrupted', 'did-not-run', 'shard-lost', 'cancelled')`

func scanResult(r row) (run.Result, error) {
	var x run.Result
	var path, tags, tries string
	var errText sql.NullString
	var setup, companion, overruled, quarantined int
	err := r.Scan(&x.RunID, &x.PlaywrightID, &x.TestID, &x.Browser, &x.RepeatEach, &setup, &companion, &x.Position, &x.Title, &path, &x.File,
		&x.Line, &tags, &x.Owner, &x.Status, &tries, &errText, &x.Verdict, &x.BugKey,
		&x.AttemptID, &x.Shard, &x.Unit, &x.BodyHash, &overruled, &quarantined)
	if err != nil {
		return x, err
	}
	x.Setup, x.Companion, x.Overruled, x.Quarantined = setup == 1, companion == 1, overruled == 1, quarantined == 1
	for _, f := range []struct {
		text string
		into any
	}{{path, &x.TitlePath}, {tags, &x.Tags}, {tries, &x.Tries}} {
		if err := fromJSON(f.text, f.into); err != nil {
			return x, err
		}
	}
	if errText.Valid {
		return x, fromJSON(errText.String, &x.Error)
	}
	return x, nil
}

func errorColumns(x *run.Result) (text any, code string) {
	if x.Error == nil {
		return nil, ""
	}
	return toJSON(x.Error), x.Error.Code
}

func insertResult(ctx context.Context, st *sql.Stmt, x *run.Result) error {
	text, code := errorColumns(x)
	_, err := st.ExecContext(ctx, clean([]any{x.RunID, x.PlaywrightID, x.TestID, x.Browser, x.RepeatEach, bit(x.Setup), bit(x.Companion), x.Position, x.Title,
		toJSON(x.TitlePath), x.File, x.Line, toJSON(x.Tags), x.Owner, string(x.Status), toJSON(x.Tries), text, x.Verdict, x.BugKey,
		x.AttemptID, x.Shard, x.Unit, x.BodyHash, bit(x.Overruled), bit(x.Quarantined), bit(x.Counted()), code, x.Duration().Milliseconds()})...)
	return translate(err)
}

func saveResult(ctx context.Context, q querier, x *run.Result) error {
	text, code := errorColumns(x)
	return exec(ctx, q, `UPDATE result SET status = $3, tries = $4, error = $5, code = $6, counted = $7, verdict = $8, bug_key = $9,
		attempt_id = $10, shard = $11, overruled = $12, duration_ms = $13 WHERE run_id = $1 AND playwright_id = $2`,
		x.RunID, x.PlaywrightID, string(x.Status), toJSON(x.Tries), text, code, bit(x.Counted()), x.Verdict, x.BugKey,
		x.AttemptID, x.Shard, bit(x.Overruled), x.Duration().Milliseconds())
}

// Results answers results of a run in the order of its listing. Companions that do not
// count are left out.
func (db *DB) Results(ctx context.Context, q run.ResultQuery) ([]run.Result, error) {
	where := `run_id = $1 AND position > $2 AND counted = 1`
	args := []any{q.RunID, q.After}
	if len(q.Statuses) > 0 {
		marks := make([]string, len(q.Statuses))
		for i, s := range q.Statuses {
			args = append(args, string(s))
			marks[i] = "$" + strconv.Itoa(len(args))
		}
		where += ` AND status IN (` + strings.Join(marks, ", ") + `)`
	}
	args = append(args, q.Limit)
	return list(ctx, db.read, scanResult, `SELECT `+resultColumns+` FROM result WHERE `+where+
		` ORDER BY position LIMIT $`+strconv.Itoa(len(args)), args...)
}

// PlannedResult answers a result of a run by Playwright's ID.
func (db *DB) PlannedResult(ctx context.Context, runID, playwrightID string) (run.Result, error) {
	return one(ctx, db.read, scanResult, `SELECT `+resultColumns+` FROM result WHERE run_id = $1 AND playwright_id = $2`, runID, playwrightID)
}

// HasResult reports whether a test is part of a run.
func (db *DB) HasResult(ctx context.Context, runID, testID string) (bool, error) {
	n, err := one(ctx, db.read, scanInt, `SELECT count(*) FROM result WHERE run_id = $1 AND test_id = $2`, runID, testID)
	return n > 0, err
}

func scanInt(r row) (int, error) {
	var n int
	err := r.Scan(&n)
	return n, err
}

// Plan saves the results that a run will have, and the units that they are handed out in.
func (db *DB) Plan(ctx context.Context, attemptID string, results []run.Result, units []dispatch.Unit, change func(*dispatch.Attempt, *run.Run) (bool, error)) error {
	return db.tx(ctx, func(tx txn) error {
		save := false
		err := updateAttempt(ctx, tx, attemptID, func(a *dispatch.Attempt, r *run.Run) (err error) {
			save, err = change(a, r)
			return err
		})
		if err != nil || !save {
			return err
		}
		if err := insertUnits(ctx, tx, units); err != nil {
			return err
		}
		st, err := tx.PrepareContext(ctx, `INSERT INTO result (`+resultColumns+`, counted, code, duration_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
			ON CONFLICT (run_id, playwright_id) DO NOTHING`)
		if err != nil {
			return translate(err)
		}
		defer st.Close() //nolint:errcheck // the transaction's end closes it too
		for i := range results {
			if err := insertResult(ctx, st, &results[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Record changes the results with the given Playwright IDs, their run and attempt.
func (db *DB) Record(ctx context.Context, attemptID string, ids []string, change func(*dispatch.Attempt, *run.Run, map[string]*run.Result) error) error {
	return db.tx(ctx, func(tx txn) error {
		return updateAttempt(ctx, tx, attemptID, func(a *dispatch.Attempt, r *run.Run) error {
			results := make(map[string]*run.Result, len(ids))
			for _, id := range ids {
				if results[id] != nil {
					continue
				}
				found, err := list(ctx, tx, scanResult, `SELECT `+resultColumns+` FROM result WHERE run_id = $1 AND playwright_id = $2`, r.ID, id)
				if err != nil {
					return err
				}
				if len(found) == 1 {
					results[id] = &found[0]
				}
			}
			if err := change(a, r, results); err != nil {
				return err
			}
			for _, x := range results {
				if err := saveResult(ctx, tx, x); err != nil {
					return err
				}
			}
			if !r.Sharded() {
				return nil
			}
			return endUnits(ctx, tx, a, a.HeartbeatAt)
		})
	})
}

// CloseOpen changes every result of a run that has no final status; failed says whether
// any other has failed.
func (db *DB) CloseOpen(ctx context.Context, runID string, change func(r *run.Run, open []*run.Result, failed bool) error) error {
	return db.tx(ctx, func(tx txn) error {
		return updateRun(ctx, tx, runID, func(r *run.Run) error {
			open, err := list(ctx, tx, func(rw row) (*run.Result, error) {
				x, err := scanResult(rw)
				return &x, err
			}, `SELECT `+resultColumns+` FROM result WHERE run_id = $1 AND status IN ($2, $3) ORDER BY position`,
				runID, string(run.StatusPending), string(run.StatusRunning))
			if err != nil {
				return err
			}
			failed, err := one(ctx, tx, scanInt, `SELECT count(*) FROM result WHERE run_id = $1 AND status = $2`, runID, string(run.StatusFailed))
			if err != nil {
				return err
			}
			if err := change(r, open, failed > 0); err != nil {
				return err
			}
			for _, x := range open {
				if err := saveResult(ctx, tx, x); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// Tally counts a run's results anew.
func (db *DB) Tally(ctx context.Context, runID string) (run.Tally, error) {
	return tally(ctx, db.write, runID)
}

func tally(ctx context.Context, q querier, runID string) (run.Tally, error) {
	var t run.Tally
	type line struct {
		alike run.Result
		n     int
	}
	lines, err := list(ctx, q, func(r row) (line, error) {
		var l line
		var code string
		err := r.Scan(&l.alike.Status, &l.alike.Setup, &l.alike.Companion, &code, &l.alike.Unit, &l.alike.Overruled, &l.alike.Quarantined, &l.n)
		l.alike.Error = &run.Error{Code: code}
		return l, err
	}, `SELECT status, setup = 1, companion = 1, code, CASE WHEN unit < 0 THEN -1 ELSE 0 END, overruled = 1, quarantined = 1, count(*)
		FROM result WHERE run_id = $1 GROUP BY 1, 2, 3, 4, 5, 6, 7`, runID)
	if err != nil {
		return t, err
	}
	for _, l := range lines {
		t.Add(l.alike, l.n)
	}
	if t.OpenN > 0 {
		t.Open, err = list(ctx, q, func(r row) (string, error) {
			var file, title string
			err := r.Scan(&file, &title)
			return file + " › " + title, err
		}, `SELECT file, title FROM result WHERE run_id = $1 AND status IN ($2, $3) ORDER BY position LIMIT 5`,
			runID, string(run.StatusPending), string(run.StatusRunning))
	}
	return t, err
}
