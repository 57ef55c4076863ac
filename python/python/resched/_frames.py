"""Makes a trace of data frames."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from ._results import StrPath, Trace


def from_frames(
    jobs: Any,
    tasks: Any = None,
    attempts: Any = None,
    splits: Any = None,
    nodes: Any = None,
    *,
    out: StrPath,
    name: str = "frames",
    system: str | None = None,
    dated: bool = False,
    force: bool = False,
) -> Trace:
    """Make a trace of data frames, so that any log that you can read as a data frame can be replayed.

    The columns are those of the tables of a trace (``docs/tables.md``). Any data frame with the Arrow PyCapsule interface will do: of
    polars, pandas, pyarrow, duckdb. Times are whole milliseconds, or instants and durations. The rules of an ingest hold: what is damaged
    is mended or left out, and counted. A missing column stands for unknown values, a missing ``outcome`` for success, and
    tries without a number are numbered in order; the trace notes what was filled.
    Without ``tasks``, the attempts say what tasks there are.

    Parameters
    ----------
    jobs : data frame
        A row for each job: at least ``job_id`` and ``submit``.
    tasks : data frame, optional
        A row for each task: at least ``job_id`` and ``task_id``.
    attempts : data frame, optional
        A row for each try at a task: at least ``job_id``, ``task_id``, ``start`` and ``finish``.
    splits : data frame, optional
        A row for each place of a task's input: at least ``task_id`` and ``ordinal``.
    nodes : data frame, optional
        A row for each machine: at least ``host``.
    out : path
        The folder to write the trace to. An earlier trace there is replaced.
    name : str, default "frames"
        Where the frames come from, as the trace notes it.
    system : str, optional
        What ran the jobs: ``mapreduce-1``, ``yarn``, ``spark``, ``slurm`` or ``batch``.
    dated : bool, default False
        Whether times count from 1970; otherwise they count from a zero of the trace's own.
    force : bool, default False
        Replace what stands in the place of the result even if it is not as resched wrote it.

    Returns
    -------
    Trace
        The trace in ``out``.

    Raises
    ------
    RequestError
        A column is unknown, missing or of another type, or a value is not allowed. The text names the table, the column and the row.
    """
    _native.from_frames(os.fspath(out), name, system, dated, force, jobs, tasks, attempts, splits, nodes)
    return Trace(out)
