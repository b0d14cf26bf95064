package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/dispatch"
	"tas-service/internal/run"
)

const unitColumns = `run_id, position, browser, file, serial, tests, predicted_ms, state, attempt_id, grant_number, losses, granted_at, done_at`

func scanUnit(r row) (dispatch.Unit, error) {
	var u dispatch.Unit
	var serial int
	var tests string
	var predicted int64
	var granted, done sql.NullInt64
	err := r.Scan(&u.RunID, &u.Position, &u.Browser, &u.File, &serial, &tests, &predicted, &u.State, &u.AttemptID, &u.Grant, &u.Losses, &granted, &done)
	if err != nil {
		return u, err
	}
	u.Serial, u.Predicted, u.GrantedAt, u.DoneAt = serial == 1, time.Duration(predicted)*time.Millisecond, atPtr(granted), atPtr(done)
	return u, fromJSON(tests, &u.Tests)
}

func insertUnits(ctx context.Context, tx txn, units []dispatch.Unit) error {
	if len(units) == 0 {
		return nil
	}
	st, err := tx.PrepareContext(ctx, `INSERT INTO unit (`+unitColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`)
	if err != nil {
		return translate(err)
	}
	defer st.Close() //nolint:errcheck // the transaction's end closes it too
	for _, u := range units {
		if _, err := st.ExecContext(ctx, clean([]any{u.RunID, u.Position, u.Browser, u.File, bit(u.Serial), toJSON(u.Tests), u.Predicted.Milliseconds(),
			string(u.State), u.AttemptID, u.Grant, u.Losses, msPtr(u.GrantedAt), msPtr(u.DoneAt)})...); err != nil {
			return translate(err)
		}
	}
	return nil
}

func saveUnit(ctx context.Context, q querier, u *dispatch.Unit) error {
	return exec(ctx, q, `UPDATE unit SET tests = $3, state = $4, attempt_id = $5, grant_number = $6, losses = $7, granted_at = $8, done_at = $9
		WHERE run_id = $1 AND position = $2`,
		u.RunID, u.Position, toJSON(u.Tests), string(u.State), u.AttemptID, u.Grant, u.Losses, msPtr(u.GrantedAt), msPtr(u.DoneAt))
}

// endUnits notes which units that an attempt holds have all their results.
func endUnits(ctx context.Context, tx txn, a *dispatch.Attempt, now time.Time) error {
	return exec(ctx, tx, `UPDATE unit SET state = $4, done_at = $5 WHERE run_id = $1 AND attempt_id = $2 AND state = $3
		AND NOT EXISTS (SELECT 1 FROM result x WHERE x.run_id = unit.run_id AND x.unit = unit.position AND x.status IN ($6, $7))`,
		a.RunID, a.ID, string(dispatch.Held), string(dispatch.Done), ms(now), string(run.StatusPending), string(run.StatusRunning))
}

// Unfinished counts the units of a run that are not over.
func (db *DB) Unfinished(ctx context.Context, runID string) (waiting, held int, err error) {
	err = db.read.QueryRowContext(ctx, `SELECT coalesce(sum(CASE WHEN state = $2 THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN state = $3 THEN 1 ELSE 0 END), 0)
		FROM unit WHERE run_id = $1 AND state IN ($2, $3)`, runID, string(dispatch.Waiting), string(dispatch.Held)).Scan(&waiting, &held)
	return waiting, held, translate(err)
}

// LastUnitDone answers when the last unit of a run was done; the zero time for none.
func (db *DB) LastUnitDone(ctx context.Context, runID string) (time.Time, error) {
	var last sql.NullInt64
	err := db.read.QueryRowContext(ctx, `SELECT max(done_at) FROM unit WHERE run_id = $1`, runID).Scan(&last)
	if err != nil || !last.Valid {
		return time.Time{}, translate(err)
	}
	return at(last.Int64), nil
}

// viewed is how many waiting units a lease sees.
const viewed = 100

// Lease lets decide see what waits, and saves what it grants.
func (db *DB) Lease(ctx context.Context, attemptID string, offered []string, received int64, decide func(*dispatch.Attempt, *run.Run, dispatch.View) ([]dispatch.Unit, error)) error {
	return db.tx(ctx, func(tx txn) error {
		return updateAttempt(ctx, tx, attemptID, func(a *dispatch.Attempt, r *run.Run) error {
			v, err := viewQueue(ctx, tx, a, r, offered, received)
			if err != nil {
				return err
			}
			grant, err := decide(a, r, v)
			if err != nil {
				return err
			}
			for i := range grant {
				u := &grant[i]
				if err := saveUnit(ctx, tx, u); err != nil {
					return err
				}
				if err := exec(ctx, tx, `UPDATE result SET attempt_id = $3, shard = $4 WHERE run_id = $1 AND unit = $2 AND status = $5`,
					u.RunID, u.Position, a.ID, a.Shard, string(run.StatusPending)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func viewQueue(ctx context.Context, tx txn, a *dispatch.Attempt, r *run.Run, offered []string, received int64) (v dispatch.View, err error) {
	if v.Again, err = list(ctx, tx, scanUnit, `SELECT `+unitColumns+` FROM unit WHERE run_id = $1 AND attempt_id = $2 AND state = $3 AND grant_number > $4 ORDER BY grant_number, position`,
		r.ID, a.ID, string(dispatch.Held), received); err != nil {
		return v, err
	}
	args := []any{r.ID, string(dispatch.Waiting)}
	marks := make([]string, len(offered))
	for i, b := range offered {
		args = append(args, b)
		marks[i] = "$" + strconv.Itoa(len(args))
	}
	if len(offered) > 0 {
		in := ` AND browser IN (` + strings.Join(marks, ", ") + `)`
		if v.Waiting, err = list(ctx, tx, scanUnit, `SELECT `+unitColumns+` FROM unit WHERE run_id = $1 AND state = $2`+in+` ORDER BY position LIMIT `+strconv.Itoa(viewed), args...); err != nil {
			return v, err
		}
		v.WaitingN = len(v.Waiting)
		for _, u := range v.Waiting {
			v.WaitingIn += u.Predicted
		}
		if v.WaitingN == viewed {
			var predicted int64
			err := tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(predicted_ms), 0) FROM unit WHERE run_id = $1 AND state = $2`+in, args...).Scan(&v.WaitingN, &predicted)
			if err != nil {
				return v, translate(err)
			}
			v.WaitingIn = time.Duration(predicted) * time.Millisecond
		}
	}
	type open struct {
		browser string
		n       int
	}
	opens, err := list(ctx, tx, func(r row) (o open, err error) { return o, r.Scan(&o.browser, &o.n) },
		`SELECT browser, count(*) FROM unit WHERE run_id = $1 AND state IN ($2, $3) GROUP BY browser ORDER BY browser`, r.ID, string(dispatch.Waiting), string(dispatch.Held))
	if err != nil {
		return v, err
	}
	for _, o := range opens {
		v.Open += o.n
		v.Browsers = append(v.Browsers, o.browser)
	}
	shards, err := one(ctx, tx, scanInt, `SELECT count(*) FROM attempt WHERE run_id = $1 AND open = 1 AND kind = $2 AND claimed_at IS NOT NULL`, r.ID, string(dispatch.ForTests))
	v.Workers = shards * max(1, r.Workers)
	return v, err
}

