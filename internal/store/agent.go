package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"tas-service/internal/agent"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

const (
	batchColumns = `id, project_id, kind, run_id, wish, asked_by, created_at`
	agentColumns = `id, batch_id, project_id, run_id, kind, status, version, detail, created_at, started_at, finished_at`
	agentByID    = `SELECT ` + agentColumns + ` FROM agent_session WHERE id = $1`
)

// agentDetail is what of a session nothing selects by.
type agentDetail struct {
	Stage     string             `json:"stage,omitempty"`
	Title     string             `json:"title"`
	TestIDs   []string           `json:"testIds"`
	Outcomes  []agent.Outcome    `json:"outcomes,omitempty"`
	Summary   string             `json:"summary,omitempty"`
	Patch     string             `json:"patch,omitempty"`
	Changes   []agent.FileChange `json:"changes,omitempty"`
	Pull      *agent.PullRequest `json:"pull,omitempty"`
	Problem   *agent.Problem     `json:"problem,omitempty"`
	Usage     agent.Usage        `json:"usage"`
	Decision  *agent.Decision    `json:"decision,omitempty"`
	State     json.RawMessage    `json:"state,omitempty"`
	Tries     int                `json:"tries,omitempty"`
	NotBefore *time.Time         `json:"notBefore,omitempty"`
	CancelBy  string             `json:"cancelBy,omitempty"`
	ResumedAt *time.Time         `json:"resumedAt,omitempty"`
}

func scanBatch(r row) (b agent.Batch, err error) {
	var wish string
	var created int64
	if err := r.Scan(&b.ID, &b.ProjectID, &b.Kind, &b.RunID, &wish, &b.AskedBy, &created); err != nil {
		return b, err
	}
	b.CreatedAt = at(created)
	return b, fromJSON(wish, &b.Wish)
}

func scanAgent(r row) (x agent.Session, err error) {
	var detail string
	var created int64
	var started, finished sql.NullInt64
	if err := r.Scan(&x.ID, &x.BatchID, &x.ProjectID, &x.RunID, &x.Kind, &x.Status, &x.Version, &detail, &created, &started, &finished); err != nil {
		return x, err
	}
	x.CreatedAt, x.StartedAt, x.FinishedAt = at(created), atPtr(started), atPtr(finished)
	var d agentDetail
	if err := fromJSON(detail, &d); err != nil {
		return x, err
	}
	x.Stage, x.Title, x.TestIDs, x.Outcomes, x.Summary, x.Patch, x.Changes = d.Stage, d.Title, d.TestIDs, d.Outcomes, d.Summary, d.Patch, d.Changes
	x.Pull, x.Problem, x.Usage, x.Decision, x.State, x.Tries, x.CancelBy, x.ResumedAt = d.Pull, d.Problem, d.Usage, d.Decision, d.State, d.Tries, d.CancelBy, d.ResumedAt
	if d.NotBefore != nil {
		x.NotBefore = *d.NotBefore
	}
	return x, nil
}

func saveAgent(ctx context.Context, q querier, x *agent.Session) error {
	d := agentDetail{Stage: x.Stage, Title: x.Title, TestIDs: x.TestIDs, Outcomes: x.Outcomes, Summary: x.Summary, Patch: x.Patch, Changes: x.Changes,
		Pull: x.Pull, Problem: x.Problem, Usage: x.Usage, Decision: x.Decision, State: x.State, Tries: x.Tries, CancelBy: x.CancelBy, ResumedAt: x.ResumedAt}
	if !x.NotBefore.IsZero() {
		d.NotBefore = &x.NotBefore
	}
	key := ""
	if x.Pull != nil {
		key = x.Pull.Key
	}
	return exec(ctx, q, `INSERT INTO agent_session (`+agentColumns+`, terminal, pull_key, executions, input_tokens, output_tokens, cost_usd)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, version = excluded.version, detail = excluded.detail, started_at = excluded.started_at, finished_at = excluded.finished_at,
			terminal = excluded.terminal, pull_key = excluded.pull_key, executions = excluded.executions, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, cost_usd = excluded.cost_usd`,
		x.ID, x.BatchID, x.ProjectID, x.RunID, string(x.Kind), string(x.Status), x.Version, toJSON(d), ms(x.CreatedAt), msPtr(x.StartedAt), msPtr(x.FinishedAt),
		bit(x.Status.Final()), key, x.Usage.Executions, x.Usage.InputTokens, x.Usage.OutputTokens, x.Usage.CostUSD)
}

