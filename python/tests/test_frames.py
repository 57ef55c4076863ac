"""Traces from data frames."""

from __future__ import annotations

import pandas
import polars
import pyarrow
import pytest
import resched

JOBS = {"job_id": ["a", "b", "c"], "user": ["ann", "bob", None], "submit": [0, 1_000, 2_000]}
TASKS = {"job_id": ["a", "b", "c"], "task_id": ["a1", "b1", "c1"], "cpu_request": [1_000, 2_000, 1_000]}
ATTEMPTS = {"job_id": ["a", "b", "c"], "task_id": ["a1", "b1", "c1"], "start": [0, 1_000, 2_000], "finish": [60_000, 9_000, 10_000]}
NODES = {"host": ["n1"], "cpu": [2_000], "memory": [1 << 30]}


def made(folder, **changes):
    frames = {"jobs": JOBS, "tasks": TASKS, "attempts": ATTEMPTS, "nodes": NODES} | changes
    frames = {name: polars.DataFrame(columns) if columns is not None else None for name, columns in frames.items()}
    return resched.from_frames(**frames, out=folder / "T", system="batch")


def test_a_trace_of_frames_is_replayed(tmp_path):
    trace = made(tmp_path)
    run = resched.replay(trace, policy="fifo")[0]
    jobs = run.jobs.to_polars()
    # One core is taken by a; b needs both, and c waits behind it.
    assert jobs["launch"].to_list() == [0, 60_000, 68_000]
    assert trace.info["made"]["jobs.outcome"] == "missing-column"
    assert trace.info["sources"][0]["format"] == "frames"


@pytest.mark.parametrize("library", [polars.DataFrame, pandas.DataFrame, pyarrow.table])
def test_frames_of_every_library_make_the_same_trace(tmp_path, library):
    frames = {name: library(columns) for name, columns in {"jobs": JOBS, "tasks": TASKS, "attempts": ATTEMPTS, "nodes": NODES}.items()}
    trace = resched.from_frames(**frames, out=tmp_path / "U", system="batch")
    assert trace.info["sources"] == made(tmp_path).info["sources"]


def test_the_tables_of_a_trace_make_that_trace_again(history, swf, tmp_path):
    for trace, system in ((history, "mapreduce-1"), (swf, "batch")):
        tables = {name: trace.tables[name] for name in ("jobs", "tasks", "attempts", "splits", "nodes") if name in trace.tables}
        again = resched.from_frames(**tables, out=tmp_path / system, system=system)
        for policy in ("fifo", "easy"):
            one, other = (resched.replay(own, policy=policy, assume=True, robust="off")[0] for own in (trace, again))
            assert one.summary["mean_completion_ms"] == other.summary["mean_completion_ms"]


def test_tries_are_numbered_and_a_task_ends_as_its_last_try_does(tmp_path):
    jobs = polars.DataFrame({"job_id": ["a"], "submit": [0]})
    tries = {"job_id": ["a", "a"], "task_id": ["t", "t"], "start": [0, 9], "finish": [8, 20], "outcome": ["FAILED", "SUCCESS"]}
    trace = resched.from_frames(jobs, attempts=polars.DataFrame(tries), out=tmp_path / "T", system="batch")
    assert trace.attempts.to_polars()["attempt"].to_list() == [0, 1]
    assert trace.tables["tasks"].to_polars()["outcome"].to_list() == ["SUCCESS"]
    assert trace.info["made"]["attempts.attempt"] == trace.info["made"]["attempts.kind"] == "missing-column"


def test_instants_and_durations_are_milliseconds(tmp_path):
    jobs = pandas.DataFrame(
        {"job_id": ["a"], "submit": [pandas.Timestamp("2026-01-01T00:00:01Z")], "requested_time": [pandas.Timedelta("1min")]}
    )
    attempts = polars.DataFrame({"job_id": ["a"], "task_id": ["a1"], "start": [1_767_225_602_000], "finish": [1_767_225_603_000]})
    trace = resched.from_frames(jobs, attempts=attempts, out=tmp_path / "T", dated=True)
    row = trace.jobs.to_polars().row(0, named=True)
    assert (row["submit"], row["requested_time"]) == (1_767_225_601_000, 60_000)
    assert len(trace.tables["tasks"]) == 1


WRONG = [
    ({"jobs": {"job_id": ["a"], "submitt": [0]}}, "jobs: `submitt` is no column of this table; did you mean `submit`"),
    ({"jobs": {"submit": [0]}}, "jobs: column `job_id` is missing; it holds: The job's id"),
    ({"jobs": {"job_id": ["a", None], "submit": [0, 1]}}, "jobs: column `job_id`, row 1: expected .*, found null"),
    ({"jobs": {"job_id": ["a", "a"], "submit": [0, 1]}}, "jobs: column `job_id`, row 1: expected an id of its own"),
    ({"jobs": {"job_id": ["a"], "submit": [0.5]}}, "jobs: column `submit`, row 0: expected a whole number, found 0.5"),
    ({"jobs": {"job_id": ["a"], "submit": ["now"]}}, "jobs: column `submit`, row 0: expected .*, found `now`"),
    (
        {"jobs": {"job_id": ["a"], "submit": [0], "outcome": ["fine"]}},
        "jobs: column `outcome`, row 0: expected one of SUCCESS, .*found `fine`",
    ),
    ({"tasks": {**TASKS, "job_id": ["a", "b", "d"]}}, "tasks: column `job_id`, row 2: expected a job of the table `jobs`, found `d`"),
    ({"attempts": {**ATTEMPTS, "task_id": ["a1", "b1", "x"]}}, "attempts: column `task_id`, row 2: expected a task of the table `tasks`"),
    ({"attempts": {**ATTEMPTS, "task_id": ["a1", "b1", "a1"]}}, "attempts: column `task_id`, row 2: expected a task of the job"),
    ({"splits": {"task_id": ["q"], "ordinal": [0]}}, "splits: column `task_id`, row 0: expected a known task, found `q`"),
]


@pytest.mark.parametrize(("changes", "text"), WRONG)
def test_what_is_wrong_is_named_by_table_column_and_row(tmp_path, changes, text):
    frames = {"tasks": None, "attempts": None, "nodes": None} if "jobs" in changes else {}
    with pytest.raises(resched.RequestError, match=text):
        made(tmp_path, **frames, **changes)
    assert not (tmp_path / "T").exists()


def test_no_jobs_are_refused(tmp_path):
    nothing = polars.DataFrame(JOBS).clear()
    with pytest.raises(resched.RequestError, match="jobs: expected a row or more, found none"):
        resched.from_frames(nothing, out=tmp_path / "T")


def test_something_else_is_refused(tmp_path):
    with pytest.raises(TypeError, match="jobs: expected a data frame with the Arrow PyCapsule interface.*found dict"):
        resched.from_frames(JOBS, out=tmp_path / "T")
    with pytest.raises(resched.RequestError, match="system: expected one of mapreduce-1, yarn"):
        resched.from_frames(polars.DataFrame(JOBS), out=tmp_path / "T", system="pbs")