// Release lets change see the units that an attempt holds with the results of their tests,
// and those of set-up, which every shard runs.
func (db *DB) Release(ctx context.Context, attemptID string, change func(a *dispatch.Attempt, r *run.Run, held []*dispatch.Unit, results map[string]*run.Result) error) error {
	return db.tx(ctx, func(tx txn) error {
		return updateAttempt(ctx, tx, attemptID, func(a *dispatch.Attempt, r *run.Run) error {
			var held []*dispatch.Unit
			results := map[string]*run.Result{}
			if r.Sharded() {
				var err error
				if held, err = list(ctx, tx, pointer(scanUnit), `SELECT `+unitColumns+` FROM unit WHERE run_id = $1 AND attempt_id = $2 AND state = $3 ORDER BY position`,
					r.ID, a.ID, string(dispatch.Held)); err != nil {
					return err
				}
				touched, err := list(ctx, tx, pointer(scanResult), `SELECT `+resultColumns+` FROM result WHERE run_id = $1 AND (unit < 0
					OR unit IN (SELECT position FROM unit WHERE run_id = $1 AND attempt_id = $2 AND state = $3)) ORDER BY position`,
					r.ID, a.ID, string(dispatch.Held))
				if err != nil {
					return err
				}
				for _, x := range touched {
					results[x.PlaywrightID] = x
				}
			}
			if err := change(a, r, held, results); err != nil {
				return err
			}
			for _, u := range held {
				if err := saveUnit(ctx, tx, u); err != nil {
					return err
				}
			}
			for _, x := range results {
				if err := saveResult(ctx, tx, x); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func pointer[T any](scan func(row) (T, error)) func(row) (*T, error) {
	return func(r row) (*T, error) {
		t, err := scan(r)
		return &t, err
	}
}

// PlannedTests answers what is planned of a run, by Playwright's ID.
func (db *DB) PlannedTests(ctx context.Context, runID string) (map[string]dispatch.Planned, error) {
	type line struct {
		id string
		dispatch.Planned
	}
	lines, err := list(ctx, db.read, func(r row) (l line, err error) {
		var companion, setup int
		err = r.Scan(&l.id, &l.TestID, &companion, &setup)
		l.Companion, l.Setup = companion == 1, setup == 1
		return l, err
	}, `SELECT playwright_id, test_id, companion, setup FROM result WHERE run_id = $1`, runID)
	out := make(map[string]dispatch.Planned, len(lines))
	for _, l := range lines {
		out[l.id] = l.Planned
	}
	return out, err
}

// Unreported answers results that ended in attempts which left no report, in their order.
func (db *DB) Unreported(ctx context.Context, runID string, each func(run.Result) error) error {
	after := -1
	for {
		page, err := list(ctx, db.read, scanResult, `SELECT `+resultColumns+` FROM result WHERE run_id = $1 AND unit >= 0 AND position > $2
			AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.id = result.attempt_id AND a.blob_key <> '') ORDER BY position LIMIT $3`, runID, after, viewed)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, x := range page {
			if err := each(x); err != nil {
				return err
			}
		}
		after = page[len(page)-1].Position
	}
}

// Shards answers the shards of a run.
func (db *DB) Shards(ctx context.Context, r run.Run) ([]run.Shard, error) {
	attempts, err := db.RunAttempts(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	shards := dispatch.ShardsOf(r, attempts)
	type line struct{ shard, total, executed int }
	lines, err := list(ctx, db.read, func(r row) (l line, err error) { return l, r.Scan(&l.shard, &l.total, &l.executed) },
		`SELECT shard, count(*), coalesce(sum(CASE WHEN status IN ($2, $3) THEN 0 ELSE 1 END), 0) FROM result
		WHERE run_id = $1 AND unit >= 0 AND attempt_id <> '' GROUP BY shard`, r.ID, string(run.StatusPending), string(run.StatusRunning))
	for _, l := range lines {
		if l.shard >= 0 && l.shard < len(shards) {
			shards[l.shard].Total, shards[l.shard].Executed = l.total, l.executed
		}
	}
	if err != nil {
		return shards, err
	}
	type work struct {
		shard     int
		predicted int64
	}
	given, err := list(ctx, db.read, func(r row) (w work, err error) { return w, r.Scan(&w.shard, &w.predicted) },
		`SELECT a.shard, CAST(sum(u.predicted_ms) AS BIGINT) FROM unit u JOIN attempt a ON a.id = u.attempt_id WHERE u.run_id = $1 GROUP BY a.shard`, r.ID)
	for _, w := range given {
		if w.shard >= 0 && w.shard < len(shards) {
			shards[w.shard].Predicted = time.Duration(w.predicted) * time.Millisecond
		}
	}
	return shards, err
}
