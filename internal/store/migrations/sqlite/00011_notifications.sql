-- +goose Up
-- Whom a project tells what happens. Addresses and keys are secrets: sealed together.
CREATE TABLE destination (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  name       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  recipients TEXT NOT NULL, -- JSON; of e-mail
  filter     TEXT NOT NULL, -- JSON
  sealed     TEXT NOT NULL,
  disabled   TEXT NOT NULL, -- why nothing is sent; '' for on
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;

-- +goose Down
DROP TABLE destination;
