package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/project"
)

const projectColumns = `id, name, slug, repo_url, repo_branch, repo_dir, repo_token, workers, min_isolation, run_limit_ms, disk_quota, keep_days, recovery, created_at`

// readProject reads projects, each with the variables of its default environment.
const readProject = `SELECT ` + projectColumns + `, (SELECT variables FROM environment WHERE project_id = project.id AND is_default = 1) FROM project`

// tokenPurpose is what repository tokens are sealed for.
const tokenPurpose = "repository-token"

func (db *DB) scanProject(r row) (project.Project, error) {
	var p project.Project
	var env string
	var limit, created int64
	var recovery int
	err := r.Scan(&p.ID, &p.Name, &p.Slug, &p.Repository.URL, &p.Repository.Branch, &p.Repository.Dir, &p.Repository.Token,
		&p.Workers, &p.MinIsolation, &limit, &p.DiskQuota, &p.KeepDays, &recovery, &created, &env)
	if err != nil {
		return p, err
	}
	p.RunLimit, p.CreatedAt, p.Recovery = time.Duration(limit)*time.Millisecond, at(created), recovery == 1
	if p.Repository.Token, err = db.keys.Open(tokenPurpose, p.ID, p.Repository.Token); err != nil {
		return p, fault.Wrap(err, fault.Internal, "the repository token of project %s cannot be opened", p.ID)
	}
	return p, fromJSON(env, &p.Env)
}

// Project answers one project.
func (db *DB) Project(ctx context.Context, id string) (project.Project, error) {
	return one(ctx, db.read, db.scanProject, readProject+` WHERE id = $1`, id)
}

// Projects lists every project, by name.
func (db *DB) Projects(ctx context.Context) ([]project.Project, error) {
	return list(ctx, db.read, db.scanProject, readProject+` ORDER BY name, id`)
}

// ProjectBySlug answers the project of an address.
func (db *DB) ProjectBySlug(ctx context.Context, slug string) (project.Project, error) {
	return one(ctx, db.read, db.scanProject, readProject+` WHERE slug = $1`, slug)
}

