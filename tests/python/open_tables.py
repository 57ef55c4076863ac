"""Opens every table of a trace with another library, and checks its rows against the trace's manifest.

    python tests/python/open_tables.py TRACE [polars|duckdb]

Needs `pip install polars` or `pip install duckdb`; without a choice, polars is used, or duckdb if polars is missing.
Every row and column is decoded. Exit status: 0 all tables agree, 1 one does not, 2 the request was wrong.
"""

import importlib
import json
import sys
from pathlib import Path

TABLES = ["jobs", "tasks", "attempts", "splits", "nodes", "counters"]


def rows_by_polars(polars, path):
    return polars.read_parquet(path).height


def rows_by_duckdb(duckdb, path):
    cursor = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(path)])
    rows = 0
    while batch := cursor.fetchmany(10_000):
        rows += len(batch)
    return rows


READERS = {"polars": rows_by_polars, "duckdb": rows_by_duckdb}


def wrong_request(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def find_library(names):
    """The first of the libraries that can be imported, with its name."""
    for name in names:
        try:
            return name, importlib.import_module(name)
        except ImportError:
            continue
    wrong_request(f"cannot import {' or '.join(names)}; install one, as with `pip install {names[0]}`")


def expected_rows(trace):
    """The rows of each table as `trace.json` has them."""
    manifest = trace / "trace.json"
    try:
        rows = json.loads(manifest.read_text(encoding="utf-8"))["rows"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        wrong_request(f"{manifest}: expected the manifest of a trace ({error!r}); make one with `resched ingest`")
    if not isinstance(rows, dict) or sorted(rows) != sorted(TABLES):
        wrong_request(f"{manifest}: expected rows of the tables {', '.join(TABLES)}, found {rows!r}")
    return rows


def check(trace, expected, name, library):
    """Prints the rows of each table; returns whether all are as expected."""
    agree = True
    for table in TABLES:
        path = trace / f"{table}.parquet"
        if not path.exists():
            # A table of a large trace is a folder of parts.
            path = trace / table / "part-*.parquet"
        try:
            rows = READERS[name](library, path)
        except Exception as error:  # Each library has its own for a file that it cannot read.
            print(f"{table:<9} {name} cannot read {path}: {error}")
            agree = False
            continue
        same = rows == expected[table]
        print(f"{table:<9} {rows:>10} rows" + ("" if same else f", but trace.json says {expected[table]}"))
        agree &= same
    return agree


def main(arguments):
    if len(arguments) not in (1, 2) or (len(arguments) == 2 and arguments[1] not in READERS):
        wrong_request("usage: open_tables.py TRACE [polars|duckdb]")
    trace = Path(arguments[0])
    expected = expected_rows(trace)
    name, library = find_library(arguments[1:] or list(READERS))
    print(f"{trace}: opened with {name} {library.__version__}")
    return 0 if check(trace, expected, name, library) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
