"""Random worlds: jobs, machines, rules of the cluster, queues and policies. A world is a dictionary that JSON can hold.

Every world can be replayed to its end: a node holds each kind of task, and one node is never lost.
"""

import json
import re
import subprocess

from harness import halves

# 2001-09-09, so that times look like those of a real log.
EPOCH = 1_000_000_000_000
USERS = ["ann", "bob", "cho"]
# Leaves of the nested queues below, and a queue that no file names.
QUEUES = ["etl.daily", "etl.hourly", "adhoc", "other"]
PRIORITIES = ["VERY_HIGH", "HIGH", "NORMAL", "NORMAL", "NORMAL", "LOW", "VERY_LOW"]
# The parameters that name a file of queues, by policy.
POOLS = {"fair": "allocations", "fair-deficit": "allocations", "coupling": "allocations"}
YARN = ["yarn-fifo", "yarn-fair", "yarn-capacity", "dress"]


class Registry:
    """The policies of the program under test."""

    def __init__(self, binary):
        entries = json.loads(subprocess.run([binary, "policies", "--json"], check=True, capture_output=True).stdout)
        self.policies = [entry for entry in entries if entry["role"] == "policy"]
        self.speculators = [entry for entry in entries if entry["role"] == "speculator"]

    def hadoop(self):
        return [entry for entry in self.policies if "Production" not in entry["family"]]

    def batch(self):
        return [entry for entry in self.policies if "Production" in entry["family"]]

    def draw(self, rng, entries, speculation=True):
        """A policy with some parameters, and sometimes a speculator. Files of queues are added by `with_queues`."""
        entry = rng.choice(entries)
        text = entry["name"] + parameters(rng, entry)
        if speculation and rng.random() < 0.25:
            other = rng.choice(self.speculators)
            text += "+" + other["name"] + parameters(rng, other)
        return text


def parameters(rng, entry):
    """Some parameters with values in their ranges, as a policy is written."""
    chosen = []
    for own in entry["parameters"]:
        value = drawn_value(rng, own) if rng.random() < 0.15 else None
        if value is not None:
            chosen.append(f"{own['key']}={value}")
    return ":" + ",".join(chosen) if chosen else ""


# Values in range that may leave work undone for ever, or take very many events: they are other tests' subject.
STALLING = {
    "max_am_share",
    "user_limit_factor",
    "am_share",
    "cpu_slots",
    "io_slots",
    "cpu_reduce_slots",
    "io_reduce_slots",
    "min_slots",
    "max_slots",
    "n",
    "phase",
    "bf_phase",
    "bf_ran_at",
    "executors",
    "executor_cores",
    "cores_max",
    "min_executors",
    "max_executors",
    "initial_executors",
    "task_cpus",
    "omega",
    "lambda",
    "manager",
    "dynamic",
}


def drawn_value(rng, parameter):
    """A value of a parameter, or None if it takes a file or is left alone."""
    texts = parameter["range"].split("|")
    if parameter["key"] in STALLING or texts == ["file"]:
        return None
    text = rng.choice(texts)
    numbers = re.fullmatch(r"(-?[0-9.]+)\.\.(-?[0-9.]+)", text)
    if numbers is None:
        return text
    low, high = (float(number) for number in numbers.groups())
    if high <= 1:
        return round(rng.uniform(low, high), 3)
    if parameter["unit"] == "ms":
        # A tick of a millisecond over days is slow, and allowed.
        return int(max(low, rng.choice([200, 1000, 3000, 20000])))
    return int(min(high, max(low, rng.choice([1, 2, 5, 40]))))


# ---- jobs ----


def attempt(rng, kind, start, outcome):
    """One try: a start, a length and, for a reduce, the ends of its shuffle and sort."""
    length = rng.choice([0, 1, 500, 3000, rng.randrange(1000, 60000), rng.randrange(1000, 20000)])
    own = {"start": start, "finish": start + length, "outcome": outcome}
    if kind == "reduces" and rng.random() < 0.9:
        cuts = sorted([rng.randrange(length + 1), rng.randrange(length + 1)])
        own["shuffle"], own["sort"] = start + cuts[0], start + cuts[1]
    return own


