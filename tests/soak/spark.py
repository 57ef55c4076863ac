"""Event logs of Spark, replayed under Spark's own scheduler and other policies for production traces.

Shows: each task of the log is read with its tries, and the rules of `checks_batch` hold of each schedule. A file of the cluster says that
distance costs nothing, so tasks take the times of the log.
"""

import json

import checker
import checks_batch
import replays
import worlds
from harness import Wrong

POOLS = ["etl", "adhoc", "other"]
FAILURES = {"ExceptionFailure": "FAILED", "TaskKilled": "KILLED", "FetchFailed": "FAILED"}


class Part:
    name = "spark"

    def __init__(self, binary):
        self.registry = worlds.Registry(binary)

    def make(self, rng):
        hosts = [f"w{number}" for number in range(rng.randint(1, 5))]
        batch = {entry["name"]: entry for entry in self.registry.batch()}
        drawn = {self.registry.draw(rng, self.registry.batch(), speculation=False) for _ in range(1)}
        own = {"spark" + worlds.parameters(rng, batch["spark"]) for _ in range(2)}
        return {
            "apps": make_apps(rng, hosts),
            "preferred": rng.choice([True, False]),
            "pools": {
                name: {"weight": rng.randint(1, 3), "minShare": rng.randint(0, 2), "mode": rng.choice(["FIFO", "FAIR"])}
                for name in POOLS[:2]
            },
            "site": rng.random() < 0.4,
            "seed": rng.randrange(1000),
            "policies": sorted({"spark:mode=fair", "spark:mode=fifo", "batch-fifo", *own, *drawn}),
        }

    def smaller(self, case):
        for key in ("apps", "policies"):
            for fewer in worlds.halves(case[key]):
                yield case | {key: fewer}
        for place, app in enumerate(case["apps"]):
            with_app = lambda own: case | {"apps": case["apps"][:place] + [own] + case["apps"][place + 1 :]}
            for jobs in worlds.halves(app["jobs"]):
                yield with_app(app | {"jobs": jobs})
            for number, job in enumerate(app["jobs"]):
                for stages in worlds.halves(job["stages"]):
                    kept = {stage["id"] for stage in stages}
                    stages = [stage | {"parents": [one for one in stage["parents"] if one in kept]} for stage in stages]
                    yield with_app(app | {"jobs": app["jobs"][:number] + [job | {"stages": stages}] + app["jobs"][number + 1 :]})
                for where, stage in enumerate(job["stages"]):
                    for tasks in worlds.halves(stage["tasks"]):
                        stages = job["stages"][:where] + [stage | {"tasks": tasks}] + job["stages"][where + 1 :]
                        yield with_app(app | {"jobs": app["jobs"][:number] + [job | {"stages": stages}] + app["jobs"][number + 1 :]})
        if case["site"] or case["preferred"]:
            yield case | {"site": False, "preferred": False}

    def judge(self, case, room):
        write(case, room)
        room.ok("ingest", "S", "--out", "T", "--merge")
        trace = checker.Trace(room.path / "T")
        check_read(case, trace)
        policies = [part for policy in case["policies"] for part in ("--policy", policy)]
        more = ["--site-conf", "conf"] if case["site"] else []
        more += ["--cluster", "cluster.toml", "--assume", "--check", "--robust", "off", "--json", "--threads", 1]
        ran = room.any("replay", "T", *policies, *more, "--seed", case["seed"], "--out", "R")
        replays.check_ended(case | {"cluster": {}}, ran)
        replays.judge_runs(room, ran.lines())
        cores = cores_of_hosts(case)
        for folder in replays.folders(room):
            run = checker.Replay(trace, folder)
            checks_batch.judge(run, None, exact=True)
            check_executors(run, cores)


# ---- the log ----


def make_apps(rng, hosts):
    count = rng.choice([1, 1, 1, 2, 3])
    apps = [make_app(rng, number, hosts) for number in range(count)]
    if rng.random() < 0.4:
        for app in apps:
            app["settings"]["spark.executor.memory"] = rng.choice(["1g", "2g", "5g"])
    return apps


