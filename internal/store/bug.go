package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

const bugColumns = `id, project_id, number, signature, title, state, severity, outage, occurrences, first_seen, last_seen,
	first_run_id, last_run_id, snoozed_until, history`

func scanBug(r row) (bug.Bug, error) {
	var b bug.Bug
	var outage int
	var first, last int64
	var until sql.NullInt64
	var history string
	err := r.Scan(&b.ID, &b.ProjectID, &b.Number, &b.Signature, &b.Title, &b.State, &b.Severity, &outage, &b.Occurrences, &first, &last,
		&b.FirstRunID, &b.LastRunID, &until, &history)
	if err != nil {
		return b, err
	}
	b.Outage, b.FirstSeen, b.LastSeen, b.SnoozedUntil = outage == 1, at(first), at(last), atPtr(until)
	return b, fromJSON(history, &b.History)
}

func saveBug(ctx context.Context, q querier, b *bug.Bug) error {
	return exec(ctx, q, `INSERT INTO bug (`+bugColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (id) DO UPDATE SET title = excluded.title, state = excluded.state, severity = excluded.severity, occurrences = excluded.occurrences,
			last_seen = excluded.last_seen, last_run_id = excluded.last_run_id, snoozed_until = excluded.snoozed_until, history = excluded.history`,
		b.ID, b.ProjectID, b.Number, b.Signature, b.Title, string(b.State), string(b.Severity), bit(b.Outage), b.Occurrences, ms(b.FirstSeen), ms(b.LastSeen),
		b.FirstRunID, b.LastRunID, msPtr(b.SnoozedUntil), toJSON(b.History))
}

// Bugs answers bugs of a project, the newest number first, with the tests that met them.
func (db *DB) Bugs(ctx context.Context, q bug.Query) ([]bug.Bug, error) {
	where, args := `project_id = $1`, []any{q.ProjectID}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if len(q.States) > 0 {
		where += ` AND state IN (` + marks(q.States, arg) + `)`
	}
	if len(q.Severities) > 0 {
		where += ` AND severity IN (` + marks(q.Severities, arg) + `)`
	}
	if q.TestID != "" {
		where += ` AND id IN (SELECT bug_id FROM bug_test WHERE test_id = ` + arg(q.TestID) + `)`
	}
	if !q.Since.IsZero() {
		where += ` AND last_seen >= ` + arg(ms(q.Since))
	}
	if q.Before > 0 {
		where += ` AND number < ` + arg(q.Before)
	}
	bs, err := list(ctx, db.read, scanBug, `SELECT `+bugColumns+` FROM bug WHERE `+where+` ORDER BY number DESC LIMIT `+arg(q.Limit), args...)
	if err != nil {
		return nil, err
	}
	return bs, addTests(ctx, db.read, bs)
}

// marks answers placeholders for a list of words.
func marks[T ~string](list []T, arg func(any) string) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = arg(string(x))
	}
	return strings.Join(out, ", ")
}

// addTests tells bugs which tests met them.
func addTests(ctx context.Context, q querier, bs []bug.Bug) error {
	if len(bs) == 0 {
		return nil
	}
	var args []any
	index := map[string]int{}
	ids := make([]string, len(bs))
	for i, b := range bs {
		index[b.ID], ids[i] = i, b.ID
	}
	in := marks(ids, func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	})
	_, err := list(ctx, q, func(r row) (struct{}, error) {
		var id, test string
		if err := r.Scan(&id, &test); err != nil {
			return struct{}{}, err
		}
		b := &bs[index[id]]
		b.TestIDs = append(b.TestIDs, test)
		return struct{}{}, nil
	}, `SELECT bug_id, test_id FROM bug_test WHERE bug_id IN (`+in+`) ORDER BY bug_id, test_id`, args...)
	return err
}

// Bug answers one bug of a project.
func (db *DB) Bug(ctx context.Context, projectID string, number int) (bug.Bug, error) {
	b, err := one(ctx, db.read, scanBug, `SELECT `+bugColumns+` FROM bug WHERE project_id = $1 AND number = $2`, projectID, number)
	if err != nil {
		return b, err
	}
	bs := []bug.Bug{b}
	err = addTests(ctx, db.read, bs)
	return bs[0], err
}

// UpdateBug changes one bug.
func (db *DB) UpdateBug(ctx context.Context, projectID string, number int, change func(*bug.Bug) error) error {
	return db.tx(ctx, func(tx txn) error {
		// The project first, as at a desk.
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		b, err := one(ctx, tx, scanBug, `SELECT `+bugColumns+` FROM bug WHERE project_id = $1 AND number = $2`, projectID, number)
		if err != nil {
			return err
		}
		with := []bug.Bug{b}
		if err := addTests(ctx, tx, with); err != nil {
			return err
		}
		before := slices.Clone(with[0].TestIDs)
		if err := change(&with[0]); err != nil {
			return err
		}
		return errors.Join(saveBug(ctx, tx, &with[0]), saveTests(ctx, tx, with[0], before))
	})
}

// saveTests saves which tests met a bug, where that was changed.
func saveTests(ctx context.Context, tx txn, b bug.Bug, before []string) error {
	for _, id := range before {
		if !slices.Contains(b.TestIDs, id) {
			if err := exec(ctx, tx, `DELETE FROM bug_test WHERE bug_id = $1 AND test_id = $2`, b.ID, id); err != nil {
				return err
			}
		}
	}
	for _, id := range b.TestIDs {
		if !slices.Contains(before, id) {
			if err := exec(ctx, tx, `INSERT INTO bug_test (bug_id, test_id) VALUES ($1, $2) ON CONFLICT (bug_id, test_id) DO NOTHING`, b.ID, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// Seen answers in which runs a bug was seen, the latest first.
func (db *DB) Seen(ctx context.Context, projectID, key string, limit int) ([]bug.Sighting, error) {
	return list(ctx, db.read, func(r row) (bug.Sighting, error) {
		var s bug.Sighting
		var created int64
		err := r.Scan(&s.RunID, &s.RunName, &s.Branch, &created, &s.N)
		s.At = at(created)
		return s, err
	}, `SELECT run.id, run.name, run.branch, run.created_at, count(*) FROM result JOIN run ON run.id = result.run_id
		WHERE result.bug_key = $2 AND result.bug_key <> '' AND run.project_id = $1 GROUP BY run.id, run.name, run.branch, run.created_at ORDER BY run.id DESC LIMIT $3`, projectID, key, limit)
}

// SeenOn answers which of a project's bugs were seen on a branch since a time.
func (db *DB) SeenOn(ctx context.Context, projectID, branch string, since time.Time) (map[string]bool, error) {
	keys, err := list(ctx, db.read, scanText, `SELECT DISTINCT result.bug_key FROM run JOIN result ON result.run_id = run.id
		WHERE run.project_id = $1 AND run.branch = $2 AND run.created_at >= $3 AND result.bug_key <> ''`, projectID, branch, ms(since))
	out := make(map[string]bool, len(keys))
	for _, k := range keys {
		out[k] = true
	}
	return out, err
}

// Work gives fn a desk on a run and some of its results.
func (db *DB) Work(ctx context.Context, runID string, which bug.Which, fn func(bug.Desk) error) error {
	return db.tx(ctx, func(tx txn) error {
		return updateRun(ctx, tx, runID, func(r *run.Run) error {
			if err := lockProject(ctx, tx, r.ProjectID); err != nil {
				return err
			}
			d := &desk{ctx: ctx, tx: tx, run: r, bugs: map[int]*bug.Bug{}}
			if err := d.read(which); err != nil {
				return err
			}
			if err := fn(d); err != nil {
				return err
			}
			return d.save()
		})
	})
}

// desk is a bug.Desk within a transaction.
type desk struct {
	ctx     context.Context
	tx      txn
	run     *run.Run
	results []*run.Result
	before  []run.Result
	bugs    map[int]*bug.Bug // that were looked at
}

func (d *desk) read(which bug.Which) error {
	where, args := `run_id = $1`, []any{d.run.ID}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if which.Unfiled {
		where += ` AND bug_key = '' AND status IN (` + marks([]run.Status{run.StatusFailed, run.StatusBug}, arg) + `)`
	} else {
		where += ` AND test_id IN (` + marks(which.TestIDs, arg) + `)`
	}
	found, err := list(d.ctx, d.tx, scanResult, `SELECT `+resultColumns+` FROM result WHERE `+where+` ORDER BY position`, args...)
	d.before = found
	for _, x := range found {
		d.results = append(d.results, &x)
	}
	return err
}

// save writes results before they are counted, and bugs at the end.
func (d *desk) save() error {
	if err := d.saveResults(); err != nil {
		return err
	}
	met := map[[2]string]bool{}
	for _, x := range d.results {
		if n, err := bug.NumberOf(x.BugKey); err == nil && d.bugs[n] != nil {
			met[[2]string{d.bugs[n].ID, x.TestID}] = true
		}
	}
	for _, n := range sortedKeys(d.bugs) {
		if err := saveBug(d.ctx, d.tx, d.bugs[n]); err != nil {
			return err
		}
	}
	for pair := range met {
		if err := exec(d.ctx, d.tx, `INSERT INTO bug_test (bug_id, test_id) VALUES ($1, $2) ON CONFLICT (bug_id, test_id) DO NOTHING`, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys(m map[int]*bug.Bug) []int {
	keys := make([]int, 0, len(m))
	for n := range m {
		keys = append(keys, n)
	}
	slices.Sort(keys)
	return keys
}

func (d *desk) saveResults() error {
	for i, x := range d.results {
		if b := d.before[i]; b.Status == x.Status && b.Verdict == x.Verdict && b.BugKey == x.BugKey && b.Overruled == x.Overruled {
			continue
		}
		if d.run.Terminal() {
			if err := resum(d.ctx, d.tx, d.run, &d.before[i], x); err != nil {
				return err
			}
		}
		if err := saveResult(d.ctx, d.tx, x); err != nil {
			return err
		}
		d.before[i] = *x
	}
	return nil
}

func (d *desk) Run() *run.Run { return d.run }

func (d *desk) Results() []*run.Result { return d.results }

func (d *desk) Executed() (int, error) {
	return one(d.ctx, d.tx, scanInt, `SELECT count(*) FROM result WHERE run_id = $1 AND counted = 1 AND setup = 0 AND status NOT IN ($2, $3, $4) AND code NOT IN ($5, $6)`,
		d.run.ID, string(run.StatusPending), string(run.StatusRunning), string(run.StatusSkipped), run.CodeNotReported, run.CodeShardLost)
}

func (d *desk) Find(signature string) (*bug.Bug, error) {
	for _, b := range d.bugs {
		if b.Signature == signature {
			return b, nil
		}
	}
	return d.look(`signature = $2`, signature)
}

func (d *desk) Number(n int) (*bug.Bug, error) {
	if b := d.bugs[n]; b != nil {
		return b, nil
	}
	return d.look(`number = $2`, n)
}

func (d *desk) look(where string, arg any) (*bug.Bug, error) {
	b, err := one(d.ctx, d.tx, scanBug, `SELECT `+bugColumns+` FROM bug WHERE project_id = $1 AND `+where, d.run.ProjectID, arg)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	d.bugs[b.Number] = &b
	return &b, nil
}

func (d *desk) Known() (map[string]bool, error) {
	known, err := list(d.ctx, d.tx, scanText, `SELECT signature FROM bug WHERE project_id = $1`, d.run.ProjectID)
	out := make(map[string]bool, len(known))
	for _, s := range known {
		out[s] = true
	}
	return out, err
}

func scanText(r row) (string, error) {
	var s string
	return s, r.Scan(&s)
}

func (d *desk) Open(b bug.Bug) (*bug.Bug, error) {
	last, err := one(d.ctx, d.tx, scanInt, `SELECT coalesce(max(number), 0) FROM bug WHERE project_id = $1`, d.run.ProjectID)
	if err != nil {
		return nil, err
	}
	b.ID, b.Number = uuid.NewString(), last+1
	d.bugs[b.Number] = &b
	return &b, saveBug(d.ctx, d.tx, &b)
}

func (d *desk) Keep(v bug.Verdict) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	return exec(d.ctx, d.tx, `INSERT INTO verdict (id, run_id, test_id, word, before, after, severity, comment, source, bug_key, said_by, said_from, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		id.String(), v.RunID, v.TestID, string(v.Word), string(v.Before), string(v.After), string(v.Severity), v.Comment, string(v.Source), v.BugKey, v.By, v.From, ms(v.At))
}

func (d *desk) Tally() (run.Tally, error) {
	if err := d.saveResults(); err != nil {
		return run.Tally{}, err
	}
	return tally(d.ctx, d.tx, d.run.ID)
}
