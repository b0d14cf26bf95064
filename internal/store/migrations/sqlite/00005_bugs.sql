-- +goose Up
-- What failed by itself and a verdict says did not; what was quarantined when its run began.
ALTER TABLE result ADD COLUMN overruled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE result ADD COLUMN quarantined INTEGER NOT NULL DEFAULT 0;

ALTER TABLE run ADD COLUMN on_default INTEGER NOT NULL DEFAULT 0; -- of the tests repository's default branch

-- The newest runs of a project in one phase first.
CREATE INDEX run_phase ON run (project_id, phase, created_at DESC, id DESC);

-- Failures with one cause, numbered in each project.
CREATE TABLE bug (
  id            TEXT PRIMARY KEY,
  project_id    TEXT NOT NULL REFERENCES project (id),
  number        INTEGER NOT NULL,
  signature     TEXT NOT NULL,
  title         TEXT NOT NULL,
  state         TEXT NOT NULL, -- needs-triage, confirmed, fixed, not-bug, snoozed
  severity      TEXT NOT NULL, -- critical, major, minor
  outage        INTEGER NOT NULL,
  occurrences   INTEGER NOT NULL,
  first_seen    INTEGER NOT NULL,
  last_seen     INTEGER NOT NULL,
  first_run_id  TEXT NOT NULL,
  last_run_id   TEXT NOT NULL,
  snoozed_until INTEGER,
  history       TEXT NOT NULL,
  UNIQUE (project_id, number),
  UNIQUE (project_id, signature)
) STRICT;

-- Which tests met a bug.
CREATE TABLE bug_test (
  bug_id  TEXT NOT NULL REFERENCES bug (id),
  test_id TEXT NOT NULL,
  PRIMARY KEY (bug_id, test_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bug_test_test ON bug_test (test_id);

-- What was said of a run's results, never changed.
CREATE TABLE verdict (
  id         TEXT PRIMARY KEY,
  run_id     TEXT NOT NULL REFERENCES run (id),
  test_id    TEXT NOT NULL,
  word       TEXT NOT NULL,
  before     TEXT NOT NULL,
  after      TEXT NOT NULL,
  severity   TEXT NOT NULL,
  comment    TEXT NOT NULL,
  source     TEXT NOT NULL,
  bug_key    TEXT NOT NULL,
  said_by    TEXT NOT NULL,
  said_from  TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX verdict_run ON verdict (run_id, created_at, id);

-- Groups of tests that are run together: by hand, by a rule, or both.
CREATE TABLE collection (
  id          TEXT PRIMARY KEY,
  project_id  TEXT NOT NULL REFERENCES project (id),
  name        TEXT NOT NULL,
  description TEXT NOT NULL,
  test_ids    TEXT NOT NULL,
  rule        TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;

-- Tests whose failure does not fail a run, until when.
CREATE TABLE quarantine (
  project_id TEXT NOT NULL REFERENCES project (id),
  test_id    TEXT NOT NULL,
  owner      TEXT NOT NULL,
  reason     TEXT NOT NULL,
  set_by     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, test_id)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP INDEX run_phase;
DROP TABLE quarantine;
DROP TABLE collection;
DROP TABLE verdict;
DROP TABLE bug_test;
DROP TABLE bug;
ALTER TABLE run DROP COLUMN on_default;
ALTER TABLE result DROP COLUMN quarantined;
ALTER TABLE result DROP COLUMN overruled;
