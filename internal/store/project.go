package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/project"
)

const projectColumns = `id, name, slug, repo_url, repo_branch, repo_dir, repo_token, workers, env, min_isolation, run_limit_ms, disk_quota, created_at`

// tokenPurpose is what repository tokens are sealed for.
const tokenPurpose = "repository-token"

func (db *DB) scanProject(r row) (project.Project, error) {
	var p project.Project
	var env string
	var limit, created int64
	err := r.Scan(&p.ID, &p.Name, &p.Slug, &p.Repository.URL, &p.Repository.Branch, &p.Repository.Dir, &p.Repository.Token,
		&p.Workers, &env, &p.MinIsolation, &limit, &p.DiskQuota, &created)
	if err != nil {
		return p, err
	}
	p.RunLimit, p.CreatedAt = time.Duration(limit)*time.Millisecond, at(created)
	if p.Repository.Token, err = db.keys.Open(tokenPurpose, p.ID, p.Repository.Token); err != nil {
		return p, fault.Wrap(err, fault.Internal, "the repository token of project %s cannot be opened", p.ID)
	}
	return p, fromJSON(env, &p.Env)
}

// Project answers one project.
func (db *DB) Project(ctx context.Context, id string) (project.Project, error) {
	return one(ctx, db.read, db.scanProject, `SELECT `+projectColumns+` FROM project WHERE id = $1`, id)
}

// Projects lists every project, by name.
func (db *DB) Projects(ctx context.Context) ([]project.Project, error) {
	return list(ctx, db.read, db.scanProject, `SELECT `+projectColumns+` FROM project ORDER BY name, id`)
}

// CreateProject saves a new project and its first API key, answered once in clear.
func (db *DB) CreateProject(ctx context.Context, p project.Project) (project.Project, string, error) {
	p.ID, p.Slug, p.CreatedAt = uuid.NewString(), project.Slug(p.Name), time.Now().UTC()
	plain := account.NewKey()
	return p, plain, db.tx(ctx, func(tx txn) error {
		err := exec(ctx, tx, `INSERT INTO project (`+projectColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			p.ID, p.Name, p.Slug, p.Repository.URL, p.Repository.Branch, p.Repository.Dir,
			db.keys.Seal(tokenPurpose, p.ID, p.Repository.Token), p.Workers, toJSON(p.Env), p.MinIsolation,
			p.RunLimit.Milliseconds(), p.DiskQuota, ms(p.CreatedAt))
		if err != nil {
			return err
		}
		return addKey(ctx, tx, p.ID, plain)
	})
}

// UpdateProject changes a project's settings.
func (db *DB) UpdateProject(ctx context.Context, id string, change func(*project.Project) error) error {
	return db.tx(ctx, func(tx txn) error {
		p, err := one(ctx, tx, db.scanProject, `SELECT `+projectColumns+` FROM project WHERE id = $1`+tx.lock, id)
		if err != nil {
			return err
		}
		if err := change(&p); err != nil {
			return err
		}
		return exec(ctx, tx, `UPDATE project SET name = $2, repo_url = $3, repo_branch = $4, repo_dir = $5, repo_token = $6,
			workers = $7, env = $8, min_isolation = $9, run_limit_ms = $10, disk_quota = $11 WHERE id = $1`,
			p.ID, p.Name, p.Repository.URL, p.Repository.Branch, p.Repository.Dir, db.keys.Seal(tokenPurpose, p.ID, p.Repository.Token),
			p.Workers, toJSON(p.Env), p.MinIsolation, p.RunLimit.Milliseconds(), p.DiskQuota)
	})
}

func addKey(ctx context.Context, q querier, projectID, plain string) error {
	return exec(ctx, q, `INSERT INTO api_key (id, project_id, hash, hint, created_at) VALUES ($1, $2, $3, $4, $5)`,
		uuid.NewString(), projectID, account.HashKey(plain), account.Hint(plain), ms(time.Now()))
}

// RotateKey revokes a project's keys and answers a new one, once in clear.
func (db *DB) RotateKey(ctx context.Context, projectID string) (string, error) {
	plain := account.NewKey()
	return plain, db.tx(ctx, func(tx txn) error {
		if _, err := one(ctx, tx, db.scanProject, `SELECT `+projectColumns+` FROM project WHERE id = $1`+tx.lock, projectID); err != nil {
			return err
		}
		if err := exec(ctx, tx, `UPDATE api_key SET revoked_at = $2 WHERE project_id = $1 AND revoked_at IS NULL`, projectID, ms(time.Now())); err != nil {
			return err
		}
		return addKey(ctx, tx, projectID, plain)
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
