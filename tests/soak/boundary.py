"""What people may hand to the Python package: data frames, policies that lie, and steps of an agent.

Shows: nothing but exceptions of the package or of Python comes out, and the process ends by itself. A trace of frames has the rows and the
numbers that were given, except for what it counts as left out, and can be replayed. After a policy that lies, nothing half is left, and an
honest call gives the bytes that it gave before.

`boundary_child.py` does what a case describes, in a process of its own, and prints what came out.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import worlds
from harness import Skipped, Wrong

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
CHILD = HERE / "boundary_child.py"
TABLES = ["jobs", "tasks", "attempts", "splits", "nodes"]
# Of each column, some types that hold its values, and some that do not.
TYPES = [
    *["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool"],
    *["decimal128(38, 0)", "decimal128(20, 3)", "decimal256(60, 3)", "date32", "date64", "time32(ms)", "time64(us)"],
    *[f"timestamp({unit})" for unit in ("s", "ms", "us", "ns")],
    *[f"timestamp(ms, {zone})" for zone in ("UTC", "Europe/Berlin", "+14:00", "No/Such")],
    *[f"duration({unit})" for unit in ("s", "ms", "us", "ns")],
    *["string", "large_string", "string_view", "binary", "large_binary", "dictionary", "dictionary of null", "null"],
    *["list", "large_list", "struct", "map", "run_end_encoded", "union", "interval"],
    # What no honest library makes: keys without a value, and texts that are no UTF-8.
    *["false dictionary", "false string"],
]
NUMBERS = [0, 1, -1, 0.5, 127, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, "nan", "inf", 1e300, "1.5", "x", "", None, None]
TEXTS = ["", "a", "é😀", "\0", "a/b", "..", "\n", "x" * 70_000, "\u202e", None, None, 7, True]
# Columns of jobs that an ingest leaves as they are.
KEPT_NUMBERS = ["priority_number", "scheduling_class", "nice"]
# How an object hands its batches out.
SOURCES = [
    *["bare", "reader", "polars", "pandas", "fails", "another schema", "fewer columns", "structs", "structs with null", "numbers"],
    *["raises", "nothing", "a text", "another capsule", "a used stream", "a dictionary", "a number", "no stream"],
]
SYSTEMS = [*[None, "batch"] * 5, "mapreduce-1", "yarn", "spark", "slurm", "slurm", "pbs", ""]
EXCEPTIONS = [
    *["ValueError", "ZeroDivisionError", "RecursionError", "MemoryError", "StopIteration", "KeyboardInterrupt", "SystemExit"],
    *["GeneratorExit", "TimeoutError", "OwnError", "OwnEnd", "Unspeakable"],
]
# Words of the policies' views, right and wrong.
WORDS = ["map", "reduce", "node", "rack", "any", "off-rack", "am", "failed-map", "reserve", "no-room", "", "\0", "x" * 1000]
ODD = [{"big": exponent} for exponent in (31, 32, 63, 64, 200)] + [
    *[None, -1, 0, 1, 3, 10**6, 1.5, True, "", [], [[0, 1]], [[0, 0]], [[0, 2**32]], {"float": "nan"}, {"float": "inf"}],
    *[{"range": 3}, {"range": 10**12}, {"range": 2**62}, {"array": "int64"}, {"array": "float64"}, {"array": "two"}, {"array": "uint64"}],
    *[{"odd": "length"}, {"odd": "index"}, {"odd": "truth"}, {"odd": "text"}],
]
REFERENCES = ["job", "task", "node", "run"]
HOOKS = {
    "slots": ["heartbeat", "job_submitted", "job_finished", "task_waits", "task_started", "task_finished", "tick", "tick_from"]
    + ["skips_idle_ticks", "restless", "counts_heartbeats", "declines"],
    "batch": ["schedule", "decide", "job_submitted", "job_finished", "task_waits", "task_finished", "nodes_changed", "tick"]
    + ["skips_idle_ticks", "alarm"],
}
HOOKS["yarn"] = [*HOOKS["slots"], "container_changed", "headroom", "may_use"]
ATTRIBUTES = {
    "period": [None, 1000, 3000, 60_000, 0, -1, 2**63 - 1, -(2**63), {"big": 63}, 1.5, "x"],
    "phase": [0, 5, -1, 2**63 - 1, -(2**63), None],
    "window": [1, 2, 1024, 0, -1, {"big": 40}, {"big": 64}, 1.5, None],
    "seconds": [None, 5.0, 0.1, 0.0, -1, {"float": "nan"}, {"float": "inf"}, 1e300, "x"],
    "calculator": [None, "memory", "dominant", "", 7],
    "system": ["slots", "yarn", "", None, 3],
    "oracle": [True, False, None, 2],
    "ramps_reduces": [True, False, "x"],
    "draws": [True, False, None],
}
# What a row may lose: a cause of `skipped` by which a whole job is left out.
LEFT_OUT = ["oversized-id", "duplicate-job", "too-many-tasks"]


class Part:
    name = "boundary"

    def __init__(self, _binary):
        self.columns = columns()
        self.methods = methods()
        self.missing = None

    def make(self, rng):
        kind = rng.choice(["frames", "frames", "frames", "policy", "policy", "agent"])
        return {"kind": kind} | getattr(self, f"make_{kind}")(rng)

    def smaller(self, case):
        if case["kind"] == "frames":
            yield from smaller_frames(case)
        elif case["kind"] == "policy":
            for fewer in halves_or_none(case["lies"]):
                yield case | {"lies": fewer}
            for name in case["attributes"]:
                yield case | {"attributes": {key: value for key, value in case["attributes"].items() if key != name}}
            for fewer in worlds.halves(case["jobs"]):
                yield case | {"jobs": fewer}
        else:
            for key in ("steps", "jobs"):
                for fewer in worlds.halves(case[key]):
                    yield case | {key: fewer}

    def judge(self, case, room):
        self.require(room)
        if "hosts" in case:
            room.write("in/trace.json", "\n".join(json.dumps(worlds.rumen_job(own, case["hosts"])) for own in case["jobs"]))
            room.write("in/topology.json", json.dumps(worlds.topology(case["hosts"])))
        room.write("case.json", json.dumps(case))
        # Python writes its caches elsewhere, so that the folder of the trial has only what the package wrote.
        ran = room.any(CHILD, "case.json", program=sys.executable, environment={"PYTHONDONTWRITEBYTECODE": "1"})
        if ran.code != 0:
            raise Wrong("the process of the trial fails", str(ran))
        for said in ran.lines():
            if "skipped" in said:
                raise Skipped(said["skipped"])
            if "wrong" in said:
                raise Wrong(said["wrong"], said["text"])
            if "made" in said:
                check_made(case, said["made"])

    def require(self, room):
        """The package is asked for once."""
        if self.missing is None:
            asked = [sys.executable, "-c", "import resched, resched._native"]
            self.missing = subprocess.run(asked, cwd=room.path, capture_output=True, check=False).returncode != 0
        if self.missing:
            raise Skipped("this Python has no package `resched`", always=True)

    # ---- data frames ----

    def make_frames(self, rng):
        frames = honest_frames(rng)
        for table, frame in frames.items():
            self.add_columns(rng, table, frame)
        if rng.random() < 0.5:
            self.odd_numbers(rng, frames["jobs"])
        for _ in range(rng.choice([0, 1, 1, 1, 2, 4])):
            self.spoil(rng, *rng.choice(list(frames.items())))
        return {
            "frames": frames,
            "system": rng.choice(SYSTEMS),
            "dated": rng.random() < 0.3,
            "name": rng.choice([*["frames"] * 5, "", "\0", "é😀", "x" * 100_000]),
        }

    def add_columns(self, rng, table, frame):
        """More columns of the table, with values that they may have."""
        more = [name for name in self.columns[table] if name not in {own["name"] for own in frame["columns"]}]
        for name in rng.sample(more, min(len(more), rng.choice([0, 1, 3, 8]))):
            kind, words, nullable = self.columns[table][name]
            values = {"text": words or ["u", "v"], "integer": [0, 1, 100, 2**31], "boolean": [True, False], "list of texts": [[]]}[kind]
            draw = lambda values=values + [None] * nullable: rng.choice(values)
            types = {"integer": rng.choice(["int64", "int64", "float64", "uint64"]), "boolean": "bool", "list of texts": "list"}
            frame["columns"].append({"name": name, "type": types.get(kind, "string"), "values": [draw() for _ in range(rows_of(frame))]})

    def odd_numbers(self, rng, frame):
        """A column of numbers that an ingest leaves as they are, of any type."""
        name = rng.choice([name for name in KEPT_NUMBERS if name not in {own["name"] for own in frame["columns"]}] or KEPT_NUMBERS)
        values = [rng.choice(NUMBERS[:6] + [None] if rng.random() < 0.8 else NUMBERS) for _ in range(rows_of(frame))]
        left = [own for own in frame["columns"] if own["name"] != name]
        frame["columns"] = [*left, {"name": name, "type": rng.choice(TYPES), "values": values}]

    def spoil(self, rng, table, frame):
        """One thing that is wrong, or at least unusual."""
        own = rng.choice(frame["columns"])
        rows = rows_of(frame)
        what = rng.choice(
            ["type", "type", "type", "value", "value", "drop", "repeat", "unknown", "empty", "row", "source", "source", "chunks"]
        )
        if what == "type":
            own["type"] = rng.choice(TYPES)
        elif what == "value" and rows:
            own["values"][rng.randrange(rows)] = rng.choice(NUMBERS + TEXTS)
        elif what == "drop" and len(frame["columns"]) > 1:
            frame["columns"].remove(own)
        elif what == "repeat":
            frame["columns"].append(own | {"values": rng.sample(own["values"], rows)})
        elif what == "unknown":
            frame["columns"].append(own | {"name": rng.choice(["", "Job_id", "job_id ", "\0", "x" * 5000, own["name"] + "s"])})
        elif what == "empty":
            for column in frame["columns"]:
                column["values"] = []
        elif what == "row" and rows:
            row = rng.randrange(rows)
            for column in frame["columns"]:
                column["values"].append(column["values"][row])
        elif what == "source":
            frame["source"] = rng.choice(SOURCES)
        elif what == "chunks":
            frame["chunks"] = rng.choice([2, 3, 50])

    # ---- policies ----

    def make_policy(self, rng):
        engine = rng.choice(["slots", "yarn", "batch", "batch"])
        decision = rng.choice(["schedule", "decide"]) if engine == "batch" else "heartbeat"
        hooks = [hook for hook in HOOKS[engine] if hook not in ("schedule", "decide", "heartbeat")] + 3 * [decision]
        own = {
            "engine": engine,
            "decision": decision,
            "lies": [self.lie(rng, engine, rng.choice(hooks)) for _ in range(rng.choice([0, 1, 1, 2, 5, 12]))],
            "attributes": {name: rng.choice(ATTRIBUTES[name]) for name in ATTRIBUTES if rng.random() < 0.06},
            "seed": rng.randrange(100),
        }
        # Ticks come only with a period.
        if any(lie["hook"] in ("tick", "tick_from", "skips_idle_ticks") for lie in own["lies"]):
            own["attributes"].setdefault("period", 3000)
        return own | world_of(rng, engine)

    def lie(self, rng, engine, hook):
        """What a policy does at some call of a method, in the place of what it should do or before that."""
        name = rng.choice(self.methods["batch" if engine == "batch" else "hadoop"])
        do = rng.choice(
            ["call", "call", "call", "call", "raise", "return", "return", "keep", "late", "nested", "thread", "garbage", "slow"]
        )
        if hook in ("decide", "tick_from", "alarm", "headroom") and rng.random() < 0.5:
            # What they return is all that they do.
            do = "return"
        own = {"hook": hook, "at": rng.choice([1, 1, 2, 3, 7, None]), "do": do, "goes_on": rng.random() < 0.7}
        if do == "call":
            own |= {"method": name[0], "arguments": [self.argument(rng, parameter) for parameter in self.arguments(rng, name[1])]}
        elif do == "raise":
            own["exception"] = rng.choice(EXCEPTIONS)
        elif do == "return":
            own["value"] = rng.choice(ODD)
        elif do == "nested":
            own["call"] = rng.choice(["replay", "same", "open", "policies", "frames"])
        return own

    def arguments(self, rng, parameters):
        """The names of the arguments: sometimes too few or too many."""
        if rng.random() < 0.9:
            return parameters
        return rng.choice([parameters[1:], [*parameters, "kind"], []])

    def argument(self, rng, parameter):
        words = {"kind": ["map", "reduce"], "reach": ["any", "rack", "node", "off-rack"], "ask": ["am", "map", "reduce", "failed-map"]}
        luck = rng.random()
        if luck < 0.15:
            return rng.choice(ODD)
        if luck < 0.2:
            return rng.choice(WORDS)
        if parameter in words:
            return rng.choice(words[parameter])
        if parameter in ("job", "task", "node", "run", "other", "after"):
            return {"reference": {"other": "job", "after": "job"}.get(parameter, parameter), "place": rng.random()}
        if parameter == "places":
            return [[{"reference": "node", "place": rng.random()}, rng.choice([0, 1, 2, 2**32 - 1])] for _ in range(rng.randrange(4))]
        if parameter in ("reason", "purpose", "name"):
            return rng.choice(WORDS)
        return rng.choice(ODD)

    # ---- agents ----

    def make_agent(self, rng):
        options = {
            "jobs": [None, 1, 3, 0, -1, 10**9],
            "candidates": [1, 4, 32, 0, -1, 1.5, {"big": 64}, None, "x"],
            "reward": ["mean_completion", "mean_waiting", "mean_slowdown", "makespan", "", None],
            "reward_scale": [1.0, 0, -1, {"float": "nan"}, "x"],
            "split": ["all", "train", "validation", "test", "x"],
            "seed": [0, 7, -1, {"big": 64}, "x"],
            "strict": [True, False],
        }
        rare = [["close"], ["answer", 0], ["answer", 7], ["next"]]
        step = lambda: rng.choice(
            [["step", "first"]] * 12 + [["step", "wait"]] * 6 + [["step", rng.choice(ODD)], ["step", rng.randrange(40)], rng.choice(rare)]
        )
        numbers = [0, 1, 2, -1, 10**9, {"big": 64}, "x", None]
        begin = lambda: ["reset", {key: rng.choice(numbers) for key in ("start", "jobs") if rng.random() < 0.2}]
        steps = [["reset", {}]] if rng.random() < 0.9 else []
        steps += [step() if rng.random() < 0.95 else begin() for _ in range(rng.choice([3, 10, 60]))]
        drawn = {name: rng.choice(values) for name, values in options.items() if rng.random() < 0.2}
        return {"options": drawn, "steps": steps} | world_of(rng, "batch")


def columns():
    """The columns of the tables, as the reference has them: the type, the words that may stand there, and whether nulls may."""
    sections = (REPOSITORY / "docs/reference/tables.md").read_text().split("\n## ")
    found = {}
    for table in TABLES:
        # A later section with the same name is about reports.
        own = next(section for section in sections if section.startswith(f"`{table}`"))
        words = {
            name: re.findall(r"^\* `(\w+)`", rest, re.MULTILINE) for name, rest in re.findall(r"`(\w+)` is one of:\n((?:\n\*.*)+)", own)
        }
        rows = re.findall(r"^\| `(\w+)` \| ([a-z ]+) \|[^|]*\| (yes)?", own, re.MULTILINE)
        found[table] = {name: (kind, words.get(name), bool(nullable)) for name, kind, nullable in rows}
    return found


def methods():
    """The methods and attributes of the views, with the names of their arguments."""
    stub = ast.parse((REPOSITORY / "python/python/resched/_native.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    found = {}
    for key, name in (("hadoop", "HadoopOffer"), ("batch", "BatchOffer")):
        functions = [node for node in classes[name].body if isinstance(node, ast.FunctionDef)]
        named = lambda node: [own.arg for own in node.args.args[1:]] + ([node.args.vararg.arg] if node.args.vararg else [])
        found[key] = [[node.name, named(node)] for node in functions]
    return found


# ---- worlds ----


def honest_frames(rng):
    """Frames that are as they should be."""
    jobs = [f"j{number}" for number in range(rng.randint(1, 5))]
    tasks = [(job, f"{job}-t{number}") for job in jobs for number in range(rng.randint(1, 3))]
    tries = [(job, task, rng.randrange(100_000)) for job, task in tasks for _ in range(rng.choice([1, 1, 2]))]
    made = {
        "jobs": frame(job_id=jobs, submit=[rng.randrange(50_000) for _ in jobs]),
        "tasks": frame(job_id=[job for job, _ in tasks], task_id=[task for _, task in tasks]),
        "attempts": frame(
            job_id=[job for job, _, _ in tries],
            task_id=[task for _, task, _ in tries],
            start=[start for _, _, start in tries],
            finish=[start + rng.randrange(60_000) for _, _, start in tries],
        ),
        "splits": frame(task_id=[task for _, task in tasks], ordinal=[0 for _ in tasks], host=["n0" for _ in tasks]),
        "nodes": frame(host=["n0", "n1"], cpu=[4000, 4000], memory=[1 << 33, 1 << 33]),
    }
    left_out = {name for name in ("tasks", "splits", "nodes") if rng.random() < 0.3}
    return {name: own for name, own in made.items() if name not in left_out}


def frame(**named):
    is_text = lambda values: any(isinstance(value, str) for value in values)
    own = [{"name": name, "type": "string" if is_text(values) else "int64", "values": values} for name, values in named.items()]
    return {"source": "table", "chunks": 1, "columns": own}


def rows_of(frame):
    return len(frame["columns"][0]["values"])


def world_of(rng, engine):
    """Jobs of a small world, for the engine."""
    if engine != "batch":
        racks = worlds.hosts(rng, 3)
        if rng.random() < 0.2:
            # Many jobs at once, so that their tuple is none of the short ones that Python keeps in store.
            many = [worlds.job(rng, number, 0, list(racks)) for number in range(1, 41)]
            return {"hosts": racks, "jobs": [own | {"maps": own["maps"][:1], "reduces": []} for own in many]}
        return {"hosts": racks, "jobs": worlds.jobs(rng, racks, most=3)}
    jobs, submit = [], 0
    for _ in range(rng.randint(1, 25)):
        submit += rng.choice([0, 1, rng.randrange(90)])
        run = rng.choice([0, 1, rng.randrange(900), rng.randrange(900), 20_000])
        jobs.append([submit, run, rng.randint(1, 48), run + rng.randrange(600)])
    return {"jobs": jobs}


def smaller_frames(case):
    frames = case["frames"]
    with_frame = lambda table, own: case | {"frames": frames | {table: own}}
    for table in [name for name in frames if name != "jobs"]:
        yield case | {"frames": {name: own for name, own in frames.items() if name != table}}
    for table, own in frames.items():
        for fewer in worlds.halves(own["columns"]):
            yield with_frame(table, own | {"columns": fewer})
        for fewer in worlds.halves(list(range(rows_of(own)))):
            kept = [column | {"values": [column["values"][row] for row in fewer]} for column in own["columns"]]
            yield with_frame(table, own | {"columns": kept})
        for plain in ({"source": "table"}, {"chunks": 1}):
            if own | plain != own:
                yield with_frame(table, own | plain)
    for plain in ({"name": "frames"}, {"dated": False}, {"system": None}):
        if case | plain != case:
            yield case | plain


def halves_or_none(items):
    yield from worlds.halves(items)
    if items:
        yield []


# ---- rules ----


def check_made(case, made):
    """The rows and the numbers of a trace are those of the frames, but for what it counts as left out."""
    frames = case["frames"]
    for table, own in frames.items():
        names = [column["name"] for column in own["columns"]]
        if len(set(names)) < len(names):
            raise Wrong("a repeated column is accepted", f"{table}: {names}")
        if own["source"] == "structs with null" and rows_of(own):
            raise Wrong("a null row is accepted", table)
    if made["rows"] != made["read"]:
        raise Wrong("rows of trace.json", f"{made['rows']} are counted, {made['read']} are read")
    skipped = made["skipped"]
    left_out = sum(skipped.get(cause, 0) for cause in LEFT_OUT)
    for table, given in made["given"].items():
        found = made["rows"][table]
        if table == "tasks" and given == 0:
            # As without this frame, the tasks are those that attempts name.
            continue
        # Machines that only splits and attempts name are added.
        lost = given - found
        if table == "jobs" and lost != left_out:
            raise Wrong("jobs that are lost", f"{given} are given, {found} are there; left out: {skipped}")
        if table in ("tasks", "attempts", "splits") and (lost < 0 or (lost > 0 and not skipped)):
            raise Wrong("rows that are lost", f"{table}: {given} are given, {found} are there; left out: {skipped}")
    for column, job, given, found in made["numbers"]:
        if given != found:
            raise Wrong("a number that is changed", f"jobs: column `{column}`, job `{job}`: {given} is given, {found} is there")
