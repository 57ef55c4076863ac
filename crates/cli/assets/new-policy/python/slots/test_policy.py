"""Tests of the policy: run ``pytest``."""

import resched
from policy import MyPolicy

# On one machine with one slot: a job with eight maps, and two seconds later a job with one.
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
maps = 8

[[jobs]]
class = "work"
submit_s = 2
maps = 1
"""


def mean_completion(folder, policy):
    """Replay both jobs, with every rule of the engine checked."""
    workload = folder / "workload.toml"
    workload.write_text(WORKLOAD)
    (run,) = resched.replay(workload, policy=policy, robust="off", check=True)
    assert run.summary["jobs_finished"] == 2
    return run.summary["mean_completion_ms"]


def test_the_small_job_goes_first(tmp_path):
    assert mean_completion(tmp_path, MyPolicy) < mean_completion(tmp_path, "fifo")


def test_an_old_job_goes_first(tmp_path):
    assert mean_completion(tmp_path, MyPolicy(patience=0)) > mean_completion(tmp_path, MyPolicy)
