"""Judges a replay from outside: from the Parquet tables of the trace and of the run, `run.json`, and the rules of the cluster file.

The rules are written anew from docs/model and docs/reference, so that they can disagree with resched.
"""

import json
import math
from collections import Counter, defaultdict

import pyarrow.parquet as parquet
import worlds
from harness import Wrong

NEVER = math.inf
LEVELS = ["node", "rack", "off"]
# Means of ms are sums of whole numbers divided once; only their rounding may differ.
NEAR = 1e-6


def rows(folder, table):
    """The rows of a table, which is a file or a folder of files."""
    path = folder / f"{table}.parquet"
    return parquet.read_table(path if path.exists() else folder / table).to_pylist()


class Trace:
    """The tables of a trace."""

    def __init__(self, folder):
        self.jobs = {row["job_id"]: row for row in rows(folder, "jobs")}
        self.tasks = {row["task_id"]: row for row in rows(folder, "tasks")}
        self.nodes = rows(folder, "nodes")
        self.tries, self.places = defaultdict(dict), defaultdict(list)
        for row in rows(folder, "attempts"):
            self.tries[row["task_id"]][row["attempt"]] = row
        for row in rows(folder, "splits"):
            self.places[row["task_id"]].append(row)


class Replay:
    """The tables of a run, with its rules."""

    def __init__(self, trace, folder):
        self.trace = trace
        self.info = json.loads((folder / "run.json").read_text())
        self.jobs = {row["job_id"]: row for row in rows(folder, "jobs")}
        self.attempts = rows(folder, "attempts")
        self.rules = self.info["rules"]
        self.label, self.policy = self.info["label"], self.info["policy"].partition("+")[0]
        self.system = self.info["system"]
        self.of_job, self.of_task = defaultdict(list), defaultdict(list)
        for row in self.attempts:
            self.of_job[row["job_id"]].append(row)
            self.of_task[row["task_id"]].append(row)

    def expect(self, holds, kind, *found):
        if not holds:
            raise Wrong(kind, f"under {self.label}: {' '.join(str(part) for part in found)}")


def judge(trace, folder, printed, counted, started):
    """Judges a run. `printed` is what `replay --json` printed of it. `counted` are the ids of the jobs that count in every run compared,
    and `started` those of the jobs that started in every run compared, whatever became of them."""
    run = Replay(trace, folder)
    run.expect(run.info["rows"]["jobs"] == len(run.jobs), "rows of run.json", "jobs")
    run.expect(run.info["rows"]["attempts"] == len(run.attempts), "rows of run.json", "attempts")
    check_jobs(run)
    check_attempts(run)
    if run.info["engine"] == "batch":
        check_batch(run)
    else:
        check_tasks(run)
        check_room(run)
        check_machines(run)
        check_nodes(run)
        check_slow_start(run)
        check_durations(run)
    check_summary(run, printed, counted, started)


def length(row):
    return None if row["finish"] is None or row["start"] is None else row["finish"] - row["start"]


# ---- jobs and attempts agree ----


def check_jobs(run):
    """Each job starts with its first attempt and does not end before what it needed."""
    for name, job in run.jobs.items():
        run.expect(name in run.trace.jobs, "a job of the trace", name)
        own = [row for row in run.of_job[name] if row["kind"] in ("map", "reduce", "other")]
        starts = [row["start"] for row in own if row["start"] is not None]
        if job["submit"] is not None:
            run.expect(not starts or min(starts) >= job["submit"], "an attempt before its job's submission", job, min(starts, default=0))
        if job["launch"] is not None and starts:
            # A launch takes its overhead, and a container waits for its master.
            run.expect(job["launch"] <= min(starts), "a job is launched after its first attempt", job, min(starts))
        ends = [row["finish"] for row in own if row["outcome"] == "SUCCESS"]
        if job["outcome"] == "SUCCESS" and job["finish"] is not None:
            run.expect(max(ends, default=job["finish"]) <= job["finish"], "a job ends before its attempts", job, max(ends, default=0))
            late = [row for row in own if row["start"] is not None and row["start"] > job["finish"] + launching(run) and length(row) != 0]
            run.expect(not late, "an attempt after its job", job, late[:1])


