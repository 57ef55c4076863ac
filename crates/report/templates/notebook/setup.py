from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl

jobs = {label: pl.read_parquet(Path(folder) / "jobs.parquet") for label, folder in RUNS.items()}
attempts = {label: pl.read_parquet(Path(folder) / "attempts.parquet") for label, folder in RUNS.items()}


def job_times(label):
    """Completion and waiting time of each job of a run, in order of submission."""
    tasks = attempts[label].filter(~pl.col("kind").is_in(["setup", "cleanup"]))
    started = tasks.group_by("job_id").agg(pl.col("start").min().alias("first_start"))
    return (
        jobs[label]
        .join(started, on="job_id", how="left")
        .with_columns(
            completion=pl.col("finish") - pl.col("submit"),
            waiting=pl.coalesce("first_start", "launch") - pl.col("submit"),
        )
        .sort("submit", "job_id")
    )
