"""What the functions of the package return."""

from __future__ import annotations

import html
import importlib
import inspect
import json
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, overload

from . import _native
from ._call import Progress, run, text, words
from ._tables import Table, Tables
from .policy import Policy

StrPath: TypeAlias = str | os.PathLike[str]
"""A path, as a text or a ``pathlib.Path``."""
PolicyLike: TypeAlias = str | Policy | type[Policy]
"""A policy: a text such as ``"delay:D=12"``, or an object or a class of your own."""


def listed(value: Any) -> list[Any]:
    """One value, or several, as a list."""
    if isinstance(value, (str, os.PathLike, Policy, Trace, Run)) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def shown(said: str) -> str:
    """The text of a command as HTML: each of its tables as a table, the rest as it is."""
    parts: list[str] = []
    plain: list[str] = []

    def end_plain() -> None:
        if any(line.strip() for line in plain):
            whole = html.escape("\n".join(plain).strip("\n"))
            parts.append(f"<pre style='font-family:monospace;white-space:pre-wrap'>{whole}</pre>")
        plain.clear()

    lines = said.split("\n")
    place = 0
    while place < len(lines):
        rows = _rows(lines[place:])
        if len(rows) > 1:
            end_plain()
            parts.append(_table(rows))
            place += len(rows)
        else:
            plain.append(lines[place])
            place += 1
    end_plain()
    return "".join(parts)


def _rows(lines: Sequence[str]) -> list[list[str]]:
    """The rows of the table that these lines begin with: one space, and then as many cells as the heading has, two spaces apart."""
    rows: list[list[str]] = []
    for line in lines:
        cells = [cell.strip() for cell in re.split(r" {2,}", line.strip())]
        if not line.startswith(" ") or len(cells) < 2 or (rows and len(cells) != len(rows[0])):
            break
        rows.append(cells)
    return rows


def _table(rows: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row(cells, "td") for cells in rows[1:])
    return f"<table><thead>{row(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"


class Said:
    """What a command found. ``str`` of it is the text that the command prints.

    Attributes
    ----------
    data : object
        The content of the command's JSON: an object, or a list of objects. A report has ``None``.
    """

    def __init__(self, data: Any, said: str) -> None:
        self.data = data
        self._said = said

    def __str__(self) -> str:
        return self._said

    def __repr__(self) -> str:
        return self._said.rstrip("\n")

    def _repr_html_(self) -> str:
        return shown(self._said)


class Result(Said, Mapping[str, Any]):
    """What a command found: a mapping with the content of its JSON, such as ``inspected["jobs"]``. If that is a list, use ``data``."""

    @property
    def _object(self) -> Mapping[str, Any]:
        if isinstance(self.data, dict):
            return self.data
        raise TypeError("this result is a list; use `.data`")

    def __getitem__(self, key: str) -> Any:
        return self._object[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._object)

    def __len__(self) -> int:
        return len(self._object)


class Folder:
    """A folder with tables."""

    def __init__(self, path: StrPath) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self._tables: Tables | None = None

    @property
    def tables(self) -> Tables:
        """The tables by name. Each is read when it is first used."""
        if self._tables is None:
            self._tables = Tables(self.path)
        return self._tables

    def table(self, name: str) -> Table:
        """The table of that name, such as ``jobs`` or ``attempts``."""
        return self.tables[name]

    @property
    def jobs(self) -> Table:
        """The table of jobs."""
        return self.tables["jobs"]

    @property
    def attempts(self) -> Table:
        """The table of attempts."""
        return self.tables["attempts"]


class Trace(Folder):
    """A trace: what a cluster did, as tables. :func:`open` and the functions that write a trace return it.

    Attributes
    ----------
    path : str
        Its folder.
    info : dict
        The content of ``trace.json``: sources, numbers of rows, time span, and what was left out.
    """

    def __init__(self, path: StrPath, said: str = "") -> None:
        super().__init__(path)
        self.info: dict[str, Any] = json.loads(_native.trace_info(self.path))
        self._said = said

    def __str__(self) -> str:
        return self._said or repr(self)

    def __repr__(self) -> str:
        rows = ", ".join(f"{count:,} {table}" for table, count in self.info["rows"].items() if count)
        return f"Trace({self.path!r}: {rows})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(table)}</td><td style='text-align:right'>{count:,}</td></tr>"
            for table, count in self.info["rows"].items()
        )
        return f"<p><b>Trace</b> {html.escape(self.path)}</p><table>{rows}</table>"


class Run(Folder):
    """A replay of a trace under a policy, as tables. :func:`open` and :func:`replay` return it.

    Attributes
    ----------
    path : str
        Its folder.
    info : dict
        The content of ``run.json``: the policy, its parameters, the cluster, and what decides the answer.
    summary : dict
        What :func:`replay` printed of it; empty if it was opened from its folder.
    """

    def __init__(self, path: StrPath, summary: Mapping[str, Any] | None = None, keeper: object | None = None) -> None:
        super().__init__(path)
        self._keeper = keeper
        self.info: dict[str, Any] = json.loads(_native.run_info(self.path))
        self.summary: dict[str, Any] = dict(summary or {})

    @property
    def label(self) -> str:
        """The policy with the parameters that were set, such as ``delay:D=12``."""
        return str(self.info["label"])

    @property
    def params(self) -> dict[str, str]:
        """All parameters of the policy with their values."""
        return dict(self.info["params"])

    def metrics(self, *names: str) -> dict[str, float | None]:
        """Compute metrics such as ``"mean(completion)"``. Return them by name; ``None``: not known."""
        values, _ = _native.metrics([self.path], list(names))
        return dict(zip(names, values[0], strict=True))

    def __repr__(self) -> str:
        return f"Run({self.label!r}, {self.path!r})"


