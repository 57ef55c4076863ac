"""A policy for the containers of YARN."""

import resched


class MyPolicy(resched.HadoopPolicy):
    """Room goes to the job that asks for the fewest containers. Jobs that are old go first, in the order of their submission."""

    system = "yarn"
    patience = resched.Int(300, low=0, high=1_000_000, unit="s", meaning="how long after its submission a job is old")

    def heartbeat(self, offer):
        """Grant the containers that the node should run. The engine calls this when a node with room reports."""
        for job in sorted(offer.jobs, key=lambda job: self.place(offer, job)):
            # The requests of a job are served in this order: a later one waits while an earlier one gets nothing.
            for ask in ASKS:
                if offer.asked(job, ask) > 0 and not grant(offer, job, ask):
                    break
            if not offer.has_room(offer.node):
                break

    def place(self, offer, job):
        """Return the place of a job in the line: the lowest goes first. It ends with the job, so that no two places are equal."""
        submitted = offer.submit(job)
        if offer.now - submitted >= self.patience * 1000:
            return (0, submitted, job)
        return (1, sum(offer.asked(job, ask) for ask in ASKS), job)


# For the application master, for maps that failed before, for reduces, and for maps.
ASKS = ("am", "failed-map", "reduce", "map")


def grant(offer, job, ask):
    """Grant as many containers of this kind as fit, each as near to its data as possible. Return whether there was one."""
    granted = False
    while offer.fits(ask) and (near := offer.nearest(job, ask)) is not None:
        offer.grant(job, ask, near)
        granted = True
    return granted
