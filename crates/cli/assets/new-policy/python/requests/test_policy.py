"""Tests of the policy: run ``pytest``."""

import resched
from policy import MyPolicy

# In the Standard Workload Format: number, submission, -, run time, processors, -, -, processors, estimate, … Times are seconds.
# Four processors: the first job takes all of them, and then a long one and a short one wait.
JOBS = """\
; MaxProcs: 4
; UnixStartTime: 1700000000
1 0 -1 60 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1
2 1 -1 600 4 -1 -1 4 600 -1 1 1 1 1 1 -1 -1 -1
3 2 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1
"""


def mean_waiting(folder, policy):
    """Replay the jobs, with every rule of the engine checked."""
    jobs = folder / "jobs.swf"
    jobs.write_text(JOBS)
    trace = resched.ingest(jobs, out=folder / "trace", force=True)
    (run,) = resched.replay(trace, policy=policy, robust="off", check=True)
    assert run.summary["jobs_finished"] == 3
    return run.summary["mean_waiting_ms"]


def test_the_short_job_goes_first(tmp_path):
    # The short job waits for 58 s, and the long one for 69 s.
    assert mean_waiting(tmp_path, MyPolicy) == (0 + 69_000 + 58_000) / 3


def test_an_old_job_goes_first(tmp_path):
    assert mean_waiting(tmp_path, MyPolicy(patience=0)) == mean_waiting(tmp_path, "fifo")
