-- +goose Up
-- Which service does what only one may do, until when by the database's clock.
CREATE TABLE lease (
  name       TEXT PRIMARY KEY,
  holder     TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- A value sealed with the master key: a service with another key must not start.
CREATE TABLE installation (
  id     INTEGER PRIMARY KEY,
  sealed TEXT NOT NULL
) STRICT;

-- The executor that started an attempt: another one's not seeing it means nothing.
ALTER TABLE attempt ADD COLUMN place TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE attempt DROP COLUMN place;
DROP TABLE installation;
DROP TABLE lease;
