package store

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"tas-service/internal/run"
)

// Branches answers the branches of a project's runs, the one of the latest run first.
func (db *DB) Branches(ctx context.Context, projectID string, limit int) ([]string, error) {
	return list(ctx, db.read, scanText, `SELECT branch FROM run WHERE project_id = $1 AND branch <> '' AND `+forPeople+` GROUP BY branch ORDER BY max(created_at) DESC LIMIT $2`, projectID, limit)
}

// RunBefore answers the run that came to a verdict on the same branch before another was
// started.
func (db *DB) RunBefore(ctx context.Context, r run.Run) (run.Run, error) {
	return one(ctx, db.read, scanRun, `SELECT `+runColumns+` FROM run WHERE project_id = $1 AND branch = $2 AND terminal = 1 AND phase NOT IN ($5, $6) AND total > 0 AND `+forPeople+`
		AND (created_at < $3 OR (created_at = $3 AND id < $4)) ORDER BY created_at DESC, id DESC LIMIT 1`,
		r.ProjectID, r.Branch, ms(r.CreatedAt), r.ID, string(run.Cancelled), string(run.ProcessError))
}

// Failures groups what failed in a run, or was flaky, by bug.
func (db *DB) Failures(ctx context.Context, runID string, groups, each int) ([]run.Failures, error) {
	const failing = `run_id = $1 AND counted = 1 AND status IN ('failed', 'bug', 'flaky')`
	out, err := list(ctx, db.read, func(r row) (f run.Failures, err error) {
		var flaky int
		err = r.Scan(&flaky, &f.BugKey, &f.N, &f.Quarantined)
		f.Flaky = flaky == 1
		return f, err
	}, `SELECT CASE WHEN status = 'flaky' THEN 1 ELSE 0 END, CASE WHEN status = 'flaky' THEN '' ELSE bug_key END, count(*), CAST(sum(quarantined) AS BIGINT) FROM result
		WHERE `+failing+` GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2 LIMIT $2`, runID, groups)
	if err != nil || len(out) == 0 {
		return out, err
	}
	type place struct {
		flaky bool
		key   string
	}
	index := map[place]int{}
	for i, f := range out {
		index[place{f.Flaky, f.BugKey}] = i
	}
	_, err = list(ctx, db.read, func(r row) (struct{}, error) {
		x, err := scanResult(r)
		key := place{flaky: x.Status == run.StatusFlaky}
		if !key.flaky {
			key.key = x.BugKey
		}
		if i, ok := index[key]; ok && err == nil {
			out[i].First = append(out[i].First, x)
		}
		return struct{}{}, err
	}, `SELECT `+resultColumns+` FROM (SELECT `+resultColumns+`, row_number() OVER (
			PARTITION BY CASE WHEN status = 'flaky' THEN 1 ELSE 0 END, CASE WHEN status = 'flaky' THEN '' ELSE bug_key END ORDER BY position) AS nth
		FROM result WHERE `+failing+`) AS numbered WHERE nth <= $2 ORDER BY position LIMIT $3`, runID, each, groups*each)
	return out, err
}

func scanChange(r row) (run.Change, error) {
	var c run.Change
	var path string
	var now, before int64
	var was sql.NullString
	if err := r.Scan(&c.TestID, &c.Browser, &path, &c.File, &c.Now, &was, &now, &before); err != nil {
		return c, err
	}
	c.Before, c.NowIn, c.BeforeIn = run.Status(was.String), time.Duration(now)*time.Millisecond, time.Duration(before)*time.Millisecond
	return c, fromJSON(path, &c.TitlePath)
}

