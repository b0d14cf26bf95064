-- +goose Up
-- What was asked for never changes, so it stands apart from what is saved with every batch.
ALTER TABLE run ADD COLUMN request TEXT NOT NULL DEFAULT '{}';
UPDATE run SET request = json_object('selection', json(json_extract(detail, '$.selection')),
  'envOverrides', json(coalesce(json_extract(detail, '$.envOverrides'), 'null')),
  'autoHeal', json(coalesce(json_extract(detail, '$.autoHeal'), 'null')));
ALTER TABLE run ADD COLUMN shard_count INTEGER NOT NULL DEFAULT 0; -- 0: in one piece
ALTER TABLE run ADD COLUMN parked INTEGER NOT NULL DEFAULT 0; -- will never end, and nothing is left to do for it

ALTER TABLE attempt ADD COLUMN kind TEXT NOT NULL DEFAULT 'tests'; -- or merge
ALTER TABLE attempt ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempt ADD COLUMN claimed_at INTEGER;
ALTER TABLE attempt ADD COLUMN grants INTEGER NOT NULL DEFAULT 0; -- the number of the last grant
ALTER TABLE attempt ADD COLUMN status TEXT NOT NULL DEFAULT ''; -- Playwright's own word at its end
ALTER TABLE attempt ADD COLUMN blob_key TEXT NOT NULL DEFAULT ''; -- of its report, for the merge

ALTER TABLE result ADD COLUMN attempt_id TEXT NOT NULL DEFAULT ''; -- of a sharded run: who has it
ALTER TABLE result ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE result ADD COLUMN unit INTEGER NOT NULL DEFAULT -1;
ALTER TABLE result ADD COLUMN body_hash TEXT NOT NULL DEFAULT '';
CREATE INDEX result_unit ON result (run_id, unit);

-- The tests of a sharded run that are executed together, and who has them.
CREATE TABLE unit (
  run_id       TEXT NOT NULL REFERENCES run (id),
  position     INTEGER NOT NULL, -- order of being handed out: longest first
  browser      TEXT NOT NULL,
  file         TEXT NOT NULL,
  serial       INTEGER NOT NULL,
  tests        TEXT NOT NULL, -- Playwright's IDs
  predicted_ms INTEGER NOT NULL,
  state        TEXT NOT NULL, -- waiting, held, done, lost
  attempt_id   TEXT NOT NULL,
  grant_number INTEGER NOT NULL,
  losses       INTEGER NOT NULL,
  granted_at   INTEGER,
  done_at      INTEGER,
  PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX unit_state ON unit (run_id, state, position);

-- How long tests took when they last passed: what predictions are made of.
CREATE TABLE history (
  project_id TEXT NOT NULL REFERENCES project (id),
  test_id    TEXT NOT NULL,
  browser    TEXT NOT NULL,
  file       TEXT NOT NULL,
  recent     TEXT NOT NULL, -- [{ms, bodyHash}], the newest last
  run_id     TEXT NOT NULL, -- that it was last brought up to date by
  PRIMARY KEY (project_id, test_id, browser)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE history;
DROP TABLE unit;
DROP INDEX result_unit;
ALTER TABLE result DROP COLUMN unit;
ALTER TABLE result DROP COLUMN body_hash;
ALTER TABLE result DROP COLUMN shard;
ALTER TABLE result DROP COLUMN attempt_id;
ALTER TABLE attempt DROP COLUMN blob_key;
ALTER TABLE attempt DROP COLUMN status;
ALTER TABLE attempt DROP COLUMN grants;
ALTER TABLE attempt DROP COLUMN claimed_at;
ALTER TABLE attempt DROP COLUMN shard;
ALTER TABLE attempt DROP COLUMN kind;
ALTER TABLE run DROP COLUMN parked;
ALTER TABLE run DROP COLUMN shard_count;
ALTER TABLE run DROP COLUMN request;
