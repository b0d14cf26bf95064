package store

import (
	"context"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

const personColumns = `id, email, name, administrator, created_at`

func scanPerson(r row) (account.Person, error) {
	var p account.Person
	var created int64
	err := r.Scan(&p.ID, &p.Email, &p.Name, &p.Administrator, &created)
	p.CreatedAt = at(created)
	return p, err
}

// lockPeople holds everything about who is here until the transaction ends: whoever counts
// people or administrators decides on the number.
func lockPeople(ctx context.Context, tx txn) error {
	_, err := one(ctx, tx, scanInt, `SELECT id FROM installation WHERE id = 1`+tx.lock)
	return err
}

// HasPeople reports whether anybody can sign in.
func (db *DB) HasPeople(ctx context.Context) (bool, error) {
	n, err := one(ctx, db.read, scanInt, `SELECT count(*) FROM person`)
	return n > 0, err
}

// People answers everybody, by name.
func (db *DB) People(ctx context.Context) ([]account.Person, error) {
	return list(ctx, db.read, scanPerson, `SELECT `+personColumns+` FROM person ORDER BY name, email`)
}

// Person answers one person.
func (db *DB) Person(ctx context.Context, id string) (account.Person, error) {
	return one(ctx, db.read, scanPerson, `SELECT `+personColumns+` FROM person WHERE id = $1`, id)
}

// PersonByEmail answers who has an e-mail, and the hash of the password.
func (db *DB) PersonByEmail(ctx context.Context, email string) (account.Person, string, error) {
	var hash string
	p, err := one(ctx, db.read, func(r row) (account.Person, error) {
		var p account.Person
		var created int64
		err := r.Scan(&p.ID, &p.Email, &p.Name, &p.Administrator, &created, &hash)
		p.CreatedAt = at(created)
		return p, err
	}, `SELECT `+personColumns+`, password FROM person WHERE email = $1`, email)
	return p, hash, err
}

// PersonByIdentity answers whom an issuer means.
func (db *DB) PersonByIdentity(ctx context.Context, id account.Identity) (account.Person, error) {
	return one(ctx, db.read, scanPerson, `SELECT `+personColumns+` FROM person WHERE id = (SELECT person_id FROM identity WHERE issuer = $1 AND subject = $2)`, id.Issuer, id.Subject)
}

func addPerson(ctx context.Context, tx txn, p account.Person, hash string) error {
	n, err := one(ctx, tx, scanInt, `SELECT count(*) FROM person WHERE email = $1`, p.Email)
	if err != nil {
		return err
	}
	if n > 0 {
		return fault.New(fault.Conflict, "Somebody with this e-mail has an account here already.").WithFix("If it is yours, sign in instead.").At("email", "has an account")
	}
	return exec(ctx, tx, `INSERT INTO person (`+personColumns+`, password) VALUES ($1, $2, $3, $4, $5, $6)`, p.ID, p.Email, p.Name, bit(p.Administrator), ms(p.CreatedAt), hash)
}

func addIdentity(ctx context.Context, tx txn, personID string, id account.Identity) error {
	return exec(ctx, tx, `INSERT INTO identity (issuer, subject, person_id) VALUES ($1, $2, $3) ON CONFLICT (issuer, subject) DO NOTHING`, id.Issuer, id.Subject, personID)
}

// AddPerson adds a person, and as whom an issuer knows them.
func (db *DB) AddPerson(ctx context.Context, p account.Person, id *account.Identity) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockPeople(ctx, tx); err != nil {
			return err
		}
		if err := addPerson(ctx, tx, p, ""); err != nil || id == nil {
			return err
		}
		return addIdentity(ctx, tx, p.ID, *id)
	})
}

// AddIdentity notes as whom an issuer knows a person.
func (db *DB) AddIdentity(ctx context.Context, personID string, id account.Identity) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockPeople(ctx, tx); err != nil {
			return err
		}
		n, err := one(ctx, tx, scanInt, `SELECT count(*) FROM identity WHERE person_id = $1 AND issuer = $2 AND subject <> $3`, personID, id.Issuer, id.Subject)
		if err != nil {
			return err
		}
		if n > 0 {
			return fault.New(fault.Conflict, "The account with this e-mail belongs to somebody else at your provider.").WithFix("Ask an administrator of the installation to remove the old account.")
		}
		return addIdentity(ctx, tx, personID, id)
	})
}

