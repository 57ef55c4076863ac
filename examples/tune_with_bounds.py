# %% [markdown]
# # Tune a parameter, with bounds
#
# How long should delay scheduling wait for a local slot? A sweep replays each value on several seeds; `tune` looks for the best one by
# halving; `size` says how small the cluster may be.

# %%
import os
import tempfile
from pathlib import Path

import polars as pl
import resched

while not Path("traces").is_dir():  # the bundled files are in the root of the repository
    os.chdir("..")
folder = Path(tempfile.mkdtemp())
(folder / "sweep.toml").write_text(f"""
name = "delay"
workload = "{Path("traces/sample-history.toml").resolve()}"
seeds = 5
baseline = "naive"
metric = "mean_completion"
second = "node_locality"

[variants.naive]
policy = "naive-fair"

[variants.delay]
D = [0, 4, 8, 12, 24, 48]
""")
swept = resched.sweep(folder / "sweep.toml", out=folder / "S")
swept

# %% [markdown]
# The means with their 95 % intervals, as a table of your own:

# %%
pl.read_csv(folder / "S" / "summary.csv")

# %% [markdown]
# How many nodes keep the mean completion below three minutes under the best value?

# %%
resched.size(
    "traces/sample-history.toml",
    policy="delay:D=12",
    metric="mean(completion)",
    below="3min",
    seeds=3,
    out=folder / "Z",
)
