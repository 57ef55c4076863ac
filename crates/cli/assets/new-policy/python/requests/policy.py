"""A policy for tasks that request processor and memory, as in the list of jobs of a batch system."""

import numpy as np
import resched


class MyPolicy(resched.BatchPolicy):
    """The task with the shortest estimate starts first. Tasks of jobs that are old come before, in the order of their submission."""

    patience = resched.Int(3600, low=0, high=100_000_000, unit="s", meaning="how long after its submission a job is old")

    def decide(self, now, free, jobs):
        """Choose the rows to start. The engine calls this when something has changed and tasks wait.

        It gets all that wait as arrays. The method ``schedule`` gets them one by one, which is slower if many wait.
        """
        old = now - jobs.submit >= self.patience * 1000
        # By the last key first: equal tasks keep the order of their submission.
        order = np.lexsort((np.where(old, jobs.submit, jobs.estimate), ~old))
        # The sums only grow, so the first task without room blocks all behind it.
        return order[(np.cumsum(jobs.cpu[order]) <= free[0]) & (np.cumsum(jobs.memory[order]) <= free[1])]
