-- +goose Up
-- What pages compare and sum up, so that they need not read what tests said.
ALTER TABLE result ADD COLUMN duration_ms BIGINT NOT NULL DEFAULT 0; -- of all tries
UPDATE result SET duration_ms = coalesce((SELECT sum((x ->> 'duration')::numeric)::bigint / 1000000
  FROM jsonb_array_elements(CASE WHEN tries LIKE '[%' THEN tries::jsonb ELSE '[]'::jsonb END) x), 0);

-- The past of a test, without its rows; the results of a run by what became of them; where
-- a bug was seen.
CREATE INDEX result_past ON result (test_id, run_id, browser, status, duration_ms, code, bug_key);
DROP INDEX result_test;
CREATE INDEX result_status ON result (run_id, status, position);
CREATE INDEX result_bug ON result (bug_key, run_id) WHERE bug_key <> '';
CREATE INDEX result_run_bug ON result (run_id, bug_key) WHERE bug_key <> '';

-- How runs ended, in the order of their ends; those of one trigger.
CREATE INDEX run_trend ON run (project_id, finished_at, branch, on_default, verdict, phase, created_at) WHERE terminal = 1;
CREATE INDEX run_trigger ON run (project_id, trigger_kind, created_at DESC, id DESC);

-- What became of a test on one day, and in one week: added to when a run ends, and corrected
-- when one is judged anew. Branches are summed up together too, so that what is read does
-- not grow with their number: '' is the default branch, '*' all of them.
CREATE TABLE test_sum (
  project_id  TEXT NOT NULL REFERENCES project (id),
  branch      TEXT NOT NULL,
  span        BIGINT NOT NULL, -- 1 or 7 days
  day         BIGINT NOT NULL, -- the first one since 1970, in UTC; weeks begin on Mondays
  test_id     TEXT NOT NULL,
  passed      BIGINT NOT NULL,
  failed      BIGINT NOT NULL,
  flaky       BIGINT NOT NULL,
  timed       BIGINT NOT NULL, -- how many of these passed in the end
  duration_ms BIGINT NOT NULL, -- of those, together
  PRIMARY KEY (project_id, branch, span, day, test_id)
);
CREATE TABLE day_sum (
  project_id TEXT NOT NULL REFERENCES project (id),
  branch     TEXT NOT NULL, -- as above
  day        BIGINT NOT NULL,
  passed     BIGINT NOT NULL, -- of all tests
  failed     BIGINT NOT NULL,
  flaky      BIGINT NOT NULL,
  PRIMARY KEY (project_id, branch, day)
);
INSERT INTO test_sum (project_id, branch, span, day, test_id, passed, failed, flaky, timed, duration_ms)
SELECT run.project_id, CASE kind.name WHEN 'own' THEN run.branch WHEN 'all' THEN '*' ELSE '' END, span.days,
  CASE span.days WHEN 1 THEN run.finished_at / 86400000 ELSE run.finished_at / 86400000 - (run.finished_at / 86400000 + 3) % 7 END, result.test_id,
  count(*) FILTER (WHERE result.status IN ('passed', 'recovered')), count(*) FILTER (WHERE result.status IN ('failed', 'bug')), count(*) FILTER (WHERE result.status = 'flaky'), count(*) FILTER (WHERE result.status IN ('passed', 'recovered', 'flaky')),
  sum(CASE WHEN result.status IN ('passed', 'recovered', 'flaky') THEN result.duration_ms ELSE 0 END)
FROM result JOIN run ON run.id = result.run_id
  JOIN (SELECT 'own' AS name UNION ALL SELECT 'all' UNION ALL SELECT 'default') kind ON kind.name = 'all' OR kind.name = 'own' AND run.branch <> '' OR kind.name = 'default' AND run.on_default = 1
  JOIN (SELECT 1 AS days UNION ALL SELECT 7) span ON span.days > 0
WHERE run.terminal = 1 AND run.finished_at IS NOT NULL AND result.counted = 1 AND result.status IN ('passed', 'recovered', 'failed', 'bug', 'flaky')
  AND result.code NOT IN ('not-reported', 'interrupted', 'did-not-run', 'shard-lost', 'cancelled')
GROUP BY 1, 2, 3, 4, 5;
INSERT INTO day_sum (project_id, branch, day, passed, failed, flaky)
SELECT project_id, branch, day, sum(passed), sum(failed), sum(flaky) FROM test_sum WHERE span = 1 GROUP BY 1, 2, 3;

-- +goose Down
DROP TABLE day_sum;
DROP TABLE test_sum;
DROP INDEX run_trigger;
DROP INDEX run_trend;
DROP INDEX result_run_bug;
DROP INDEX result_bug;
DROP INDEX result_status;
CREATE INDEX result_test ON result (test_id, run_id);
DROP INDEX result_past;
ALTER TABLE result DROP COLUMN duration_ms;