def make_app(rng, number, hosts):
    """An application: its executors, its settings and its jobs, whose stages depend on each other."""
    cores, stage = rng.randint(1, 4), 0
    used = rng.sample(hosts, rng.randint(1, len(hosts)))
    executors = [{"host": host, "at": 0, "cores": cores} for host in used for _ in range(rng.choice([1, 1, 2]))]
    # Executors that come later; the first one is always there.
    for own in executors[1:]:
        own["at"] = rng.choice([0, 0, 0, rng.randrange(20_000)])
    jobs, submit = [], rng.randrange(3000)
    for place in range(rng.choice([1, 2, 5, 10])):
        stages = []
        for _ in range(rng.choice([1, 2, 2, 4])):
            parents = rng.sample([own["id"] for own in stages], rng.randint(0, min(2, len(stages))))
            stages.append({"id": stage, "parents": parents, "tasks": [make_task(rng, hosts) for _ in range(rng.choice([1, 2, 6, 20]))]})
            stage += 1
        jobs.append({"id": place, "submit": submit, "pool": rng.choice([*POOLS, None]), "stages": stages})
        submit += rng.choice([0, 1, rng.randrange(9000)])
    settings = {"spark.executor.cores": str(cores), "spark.scheduler.mode": rng.choice(["FIFO", "FAIR"])}
    for key, values in {
        "spark.locality.wait": ["0", "1s", "3s"],
        "spark.task.cpus": ["1", str(cores)],
        "spark.scheduler.revive.interval": ["1s", "500ms"],
    }.items():
        if rng.random() < 0.3:
            settings[key] = rng.choice(values)
    return {
        "id": f"app-{number}",
        "start": rng.choice([0, 0, rng.randrange(30_000)]),
        "executors": executors,
        "jobs": jobs,
        "settings": settings,
    }


def make_task(rng, hosts):
    """A task: how long each of its tries took, and how it ended."""
    ends = ["Success"]
    if rng.random() < 0.08:
        ends = [rng.choice(list(FAILURES)) for _ in range(rng.randint(1, 2))] + ends
    return {
        "places": rng.sample(hosts, rng.randint(1, min(2, len(hosts)))),
        "tries": [[end, rng.choice([0, 1, 150, rng.randrange(3000), rng.randrange(20_000)])] for end in ends],
    }


