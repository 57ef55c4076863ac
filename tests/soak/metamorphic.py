"""Changes of a world with a known effect on its schedule. Each relation is a theorem of the model; its comment says why."""

import checker
import replays
import worlds
from harness import Wrong

# Parameters in ms that are multiplied together with all other times. They take the place of defaults that are constants.
TIMES = {
    "fifo": {},
    "naive-fair": {},
    "capacity": {"init_poll": 5000},
    "fair": {"update": 500, "delay_node": 4500, "delay_rack": 4500, "preemption_interval": 15000},
    "yarn-fifo": {},
    "yarn-capacity": {},
    "yarn-fair": {"update": 500, "preemption_interval": 5000, "preemption_wait": 15000},
}
BY = 7


class Part:
    name = "metamorphic"

    def __init__(self, binary):
        self.registry = worlds.Registry(binary)

    def make(self, rng):
        relation = rng.choice(["slower", "renamed", "idle_rack", "later_job", "site", "twice", "same_size", "grown"])
        racks = worlds.hosts(rng)
        own = {"relation": relation, "seed": rng.randrange(1000), "hosts": racks, "jobs": worlds.jobs(rng, racks)}
        own["cluster"] = worlds.cluster(rng, list(racks))
        own["policies"] = [self.registry.draw(rng, self.registry.hadoop())]
        return getattr(self, f"make_{relation}", lambda rng, own: own)(rng, own)

    def judge(self, case, room):
        getattr(self, case["relation"])(case, room)

    def smaller(self, case):
        yield from worlds.smaller_world(case)

    def schedule(self, room, case, name, policies=None, cluster=None, more=()):
        """The rows of a replay of the trace `name`."""
        room.write(f"{name}.toml", worlds.toml(cluster or case["cluster"]))
        chosen = policies or case["policies"]
        options = [part for policy in chosen for part in ("--policy", policy)]
        ran = room.any(
            "replay",
            name,
            *options,
            "--cluster",
            f"{name}.toml",
            "--assume",
            "--robust",
            "off",
            "--seed",
            case["seed"],
            "--threads",
            1,
            "--out",
            f"R-{name}",
            *more,
        )
        replays.check_ended(case, ran)
        (folder,) = [path.parent for path in (room.path / f"R-{name}").glob("*/run.json")]
        return checker.rows(folder, "jobs"), checker.rows(folder, "attempts")

    # ---- all times × 7 ----

    def make_slower(self, rng, own):
        """Draws of phases and jitter do not scale, and means and factors are cut to whole ms: so there are none of these here."""
        own["policies"] = [rng.choice(list(TIMES))]
        cluster = own["cluster"]
        cluster["heartbeat"] |= {"phase": "together", "jitter": 0, "interval": rng.choice([1000, 3000])}
        cluster["cost"] = {"locality": [1.0, 2.0, 4.0], "reduce": "r0"}
        cluster["nodes"].pop("copying_reduces", None)
        cluster["containers"]["hanging_maps"] = 300_000
        only_successes(own["jobs"], multiple_of=4)
        return own

    def slower(self, case, room):
        """No rule of these policies has a constant time that is not a parameter, and all events come at multiples of given times."""
        name = case["policies"][0]
        policy = lambda factor: name + joined({key: value * factor for key, value in TIMES[name].items()})
        worlds.write_jobs(case["jobs"], case["hosts"], room, "plain")
        worlds.write_jobs([slower_job(job) for job in case["jobs"]], case["hosts"], room, "slow")
        plain = self.schedule(room, case, "plain", [policy(1)])
        slow = self.schedule(room, case, "slow", [policy(BY)], slower_cluster(case["cluster"]))
        same_rows("times × 7", scaled(plain, BY), scaled(slow, 1))

    # ---- other names ----

    def make_renamed(self, rng, own):
        """Files of queues name users, so there are none here."""
        return own

    def renamed(self, case, room):
        """Names of jobs are never read. Users and queues are compared in their order only, which the new names keep."""
        renamed = [
            job | {"user": f"u-{job['user']}-x", "queue": f"q-{job['queue']}", "name": f"another {job['number']}"} for job in case["jobs"]
        ]
        worlds.write_jobs(case["jobs"], case["hosts"], room, "plain")
        worlds.write_jobs(renamed, case["hosts"], room, "renamed")
        same_rows("other names", scaled(self.schedule(room, case, "plain"), 1), scaled(self.schedule(room, case, "renamed"), 1))

    # ---- an idle rack more ----

    def make_idle_rack(self, rng, own):
        """One job of maps without cost of distance, for which there are twice as many slots as it needs."""
        own["policies"] = ["fifo"]
        slots = 2 * len(own["hosts"])
        job = own["jobs"][0]
        job |= {"maps": job["maps"][: max(1, slots // 2)], "reduces": [], "setup": False}
        own["jobs"] = [job]
        only_successes(own["jobs"])
        own["cluster"] = {
            "nodes": {"map_slots": 2, "reduce_slots": 1},
            "heartbeat": {"interval": 3000, "phase": "together"},
            "jobs": {"setup": "fixed"},
            "cost": {"locality": [1.0, 1.0, 1.0]},
        }
        return own

    def idle_rack(self, case, room):
        """All maps start at the first heartbeat after the submission, as nodes call together and have more slots than are needed. So they
        end at the same times with any number of further nodes."""
        worlds.write_jobs(case["jobs"], case["hosts"], room, "plain")
        wider = case["hosts"] | {f"z{number}": "idle" for number in range(4)}
        worlds.write_jobs(case["jobs"], wider, room, "wider")
        ends = [
            sorted((row["task_id"], row["start"], row["finish"]) for row in self.schedule(room, case, name)[1])
            for name in ("plain", "wider")
        ]
        if ends[0] != ends[1]:
            raise Wrong("an idle rack changes the ends", f"{[pair for pair in zip(*ends) if pair[0] != pair[1]][:2]}")

    # ---- clones of machines ----

    def same_size(self, case, room):
        """As many machines as the trace has are those of the trace, so nothing changes (docs/cluster-files.md)."""
        worlds.write_jobs(case["jobs"], case["hosts"], room, "T")
        plain = self.schedule(room, case, "T")
        (room.path / "R-T").rename(room.path / "plain")
        nodes = case["cluster"].get("nodes", {}) | {"clones": len(case["hosts"])}
        cloned = self.schedule(room, case, "T", cluster=case["cluster"] | {"nodes": nodes})
        same_rows("as many clones as machines", scaled(plain, 1), scaled(cloned, 1))

    def make_grown(self, rng, own):
        own["more"] = rng.randint(1, 3 * len(own["hosts"]))
        return self.make_idle_rack(rng, own)

    def grown(self, case, room):
        """As an idle rack more, clones more change no end."""
        worlds.write_jobs(case["jobs"], case["hosts"], room, "T")
        nodes = case["cluster"]["nodes"] | {"clones": len(case["hosts"]) + case["more"]}
        ends = []
        for cluster in (case["cluster"], case["cluster"] | {"nodes": nodes}):
            rows = self.schedule(room, case, "T", cluster=cluster)[1]
            ends.append(sorted((row["task_id"], row["start"], row["finish"]) for row in rows))
            (room.path / "R-T").rename(room.path / f"R-{len(ends)}")
        if ends[0] != ends[1]:
            raise Wrong("clones change the ends", f"{[pair for pair in zip(*ends) if pair[0] != pair[1]][:2]}")

    # ---- a job far later ----

    def make_later_job(self, rng, own):
        """A made-up attempt may draw from all jobs of the trace, so each task has a success."""
        only_successes(own["jobs"])
        return own

    def later_job(self, case, room):
        """A policy does not see jobs before they are submitted. So what ends before the submission of a job is the same without it."""
        last = case["jobs"][-1]
        start = max(job["submit"] for job in case["jobs"]) + 40_000
        moved = moved_job(last | {"number": last["number"] + 1}, start)
        worlds.write_jobs(case["jobs"], case["hosts"], room, "plain")
        worlds.write_jobs(case["jobs"] + [moved], case["hosts"], room, "more")
        plain, more = (self.schedule(room, case, name) for name in ("plain", "more"))
        until = start - min(job["submit"] for job in case["jobs"]) + case["cluster"]["jobs"].get("first_submit", 0)
        same_rows("a later job", ended_before(plain, until), ended_before(more, until))

    # ---- queues in another file ----

    def make_site(self, rng, own):
        own["policies"] = [rng.choice(["yarn-fair", "yarn-capacity"])]
        own["queues"] = worlds.queue_files(rng)
        return own

    def site(self, case, room):
        """The files of a site are another way of writing the same queues."""
        (policy,) = case["policies"]
        worlds.write_jobs(case["jobs"], case["hosts"], room, "toml")
        worlds.write_jobs(case["jobs"], case["hosts"], room, "xml")
        room.write("queues.toml", worlds.toml(case["queues"][policy]))
        worlds.write_site(case["queues"], room)
        of_toml = self.schedule(room, case, "toml", [f"{policy}:queues=queues.toml"])
        of_xml = self.schedule(room, case, "xml", more=["--site-conf", "site"])
        same_rows("queues of a site", scaled(of_toml, 1), scaled(of_xml, 1))

    # ---- once more ----

    def twice(self, case, room):
        """The same input gives the same bytes, also with two threads and with several policies at once."""
        worlds.write_jobs(case["jobs"], case["hosts"], room, "T")
        room.write("cluster.toml", worlds.toml(case["cluster"]))
        policies = [part for policy in [*case["policies"], "fifo:min_cluster=2", "fair"] for part in ("--policy", policy)]
        for out, threads in (("one", 1), ("two", 2), ("again", 1)):
            ran = room.any(
                "replay",
                "T",
                *policies,
                "--cluster",
                "cluster.toml",
                "--assume",
                "--seed",
                case["seed"],
                "--threads",
                threads,
                "--robust",
                "off",
                "--decisions",
                "--out",
                out,
            )
            replays.check_ended(case, ran)
        trees = [room.tree(out) for out in ("one", "two", "again")]
        for tree in trees[1:]:
            differ = [name for name in trees[0].keys() | tree.keys() if trees[0].get(name) != tree.get(name)]
            if differ:
                raise Wrong("other bytes", f"{sorted(differ)}")


def joined(values):
    return ":" + ",".join(f"{key}={value}" for key, value in values.items()) if values else ""


def only_successes(jobs, multiple_of=1):
    """Leaves one successful attempt of each task, and no task without one."""
    for job in jobs:
        for kind in ("maps", "reduces"):
            job[kind] = [task for task in job[kind] if task["tries"]]
            for task in job[kind]:
                only_success(task, multiple_of)


def only_success(task, multiple_of):
    """Leaves one successful attempt, whose length is a multiple of this many ms."""
    for one in task["tries"][-1:]:
        length = max(multiple_of, (one["finish"] - one["start"]) // multiple_of * multiple_of)
        one |= {"outcome": "SUCCESS", "finish": one["start"] + length}
        one |= {key: min(one[key], one["finish"]) for key in ("shuffle", "sort") if key in one}
        task["tries"] = [one]


def slower_job(job):
    times = ("start", "finish", "shuffle", "sort")
    task = lambda own: own | {"tries": [one | {key: BY * one[key] for key in times if key in one} for one in own["tries"]]}
    return job | {
        "unit": BY,
        "submit": BY * job["submit"],
        "maps": [task(own) for own in job["maps"]],
        "reduces": [task(own) for own in job["reduces"]],
    }


def slower_cluster(cluster):
    """The rules with all times × 7."""
    by = lambda table, *keys: table | {key: BY * table[key] for key in keys if key in table}
    return cluster | {
        "heartbeat": by(cluster["heartbeat"], "interval", "expiry", "first"),
        "jobs": by(cluster["jobs"], "init_delay", "setup_time", "cleanup_time", "launch_overhead", "first_submit"),
        "containers": by(cluster["containers"], "node_heartbeat", "am_heartbeat", "hanging_maps"),
        "outages": [by(down, "from", "to") for down in cluster.get("outages", [])],
    }


def moved_job(job, submit):
    """The job at another time."""
    shift = submit - job["submit"]
    times = ("start", "finish", "shuffle", "sort")
    task = lambda own: own | {"tries": [one | {key: shift + one[key] for key in times if key in one} for one in own["tries"]]}
    return job | {"submit": submit, "maps": [task(own) for own in job["maps"]], "reduces": [task(own) for own in job["reduces"]]}


def scaled(schedule, factor):
    """The jobs and attempts of a schedule, with all times multiplied."""
    jobs, attempts = schedule
    times = lambda row, *keys: tuple(None if row[key] is None else factor * row[key] for key in keys)
    return [
        sorted((row["job_id"], row["outcome"], *times(row, "submit", "launch", "finish")) for row in jobs),
        sorted(
            (row["task_id"], row["attempt"], row["host"], row["outcome"], row["locality"], *times(row, "start", "finish"))
            for row in attempts
            if row["start"] is not None
        ),
    ]


def ended_before(schedule, until):
    """What ended before this time."""
    jobs, attempts = schedule
    early = lambda rows: [row for row in rows if row["finish"] is not None and row["finish"] < until]
    return scaled((early(jobs), early(attempts)), 1)


def same_rows(kind, *schedules):
    for of_one, of_other in zip(*schedules):
        if of_one != of_other:
            differ = sorted(set(of_one) ^ set(of_other), key=str)
            raise Wrong(kind, f"{len(differ)} rows differ: {differ[:4]}")
