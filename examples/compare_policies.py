# %% [markdown]
# # What would another scheduler have done?
#
# A history of 15 jobs on 12 nodes comes with resched. We ingest it, replay it under four schedulers, and ask who gains and who loses.

# %%
import os
import tempfile
from pathlib import Path

import polars as pl
import resched

while not Path("traces").is_dir():  # the bundled files are in the root of the repository
    os.chdir("..")
folder = Path(tempfile.mkdtemp())
trace = resched.ingest("traces/sample-history", out=folder / "T")
trace

# %% [markdown]
# A table goes to a data frame without a copy. Times are milliseconds.

# %%
trace.jobs.to_polars().select("job_id", "user", "queue", "submit", "finish").head(5)

# %% [markdown]
# The replay. `str` of the result is what the command prints; in a notebook it comes with a chart. Below the table stands whether the answer
# keeps its sign under what the history leaves open.

# %%
runs = resched.replay(trace, policy=["fifo", "naive-fair", "delay:D=12", "fair"], assume=True, by="user")
runs

# %% [markdown]
# Metrics are computed on the jobs that count in all runs.

# %%
found = resched.compare(runs, ["mean(completion)", "p95(completion)", "mean(waiting)", "node_locality"])
pl.DataFrame(found.columns())

# %% [markdown]
# Who gains and who loses from FIFO to fair sharing, with a test of the difference:

# %%
resched.diff(runs["fifo"], runs["fair"])

# %% [markdown]
# Why did jobs wait?

# %%
resched.explain(runs["fifo"], user="bob")

# %% [markdown]
# Your own question is a query: the mean completion of each user under each policy, in seconds.

# %%
jobs = pl.concat([run.jobs.to_polars().with_columns(policy=pl.lit(run.label)) for run in runs])
(
    jobs.with_columns(completion=(pl.col("finish") - pl.col("submit")) / 1_000)
    .group_by("policy", "user", maintain_order=True)
    .agg(pl.col("completion").mean().round(1))
    .pivot("policy", index="user", values="completion")
)
