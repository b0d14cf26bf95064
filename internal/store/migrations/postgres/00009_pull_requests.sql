-- +goose Up
-- Pull requests of repositories beside the service, which no other forge keeps.
CREATE TABLE pull_request (
  repo        TEXT NOT NULL, -- as the local forge names it
  number      BIGINT NOT NULL,
  state       TEXT NOT NULL, -- open, merged, closed
  draft       BIGINT NOT NULL,
  title       TEXT NOT NULL,
  body        TEXT NOT NULL,
  head        TEXT NOT NULL, -- branches
  base        TEXT NOT NULL,
  head_commit TEXT NOT NULL,
  base_commit TEXT NOT NULL,
  author      TEXT NOT NULL,
  merge       TEXT NOT NULL, -- one that was begun, and who merged what
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  merged_at   BIGINT,
  PRIMARY KEY (repo, number)
);
CREATE UNIQUE INDEX pull_request_open ON pull_request (repo, head, base) WHERE state = 'open';

-- The last number that a repository gave.
CREATE TABLE pull_number (
  repo TEXT PRIMARY KEY,
  last BIGINT NOT NULL
);

CREATE TABLE pull_comment (
  repo       TEXT NOT NULL,
  number     BIGINT NOT NULL,
  id         TEXT NOT NULL,
  body       TEXT NOT NULL,
  author     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (repo, number, id),
  FOREIGN KEY (repo, number) REFERENCES pull_request (repo, number)
);

CREATE TABLE pull_mark (
  repo       TEXT NOT NULL,
  number     BIGINT NOT NULL,
  comment_id TEXT NOT NULL,
  user_id    TEXT NOT NULL,
  login      TEXT NOT NULL,
  reaction   TEXT NOT NULL,
  PRIMARY KEY (repo, number, comment_id, user_id, reaction),
  FOREIGN KEY (repo, number, comment_id) REFERENCES pull_comment (repo, number, id)
);

-- What was last said of a commit, by whoever says it.
CREATE TABLE commit_status (
  repo        TEXT NOT NULL,
  commit_hash TEXT NOT NULL,
  context     TEXT NOT NULL,
  state       TEXT NOT NULL,
  description TEXT NOT NULL,
  url         TEXT NOT NULL,
  said_at     BIGINT NOT NULL,
  PRIMARY KEY (repo, commit_hash, context)
);

-- +goose Down
DROP TABLE commit_status;
DROP TABLE pull_mark;
DROP TABLE pull_comment;
DROP TABLE pull_number;
DROP TABLE pull_request;