// CreateBatch saves a batch with its sessions, and has the run name it.
func (db *DB) CreateBatch(ctx context.Context, b agent.Batch, ss []agent.Session, once *agent.Once, onlyFirst bool) (earlier *agent.Batch, err error) {
	err = db.tx(ctx, func(tx txn) error {
		// The run first, as everywhere; of two calls the second waits here.
		r, err := one(ctx, tx, scanRun, runByID+tx.lock, b.RunID)
		if err != nil {
			return err
		}
		if earlier, err = batchBefore(ctx, tx, b, once); err != nil || earlier != nil {
			return err
		}
		if onlyFirst && r.HealBatch != "" {
			known, err := one(ctx, tx, scanBatch, `SELECT `+batchColumns+` FROM batch WHERE id = $1`, r.HealBatch)
			earlier = &known
			return err
		}
		var o agent.Once
		if once != nil {
			o = *once
		}
		if err := exec(ctx, tx, `INSERT INTO batch (`+batchColumns+`, once_key, fingerprint) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			b.ID, b.ProjectID, string(b.Kind), b.RunID, toJSON(b.Wish), b.AskedBy, ms(b.CreatedAt), o.Key, o.Fingerprint); err != nil {
			return err
		}
		for i := range ss {
			if err := saveAgent(ctx, tx, &ss[i]); err != nil {
				return err
			}
		}
		return updateRun(ctx, tx, b.RunID, func(r *run.Run) error {
			r.HealBatch = b.ID
			return nil
		})
	})
	return earlier, err
}

// batchBefore answers the batch that the same call made, or nil.
func batchBefore(ctx context.Context, tx txn, b agent.Batch, once *agent.Once) (*agent.Batch, error) {
	if once == nil {
		return nil, nil
	}
	if err := lockProject(ctx, tx, b.ProjectID); err != nil {
		return nil, err
	}
	type known struct{ id, fingerprint string }
	k, err := one(ctx, tx, func(r row) (k known, err error) { return k, r.Scan(&k.id, &k.fingerprint) },
		`SELECT id, fingerprint FROM batch WHERE project_id = $1 AND once_key = $2 AND created_at >= $3 ORDER BY id DESC LIMIT 1`, b.ProjectID, once.Key, ms(b.CreatedAt.Add(-run.OnceFor)))
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case k.fingerprint != once.Fingerprint:
		return nil, fault.New(fault.Conflict, "This Idempotency-Key was used with another request.").
			WithFix("Use a new key for a new request, and the same request when you try again.")
	}
	earlier, err := one(ctx, tx, scanBatch, `SELECT `+batchColumns+` FROM batch WHERE id = $1`, k.id)
	return &earlier, err
}

// Batch answers one batch.
func (db *DB) Batch(ctx context.Context, id string) (agent.Batch, error) {
	return one(ctx, db.read, scanBatch, `SELECT `+batchColumns+` FROM batch WHERE id = $1`, id)
}

// AgentSession answers one session.
func (db *DB) AgentSession(ctx context.Context, id string) (agent.Session, error) {
	return one(ctx, db.read, scanAgent, agentByID, id)
}

// AgentSessions answers sessions, the newest first.
func (db *DB) AgentSessions(ctx context.Context, q agent.Query) ([]agent.Session, error) {
	where, args := `project_id = $1`, []any{q.ProjectID}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	for _, f := range []struct{ column, value string }{{"batch_id = ", q.BatchID}, {"run_id = ", q.RunID}, {"id < ", q.Before}} {
		if f.value != "" {
			where += ` AND ` + f.column + arg(f.value)
		}
	}
	if len(q.Statuses) > 0 {
		where += ` AND status IN (` + marks(q.Statuses, arg) + `)`
	}
	if !q.Since.IsZero() {
		where += ` AND created_at >= ` + arg(ms(q.Since))
	}
	return list(ctx, db.read, scanAgent, `SELECT `+agentColumns+` FROM agent_session WHERE `+where+` ORDER BY id DESC LIMIT `+arg(q.Limit), args...)
}

// OpenAgentSessions answers every session that is not final, the oldest first.
func (db *DB) OpenAgentSessions(ctx context.Context) ([]agent.Session, error) {
	return list(ctx, db.read, scanAgent, `SELECT `+agentColumns+` FROM agent_session WHERE terminal = 0 ORDER BY id`)
}

// EndedAgentSessions answers every session that ended at a moment or after it, the oldest first.
func (db *DB) EndedAgentSessions(ctx context.Context, since time.Time) ([]agent.Session, error) {
	return list(ctx, db.read, scanAgent, `SELECT `+agentColumns+` FROM agent_session WHERE terminal = 1 AND finished_at >= $1 ORDER BY id`, ms(since))
}

// SessionsOfPull answers the sessions that asked for a pull request by a key.
func (db *DB) SessionsOfPull(ctx context.Context, projectID, key string) ([]agent.Session, error) {
	return list(ctx, db.read, scanAgent, `SELECT `+agentColumns+` FROM agent_session WHERE project_id = $1 AND pull_key = $2 AND pull_key <> '' ORDER BY id`, projectID, key)
}

// UpdateAgentSession changes one session and adds events to it.
func (db *DB) UpdateAgentSession(ctx context.Context, id string, change func(*agent.Session) ([]agent.Event, error)) error {
	return db.tx(ctx, func(tx txn) error {
		x, err := one(ctx, tx, scanAgent, agentByID+tx.lock, id)
		if err != nil {
			return err
		}
		events, err := change(&x)
		if err != nil {
			return err
		}
		x.Version++
		if err := saveAgent(ctx, tx, &x); err != nil || len(events) == 0 {
			return err
		}
		last, err := one(ctx, tx, scanInt, `SELECT CAST(coalesce(max(seq), 0) AS BIGINT) FROM agent_event WHERE session_id = $1`, id)
		if err != nil {
			return err
		}
		for i, e := range events {
			if err := exec(ctx, tx, `INSERT INTO agent_event (session_id, seq, at, kind, text, run_id) VALUES ($1, $2, $3, $4, $5, $6)`,
				id, int64(last+i+1), ms(e.At), string(e.Kind), e.Text, e.RunID); err != nil {
				return err
			}
		}
		return nil
	})
}

const eventColumns = `session_id, seq, at, kind, text, run_id`

func scanEvent(r row) (e agent.Event, err error) {
	var when int64
	err = r.Scan(&e.SessionID, &e.Seq, &when, &e.Kind, &e.Text, &e.RunID)
	e.At = at(when)
	return e, err
}

// LatestEvents answers the last few things that a session did, in order.
func (db *DB) LatestEvents(ctx context.Context, sessionID string, limit int) ([]agent.Event, error) {
	out, err := list(ctx, db.read, scanEvent, `SELECT `+eventColumns+` FROM agent_event WHERE session_id = $1 ORDER BY seq DESC LIMIT $2`, sessionID, limit)
	slices.Reverse(out)
	return out, err
}

// Events answers what a session did, in order.
func (db *DB) Events(ctx context.Context, sessionID string, after int64, limit int) ([]agent.Event, error) {
	return list(ctx, db.read, scanEvent, `SELECT `+eventColumns+` FROM agent_event WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`, sessionID, after, limit)
}

// CountSessions answers how many sessions of a project began since a time, and what they used.
func (db *DB) CountSessions(ctx context.Context, projectID string, since time.Time) (n int, used agent.Usage, err error) {
	err = db.read.QueryRowContext(ctx, `SELECT count(*), CAST(coalesce(sum(executions), 0) AS BIGINT), CAST(coalesce(sum(input_tokens), 0) AS BIGINT), CAST(coalesce(sum(output_tokens), 0) AS BIGINT), coalesce(sum(cost_usd), 0)
		FROM agent_session WHERE project_id = $1 AND started_at >= $2`, projectID, ms(since)).Scan(&n, &used.Executions, &used.InputTokens, &used.OutputTokens, &used.CostUSD)
	return n, used, translate(err)
}