class Replays(Said, Sequence[Run]):
    """The runs of a replay, one for each policy, in the order of the policies.

    ``replays[0]`` is the first run, and ``replays["fair"]`` is the run with that label.

    Attributes
    ----------
    runs : list of Run
        The runs.
    """

    def __init__(self, rows: list[dict[str, Any]], said: str, runs: list[Run]) -> None:
        super().__init__(rows, said)
        self.runs = runs

    @overload
    def __getitem__(self, key: int | str) -> Run: ...
    @overload
    def __getitem__(self, key: slice) -> list[Run]: ...
    def __getitem__(self, key: int | str | slice) -> Run | list[Run]:
        if isinstance(key, str):
            for own in self.runs:
                if own.label == key:
                    return own
            raise KeyError(f"expected one of {', '.join(own.label for own in self.runs)}, found `{key}`")
        return self.runs[key]

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def grade(self) -> str:
        """How far the answer can be trusted (``docs/how-sure.md``): the worst grade of what decides it."""
        return str(self.data[0]["grade"]) if self.data else "measured"

    @property
    def validity(self) -> list[dict[str, Any]]:
        """What decides the answer, and whether each part of it was observed."""
        return list(self.data[0]["validity"]) if self.data else []

    def chart(self, only: str = "cdf_jobs") -> str:
        """Draw a chart of the runs. Return it as SVG. Its name is one of ``docs/reference/charts.md``."""
        with tempfile.TemporaryDirectory(prefix="resched-") as folder:
            options = {"out": os.path.join(folder, "report"), "format": "svg", "only": only}
            run(words("report", [own.path for own in self.runs], options), progress=False)
            return _first_svg(os.path.join(folder, "report"))

    def _repr_html_(self) -> str:
        return shown(self._said) + (self.chart() if len(self.runs) <= _MOST_DRAWN else "")


_MOST_DRAWN = 8


class _Kept:
    """A folder that goes when nothing needs it any more."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="resched-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _first_svg(folder: str) -> str:
    for at, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(".svg"):
                with open(os.path.join(at, name), encoding="utf-8") as file:
                    return file.read()
    return ""


class Report(Said):
    """A report: a folder with charts, a page and tables.

    Attributes
    ----------
    path : str
        Its folder.
    """

    def __init__(self, path: StrPath, said: str) -> None:
        super().__init__(None, said)
        self.path = os.path.abspath(os.fspath(path))

    @property
    def files(self) -> list[str]:
        """The paths of all files of the report."""
        found = [os.path.join(at, name) for at, _, names in os.walk(self.path) for name in names]
        return sorted(found)


Source: TypeAlias = str | os.PathLike[str] | Trace | Run
"""A trace or a run, or the path of its folder. Some functions also take the path of a workload file."""


def _parsed(printed: str) -> Any:
    """JSON: one value, or one on each line."""
    try:
        return json.loads(printed)
    except json.JSONDecodeError:
        return [json.loads(line) for line in printed.splitlines()]


def _asked(command: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that differ from their defaults: to name one that matters only beside another one would be an error."""
    function = getattr(importlib.import_module("resched._commands"), command)
    usual = inspect.signature(function).parameters
    return {name: value for name, value in _normal(options).items() if name == "out" or value != usual[name].default}


def _normal(options: dict[str, Any]) -> dict[str, Any]:
    """Iterables as lists, so that a generator is read once."""
    return {
        name: listed(value) if isinstance(value, Iterable) and not isinstance(value, (str, Policy, Trace, Run)) else value
        for name, value in options.items()
    }


def made_result(command: str, places: list[Any], options: dict[str, Any], progress: bool | Progress) -> Result:
    """Carry out a command and return what it found."""
    printed, said = run(words(command, places, {**_asked(command, options), "json": True}), progress)
    return Result(_parsed(printed), said)


def made_trace(command: str, places: list[Any], options: dict[str, Any], progress: bool | Progress) -> Trace:
    """Carry out a command that writes a trace, and open that."""
    asked = _asked(command, options)
    if command == "anonymise":
        printed, said = run(words(command, places, asked), progress)
        return Trace(asked["out"], said or printed)
    printed, said = run(words(command, places, {**asked, "json": True}), progress)
    return Trace(asked["out"], said)


def made_report(command: str, places: list[Any], options: dict[str, Any], progress: bool | Progress) -> Report:
    """Carry out a command that writes a report."""
    printed, _ = run(words(command, places, _asked(command, options)), progress)
    return Report(options["out"], printed)


def made_replays(command: str, places: list[Any], options: dict[str, Any], progress: bool | Progress) -> Replays:
    """Replay, into a folder of its own if none is named."""
    keeper = None
    asked = _asked(command, options)
    if asked["out"] is None:
        keeper = _Kept()
        asked["out"] = os.path.join(keeper.path, "runs")
    printed, said = run(words(command, places, {**asked, "json": True}), progress)
    rows = [json.loads(line) for line in printed.splitlines()]
    # A folder may hold runs of earlier calls, too.
    known = [Run(text(folder), keeper=keeper) for folder in _native.runs_in(asked["out"])]
    return Replays(rows, said, [_run_of(row, known) for row in rows])


def _run_of(row: dict[str, Any], known: list[Run]) -> Run:
    for own in known:
        if (own.info["policy"], own.info["params"]) == (row["policy"], row["params"]):
            own.summary = row
            return own
    raise LookupError(f"the run of {row['policy']} is not in its folder")
