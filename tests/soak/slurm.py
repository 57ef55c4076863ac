"""Lists of `sacct` and the configuration of their cluster, replayed under Slurm's own scheduler and the textbook's.

Shows: each job of the list is read with its tries, and the rules of `checks_batch` hold of each schedule.
"""

import datetime

import checker
import checks_batch
import replays
import worlds
from harness import Wrong

# 2026-09-21, so that times look like those of a real list.
EPOCH = 1_790_000_000
USERS = {"ann": "acc1", "bob": "acc1", "cho": "acc2"}
# Columns that a list may do without.
OPTIONAL = ["JobIDRaw", "Priority", "Constraints", "QOS", "Suspended", "Eligible", "Timelimit", "ReqTRES", "SubmitLine", "AllocNodes"]
NEEDED = ["JobID", "JobName", "User", "Account", "Partition", "Submit", "Start", "End", "State", "Restarts", "ReqCPUS", "AllocCPUS", "AllocTRES"]
MANY_ENDS = ["COMPLETED"] * 8 + ["FAILED", "TIMEOUT", "CANCELLED by 1000", "OUT_OF_MEMORY", "PREEMPTED", "NODE_FAIL", "REQUEUED"]
MINUTE = 60
# Policies of the textbook beside Slurm's own. `batch-fifo` is compared with `conservative`.
OTHERS = ["batch-fifo", "easy", "conservative"]


class Part:
    name = "slurm"

    def __init__(self, binary):
        self.registry = worlds.Registry(binary)

    def make(self, rng):
        site = make_site(rng)
        # Without limits, estimates are exact, and more is known of backfilling.
        exact = rng.random() < 0.4
        jobs = make_jobs(rng, site, exact)
        batch = {entry["name"]: entry for entry in self.registry.batch()}
        own = ["slurm" + worlds.parameters(rng, batch["slurm"]) for _ in range(2)]
        more = [name + worlds.parameters(rng, batch[name]) for name in rng.sample(OTHERS, 2)]
        columns = [name for name in OPTIONAL if rng.random() < 0.8]
        return {
            "site": site,
            "jobs": jobs,
            "columns": rng.sample(NEEDED + ["ElapsedRaw", "NodeList"] + columns, len(NEEDED) + 2 + len(columns)),
            "epoch": rng.random() < 0.3,
            "steps": rng.random() < 0.3,
            "seed": rng.randrange(1000),
            "policies": sorted({*own, *more, *OTHERS}),
        }

    def smaller(self, case):
        for jobs in worlds.halves(case["jobs"]):
            kept = {job["id"] for job in jobs}
            yield case | {"jobs": [job | {"after": [one for one in job["after"] if one in kept]} for job in jobs]}
        for policies in worlds.halves(case["policies"]):
            yield case | {"policies": policies}
        for key in ("settings", "qos"):
            for name in case["site"][key]:
                if name != "normal":
                    fewer = {own: value for own, value in case["site"][key].items() if own != name}
                    yield case | {"site": case["site"] | {key: fewer}}
        for place, job in enumerate(case["jobs"]):
            for tries in worlds.halves(job["tries"]):
                yield case | {"jobs": case["jobs"][:place] + [job | {"tries": tries}] + case["jobs"][place + 1 :]}

    def judge(self, case, room):
        room.write("jobs.txt", listed(case))
        write_site(case["site"], room)
        room.ok("ingest", "jobs.txt", "--out", "T")
        trace = checker.Trace(room.path / "T")
        check_read(case, trace)
        policies = [part for policy in case["policies"] for part in ("--policy", policy)]
        more = ["--assume", "--check", "--robust", "off", "--json", "--threads", 1, "--seed", case["seed"], "--out", "R"]
        ran = room.any("replay", "T", *policies, "--site-conf", "conf", *more)
        replays.check_ended(case | {"cluster": {}}, ran)
        replays.judge_runs(room, ran.lines())
        checks_batch.judge_all(trace, replays.folders(room), checks_batch.Site(case["site"]))


# ---- the cluster ----


