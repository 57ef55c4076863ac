import matplotlib.pyplot as plt

shown = {policy: runs[0] for policy, runs in POLICIES.items()}
figure, panels = plt.subplots(len(shown), 2, sharex=True, squeeze=False, figsize=(10, 2.5 * len(shown)))
for row, (policy, label) in zip(panels, shown.items()):
    own = of_run(label)
    zero = own["submit"].min()
    attempts = table(label, "attempts").join(own.select("job_id"), on="job_id", how="semi")
    for panel, kind in zip(row, ["map", "reduce"]):
        tasks = attempts.filter(pl.col("kind") == kind).drop_nulls(["start", "finish"])
        changes = (
            pl.concat([
                tasks.select(pl.col("start").alias("time"), pl.lit(1).alias("change")),
                tasks.select(pl.col("finish").alias("time"), pl.lit(-1).alias("change")),
            ])
            .group_by("time").agg(pl.col("change").sum())
            .sort("time")
            .with_columns(running=pl.col("change").cum_sum())
        )
        panel.step((changes["time"] - zero) / 60e3, changes["running"], where="post")
        panel.set(title=policy, ylabel=f"Running {kind}s")
for panel in panels[-1]:
    panel.set_xlabel("Time (min)")
figure.tight_layout()
