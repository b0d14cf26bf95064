-- +goose Up
-- The same as for SQLite. What lists are ordered by has the order of its bytes, as there.
-- Times are milliseconds since 1970, IDs text, structured values JSON text.
CREATE TABLE project (
  id            TEXT PRIMARY KEY,
  name          TEXT COLLATE "C" NOT NULL,
  slug          TEXT NOT NULL,
  repo_url      TEXT NOT NULL,
  repo_branch   TEXT NOT NULL,
  repo_dir      TEXT NOT NULL,
  repo_token    TEXT NOT NULL, -- sealed
  workers       BIGINT NOT NULL,
  env           TEXT NOT NULL,
  min_isolation TEXT NOT NULL,
  run_limit_ms  BIGINT NOT NULL,
  disk_quota    BIGINT NOT NULL,
  catalog_commit TEXT NOT NULL DEFAULT '',
  created_at    BIGINT NOT NULL
);

CREATE TABLE api_key (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  hash       TEXT NOT NULL UNIQUE,
  hint       TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX api_key_project ON api_key (project_id);

CREATE TABLE run (
  id            TEXT PRIMARY KEY,
  project_id    TEXT NOT NULL REFERENCES project (id),
  name          TEXT NOT NULL UNIQUE,
  trigger_kind  TEXT NOT NULL,
  phase         TEXT NOT NULL,
  verdict       TEXT NOT NULL,
  branch        TEXT NOT NULL,
  commit_hash   TEXT NOT NULL,
  isolation     TEXT NOT NULL,
  workers       BIGINT NOT NULL,
  total         BIGINT NOT NULL,
  executed      BIGINT NOT NULL,
  counts        TEXT NOT NULL,
  warnings      TEXT NOT NULL,
  detail        TEXT NOT NULL, -- what only a look at one run needs
  has_report    BIGINT NOT NULL,
  swept         BIGINT NOT NULL DEFAULT 0, -- its artifacts were removed
  terminal      BIGINT NOT NULL,
  created_at    BIGINT NOT NULL,
  started_at    BIGINT,
  first_test_at BIGINT,
  finished_at   BIGINT
);
CREATE INDEX run_open ON run (created_at, id) WHERE terminal = 0;
CREATE INDEX run_latest ON run (project_id, terminal, finished_at, id);
CREATE INDEX run_sweep ON run (finished_at) WHERE terminal = 1 AND swept = 0;

CREATE TABLE attempt (
  id           TEXT PRIMARY KEY,
  run_id       TEXT NOT NULL REFERENCES run (id),
  project_id   TEXT NOT NULL,
  number       BIGINT NOT NULL,
  state        TEXT NOT NULL,
  open         BIGINT NOT NULL,
  token_hash   TEXT NOT NULL UNIQUE,
  seq          BIGINT NOT NULL,
  doing        TEXT NOT NULL,
  reason       TEXT NOT NULL,
  heartbeat_at BIGINT NOT NULL,
  created_at   BIGINT NOT NULL,
  finished_at  BIGINT,
  UNIQUE (run_id, number)
);
CREATE INDEX attempt_open ON attempt (created_at) WHERE open = 1;

CREATE TABLE test (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  file       TEXT COLLATE "C" NOT NULL,
  title_path TEXT NOT NULL,
  search     TEXT NOT NULL, -- file and titles in lower case
  body_hash  TEXT NOT NULL,
  line       BIGINT NOT NULL,
  tags       TEXT NOT NULL,
  owner      TEXT NOT NULL,
  browsers   TEXT NOT NULL,
  places     TEXT NOT NULL,
  present    BIGINT NOT NULL,
  first_seen BIGINT NOT NULL,
  last_seen  BIGINT NOT NULL
);
CREATE INDEX test_list ON test (project_id, file, line, id);

CREATE TABLE result (
  run_id        TEXT NOT NULL REFERENCES run (id),
  playwright_id TEXT NOT NULL,
  test_id       TEXT NOT NULL,
  browser       TEXT NOT NULL,
  repeat_each   BIGINT NOT NULL,
  setup         BIGINT NOT NULL,
  companion     BIGINT NOT NULL,
  counted       BIGINT NOT NULL,
  position      BIGINT NOT NULL,
  title         TEXT NOT NULL,
  title_path    TEXT NOT NULL,
  file          TEXT NOT NULL,
  line          BIGINT NOT NULL,
  tags          TEXT NOT NULL,
  owner         TEXT NOT NULL,
  status        TEXT NOT NULL,
  code          TEXT NOT NULL, -- of the error, '' for none
  tries         TEXT NOT NULL,
  error         TEXT,
  verdict       TEXT NOT NULL,
  bug_key       TEXT NOT NULL,
  PRIMARY KEY (run_id, playwright_id)
);
CREATE INDEX result_order ON result (run_id, position);
CREATE INDEX result_test ON result (test_id, run_id);

CREATE TABLE artifact (
  id            TEXT PRIMARY KEY,
  run_id        TEXT NOT NULL REFERENCES run (id),
  test_id       TEXT NOT NULL,
  browser       TEXT NOT NULL,
  retry         BIGINT NOT NULL,
  name          TEXT NOT NULL,
  kind          TEXT NOT NULL,
  content_type  TEXT NOT NULL,
  size          BIGINT NOT NULL,
  blob_key      TEXT NOT NULL,
  created_at    BIGINT NOT NULL
);
CREATE INDEX artifact_test ON artifact (run_id, test_id, created_at);

CREATE TABLE start_once (
  project_id  TEXT NOT NULL REFERENCES project (id),
  key         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  run_id      TEXT NOT NULL REFERENCES run (id),
  created_at  BIGINT NOT NULL,
  PRIMARY KEY (project_id, key)
);

-- +goose Down
DROP TABLE start_once;
DROP TABLE artifact;
DROP TABLE result;
DROP TABLE test;
DROP TABLE attempt;
DROP TABLE run;
DROP TABLE api_key;
DROP TABLE project;
