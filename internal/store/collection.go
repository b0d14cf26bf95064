package store

import (
	"context"
	"errors"
	"time"

	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

const collectionColumns = `id, project_id, name, description, test_ids, rule, created_at, updated_at`

func scanCollection(r row) (catalog.Collection, error) {
	var c catalog.Collection
	var ids, rule string
	var created, updated int64
	if err := r.Scan(&c.ID, &c.ProjectID, &c.Name, &c.Description, &ids, &rule, &created, &updated); err != nil {
		return c, err
	}
	c.CreatedAt, c.UpdatedAt = at(created), at(updated)
	return c, errors.Join(fromJSON(ids, &c.TestIDs), fromJSON(rule, &c.Rule))
}

// Collections answers a project's collections by name.
func (db *DB) Collections(ctx context.Context, projectID string) ([]catalog.Collection, error) {
	return list(ctx, db.read, scanCollection, `SELECT `+collectionColumns+` FROM collection WHERE project_id = $1 ORDER BY name, id`, projectID)
}

// Collection answers one collection of a project.
func (db *DB) Collection(ctx context.Context, projectID, id string) (catalog.Collection, error) {
	return one(ctx, db.read, scanCollection, `SELECT `+collectionColumns+` FROM collection WHERE project_id = $1 AND id = $2`, projectID, id)
}

// SaveCollection adds a collection, or changes it.
func (db *DB) SaveCollection(ctx context.Context, c catalog.Collection) error {
	return db.tx(ctx, func(tx txn) error {
		// The name of another one is looked for and taken in one step.
		if err := lockProject(ctx, tx, c.ProjectID); err != nil {
			return err
		}
		taken, err := one(ctx, tx, scanInt, `SELECT count(*) FROM collection WHERE project_id = $1 AND name = $2 AND id <> $3`, c.ProjectID, c.Name, c.ID)
		if err != nil {
			return err
		}
		if taken > 0 {
			return fault.New(fault.Conflict, "The project has a collection of this name already.").WithFix("Choose another name, or change that one.")
		}
		return exec(ctx, tx, `INSERT INTO collection (`+collectionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description, test_ids = excluded.test_ids,
				rule = excluded.rule, updated_at = excluded.updated_at`,
			c.ID, c.ProjectID, c.Name, c.Description, toJSON(c.TestIDs), toJSON(c.Rule), ms(c.CreatedAt), ms(c.UpdatedAt))
	})
}

// DropCollection removes a collection.
func (db *DB) DropCollection(ctx context.Context, projectID, id string) error {
	return exec(ctx, db.write, `DELETE FROM collection WHERE project_id = $1 AND id = $2`, projectID, id)
}

const quarantineColumns = `project_id, test_id, owner, reason, set_by, created_at, expires_at`

func scanQuarantine(r row) (catalog.Quarantine, error) {
	var q catalog.Quarantine
	var created, expires int64
	err := r.Scan(&q.ProjectID, &q.TestID, &q.Owner, &q.Reason, &q.SetBy, &created, &expires)
	q.CreatedAt, q.ExpiresAt = at(created), at(expires)
	return q, err
}

// Quarantines answers those of a project that are in force, by their end.
func (db *DB) Quarantines(ctx context.Context, projectID string, now time.Time) ([]catalog.Quarantine, error) {
	return list(ctx, db.read, scanQuarantine, `SELECT `+quarantineColumns+` FROM quarantine WHERE project_id = $1 AND expires_at > $2 ORDER BY expires_at, test_id`, projectID, ms(now))
}

// SetQuarantine saves a quarantine if allow answers nil.
func (db *DB) SetQuarantine(ctx context.Context, q catalog.Quarantine, allow func(others, tests int) error) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockProject(ctx, tx, q.ProjectID); err != nil {
			return err
		}
		others, err := one(ctx, tx, scanInt, `SELECT count(*) FROM quarantine WHERE project_id = $1 AND test_id <> $2 AND expires_at > $3`, q.ProjectID, q.TestID, ms(q.CreatedAt))
		if err != nil {
			return err
		}
		tests, err := one(ctx, tx, scanInt, `SELECT count(*) FROM test WHERE project_id = $1 AND present = 1`, q.ProjectID)
		if err != nil {
			return err
		}
		if err := allow(others, tests); err != nil {
			return err
		}
		return exec(ctx, tx, `INSERT INTO quarantine (`+quarantineColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (project_id, test_id) DO UPDATE SET owner = excluded.owner, reason = excluded.reason, set_by = excluded.set_by,
				created_at = excluded.created_at, expires_at = excluded.expires_at`,
			q.ProjectID, q.TestID, q.Owner, q.Reason, q.SetBy, ms(q.CreatedAt), ms(q.ExpiresAt))
	})
}

// DropQuarantine ends a quarantine and answers whether there was one.
func (db *DB) DropQuarantine(ctx context.Context, projectID, testID string) (had bool, err error) {
	done, err := db.write.ExecContext(ctx, `DELETE FROM quarantine WHERE project_id = $1 AND test_id = $2`, clean([]any{projectID, testID})...)
	if err != nil {
		return false, translate(err)
	}
	n, err := done.RowsAffected()
	return n > 0, translate(err)
}

// Outcomes answers the latest outcomes of tests on the default branch, newest first.
func (db *DB) Outcomes(ctx context.Context, projectID string, testIDs []string) (map[string][]catalog.Outcome, error) {
	out := map[string][]catalog.Outcome{}
	if len(testIDs) == 0 {
		return out, nil
	}
	outages, err := list(ctx, db.read, scanInt, `SELECT number FROM bug WHERE project_id = $1 AND outage = 1`, projectID)
	if err != nil {
		return nil, err
	}
	isOutage := make(map[string]bool, len(outages))
	for _, n := range outages {
		isOutage[(&bug.Bug{Number: n}).Key()] = true
	}
	for _, id := range testIDs {
		// Runs' IDs grow with time, so the index answers the newest without reading the rest.
		found, err := list(ctx, db.read, func(r row) (catalog.Outcome, error) {
			var o catalog.Outcome
			var status, key string
			var created, took int64
			err := r.Scan(&o.RunID, &o.Commit, &created, &status, &key, &took)
			o.At, o.Outage, o.Took = at(created), isOutage[key], time.Duration(took)*time.Millisecond
			switch run.Status(status) {
			case run.StatusFlaky, run.StatusRecovered:
				o.Result = catalog.OutcomeFlaky
			case run.StatusPassed:
				o.Result = catalog.OutcomePassed
			default:
				o.Result = catalog.OutcomeFailed
			}
			return o, err
		}, `SELECT run.id, run.commit_hash, run.created_at, result.status, result.bug_key, result.duration_ms FROM result JOIN run ON run.id = result.run_id
			WHERE result.test_id = $1 AND run.project_id = $2 AND run.on_default = 1 AND run.terminal = 1 AND result.status IN ('passed', 'recovered', 'failed', 'bug', 'flaky')
				AND result.code NOT IN `+notAnswers+`
			ORDER BY result.run_id DESC LIMIT $3`, id, projectID, catalog.HealthWindow)
		if err != nil {
			return nil, err
		}
		out[id] = found
	}
	return out, nil
}