def launching(run):
    """How long after its assignment an attempt may start. Its job may end meanwhile."""
    own = run.rules["jobs"]["launch_overhead"]
    return own + run.rules["containers"]["am_heartbeat"] if run.system == "yarn" else own


def check_attempts(run):
    """The times of an attempt follow each other, and their numbers are those of its tries."""
    for row in run.attempts:
        times = [row[key] for key in ("queued", "start", "shuffle_finish", "sort_finish", "finish") if row[key] is not None]
        run.expect(times == sorted(times), "the times of an attempt", row)
    for name, tries in run.of_task.items():
        numbers = sorted(row["attempt"] for row in tries)
        run.expect(len(set(numbers)) == len(numbers), "an attempt twice", name, numbers)


def check_tasks(run):
    """A job that succeeded has done each of its tasks once; a map may be done again if its output was lost."""
    wanted = defaultdict(set)
    for name, task in run.trace.tasks.items():
        if task["kind"] in ("map", "reduce"):
            wanted[task["job_id"]].add(name)
    lost_nodes = bool(run.rules.get("outages"))
    for name, job in run.jobs.items():
        done = Counter(row["task_id"] for row in run.of_job[name] if row["outcome"] == "SUCCESS" and row["kind"] in ("map", "reduce"))
        known = {task for task in wanted[name]}
        made_up = [task for task in done if task not in known]
        declared = (job["declared_maps"] or 0) + (job["declared_reduces"] or 0)
        run.expect(len(made_up) <= max(0, declared - len(known)), "a task that the job does not have", job, made_up[:2])
        if job["outcome"] == "SUCCESS":
            run.expect(known <= set(done), "a task that was never done", job, sorted(known - set(done))[:2])
            run.expect(len(done) == declared, "tasks of a job that succeeded", job, len(done))
        reduces = job["declared_reduces"] or 0
        again = [task for task, count in done.items() if count > 1]
        run.expect(not again or lost_nodes and reduces > 0, "a task that was done twice", job, again[:2])


# ---- room ----


def most_at_once(spans):
    """The largest sum of (weight, ...) at one instant over (start, end, weight). An end does not meet a start."""
    steps = []
    for start, end, weight in spans:
        if start < end:
            steps += [(start, 1, weight), (end, 0, -weight)]
    now = most = 0
    for _, _, weight in sorted(steps):
        now += weight
        most = max(most, now)
    return most


def end(row):
    return NEVER if row["finish"] is None else row["finish"]


def spans(rows_of_node, weight):
    for row in rows_of_node:
        if row["start"] is not None:
            yield row["start"], end(row), weight(row)


def offered(run, rule, default):
    """The slots that the trace gives, by host, and those of all other hosts."""
    nodes = run.rules["nodes"]
    of_rules = default if nodes.get(rule) is None else nodes[rule]
    own = {row["host"]: row[rule] for row in run.trace.nodes if row[rule] is not None and not nodes.get("alike")}
    return own, of_rules


def check_room(run):
    by_host = defaultdict(list)
    for row in run.attempts:
        if row["host"] is not None:
            by_host[row["host"]].append(row)
    for host, own in by_host.items():
        if run.system == "yarn":
            check_containers(run, host, own)
        else:
            check_slots(run, host, own)


def check_slots(run, host, own):
    for kind, column in (("map", "map_slots"), ("reduce", "reduce_slots")):
        # Hadoop's default, which `--assume` takes.
        known, others = offered(run, column, 2)
        slots = known.get(host, others)
        copying = run.rules["nodes"]["copying_reduces"] if kind == "reduce" and slots else 0
        of_kind = [row for row in own if row["kind"] == kind]
        most = most_at_once(spans(of_kind, lambda row: 1))
        run.expect(most <= slots + copying, "slots", host, kind, most, "of", slots + copying)
    computing = [
        (row["sort_finish"], row["finish"], 1)
        for row in own
        if row["kind"] == "reduce" and row["sort_finish"] is not None and row["finish"] is not None and row["outcome"] == "SUCCESS"
    ]
    run.expect(most_at_once(computing) <= slots, "reduces that compute", host, most_at_once(computing), "of", slots)


