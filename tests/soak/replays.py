"""Random worlds under random policies, judged by `checker`.

Shows: no node holds more than it has room for, each task is done once, nothing starts too early, times follow from the cost model, and
the numbers that are printed are those of the tables. `--check` runs too, so that both checkers see each replay.
"""

import json
import re

import checker
import worlds
from harness import Skipped, Wrong

# The message of a replay in which nothing can happen any more.
STALL = "nothing has started or ended since"


class Part:
    name = "replays"

    def __init__(self, binary):
        self.registry = worlds.Registry(binary)

    def make(self, rng):
        luck = rng.random()
        if luck < 0.3:
            return self.gangs(rng) if luck < 0.15 else self.machines(rng)
        own = {"kind": "hadoop", "seed": rng.randrange(1000), "hosts": worlds.hosts(rng), "queues": worlds.queue_files(rng)}
        if rng.random() < 0.4:
            own["workload"] = worlds.workload(rng)
            own["hosts"] = {f"node-{number:05}": None for number in range(own["workload"]["cluster"]["nodes"])}
        else:
            own["jobs"] = worlds.jobs(rng, own["hosts"])
        own["cluster"] = worlds.cluster(rng, list(own["hosts"]))
        draws = [self.registry.draw(rng, self.registry.hadoop()) for _ in range(3)]
        own["policies"] = sorted({worlds.with_queues(rng, policy) for policy in draws})
        if "jobs" in own and rng.random() < 0.15:
            clone(own, rng.randint(1, 2 * len(own["hosts"])))
        own["site"] = rng.random() < 0.25
        return own

    def machines(self, rng):
        """Tables of Google: tasks with requests, and machines that come, go and change."""
        names = list(range(1, rng.randint(2, 6)))
        policies = sorted({self.registry.draw(rng, self.registry.batch(), speculation=False) for _ in range(3)})
        own = {"kind": "tables", "seed": rng.randrange(1000), "cluster": {}, "policies": policies}
        return own | {"machines": worlds.machine_events(rng, names), "tasks": worlds.google_tasks(rng, names)}

    def gangs(self, rng):
        """A log of gangs on machines that are all alike."""
        cores = rng.randint(1, 16)
        nodes = rng.randint(1, 8)
        lines, submit = [], 0
        for number in range(1, rng.randint(2, 40)):
            width = rng.randint(1, cores * nodes)
            run = rng.choice([0, 1, 60, rng.randrange(1, 4000)])
            lines.append(
                [
                    number,
                    submit,
                    rng.choice([-1, 0, 30]),
                    run,
                    width,
                    -1,
                    -1,
                    width,
                    rng.choice([-1, run, 2 * run + 60]),
                    -1,
                    rng.choice([1, 1, 1, 0, 5]),
                    rng.randint(1, 4),
                    1,
                    -1,
                    rng.randint(1, 2),
                    -1,
                    -1,
                    -1,
                ]
            )
            submit += rng.choice([0, 0, 10, rng.randrange(600)])
        policies = sorted({self.registry.draw(rng, self.registry.batch(), speculation=False) for _ in range(3)})
        cluster = {"machines": {"count": nodes, "cores": cores, "placement": rng.choice(["first-fit", "best-fit"])}}
        return {"kind": "gangs", "seed": rng.randrange(1000), "lines": lines, "cluster": cluster, "policies": policies}

    def judge(self, case, room):
        room.write("cluster.toml", worlds.toml(case["cluster"]))
        if case["kind"] == "gangs":
            room.write("log.swf", "".join(" ".join(map(str, line)) + "\n" for line in case["lines"]))
            room.ok("ingest", "log.swf", "--out", "T")
        elif case["kind"] == "tables":
            worlds.write_tables(case, room)
        else:
            worlds.write_world(case, room)
        policies = [part for policy in case["policies"] for part in ("--policy", policy)]
        if case.get("site"):
            worlds.write_site(case["queues"], room)
            policies += ["--site-conf", "site"]
        ran = room.any(
            "replay",
            "T",
            *policies,
            "--cluster",
            "cluster.toml",
            "--assume",
            "--check",
            "--robust",
            "off",
            "--json",
            "--threads",
            1,
            "--seed",
            case["seed"],
            "--out",
            "R",
        )
        check_ended(case, ran)
        judge_runs(room, ran.lines())

    def smaller(self, case):
        if case["kind"] in ("gangs", "tables"):
            for key in ("policies", "lines", "tasks", "machines"):
                for fewer in worlds.halves(case.get(key, [])):
                    yield case | {key: fewer}
        else:
            yield from worlds.smaller_world(case)


