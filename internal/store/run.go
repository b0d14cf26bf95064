package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

const runColumns = `id, project_id, name, trigger_kind, phase, verdict, branch, commit_hash, isolation, workers, total, executed,
	counts, warnings, detail, has_report, created_at, started_at, first_test_at, finished_at, request, shard_count, parked, on_default, environment, pull`

// runRequest is what was asked for, as one JSON value that is saved once.
type runRequest struct {
	Selection    run.Selection     `json:"selection"`
	EnvOverrides map[string]string `json:"envOverrides,omitempty"`
	AutoHeal     *run.AutoHeal     `json:"autoHeal,omitempty"`
	StartedBy    string            `json:"startedBy,omitempty"`
	Trial        *run.Trial        `json:"trial,omitempty"`
}

// runDetail is what else of a run nothing selects by.
type runDetail struct {
	Playwright string            `json:"playwright,omitempty"`
	Runner     string            `json:"runner,omitempty"`
	Error      *run.Error        `json:"error,omitempty"`
	Ending     *run.Ending       `json:"ending,omitempty"`
	Planner    string            `json:"planner,omitempty"`
	Plan       *run.Plan         `json:"plan,omitempty"`
	Merged     bool              `json:"merged,omitempty"`
	Cancel     *run.Cancellation `json:"cancel,omitempty"`
	HealBatch  string            `json:"healBatch,omitempty"`
	Edited     *attempt.Edited   `json:"edited,omitempty"`
}

func scanRun(r row) (run.Run, error) {
	var x run.Run
	var counts, warnings, detail, request string
	var pull string
	var report, parked, onDefault int
	var created int64
	var started, first, finished sql.NullInt64
	err := r.Scan(&x.ID, &x.ProjectID, &x.Name, &x.Trigger, &x.Phase, &x.Verdict, &x.Branch, &x.Commit, &x.Isolation, &x.Workers,
		&x.Total, &x.Executed, &counts, &warnings, &detail, &report, &created, &started, &first, &finished, &request, &x.ShardCount, &parked, &onDefault, &x.Environment, &pull)
	if err != nil {
		return x, err
	}
	x.HasReport, x.Parked, x.OnDefault, x.CreatedAt = report == 1, parked == 1, onDefault == 1, at(created)
	x.StartedAt, x.FirstTestAt, x.FinishedAt = atPtr(started), atPtr(first), atPtr(finished)
	var d runDetail
	if err := fromJSON(detail, &d); err != nil {
		return x, err
	}
	x.Playwright, x.Runner, x.Error, x.Ending = d.Playwright, d.Runner, d.Error, d.Ending
	x.Planner, x.Plan, x.Merged, x.Cancel, x.HealBatch, x.Edited = d.Planner, d.Plan, d.Merged, d.Cancel, d.HealBatch, d.Edited
	var q runRequest
	if err := fromJSON(request, &q); err != nil {
		return x, err
	}
	x.Selection, x.EnvOverrides, x.AutoHeal, x.StartedBy, x.Trial = q.Selection, q.EnvOverrides, q.AutoHeal, q.StartedBy, q.Trial
	if pull != "" {
		if err := fromJSON(pull, &x.Pull); err != nil {
			return x, err
		}
	}
	if err := fromJSON(counts, &x.Counts); err != nil {
		return x, err
	}
	if warnings == "null" {
		return x, nil
	}
	return x, fromJSON(warnings, &x.Warnings)
}

func detailOf(x *run.Run) string {
	return toJSON(runDetail{Playwright: x.Playwright, Runner: x.Runner, Error: x.Error, Ending: x.Ending,
		Planner: x.Planner, Plan: x.Plan, Merged: x.Merged, Cancel: x.Cancel, HealBatch: x.HealBatch, Edited: x.Edited})
}

// CreateRun saves a new run, unless once says that it was started before.
func (db *DB) CreateRun(ctx context.Context, x *run.Run, once *run.Once) (earlier *run.Run, err error) {
	err = db.tx(ctx, func(tx txn) error {
		if once != nil {
			// Calls of one project with a key wait for each other: the second sees the first.
			if err := lockProject(ctx, tx, x.ProjectID); err != nil {
				return err
			}
			if earlier, err = startedBefore(ctx, tx, x, *once); err != nil || earlier != nil {
				return err
			}
		}
		if err := insertRun(ctx, tx, x); err != nil || once == nil {
			return err
		}
		return exec(ctx, tx, `INSERT INTO start_once (project_id, key, fingerprint, run_id, created_at) VALUES ($1, $2, $3, $4, $5)`,
			x.ProjectID, once.Key, once.Fingerprint, x.ID, ms(x.CreatedAt))
	})
	return earlier, err
}

