-- +goose Up
-- Deeds to the outside. The same key within a project is the same deed.
CREATE TABLE action (
  id          TEXT PRIMARY KEY, -- grows with time
  project_id  TEXT NOT NULL REFERENCES project (id),
  key         TEXT NOT NULL,
  kind        TEXT NOT NULL,
  target      TEXT NOT NULL,
  about       TEXT NOT NULL,
  serial      TEXT NOT NULL, -- of those with the same one is done at a time
  wish        TEXT NOT NULL, -- JSON
  version     INTEGER NOT NULL, -- of the wish
  done_as     INTEGER NOT NULL, -- the version that was last done
  state       TEXT NOT NULL,
  tries       INTEGER NOT NULL,
  not_before  INTEGER NOT NULL,
  since       INTEGER, -- of the first try of this version
  result      TEXT NOT NULL, -- JSON
  answer      TEXT NOT NULL,
  asked_by    TEXT NOT NULL,
  decided_by  TEXT NOT NULL,
  decided_at  INTEGER,
  created_at  INTEGER NOT NULL,
  changed_at  INTEGER NOT NULL,
  done_at     INTEGER,
  history     TEXT NOT NULL, -- JSON
  claim       TEXT NOT NULL DEFAULT '', -- of whoever does it now; a later one fences an earlier one off
  claim_until INTEGER NOT NULL DEFAULT 0, -- by the database's clock
  UNIQUE (project_id, key)
) STRICT;
CREATE INDEX action_list ON action (project_id, id);
CREATE INDEX action_state ON action (project_id, state, id);
CREATE INDEX action_serial ON action (serial, id);
CREATE INDEX action_due ON action (not_before) WHERE state = 'pending';
CREATE INDEX action_claimed ON action (claim_until) WHERE claim_until > 0;
CREATE INDEX action_old ON action (done_at) WHERE kind = 'message' AND state = 'done';

-- Which kinds wait for a person; none where there is no row.
CREATE TABLE action_policy (
  project_id TEXT PRIMARY KEY REFERENCES project (id),
  policy     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether it was told to everybody that a run has ended. Those of before are old news.
ALTER TABLE run ADD COLUMN announced INTEGER NOT NULL DEFAULT 0;
UPDATE run SET announced = 1 WHERE terminal = 1;
CREATE INDEX run_unannounced ON run (id) WHERE terminal = 1 AND announced = 0;

-- +goose Down
DROP INDEX run_unannounced;
ALTER TABLE run DROP COLUMN announced;
DROP TABLE action_policy;
DROP TABLE action;
