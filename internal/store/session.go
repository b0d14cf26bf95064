package store

import (
	"context"
	"time"

	"tas-service/internal/account"
)

const sessionColumns = `id, person_id, token_hash, user_agent, address, created_at, seen_at, expires_at`

func scanSession(r row) (account.Session, error) {
	var s account.Session
	var created, seen, expires int64
	err := r.Scan(&s.ID, &s.PersonID, &s.TokenHash, &s.UserAgent, &s.Address, &created, &seen, &expires)
	s.CreatedAt, s.SeenAt, s.ExpiresAt = at(created), at(seen), at(expires)
	return s, err
}

// AddSession saves a new session, and forgets those that are over.
func (db *DB) AddSession(ctx context.Context, s account.Session) error {
	return db.tx(ctx, func(tx txn) error {
		if err := exec(ctx, tx, `DELETE FROM session WHERE expires_at <= $1`, ms(s.CreatedAt)); err != nil {
			return err
		}
		return exec(ctx, tx, `INSERT INTO session (`+sessionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			s.ID, s.PersonID, s.TokenHash, s.UserAgent, s.Address, ms(s.CreatedAt), ms(s.SeenAt), ms(s.ExpiresAt))
	})
}

// SessionByToken answers the session of a token, as long as it is not over.
func (db *DB) SessionByToken(ctx context.Context, hash string, now time.Time) (account.Session, error) {
	return one(ctx, db.read, scanSession, `SELECT `+sessionColumns+` FROM session WHERE token_hash = $1 AND expires_at > $2`, hash, ms(now))
}

// SeeSession notes that a session was used.
func (db *DB) SeeSession(ctx context.Context, id string, seen, expires time.Time) error {
	return exec(ctx, db.write, `UPDATE session SET seen_at = $2, expires_at = $3 WHERE id = $1`, id, ms(seen), ms(expires))
}

// Sessions answers a person's sessions, the last seen first.
func (db *DB) Sessions(ctx context.Context, personID string, now time.Time) ([]account.Session, error) {
	return list(ctx, db.read, scanSession, `SELECT `+sessionColumns+` FROM session WHERE person_id = $1 AND expires_at > $2 ORDER BY seen_at DESC, id`, personID, ms(now))
}

// DropSession ends a session of a person and answers whether there was one.
func (db *DB) DropSession(ctx context.Context, personID, id string) (had bool, err error) {
	return db.drop(ctx, `DELETE FROM session WHERE person_id = $1 AND id = $2`, personID, id)
}

const linkColumns = `id, kind, token_hash, project_id, role, person_id, email, made_by, created_at, expires_at`

func scanLink(r row) (account.Link, error) {
	var l account.Link
	var created, expires int64
	err := r.Scan(&l.ID, &l.Kind, &l.TokenHash, &l.ProjectID, &l.Role, &l.PersonID, &l.Email, &l.MadeBy, &created, &expires)
	l.CreatedAt, l.ExpiresAt = at(created), at(expires)
	return l, err
}

// AddLink saves a new link, and forgets those that have expired.
func (db *DB) AddLink(ctx context.Context, l account.Link) error {
	return db.tx(ctx, func(tx txn) error {
		if err := exec(ctx, tx, `DELETE FROM link WHERE expires_at <= $1`, ms(l.CreatedAt)); err != nil {
			return err
		}
		return exec(ctx, tx, `INSERT INTO link (`+linkColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			l.ID, string(l.Kind), l.TokenHash, l.ProjectID, string(l.Role), l.PersonID, l.Email, l.MadeBy, ms(l.CreatedAt), ms(l.ExpiresAt))
	})
}

// openLink holds for links that can be opened at the time $2: one for the first
// administrator only as long as there is nobody.
const openLink = ` expires_at > $2 AND (kind <> 'first' OR NOT EXISTS (SELECT 1 FROM person))`

// LinkByToken answers the open link of a token.
func (db *DB) LinkByToken(ctx context.Context, hash string, now time.Time) (account.Link, error) {
	return one(ctx, db.read, scanLink, `SELECT `+linkColumns+` FROM link WHERE token_hash = $1 AND`+openLink, hash, ms(now))
}

// Links answers open links of a kind, the newest first.
func (db *DB) Links(ctx context.Context, kind account.LinkKind, projectID string, now time.Time) ([]account.Link, error) {
	return list(ctx, db.read, scanLink, `SELECT `+linkColumns+` FROM link WHERE project_id = $1 AND expires_at > $2 AND kind = $3 ORDER BY created_at DESC, id`, projectID, ms(now), string(kind))
}

// LinksFor answers open links that are for one e-mail.
func (db *DB) LinksFor(ctx context.Context, email string, now time.Time) ([]account.Link, error) {
	return list(ctx, db.read, scanLink, `SELECT `+linkColumns+` FROM link WHERE email = $1 AND expires_at > $2 ORDER BY created_at, id`, email, ms(now))
}

// DropLink ends a link of a project, or with an empty projectID of the installation.
func (db *DB) DropLink(ctx context.Context, projectID, id string) (had bool, err error) {
	return db.drop(ctx, `DELETE FROM link WHERE project_id = $1 AND id = $2`, projectID, id)
}

// UseLink uses an open link up.
func (db *DB) UseLink(ctx context.Context, hash string, now time.Time, use func(account.Link) (account.Join, error)) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockPeople(ctx, tx); err != nil {
			return err
		}
		l, err := one(ctx, tx, scanLink, `SELECT `+linkColumns+` FROM link WHERE token_hash = $1 AND`+openLink, hash, ms(now))
		if err != nil {
			return err
		}
		j, err := use(l)
		if err != nil {
			return err
		}
		if err := exec(ctx, tx, `DELETE FROM link WHERE id = $1`, l.ID); err != nil {
			return err
		}
		if j.New {
			if err := addPerson(ctx, tx, j.Person, j.Password); err != nil {
				return err
			}
		} else if j.Password != "" {
			if err := setPassword(ctx, tx, j.Person.ID, j.Password, ""); err != nil {
				return err
			}
		}
		if j.Identity != nil {
			if err := addIdentity(ctx, tx, j.Person.ID, *j.Identity); err != nil {
				return err
			}
		}
		return keepPromise(ctx, tx, l, j)
	})
}

// keepPromise gives a person what a link promises, and takes nothing away.
func keepPromise(ctx context.Context, tx txn, l account.Link, j account.Join) error {
	switch l.Kind {
	case account.LinkFirst, account.LinkAdministrator:
		return exec(ctx, tx, `UPDATE person SET administrator = 1 WHERE id = $1`, j.Person.ID)
	case account.LinkMember:
		had, err := list(ctx, tx, scanMembership, `SELECT project_id, person_id, role FROM membership WHERE project_id = $1 AND person_id = $2`, l.ProjectID, j.Person.ID)
		if err != nil || len(had) > 0 && had[0].Role.Includes(l.Role) {
			return err
		}
		return exec(ctx, tx, `INSERT INTO membership (project_id, person_id, role) VALUES ($1, $2, $3)
			ON CONFLICT (project_id, person_id) DO UPDATE SET role = excluded.role`, l.ProjectID, j.Person.ID, string(l.Role))
	case account.LinkReset:
	}
	return nil
}