def make_site(rng):
    """Groups of nodes that are alike, partitions over them, qualities of service and settings."""
    single = rng.random() < 0.35
    groups, first = [], 0
    for _ in range(1 if single else rng.randint(1, 3)):
        count = 1 if single else rng.randint(1, 4)
        groups.append(
            {
                "first": first,
                "count": count,
                "cpus": rng.choice([1, 2, 4, 8]),
                "memory_mb": rng.choice([2000, 4000, 16000]),
                "gpus": rng.choice([0, 0, 1, 2]),
                "features": rng.choice([[], ["fast"], ["fast", "big"]]),
                "weight": rng.choice([1, 1, 5]),
            }
        )
        first += count
    partitions = {}
    for name in ["batch", "debug", "long"][: rng.randint(1, 3)]:
        partitions[name] = {
            "groups": sorted(rng.sample(range(len(groups)), rng.randint(1, len(groups)))),
            "tier": rng.choice([1, 1, 10]),
            "max_time": rng.choice([None, None, 30, 600]),
            "default_time": rng.choice([None, 10]),
            "exclusive": rng.random() < 0.1,
            "qos": rng.choice([None, None, "part"]),
        }
    return {
        "groups": groups,
        "partitions": partitions,
        "memory": rng.random() < 0.5,
        "licenses": rng.choice([0, 0, 1, 3]),
        "qos": {"normal": {}, "high": make_limits(rng), "part": make_limits(rng)},
        "settings": make_settings(rng),
    }


def make_limits(rng):
    """What the running jobs of a quality of service may have together, of a user and alone."""
    own = {"priority": rng.choice([0, 10, 1000])}
    for key, values in {
        "jobs_of_user": [1, 2],
        "cpus_of_user": [2, 4, 8],
        "cpus_of_all": [4, 8],
        "jobs_of_all": [1, 3],
        "cpus_of_job": [2, 8],
        "wall": [20, 120],
    }.items():
        if rng.random() < 0.25:
            own[key] = rng.choice(values)
    return own


def make_settings(rng):
    chosen = {"SchedulerType": rng.choice(["sched/backfill", "sched/backfill", "sched/builtin"])}
    chosen["PriorityType"] = rng.choice(["priority/basic", "priority/basic", "priority/multifactor"])
    for name, values in {
        "AccountingStorageEnforce": ["limits", "limits,qos", "none"],
        "PriorityWeightAge": [1000],
        "PriorityWeightJobSize": [500],
        "PriorityWeightFairshare": [10_000],
        "PriorityWeightQOS": [100],
        "PreemptType": ["preempt/partition_prio", "preempt/qos"],
        "PreemptMode": ["REQUEUE", "CANCEL"],
        "SchedulerParameters": [
            "bf_interval=5",
            "bf_job_part_count_reserve=1",
            "batch_sched_delay=10,bf_resolution=60",
            "assoc_limit_stop",
        ],
    }.items():
        if rng.random() < 0.4:
            chosen[name] = rng.choice(values)
    return chosen


def write_site(site, room):
    lines = ["ClusterName=soak", "SelectType=select/cons_tres", "GresTypes=gpu"]
    lines.append("SelectTypeParameters=" + ("CR_CPU_Memory" if site["memory"] else "CR_CPU"))
    lines += [f"{name}={value}" for name, value in site["settings"].items()]
    lines += [f"Licenses=lic:{site['licenses']}"] if site["licenses"] else []
    for group in site["groups"]:
        words = [f"NodeName={','.join(hosts(group))}", f"CPUs={group['cpus']}", f"RealMemory={group['memory_mb']}"]
        words += [f"Gres=gpu:{group['gpus']}"] if group["gpus"] else []
        words += [f"Feature={','.join(group['features'])}"] if group["features"] else []
        lines.append(" ".join([*words, f"Weight={group['weight']}"]))
    for place, (name, own) in enumerate(site["partitions"].items()):
        words = [f"PartitionName={name}", f"Nodes={','.join(hosts_of(site, own))}", f"PriorityTier={own['tier']}", "State=UP"]
        words += ["Default=YES"] if place == 0 else []
        words += [f"MaxTime={own['max_time'] or 'INFINITE'}"] + ([f"DefaultTime={own['default_time']}"] if own["default_time"] else [])
        words += (["OverSubscribe=EXCLUSIVE"] if own["exclusive"] else []) + ([f"QOS={own['qos']}"] if own["qos"] else [])
        lines.append(" ".join(words))
    room.write("conf/slurm.conf", "\n".join(lines) + "\n")
    room.write("conf/qos.txt", qualities(site["qos"]))


def qualities(all_limits):
    """As `sacctmgr -P show qos` prints them."""
    text = "Name|Priority|GrpTRES|GrpJobs|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU\n"
    for name, own in all_limits.items():
        cpus = lambda key: f"cpu={own[key]}" if key in own else ""
        wall = f"{own['wall'] // 60:02}:{own['wall'] % 60:02}:00" if "wall" in own else ""
        cells = [name, own.get("priority", 0), cpus("cpus_of_all"), own.get("jobs_of_all", ""), cpus("cpus_of_job"), wall]
        text += "|".join(map(str, [*cells, cpus("cpus_of_user"), own.get("jobs_of_user", "")])) + "\n"
    return text


def hosts(group):
    return [f"n{group['first'] + number:02}" for number in range(group["count"])]


