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

// Branches that are summed up together, beside each under its own name.
const (
	defaultBranch = ""
	allBranches   = "*" // which none can be called
)

// branchesOf answers under which branches a run is summed up, always in the same order.
func branchesOf(x *run.Run) []string {
	var out []string
	if x.OnDefault {
		out = append(out, defaultBranch)
	}
	if out = append(out, allBranches); x.Branch != "" {
		out = append(out, x.Branch)
	}
	return out
}

// branchOf answers under which branch a question is looked up.
func branchOf(q catalog.SumQuery) string {
	switch {
	case q.Every:
		return allBranches
	case q.Branch == "":
		return defaultBranch
	}
	return q.Branch
}

// weekOf answers the Monday of a day's week.
func weekOf(day int64) int64 { return day - (day+3)%7 }

// sumUp adds the results of a run that has just ended to the days and weeks of its tests,
// always in the same order, so that runs which end together wait for each other.
func sumUp(ctx context.Context, tx txn, x *run.Run) error {
	if x.FinishedAt == nil {
		return nil
	}
	const counted = ` FROM result WHERE run_id = $1 AND counted = 1 AND status IN ('passed', 'recovered', 'failed', 'bug', 'flaky') AND code NOT IN ` + notAnswers
	const sums = `sum(CASE WHEN status IN ('passed', 'recovered') THEN 1 ELSE 0 END) AS passed, sum(CASE WHEN status IN ('failed', 'bug') THEN 1 ELSE 0 END) AS failed,
		sum(CASE WHEN status = 'flaky' THEN 1 ELSE 0 END) AS flaky`
	places, args := placesOf(x, 1, 7)
	err := exec(ctx, tx, `INSERT INTO test_sum (project_id, branch, span, day, test_id, passed, failed, flaky, timed, duration_ms)
		SELECT CAST($2 AS TEXT), place.branch, place.span, place.day, x.test_id, x.passed, x.failed, x.flaky, x.timed, x.duration_ms
		FROM (SELECT test_id, `+sums+`, sum(CASE WHEN status IN ('passed', 'recovered', 'flaky') THEN 1 ELSE 0 END) AS timed,
			sum(CASE WHEN status IN ('passed', 'recovered', 'flaky') THEN duration_ms ELSE 0 END) AS duration_ms`+counted+` GROUP BY test_id) x
		CROSS JOIN (`+places+`) place WHERE 1 = 1 ORDER BY place.branch, place.span, place.day, x.test_id
		ON CONFLICT (project_id, branch, span, day, test_id) DO UPDATE SET passed = test_sum.passed + excluded.passed, failed = test_sum.failed + excluded.failed,
			flaky = test_sum.flaky + excluded.flaky, timed = test_sum.timed + excluded.timed, duration_ms = test_sum.duration_ms + excluded.duration_ms`, args...)
	if err != nil {
		return err
	}
	places, args = placesOf(x, 1)
	return exec(ctx, tx, `INSERT INTO day_sum (project_id, branch, day, passed, failed, flaky)
		SELECT CAST($2 AS TEXT), place.branch, place.day, x.passed, x.failed, x.flaky
		FROM (SELECT `+sums+counted+` HAVING count(*) > 0) x CROSS JOIN (`+places+`) place WHERE 1 = 1 ORDER BY place.branch
		ON CONFLICT (project_id, branch, day) DO UPDATE SET passed = day_sum.passed + excluded.passed, failed = day_sum.failed + excluded.failed, flaky = day_sum.flaky + excluded.flaky`, args...)
}

// placesOf answers where a run is added, as rows of SQL, and all arguments, of which the
// first two are the run and its project.
func placesOf(x *run.Run, spans ...int64) (places string, args []any) {
	args = []any{x.ID, x.ProjectID}
	arg := func(v any, as string) string {
		args = append(args, v)
		return "CAST($" + strconv.Itoa(len(args)) + " AS " + as
	}
	var out []string
	for _, b := range branchesOf(x) {
		for _, span := range spans {
			out = append(out, `SELECT `+arg(b, "TEXT) AS branch, ")+arg(span, "BIGINT) AS span, ")+arg(beginOf(span, ms(*x.FinishedAt)/dayMs), "BIGINT) AS day"))
		}
	}
	return strings.Join(out, ` UNION ALL `), args
}

