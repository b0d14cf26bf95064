package store

import (
	"context"
	"time"

	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/pull"
	"tas-service/internal/run"
)

// What a connection's secrets are sealed for.
const (
	forgeTokenPurpose = "forge-token"
	appKeyPurpose     = "app-key"
	hookSecretPurpose = "hook-secret"
	signingKeyPurpose = "signing-key"
)

// connectionDetail is what of a connection nothing selects by and is no secret.
type connectionDetail struct {
	AppID          int64           `json:"appId,omitempty"`
	InstallationID int64           `json:"installationId,omitempty"`
	SecretsFor     string          `json:"secretsFor,omitempty"`
	Sources        []string        `json:"sources,omitempty"`
	Author         checkout.Person `json:"author"`
	Committer      checkout.Person `json:"committer"`
	Quiet          bool            `json:"quiet,omitempty"`
	Deaf           bool            `json:"deaf,omitempty"`
}

func (db *DB) scanConnection(r row) (pull.Connection, error) {
	var c pull.Connection
	var token, appKey, hook, signing, detail string
	var changed int64
	if err := r.Scan(&c.ProjectID, &c.Kind, &c.URL, &token, &appKey, &hook, &signing, &detail, &changed); err != nil {
		return c, err
	}
	for _, s := range []struct {
		into    *string
		purpose string
		sealed  string
	}{{&c.Token, forgeTokenPurpose, token}, {&c.App.Key, appKeyPurpose, appKey}, {&c.HookSecret, hookSecretPurpose, hook}, {&c.SigningKey, signingKeyPurpose, signing}} {
		var err error
		if *s.into, err = db.keys.Open(s.purpose, c.ProjectID, s.sealed); err != nil {
			return c, fault.Wrap(err, fault.Internal, "a secret of the connection of project %s cannot be opened", c.ProjectID)
		}
	}
	var d connectionDetail
	if err := fromJSON(detail, &d); err != nil {
		return c, err
	}
	c.App.ID, c.App.InstallationID, c.SecretsFor = d.AppID, d.InstallationID, d.SecretsFor
	c.Sources, c.Author, c.Committer, c.Quiet, c.Deaf, c.ChangedAt = d.Sources, d.Author, d.Committer, d.Quiet, d.Deaf, at(changed)
	return c, nil
}

const readConnection = `SELECT project_id, kind, url, token, app_key, hook_secret, signing_key, detail, changed_at FROM connection WHERE project_id = $1`

// Connection answers how a project takes part in pull requests.
func (db *DB) Connection(ctx context.Context, projectID string) (pull.Connection, error) {
	return db.connection(ctx, db.read, projectID)
}

func (db *DB) connection(ctx context.Context, q querier, projectID string) (pull.Connection, error) {
	c, err := one(ctx, q, db.scanConnection, readConnection, projectID)
	if fault.KindOf(err) == fault.NotFound {
		return pull.Connection{ProjectID: projectID}, nil
	}
	return c, err
}

// UpdateConnection changes it; the first change makes it.
func (db *DB) UpdateConnection(ctx context.Context, projectID string, change func(*pull.Connection) error) error {
	return db.tx(ctx, func(tx txn) error {
		// The row to lock may not be there yet.
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		c, err := db.connection(ctx, tx, projectID)
		if err != nil {
			return err
		}
		if err := change(&c); err != nil {
			return err
		}
		detail := toJSON(connectionDetail{AppID: c.App.ID, InstallationID: c.App.InstallationID, SecretsFor: c.SecretsFor, Sources: c.Sources, Author: c.Author, Committer: c.Committer, Quiet: c.Quiet, Deaf: c.Deaf})
		return exec(ctx, tx, `INSERT INTO connection (project_id, kind, url, token, app_key, hook_secret, signing_key, detail, changed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (project_id) DO UPDATE SET kind = excluded.kind, url = excluded.url, token = excluded.token, app_key = excluded.app_key,
			hook_secret = excluded.hook_secret, signing_key = excluded.signing_key, detail = excluded.detail, changed_at = excluded.changed_at`,
			projectID, string(c.Kind), c.URL, db.keys.Seal(forgeTokenPurpose, projectID, c.Token), db.keys.Seal(appKeyPurpose, projectID, c.App.Key),
			db.keys.Seal(hookSecretPurpose, projectID, c.HookSecret), db.keys.Seal(signingKeyPurpose, projectID, c.SigningKey), detail, ms(c.ChangedAt))
	})
}

// TakenDelivery reports whether a webhook was taken before.
func (db *DB) TakenDelivery(ctx context.Context, kind forge.Kind, projectID, delivery string) (bool, error) {
	n, err := one(ctx, db.read, scanInt, `SELECT count(*) FROM hook_delivery WHERE kind = $1 AND project_id = $2 AND delivery = $3`, string(kind), projectID, delivery)
	return n > 0, err
}

// TakeDelivery notes that one was taken.
func (db *DB) TakeDelivery(ctx context.Context, kind forge.Kind, projectID, delivery string, taken, forget time.Time) error {
	return db.tx(ctx, func(tx txn) error {
		err := exec(ctx, tx, `INSERT INTO hook_delivery (kind, project_id, delivery, received_at) VALUES ($1, $2, $3, $4) ON CONFLICT (kind, project_id, delivery) DO NOTHING`, string(kind), projectID, delivery, ms(taken))
		if err != nil {
			return err
		}
		return exec(ctx, tx, `DELETE FROM hook_delivery WHERE received_at < $1`, ms(forget))
	})
}

// PullRuns answers the runs for a pull request, the newest first.
func (db *DB) PullRuns(ctx context.Context, projectID string, p run.Pull, limit int) ([]run.Run, error) {
	return list(ctx, db.read, scanRun, `SELECT `+runColumns+` FROM run WHERE project_id = $1 AND pull = $2 ORDER BY created_at DESC, id DESC LIMIT $3`, projectID, toJSON(p), limit)
}

// basesLooked is how many runs are looked at for one to compare with.
const basesLooked = 50

// DefaultRunBefore answers the run of the default branch that came to a verdict before
// another was started.
func (db *DB) DefaultRunBefore(ctx context.Context, r run.Run) (run.Run, error) {
	all, err := list(ctx, db.read, scanRun, `SELECT `+runColumns+` FROM run WHERE project_id = $1 AND on_default = 1 AND terminal = 1 AND phase NOT IN ($4, $5) AND total > 0
		AND (created_at < $2 OR (created_at = $2 AND id < $3)) AND pull = '' ORDER BY created_at DESC, id DESC LIMIT $6`,
		r.ProjectID, ms(r.CreatedAt), r.ID, string(run.Cancelled), string(run.ProcessError), basesLooked)
	if err != nil {
		return run.Run{}, err
	}
	// Against a few tests all others would be new.
	same := toJSON(r.Selection)
	for _, x := range all {
		if x.Selection.Scope() == "" || toJSON(x.Selection) == same {
			return x, nil
		}
	}
	return run.Run{}, fault.New(fault.NotFound, "There is no run of the default branch to compare with.")
}
