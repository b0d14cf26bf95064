package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"tas-service/internal/action"
	"tas-service/internal/fault"
)

const (
	actionHead = `id, project_id, key, kind, target, about, serial, version, done_as, state, tries, not_before, since, result, answer, asked_by,
	decided_by, decided_at, created_at, changed_at, done_at`
	actionColumns = actionHead + `, wish, history`
	actionByID    = `SELECT ` + actionColumns + ` FROM action WHERE id = $1`
)

func scanAction(r row) (action.Action, error) {
	var a action.Action
	var before, created, changed int64
	var since, decided, done sql.NullInt64
	var result, wish, history string
	err := r.Scan(&a.ID, &a.ProjectID, &a.Key, &a.Kind, &a.Target, &a.About, &a.Serial, &a.Version, &a.DoneAs, &a.State, &a.Tries, &before, &since, &result, &a.Answer, &a.AskedBy,
		&a.DecidedBy, &decided, &created, &changed, &done, &wish, &history)
	if err != nil {
		return a, err
	}
	a.NotBefore, a.Since, a.DecidedAt, a.CreatedAt, a.ChangedAt, a.DoneAt = at(before), atPtr(since), atPtr(decided), at(created), at(changed), atPtr(done)
	a.Wish = json.RawMessage(wish)
	if result != "null" {
		a.Result = json.RawMessage(result)
	}
	return a, fromJSON(history, &a.History)
}

func saveAction(ctx context.Context, q querier, a *action.Action) error {
	result := "null"
	if len(a.Result) > 0 {
		result = string(a.Result)
	}
	return exec(ctx, q, `INSERT INTO action (`+actionColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
		ON CONFLICT (id) DO UPDATE SET target = excluded.target, about = excluded.about, serial = excluded.serial, version = excluded.version, done_as = excluded.done_as,
			state = excluded.state, tries = excluded.tries, not_before = excluded.not_before, since = excluded.since, result = excluded.result, answer = excluded.answer,
			asked_by = excluded.asked_by, decided_by = excluded.decided_by, decided_at = excluded.decided_at, changed_at = excluded.changed_at, done_at = excluded.done_at,
			wish = excluded.wish, history = excluded.history`,
		a.ID, a.ProjectID, a.Key, string(a.Kind), a.Target, a.About, a.Serial, a.Version, a.DoneAs, string(a.State), a.Tries, ms(a.NotBefore), msPtr(a.Since), result, a.Answer, a.AskedBy,
		a.DecidedBy, msPtr(a.DecidedAt), ms(a.CreatedAt), ms(a.ChangedAt), msPtr(a.DoneAt), string(a.Wish), toJSON(a.History))
}

// AskAction records a wish under a key.
func (db *DB) AskAction(ctx context.Context, projectID, key string, change func(*action.Action, action.Policy) (*action.Action, error)) (out action.Action, err error) {
	err = db.tx(ctx, func(tx txn) error {
		// The project first: of two that ask for a new key at once the second waits here.
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		p, err := actionPolicy(ctx, tx, projectID)
		if err != nil {
			return err
		}
		var known *action.Action
		a, err := one(ctx, tx, scanAction, `SELECT `+actionColumns+` FROM action WHERE project_id = $1 AND key = $2`+tx.lock, projectID, key)
		switch {
		case err == nil:
			out, known = a, &a
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
		fresh, err := change(known, p)
		if err != nil || fresh == nil {
			return err
		}
		out = *fresh
		return saveAction(ctx, tx, fresh)
	})
	return out, err
}

// Action answers one action of a project.
func (db *DB) Action(ctx context.Context, projectID, id string) (action.Action, error) {
	return one(ctx, db.read, scanAction, actionByID+` AND project_id = $2`, id, projectID)
}

// Actions answers actions of a project, the newest first, without their wishes and histories.
func (db *DB) Actions(ctx context.Context, q action.Query) ([]action.Action, error) {
	where, args := `project_id = $1`, []any{q.ProjectID}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	for _, f := range []struct{ column, value string }{{"kind = ", string(q.Kind)}, {"state = ", string(q.State)}, {"serial = ", q.Serial}, {"id < ", q.Before}} {
		if f.value != "" {
			where += ` AND ` + f.column + arg(f.value)
		}
	}
	return list(ctx, db.read, scanAction, `SELECT `+actionHead+`, 'null', '[]' FROM action WHERE `+where+` ORDER BY id DESC LIMIT `+arg(q.Limit), args...)
}

// CountActions answers how many actions of a project are in a state.
func (db *DB) CountActions(ctx context.Context, projectID string, s action.State) (int, error) {
	return one(ctx, db.read, scanInt, `SELECT count(*) FROM action WHERE project_id = $1 AND state = $2`, projectID, string(s))
}

// UpdateAction changes one action of a project.
func (db *DB) UpdateAction(ctx context.Context, projectID, id string, change func(*action.Action) error) error {
	return db.tx(ctx, func(tx txn) error {
		a, err := one(ctx, tx, scanAction, actionByID+` AND project_id = $2`+tx.lock, id, projectID)
		if err != nil {
			return err
		}
		if err := change(&a); err != nil {
			return err
		}
		return saveAction(ctx, tx, &a)
	})
}

// DueActions answers which actions may be begun, the longest due first.
func (db *DB) DueActions(ctx context.Context, kinds []action.Kind, now time.Time, limit int) ([]string, error) {
	var args []any
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	query := `SELECT id FROM (SELECT id, not_before, row_number() OVER (PARTITION BY serial ORDER BY not_before, id) AS place FROM action
		WHERE state = 'pending' AND not_before <= ` + arg(ms(now)) + ` AND kind IN (` + marks(kinds, arg) + `)
			AND serial NOT IN (SELECT serial FROM action WHERE claim_until > 0 AND claim_until >= ` + db.now + `)) AS due
		WHERE place = 1 ORDER BY not_before, id LIMIT ` + arg(limit)
	return list(ctx, db.read, scanText, query, args...)
}

// ClaimAction takes an action that is due.
func (db *DB) ClaimAction(ctx context.Context, id, claim string, now time.Time, d time.Duration) (a action.Action, ok bool, err error) {
	err = db.tx(ctx, func(tx txn) error {
		a, ok = action.Action{}, false
		// One claims at a time, so that two do not each take one of a serial.
		if err := lockPeople(ctx, tx); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE action SET claim = $2, claim_until = `+db.now+` + $3
			WHERE id = $1 AND state = 'pending' AND not_before <= $4
				AND NOT EXISTS (SELECT 1 FROM action AS other WHERE other.serial = action.serial AND other.claim_until > 0 AND other.claim_until >= `+db.now+`)`,
			id, claim, d.Milliseconds(), ms(now))
		if err != nil {
			return translate(err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return translate(err)
		}
		a, err = one(ctx, tx, scanAction, actionByID, id)
		ok = err == nil
		return err
	})
	return a, ok && err == nil, err
}