def clone(case, count):
    """Cuts or grows the cluster. Only machines that are left can be lost, and the first never is."""
    case["cluster"]["nodes"]["clones"] = count
    left = list(machines(case))
    case["cluster"]["outages"] = [down for down in case["cluster"]["outages"] if down["host"] in left[1:]]
    factors = case["cluster"]["cost"].get("host_factors", {})
    if not factors.keys() <= set(left):
        del case["cluster"]["cost"]["host_factors"]


def machines(case):
    """The machines of a case."""
    count = case["cluster"].get("nodes", {}).get("clones")
    return case["hosts"] if count is None else worlds.resized(case["hosts"], count)


def check_ended(case, ran):
    """A replay ends well, or its request is refused for a reason."""
    if ran.code == 2:
        raise Skipped(reason(ran.err))
    if ran.code != 0 and STALL in ran.err:
        check_stall(case, ran)
    if ran.code != 0:
        raise Wrong("a replay fails", str(ran))


def check_stall(case, ran):
    """Hadoop stalls, too, if a queue has no whole slot, if masters fill all nodes, or if a master is all that a user may have. Any other
    stall is wrong."""
    policy = ran.err.rpartition("policy `")[2].partition("`")[0]
    if policy.startswith("capacity") and "queues=" in policy:
        raise Skipped("a queue of `capacity` without a whole slot stalls")
    if policy.startswith(("yarn-", "dress")) and masters_may_fill(case):
        raise Skipped("masters may fill all nodes, which stalls YARN")
    if policy.startswith("yarn-capacity") and ("queues=" in policy or case.get("site")) and a_master_is_over_the_limit(case):
        raise Skipped("a master takes more than a user of `yarn-capacity` may have")
    raise Wrong("a stall", str(ran))


def a_master_is_over_the_limit(case):
    """Whether a leaf guarantees less than a master. Its user then gets no container more: a user may have the guarantee, by default."""
    queues, sizes = case["queues"]["yarn-capacity"]["queues"], case["cluster"]["containers"]
    lost = {down["host"] for down in case["cluster"].get("outages", [])}
    memory = sizes["memory_mb"] * (len(machines(case)) - len(lost))
    shares = []
    for name in queues:
        parent = name.rpartition(".")[0]
        shares.append(queues[name]["capacity"] / 100 * (queues[parent]["capacity"] / 100 if parent else 1))
    smallest = sizes["minimum"]
    return memory * min(shares) < checker.rounded(sizes["am"], smallest)["memory_mb"] + smallest["memory_mb"]


def masters_may_fill(case):
    """Whether the jobs are enough to leave no room for a task on any node that is never lost."""
    sizes = case["cluster"].get("containers")
    if sizes is None:
        return True
    rounded = {kind: checker.rounded(sizes[kind], sizes["minimum"]) for kind in ("am", "map", "reduce")}
    fewest = min(
        (sizes[key] - max(rounded[kind][key] for kind in ("map", "reduce"))) // rounded["am"][key] + 1 for key in ("memory_mb", "vcores")
    )
    lost = {down["host"] for down in case["cluster"].get("outages", [])}
    jobs = len(case["jobs"]) if "jobs" in case else sum(own["repeat"] for own in case["workload"]["jobs"])
    return jobs >= fewest * (len(machines(case)) - len(lost))


def folders(room):
    """The folders of the runs in R, in the order of the policies."""
    order = json.loads((room.path / "R" / "runs.json").read_text())
    return [room.path / "R" / name for name in order["runs"]]


def judge_runs(room, printed):
    """Judges every run of R."""
    trace = checker.Trace(room.path / "T")
    counted, started = [], []
    for folder in folders(room):
        jobs = list(checker.rows(folder, "jobs"))
        counted.append({job["job_id"] for job in jobs if checker.counts(job)})
        started.append(checker.starts(jobs, checker.rows(folder, "attempts")))
    for folder, of_run in zip(folders(room), printed):
        checker.judge(trace, folder, of_run, set.intersection(*counted), set.intersection(*started))


def reason(error):
    """Why a request was refused, without its numbers and names."""
    first = error.strip().splitlines()[-1] if error.strip() else "no reason"
    return re.sub(r"[0-9.]+", "N", " ".join(first.split()[:12]))
