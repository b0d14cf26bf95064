package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"tas-service/internal/catalog"
)

const testColumns = `id, project_id, file, title_path, body_hash, line, tags, owner, browsers, places, present, first_seen, last_seen`

func scanTest(r row) (catalog.Test, error) {
	var t catalog.Test
	var path, tags, browsers, places string
	var present int
	var first, last int64
	err := r.Scan(&t.ID, &t.ProjectID, &t.File, &path, &t.BodyHash, &t.Line, &tags, &t.Owner, &browsers, &places, &present, &first, &last)
	if err != nil {
		return t, err
	}
	t.Present, t.FirstSeen, t.LastSeen = present == 1, at(first), at(last)
	for _, f := range []struct {
		text string
		into any
	}{{path, &t.TitlePath}, {tags, &t.Tags}, {browsers, &t.Browsers}, {places, &t.Places}} {
		if err := fromJSON(f.text, f.into); err != nil {
			return t, err
		}
	}
	return t, nil
}

// Tests lists tests that are present, by file, line and ID.
func (db *DB) Tests(ctx context.Context, q catalog.Query) ([]catalog.Test, error) {
	where, args := `project_id = $1 AND present = 1`, []any{q.ProjectID}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if q.Text != "" {
		where += ` AND search LIKE ` + arg("%"+escapeLike(strings.ToLower(q.Text))+"%") + ` ESCAPE '\'`
	}
	if q.Tag != "" {
		where += ` AND tags LIKE ` + arg("%"+escapeLike(toJSON(q.Tag))+"%") + ` ESCAPE '\'`
	}
	if q.Owner != "" {
		where += ` AND owner = ` + arg(q.Owner)
	}
	if c := q.After; c != nil {
		f, l, i := arg(c.File), arg(c.Line), arg(c.ID)
		where += ` AND (file > ` + f + ` OR (file = ` + f + ` AND line > ` + l + `) OR (file = ` + f + ` AND line = ` + l + ` AND id > ` + i + `))`
	}
	return list(ctx, db.read, scanTest, `SELECT `+testColumns+` FROM test WHERE `+where+` ORDER BY file, line, id LIMIT `+arg(q.Limit), args...)
}

// TestsByID answers tests of a project, also those that are not present any more.
func (db *DB) TestsByID(ctx context.Context, projectID string, ids []string) (out []catalog.Test, err error) {
	for part := range slices.Chunk(ids, 1000) {
		args := []any{projectID}
		in := marks(part, func(v any) string {
			args = append(args, v)
			return "$" + strconv.Itoa(len(args))
		})
		found, err := list(ctx, db.read, scanTest, `SELECT `+testColumns+` FROM test WHERE project_id = $1 AND id IN (`+in+`)`, args...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// Facets answers the tags and owners of a project's tests.
func (db *DB) Facets(ctx context.Context, projectID string) (tags, owners []string, err error) {
	type pair struct{ tags, owner string }
	pairs, err := list(ctx, db.read, func(r row) (p pair, err error) { return p, r.Scan(&p.tags, &p.owner) },
		`SELECT DISTINCT tags, owner FROM test WHERE project_id = $1 AND present = 1`, projectID)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pairs {
		var have []string
		if err := fromJSON(p.tags, &have); err != nil {
			return nil, nil, err
		}
		tags = append(tags, have...)
		if p.owner != "" {
			owners = append(owners, p.owner)
		}
	}
	slices.Sort(tags)
	slices.Sort(owners)
	return slices.Compact(tags), slices.Compact(owners), nil
}

func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// UnknownTests answers which of ids are no tests of a project, in their order.
func (db *DB) UnknownTests(ctx context.Context, projectID string, ids []string) ([]string, error) {
	known, err := list(ctx, db.read, func(r row) (string, error) {
		var id string
		err := r.Scan(&id)
		return id, err
	}, `SELECT id FROM test WHERE project_id = $1`, projectID)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(known))
	for _, id := range known {
		has[id] = true
	}
	var unknown []string
	for _, id := range ids {
		if !has[id] {
			unknown = append(unknown, id)
		}
	}
	return unknown, nil
}

// CatalogCommit answers the commit that the catalog was last brought up to, or "".
func (db *DB) CatalogCommit(ctx context.Context, projectID string) (string, error) {
	return one(ctx, db.read, func(r row) (string, error) {
		var c string
		err := r.Scan(&c)
		return c, err
	}, `SELECT catalog_commit FROM project WHERE id = $1`, projectID)
}

// SyncCatalog lets change see every test of a project and saves what it answers.
func (db *DB) SyncCatalog(ctx context.Context, projectID, commit string, ofDefault bool, change func([]catalog.Test) ([]catalog.Test, error)) error {
	return db.tx(ctx, func(tx txn) error {
		// Writing to the project first makes two listings of one project wait for each other.
		if err := exec(ctx, tx, `UPDATE project SET catalog_commit = CASE WHEN $3 = 1 OR catalog_commit = '' THEN $2 ELSE catalog_commit END WHERE id = $1`, projectID, commit, bit(ofDefault)); err != nil {
			return err
		}
		known, err := list(ctx, tx, scanTest, `SELECT `+testColumns+` FROM test WHERE project_id = $1 ORDER BY file, line, id`, projectID)
		if err != nil {
			return err
		}
		save, err := change(known)
		if err != nil || len(save) == 0 {
			return err
		}
		st, err := tx.PrepareContext(ctx, `INSERT INTO test (`+testColumns+`, search)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
			ON CONFLICT (id) DO UPDATE SET file = excluded.file, title_path = excluded.title_path, body_hash = excluded.body_hash,
				line = excluded.line, tags = excluded.tags, owner = excluded.owner, browsers = excluded.browsers,
				places = excluded.places, present = excluded.present, last_seen = excluded.last_seen, search = excluded.search`)
		if err != nil {
			return err
		}
		defer st.Close() //nolint:errcheck // the transaction's end closes it too
		for _, t := range save {
			search := strings.ToLower(t.File + " " + strings.Join(t.TitlePath, " ") + " " + strings.Join(t.Tags, " "))
			if _, err := st.ExecContext(ctx, clean([]any{t.ID, t.ProjectID, t.File, toJSON(t.TitlePath), t.BodyHash, t.Line, toJSON(t.Tags), t.Owner,
				toJSON(t.Browsers), toJSON(t.Places), bit(t.Present), ms(t.FirstSeen), ms(t.LastSeen), search})...); err != nil {
				return err
			}
		}
		return nil
	})
}
