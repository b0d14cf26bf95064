-- +goose Up
-- The newest runs of a project first, of all of them or of one branch.
CREATE INDEX run_newest ON run (project_id, created_at DESC, id DESC);
CREATE INDEX run_branch ON run (project_id, branch, created_at DESC, id DESC);

-- +goose Down
DROP INDEX run_branch;
DROP INDEX run_newest;
