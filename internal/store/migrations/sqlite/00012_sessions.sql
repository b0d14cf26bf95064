-- +goose Up
-- Sessions, and the batches in which they were asked for.
CREATE TABLE batch (
  id          TEXT PRIMARY KEY, -- grows with time
  project_id  TEXT NOT NULL REFERENCES project (id),
  kind        TEXT NOT NULL,
  run_id      TEXT NOT NULL,
  wish        TEXT NOT NULL, -- JSON
  asked_by    TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  once_key    TEXT NOT NULL,
  fingerprint TEXT NOT NULL
) STRICT;
CREATE INDEX batch_run ON batch (run_id, id);
CREATE INDEX batch_once ON batch (project_id, once_key) WHERE once_key <> '';

CREATE TABLE agent_session (
  id          TEXT PRIMARY KEY, -- grows with time
  batch_id    TEXT NOT NULL REFERENCES batch (id),
  project_id  TEXT NOT NULL REFERENCES project (id),
  run_id      TEXT NOT NULL,
  kind        TEXT NOT NULL,
  status      TEXT NOT NULL,
  terminal    INTEGER NOT NULL,
  pull_key    TEXT NOT NULL, -- of the action that opens its pull request
  executions  INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_usd    REAL NOT NULL,
  version     INTEGER NOT NULL,
  detail      TEXT NOT NULL, -- JSON
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX agent_session_list ON agent_session (project_id, id);
CREATE INDEX agent_session_batch ON agent_session (batch_id, id);
CREATE INDEX agent_session_run ON agent_session (run_id, id);
CREATE INDEX agent_session_open ON agent_session (id) WHERE terminal = 0;
CREATE INDEX agent_session_pull ON agent_session (project_id, pull_key) WHERE pull_key <> '';
CREATE INDEX agent_session_day ON agent_session (project_id, started_at);

CREATE TABLE agent_event (
  session_id TEXT NOT NULL REFERENCES agent_session (id),
  seq        INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  text       TEXT NOT NULL,
  run_id     TEXT NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

-- What passing runs know of the steps of tests; the bytes are where artifacts are.
CREATE TABLE evidence (
  project_id  TEXT NOT NULL REFERENCES project (id),
  test_id     TEXT NOT NULL,
  browser     TEXT NOT NULL,
  environment TEXT NOT NULL,
  run_id      TEXT NOT NULL,
  commit_hash TEXT NOT NULL,
  at          INTEGER NOT NULL,
  size        INTEGER NOT NULL, -- bytes
  blob_key    TEXT NOT NULL,
  places      TEXT NOT NULL, -- of the source that its steps come from: a line each, as file:line
  PRIMARY KEY (project_id, test_id, browser, environment, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_age ON evidence (at);

-- Runs that evidence was ordered of, or is to be read from.
CREATE TABLE evidence_run (
  run_id      TEXT PRIMARY KEY,
  project_id  TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  commit_hash TEXT NOT NULL,
  at          INTEGER NOT NULL,
  due         INTEGER NOT NULL -- 1: it has ended, and is to be read
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_run_of ON evidence_run (project_id, environment, commit_hash, at);
CREATE INDEX evidence_run_due ON evidence_run (at) WHERE due = 1;

ALTER TABLE project ADD COLUMN recovery INTEGER NOT NULL DEFAULT 0; -- 1: locators that find nothing may be replaced while a run is under way

-- +goose Down
ALTER TABLE project DROP COLUMN recovery;
DROP TABLE evidence_run;
DROP TABLE evidence;
DROP TABLE agent_event;
DROP TABLE agent_session;
DROP TABLE batch;
