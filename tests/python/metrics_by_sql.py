"""Computes metrics of a run by SQL over its Parquet tables.

    python tests/python/metrics_by_sql.py RUN < queries.json

Needs `pip install duckdb`. `queries.json` maps names to SQL over the view `j`, which has a row for each job, and `done`, the
jobs of it that ended well. Prints a JSON object of the same names with the values. The views are written anew from the
definitions in docs/reference/metrics.md, so that they can disagree with resched.
"""

import json
import sys
from pathlib import Path

import duckdb

VIEWS = """
CREATE VIEW attempt AS
SELECT *, greatest(finish - start, 0) AS run FROM read_parquet('{run}/attempts.parquet') WHERE kind != 'master';

CREATE VIEW of_attempts AS
SELECT
    job_id,
    min(start) FILTER (kind NOT IN ('setup', 'cleanup')) AS first_start,
    max(finish) FILTER (kind = 'map' AND outcome = 'SUCCESS') AS last_map_finish,
    count(DISTINCT task_id) FILTER (outcome = 'SUCCESS' AND kind NOT IN ('setup', 'cleanup')) AS tasks,
    count(DISTINCT task_id) FILTER (outcome = 'SUCCESS' AND kind = 'map') AS maps,
    count(*) FILTER (kind = 'map' AND start IS NOT NULL AND locality = 'node') AS node_maps,
    count(*) FILTER (kind = 'map' AND start IS NOT NULL AND locality IS NOT NULL) AS placed_maps,
    sum(run) AS slot_time,
    sum(cpu_request::DOUBLE * run) / 1000 AS cpu_time,
    avg(greatest(start - queued, 0)) AS queueing
FROM attempt GROUP BY job_id;

CREATE VIEW of_reduces AS
SELECT job_id, coalesce(avg(late) FILTER (late >= 0), 0) AS starvation
FROM (
    SELECT a.job_id, task_id, min(start) - any_value(last_map_finish) AS late
    FROM attempt a JOIN of_attempts USING (job_id) WHERE kind = 'reduce' GROUP BY a.job_id, task_id
)
GROUP BY job_id HAVING count(late) > 0;

CREATE VIEW j AS
SELECT *, completion - waiting AS execution, greatest(1, completion / greatest(completion - waiting, 10000)) AS bounded_slowdown
FROM (
    SELECT
        row_number() OVER () AS row,
        *,
        finish - submit AS completion,
        greatest(coalesce(first_start, launch) - submit, 0) AS waiting,
        (submit + {zero}) // 3600000 % 24 AS submit_hour
    FROM read_parquet('{run}/jobs.parquet') LEFT JOIN of_attempts USING (job_id) LEFT JOIN of_reduces USING (job_id)
);

CREATE VIEW done AS SELECT * FROM j WHERE outcome IN ('SUCCESS', 'UNKNOWN') AND finish IS NOT NULL;
"""


def main(arguments):
    if len(arguments) != 1:
        print("usage: metrics_by_sql.py RUN < queries.json", file=sys.stderr)
        return 2
    database = duckdb.connect()
    run = Path(arguments[0])
    # The date of ms 0 of the run, if its trace has dates.
    clock = json.loads((run / "run.json").read_text()).get("clock", {})
    database.execute(VIEWS.format(run=run, zero=clock["zero"] if clock.get("dated") else 0))
    queries = json.load(sys.stdin)
    values = {name: database.execute(sql).fetchone()[0] for name, sql in queries.items()}
    print(json.dumps({name: None if value is None else float(value) for name, value in values.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