// startedBefore answers the run that the same call started, or nil.
func startedBefore(ctx context.Context, tx txn, x *run.Run, once run.Once) (*run.Run, error) {
	if err := exec(ctx, tx, `DELETE FROM start_once WHERE created_at < $1`, ms(x.CreatedAt.Add(-run.OnceFor))); err != nil {
		return nil, err
	}
	var fingerprint, id string
	err := tx.QueryRowContext(ctx, `SELECT fingerprint, run_id FROM start_once WHERE project_id = $1 AND key = $2`, clean([]any{x.ProjectID, once.Key})...).Scan(&fingerprint, &id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, translate(err)
	case fingerprint != once.Fingerprint:
		return nil, fault.New(fault.Conflict, "This Idempotency-Key was used with another request.").
			WithFix("Use a new key for a new request, and the same request when you try again.")
	}
	r, err := one(ctx, tx, scanRun, runByID, id)
	return &r, err
}

func insertRun(ctx context.Context, q querier, x *run.Run) error {
	return exec(ctx, q, `INSERT INTO run (`+runColumns+`, terminal)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)`,
		x.ID, x.ProjectID, x.Name, string(x.Trigger), string(x.Phase), string(x.Verdict), x.Branch, x.Commit, x.Isolation, x.Workers,
		x.Total, x.Executed, toJSON(x.Counts), toJSON(x.Warnings), detailOf(x), bit(x.HasReport),
		ms(x.CreatedAt), msPtr(x.StartedAt), msPtr(x.FirstTestAt), msPtr(x.FinishedAt),
		toJSON(runRequest{Selection: x.Selection, EnvOverrides: x.EnvOverrides, AutoHeal: x.AutoHeal, StartedBy: x.StartedBy, Trial: x.Trial}), x.ShardCount, bit(x.Parked), bit(x.OnDefault), x.Environment, pullOf(x), bit(x.Terminal()))
}

func pullOf(x *run.Run) string {
	if x.Pull == nil {
		return ""
	}
	return toJSON(x.Pull)
}

// changing answers the columns of a run that can change, for saveRun.
func changing(x *run.Run) []any {
	return []any{x.ID, string(x.Phase), string(x.Verdict), x.Branch, x.Commit, x.Isolation, x.Workers, x.Total, x.Executed, toJSON(x.Counts),
		toJSON(x.Warnings), detailOf(x), bit(x.HasReport), bit(x.Terminal()), msPtr(x.StartedAt), msPtr(x.FirstTestAt), msPtr(x.FinishedAt), bit(x.Parked)}
}

const saveRun = `UPDATE run SET phase = $2, verdict = $3, branch = $4, commit_hash = $5, isolation = $6, workers = $7,
	total = $8, executed = $9, counts = $10, warnings = $11, detail = $12, has_report = $13, terminal = $14,
	started_at = $15, first_test_at = $16, finished_at = $17, parked = $18 WHERE id = $1`

// forPeople leaves out runs that nobody asked for as such: looks and trials.
const forPeople = `trigger_kind NOT IN ('refresh', 'trial')`

const runByID = `SELECT ` + runColumns + ` FROM run WHERE id = $1`

// Run answers one run.
func (db *DB) Run(ctx context.Context, id string) (run.Run, error) {
	return one(ctx, db.read, scanRun, runByID, id)
}

// RunByName answers a run of a project by its job name.
func (db *DB) RunByName(ctx context.Context, projectID, name string) (run.Run, error) {
	return one(ctx, db.read, scanRun, `SELECT `+runColumns+` FROM run WHERE name = $1 AND project_id = $2`, name, projectID)
}

// Runs answers runs of a project, newest first.
func (db *DB) Runs(ctx context.Context, q run.Query) ([]run.Run, error) {
	where, args := `project_id = $1 AND `+forPeople, []any{q.ProjectID}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if len(q.Phases) > 0 {
		marks := make([]string, len(q.Phases))
		for i, p := range q.Phases {
			marks[i] = arg(string(p))
		}
		where += ` AND phase IN (` + strings.Join(marks, ", ") + `)`
	}
	if q.Branch != "" {
		where += ` AND branch = ` + arg(q.Branch)
	}
	if q.Environment != "" {
		in := arg(q.Environment)
		if q.Default {
			in += `, ''`
		}
		where += ` AND environment IN (` + in + `)`
	}
	if q.Trigger != "" {
		where += ` AND trigger_kind = ` + arg(string(q.Trigger))
	}
	if q.Text != "" {
		text := arg(escapeLike(strings.ToLower(q.Text)) + "%")
		where += ` AND (id LIKE ` + text + ` ESCAPE '\' OR lower(name) LIKE ` + text + ` ESCAPE '\' OR commit_hash LIKE ` + text + ` ESCAPE '\')`
	}
	if c := q.After; c != nil {
		t, i := arg(c.CreatedMs), arg(c.ID)
		where += ` AND (created_at < ` + t + ` OR (created_at = ` + t + ` AND id < ` + i + `))`
	}
	return list(ctx, db.read, scanRun, `SELECT `+runColumns+` FROM run WHERE `+where+` ORDER BY created_at DESC, id DESC LIMIT `+arg(q.Limit), args...)
}

