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
	case run.StatusPassed:
		s = shares{passed: 1, timed: 1, ms: x.Duration().Milliseconds()}
	case run.StatusFlaky, run.StatusRecovered:
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

// sumsOf selects what is asked for, for each arm of which the primary key is enough: what it
// reads does not grow with the past. By weeks it is single days up to the first Monday, and
// weeks from then on. Of chosen tests it names each day until the last one that there is,
// so that it finds their rows without reading others. It answers "" for nothing.
func (db *DB) sumsOf(ctx context.Context, q catalog.SumQuery, weeks bool) (from string, args []any, err error) {
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	where := `SELECT day, span, test_id, passed, failed, flaky, timed, duration_ms FROM test_sum WHERE project_id = ` + arg(q.ProjectID) + ` AND branch = ` + arg(branchOf(q))
	since := ms(q.Since) / dayMs
	first := weekOf(since + 6)
	last := first
	if q.TestIDs != nil {
		in := make([]string, len(q.TestIDs))
		for i, id := range q.TestIDs {
			in[i] = arg(id)
		}
		where += ` AND test_id IN (` + strings.Join(append(in, `''`), ", ") + `)`
		if last, err = one(ctx, db.read, scanInt64, `SELECT coalesce(max(day), 0) FROM day_sum WHERE project_id = $1 AND branch = $2`, q.ProjectID, branchOf(q)); err != nil {
			return "", nil, err
		}
	}
	var arms []string
	arm := func(span, from, to int64) { // without to, and -1 for no end
		if q.TestIDs == nil {
			text := where + ` AND span = ` + strconv.FormatInt(span, 10) + ` AND day >= ` + strconv.FormatInt(from, 10)
			if to >= 0 {
				text += ` AND day < ` + strconv.FormatInt(to, 10)
			}
			arms = append(arms, text)
			return
		}
		var days []string
		for day := from; day <= last && (day < to || to < 0); day += span {
			days = append(days, strconv.FormatInt(day, 10))
		}
		if len(days) > 0 {
			arms = append(arms, where+` AND span = `+strconv.FormatInt(span, 10)+` AND day IN (`+strings.Join(days, ", ")+`)`)
		}
	}
	if !weeks {
		arm(1, since, -1)
	} else {
		if first > since {
			arm(1, since, first)
		}
		arm(7, first, -1)
	}
	return strings.Join(arms, ` UNION ALL `), args, nil
}

func scanInt64(r row) (n int64, err error) {
	err = r.Scan(&n)
	return n, err
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
	from, args, err := db.sumsOf(ctx, q, true)
	if err != nil || from == "" {
		return nil, err
	}
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
	begin := `day`
	if q.Weekly { // the days before the first Monday are a week of their own
		begin = `CASE WHEN day < ` + strconv.FormatInt(weekOf(since+6), 10) + ` THEN ` + strconv.FormatInt(since, 10) + ` ELSE day - (day + 3) % 7 END`
	}
	columns := `SELECT ` + begin + ` AS begun, CAST(sum(passed) AS BIGINT), CAST(sum(failed) AS BIGINT), CAST(sum(flaky) AS BIGINT) FROM `
	if q.TestIDs == nil {
		return list(ctx, db.read, scanDay, columns+`day_sum WHERE project_id = $1 AND branch = $2 AND day >= $3 GROUP BY 1 ORDER BY 1`, q.ProjectID, branchOf(q), since)
	}
	if len(q.TestIDs) > manyTests {
		if days, ok, err := db.allBut(ctx, q); ok || err != nil {
			return days, err
		}
	}
	var days []catalog.DaySum
	for ids := range slices.Chunk(q.TestIDs, sumAtOnce) {
		part := q
		part.TestIDs = ids
		from, args, err := db.sumsOf(ctx, part, q.Weekly)
		if err != nil {
			return nil, err
		}
		if from == "" {
			continue
		}
		more, err := list(ctx, db.read, scanDay, columns+`(`+from+`) AS sums GROUP BY 1 ORDER BY 1`, args...)
		if err != nil {
			return nil, err
		}
		days = addDays(days, more)
	}
	return days, nil
}

// sumAtOnce is how many tests a statement asks for, well below the values that SQLite
// (32,766) and PostgreSQL (65,535) take.
const sumAtOnce = 10_000

// addDays adds up two lists of days, both with the first day first.
func addDays(a, b []catalog.DaySum) []catalog.DaySum {
	for _, d := range b {
		i, has := slices.BinarySearchFunc(a, d, func(x, y catalog.DaySum) int { return x.Day.Compare(y.Day) })
		if !has {
			a = slices.Insert(a, i, d)
			continue
		}
		a[i].Passed, a[i].Failed, a[i].Flaky = a[i].Passed+d.Passed, a[i].Failed+d.Failed, a[i].Flaky+d.Flaky
	}
	return a
}

func scanDay(r row) (catalog.DaySum, error) {
	var d catalog.DaySum
	var day int64
	err := r.Scan(&day, &d.Passed, &d.Failed, &d.Flaky)
	d.Day = at(day * dayMs)
	return d, err
}

// allBut answers what became of most tests: that of all less that of the others, for a test
// that has results is in the catalog for ever. ok is false where the others are more.
func (db *DB) allBut(ctx context.Context, q catalog.SumQuery) (days []catalog.DaySum, ok bool, err error) {
	others, err := list(ctx, db.read, scanText, `SELECT id FROM test WHERE project_id = $1`, q.ProjectID)
	if err != nil {
		return nil, false, err
	}
	in := make(map[string]bool, len(q.TestIDs))
	for _, id := range q.TestIDs {
		in[id] = true
	}
	others = slices.DeleteFunc(others, func(id string) bool { return in[id] })
	if len(others) >= len(in) {
		return nil, false, nil
	}
	q.TestIDs = nil
	if days, err = db.DaySums(ctx, q); err != nil || len(others) == 0 {
		return days, true, err
	}
	q.TestIDs = others
	less, err := db.DaySums(ctx, q)
	for _, x := range less {
		for i := range days {
			if d := &days[i]; d.Day.Equal(x.Day) {
				d.Passed, d.Failed, d.Flaky = d.Passed-x.Passed, d.Failed-x.Failed, d.Flaky-x.Flaky
			}
		}
	}
	return slices.DeleteFunc(days, func(d catalog.DaySum) bool { return d.Passed+d.Failed+d.Flaky == 0 }), true, err
}
