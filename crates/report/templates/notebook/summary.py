hours = (pl.col("finish").max() - pl.col("submit").min()) / 3_600e3
summary = counted.group_by("run", maintain_order=True).agg(
    jobs_counted=pl.len(),
    makespan_ms=pl.col("finish").max() - pl.col("submit").min(),
    mean_completion_ms=pl.col("completion").mean(),
    median_completion_ms=pl.col("completion").median(),
    p95_completion_ms=pl.col("completion").quantile(0.95, "linear"),
    mean_waiting_ms=pl.col("waiting").mean(),
    p95_waiting_ms=pl.col("waiting").quantile(0.95, "linear"),
    mean_slowdown=pl.col("slowdown").mean(),
    jobs_per_hour=pl.when(hours > 0).then(pl.len() / hours),
    tasks=pl.col("tasks_done").sum(),
)
summary