def hosts_of(site, partition):
    return [host for place in partition["groups"] for host in hosts(site["groups"][place])]


# ---- the list ----


def make_jobs(rng, site, exact):
    all_jobs, number, submit = [], 0, 0
    while len(all_jobs) < rng.choice([1, 4, 12, 40, 60]):
        number += 1
        kind = rng.choice(["plain"] * 8 + ["array", "pending array", "components"])
        base = make_job(rng, site, number, submit, exact, all_jobs)
        if kind == "array":
            width = rng.randint(1, 4)
            all_jobs += [
                base | {"id": f"{number}_{task}", "raw": number + task, "tries": make_tries(rng), "after": []} for task in range(width)
            ]
            number += width
        elif kind == "pending array":
            never = [{"state": "PENDING", "wait": 0, "run": 0, "submit": 0}]
            all_jobs.append(base | {"id": f"{number}_[3-5,9%2]", "tries": never, "after": [], "many": 4})
        elif kind == "components":
            all_jobs += [base | {"id": f"{number}+{part}", "raw": number + part, "after": []} for part in range(2)]
            number += 1
        else:
            all_jobs.append(base)
        submit += rng.choice([0, 0, 1, 30, rng.randrange(900)])
    return all_jobs


def make_tries(rng):
    """How often it was begun, and how each try ended."""
    luck = rng.random()
    if luck < 0.04:
        return [{"submit": 0, "wait": rng.randrange(900), "run": 0, "state": rng.choice(["PENDING", "CANCELLED by 1000"])}]
    tries, submit = [], 0
    for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
        run = rng.choice([0, 1, 59, 60, 61, rng.randrange(3000), rng.randrange(3000), rng.randrange(40_000)])
        tries.append({"submit": submit, "wait": rng.choice([0, 2, rng.randrange(900)]), "run": run, "state": rng.choice(MANY_ENDS)})
        # Slurm's key of a try is its submission, so no two tries have the same.
        submit += tries[-1]["wait"] + run + rng.choice([1, 121])
    for one in tries[:-1]:
        one["state"] = rng.choice(["PREEMPTED", "NODE_FAIL", "REQUEUED", "FAILED"])
    tries[-1]["state"] = "RUNNING" if rng.random() < 0.02 else rng.choice(MANY_ENDS[:-3])
    return tries