// beginOf answers the first day of the span that a day is in.
func beginOf(span, day int64) int64 {
	if span == 7 {
		return weekOf(day)
	}
	return day
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
	day := ms(*r.FinishedAt) / dayMs
	for _, branch := range branchesOf(r) {
		for _, span := range []int64{1, 7} {
			err := exec(ctx, tx, `UPDATE test_sum SET passed = passed + $6, failed = failed + $7, flaky = flaky + $8, timed = timed + $9, duration_ms = duration_ms + $10
				WHERE project_id = $1 AND branch = $2 AND span = $3 AND day = $4 AND test_id = $5`,
				r.ProjectID, branch, span, beginOf(span, day), after.TestID, a.passed-b.passed, a.failed-b.failed, a.flaky-b.flaky, a.timed-b.timed, a.ms-b.ms)
			if err != nil {
				return err
			}
		}
		err := exec(ctx, tx, `UPDATE day_sum SET passed = passed + $4, failed = failed + $5, flaky = flaky + $6 WHERE project_id = $1 AND branch = $2 AND day = $3`,
			r.ProjectID, branch, day, a.passed-b.passed, a.failed-b.failed, a.flaky-b.flaky)
		if err != nil {
			return err
		}
	}
	return nil
}

// sumsOf selects what is asked for: single days up to the first Monday, and weeks from then
// on. No condition but the primary key's: what it reads does not grow with the past.
func sumsOf(q catalog.SumQuery, weeks bool) (from string, args []any) {
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	where := `SELECT day, span, test_id, passed, failed, flaky, timed, duration_ms FROM test_sum WHERE project_id = ` + arg(q.ProjectID) + ` AND branch = ` + arg(branchOf(q))
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
	since := ms(q.Since) / dayMs
	if !weeks {
		return where + ` AND span = 1 AND day >= ` + arg(since), args
	}
	first := weekOf(since + 6)
	return where + ` AND span = 1 AND day >= ` + arg(since) + ` AND day < ` + arg(first) + ` UNION ALL ` + where + ` AND span = 7 AND day >= ` + arg(first), args
}

// manyTests is from when on it is quicker to read all tests and to leave some out than to
// have the database look for each in a list.
const manyTests = 500

// TestSums answers what became of tests since a day.
func (db *DB) TestSums(ctx context.Context, q catalog.SumQuery) ([]catalog.TestSum, error) {
	var in map[string]bool
	if len(q.TestIDs) > manyTests {
		in = make(map[string]bool, len(q.TestIDs))
		for _, id := range q.TestIDs {
			in[id] = true
		}
		q.TestIDs = nil
	}
	from, args := sumsOf(q, true)
	sums, err := list(ctx, db.read, func(r row) (catalog.TestSum, error) {
		var t catalog.TestSum
		var took int64
		err := r.Scan(&t.TestID, &t.Passed, &t.Failed, &t.Flaky, &t.Timed, &took)
		t.Duration = time.Duration(took) * time.Millisecond
		return t, err
	}, `SELECT test_id, CAST(sum(passed) AS BIGINT), CAST(sum(failed) AS BIGINT), CAST(sum(flaky) AS BIGINT), CAST(sum(timed) AS BIGINT), CAST(sum(duration_ms) AS BIGINT) FROM (`+from+`) AS sums GROUP BY test_id`, args...)
	if in == nil || err != nil {
		return sums, err
	}
	return slices.DeleteFunc(sums, func(t catalog.TestSum) bool { return !in[t.TestID] }), nil
}

// DaySums answers what became of tests on each day, or in each week, the first one first.
func (db *DB) DaySums(ctx context.Context, q catalog.SumQuery) ([]catalog.DaySum, error) {
	since := ms(q.Since) / dayMs
	scan := func(r row) (catalog.DaySum, error) {
		var d catalog.DaySum
		var day int64
		err := r.Scan(&day, &d.Passed, &d.Failed, &d.Flaky)
		d.Day = at(day * dayMs)
		return d, err
	}
	if q.TestIDs == nil && !q.Weekly {
		return list(ctx, db.read, scan, `SELECT day, passed, failed, flaky FROM day_sum WHERE project_id = $1 AND branch = $2 AND day >= $3 ORDER BY day`, q.ProjectID, branchOf(q), since)
	}
	from, args := sumsOf(q, q.Weekly)
	// The days before the first whole week are a week of their own.
	args = append(args, since)
	begin := `CASE span WHEN 7 THEN day ELSE CAST($` + strconv.Itoa(len(args)) + ` AS BIGINT) END`
	if !q.Weekly {
		args, begin = args[:len(args)-1], `day`
	}
	return list(ctx, db.read, scan, `SELECT `+begin+` AS begun, CAST(sum(passed) AS BIGINT), CAST(sum(failed) AS BIGINT), CAST(sum(flaky) AS BIGINT) FROM (`+from+`) AS sums GROUP BY 1 ORDER BY 1`, args...)
}
