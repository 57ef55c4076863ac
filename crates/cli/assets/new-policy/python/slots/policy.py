"""A policy for the slots of MapReduce 1."""

import resched


class MyPolicy(resched.HadoopPolicy):
    """A free slot goes to the job with the fewest tasks left to launch. Jobs that are old go first, in the order of their submission."""

    patience = resched.Int(300, low=0, high=1_000_000, unit="s", meaning="how long after its submission a job is old")

    def heartbeat(self, offer):
        """Launch the tasks that the node should run. The engine calls this when a node with a free slot reports."""
        for kind in ("map", "reduce"):
            for job in sorted(offer.jobs, key=lambda job: self.place(offer, job, kind)):
                while offer.free(kind) > 0 and launch(offer, job, kind):
                    pass

    def place(self, offer, job, kind):
        """Return the place of a job in the line: the lowest goes first. It ends with the job, so that no two places are equal."""
        submitted = offer.submit(job)
        if offer.now - submitted >= self.patience * 1000:
            return (0, submitted, job)
        return (1, offer.waiting(job, kind), job)


def launch(offer, job, kind):
    """Launch a task of a job; a map starts as near to its data as possible. Return whether there was a task."""
    return offer.launch_map(job) is not None if kind == "map" else offer.launch_reduce(job)