def outcomes(rng):
    """How the tries at a task ended."""
    luck = rng.random()
    if luck < 0.86:
        return ["SUCCESS"]
    if luck < 0.93:
        return ["FAILED"] * rng.randint(1, 2) + ["SUCCESS"]
    if luck < 0.98:
        return ["KILLED", "SUCCESS"]
    return [] if luck < 0.995 else ["FAILED"] * 4


def task(rng, kind, start, hosts):
    tries, at = [], start
    for outcome in outcomes(rng):
        tries.append(attempt(rng, kind, at, outcome) | {"host": rng.choice(hosts)})
        at = tries[-1]["finish"] + 1000
    places = [] if kind == "reduces" or rng.random() < 0.05 else rng.sample(hosts, min(len(hosts), rng.randint(1, 3)))
    return {"tries": tries, "places": places}


def job(rng, number, submit, hosts):
    start = submit + rng.randrange(2000, 8000)
    own = {
        "number": number,
        "submit": submit,
        "user": rng.choice(USERS),
        "queue": rng.choice(QUEUES),
        "priority": rng.choice(PRIORITIES),
        "setup": rng.random() < 0.3,
        "maps": [task(rng, "maps", start, hosts) for _ in range(rng.choice([1, 2, 5, 12, rng.randint(1, 30)]))],
        "reduces": [task(rng, "reduces", start, hosts) for _ in range(rng.choice([0, 0, 1, 2, 6]))],
    }
    return own


def rumen_task(own, job_number, kind, number, racks):
    letter = {"maps": "m", "reduces": "r", "other": "m"}[kind]
    name = f"1_{job_number:04}_{letter}_{number:06}"
    tries = []
    for count, one in enumerate(own["tries"]):
        fields = {
            "attemptID": f"attempt_{name}_{count}",
            "hostName": f"/{racks[one['host']]}/{one['host']}",
            "startTime": EPOCH + one["start"],
            "finishTime": EPOCH + one["finish"],
            "result": one["outcome"],
        }
        if "shuffle" in one:
            fields |= {"shuffleFinished": EPOCH + one["shuffle"], "sortFinished": EPOCH + one["sort"]}
        tries.append(fields)
    ended = [one["outcome"] for one in own["tries"]]
    status = "SUCCESS" if "SUCCESS" in ended or not ended else "FAILED"
    return {
        "taskID": f"task_{name}",
        "taskType": {"maps": "MAP", "reduces": "REDUCE", "other": own.get("type")}[kind],
        "taskStatus": status,
        "startTime": tries[0]["startTime"] if tries else -1,
        "finishTime": tries[-1]["finishTime"] if tries else -1,
        "attempts": tries,
        "preferredLocations": [{"layers": [racks[host], host]} for host in own["places"]],
    }


def rumen_job(own, racks):
    """A job as Rumen writes it."""
    number = own["number"]
    of_kind = {kind: [rumen_task(task, number, kind, place, racks) for place, task in enumerate(own[kind])] for kind in ("maps", "reduces")}
    tasks = of_kind["maps"] + of_kind["reduces"]
    # 7 if all times are multiplied by it.
    unit = own.get("unit", 1)
    finish = max([EPOCH + own["submit"] + 9000 * unit] + [task["finishTime"] for task in tasks]) + 1500 * unit
    failed = any(task["taskStatus"] == "FAILED" for task in tasks)
    # Numbers far from those of maps, as Hadoop gives them to set-up and clean-up tasks.
    others = [
        rumen_task(
            {"tries": [{"start": at, "finish": at + 700 * unit, "outcome": "SUCCESS", "host": min(racks)}], "places": [], "type": kind},
            number,
            "other",
            900_000 + place,
            racks,
        )
        for place, (kind, at) in enumerate([("SETUP", own["submit"] + 500 * unit), ("CLEANUP", finish - EPOCH - 800 * unit)])
        if own["setup"]
    ]
    return {
        "jobID": f"job_1_{number:04}",
        "jobName": own.get("name", f"job {number}"),
        "user": own["user"],
        "queue": own["queue"],
        "priority": own["priority"],
        "submitTime": EPOCH + own["submit"],
        "launchTime": EPOCH + own["submit"] + 1000 * unit,
        "finishTime": finish,
        "outcome": "FAILED" if failed else "SUCCESS",
        "totalMaps": len(own["maps"]),
        "totalReduces": len(own["reduces"]),
        "mapTasks": of_kind["maps"],
        "reduceTasks": of_kind["reduces"],
        "otherTasks": others,
    }


