from pathlib import Path

import polars as pl

# A row for each run and job. Only the jobs that count are in any number of the report.
jobs = pl.read_parquet("jobs.parquet")
counted = jobs.filter(pl.col("standing") == "counts").sort("submit", "job_id")


def table(label, name, columns=None):
    """A table of a run, which is a file or, if it is large, a folder of files."""
    path = Path(RUNS[label]) / name
    return pl.read_parquet(path / "*.parquet" if path.is_dir() else path.with_name(f"{name}.parquet"), columns=columns)


def of_run(label):
    """The jobs of a run that count, in order of submission."""
    return counted.filter(pl.col("run") == label)
