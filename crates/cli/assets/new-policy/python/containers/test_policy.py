"""Tests of the policy: run ``pytest``."""

import resched
from policy import MyPolicy

# A job with twelve maps, and two seconds later a job with one.
WORKLOAD = """
name = "two-jobs"

[cluster]
nodes = 1
map_slots = 1

[classes.work]
map_mean_s = 10

[[jobs]]
class = "work"
submit_s = 0
maps = 12

[[jobs]]
class = "work"
submit_s = 2
maps = 1
"""

# The machine has room for two application masters and one map.
CLUSTER = """
[containers]
memory_mb = 5120
vcores = 4
"""


def mean_completion(folder, policy):
    """Replay both jobs, with every rule of the engine checked."""
    workload, cluster = folder / "workload.toml", folder / "cluster.toml"
    workload.write_text(WORKLOAD)
    cluster.write_text(CLUSTER)
    (run,) = resched.replay(workload, cluster=cluster, policy=policy, robust="off", check=True)
    assert run.summary["jobs_finished"] == 2
    return run.summary["mean_completion_ms"]


def test_the_small_job_goes_first(tmp_path):
    assert mean_completion(tmp_path, MyPolicy) < mean_completion(tmp_path, "yarn-fifo")


def test_an_old_job_goes_first(tmp_path):
    assert mean_completion(tmp_path, MyPolicy(patience=0)) > mean_completion(tmp_path, MyPolicy)