def topology(racks):
    children = {}
    for host, rack in racks.items():
        children.setdefault(rack, []).append({"name": host, "children": None})
    return {"name": "<root>", "children": [{"name": rack, "children": hosts} for rack, hosts in children.items()]}


# ---- tables of Google ----


def machine_events(rng, names):
    """When machines come (0), go (1) and change (2), in s, with their processor and memory as shares of the largest machine."""
    events = []
    for name in names:
        size = lambda: [rng.choice([0.5, 1.0]), rng.choice([0.25, 0.5, 1.0])]
        events.append([0, name, 0, *size()])
        at = rng.randrange(700, 1500)
        for kind in rng.choice([[], [], [1], [1, 0], [2], [2, 1, 0]]):
            events.append([at, name, kind, *size()])
            at += rng.randrange(1, 900)
    return events


def google_tasks(rng, names):
    """Tasks, each with its job, its request and its events: the time in s, the event and the machine."""
    tasks = []
    for place in range(rng.randint(1, 40)):
        at = rng.randrange(600, 2000)
        events = []
        for end in rng.choice([[4], [4], [4], [2, 4], [3, 4], [5], [6, 4], [], [3]]):
            start = at + rng.randrange(0, 60)
            finish = start + rng.choice([0, 1, rng.randrange(1, 1500)])
            machine = rng.choice(names)
            events += [[at, 0, ""], [start, 1, machine], [finish, end, machine]]
            at = finish
        request = [rng.choice([0.05, 0.25, 0.5]), rng.choice([0.01, 0.25])]
        tasks.append(
            {
                "job": rng.randint(1, 8),
                "index": place,
                "priority": rng.choice([0, 4, 9]),
                "request": request,
                "events": events or [[at, 0, ""]],
            }
        )
    return tasks


def write_tables(case, room):
    """Writes the tables, whose times are in microseconds, and ingests them as the trace T."""
    microseconds = 1_000_000
    machines = [f"{at * microseconds},{name},{kind},p,{cpu},{memory}\n" for at, name, kind, cpu, memory in sorted(case["machines"])]
    rows = []
    for task in case["tasks"]:
        user, (cpu, memory) = f"user{task['job'] % 3}", task["request"]
        for at, kind, machine in task["events"]:
            rest = f"{machine},{kind},{user},1,{task['priority']},{cpu},{memory},0.1,0"
            rows.append((at, f"{at * microseconds},,{task['job']},{task['index']},{rest}\n"))
    # In the order of time. The events of a task at one time keep their order.
    rows.sort(key=lambda row: row[0])
    room.write("tables/machine_events/part-00000-of-00001.csv", "".join(machines))
    room.write("tables/task_events/part-00000-of-00001.csv", "".join(text for _, text in rows))
    room.ok("ingest", "tables", "--out", "T")


# ---- the cluster ----


def hosts(rng, most=12):
    """The rack of each host."""
    count, racks = rng.randint(1, most), rng.randint(1, 4)
    return {f"h{number:02}": f"r{number % racks}" for number in range(count)}