def events_of(app):
    """The events of an application in the order of their times. Tasks take the first free core, as if stages did not compete."""
    zero = worlds.EPOCH + app["start"]
    cores = [[zero + own["at"], place] for place, own in enumerate(app["executors"]) for _ in range(own["cores"])]
    events = [
        (zero, {"Event": "SparkListenerApplicationStart", "App Name": app["id"], "App ID": app["id"], "Timestamp": zero, "User": "ann"})
    ]
    events.append((zero, {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": app["settings"]}))
    for place, own in enumerate(app["executors"]):
        at = zero + own["at"]
        info = {"Host": own["host"], "Total Cores": own["cores"]}
        events.append((at, {"Event": "SparkListenerExecutorAdded", "Timestamp": at, "Executor ID": str(place), "Executor Info": info}))
    number, last = 0, zero + max(own["at"] for own in app["executors"])
    for job in app["jobs"]:
        submit, ends = zero + job["submit"], {}
        infos = [stage_info(stage) for stage in job["stages"]]
        properties = {"spark.scheduler.pool": job["pool"]} if job["pool"] else {}
        ids = [stage["id"] for stage in job["stages"]]
        start = {"Event": "SparkListenerJobStart", "Job ID": job["id"], "Submission Time": submit, "Stage IDs": ids}
        events.append((submit, start | {"Stage Infos": infos, "Properties": properties}))
        for stage, info in zip(job["stages"], infos):
            begun = max([submit] + [ends[parent] for parent in stage["parents"] if parent in ends])
            ends[stage["id"]] = begun
            events.append((begun, {"Event": "SparkListenerStageSubmitted", "Stage Info": info | {"Submission Time": begun}}))
            for index, task in enumerate(stage["tasks"]):
                at = begun
                for attempt, (end, time) in enumerate(task["tries"]):
                    cores.sort()
                    free, executor = cores.pop(0)
                    launch = max(at, free)
                    at = launch + time
                    cores.append([at, executor])
                    events.append((at, task_end(stage, number, index, attempt, end, launch, at, executor, app, task)))
                    number += 1
                ends[stage["id"]] = max(ends[stage["id"]], at)
            done = {"Submission Time": begun, "Completion Time": ends[stage["id"]]}
            events.append((ends[stage["id"]], {"Event": "SparkListenerStageCompleted", "Stage Info": info | done}))
        finish = max([submit, *ends.values()])
        result = {"Result": "JobSucceeded"}
        events.append((finish, {"Event": "SparkListenerJobEnd", "Job ID": job["id"], "Completion Time": finish, "Job Result": result}))
        last = max(last, finish)
    events.append((last, {"Event": "SparkListenerApplicationEnd", "Timestamp": last}))
    events.sort(key=lambda event: event[0])
    return [{"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"}] + [event for _, event in events]


def stage_info(stage):
    own = {"Stage ID": stage["id"], "Stage Attempt ID": 0, "Stage Name": f"stage {stage['id']}", "Number of Tasks": len(stage["tasks"])}
    return own | {"Parent IDs": stage["parents"]}


def task_end(stage, number, index, attempt, end, launch, finish, executor, app, task):
    host = app["executors"][executor]["host"]
    locality = "PROCESS_LOCAL" if stage["parents"] else "NODE_LOCAL" if host in task["places"] else "ANY"
    info = {
        "Task ID": number,
        "Index": index,
        "Attempt": attempt,
        "Partition ID": index,
        "Launch Time": launch,
        "Executor ID": str(executor),
    }
    info |= {"Host": host, "Locality": locality, "Speculative": False, "Finish Time": finish}
    own = {"Event": "SparkListenerTaskEnd", "Stage ID": stage["id"], "Stage Attempt ID": 0, "Task Type": "ResultTask"}
    return own | {"Task End Reason": {"Reason": end}, "Task Info": info}


def write(case, room):
    preferred = "application,stage,index,hosts\n"
    for app in case["apps"]:
        room.write(f"S/{app['id']}", "".join(json.dumps(event) + "\n" for event in events_of(app)))
        for stage in (stage for job in app["jobs"] for stage in job["stages"] if not stage["parents"]):
            for index, task in enumerate(stage["tasks"]):
                preferred += f"{app['id']},{stage['id']},{index},{' '.join(task['places'])}\n"
    if case["preferred"]:
        room.write("S/preferred.csv", preferred)
    room.write("cluster.toml", "[cost]\nlocality = [1.0, 1.0, 1.0]\n")
    pools = "".join(
        f"<pool name='{name}'><schedulingMode>{own['mode']}</schedulingMode><weight>{own['weight']}</weight>"
        f"<minShare>{own['minShare']}</minShare></pool>"
        for name, own in case["pools"].items()
    )
    room.write("conf/fairscheduler.xml", f"<?xml version='1.0'?><allocations>{pools}</allocations>")


# ---- rules ----


def check_read(case, trace):
    """The trace has all jobs, stages and tasks of the log, with their tries."""
    wanted = sorted((app["id"], job["submit"] + app["start"] + worlds.EPOCH) for app in case["apps"] for job in app["jobs"])
    found = sorted((job["group"], job["submit"]) for job in trace.jobs.values())
    if wanted != found:
        raise Wrong("jobs of the logs", f"{wanted} in the logs, but {found}")
    tasks = [task for app in case["apps"] for job in app["jobs"] for stage in job["stages"] for task in stage["tasks"]]
    wanted = sorted([(FAILURES.get(end, "SUCCESS"), time) for end, time in task["tries"]] for task in tasks)
    read = ([own for _, own in sorted(trace.tries[name].items())] for name in trace.tasks)
    found = sorted([(own["outcome"], own["finish"] - own["start"]) for own in rows] for rows in read)
    if wanted != found:
        raise Wrong("tries of the logs", f"{[pair for pair in zip(wanted, found) if pair[0] != pair[1]][:3]}")


def cores_of_hosts(case):
    """The most cores that the executors of a host had together, and when the first of them came. They leave with their application."""
    held, since = {}, {}
    for app in case["apps"]:
        end = events_of(app)[-1]["Timestamp"]
        for own in app["executors"]:
            at = worlds.EPOCH + app["start"] + own["at"]
            held.setdefault(own["host"], []).append((at, max(at + 1, end), own["cores"]))
            since[own["host"]] = min(at, since.get(own["host"], at))
    return {host: checker.most_at_once(spans) for host, spans in held.items()}, since


def check_executors(run, cores_since):
    """No host runs more tasks than its executors have cores, or before the first of them has come."""
    cores, since = cores_since
    zero = run.info["clock"]["zero"]
    by_host = {}
    for row in run.attempts:
        if row["start"] is not None:
            by_host.setdefault(row["host"], []).append(row)
    for host, own in by_host.items():
        most = checker.most_at_once(checker.spans(own, lambda row: row["cpu_request"]))
        run.expect(most <= 1000 * cores.get(host, 0), "cores of the executors of a host", host, most, cores.get(host))
        first = min(row["start"] for row in own)
        run.expect(first >= since[host] - zero, "a task before the first executor of its host", host, first, since[host] - zero)