// CreateProject saves a new project with a slug that is free, its default environment and
// its first API key, answered in clear.
func (db *DB) CreateProject(ctx context.Context, p project.Project) (project.Project, string, error) {
	p.ID, p.CreatedAt = uuid.NewString(), time.Now().UTC()
	plain := account.NewKey()
	err := db.tx(ctx, func(tx txn) error {
		// The slug is looked for and taken in one step.
		if err := lockPeople(ctx, tx); err != nil {
			return err
		}
		var err error
		if p.Slug, err = freeSlug(ctx, tx, project.Slug(p.Name)); err != nil {
			return err
		}
		err = exec(ctx, tx, `INSERT INTO project (`+projectColumns+`, env) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
			p.ID, p.Name, p.Slug, p.Repository.URL, p.Repository.Branch, p.Repository.Dir,
			db.keys.Seal(tokenPurpose, p.ID, p.Repository.Token), p.Workers, p.MinIsolation,
			p.RunLimit.Milliseconds(), p.DiskQuota, p.KeepDays, bit(p.Recovery), ms(p.CreatedAt), toJSON(p.Env))
		if err != nil {
			return err
		}
		err = exec(ctx, tx, `INSERT INTO environment (id, project_id, name, is_default, variables, secrets, created_at) VALUES ($1, $1, 'default', 1, $2, '{}', $3)`, p.ID, toJSON(p.Env), ms(p.CreatedAt))
		if err != nil {
			return err
		}
		return db.addKey(ctx, tx, p.ID, plain)
	})
	return p, plain, err
}

// freeSlug answers a slug that no project has: the one asked for, or with a number.
func freeSlug(ctx context.Context, tx txn, slug string) (string, error) {
	for n := 1; ; n++ {
		try := slug
		if n > 1 {
			try = fmt.Sprintf("%s-%d", slug, n)
		}
		taken, err := one(ctx, tx, scanInt, `SELECT count(*) FROM project WHERE slug = $1`, try)
		if err != nil || taken == 0 {
			return try, err
		}
	}
}

// UpdateProject changes a project's settings, and the variables of its default environment.
func (db *DB) UpdateProject(ctx context.Context, id string, change func(*project.Project) error) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockProject(ctx, tx, id); err != nil {
			return err
		}
		p, err := one(ctx, tx, db.scanProject, readProject+` WHERE id = $1`, id)
		if err != nil {
			return err
		}
		if err := change(&p); err != nil {
			return err
		}
		err = exec(ctx, tx, `UPDATE project SET name = $2, repo_url = $3, repo_branch = $4, repo_dir = $5, repo_token = $6,
			workers = $7, env = $8, min_isolation = $9, run_limit_ms = $10, disk_quota = $11, keep_days = $12, recovery = $13 WHERE id = $1`,
			p.ID, p.Name, p.Repository.URL, p.Repository.Branch, p.Repository.Dir, db.keys.Seal(tokenPurpose, p.ID, p.Repository.Token),
			p.Workers, toJSON(p.Env), p.MinIsolation, p.RunLimit.Milliseconds(), p.DiskQuota, p.KeepDays, bit(p.Recovery))
		if err != nil {
			return err
		}
		return exec(ctx, tx, `UPDATE environment SET variables = $2 WHERE project_id = $1 AND is_default = 1`, p.ID, toJSON(p.Env))
	})
}

// apiKeyPurpose is what API keys are sealed for, so that an administrator can be shown one.
const apiKeyPurpose = "api-key"

func (db *DB) addKey(ctx context.Context, q querier, projectID, plain string) error {
	id := uuid.NewString()
	return exec(ctx, q, `INSERT INTO api_key (id, project_id, hash, hint, sealed, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		id, projectID, account.HashKey(plain), account.Hint(plain), db.keys.Seal(apiKeyPurpose, id, plain), ms(time.Now()))
}

// CurrentKey answers a project's key in clear, and with an empty one where only its hash
// was kept.
func (db *DB) CurrentKey(ctx context.Context, projectID string) (account.Key, string, error) {
	var sealed string
	k, err := one(ctx, db.read, func(r row) (account.Key, error) {
		var k account.Key
		var created int64
		err := r.Scan(&k.ID, &k.ProjectID, &k.Hash, &k.Hint, &created, &sealed)
		k.CreatedAt = at(created)
		return k, err
	}, `SELECT id, project_id, hash, hint, created_at, sealed FROM api_key WHERE project_id = $1 AND revoked_at IS NULL ORDER BY created_at DESC, id LIMIT 1`, projectID)
	if err != nil {
		return k, "", err
	}
	plain, err := db.keys.Open(apiKeyPurpose, k.ID, sealed)
	if err != nil {
		return k, "", fault.Wrap(err, fault.Internal, "the API key of project %s cannot be opened", projectID)
	}
	return k, plain, nil
}

// RotateKey revokes a project's keys and answers a new one.
func (db *DB) RotateKey(ctx context.Context, projectID string) (string, error) {
	plain := account.NewKey()
	return plain, db.tx(ctx, func(tx txn) error {
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		if err := exec(ctx, tx, `UPDATE api_key SET revoked_at = $2 WHERE project_id = $1 AND revoked_at IS NULL`, projectID, ms(time.Now())); err != nil {
			return err
		}
		return db.addKey(ctx, tx, projectID, plain)
	})
}

// ActiveKey answers the key with a hash that is not revoked.
func (db *DB) ActiveKey(ctx context.Context, hash string) (account.Key, error) {
	return one(ctx, db.read, func(r row) (account.Key, error) {
		var k account.Key
		var created int64
		err := r.Scan(&k.ID, &k.ProjectID, &k.Hash, &k.Hint, &created)
		k.CreatedAt = at(created)
		return k, err
	}, `SELECT id, project_id, hash, hint, created_at FROM api_key WHERE hash = $1 AND revoked_at IS NULL`, hash)
}

// lockProject holds a project until the transaction ends.
func lockProject(ctx context.Context, tx txn, id string) error {
	_, err := one(ctx, tx, func(r row) (string, error) {
		var id string
		return id, r.Scan(&id)
	}, `SELECT id FROM project WHERE id = $1`+tx.lock, id)
	return err
}