def resized(racks, count):
    """The rack of each machine after the cluster was cut or grown (docs/cluster-files.md): machines are taken from each rack in turn, by
    name, and further ones are clones of these."""
    places = {}
    order = []
    for host in sorted(racks):
        places[racks[host]] = places.get(racks[host], -1) + 1
        order.append((places[racks[host]], racks[host], host))
    order.sort()
    names = {}
    for number in range(count):
        _, rack, host = order[number % len(order)]
        turn = number // len(order)
        names[f"{host}~{turn + 1}" if turn else host] = rack
    return names


def cluster(rng, names):
    """A cluster file, as nested dictionaries."""
    interval = rng.choice([300, 1000, 3000])
    own = {
        "nodes": {"map_slots": rng.randint(1, 4), "reduce_slots": rng.randint(1, 3)},
        "heartbeat": {
            "interval": rng.choice([interval, "mr1-2009", "mr1-2011"]),
            "phase": rng.choice(["spread", "together"]),
            "out_of_band": rng.random() < 0.3,
            "expiry": rng.choice([9000, 30000, 600000]),
            "jitter": rng.choice([0, 0, 140]),
        },
        "jobs": {
            "slowstart": rng.choice([0.0, 0.05, 0.5, 1.0]),
            "setup": rng.choice(["logged", "fixed"]),
            "init_delay": rng.choice([0, 0, 1500]),
            "setup_time": rng.choice([0, 0, 2000]),
            "cleanup_time": rng.choice([0, 0, 2000]),
            "launch_overhead": rng.choice([0, 0, 70]),
            "max_attempts": rng.choice([4, 4, 1, 2]),
        },
        "cost": {
            "locality": rng.choice([[1.0, 1.5, 3.0], [1.0, 1.0, 1.0], [1.0, 1.1, 1.3]]),
            "reduce": rng.choice(["r0", "r1", "r2"]),
        },
        "containers": containers(rng),
        "am": {"withdraws": rng.choice(["heartbeat", "grant"])},
    }
    changes(rng, own, names)
    own["outages"] = outages(rng, names)
    return own


def containers(rng):
    """Sizes such that a master, a map and a reduce fit on a node together."""
    step = rng.choice([256, 512, 1024])
    sizes = {kind: {"memory_mb": rng.randint(1, 3 * step), "vcores": rng.randint(1, 2)} for kind in ("am", "map", "reduce")}
    return sizes | {
        "minimum": {"memory_mb": step, "vcores": 1},
        "maximum": {"memory_mb": 4 * step, "vcores": 4},
        "memory_mb": 9 * step + rng.randint(0, 6 * step),
        "vcores": rng.randint(6, 10),
        "calculator": rng.choice(["memory", "dominant"]),
        "node_heartbeat": rng.choice([500, 1000]),
        "am_heartbeat": rng.choice([500, 1000]),
    }


def changes(rng, own, names):
    """What makes tasks take another time than in the log."""
    luck = rng.random()
    if luck < 0.1:
        own["cost"]["slow_nodes"] = {"share": 0.3, "factor": 2.5}
    elif luck < 0.2:
        own["cost"]["stragglers"] = {"share": 0.2, "factor": 4.0}
    elif luck < 0.3:
        own["cost"]["host_factors"] = {rng.choice(names): rng.choice([0.5, 3.0])}
    elif luck < 0.4:
        own["cost"] |= {"reduce": "r2", "contention": {"cores": 2.0, "disk": 5e7, "network": 2e7}}
    elif luck < 0.5:
        own["nodes"]["copying_reduces"] = rng.randint(1, 2)
    if rng.random() < 0.3:
        own["cost"]["backup"] = "job"


def outages(rng, names):
    """Nodes that are lost for some time or for ever. The first one never is."""
    lost = rng.sample(names[1:], min(len(names) - 1, rng.choice([0, 0, 1, 2])))
    down = []
    for host in lost:
        start = rng.randrange(1000, 120000)
        down.append({"host": host, "from": start} | ({"to": start + rng.randrange(1000, 90000)} if rng.random() < 0.7 else {}))
    return down


