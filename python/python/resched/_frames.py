"""Makes a trace of data frames."""

from __future__ import annotations

import os
import warnings
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
    """Make a trace from data frames, so that you can replay any log that you can read as data frames.

    The columns are those of the tables of a trace (``docs/reference/tables.md``). You can use any data frame with the Arrow PyCapsule
    interface: of polars, pandas, pyarrow or duckdb. Times are whole milliseconds, or instants and durations. Processors are thousandths
    of a core. A ``UserWarning`` says if a column looks like seconds or cores.

    The rules of an ingest hold: damaged rows are mended or left out, and counted. A missing column stands for unknown values, and a missing
    ``outcome`` for success. Tries without a number are numbered in order. The trace notes what was filled in. Without ``tasks``, the
    tasks are those that the attempts name.

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
        The name of the source, which the trace notes.
    system : str, optional
        What ran the jobs: ``mapreduce-1``, ``yarn``, ``spark``, ``slurm`` or ``batch``.
    dated : bool, default False
        Whether times count from 1970. Otherwise they count from a zero of the trace's own.
    force : bool, default False
        Replace what is at the place of the result, even if it was changed after resched wrote it.

    Returns
    -------
    Trace
        The trace in ``out``.

    Raises
    ------
    RequestError
        A column is unknown, missing or of another type, or a value is not allowed. The message names the table, the column and the row. Or
        most tries start before the submission of their job or far from it, which happens if one table is in another unit.
    """
    _, doubts, span = _native.from_frames(os.fspath(out), name, system, dated, force, jobs, tasks, attempts, splits, nodes)
    for doubt in doubts:
        warnings.warn(doubt, UserWarning, stacklevel=2)
    trace = Trace(out)
    return Trace(out, _said(trace, span))


def _said(trace: Trace, span: int | None) -> str:
    """What is printed of a trace: its rows, its span, and what was left out or mended."""
    lines = [repr(trace)]
    if span is not None:
        lines.append(f"  span: {span / 1000:,.1f} s from the first to the last time")
    skipped = trace.info.get("skipped", {})
    if skipped:
        lines.append("  left out or mended: " + ", ".join(f"{count:,} × {cause}" for cause, count in skipped.items()))
    return "\n".join(lines)
