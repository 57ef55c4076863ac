"""Policies of the registry in Python, which a test compares with the originals byte for byte, and some of our own."""

from __future__ import annotations

import bisect
import math

from resched import BatchPolicy, Bool, Float, HadoopPolicy, Int

KINDS = ("map", "reduce")
URGENCY = {"VERY_HIGH": 0, "HIGH": 1, "NORMAL": 2, "LOW": 3, "VERY_LOW": 4}


class Fifo(HadoopPolicy):
    """Hadoop's FIFO scheduler, `JobQueueTaskScheduler` of MapReduce 1."""

    pad_fraction = Float(0.01, low=0, high=1, meaning="share of the needed slots that is kept free")
    min_cluster = Int(3, low=0, high=1_000_000, meaning="on a cluster of this many nodes or fewer, no slot is kept free")

    def begin(self):
        self.queue = []

    def job_submitted(self, job, view):
        bisect.insort(self.queue, (URGENCY[view.priority(job)], view.submit(job), job))

    def job_finished(self, job, view):
        self.queue = [entry for entry in self.queue if entry[2] != job]

    def heartbeat(self, offer):
        if offer.free("map") > 0:
            self.launch_maps(offer)
        if offer.free("reduce") > 0:
            self.launch_reduce(offer)

    def launch_maps(self, offer):
        available = self.available("map", offer)
        exceeded = available > 0 and self.padding_exceeded("map", offer)
        for _ in range(available):
            near = self.launch_one_map(offer)
            if near is None:
                return
            if not near or exceeded:
                return

    def launch_one_map(self, offer):
        for _, _, job in self.queue:
            if offer.ready(job, "map") == 0:
                continue
            if offer.launch_map(job, "rack") is not None:
                return True
            if offer.launch_map(job, "off-rack") is not None:
                return False
        return None

    def launch_reduce(self, offer):
        if self.available("reduce", offer) == 0:
            return
        if self.padding_exceeded("reduce", offer):
            for _, _, job in self.queue:
                if offer.desired(job, "reduce") > 0:
                    if not offer.launch_reduce(job):
                        for _, _, other in self.queue:
                            if other != job:
                                offer.pass_over(other, "reduce", "reserve", job)
                    return
            return
        for _, _, job in self.queue:
            if offer.ready(job, "reduce") > 0 and offer.launch_reduce(job):
                return

    def available(self, kind, offer):
        slots = offer.node_slots(offer.node, kind)
        load = offer.all_remaining(kind) / max(offer.slots(kind), 1)
        return max(0, int(min(math.ceil(load * slots), slots)) - offer.reported(kind))

    def padding_exceeded(self, kind, offer):
        needed = offer.desired_with_reduces(kind)
        padding = 0
        if offer.live_nodes > self.min_cluster:
            padding = min(int(needed * self.pad_fraction), offer.node_slots(offer.node, kind))
        return needed > 0 and offer.all_reported(kind) + padding >= offer.slots(kind)


class NaiveFair(HadoopPolicy):
    """Naive fair sharing: Algorithm 1 of the delay scheduling paper."""

    def heartbeat(self, offer):
        for kind in KINDS:
            self.launch(offer, kind)

    def launch(self, offer, kind):
        while offer.free(kind) > 0 and offer.all_ready(kind) > 0:
            for job in self.order(offer, kind):
                if offer.ready(job, kind) > 0 and launched(offer, job, kind):
                    break
            else:
                return

    def order(self, offer, kind):
        return sorted(offer.jobs, key=lambda job: offer.running(job, kind))


def launched(offer, job, kind):
    return offer.launch_map(job) is not None if kind == "map" else offer.launch_reduce(job)


class Delay(NaiveFair):
    """Fair sharing with delay scheduling, by skip count: Algorithm 2 of the delay scheduling paper."""

    D = Int(24, low=0, high=1_000_000_000, unit="heartbeats", meaning="skips after which a job may launch elsewhere")

    def begin(self):
        self.skips = {}
        self.counted = {}
        self.heartbeats = 0

    def heartbeat(self, offer):
        self.heartbeats += 1
        while offer.free("map") > 0 and offer.all_ready("map") > 0 and self.delayed_map(offer):
            pass
        self.launch(offer, "reduce")

    def delayed_map(self, offer):
        for job in self.order(offer, "map"):
            if offer.ready(job, "map") == 0:
                continue
            anywhere = self.skips.get(job, 0) >= self.D or offer.has_unplaced_maps(job)
            level = offer.launch_map(job, "any" if anywhere else "node")
            if level == "node":
                self.skips[job] = 0
            if level is not None:
                return True
            if not anywhere and self.counted.get(job, 0) < self.heartbeats:
                self.skips[job] = self.skips.get(job, 0) + 1
                self.counted[job] = self.heartbeats
        return False