// KeepClaim has a claim last longer.
func (db *DB) KeepClaim(ctx context.Context, id, claim string, d time.Duration) error {
	return db.tx(ctx, func(tx txn) error {
		// As in ClaimAction. One that was over comes to life again only if nothing of its serial was begun.
		if err := lockPeople(ctx, tx); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE action SET claim_until = `+db.now+` + $3 WHERE id = $1 AND claim = $2
			AND NOT EXISTS (SELECT 1 FROM action AS other WHERE other.serial = action.serial AND other.id <> action.id AND other.claim_until > 0 AND other.claim_until >= `+db.now+`)`, id, claim, d.Milliseconds())
		if err != nil {
			return translate(err)
		}
		n, err := res.RowsAffected()
		if err == nil && n == 0 {
			return takenOver()
		}
		return translate(err)
	})
}

func takenOver() error {
	return fault.New(fault.Superseded, "Another service carries this action out now.").WithFix("Leave it to that one.")
}

// FinishAction changes an action under a claim, and gives the claim up.
func (db *DB) FinishAction(ctx context.Context, id, claim string, change func(*action.Action) error) error {
	return db.tx(ctx, func(tx txn) error {
		a, err := one(ctx, tx, scanAction, actionByID+tx.lock, id)
		if err != nil {
			return err
		}
		holder, err := one(ctx, tx, scanText, `SELECT claim FROM action WHERE id = $1`, id)
		if err != nil {
			return err
		}
		if holder != claim {
			return takenOver()
		}
		if err := change(&a); err != nil {
			return err
		}
		return errors.Join(saveAction(ctx, tx, &a), exec(ctx, tx, `UPDATE action SET claim = '', claim_until = 0 WHERE id = $1`, id))
	})
}

// ActionPolicy answers which kinds of a project wait for a person.
func (db *DB) ActionPolicy(ctx context.Context, projectID string) (action.Policy, error) {
	return actionPolicy(ctx, db.read, projectID)
}

func actionPolicy(ctx context.Context, q querier, projectID string) (action.Policy, error) {
	p, err := one(ctx, q, scanText, `SELECT policy FROM action_policy WHERE project_id = $1`, projectID)
	if fault.KindOf(err) == fault.NotFound {
		return action.NothingWaits, nil
	}
	return action.Policy(p), err
}

// SetActionPolicy sets which kinds of a project wait for a person.
func (db *DB) SetActionPolicy(ctx context.Context, projectID string, p action.Policy) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		return exec(ctx, tx, `INSERT INTO action_policy (project_id, policy) VALUES ($1, $2) ON CONFLICT (project_id) DO UPDATE SET policy = excluded.policy`, projectID, string(p))
	})
}

// DropMessages removes messages that were sent before a time.
func (db *DB) DropMessages(ctx context.Context, before time.Time) error {
	return db.tx(ctx, func(tx txn) error {
		return exec(ctx, tx, `DELETE FROM action WHERE kind = 'message' AND state = 'done' AND done_at < $1`, ms(before))
	})
}