def rounded(size, smallest):
    return {key: -(-size.get(key, 1) // smallest.get(key, 1)) * smallest.get(key, 1) for key in ("memory_mb", "vcores")}


def check_containers(run, host, own):
    rules = run.rules["containers"]
    sizes = {kind: rounded(rules[key], rules["minimum"]) for kind, key in (("master", "am"), ("map", "map"), ("reduce", "reduce"))}
    counts_vcores = run.policy == "yarn-fair" or run.policy != "yarn-fifo" and rules["calculator"] == "dominant"
    for key, counted in (("memory_mb", True), ("vcores", counts_vcores)):
        room = rules.get(key) or {"memory_mb": 8192, "vcores": 8}[key]
        most = most_at_once(spans(own, lambda row: sizes[row["kind"]][key]))
        run.expect(not counted or most <= room, f"room: {key}", host, most, "of", room)


def racks_of(run):
    """The rack of each machine."""
    racks = {row["host"]: row["rack"] for row in run.trace.nodes}
    count = run.rules["nodes"].get("clones")
    return worlds.resized(racks, count) if count else racks


def check_machines(run):
    """After the cluster was cut or grown, attempts run on its machines only, each in its rack."""
    racks = racks_of(run) if run.rules["nodes"].get("clones") else None
    for row in run.attempts if racks else []:
        is_there = row["host"] is None or racks.get(row["host"]) == row["rack"]
        run.expect(is_there, "a machine that is not there", row, racks)


def check_nodes(run):
    """Nothing starts on a node that is down, and nothing runs across the loss of its node and succeeds."""
    for down in run.rules.get("outages") or []:
        until = down.get("to") or NEVER
        for row in run.attempts:
            if row["host"] != down["host"] or row["start"] is None or length(row) == 0:
                continue
            run.expect(not down["from"] < row["start"] < until, "a start on a node that is down", down, row)
            across = row["start"] < down["from"] < end(row)
            run.expect(not (across and row["outcome"] == "SUCCESS"), "a success on a node that was lost", down, row)


# ---- rules of Hadoop ----


def check_slow_start(run):
    """No reduce starts before enough maps are done, except under coupling, which has a rule of its own."""
    if run.policy == "coupling" and run.info["params"].get("slowstart", "false") != "true":
        return
    share = run.rules["jobs"]["slowstart"]
    for name, job in run.jobs.items():
        maps = job["declared_maps"] or 0
        least = math.ceil(share * maps)
        ends = {}
        for row in run.of_job[name]:
            well = row["outcome"] == "SUCCESS" or row["error"] is not None
            if row["kind"] == "map" and well and row["finish"] is not None:
                ends[row["task_id"]] = min(row["finish"], ends.get(row["task_id"], NEVER))
        ends = sorted(ends.values())
        first = min((row["start"] for row in run.of_job[name] if row["kind"] == "reduce" and row["start"] is not None), default=NEVER)
        if least == 0 or first == NEVER:
            continue
        done = sum(1 for end in ends if end <= first)
        run.expect(done >= least, "a reduce before its slow-start", name, f"at {first}: {done} of {least} maps")


def check_durations(run):
    """Where no factor changes a time, an attempt takes what the log and its distance say."""
    cost = run.rules["cost"]
    if any(cost.get(key) for key in ("host_factors", "contention")) or any(
        (cost.get(key) or {}).get("share", 0) > 0 for key in ("slow_nodes", "stragglers")
    ):
        return
    racks = racks_of(run)
    for row in run.attempts:
        if row["start"] is None or row["finish"] is None or row["outcome"] not in ("SUCCESS", "FAILED"):
            continue
        if row["speculative"] and cost.get("backup") == "job":
            continue
        if row["kind"] == "map":
            check_map(run, row, racks, cost)
        elif row["kind"] == "reduce":
            check_reduce(run, row, cost)


def level_of(places, host, rack):
    """How near to its input a host is; None if the input has no known place."""
    if any(place["host"] == host for place in places):
        return "node"
    if not places:
        return None
    return "rack" if any(place["rack"] == rack for place in places) else "off"


def logged_try(run, row):
    """The attempt of the log that this one follows, by docs/model/locality.md; None if it was made up."""
    tries = run.trace.tries.get(row["task_id"], {})
    own = tries.get(row["attempt"])
    if own is not None and own["outcome"] in ("SUCCESS", "FAILED"):
        return own if own["start"] is not None and own["finish"] is not None else None
    succeeded = [one for _, one in sorted(tries.items()) if one["outcome"] == "SUCCESS"]
    own = succeeded[0] if succeeded else None
    return own if own and own["start"] is not None and own["finish"] is not None else None


def check_map(run, row, racks, cost):
    places = [place for place in run.trace.places.get(row["task_id"], []) if place["host"] in racks]
    level = level_of(places, row["host"], racks.get(row["host"]))
    if run.rules["nodes"].get("clones"):
        # Input that lay on a machine lies on it or on one of its clones, drawn for each block.
        level = row["locality"]
    run.expect(row["locality"] == level, "the distance of a map", row, "expected", level)
    own = logged_try(run, row)
    if own is None or run.trace.tasks[row["task_id"]]["outcome"] not in ("SUCCESS", "FAILED"):
        return
    time = own["finish"] - own["start"]
    wanted = 100 if time < 0 else time
    if own["outcome"] == "SUCCESS" and time >= 0:
        places = run.trace.places.get(row["task_id"], [])
        logged = (level_of(places, own["host"], own["rack"]) if own["host"] else own["locality"]) or "off"
        factors = dict(zip(LEVELS, cost["locality"]))
        wanted = math.trunc(time * factors[level or "off"] / factors[logged])
    # The last bit of the quotient may differ.
    run.expect(abs(length(row) - wanted) <= 1, "the time of a map", row, f"expected {wanted} ms", own)


def check_reduce(run, row, cost):
    """After its shuffle, a reduce sorts and reduces as logged, if it need not wait for a slot to compute."""
    own = logged_try(run, row)
    if own is None or row["shuffle_finish"] is None or run.rules["nodes"].get("copying_reduces", 0):
        return
    if own["finish"] <= own["start"] or row["outcome"] != "SUCCESS":
        return
    shuffled = own["start"] if own["shuffle_finish"] is None else own["shuffle_finish"]
    sorted_at = own["finish"] if own["sort_finish"] is None else own["sort_finish"]
    sort, reduce = max(0, sorted_at - shuffled), 0 if own["sort_finish"] is None else own["finish"] - own["sort_finish"]
    wanted = (0 if cost["reduce"] == "r0" else sort) + (100 if reduce < 0 else reduce)
    found = row["finish"] - row["shuffle_finish"]
    run.expect(found == wanted, "the time of a reduce", row, f"expected {wanted} ms", own)


# ---- production traces ----


def check_batch(run):
    """Requests stay within the machines, and each unit of work ends once."""
    total = run.info["cluster"]
    held = most_at_once((row["start"], row["finish"], row["cpu_request"] or 0) for row in run.attempts)
    changing = not any((run.rules.get("machines") or {}).get(key) for key in ("count", "clones", "named"))
    # Machines of a trace come and go: `run.json` has what is there at the start.
    if total.get("vcores") is not None and not changing:
        run.expect(held <= 1000 * total["vcores"], "processors of all machines", held, total)
    by_host = defaultdict(list)
    for row in run.attempts:
        if row["host"] is not None:
            by_host[row["host"]].append(row)
    cores = (run.rules.get("machines") or {}).get("cores")
    for host, own in by_host.items() if cores and run.rules["machines"].get("count") else []:
        most = most_at_once(spans(own, lambda row: row["cpu_request"] or 0))
        run.expect(most <= 1000 * cores, "processors of a machine", host, most, cores)
    if changing:
        for host, own in by_host.items():
            check_machine(run, host, own)
    for name, tries in run.of_task.items():
        task = run.trace.tasks.get(name) or {}
        units = 1 if task.get("gang") else task.get("instances") or 1
        done = sum(1 for row in tries if row["outcome"] == "SUCCESS")
        run.expect(done <= units, "a unit of work twice", name, done, units)
        if units == 1:
            check_unit(run, name, tries)


def check_machine(run, host, own):
    """Nothing starts beyond what the machine offers then, and nothing that runs when it leaves succeeds."""
    if any(row["group"] is not None for row in run.trace.nodes if row["host"] == host):
        # A host of executors is one machine with the most that they had together. The part `spark` looks at it.
        return
    zero = run.info["clock"]["zero"]
    changes = [(-NEVER if row["time"] is None else row["time"] - zero, row) for row in run.trace.nodes if row["host"] == host]
    changes.sort(key=lambda change: change[0])
    own = [row for row in own if length(row) != 0]
    for row in own:
        known = [change for at, change in changes if at <= row["start"]]
        run.expect(known and known[-1]["event"] != "remove", "a start on a machine that is not there", host, row)
        for asked, column in (("cpu_request", "cpu"), ("memory_request", "memory")):
            offer = next((change[column] for change in reversed(known) if change[column] is not None), None)
            if row[asked] and offer is not None:
                used = sum(other[asked] or 0 for other in own if other["start"] <= row["start"] < other["finish"])
                run.expect(used <= offer, f"room of a machine: {column}", host, used, "of", offer, row)
        leaves = [at for at, change in changes if change["event"] == "remove" and row["start"] < at < row["finish"]]
        run.expect(not leaves or row["outcome"] != "SUCCESS", "a success on a machine that left", host, leaves, row)


def check_unit(run, name, tries):
    """A task of one unit takes the time of a try that succeeded in the log. Spark's tasks and Hadoop's depend on their places, too."""
    if run.trace.places.get(name) or run.system == "spark":
        return
    logged = [one for one in run.trace.tries.get(name, {}).values() if one["outcome"] in ("SUCCESS", "UNKNOWN")]
    times = {one["run_time"] if one["run_time"] is not None else length(one) for one in logged}
    for row in tries:
        if row["outcome"] == "SUCCESS" and times and None not in times and min(times) >= 0:
            run.expect(length(row) in times, "the time of a unit of work", row, "expected one of", times)


# ---- what is printed ----


def counts(job):
    """Whether a job may count: it was submitted and ended well."""
    well = job["outcome"] == "SUCCESS" or job["outcome"] == "UNKNOWN" and job["finish"] is not None
    return well and job["submit"] is not None and job["finish"] is not None and job["finish"] >= job["submit"]


def first_starts(attempts):
    """When the first task of each job started, by its id."""
    first = {}
    for row in attempts:
        if row["kind"] not in ("master", "setup", "cleanup") and row["start"] is not None:
            first[row["job_id"]] = min(row["start"], first.get(row["job_id"], NEVER))
    return first


def starts(jobs, attempts):
    """The ids of the jobs that started: their waits count, also if they failed. Times that cannot be are no times."""
    first = first_starts(attempts)
    begun = [job for job in jobs if job["submit"] is not None and (job["job_id"] in first or job["launch"] is not None)]
    failed = ("FAILED", "LOST", "KILLED", "EVICTED", "INCOMPLETE")
    return {job["job_id"] for job in begun if counts(job) or job["outcome"] in failed or job["finish"] is None}


def check_summary(run, printed, counted, started):
    """The numbers that `replay --json` prints are those of the tables."""
    jobs = [job for name, job in run.jobs.items() if name in counted]
    first = first_starts(run.attempts)
    since = lambda job: job["submit"] if job["eligible"] is None else max(job["submit"], job["eligible"])
    completions = [job["finish"] - since(job) for job in jobs]
    waits = [
        max(0, (first.get(job["job_id"], job["launch"]) or 0) - since(job))
        for name, job in run.jobs.items()
        if name in started
    ]
    own = [row for row in run.attempts if row["job_id"] in counted]
    expected = {
        "jobs_finished": sum(1 for job in run.jobs.values() if counts(job)),
        "jobs_counted": len(jobs),
        "makespan_ms": max(job["finish"] for job in jobs) - min(job["submit"] for job in jobs) if jobs else None,
        "mean_completion_ms": sum(completions) / len(completions) if completions else None,
        "mean_waiting_ms": sum(waits) / len(waits) if waits else None,
        "tasks": len({row["task_id"] for row in own if row["outcome"] == "SUCCESS" and row["kind"] != "master"}),
    }
    for key, value in expected.items():
        run.expect(same(printed[key], value), f"printed {key}", printed[key], "but the tables have", value)
    check_locality(run, printed, own)


def check_locality(run, printed, own):
    launches = Counter(row["locality"] for row in own if row["kind"] != "reduce" and row["locality"] and row["start"] is not None)
    found = printed["locality"]
    expected = {level: launches[level] for level in LEVELS} if launches else None
    run.expect(found == expected, "printed locality", found, "but the tables have", expected)


def same(found, expected):
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= NEAR * max(1.0, abs(expected))
