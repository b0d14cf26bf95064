-- +goose Up
-- What pages compare and sum up, so that they need not read what tests said.
ALTER TABLE result ADD COLUMN duration_ms BIGINT NOT NULL DEFAULT 0; -- of all tries
UPDATE result SET duration_ms = coalesce((SELECT sum((x ->> 'duration')::numeric)::bigint / 1000000
  FROM jsonb_array_elements(CASE WHEN tries LIKE '[%' THEN tries::jsonb ELSE '[]'::jsonb END) x), 0);

-- The past of a test, without its rows; the results of a run by what became of them; where
-- a bug was seen.
CREATE INDEX result_past ON result (test_id, run_id, browser, status, duration_ms);
DROP INDEX result_test;
CREATE INDEX result_status ON result (run_id, status, position);
CREATE INDEX result_bug ON result (bug_key, run_id) WHERE bug_key <> '';

-- How runs ended, in the order of their ends; those of one trigger.
CREATE INDEX run_trend ON run (project_id, finished_at, branch, on_default, verdict, phase, created_at) WHERE terminal = 1;
CREATE INDEX run_trigger ON run (project_id, trigger_kind, created_at DESC, id DESC);

-- What became of a test on one day of one branch: added to when a run ends, and corrected
-- when one is judged anew.
CREATE TABLE test_day (
  project_id  TEXT NOT NULL REFERENCES project (id),
  day         BIGINT NOT NULL, -- since 1970, in UTC
  branch      TEXT NOT NULL,
  test_id     TEXT NOT NULL,
  on_default  BIGINT NOT NULL,
  passed      BIGINT NOT NULL,
  failed      BIGINT NOT NULL,
  flaky       BIGINT NOT NULL,
  timed       BIGINT NOT NULL, -- how many of these passed in the end
  duration_ms BIGINT NOT NULL, -- of those, together
  PRIMARY KEY (project_id, day, branch, test_id)
);
CREATE INDEX test_day_test ON test_day (project_id, test_id, day, branch, on_default, passed, failed, flaky, timed, duration_ms); -- sums need no rows
INSERT INTO test_day (project_id, day, branch, test_id, on_default, passed, failed, flaky, timed, duration_ms)
SELECT run.project_id, run.finished_at / 86400000, run.branch, result.test_id, max(run.on_default),
  count(*) FILTER (WHERE result.status IN ('passed', 'recovered')), count(*) FILTER (WHERE result.status IN ('failed', 'bug')), count(*) FILTER (WHERE result.status = 'flaky'),
  count(*) FILTER (WHERE result.status IN ('passed', 'recovered', 'flaky')), sum(CASE WHEN result.status IN ('passed', 'recovered', 'flaky') THEN result.duration_ms ELSE 0 END)
FROM result JOIN run ON run.id = result.run_id
WHERE run.terminal = 1 AND run.finished_at IS NOT NULL AND result.counted = 1 AND result.status IN ('passed', 'recovered', 'failed', 'bug', 'flaky')
  AND result.code NOT IN ('not-reported', 'interrupted', 'did-not-run', 'shard-lost', 'cancelled')
GROUP BY 1, 2, 3, 4;

-- +goose Down
DROP TABLE test_day;
DROP INDEX run_trigger;
DROP INDEX run_trend;
DROP INDEX result_bug;
DROP INDEX result_status;
CREATE INDEX result_test ON result (test_id, run_id);
DROP INDEX result_past;
ALTER TABLE result DROP COLUMN duration_ms;