// LatestRun answers the project's run that finished last and was not started by hand.
func (db *DB) LatestRun(ctx context.Context, projectID string) (run.Run, error) {
	return one(ctx, db.read, scanRun, `SELECT `+runColumns+` FROM run
		WHERE project_id = $1 AND terminal = 1 AND trigger_kind <> $2 AND `+forPeople+` ORDER BY finished_at DESC, id DESC LIMIT 1`,
		projectID, string(run.TriggerManual))
}

// OpenRuns answers every run that something is left to do for, oldest first.
func (db *DB) OpenRuns(ctx context.Context) ([]run.Run, error) {
	return list(ctx, db.read, scanRun, `SELECT `+runColumns+` FROM run WHERE terminal = 0 AND parked = 0 ORDER BY created_at, id`)
}

// PhaseCounts answers how many runs are in each phase that is not final.
func (db *DB) PhaseCounts(ctx context.Context) (map[run.Phase]int, error) {
	type pair struct {
		phase run.Phase
		n     int
	}
	pairs, err := list(ctx, db.read, func(r row) (pair, error) {
		var p pair
		err := r.Scan(&p.phase, &p.n)
		return p, err
	}, `SELECT phase, count(*) FROM run WHERE terminal = 0 GROUP BY phase`)
	out := map[run.Phase]int{}
	for _, p := range pairs {
		out[p.phase] = p.n
	}
	return out, err
}

// UpdateRun changes one run.
func (db *DB) UpdateRun(ctx context.Context, id string, change func(*run.Run) error) error {
	return db.tx(ctx, func(tx txn) error { return updateRun(ctx, tx, id, change) })
}

func updateRun(ctx context.Context, tx txn, id string, change func(*run.Run) error) error {
	x, err := one(ctx, tx, scanRun, runByID+tx.lock, id)
	if err != nil {
		return err
	}
	before, wasOver, was := changing(&x), x.Terminal(), x
	if err := change(&x); err != nil {
		return err
	}
	after := changing(&x)
	if slices.Equal(before, after) {
		return nil // read only to lock it: most of what shards ask
	}
	if err := exec(ctx, tx, saveRun, after...); err != nil {
		return err
	}
	if x.Terminal() && !wasOver && x.Trigger == run.TriggerRefresh {
		return endRefresh(ctx, tx, &x)
	}
	if x.Terminal() && !wasOver && x.Trial == nil {
		return sumUp(ctx, tx, &x)
	}
	if wasOver && !sameOutcome(was, x) && x.Trial == nil {
		return exec(ctx, tx, `UPDATE run SET announced = 0 WHERE id = $1`, id)
	}
	return nil
}

// EndedBefore answers runs that ended before what their project keeps, or else keep, and
// still have their artifacts. keep 0 keeps for ever.
func (db *DB) EndedBefore(ctx context.Context, now time.Time, keep time.Duration, limit int) ([]string, error) {
	before := ms(now.Add(-keep))
	if keep <= 0 {
		before = 0
	}
	return list(ctx, db.read, func(r row) (string, error) {
		var id string
		err := r.Scan(&id)
		return id, err
	}, `SELECT run.id FROM run JOIN project ON project.id = run.project_id WHERE run.terminal = 1 AND run.swept = 0
		AND run.finished_at < CASE WHEN project.keep_days > 0 THEN $1 - project.keep_days * 86400000 ELSE $2 END ORDER BY run.finished_at LIMIT $3`, ms(now), before, limit)
}

// Swept notes that a run's artifacts are gone.
func (db *DB) Swept(ctx context.Context, runID string) error {
	return db.tx(ctx, func(tx txn) error {
		if err := exec(ctx, tx, `UPDATE run SET swept = 1, has_report = 0 WHERE id = $1`, runID); err != nil {
			return err
		}
		return exec(ctx, tx, `DELETE FROM artifact WHERE run_id = $1`, runID)
	})
}

// Unannounced answers runs that have ended and that not everybody was told of.
func (db *DB) Unannounced(ctx context.Context, after string, limit int) ([]run.Run, error) {
	return list(ctx, db.read, scanRun, `SELECT `+runColumns+` FROM run WHERE terminal = 1 AND announced = 0 AND `+forPeople+` AND id > $1 ORDER BY id LIMIT $2`, after, limit)
}

// Announced notes that everybody was told what came of a run, unless that has changed since.
func (db *DB) Announced(ctx context.Context, told run.Run) error {
	return db.tx(ctx, func(tx txn) error {
		now, err := one(ctx, tx, scanRun, runByID+tx.lock, told.ID)
		if fault.KindOf(err) == fault.NotFound || err == nil && !sameOutcome(now, told) {
			return nil
		}
		if err != nil {
			return err
		}
		return exec(ctx, tx, `UPDATE run SET announced = 1 WHERE id = $1`, told.ID)
	})
}

// sameOutcome reports whether two states of a run say the same of it.
func sameOutcome(a, b run.Run) bool {
	return a.Phase == b.Phase && a.Verdict == b.Verdict && a.Counts == b.Counts && a.Total == b.Total
}
