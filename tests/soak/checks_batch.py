"""Rules of the batch engine and of the policies for production traces, judged by the tables alone: docs/model/production.md,
docs/model/batch-policies.md and docs/slurm.md.

A gang on several machines has no host in its row. So what lies on each machine is known of the others only, and gangs are added up over
all machines on which they may lie.
"""

from collections import defaultdict

import checker
from checker import NEVER, length, most_at_once

# The engine gives up after 10,000 alarms without a start, and alarms come once a second at most.
GIVING_UP = 10_000_000
SECOND = 1000
# What ends a try for a reason that is not in the log.
TAKEN_AWAY = ("LOST", "EVICTED")


class Site:
    """The machines and partitions that a case of `slurm` describes, and what jobs may have of them."""

    def __init__(self, site):
        self.machines, self.memory = {}, site["memory"]
        for group in site["groups"]:
            for number in range(group["count"]):
                self.machines[f"n{group['first'] + number:02}"] = group
        place_of = {host: site["groups"].index(group) for host, group in self.machines.items()}
        self.partitions = {
            name: own | {"hosts": [host for host in self.machines if place_of[host] in own["groups"]]}
            for name, own in site["partitions"].items()
        }
        enforced = site["settings"].get("AccountingStorageEnforce", "none")
        self.qos = site["qos"] if "limits" in enforced else {}
        self.licenses = site["licenses"]

    def room(self, host, task):
        """How many instances of a task a machine holds if nothing else runs there."""
        own = self.machines[host]
        most = [1000 * own["cpus"] // max(1, task["cpu_request"])]
        if self.memory and task["memory_request"]:
            most.append((own["memory_mb"] << 20) // task["memory_request"])
        for name, amount in amounts(task["resources"]).items():
            if name == "gres/gpu" and self.has_gpus():
                most.append(own["gpus"] // amount)
        return min(most)

    def has_gpus(self):
        return any(own["gpus"] for own in self.machines.values())

    def limits_of(self, job):
        """The qualities of service whose limits hold for a job."""
        of_partition = (self.partitions.get(job["queue"]) or {}).get("qos")
        return [(name, self.qos[name]) for name in dict.fromkeys([job["qos"] or "", of_partition]) if name in self.qos]


def amounts(text):
    """`name=count,name=count` as a dictionary."""
    pairs = [part.partition("=") for part in (text or "").split(",") if part]
    return {name: int(count) for name, _, count in pairs if int(count) > 0}


class Started:
    """An attempt with its task and job, at its place in the queue."""

    def __init__(self, row, run, places):
        self.row, self.task, self.job = row, run.trace.tasks[row["task_id"]], run.trace.jobs[row["job_id"]]
        self.queued, self.start = row["queued"], row["start"]
        self.finish = NEVER if row["finish"] is None else row["finish"]
        by_priority = run.info["params"].get("priority") == "true"
        priority = -(self.job["priority_number"] or 0) if by_priority else 0
        self.place = (priority, run.jobs[row["job_id"]]["submit"] or 0, *places[row["task_id"]])
        self.instances = self.task["instances"] or 1


def judge_all(trace, folders, site=None):
    """Judges the runs of a trace, each by itself and then beside each other."""
    runs = [checker.Replay(trace, folder) for folder in folders]
    for run in runs:
        judge(run, site)
    if site is not None and len(site.machines) == 1:
        check_conservative_beside_fifo(runs)


def judge(run, site, exact=True):
    """Judges a run. `exact` says that no factor changes the times of the log."""
    started = all_started(run)
    check_waits(run, started)
    check_order_of_work(run)
    if exact:
        check_tries(run)
    check_ends(run, site)
    if site is not None:
        check_machines(run, started, site)
        if run.policy == "slurm":
            check_slurm(run, started, site)
    if run.policy == "batch-fifo" and run.info["params"].get("skip", "false") != "true":
        check_fifo(run, started)
    if site is not None and len(site.machines) == 1 and run.policy in ("batch-fifo", "easy", "conservative"):
        check_first(run, started, site)


def all_started(run):
    # Jobs stand in the order of their submission. Of those of one instant, the engine says which comes first.
    positions = {name: place for place, name in enumerate(run.jobs)}
    tasks = {name: place for place, name in enumerate(run.trace.tasks)}
    places = {name: (positions[own["job_id"]], tasks[name]) for name, own in run.trace.tasks.items() if own["job_id"] in positions}
    own = [Started(row, run, places) for row in run.attempts if row["start"] is not None]
    return sorted(own, key=lambda one: one.start)


# ---- waits and work ----


def check_waits(run, started):
    """Nothing waits or starts before its job is submitted and eligible, and the jobs that it depends on have ended."""
    zero = run.info["clock"]["zero"]
    for one in started:
        job = run.jobs[one.row["job_id"]]
        # A job that waits for others is eligible once they have ended here, not as in the log. So is a task of an array with a limit.
        waits_for_others = one.job["depends_on"] or one.job.get("array_limit")
        keys = ("submit",) if waits_for_others else ("submit", "eligible")
        since = [one.job[key] - zero for key in keys if one.job[key] is not None]
        run.expect(not since or one.queued >= max(since), "a wait before the job is eligible", one.row, since)
        run.expect(one.queued <= one.start, "a start before its wait", one.row)
        for other in one.job["depends_on"]:
            if other in run.jobs and run.of_job[other]:
                ended = run.jobs[other]["finish"]
                run.expect(
                    ended is not None and ended <= one.start,
                    "a start before the job that it depends on has ended",
                    one.row,
                    run.jobs[other],
                )
        run.expect(job["submit"] is None or job["submit"] == one.job["submit"] - zero, "the submission of a job", job, one.job["submit"])


def check_order_of_work(run):
    """A stage starts once the stages that it depends on have ended."""
    stages = defaultdict(list)
    for name, task in run.trace.tasks.items():
        stages[task["job_id"], task["stage"]].append(name)
    for name, task in run.trace.tasks.items():
        starts = [row["start"] for row in run.of_task.get(name, []) if row["start"] is not None]
        for stage in task["depends_on"] if starts else []:
            for other in stages.get((task["job_id"], stage), []):
                ends = [row["finish"] for row in run.of_task.get(other, [])]
                late = [end for end in ends if end is None or end > min(starts)]
                run.expect(not late, "a stage before the one that it depends on has ended", task, min(starts), other, ends)


def logged(run, name):
    """The tries that a replay of a task of one unit runs, as (outcome, ms); None if it depends on more than the log."""
    tries = [one for _, one in sorted(run.trace.tries.get(name, {}).items())]
    wanted = []
    for place, one in enumerate(tries):
        last = place == len(tries) - 1
        if one["outcome"] == "INCOMPLETE" or one["run_time"] is not None or length(one) is None or length(one) < 0:
            return None
        if one["outcome"] in ("SUCCESS", "UNKNOWN"):
            return [*wanted, ("SUCCESS", length(one))]
        if one["outcome"] == "FAILED" or one["outcome"] == "KILLED" and last:
            wanted.append((one["outcome"], length(one)))
    return wanted


def units(task):
    return 1 if task["gang"] else task["instances"] or 1


def check_tries(run):
    """A task of one unit repeats its tries of the log, and nothing else. What was taken away runs again."""
    preempts = run.info["params"].get("preempt", "none") != "none" or run.policy == "slurm" and run.info["params"].get("preempt") is None
    for name, rows in run.of_task.items():
        task = run.trace.tasks[name]
        wanted = logged(run, name)
        if units(task) != 1 or wanted is None:
            continue
        rows = sorted(rows, key=lambda row: row["attempt"])
        found = [(row["outcome"], length(row)) for row in rows if row["outcome"] not in TAKEN_AWAY]
        found = [("SUCCESS", time) if outcome == "UNKNOWN" else (outcome, time) for outcome, time in found]
        if preempts and found and found[-1][0] == "KILLED":
            # A job whose place was taken for good ends early.
            run.expect(
                len(found) <= max(1, len(wanted)) and found[:-1] == wanted[: len(found) - 1], "the tries of a task", name, found, wanted
            )
            continue
        run.expect(found == wanted[: len(found)], "the tries of a task", name, found, "in the log", wanted)


def check_ends(run, site):
    """Each job that can start has ended, and each other one is counted."""
    missing = sum(1 for name in run.trace.jobs if name not in run.jobs)
    counted = sum(own for cause, own in run.info["skipped"].items() if cause.startswith("job-"))
    run.expect(missing == counted, "jobs that are left out", missing, "but counted are", run.info["skipped"])
    stuck = set()
    for name, job in run.jobs.items():
        tasks = [task for task in run.trace.tasks if run.trace.tasks[task]["job_id"] == name]
        waits_for = [other for other in run.trace.jobs[name]["depends_on"] if other in stuck]
        if waits_for or any(not may_start(run, run.trace.tasks[task], site) for task in tasks):
            stuck.add(name)
            continue
        for task in tasks:
            wanted = logged(run, task)
            if wanted is None or not wanted:
                continue
            rows = run.of_task.get(task, [])
            well = rows and all(row["finish"] is not None for row in rows)
            kind = "a task that is given up" if is_given_up(run) else "a task that never ended"
            run.expect(well, kind, task, rows, run.info["skipped"])
            if units(run.trace.tasks[task]) == 1:
                tried = [row for row in rows if row["outcome"] not in TAKEN_AWAY]
                ended = len(tried) == len(wanted) or any(row["outcome"] == "KILLED" for row in tried)
                run.expect(ended, "tries that are missing", task, tried, wanted)


def is_given_up(run):
    """Whether nothing started for so long before the last end that the engine may have given up, which it may do only if nothing runs
    (docs/model/production.md)."""
    starts = [row["start"] for row in run.attempts if row["start"] is not None]
    ends = [row["finish"] for row in run.attempts if row["finish"] is not None]
    return max(ends, default=0) - max(starts, default=0) > GIVING_UP


def may_start(run, task, site):
    """Whether a task surely can start on the empty machines that its policy allows."""
    if site is None:
        return True
    if licenses(run, task) > site.licenses > 0:
        return False
    if run.policy == "slurm" and (too_much(run, task, site) or stopped(run, task, site)):
        return False
    return finds_room(run, task, site)


def finds_room(run, task, site):
    """Whether a task surely finds room on the empty machines that its policy allows."""
    instances, machines = task["instances"] or 1, task["machines"]
    rooms = sorted((site.room(host, task) for host in allowed(run, task, site)), reverse=True)
    if run.policy != "slurm" or machines is None or machines > instances:
        return sum(rooms) >= instances
    least = -(-instances // machines)
    return sum(1 for room in rooms if room >= least) >= machines


def licenses(run, task):
    return amounts(run.trace.jobs[task["job_id"]]["licenses"]).get("license/lic", 0)


def parts_fit(run, task, site):
    """Whether the parts of a heterogeneous job surely start: all at once, on different machines, and within the limits together."""
    job = run.trace.jobs[task["job_id"]]
    number, plus, _ = task["job_id"].partition("+")
    if not plus:
        return True
    parts = [own for own in run.trace.tasks.values() if own["job_id"].startswith(number + plus)]
    cpus = sum(-(-(own["cpu_request"] or 0) * (own["instances"] or 1) // 1000) for own in parts)
    limits = [own for _, own in site.limits_of(job)]
    if any(len(parts) > own.get(key, NEVER) for own in limits for key in ("jobs_of_user", "jobs_of_all")):
        return False
    if any(cpus > own.get(key, NEVER) for own in limits for key in ("cpus_of_user", "cpus_of_all")):
        return False
    if sum(licenses(run, own) for own in parts) > site.licenses > 0:
        return False
    # Backfill looks at so many jobs only. Those that never find room may be before these in each of its runs.
    most = [int(parameter(run, key) or 0) for key in ("bf_max_job_user", "bf_max_job_part", "bf_max_job_test")]
    stuck = [own for own in run.trace.tasks.values() if own not in parts and not finds_room(run, own, site)]
    if any(0 < own < len(parts) + len(stuck) for own in most):
        return False
    hosts = set.intersection(*(set(allowed(run, own, site)) for own in parts))
    holds_any = [host for host in hosts if all(site.room(host, own) >= (own["instances"] or 1) for own in parts)]
    return len(holds_any) >= sum(own["machines"] or 1 for own in parts)


def stopped(run, task, site):
    """Whether a job may be stopped for ever by one that cannot start: a heterogeneous job, which stops its partition and its machines in
    the main loop; or one of the same partition that alone is more than is allowed (`assoc_limit_stop`)."""
    if not all(parts_fit(run, own, site) for own in run.trace.tasks.values()):
        return True
    queue = run.trace.jobs[task["job_id"]]["queue"]
    of_queue = (own for own in run.trace.tasks.values() if run.trace.jobs[own["job_id"]]["queue"] == queue)
    return parameter(run, "assoc_limit_stop") == "true" and any(too_much(run, own, site) for own in of_queue)


def too_much(run, task, site):
    """Whether a job alone may be more than its quality of service allows."""
    job = run.trace.jobs[task["job_id"]]
    cpus = -(-(task["cpu_request"] or 0) * (task["instances"] or 1) // 1000)
    partition = site.partitions[job["queue"]]
    limit = NEVER if job["requested_time"] is None else job["requested_time"]
    times = [minutes * 60_000 for minutes in (partition["default_time"], partition["max_time"]) if minutes]
    for _, own in site.limits_of(job):
        if any(cpus > own.get(key, NEVER) for key in ("cpus_of_user", "cpus_of_all", "cpus_of_job")):
            return True
        if "wall" in own and max([limit, *times]) > own["wall"] * 60_000:
            return True
    return False


def allowed(run, task, site):
    """The machines on which a task may lie: under `slurm`, those of its partition with its features."""
    if run.policy != "slurm":
        return list(site.machines)
    job = run.trace.jobs[task["job_id"]]
    asked = job["features"]
    return [host for host in site.partitions[job["queue"]]["hosts"] if not asked or asked in site.machines[host]["features"]]


# ---- machines ----


def check_machines(run, started, site):
    by_host = defaultdict(list)
    for one in started:
        if one.row["host"] is not None:
            by_host[one.row["host"]].append(one)
        run.expect(one.row["cpu_request"] == (one.task["cpu_request"] or 0) * held(one), "the processors of a task", one.row, one.task)
    for host, own in by_host.items():
        machine = site.machines.get(host)
        run.expect(machine is not None, "a machine that is not there", host)
        check_sums(run, f"of {host}", own, [machine], site)
    # Gangs of a partition lie on its machines only, if the policy looks at partitions.
    sets = [set(own["hosts"]) for own in site.partitions.values()] if run.policy == "slurm" else []
    for hosts in [*sets, set(site.machines)]:
        inside = [one for one in started if lies_in(run, one, site, hosts)]
        check_sums(run, f"of all of {sorted(hosts)}", inside, [site.machines[host] for host in sorted(hosts)], site)
    if site.licenses:
        taken = spans(started, lambda one: amounts(one.job["licenses"]).get("license/lic", 0))
        run.expect(most_at_once(taken) <= site.licenses, "licences", most_at_once(taken), "of", site.licenses)


def held(one):
    """How many instances a row stands for."""
    return one.instances if one.task["gang"] else 1


def lies_in(run, one, site, hosts):
    if one.row["host"] is not None:
        return one.row["host"] in hosts
    return set(allowed(run, one.task, site)) <= hosts


def spans(started, weight):
    return [(one.start, one.finish, weight(one)) for one in started]


def check_sums(run, where, own, machines, site):
    most = most_at_once(spans(own, lambda one: one.row["cpu_request"] or 0))
    room = 1000 * sum(machine["cpus"] for machine in machines)
    run.expect(most <= room, "processors", where, most, "of", room)
    if site.memory:
        most = most_at_once(spans(own, lambda one: (one.task["memory_request"] or 0) * held(one)))
        room = sum(machine["memory_mb"] << 20 for machine in machines)
        run.expect(most <= room, "memory", where, most, "of", room)
    if site.has_gpus():
        most = most_at_once(spans(own, lambda one: amounts(one.task["resources"]).get("gres/gpu", 0) * held(one)))
        room = sum(machine["gpus"] for machine in machines)
        run.expect(most <= room, "generic resources", where, most, "of", room)


# ---- Slurm ----


def check_slurm(run, started, site):
    check_places(run, started, site)
    check_limits(run, started, site)
    # Each of the two schedulers looks at one part of a second. With `run_at_ends`, the main loop also runs in the second in which a job ends.
    at_ends = parameter(run, "run_at_ends") == "true"
    ends = {one.finish // SECOND for one in started} if at_ends else set()
    parts = {one.start % SECOND for one in started if not {one.start // SECOND, one.start // SECOND - 1} & ends}
    loops = 1 if parameter(run, "scheduler") == "builtin" else 2
    run.expect(len(parts) <= loops, "the parts of a second at which jobs start", sorted(parts)[:5], f"of {loops} loops")
    if loops == 1:
        check_main_loop(run, started, site)


def parameter(run, key):
    return run.info["params"].get(key)


def check_places(run, started, site):
    """A job lies on machines of its partition with its features, on as many as it asks for, and alone if it asks for that."""
    for one in started:
        host, machines = one.row["host"], one.task["machines"]
        hosts = allowed(run, one.task, site)
        run.expect(host is None or host in hosts, "a machine outside of the partition", one.row, one.job["queue"], hosts)
        if machines is not None and machines <= one.instances:
            run.expect((host is not None) == (machines == 1), "another number of machines", one.row, one.task)
        if host is None or not (one.task["exclusive"] or site.partitions[one.job["queue"]]["exclusive"]):
            continue
        for other in started:
            beside = other is not one and other.row["host"] == host and other.start < one.finish and one.start < other.finish
            run.expect(not beside, "a job beside one that has its machine for itself", one.row, other.row)


def check_limits(run, started, site):
    """The running jobs of a quality of service, and of a user of it, have no more than it allows."""
    groups = defaultdict(list)
    for one in started:
        for name, own in site.limits_of(one.job):
            groups[name, ""].append(one)
            groups[name, one.job["user"]].append(one)
            cpus = one.row["cpu_request"] // 1000
            run.expect(cpus <= own.get("cpus_of_job", NEVER), "more than a job may have", one.row, name, own)
    for (name, user), own in groups.items():
        most = {key: site.qos[name].get(f"{key}_of_{'user' if user else 'all'}", NEVER) for key in ("cpus", "jobs")}
        cpus = most_at_once(spans(own, lambda one: one.row["cpu_request"] // 1000))
        jobs = most_at_once(spans(own, lambda one: 1))
        run.expect(cpus <= most["cpus"] and jobs <= most["jobs"], "a limit", name, user, f"{cpus} CPUs and {jobs} jobs", most)


def check_main_loop(run, started, site):
    """Without limits, licences and priorities, the main loop alone starts the jobs of a partition in their order. It may notice a
    submission up to a second later."""
    if parameter(run, "priority") != "basic" or parameter(run, "preempt") not in (None, "none") or site.qos or site.licenses:
        return
    for one in started:
        for other in started:
            if other.job["queue"] == one.job["queue"] and other.place < one.place and may_start(run, other.task, site):
                late = other.queued + 1000 <= one.start < other.start
                run.expect(not late, "a job before another of its partition", one.row, other.row)


# ---- queues of the textbook ----


def check_fifo(run, started):
    """Nothing starts while a task before it in the queue waits."""
    for one in started:
        for other in started:
            passed = other.place < one.place and other.queued < one.start < other.start
            run.expect(not passed, "a start that passes the queue", one.row, other.row)


def in_order(started):
    """Whether tasks begin to wait in the order of the queue, each once."""
    queue = sorted(started, key=lambda one: one.place)
    once = len({one.row["task_id"] for one in started}) == len(started)
    return once and all(one.queued <= other.queued for one, other in zip(queue, queue[1:]))


def estimate(one):
    return one.finish - one.start if one.job["requested_time"] is None else one.job["requested_time"]


def fits(site, task, used):
    """Whether a task fits on the only machine beside what is used of its processors and memory."""
    (machine,) = site.machines.values()
    cpu = 1000 * machine["cpus"] - sum(one.row["cpu_request"] for one in used)
    memory = (machine["memory_mb"] << 20) - sum((one.task["memory_request"] or 0) * held(one) for one in used)
    count = task["instances"] or 1
    return cpu >= task["cpu_request"] * count and (not site.memory or memory >= (task["memory_request"] or 0) * count)


def check_first(run, started, site):
    """On one machine, the first of the queue starts as soon as it fits. Under `easy`, it also starts when the estimates say that it will
    fit, at the latest. `conservative` gives a task that waits again a place behind the plan, so there tasks must wait in order."""
    if any(one.task["resources"] or one.job["licenses"] for one in started):
        return
    if run.policy == "conservative" and not in_order(started):
        return
    exact = all(one.finish - one.start <= estimate(one) for one in started)
    for one in started:
        before = [other for other in started if other.place < one.place and other.queued < one.start]
        since = max([one.queued] + [other.start for other in before])
        for at in sorted({since, *(other.finish for other in started if since <= other.finish < one.start)}):
            used = [other for other in started if other is not one and running(other, one, at)]
            if at < one.start:
                run.expect(not fits(site, one.task, used), "the first of the queue waits though it fits", f"at {at}", one.row)
        if run.policy == "easy" and exact and not any(other.start == since == other.finish for other in started):
            check_promise(run, started, site, one, since)


def running(other, one, at):
    """Whether another task runs when this one is looked at: of those that start at the same time, those before it in the queue do."""
    return other.start < at < other.finish or other.start == at < other.finish and other.place < one.place


def check_promise(run, started, site, one, since):
    used = [other for other in started if other is not one and running(other, one, since)]
    ends = sorted(other.start + estimate(other) for other in used)
    for at in [since, *ends]:
        if fits(site, one.task, [other for other in used if other.start + estimate(other) > at]):
            run.expect(one.start <= at, "a promise of `easy`", f"{at}", one.row, [other.row for other in used])
            return


def check_conservative_beside_fifo(runs):
    """On one machine, if tasks wait in their order and their estimates are exact, each starts under `conservative` no later than under
    `batch-fifo`: when it starts there, all before it have started here and hold no more."""
    starts = {}
    for run in runs:
        started = all_started(run)
        plain = all(not one.task["resources"] and not one.job["licenses"] and estimate(one) == one.finish - one.start for one in started)
        if plain and in_order(started) and run.info["params"].get("skip", "false") != "true" and by_submission(run):
            starts.setdefault(run.policy, {one.row["task_id"]: one for one in started})
    fifo = starts.get("batch-fifo", {})
    for run in runs:
        if run.policy == "conservative" and run.policy in starts and fifo:
            for name, one in starts["conservative"].items():
                run.expect(one.start <= fifo[name].start, "a start later than under `batch-fifo`", one.row, fifo[name].row)


def by_submission(run):
    return run.info["params"].get("priority", "false") != "true"
