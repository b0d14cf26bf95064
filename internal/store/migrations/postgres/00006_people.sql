-- +goose Up
-- Who signs in. E-mails are in lower case.
CREATE TABLE person (
  id            TEXT PRIMARY KEY,
  email         TEXT NOT NULL UNIQUE,
  name          TEXT COLLATE "C" NOT NULL,
  administrator BIGINT NOT NULL, -- of the installation
  password      TEXT NOT NULL, -- argon2id, '' for none
  created_at    BIGINT NOT NULL
);

-- People as somebody else vouches for them.
CREATE TABLE identity (
  issuer    TEXT NOT NULL,
  subject   TEXT NOT NULL,
  person_id TEXT NOT NULL REFERENCES person (id),
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identity_person ON identity (person_id);

CREATE TABLE session (
  id         TEXT PRIMARY KEY,
  person_id  TEXT NOT NULL REFERENCES person (id),
  token_hash TEXT NOT NULL UNIQUE,
  user_agent TEXT NOT NULL,
  address    TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX session_person ON session (person_id);
CREATE INDEX session_expiry ON session (expires_at);

-- Links that work once: invitations, and those of the operator. A used one is gone.
CREATE TABLE link (
  id         TEXT PRIMARY KEY,
  kind       TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL,
  role       TEXT NOT NULL,
  person_id  TEXT NOT NULL,
  email      TEXT NOT NULL,
  made_by    TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX link_project ON link (project_id, kind);

CREATE TABLE membership (
  project_id TEXT NOT NULL REFERENCES project (id),
  person_id  TEXT NOT NULL REFERENCES person (id),
  role       TEXT NOT NULL, -- viewer, member, administrator
  PRIMARY KEY (project_id, person_id)
);
CREATE INDEX membership_person ON membership (person_id);

-- Who did what that matters, never changed. IDs grow with time.
CREATE TABLE audit (
  id         TEXT PRIMARY KEY,
  at         BIGINT NOT NULL,
  person_id  TEXT NOT NULL,
  who        TEXT NOT NULL,
  address    TEXT NOT NULL,
  act        TEXT NOT NULL,
  project_id TEXT NOT NULL,
  about      TEXT NOT NULL
);
CREATE INDEX audit_project ON audit (project_id, id);

-- Named sets of what a project's runs are told. One of them is the default.
CREATE TABLE environment (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  name       TEXT COLLATE "C" NOT NULL,
  is_default BIGINT NOT NULL,
  variables  TEXT NOT NULL,
  secrets    TEXT NOT NULL, -- each value sealed
  created_at BIGINT NOT NULL,
  UNIQUE (project_id, name)
);
CREATE UNIQUE INDEX environment_default ON environment (project_id) WHERE is_default = 1;
INSERT INTO environment (id, project_id, name, is_default, variables, secrets, created_at)
  SELECT id, id, 'default', 1, env, '{}', created_at FROM project;

ALTER TABLE run ADD COLUMN environment TEXT NOT NULL DEFAULT ''; -- its name; '' for the default
ALTER TABLE project ADD COLUMN keep_days BIGINT NOT NULL DEFAULT 0; -- of artifacts; 0: as the installation does
ALTER TABLE api_key ADD COLUMN sealed TEXT NOT NULL DEFAULT ''; -- '' for keys of before

-- A project's slug is part of its pages' addresses.
UPDATE project SET slug = d.slug || '-' || d.k
  FROM (SELECT id, slug, row_number() OVER (PARTITION BY slug ORDER BY created_at, id) AS k FROM project) AS d
  WHERE d.id = project.id AND d.k > 1;
UPDATE project SET slug = d.slug || '-' || substr(d.id, 1, 8)
  FROM (SELECT id, slug, row_number() OVER (PARTITION BY slug ORDER BY created_at, id) AS k FROM project) AS d
  WHERE d.id = project.id AND d.k > 1;
CREATE UNIQUE INDEX project_slug ON project (slug);

-- +goose Down
DROP INDEX project_slug;
ALTER TABLE api_key DROP COLUMN sealed;
ALTER TABLE project DROP COLUMN keep_days;
ALTER TABLE run DROP COLUMN environment;
DROP TABLE environment;
DROP TABLE audit;
DROP TABLE membership;
DROP TABLE link;
DROP TABLE session;
DROP TABLE identity;
DROP TABLE person;