def queue_files(rng):
    """The files of queues: pools, and nested queues of three schedulers."""
    weight = lambda: rng.choice([0.5, 1.0, 2.0])
    capacity = rng.choice([20, 50, 70])
    pools = {name: {"weight": weight(), "mode": rng.choice(["fair", "fifo"]), "min_maps": rng.randint(0, 3)} for name in USERS[:2]}
    fair = {
        name: {"weight": weight(), "policy": rng.choice(["fair", "fifo", "drf"]), "max_apps": rng.randint(1, 5)}
        for name in ("etl.daily", "etl.hourly", "adhoc")
    }
    fair["etl"] = {"weight": weight(), "policy": rng.choice(["fair", "drf"]), "min_memory_mb": rng.choice([0, 1024])}
    capacities = lambda more: {
        "etl": {"capacity": capacity},
        "adhoc": {"capacity": 100 - capacity} | more(),
        "etl.daily": {"capacity": 60} | more(),
        "etl.hourly": {"capacity": 40} | more(),
    }
    limit = lambda: {"minimum_user_limit": rng.choice([25, 50, 100])}
    return {
        "allocations": {"pools": pools, "user_max_jobs": rng.randint(1, 4)},
        "yarn-fair": {"queues": fair},
        "yarn-capacity": {"queues": capacities(limit)},
        "capacity": {"queues": capacities(lambda: limit() | {"priorities": rng.random() < 0.5})},
    }


def children(queues, path):
    """The queues right below a path."""
    return [name for name in queues if name.rpartition(".")[0] == path]


def fair_xml(queues, path=""):
    """Nested queues as `fair-scheduler.xml` of YARN has them."""
    words = {"weight": "weight", "policy": "schedulingPolicy", "max_apps": "maxRunningApps", "min_memory_mb": "minResources"}
    text = ""
    for name in children(queues, path):
        settings = "".join(
            f"<{words[key]}>{value}{' mb, 0 vcores' if key == 'min_memory_mb' else ''}</{words[key]}>"
            for key, value in queues[name].items()
        )
        text += f"<queue name='{name.rpartition('.')[2]}'>{settings}{fair_xml(queues, name)}</queue>"
    return text


def capacity_xml(queues):
    """Nested queues as the properties of `capacity-scheduler.xml` of YARN."""
    words = {"capacity": "capacity", "minimum_user_limit": "minimum-user-limit-percent"}
    properties = {}
    for path in ["", *queues]:
        full = "root" + ("." + path if path else "")
        below = [name.rpartition(".")[2] for name in children(queues, path)]
        if below:
            properties[f"{full}.queues"] = ",".join(below)
        properties |= {f"{full}.{words[key]}": value for key, value in queues.get(path, {}).items()}
    lines = [
        f"<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>" for name, value in properties.items()
    ]
    return "<configuration>" + "".join(lines) + "</configuration>"


def write_site(queues, room):
    """The queues of YARN as files of a site."""
    room.write("site/fair-scheduler.xml", f"<allocations>{fair_xml(queues['yarn-fair']['queues'])}</allocations>")
    room.write("site/capacity-scheduler.xml", capacity_xml(queues["yarn-capacity"]["queues"]))


def with_queues(rng, policy):
    """Adds the file of queues that the policy takes, sometimes."""
    name, plus, rest = policy.partition("+")
    base = name.partition(":")[0]
    key, file = (POOLS.get(base), "allocations") if base in POOLS else ("queues", base)
    if base not in [*POOLS, "yarn-fair", "yarn-capacity", "capacity"] or rng.random() < 0.5:
        return policy
    return f"{name}{',' if ':' in name else ':'}{key}={file}.toml{plus}{rest}"


# ---- files ----


def toml(table):
    """A nested dictionary as TOML."""
    return "".join(f"{json.dumps(key)} = {inline(value)}\n" for key, value in table.items() if value is not None)


