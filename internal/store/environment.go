package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/fault"
	"tas-service/internal/project"
)

// secretPurpose is what secrets of environments are sealed for.
const secretPurpose = "environment-secret"

func secretOwner(environmentID, name string) string { return environmentID + "/" + name }

const environmentColumns = `id, project_id, name, is_default, variables, secrets, created_at`

// sealedEnvironment is an environment as it is kept.
type sealedEnvironment struct {
	project.Environment
	sealed map[string]string
}

func scanEnvironment(r row) (sealedEnvironment, error) {
	var e sealedEnvironment
	var variables, secrets string
	var created int64
	if err := r.Scan(&e.ID, &e.ProjectID, &e.Name, &e.Default, &variables, &secrets, &created); err != nil {
		return e, err
	}
	e.CreatedAt = at(created)
	err := errors.Join(fromJSON(variables, &e.Variables), fromJSON(secrets, &e.sealed))
	e.Secrets = slices.Sorted(maps.Keys(e.sealed))
	return e, err
}

// Environments answers a project's environments, the default one first. No value of a
// secret is opened.
func (db *DB) Environments(ctx context.Context, projectID string) ([]project.Environment, error) {
	es, err := list(ctx, db.read, scanEnvironment, `SELECT `+environmentColumns+` FROM environment WHERE project_id = $1 ORDER BY is_default DESC, name`, projectID)
	out := make([]project.Environment, 0, len(es))
	for _, e := range es {
		out = append(out, e.Environment)
	}
	return out, err
}

// UpdateEnvironment changes an environment, or adds one.
func (db *DB) UpdateEnvironment(ctx context.Context, projectID, id string, change func(e *project.Environment, others int) (map[string]string, error)) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		e := sealedEnvironment{Environment: project.Environment{ID: uuid.NewString(), ProjectID: projectID, CreatedAt: time.Now().UTC()}}
		if id != "" {
			var err error
			if e, err = environment(ctx, tx, projectID, id); err != nil {
				return err
			}
		}
		others, err := one(ctx, tx, scanInt, `SELECT count(*) FROM environment WHERE project_id = $1 AND id <> $2`, projectID, e.ID)
		if err != nil {
			return err
		}
		set, err := change(&e.Environment, others)
		if err != nil {
			return err
		}
		taken, err := one(ctx, tx, scanInt, `SELECT count(*) FROM environment WHERE project_id = $1 AND name = $2 AND id <> $3`, projectID, e.Name, e.ID)
		if err != nil {
			return err
		}
		if taken > 0 {
			return fault.New(fault.Conflict, "The project has an environment of this name already.").WithFix("Choose another name, or change that one.")
		}
		keep := map[string]string{}
		for _, name := range e.Secrets {
			if sealed, ok := e.sealed[name]; ok {
				keep[name] = sealed
			}
		}
		for name, value := range set {
			keep[name] = db.keys.Seal(secretPurpose, secretOwner(e.ID, name), value)
		}
		return exec(ctx, tx, `INSERT INTO environment (`+environmentColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (id) DO UPDATE SET name = excluded.name, variables = excluded.variables, secrets = excluded.secrets`,
			e.ID, projectID, e.Name, bit(e.Default), toJSON(e.Variables), toJSON(keep), ms(e.CreatedAt))
	})
}

func environment(ctx context.Context, q querier, projectID, id string) (sealedEnvironment, error) {
	return one(ctx, q, scanEnvironment, `SELECT `+environmentColumns+` FROM environment WHERE project_id = $1 AND id = $2`, projectID, id)
}

// SetDefaultEnvironment makes an environment the default one.
func (db *DB) SetDefaultEnvironment(ctx context.Context, projectID, id string) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		if _, err := environment(ctx, tx, projectID, id); err != nil {
			return err
		}
		if err := exec(ctx, tx, `UPDATE environment SET is_default = 0 WHERE project_id = $1 AND is_default = 1`, projectID); err != nil {
			return err
		}
		return exec(ctx, tx, `UPDATE environment SET is_default = 1 WHERE id = $1`, id)
	})
}

// DropEnvironment removes an environment; the default one stays.
func (db *DB) DropEnvironment(ctx context.Context, projectID, id string) error {
	return db.tx(ctx, func(tx txn) error {
		if err := lockProject(ctx, tx, projectID); err != nil {
			return err
		}
		e, err := environment(ctx, tx, projectID, id)
		if err != nil {
			return err
		}
		if e.Default {
			return fault.New(fault.Conflict, "This is the project's default environment.").WithFix("Make another one the default first.")
		}
		return exec(ctx, tx, `DELETE FROM environment WHERE id = $1`, id)
	})
}

// Values answers all that a run in an environment is told, secrets among it.
func (db *DB) Values(ctx context.Context, projectID, name string) (map[string]string, error) {
	query, args := `SELECT `+environmentColumns+` FROM environment WHERE project_id = $1 AND is_default = 1`, []any{projectID}
	if name != "" {
		query, args = `SELECT `+environmentColumns+` FROM environment WHERE project_id = $1 AND name = $2`, append(args, name)
	}
	e, err := one(ctx, db.read, scanEnvironment, query, args...)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(e.Variables)
	if out == nil {
		out = map[string]string{}
	}
	for n, sealed := range e.sealed {
		if out[n], err = db.keys.Open(secretPurpose, secretOwner(e.ID, n), sealed); err != nil {
			return nil, fault.Wrap(err, fault.Internal, "the secret %s of environment %s cannot be opened", n, e.ID)
		}
	}
	return out, nil
}
