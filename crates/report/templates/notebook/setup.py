import json
from pathlib import Path

import polars as pl

try:
    # The package checks each table against the list of its run, and shares its memory.
    import resched
except ModuleNotFoundError:
    resched = None

# The tables must be those of this report: jobs of different traces may have the same ids.
report = json.loads(Path("report.json").read_text())
found = sorted({run["trace"]["sha256"] for run in report["runs"] if run["trace"]})
if found != TRACE:
    raise SystemExit(f"report.json: expected a report about the trace {TRACE}, found {found}; run the notebook in its own folder")

# A row for each run and job. Numbers are over the jobs that count; waits are over those that started, whatever became of them.
jobs = pl.read_parquet("jobs.parquet")
counted = jobs.filter(pl.col("standing") == "counts").sort("submit", "job_id")
started = jobs.filter(pl.col("started")).sort("submit", "job_id")

# The units of times, the longest first: name, length in ms.
UNITS = [("h", 3_600_000), ("min", 60_000), ("s", 1_000)]


def readable(numbers):
    """A table to be read: its times in the unit that suits their column, and other numbers rounded."""
    columns = []
    for name in numbers.columns:
        column = numbers[name]
        if name.endswith("_ms"):
            middle = column.filter(column > 0).median() or 0
            unit, length = next(own for own in UNITS if middle >= 2 * own[1] or own == UNITS[-1])
            column = (column / length).round(2).alias(f"{name.removesuffix('_ms')} ({unit})")
        elif column.dtype.is_float():
            column = column.round(3)
        columns.append(column)
    return pl.DataFrame(columns)


def table(label, name, columns=None):
    """A table of a run, which is a file or, if it is large, a folder of files."""
    if resched is not None:
        found = resched.open(RUNS[label]).tables[name].to_polars()
        return found if columns is None else found.select(columns)
    path = Path(RUNS[label]) / name
    return pl.read_parquet(path / "*.parquet" if path.is_dir() else path.with_name(f"{name}.parquet"), columns=columns)


def of_run(label):
    """The jobs of a run that count, in order of submission."""
    return counted.filter(pl.col("run") == label)
