pl.concat(
    job_times(label)
    .filter(pl.col("outcome").is_in(["SUCCESS", "UNKNOWN"]))
    .select(
        pl.lit(label).alias("run"),
        pl.len().alias("jobs"),
        ((pl.col("finish").max() - pl.col("submit").min()) / 60e3).alias("makespan, min"),
        (pl.col("completion").mean() / 60e3).alias("mean completion, min"),
        (pl.col("completion").median() / 60e3).alias("median completion, min"),
        (pl.col("waiting").mean() / 60e3).alias("mean waiting, min"),
    )
    for label in RUNS
)
