"""Opens what is there, and compares it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from . import _native
from ._results import Replays, Run, StrPath, Trace
from .errors import RequestError


def open(path: StrPath) -> Trace | Run:
    """Open a trace or a run.

    Parameters
    ----------
    path : path
        Its folder.

    Returns
    -------
    Trace or Run
        What the folder holds.

    Raises
    ------
    RequestError
        There is no trace or run at this path.
    """
    folder = os.fspath(path)
    if os.path.exists(os.path.join(folder, "run.json")):
        return Run(folder)
    return Trace(folder)


def _runs(runs: Iterable[Run | StrPath] | Run | StrPath) -> list[Run]:
    if isinstance(runs, Replays):
        return runs.runs
    if isinstance(runs, Run):
        return [runs]
    if isinstance(runs, (str, os.PathLike)):
        return [Run(os.fspath(folder)) for folder in _native.runs_in(os.fspath(runs))]
    return [own if isinstance(own, Run) else Run(own) for own in runs]


@dataclass(frozen=True)
class Metrics:
    """Metrics of runs, on the jobs that count in all of them.

    Attributes
    ----------
    labels : list of str
        The policies.
    names, units : list of str
        The metrics and their units; empty for a number without one.
    values : list of list of float or None
        A list for each run, with a value for each metric; ``None``: not known.
    """

    labels: list[str]
    names: list[str]
    units: list[str]
    values: list[list[float | None]]

    def __getitem__(self, label: str) -> dict[str, float | None]:
        """The metrics of the run with this label, by name."""
        return dict(zip(self.names, self.values[self.labels.index(label)], strict=True))

    def columns(self) -> dict[str, list[str] | list[float | None]]:
        """Return labels and values as columns, for a data frame: ``polars.DataFrame(metrics.columns())``."""
        columns: dict[str, list[str] | list[float | None]] = {"policy": self.labels}
        for place, name in enumerate(self.names):
            columns[name] = [row[place] for row in self.values]
        return columns

    def _repr_html_(self) -> str:
        import html

        head = "".join(f"<th>{html.escape(name)}</th>" for name in ["policy", *self.names])
        rows = ""
        for label, values in zip(self.labels, self.values, strict=True):
            cells = "".join(f"<td>{'–' if value is None else f'{value:,.4g}'}</td>" for value in values)
            rows += f"<tr><td>{html.escape(label)}</td>{cells}</tr>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


USUAL = ("makespan", "mean(completion)", "p95(completion)", "mean(waiting)")
"""The metrics of a comparison that names none."""


def metrics(runs: Iterable[Run | StrPath] | Run | StrPath, names: str | Iterable[str] = USUAL) -> Metrics:
    """Compute metrics of runs, on the jobs that count in all of them.

    Parameters
    ----------
    runs : runs
        Runs, their folders, or a folder that holds them.
    names : str or iterable of str
        Names or expressions (``docs/metrics.md``), such as ``"p95(completion) where queue = 'adhoc'"``. Without it: the makespan, the mean
        and the 95th percentile of completion times, and the mean waiting time.

    Returns
    -------
    Metrics
        A value for each run and metric.

    Raises
    ------
    RequestError
        A metric is unknown, or there is no run at a path.
    """
    opened = _runs(runs)
    wanted = [names] if isinstance(names, str) else list(names)
    values, units = _native.metrics([own.path for own in opened], wanted)
    return Metrics([own.label for own in opened], wanted, units, values)


@dataclass(frozen=True)
class Comparison(Metrics):
    """Metrics of runs, and their changes against a baseline.

    Attributes
    ----------
    baseline : str
        The label of the run that the others are compared with.
    changes : list of list of float or None
        The change of each metric as a share: ``-0.1`` is 10 % less than the baseline.
    """

    baseline: str
    changes: list[list[float | None]]


def compare(
    runs: Iterable[Run | StrPath] | Run | StrPath,
    names: str | Iterable[str] = USUAL,
    *,
    baseline: str | None = None,
) -> Comparison:
    """Compare runs by metrics, on the jobs that count in all of them.

    To test whether a difference is real, job by job, use :func:`diff`.

    Parameters
    ----------
    runs : runs
        Runs, their folders, or a folder that holds them.
    names : str or iterable of str
        Names or expressions of metrics, as for :func:`metrics`.
    baseline : str, optional
        The label of the run that the others are compared with. Without it, the first run.

    Returns
    -------
    Comparison
        The values, and their changes against the baseline.

    Raises
    ------
    RequestError
        A metric is unknown, there is no run at a path, or no run has the label of the baseline.
    """
    found = metrics(runs, names)
    if baseline is not None and baseline not in found.labels:
        raise RequestError(f"baseline: expected one of {', '.join(found.labels)}, found `{baseline}`")
    base = found.values[found.labels.index(baseline)] if baseline is not None else found.values[0]
    changes = [
        [own / other - 1 if own is not None and other else None for own, other in zip(row, base, strict=True)] for row in found.values
    ]
    return Comparison(found.labels, found.names, found.units, found.values, baseline or found.labels[0], changes)
