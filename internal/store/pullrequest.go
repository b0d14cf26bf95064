package store

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

var _ forge.Records = (*DB)(nil)

const pullColumns = `repo, number, state, draft, title, body, head, base, head_commit, base_commit, author, merge, created_at, updated_at, merged_at`

// pullMerge is what is kept of a pull request's merge.
type pullMerge struct {
	Commit  string         `json:"commit,omitempty"`
	By      forge.User     `json:"by,omitzero"`
	Merging *forge.Merging `json:"merging,omitempty"`
}

func scanPull(r row) (forge.Record, error) {
	var p forge.Record
	var draft int
	var author, merge string
	var created, updated int64
	var merged sql.NullInt64
	err := r.Scan(&p.Base.Repo, &p.Number, &p.State, &draft, &p.Title, &p.Body, &p.Head.Branch, &p.Base.Branch, &p.Head.Commit, &p.Base.Commit, &author, &merge,
		&created, &updated, &merged)
	if err != nil {
		return p, err
	}
	p.Head.Repo, p.Draft, p.CreatedAt, p.UpdatedAt, p.MergedAt = p.Base.Repo, draft == 1, at(created), at(updated), atPtr(merged)
	var m pullMerge
	if err := fromJSON(merge, &m); err != nil {
		return p, err
	}
	p.MergeCommit, p.MergedBy, p.Merging = m.Commit, m.By, m.Merging
	return p, fromJSON(author, &p.Author)
}

