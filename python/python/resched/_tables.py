"""Tables that any data frame library takes without a copy."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_SHOWN = 10


class Table:
    """A table in memory, which data frame libraries take without a copy.

    ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and ``duckdb.sql("SELECT … FROM table")`` read it through the Arrow PyCapsule
    interface. Times are whole milliseconds. ``len(table)`` is the number of its rows.
    """

    def __init__(self, raw: _native.RawTable) -> None:
        self._raw = raw

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the table to another library, as a new stream of Arrow."""
        return self._raw.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Give the schema of the table to another library."""
        return self._raw.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._raw)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._raw.column_names

    def to_polars(self) -> polars.DataFrame:
        """Make a data frame of polars, which shares the memory of the table."""
        frame: polars.DataFrame = _module("polars").DataFrame(self)
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """Make a table of pyarrow, which shares the memory of the table."""
        table: pyarrow.Table = _module("pyarrow").table(self)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Make a data frame of pandas with Arrow's types: whole numbers stay whole numbers, also if values are missing."""
        pandas = _module("pandas")
        return self.to_arrow().to_pandas(types_mapper=pandas.ArrowDtype)

    def __repr__(self) -> str:
        return f"Table({len(self):,} rows: {', '.join(self.column_names)})"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.column_names)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._raw.head(_SHOWN))
        more = len(self) - _SHOWN
        below = f"<p>{more:,} more rows</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{below}"


class Tables(Mapping[str, Table]):
    """The tables of a trace or a run by name, such as ``tables["jobs"]``. Each is read when it is first used."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._names = _native.tables(folder)
        self._read: dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        if name not in self._names:
            raise KeyError(f"expected one of {', '.join(self._names)}, found `{name}`")
        if name not in self._read:
            self._read[name] = Table(_native.read(self._folder, name))
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"this needs {name}; install it: pip install {name}") from None