def inline(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {inline(own)}" for key, own in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(own) for own in value) + "]"
    return json.dumps(value)


def write_world(world, room):
    """Writes the files of a world, and ingests its jobs as the trace T."""
    racks = world["hosts"]
    room.write("cluster.toml", toml(world["cluster"]))
    for name, table in world.get("queues", {}).items():
        room.write(f"{name}.toml", toml(table))
    if "workload" in world:
        room.write("workload.toml", toml(world["workload"]))
        room.ok("generate", "workload.toml", "--out", "T", "--seed", world["seed"])
        return
    write_jobs(world["jobs"], racks, room, "T")


def write_jobs(jobs, racks, room, trace):
    room.write(f"{trace}-in/trace.json", "\n".join(json.dumps(rumen_job(own, racks)) for own in jobs))
    room.write(f"{trace}-in/topology.json", json.dumps(topology(racks)))
    room.ok("ingest", f"{trace}-in", "--out", trace)


def jobs(rng, racks, most=10):
    names, submit, all_jobs = list(racks), rng.choice([0, 1000]), []
    for number in range(1, rng.randint(1, most) + 1):
        all_jobs.append(job(rng, number, submit, names))
        submit += rng.choice([0, 0, 100, rng.randrange(30000), 3000])
    return all_jobs


def workload(rng):
    """A workload file, as nested dictionaries."""
    nodes = rng.randint(1, 12)
    classes = {
        f"c{number}": {
            "map_mean_s": rng.choice([0.5, 4.0, 20.0]),
            "map_variation": rng.choice([0.0, 0.4]),
            "reads_input": rng.random() < 0.8,
            "map_selectivity": rng.choice([0.0, 0.5]),
            "reduce_mean_s": rng.choice([0.0, 3.0, 30.0]),
            "reduce_variation": rng.choice([0.0, 0.3]),
        }
        for number in range(2)
    }
    entries = [
        {
            "class": rng.choice(list(classes)),
            "submit_s": rng.choice([0.0, 7.5, round(rng.uniform(0, 100), 1)]),
            "maps": rng.choice([1, 3, 20]),
            "reduces": rng.choice([0, 1, 4]),
            "user": rng.choice(USERS),
            "queue": rng.choice(QUEUES),
            "priority": rng.choice(PRIORITIES),
            "repeat": rng.choice([1, 1, 3]),
            "every_s": rng.choice([0.0, 5.0]),
        }
        for _ in range(rng.randint(1, 6))
    ]
    machines = {
        "nodes": nodes,
        "racks": rng.randint(1, nodes),
        "map_slots": rng.randint(1, 4),
        "reduce_slots": rng.randint(1, 3),
        "replication": rng.randint(0, 3),
    }
    return {"name": "soak", "cluster": machines, "classes": classes, "jobs": entries}


def smaller_world(world):
    """Smaller worlds: fewer policies, jobs, tasks, lost nodes and rules."""
    for policies in halves(world["policies"]):
        yield world | {"policies": policies}
    for own in halves(world.get("jobs", [])):
        yield world | {"jobs": own}
    for place, own in enumerate(world.get("jobs", [])):
        for kind in ("maps", "reduces"):
            for fewer in halves(own[kind]):
                yield world | {"jobs": world["jobs"][:place] + [own | {kind: fewer}] + world["jobs"][place + 1 :]}
    if "workload" in world:
        for entries in halves(world["workload"]["jobs"]):
            yield world | {"workload": world["workload"] | {"jobs": entries}}
    for table in list(world["cluster"]):
        if table not in ("nodes", "containers"):
            yield world | {"cluster": {key: value for key, value in world["cluster"].items() if key != table}}
        for key in world["cluster"][table] if isinstance(world["cluster"][table], dict) and table != "containers" else []:
            fewer = {own: value for own, value in world["cluster"][table].items() if own != key}
            yield world | {"cluster": world["cluster"] | {table: fewer}}
