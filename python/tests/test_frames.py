"""Traces from data frames."""

from __future__ import annotations

from decimal import Decimal

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
    tries = {"job_id": ["a", "a"], "task_id": ["t", "t"], "start": [0, 9_000], "finish": [8_000, 20_000], "outcome": ["FAILED", "SUCCESS"]}
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


FORTY = {"job_id": [f"j{n}" for n in range(40)], "submit": [n * 60_000 for n in range(40)]}


def forty(unit=1.0, **changes):
    """Forty jobs of one try each; the tries in another unit."""
    starts = [int(submit * unit) + int(5_000 * unit) for submit in FORTY["submit"]]
    tries = {
        "job_id": FORTY["job_id"],
        "task_id": FORTY["job_id"],
        "start": starts,
        "finish": [start + int(90_000 * unit) for start in starts],
    }
    return {"jobs": FORTY, "tasks": None, "attempts": tries, "nodes": NODES} | changes


@pytest.mark.parametrize(("unit", "text"), [(1e-3, "before the submission of their job"), (1e6, "more than a year after it")])
def test_tries_in_another_unit_than_jobs_are_refused(tmp_path, unit, text):
    with pytest.raises(resched.RequestError, match=f"attempts: column `start`.*{text}"):
        made(tmp_path, **forty(unit))
    assert not (tmp_path / "T").exists()


def test_seconds_and_cores_are_doubted_and_what_was_left_out_is_printed(tmp_path):
    in_seconds = forty(1e-3, jobs=FORTY | {"submit": [n * 60 for n in range(40)]})
    with pytest.warns(UserWarning, match="Times are milliseconds: multiply seconds by 1,000"):
        trace = made(tmp_path, **in_seconds)
    assert "span: 2.4 s" in str(trace)
    with pytest.warns(UserWarning, match="nodes: column `cpu` has at most a quarter of a core"):
        made(tmp_path, **forty(nodes=NODES | {"cpu": [16]}))
    backwards = forty()
    backwards["attempts"]["finish"][7] = 0
    assert "left out or mended: 1 ×" in str(made(tmp_path, **backwards))


def test_the_index_of_pandas_is_no_column(tmp_path):
    jobs = pandas.DataFrame(JOBS)
    shuffled = pandas.concat([jobs.iloc[2:], jobs.iloc[:2]])
    trace = resched.from_frames(
        shuffled, attempts=polars.DataFrame(ATTEMPTS), nodes=polars.DataFrame(NODES), out=tmp_path / "T", system="batch"
    )
    assert trace.info["rows"]["jobs"] == 3


WRONG = [
    ({"jobs": {"job_id": ["a"]}}, "jobs: column `submit` is missing; it holds: "),
    ({"attempts": {name: ATTEMPTS[name] for name in ("job_id", "task_id", "start")}}, "attempts: column `finish` .*is missing; it holds: "),
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
JOB = pyarrow.table({"job_id": ["a"], "submit": [0]})
# A value that the table cannot have without a change.
CHANGED = [
    (pyarrow.array([0.5], "float32"), "expected a whole number, found 0.5"),
    (pyarrow.array([0.5], "float16"), "expected a whole number, found 0.5"),
    (pyarrow.array([Decimal("0.5")]), "expected a whole number, found 0.5"),
    (pyarrow.array([0.5]).dictionary_encode(), "expected a whole number, found 0.5"),
    (pyarrow.array([2**62], pyarrow.timestamp("s")), "row 0: expected integer"),
    (pyarrow.array([1], pyarrow.time64("us")), "expected Int64, found Time64"),
    (pyarrow.array([2**64 - 1], "uint64"), "expected integer, found `18446744073709551615`"),
]


@pytest.mark.parametrize(("changes", "text"), WRONG)
def test_what_is_wrong_is_named_by_table_column_and_row(tmp_path, changes, text):
    frames = {"tasks": None, "attempts": None, "nodes": None} if "jobs" in changes else {}
    with pytest.raises(resched.RequestError, match=text):
        made(tmp_path, **frames, **changes)
    assert not (tmp_path / "T").exists()


@pytest.mark.parametrize(("column", "text"), CHANGED)
def test_no_value_is_rounded_or_lost(tmp_path, column, text):
    with pytest.raises(resched.RequestError, match=f"jobs: column `nice`.*{text}"):
        resched.from_frames(JOB.append_column("nice", column), out=tmp_path / "T")


def test_columns_of_nulls_and_dates_are_read(tmp_path):
    frame = JOB.append_column("nice", pyarrow.nulls(1)).append_column("finish", pyarrow.array([1], "date32"))
    row = resched.from_frames(frame, out=tmp_path / "T", dated=True).jobs.to_polars().row(0, named=True)
    assert (row["nice"], row["finish"]) == (None, 86_400_000)


class Bare:
    """An object that has nothing but a stream."""

    def __init__(self, stream):
        self.__arrow_c_stream__ = stream


def streams_that_are_no_tables():
    """Streams that are wrong, and what is said of them."""
    keys = pyarrow.DictionaryArray.from_arrays(pyarrow.array([7], pyarrow.int32()), ["a"], safe=False)
    no_text = pyarrow.StringArray.from_buffers(1, pyarrow.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0])), pyarrow.py_buffer(b"\xff"))
    nulls = pyarrow.StructArray.from_arrays(
        [JOB["job_id"].chunk(0), JOB["submit"].chunk(0)], ["job_id", "submit"], mask=pyarrow.array([True])
    )
    for column in (keys, no_text):
        yield pyarrow.table({"job_id": column, "submit": [0]}), "cannot read the data frame"
    yield Bare(pyarrow.chunked_array([nulls]).__arrow_c_stream__), "row 0 of a batch is null"
    yield Bare(pyarrow.chunked_array([[1]]).__arrow_c_stream__), "expected a table, found a column of type Int64"
    wider = pyarrow.schema([*JOB.schema, ("user", pyarrow.string())])
    yield pyarrow.RecordBatchReader.from_batches(wider, iter(JOB.to_batches())), "its batches do not fit its schema"
    yield pyarrow.Table.from_arrays([*JOB.columns, JOB["submit"]], names=["job_id", "submit", "submit"]), "column `submit` is there twice"


@pytest.mark.parametrize(("frame", "text"), list(streams_that_are_no_tables()))
def test_streams_that_are_no_tables_are_refused(tmp_path, frame, text):
    with pytest.raises(resched.RequestError, match=f"jobs: .*{text}"):
        resched.from_frames(frame, out=tmp_path / "T")


def test_no_jobs_are_refused(tmp_path):
    nothing = polars.DataFrame(JOBS).clear()
    with pytest.raises(resched.RequestError, match="jobs: expected a row or more, found none"):
        resched.from_frames(nothing, out=tmp_path / "T")


def test_something_else_is_refused(tmp_path):
    with pytest.raises(TypeError, match="jobs: expected a data frame with the Arrow PyCapsule interface.*found dict"):
        resched.from_frames(JOBS, out=tmp_path / "T")
    with pytest.raises(resched.RequestError, match="system: expected one of mapreduce-1, yarn"):
        resched.from_frames(polars.DataFrame(JOBS), out=tmp_path / "T", system="pbs")
