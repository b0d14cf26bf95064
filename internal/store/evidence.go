package store

import (
	"context"
	"strings"
	"time"

	"tas-service/internal/evidence"
)

const keptColumns = `project_id, test_id, browser, environment, run_id, commit_hash, at, size, blob_key, places`

func scanKept(r row) (k evidence.Kept, err error) {
	var when int64
	var places string
	err = r.Scan(&k.ProjectID, &k.TestID, &k.Browser, &k.Environment, &k.RunID, &k.Commit, &when, &k.Size, &k.Key, &places)
	k.At = at(when)
	if places = strings.Trim(places, "\n"); places != "" {
		k.Places = strings.Split(places, "\n")
	}
	return k, err
}

// KeepEvidence saves one passing run's evidence of a test, and forgets what is too old.
func (db *DB) KeepEvidence(ctx context.Context, k evidence.Kept, keep int) (replaced []string, err error) {
	err = db.tx(ctx, func(tx txn) error {
		replaced = nil
		err := exec(ctx, tx, `INSERT INTO evidence (`+keptColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (project_id, test_id, browser, environment, run_id) DO UPDATE SET at = excluded.at, size = excluded.size, blob_key = excluded.blob_key, places = excluded.places`,
			k.ProjectID, k.TestID, k.Browser, k.Environment, k.RunID, k.Commit, ms(k.At), k.Size, k.Key, "\n"+strings.Join(k.Places, "\n")+"\n")
		if err != nil {
			return err
		}
		all, err := keptOf(ctx, tx, k.ProjectID, k.TestID, k.Browser, k.Environment)
		for _, old := range all[min(keep, len(all)):] {
			replaced = append(replaced, old.Key)
			if err == nil {
				err = exec(ctx, tx, `DELETE FROM evidence WHERE project_id = $1 AND test_id = $2 AND browser = $3 AND environment = $4 AND run_id = $5`, old.ProjectID, old.TestID, old.Browser, old.Environment, old.RunID)
			}
		}
		return err
	})
	return replaced, err
}

func keptOf(ctx context.Context, q querier, projectID, testID, browser, environment string) ([]evidence.Kept, error) {
	return list(ctx, q, scanKept, `SELECT `+keptColumns+` FROM evidence WHERE project_id = $1 AND test_id = $2 AND browser = $3 AND environment = $4 ORDER BY at DESC, run_id DESC`,
		projectID, testID, browser, environment)
}

// Evidence answers what is kept of a test, the newest first.
func (db *DB) Evidence(ctx context.Context, projectID, testID, browser, environment string) ([]evidence.Kept, error) {
	return keptOf(ctx, db.read, projectID, testID, browser, environment)
}

// TestsAt answers tests of which a step comes from a place of the source.
func (db *DB) TestsAt(ctx context.Context, projectID, place string, limit int) ([]string, error) {
	return list(ctx, db.read, scanText, `SELECT test_id FROM evidence WHERE project_id = $1 AND places LIKE $2 ESCAPE '\' GROUP BY test_id ORDER BY max(at) DESC, test_id LIMIT $3`,
		projectID, "%\n"+escapeLike(place)+"\n%", limit)
}

// OldEvidence forgets what was kept before a time.
func (db *DB) OldEvidence(ctx context.Context, before time.Time, limit int) (keys []string, err error) {
	err = db.tx(ctx, func(tx txn) error {
		if err := exec(ctx, tx, `DELETE FROM evidence_run WHERE at < $1 AND due = 0`, ms(before)); err != nil {
			return err
		}
		if keys, err = list(ctx, tx, scanText, `SELECT blob_key FROM evidence WHERE at < $1 ORDER BY at LIMIT $2`, ms(before), limit); err != nil {
			return err
		}
		for _, key := range keys {
			if err := exec(ctx, tx, `DELETE FROM evidence WHERE blob_key = $1 AND at < $2`, key, ms(before)); err != nil {
				return err
			}
		}
		return nil
	})
	return keys, err
}

// ordered answers whether evidence of a run was ordered, and whether of another one of its
// commit and environment since a time.
func ordered(ctx context.Context, tx txn, o evidence.Order, since time.Time) (own, other bool, err error) {
	if err := lockProject(ctx, tx, o.ProjectID); err != nil {
		return false, false, err
	}
	n, err := one(ctx, tx, scanInt, `SELECT count(*) FROM evidence_run WHERE run_id = $1`, o.RunID)
	if err != nil {
		return false, false, err
	}
	m, err := one(ctx, tx, scanInt, `SELECT count(*) FROM evidence_run WHERE project_id = $1 AND environment = $2 AND commit_hash = $3 AND at >= $4 AND run_id <> $5`,
		o.ProjectID, o.Environment, o.Commit, ms(since), o.RunID)
	return n > 0, m > 0, err
}

func saveOrder(ctx context.Context, tx txn, o evidence.Order, due bool) error {
	return exec(ctx, tx, `INSERT INTO evidence_run (run_id, project_id, environment, commit_hash, at, due) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (run_id) DO UPDATE SET due = excluded.due`, o.RunID, o.ProjectID, o.Environment, o.Commit, ms(o.At), bit(due))
}

// OrderEvidence notes that a run records evidence, unless another one did lately.
func (db *DB) OrderEvidence(ctx context.Context, o evidence.Order, since time.Time) (ok bool, err error) {
	err = db.tx(ctx, func(tx txn) error {
		own, other, err := ordered(ctx, tx, o, since)
		if ok = own || !other; err != nil || own || other {
			return err
		}
		return saveOrder(ctx, tx, o, false)
	})
	return ok && err == nil, err
}

// DueEvidence has a run's evidence read.
func (db *DB) DueEvidence(ctx context.Context, o evidence.Order, since time.Time) error {
	return db.tx(ctx, func(tx txn) error {
		own, other, err := ordered(ctx, tx, o, since)
		if err != nil || other && !own {
			return err
		}
		return saveOrder(ctx, tx, o, true)
	})
}

// EvidenceDue answers runs whose evidence is to be read, the oldest first.
func (db *DB) EvidenceDue(ctx context.Context, limit int) ([]evidence.Order, error) {
	return list(ctx, db.read, func(r row) (o evidence.Order, err error) {
		var when int64
		err = r.Scan(&o.RunID, &o.ProjectID, &o.Environment, &o.Commit, &when)
		o.At = at(when)
		return o, err
	}, `SELECT run_id, project_id, environment, commit_hash, at FROM evidence_run WHERE due = 1 ORDER BY at, run_id LIMIT $1`, limit)
}

// EvidenceRead notes that a run's evidence was read.
func (db *DB) EvidenceRead(ctx context.Context, runID string) error {
	return db.tx(ctx, func(tx txn) error {
		return exec(ctx, tx, `UPDATE evidence_run SET due = 0 WHERE run_id = $1`, runID)
	})
}

// DropArtifact forgets an artifact.
func (db *DB) DropArtifact(ctx context.Context, id string) error {
	return db.tx(ctx, func(tx txn) error { return exec(ctx, tx, `DELETE FROM artifact WHERE id = $1`, id) })
}
