import matplotlib.pyplot as plt

# The most points of a line: a picture has no room for more.
MOST_POINTS = 4_000


def running(tasks, zero):
    """How many of these attempts run from each time on. Of many times, the last of each of `MOST_POINTS` cells is kept."""
    changes = (
        pl.concat([
            tasks.select(pl.col("start").alias("time"), pl.lit(1).alias("change")),
            tasks.select(pl.col("finish").alias("time"), pl.lit(-1).alias("change")),
        ])
        .group_by("time").agg(pl.col("change").sum())
        .sort("time")
        .select(pl.col("time") - zero, running=pl.col("change").cum_sum())
    )
    if changes.height > MOST_POINTS:
        cell = pl.col("time") * MOST_POINTS // pl.col("time").max()
        changes = changes.group_by(cell.alias("cell"), maintain_order=True).agg(pl.col("time", "running").last())
    return changes


shown = {policy: runs[0] for policy, runs in POLICIES.items()}
figure, panels = plt.subplots(len(shown), 2, sharex=True, squeeze=False, figsize=(10, 2.5 * len(shown)))
for row, (policy, label) in zip(panels, shown.items()):
    own = of_run(label)
    attempts = table(label, "attempts", ["job_id", "kind", "start", "finish"]).join(own.select("job_id"), on="job_id", how="semi")
    for panel, kind in zip(row, ["map", "reduce"]):
        line = running(attempts.filter(pl.col("kind") == kind).drop_nulls(["start", "finish"]), own["submit"].min())
        panel.step((line["time"] / 60e3).to_numpy(), line["running"].to_numpy(), where="post")
        panel.set(title=policy, ylabel=f"Running {kind}s")
for panel in panels[-1]:
    panel.set_xlabel("Time (min)")
figure.tight_layout()