// person answers a person to change, and how many administrators there are besides.
func person(ctx context.Context, tx txn, id string) (p account.Person, others int, err error) {
	if err := lockPeople(ctx, tx); err != nil {
		return p, 0, err
	}
	if p, err = one(ctx, tx, scanPerson, `SELECT `+personColumns+` FROM person WHERE id = $1`+tx.lock, id); err != nil {
		return p, 0, err
	}
	others, err = one(ctx, tx, scanInt, `SELECT count(*) FROM person WHERE administrator = 1 AND id <> $1`, id)
	return p, others, err
}

// UpdatePerson changes a person's name and whether they administer the installation.
func (db *DB) UpdatePerson(ctx context.Context, id string, change func(p *account.Person, others int) error) error {
	return db.tx(ctx, func(tx txn) error {
		p, others, err := person(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := change(&p, others); err != nil {
			return err
		}
		return exec(ctx, tx, `UPDATE person SET name = $2, administrator = $3 WHERE id = $1`, id, p.Name, bit(p.Administrator))
	})
}

// RemovePerson removes a person with all that belongs to them; the audit log stays.
func (db *DB) RemovePerson(ctx context.Context, id string, allow func(p account.Person, others int) error) error {
	return db.tx(ctx, func(tx txn) error {
		p, others, err := person(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := allow(p, others); err != nil {
			return err
		}
		for _, from := range []string{`session WHERE person_id`, `identity WHERE person_id`, `membership WHERE person_id`, `link WHERE person_id`, `person WHERE id`} {
			if err := exec(ctx, tx, `DELETE FROM `+from+` = $1`, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetPassword saves the hash of a new password and ends the person's sessions, but for one.
func (db *DB) SetPassword(ctx context.Context, personID, hash, keepSessionID string) error {
	return db.tx(ctx, func(tx txn) error { return setPassword(ctx, tx, personID, hash, keepSessionID) })
}

func setPassword(ctx context.Context, tx txn, personID, hash, keepSessionID string) error {
	if err := exec(ctx, tx, `UPDATE person SET password = $2 WHERE id = $1`, personID, hash); err != nil {
		return err
	}
	return exec(ctx, tx, `DELETE FROM session WHERE person_id = $1 AND id <> $2`, personID, keepSessionID)
}

func scanMembership(r row) (account.Membership, error) {
	var m account.Membership
	err := r.Scan(&m.ProjectID, &m.PersonID, &m.Role)
	return m, err
}

// Memberships answers a person's roles.
func (db *DB) Memberships(ctx context.Context, personID string) ([]account.Membership, error) {
	return list(ctx, db.read, scanMembership, `SELECT project_id, person_id, role FROM membership WHERE person_id = $1`, personID)
}

func scanString(r row) (string, error) {
	var s string
	return s, r.Scan(&s)
}

// AllProjects answers the IDs of all projects.
func (db *DB) AllProjects(ctx context.Context) ([]string, error) {
	return list(ctx, db.read, scanString, `SELECT id FROM project ORDER BY id`)
}

// Members answers who has a role in a project, by name.
func (db *DB) Members(ctx context.Context, projectID string) ([]account.Member, error) {
	return list(ctx, db.read, func(r row) (account.Member, error) {
		var m account.Member
		var created int64
		err := r.Scan(&m.Person.ID, &m.Person.Email, &m.Person.Name, &m.Person.Administrator, &created, &m.Role)
		m.Person.CreatedAt = at(created)
		return m, err
	}, `SELECT id, email, name, administrator, created_at, role FROM person JOIN membership ON membership.person_id = person.id
		WHERE membership.project_id = $1 ORDER BY name, email`, projectID)
}

// SetMembership changes a member's role.
func (db *DB) SetMembership(ctx context.Context, m account.Membership) error {
	done, err := db.write.ExecContext(ctx, `UPDATE membership SET role = $3 WHERE project_id = $1 AND person_id = $2`, clean([]any{m.ProjectID, m.PersonID, string(m.Role)})...)
	if err != nil {
		return translate(err)
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return translate(err)
	}
	return fault.New(fault.NotFound, "There is no such member.")
}

// DropMembership takes a person out of a project and answers whether they were in it.
func (db *DB) DropMembership(ctx context.Context, projectID, personID string) (had bool, err error) {
	return db.drop(ctx, `DELETE FROM membership WHERE project_id = $1 AND person_id = $2`, projectID, personID)
}

// drop deletes and answers whether there was anything to delete.
func (db *DB) drop(ctx context.Context, query string, args ...any) (bool, error) {
	done, err := db.write.ExecContext(ctx, query, clean(args)...)
	if err != nil {
		return false, translate(err)
	}
	n, err := done.RowsAffected()
	return n > 0, translate(err)
}
