package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/catalog"
	"tas-service/internal/run"
)

// dayMs is a day in milliseconds.
const dayMs = 24 * 60 * 60 * 1000

// sumUp adds the results of a run that has just ended to the days of its tests.
func sumUp(ctx context.Context, tx txn, x *run.Run) error {
	if x.FinishedAt == nil {
		return nil
	}
	return exec(ctx, tx, `INSERT INTO test_day (project_id, day, branch, test_id, on_default, passed, failed, flaky, timed, duration_ms)
		SELECT CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS TEXT), test_id, CAST($5 AS BIGINT),
			sum(CASE WHEN status IN ('passed', 'recovered') THEN 1 ELSE 0 END), sum(CASE WHEN status IN ('failed', 'bug') THEN 1 ELSE 0 END),
			sum(CASE WHEN status = 'flaky' THEN 1 ELSE 0 END), sum(CASE WHEN status IN ('passed', 'recovered', 'flaky') THEN 1 ELSE 0 END),
			sum(CASE WHEN status IN ('passed', 'recovered', 'flaky') THEN duration_ms ELSE 0 END)
		FROM result WHERE run_id = $1 AND counted = 1 AND status IN ('passed', 'recovered', 'failed', 'bug', 'flaky') AND code NOT IN `+notAnswers+`
		GROUP BY test_id
		ON CONFLICT (project_id, day, branch, test_id) DO UPDATE SET on_default = excluded.on_default, passed = test_day.passed + excluded.passed,
			failed = test_day.failed + excluded.failed, flaky = test_day.flaky + excluded.flaky, timed = test_day.timed + excluded.timed,
			duration_ms = test_day.duration_ms + excluded.duration_ms`,
		x.ID, x.ProjectID, ms(*x.FinishedAt)/dayMs, x.Branch, bit(x.OnDefault))
}

// shares is what one result adds to its test's day.
type shares struct{ passed, failed, flaky, timed, ms int64 }

func sharesOf(x *run.Result) (s shares) {
	if !x.Counted() || x.Unaccounted() {
		return s
	}
	switch x.Status {
	case run.StatusPassed, run.StatusRecovered:
		s = shares{passed: 1, timed: 1, ms: x.Duration().Milliseconds()}
	case run.StatusFlaky:
		s = shares{flaky: 1, timed: 1, ms: x.Duration().Milliseconds()}
	case run.StatusFailed, run.StatusBug:
		s = shares{failed: 1}
	case run.StatusPending, run.StatusRunning, run.StatusSkipped:
	}
	return s
}

// resum corrects the day of a test whose result in a finished run was judged anew.
func resum(ctx context.Context, tx txn, r *run.Run, before, after *run.Result) error {
	b, a := sharesOf(before), sharesOf(after)
	if a == b || r.FinishedAt == nil {
		return nil
	}
	return exec(ctx, tx, `UPDATE test_day SET passed = passed + $5, failed = failed + $6, flaky = flaky + $7, timed = timed + $8, duration_ms = duration_ms + $9
		WHERE project_id = $1 AND day = $2 AND branch = $3 AND test_id = $4`,
		r.ProjectID, ms(*r.FinishedAt)/dayMs, r.Branch, after.TestID, a.passed-b.passed, a.failed-b.failed, a.flaky-b.flaky, a.timed-b.timed, a.ms-b.ms)
}

// whereDays selects days of tests.
func whereDays(q catalog.SumQuery, arg func(any) string) string {
	where := `project_id = ` + arg(q.ProjectID) + ` AND day >= ` + arg(ms(q.Since)/dayMs)
	switch {
	case q.Branch != "":
		where += ` AND branch = ` + arg(q.Branch)
	case !q.Every:
		where += ` AND on_default = 1`
	}
	if q.TestIDs != nil {
		in := make([]string, len(q.TestIDs))
		for i, id := range q.TestIDs {
			in[i] = arg(id)
		}
		if len(in) == 0 {
			in = []string{"''"}
		}
		where += ` AND test_id IN (` + strings.Join(in, ", ") + `)`
	}
	return where
}

// sumParts divides a question that names many tests: a statement takes only so many values.
func sumParts(q catalog.SumQuery) []catalog.SumQuery {
	if len(q.TestIDs) <= sumAtOnce {
		return []catalog.SumQuery{q}
	}
	var out []catalog.SumQuery
	for ids := range slices.Chunk(q.TestIDs, sumAtOnce) {
		part := q
		part.TestIDs = ids
		out = append(out, part)
	}
	return out
}

// sumAtOnce is well below what SQLite (32,766) and PostgreSQL (65,535) take.
const sumAtOnce = 10_000

// TestSums answers what became of tests since a day.
func (db *DB) TestSums(ctx context.Context, q catalog.SumQuery) (out []catalog.TestSum, err error) {
	for _, part := range sumParts(q) {
		sums, err := db.testSums(ctx, part)
		if err != nil {
			return nil, err
		}
		out = append(out, sums...)
	}
	return out, nil
}

func (db *DB) testSums(ctx context.Context, q catalog.SumQuery) ([]catalog.TestSum, error) {
	var args []any
	where := whereDays(q, func(v any) string { args = append(args, v); return "$" + strconv.Itoa(len(args)) })
	return list(ctx, db.read, func(r row) (catalog.TestSum, error) {
		var t catalog.TestSum
		var took int64
		err := r.Scan(&t.TestID, &t.Passed, &t.Failed, &t.Flaky, &t.Timed, &took)
		t.Duration = time.Duration(took) * time.Millisecond
		return t, err
	}, `SELECT test_id, CAST(sum(passed) AS BIGINT), CAST(sum(failed) AS BIGINT), CAST(sum(flaky) AS BIGINT), CAST(sum(timed) AS BIGINT), CAST(sum(duration_ms) AS BIGINT) FROM test_day WHERE `+where+` GROUP BY test_id`, args...)
}

// DaySums answers what became of all tests on each day, the first day first.
func (db *DB) DaySums(ctx context.Context, q catalog.SumQuery) (out []catalog.DaySum, err error) {
	place := map[time.Time]int{}
	for _, part := range sumParts(q) {
		days, err := db.daySums(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, d := range days {
			i, has := place[d.Day]
			if !has {
				i = len(out)
				place[d.Day], out = i, append(out, catalog.DaySum{Day: d.Day})
			}
			out[i].Passed, out[i].Failed, out[i].Flaky = out[i].Passed+d.Passed, out[i].Failed+d.Failed, out[i].Flaky+d.Flaky
		}
	}
	slices.SortFunc(out, func(a, b catalog.DaySum) int { return a.Day.Compare(b.Day) })
	return out, nil
}

func (db *DB) daySums(ctx context.Context, q catalog.SumQuery) ([]catalog.DaySum, error) {
	var args []any
	where := whereDays(q, func(v any) string { args = append(args, v); return "$" + strconv.Itoa(len(args)) })
	return list(ctx, db.read, func(r row) (catalog.DaySum, error) {
		var d catalog.DaySum
		var day int64
		err := r.Scan(&day, &d.Passed, &d.Failed, &d.Flaky)
		d.Day = at(day * dayMs)
		return d, err
	}, `SELECT day, CAST(sum(passed) AS BIGINT), CAST(sum(failed) AS BIGINT), CAST(sum(flaky) AS BIGINT) FROM test_day WHERE `+where+` GROUP BY day ORDER BY day`, args...)
}