// Changes answers tests that failed in one of two runs or in both.
func (db *DB) Changes(ctx context.Context, now, before string, limit int) ([]run.Change, error) {
	const other = ` JOIN result o ON o.test_id = x.test_id AND o.run_id = $2 AND o.browser = x.browser AND o.repeat_each = x.repeat_each `
	failed, err := list(ctx, db.read, scanChange, `SELECT x.test_id, x.browser, x.title_path, x.file, x.status, o.status, x.duration_ms, coalesce(o.duration_ms, 0)
		FROM result x LEFT`+other+`WHERE x.run_id = $1 AND x.counted = 1 AND x.status IN ('failed', 'bug') ORDER BY x.position LIMIT $3`, now, before, limit)
	if err != nil {
		return nil, err
	}
	passed, err := list(ctx, db.read, scanChange, `SELECT x.test_id, x.browser, o.title_path, o.file, o.status, x.status, o.duration_ms, x.duration_ms
		FROM result x`+other+`WHERE x.run_id = $1 AND x.counted = 1 AND x.status IN ('failed', 'bug') AND o.status IN ('passed', 'flaky', 'recovered')
		ORDER BY x.position LIMIT $3`, before, now, limit)
	return append(failed, passed...), err
}

// Slower answers tests that passed in two runs and took at least two seconds and half as
// long again more in one.
func (db *DB) Slower(ctx context.Context, now, before string, limit int) ([]run.Change, error) {
	return list(ctx, db.read, scanChange, `SELECT x.test_id, x.browser, x.title_path, x.file, x.status, o.status, x.duration_ms, o.duration_ms
		FROM result x JOIN result o ON o.test_id = x.test_id AND o.run_id = $2 AND o.browser = x.browser AND o.status = 'passed'
		WHERE x.run_id = $1 AND x.counted = 1 AND x.status = 'passed' AND x.duration_ms >= o.duration_ms + 2000 AND x.duration_ms * 2 >= o.duration_ms * 3
			AND x.repeat_each = 0 AND o.repeat_each = 0
		ORDER BY x.duration_ms - o.duration_ms DESC LIMIT $3`, now, before, limit)
}

// TestResults answers the results of one test in a run.
func (db *DB) TestResults(ctx context.Context, runID, testID string) ([]run.Result, error) {
	return list(ctx, db.read, scanResult, `SELECT `+resultColumns+` FROM result WHERE test_id = $2 AND run_id = $1 ORDER BY position`, runID, testID)
}

// Past answers what became of a test, the newest run first.
func (db *DB) Past(ctx context.Context, q run.PastQuery) ([]run.Past, error) {
	where, args := `x.test_id = $1 AND run.project_id = $2 AND run.terminal = 1 AND x.repeat_each = 0 AND run.`+forPeople, []any{q.TestID, q.ProjectID}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if q.Browser != "" {
		where += ` AND x.browser = ` + arg(q.Browser)
	}
	if q.Branch != "" {
		where += ` AND run.branch = ` + arg(q.Branch)
	}
	if q.UpTo != "" {
		where += ` AND x.run_id <= ` + arg(q.UpTo)
	}
	return list(ctx, db.read, func(r row) (run.Past, error) {
		var p run.Past
		var created, took int64
		err := r.Scan(&p.RunID, &p.RunName, &p.Branch, &p.Commit, &created, &p.Browser, &p.Status, &took, &p.BugKey)
		p.At, p.Duration = at(created), time.Duration(took)*time.Millisecond
		return p, err
	}, `SELECT run.id, run.name, run.branch, run.commit_hash, run.created_at, x.browser, x.status, x.duration_ms, x.bug_key
		FROM result x JOIN run ON run.id = x.run_id WHERE `+where+` ORDER BY x.run_id DESC LIMIT `+arg(q.Limit), args...)
}

// Ends answers how runs ended, the latest first.
func (db *DB) Ends(ctx context.Context, q run.EndQuery) ([]run.End, error) {
	where, args := `project_id = $1 AND terminal = 1 AND finished_at >= $2 AND `+forPeople, []any{q.ProjectID, ms(q.Since)}
	switch {
	case q.Branch != "":
		args = append(args, q.Branch)
		where += ` AND branch = $3`
	case !q.Every:
		where += ` AND on_default = 1`
	}
	return list(ctx, db.read, func(r row) (run.End, error) {
		var e run.End
		var created, ended int64
		err := r.Scan(&e.Branch, &e.Verdict, &e.Phase, &created, &ended)
		e.CreatedAt, e.At = at(created), at(ended)
		return e, err
	}, `SELECT branch, verdict, phase, created_at, finished_at FROM run WHERE `+where+` ORDER BY finished_at DESC LIMIT `+strconv.Itoa(q.Limit), args...)
}