func savePull(ctx context.Context, q querier, p forge.Record) error {
	return exec(ctx, q, `INSERT INTO pull_request (`+pullColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (repo, number) DO UPDATE SET state = excluded.state, draft = excluded.draft, title = excluded.title, body = excluded.body, head_commit = excluded.head_commit,
			base_commit = excluded.base_commit, merge = excluded.merge, updated_at = excluded.updated_at, merged_at = excluded.merged_at`,
		p.Base.Repo, p.Number, string(p.State), bit(p.Draft), p.Title, p.Body, p.Head.Branch, p.Base.Branch, p.Head.Commit, p.Base.Commit, toJSON(p.Author),
		toJSON(pullMerge{Commit: p.MergeCommit, By: p.MergedBy, Merging: p.Merging}), ms(p.CreatedAt), ms(p.UpdatedAt), msPtr(p.MergedAt))
}

// OpenPull keeps a new pull request under the repository's next number. Whoever counts
// holds the row of the count, so that no number is given twice, none is left out, and of two
// for the same branches the second one sees the first.
func (db *DB) OpenPull(ctx context.Context, r forge.Record) (forge.Record, error) {
	err := db.tx(ctx, func(tx txn) error {
		var err error
		r.Number, err = one(ctx, tx, func(x row) (n int, err error) { return n, x.Scan(&n) },
			`INSERT INTO pull_number (repo, last) VALUES ($1, 1) ON CONFLICT (repo) DO UPDATE SET last = pull_number.last + 1 RETURNING last`, r.Base.Repo)
		if err != nil {
			return err
		}
		same, err := list(ctx, tx, scanPull, `SELECT `+pullColumns+` FROM pull_request WHERE repo = $1 AND head = $2 AND base = $3 AND state = 'open'`, r.Base.Repo, r.Head.Branch, r.Base.Branch)
		if err != nil {
			return err
		}
		if len(same) > 0 {
			return fault.New(fault.Conflict, "An open pull request from %s into %s already exists: %d.", r.Head.Branch, r.Base.Branch, same[0].Number)
		}
		return savePull(ctx, tx, r)
	})
	return r, err
}

const noPull = "There is no such pull request."

// Pull answers one pull request.
func (db *DB) Pull(ctx context.Context, repo string, number int) (forge.Record, error) {
	p, err := one(ctx, db.read, scanPull, `SELECT `+pullColumns+` FROM pull_request WHERE repo = $1 AND number = $2`, repo, number)
	return p, named(err, noPull)
}

// named gives a record that is missing its name.
func named(err error, missing string) error {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "%s", missing)
	}
	return err
}

// Pulls answers pull requests of a repository, the newest first.
func (db *DB) Pulls(ctx context.Context, q forge.RecordQuery) ([]forge.Record, error) {
	where, args := `repo = $1`, []any{q.Repo}
	and := func(column string, v any) {
		args = append(args, v)
		where += ` AND ` + column + ` $` + strconv.Itoa(len(args))
	}
	if q.State != "" {
		and(`state =`, string(q.State))
	}
	if q.Head != "" {
		and(`head =`, q.Head)
	}
	if q.Base != "" {
		and(`base =`, q.Base)
	}
	if q.Before > 0 {
		and(`number <`, q.Before)
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	args = append(args, q.Limit)
	return list(ctx, db.read, scanPull, `SELECT `+pullColumns+` FROM pull_request WHERE `+where+` ORDER BY number DESC LIMIT $`+strconv.Itoa(len(args)), args...)
}

// UpdatePull changes one pull request while nobody else does. Its branches stay.
func (db *DB) UpdatePull(ctx context.Context, repo string, number int, change func(*forge.Record) error) error {
	return db.tx(ctx, func(tx txn) error {
		p, err := one(ctx, tx, scanPull, `SELECT `+pullColumns+` FROM pull_request WHERE repo = $1 AND number = $2`+tx.lock, repo, number)
		if err != nil {
			return named(err, noPull)
		}
		if err := change(&p); err != nil {
			return err
		}
		return savePull(ctx, tx, p)
	})
}

func scanPullComment(r row) (forge.Comment, error) {
	var c forge.Comment
	var author string
	var created int64
	if err := r.Scan(&c.ID, &c.Body, &author, &created); err != nil {
		return c, err
	}
	c.CreatedAt = at(created)
	return c, fromJSON(author, &c.Author)
}

// PullComments answers the comments under a pull request, the oldest first.
func (db *DB) PullComments(ctx context.Context, repo string, number int) ([]forge.Comment, error) {
	return list(ctx, db.read, scanPullComment, `SELECT id, body, author, created_at FROM pull_comment WHERE repo = $1 AND number = $2 ORDER BY created_at, id`, repo, number)
}

// AddPullComment keeps a new comment under a pull request that is there.
func (db *DB) AddPullComment(ctx context.Context, repo string, number int, c forge.Comment) error {
	return db.tx(ctx, func(tx txn) error {
		if _, err := one(ctx, tx, scanPull, `SELECT `+pullColumns+` FROM pull_request WHERE repo = $1 AND number = $2`, repo, number); err != nil {
			return named(err, noPull)
		}
		return exec(ctx, tx, `INSERT INTO pull_comment (repo, number, id, body, author, created_at) VALUES ($1, $2, $3, $4, $5, $6)`, repo, number, c.ID, c.Body, toJSON(c.Author), ms(c.CreatedAt))
	})
}

const noComment = "There is no such comment."

// UpdatePullComment changes the text of one comment.
func (db *DB) UpdatePullComment(ctx context.Context, repo string, number int, id string, change func(*forge.Comment) error) error {
	return db.tx(ctx, func(tx txn) error {
		c, err := one(ctx, tx, scanPullComment, `SELECT id, body, author, created_at FROM pull_comment WHERE repo = $1 AND number = $2 AND id = $3`+tx.lock, repo, number, id)
		if err != nil {
			return named(err, noComment)
		}
		if err := change(&c); err != nil {
			return err
		}
		return exec(ctx, tx, `UPDATE pull_comment SET body = $4 WHERE repo = $1 AND number = $2 AND id = $3`, repo, number, id, c.Body)
	})
}

// MarkComment keeps somebody's reaction to a comment, once.
func (db *DB) MarkComment(ctx context.Context, repo string, number int, m forge.Mark) error {
	return db.tx(ctx, func(tx txn) error {
		if _, err := one(ctx, tx, scanPullComment, `SELECT id, body, author, created_at FROM pull_comment WHERE repo = $1 AND number = $2 AND id = $3`, repo, number, m.CommentID); err != nil {
			return named(err, noComment)
		}
		return exec(ctx, tx, `INSERT INTO pull_mark (repo, number, comment_id, user_id, login, reaction) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (repo, number, comment_id, user_id, reaction) DO NOTHING`, repo, number, m.CommentID, m.By.ID, m.By.Login, string(m.Reaction))
	})
}

// Marks answers the reactions to all comments under a pull request.
func (db *DB) Marks(ctx context.Context, repo string, number int) ([]forge.Mark, error) {
	return list(ctx, db.read, func(r row) (m forge.Mark, err error) {
		return m, r.Scan(&m.CommentID, &m.By.ID, &m.By.Login, &m.Reaction)
	}, `SELECT comment_id, user_id, login, reaction FROM pull_mark WHERE repo = $1 AND number = $2 ORDER BY comment_id, reaction, user_id`, repo, number)
}

// SaveStatus replaces what a context said of a commit, unless something newer was said.
func (db *DB) SaveStatus(ctx context.Context, repo, commit string, s forge.Status, said time.Time) error {
	return exec(ctx, db.write, `INSERT INTO commit_status (repo, commit_hash, context, state, description, url, said_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (repo, commit_hash, context) DO UPDATE SET state = excluded.state, description = excluded.description, url = excluded.url, said_at = excluded.said_at
		WHERE commit_status.said_at <= excluded.said_at`, repo, commit, s.Context, string(s.State), s.Description, s.URL, ms(said))
}

// CommitStatuses answers what is said of a commit, by context.
func (db *DB) CommitStatuses(ctx context.Context, repo, commit string) ([]forge.Status, error) {
	return list(ctx, db.read, func(r row) (s forge.Status, err error) {
		return s, r.Scan(&s.Context, &s.State, &s.Description, &s.URL)
	}, `SELECT context, state, description, url FROM commit_status WHERE repo = $1 AND commit_hash = $2 ORDER BY context`, repo, commit)
}