class Easy(BatchPolicy):
    """EASY backfilling: later tasks start early if that does not delay the first waiting task."""

    priority = Bool(False, meaning="tasks of jobs with a higher priority come first")
    depth = Int(500, low=1, high=1_000_000_000, meaning="how many tasks behind the first are looked at")

    def begin(self):
        self.queue = []
        self.ends = {}

    def task_waits(self, task, view):
        urgency = -view.priority(view.job_of(task)) if self.priority else 0
        place = (urgency, task)
        at = bisect.bisect_left(self.queue, place)
        if at == len(self.queue) or self.queue[at] != place:
            self.queue.insert(at, place)

    def task_finished(self, ended, view):
        self.ends.pop(ended.run, None)

    def schedule(self, offer):
        while self.queue:
            task = self.queue[0][1]
            while offer.waiting(task) > 0 and self.start(task, offer):
                pass
            if offer.waiting(task) > 0:
                self.backfill(task, offer)
                return
            del self.queue[0]

    def start(self, task, offer):
        end = offer.now + offer.estimate(task)
        if offer.start(task, 1) == 0:
            return False
        self.ends[offer.latest[0]] = (end, offer.unit(task))
        return True

    def backfill(self, first, offer):
        shadow, extra = self.promise(first, offer)
        done = []
        for place in self.queue[1 : 1 + self.depth]:
            task = place[1]
            while offer.waiting(task) > 0:
                end, unit = offer.now + offer.estimate(task), offer.unit(task)
                if not (end <= shadow or holds(extra, unit)):
                    offer.pass_over(task, "backfill", offer.job_of(first))
                    break
                if not self.start(task, offer):
                    break
                if end > shadow:
                    extra = tuple(own - taken for own, taken in zip(extra, unit))
            if offer.waiting(task) == 0:
                done.append(place)
        self.queue = [place for place in self.queue if place not in set(done)]

    def promise(self, first, offer):
        need, free, shadow = offer.unit(first), offer.free, None
        ends = sorted((end, run, unit) for run, (end, unit) in self.ends.items())
        for end, _, unit in ends:
            end = max(end, offer.now + 1)
            if shadow is not None and end > shadow:
                break
            free = tuple(own + given for own, given in zip(free, unit))
            if holds(free, need):
                shadow = end
        if shadow is None:
            return 2**62, (0, 0)
        return shadow, tuple(own - taken for own, taken in zip(free, need))


def holds(resources, demand):
    return all(own >= asked for own, asked in zip(resources, demand))


class ArrayFifo(BatchPolicy):
    """First come, first served, on arrays."""

    def decide(self, now, free, jobs):
        return int(jobs.cum_cpu.searchsorted(jobs.base_cpu + free[0], side="right")) or 1


class YarnFifo(HadoopPolicy):
    """YARN's FIFO scheduler."""

    system = "yarn"
    calculator = "memory"

    def heartbeat(self, offer):
        for job in offer.jobs:
            for ask in ("am", "failed-map", "reduce", "map"):
                if offer.asked(job, ask) > 0 and not self.serve(offer, job, ask):
                    break
            if not offer.has_room(offer.node):
                break

    def serve(self, offer, job, ask):
        served = False
        while offer.fits(ask) and (near := offer.nearest(job, ask)) is not None:
            offer.grant(job, ask, near)
            served = True
        return served


class Keeper(YarnFifo):
    """Keeps a full node for the first request that does not fit, and overrides all that YARN asks."""

    heard: dict[str, int] = {}

    def begin(self):
        Keeper.heard = {"kept": 0, "given up": 0, "headroom": 0, "running": 0, "completed": 0, "may use": 0}

    def heartbeat(self, offer):
        kept = offer.reservation(offer.node)
        if kept is not None:
            job, ask = kept
            assert offer.reserved(job, ask) >= 1
            if not offer.fits(ask):
                return
            offer.unreserve()
            self.heard["given up"] += 1
        super().heartbeat(offer)
        for job in offer.jobs:
            for ask in ("am", "failed-map", "reduce", "map"):
                if offer.asked(job, ask) > 0 and not offer.fits(ask):
                    offer.reserve(job, ask)
                    self.heard["kept"] += 1
                    return

    def headroom(self, job, view):
        self.heard["headroom"] += 1
        cores, memory = view.held(job)
        assert cores >= 0 and view.master(job) in ("waiting", "allocated", "running")
        return max(view.total[1] - memory, 0)

    def container_changed(self, container, view):
        self.heard[container.state] += 1
        assert (container.task is None) == (container.kind is None)
        assert container.size == view.demand("am" if container.task is None else container.kind)

    def may_use(self, node, view):
        self.heard["may use"] += 1
        return view.reservation(node) is not None or view.has_room(node)


class AnyMap(Fifo):
    """Starts a map far from its input or not, by chance."""

    chance = Float(0.5, low=0, high=1, meaning="the chance that a map may run anywhere")

    def restless(self, view):
        return True

    def heartbeat(self, offer):
        for job in offer.jobs:
            reach = "any" if offer.random("reach", job, offer.node, offer.now) < self.chance else "node"
            while offer.free("map") > 0 and offer.launch_map(job, reach):
                pass
            while offer.free("reduce") > 0 and offer.launch_reduce(job):
                pass


class Shuffled(BatchPolicy):
    """Starts what fits in an order that is drawn."""

    draws = True

    def begin(self):
        self.tasks = []

    def task_waits(self, task, view):
        if task not in self.tasks:
            self.tasks.append(task)

    def schedule(self, offer):
        self.tasks = [task for task in self.tasks if offer.waiting(task)]
        for task in sorted(self.tasks, key=lambda task: offer.random("order", task, offer.now)):
            offer.start(task)