def make_job(rng, site, number, submit, exact, before):
    user = rng.choice(list(USERS))
    partition = rng.choice(list(site["partitions"]))
    sizes = [site["groups"][place] for place in site["partitions"][partition]["groups"]]
    group = rng.choice(sizes)
    each = rng.randint(1, max(1, group["cpus"] // rng.choice([1, 2])))
    nodes = rng.choice([None, None, None, 1, rng.randint(1, group["count"] + (rng.random() < 0.05))])
    most = max(1, (nodes or group["count"]) * group["cpus"] // each)
    tasks = max(nodes or 1, rng.randint(1, most + (rng.random() < 0.05)))
    plain = [job["id"] for job in before if job["id"].isdigit()]
    run_alone = rng.random() < 0.1
    return {
        "id": str(number),
        "raw": number,
        "user": user,
        "partition": partition,
        "qos": rng.choice(["normal", "normal", "high"]),
        "priority": rng.choice([1, 100, 4294900000 - number]),
        "submit": submit,
        "eligible": rng.choice([0, 0, 0, 0, 1, 300, rng.randrange(4000)]),
        "limit": None if exact else rng.choice([None, 1, 10, 60, rng.randint(1, 600)]),
        "tasks": (nodes or 1) if run_alone else tasks,
        "each": group["cpus"] if run_alone else each,
        "nodes": (nodes or 1) if run_alone else nodes,
        "exclusive": run_alone,
        "gpus": rng.randint(1, group["gpus"]) if group["gpus"] and rng.random() < 0.3 else 0,
        "memory_mb": rng.choice([1, group["memory_mb"] // 4, group["memory_mb"] // 2]),
        "licenses": 1 if site["licenses"] and rng.random() < 0.2 else 0,
        "features": rng.choice(group["features"]) if group["features"] and rng.random() < 0.3 else "",
        "hosts": rng.sample(hosts(group), min(group["count"], nodes or rng.choice([1, 1, 2]))),
        "after": rng.sample(plain, 1) if plain and rng.random() < 0.08 else [],
        "suspended": rng.choice([0] * 12 + [30, 4000]),
        "tries": make_tries(rng),
    }


def listed(case):
    """The list as `sacct -P` prints it."""
    lines = ["|".join(case["columns"])]
    for job in case["jobs"]:
        for one in job["tries"]:
            cells = cells_of(job, one, case)
            lines.append("|".join(str(cells[name]) for name in case["columns"]))
            if case["steps"] and started(one):
                step = cells | {"JobID": f"{job['id']}.batch", "JobIDRaw": f"{job['raw']}.batch", "JobName": "batch"}
                step |= {"User": "", "Partition": "", "Timelimit": "", "QOS": "", "Priority": "", "SubmitLine": ""}
                lines.append("|".join(str(step[name]) for name in case["columns"]))
    return "\n".join(lines) + "\n"


def started(one):
    return one["state"] != "PENDING" and not (one["run"] == 0 and one["state"].startswith("CANCELLED"))


def cells_of(job, one, case):
    """A line: a try at a job."""
    submit = job["submit"] + one["submit"]
    eligible = submit + (job["eligible"] if one["submit"] == 0 else 0)
    start = eligible + one["wait"]
    ran, running = started(one), one["state"] == "RUNNING"
    # Suspended time is no part of the elapsed time.
    suspended = job.get("suspended", 0) if one is job["tries"][-1] else 0
    end = start + one["run"] + suspended if ran and not running else None
    if one["state"].startswith("CANCELLED") and not ran:
        end = start
    nodes = len(job["hosts"])
    cpus = job["tasks"] * job["each"]
    held = asked_nodes(job, case) if job["exclusive"] else cpus
    at = lambda time, other: other if time is None else written(time, case["epoch"])
    resources = f"billing={cpus},cpu={cpus}" + (f",gres/gpu={job['gpus']}" if job["gpus"] else "")
    resources += (f",license/lic={job['licenses']}" if job["licenses"] else "") + f",mem={job['memory_mb']}M"
    line = f"sbatch -n{job['tasks']} -c{job['each']}" + (f" -N {job['nodes']}" if job["nodes"] else "")
    line += (" --exclusive" if job["exclusive"] else "") + ("".join(f" --dependency=afterany:{other}" for other in job["after"]))
    return {
        "JobID": job["id"],
        "JobIDRaw": job["raw"],
        "JobName": f"job {job['raw']}",
        "User": job["user"],
        "Account": USERS[job["user"]],
        "Partition": job["partition"],
        "QOS": job["qos"],
        "Priority": job["priority"],
        "Constraints": job["features"],
        "Submit": at(submit, ""),
        "Eligible": at(eligible, ""),
        "Start": at(start if ran else None, "Unknown" if one["state"] == "PENDING" else "None"),
        "End": at(end, "Unknown"),
        "ElapsedRaw": one["run"] if ran else 0,
        "Suspended": f"{suspended // 3600:02}:{suspended // 60 % 60:02}:{suspended % 60:02}",
        "Timelimit": "UNLIMITED" if job["limit"] is None else f"{job['limit'] // 60:02}:{job['limit'] % 60:02}:00",
        "State": one["state"],
        # Without it, a row after a try that failed by itself is another job.
        "Restarts": next(place for place, other in enumerate(job["tries"]) if other is one),
        "ReqCPUS": cpus,
        "AllocCPUS": held if ran else 0,
        "AllocNodes": nodes if ran else 0,
        "ReqTRES": resources + f",node={job['nodes'] or 1}",
        "AllocTRES": resources.replace(f"cpu={cpus}", f"cpu={held}") + f",node={nodes}" if ran else "",
        "NodeList": ",".join(job["hosts"]) if ran else "None assigned",
        "SubmitLine": line + " job.sh",
    }


def asked_nodes(job, case):
    """The CPUs of all nodes of a job that has them for itself."""
    of_host = {host: group["cpus"] for group in case["site"]["groups"] for host in hosts(group)}
    return sum(of_host[host] for host in job["hosts"])


def written(time, epoch):
    if epoch:
        return EPOCH + time
    return datetime.datetime.fromtimestamp(EPOCH + time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def check_read(case, trace):
    """Each job of the list is there, with a row for each try that ran, as long as it ran."""
    single = [job for job in case["jobs"] if "many" not in job]
    many = sum(job.get("many", 0) for job in case["jobs"])
    if len(trace.jobs) != len(single) + many:
        raise Wrong("jobs of the list", f"{len(single)} + {many}, but the trace has {len(trace.jobs)}")
    of_job = {}
    for name, task in trace.tasks.items():
        of_job.setdefault(task["job_id"], []).extend(own for _, own in sorted(trace.tries.get(name, {}).items()))
    for job in single:
        wanted = [1000 * one["run"] for one in job["tries"] if started(one) and one["state"] != "RUNNING"]
        rows = of_job.get(job["id"], [])
        found = [own["finish"] - own["start"] for own in rows if own["finish"] is not None and own["start"] is not None]
        if found != wanted:
            raise Wrong("the tries of a job", f"{job['id']}: {wanted} in the list, but {found}: {rows}")
