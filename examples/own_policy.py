# %% [markdown]
# # Your own scheduler
#
# A policy is a class. The engine calls `heartbeat` when a node with a free slot reports, with a view of the cluster that hides the future.

# %%
import os
from pathlib import Path

import resched

while not Path("traces").is_dir():  # the bundled files are in the root of the repository
    os.chdir("..")


class SmallestJob(resched.HadoopPolicy):
    """A free slot goes to the job with the fewest tasks left; a job that has waited too long goes first."""

    patience = resched.Int(120_000, low=0, high=86_400_000, unit="ms", meaning="how long a job lets smaller ones pass")

    def heartbeat(self, offer):
        for kind in ("map", "reduce"):
            for job in self.order(offer, kind):
                while offer.free(kind) > 0 and self.launch(offer, job, kind):
                    pass

    def order(self, offer, kind):
        """Who has waited too long, by arrival; then the others, by what they have left."""

        def key(job):
            late = offer.now - offer.submit(job) > self.patience
            return (0, job) if late else (1, offer.waiting(job, kind), job)

        return sorted(offer.jobs, key=key)

    def launch(self, offer, job, kind):
        return offer.launch_map(job) is not None if kind == "map" else offer.launch_reduce(job)


# %% [markdown]
# It stands beside those of the registry, with its parameters. `patience` takes any value in its range, and lists of them.

# %%
runs = resched.replay(
    "traces/sample-history.toml",
    policy=["fifo", "fair", SmallestJob(patience=0), SmallestJob, SmallestJob(patience=600_000)],
)
runs

# %% [markdown]
# A policy that asks for what is not allowed gets an error that names the instant, the job and the node.


# %%
class Greedy(SmallestJob):
    """Launches more than fits."""

    def heartbeat(self, offer):
        for job in offer.jobs:
            while (task := offer.find_map(job)) is not None:
                offer.launch(task)


try:
    resched.replay("traces/sample-history.toml", policy=Greedy)
except resched.PolicyViolation as error:
    print(error)

# %% [markdown]
# For production traces there is `BatchPolicy`, whose `decide` works on arrays: this one starts what needs the least processor time.

# %%
import numpy as np


class LeastWork(resched.BatchPolicy):
    """Starts the tasks with the least processor × estimated time first, as many as fit."""

    def decide(self, now, free, jobs):
        order = np.argsort(jobs.cpu * jobs.estimate, kind="stable")
        return order[np.cumsum(jobs.cpu[order]) <= free[0]]


resched.replay("traces/sample-history.toml", policy=["batch-fifo", "easy", LeastWork])
