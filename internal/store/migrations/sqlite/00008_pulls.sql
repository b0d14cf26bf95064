-- +goose Up
-- The pull request that a run is for, as JSON; '' for none.
ALTER TABLE run ADD COLUMN pull TEXT NOT NULL DEFAULT '';

CREATE INDEX run_pull ON run (project_id, pull, created_at DESC, id DESC) WHERE pull <> '';

-- How a project takes part in pull requests. What is a secret is sealed.
CREATE TABLE connection (
  project_id  TEXT PRIMARY KEY REFERENCES project (id),
  kind        TEXT NOT NULL,
  url         TEXT NOT NULL,
  token       TEXT NOT NULL,
  app_key     TEXT NOT NULL,
  hook_secret TEXT NOT NULL,
  signing_key TEXT NOT NULL,
  detail      TEXT NOT NULL, -- the rest, as JSON
  changed_at  INTEGER NOT NULL
) STRICT;

-- Webhooks that were taken, so that none is taken twice.
CREATE TABLE hook_delivery (
  kind        TEXT NOT NULL,
  project_id  TEXT NOT NULL REFERENCES project (id),
  delivery    TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (kind, project_id, delivery)
) STRICT;
CREATE INDEX hook_delivery_old ON hook_delivery (received_at);

-- Wishes that a project's catalog be brought up to date without running a test.
CREATE TABLE refresh (
  project_id TEXT PRIMARY KEY REFERENCES project (id),
  wanted     INTEGER NOT NULL, -- counts the wishes
  began      INTEGER NOT NULL, -- the wish that the latest look was begun for
  run_id     TEXT NOT NULL,   -- the look under way, '' for none
  wanted_at  INTEGER NOT NULL,
  done_at    INTEGER NOT NULL, -- 0 for never
  commit_hash TEXT NOT NULL,
  trouble    TEXT NOT NULL    -- what went wrong with the latest look, as JSON; '' for nothing
) STRICT;

-- +goose Down
DROP TABLE refresh;
DROP TABLE hook_delivery;
DROP TABLE connection;
DROP INDEX run_pull;
ALTER TABLE run DROP COLUMN pull;
