package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/fault"
	"tas-service/internal/notify"
)

// destinationPurpose is what the secrets of destinations are sealed for.
const destinationPurpose = "destination"

const (
	destinationColumns = `id, project_id, name, kind, recipients, filter, sealed, disabled, created_by, created_at`
	destinationByID    = `SELECT ` + destinationColumns + ` FROM destination WHERE project_id = $1 AND id = $2`
)

func (db *DB) scanDestination(r row) (notify.Destination, error) {
	var d notify.Destination
	var to, filter, sealed string
	var created int64
	if err := r.Scan(&d.ID, &d.ProjectID, &d.Name, &d.Kind, &to, &filter, &sealed, &d.Disabled, &d.CreatedBy, &created); err != nil {
		return d, err
	}
	d.CreatedAt = at(created)
	plain, err := db.keys.Open(destinationPurpose, d.ID, sealed)
	if err != nil {
		return d, fault.Wrap(err, fault.Internal, "the secrets of destination %s cannot be opened", d.ID)
	}
	return d, errors.Join(fromJSON(to, &d.To), fromJSON(filter, &d.Filter), fromJSON(plain, &d.Secrets))
}

// Destinations answers a project's destinations by name, with their secrets.
func (db *DB) Destinations(ctx context.Context, projectID string) ([]notify.Destination, error) {
	return list(ctx, db.read, db.scanDestination, `SELECT `+destinationColumns+` FROM destination WHERE project_id = $1 ORDER BY name, id`, projectID)
}

// Destination answers one destination of a project, with its secrets.
func (db *DB) Destination(ctx context.Context, projectID, id string) (notify.Destination, error) {
	return one(ctx, db.read, db.scanDestination, destinationByID, projectID, id)
}

// UpdateDestination changes a destination, or adds one.
func (db *DB) UpdateDestination(ctx context.Context, projectID, id string, change func(d *notify.Destination, others int) error) (out notify.Destination, err error) {
	err = db.tx(ctx, func(tx txn) error {
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		d := notify.Destination{ID: uuid.NewString(), ProjectID: projectID, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
		if id != "" {
			var err error
			if d, err = one(ctx, tx, db.scanDestination, destinationByID, projectID, id); err != nil {
				return err
			}
		}
		others, err := one(ctx, tx, scanInt, `SELECT count(*) FROM destination WHERE project_id = $1 AND id <> $2`, projectID, d.ID)
		if err != nil {
			return err
		}
		if err := change(&d, others); err != nil {
			return err
		}
		taken, err := one(ctx, tx, scanInt, `SELECT count(*) FROM destination WHERE project_id = $1 AND name = $2 AND id <> $3`, projectID, d.Name, d.ID)
		if err != nil {
			return err
		}
		if taken > 0 {
			return fault.New(fault.Conflict, "The project has a destination of this name already.").WithFix("Choose another name, or change that one.").At("name", "taken")
		}
		out = d
		return exec(ctx, tx, `INSERT INTO destination (`+destinationColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (id) DO UPDATE SET name = excluded.name, recipients = excluded.recipients, filter = excluded.filter, sealed = excluded.sealed, disabled = excluded.disabled`,
			d.ID, projectID, d.Name, string(d.Kind), toJSON(d.To), toJSON(d.Filter), db.keys.Seal(destinationPurpose, d.ID, toJSON(d.Secrets)), d.Disabled, d.CreatedBy, ms(d.CreatedAt))
	})
	return out, err
}

// DropDestination removes a destination with its secrets.
func (db *DB) DropDestination(ctx context.Context, projectID, id string) error {
	return db.tx(ctx, func(tx txn) error {
		return exec(ctx, tx, `DELETE FROM destination WHERE project_id = $1 AND id = $2`, projectID, id)
	})
}
