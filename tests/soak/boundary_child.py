"""Does what a case of `boundary` describes, and prints what came out of the package: boundary_child.py CASE.

Each line is a JSON object: `wrong` with its `text`, `skipped`, or `made` with what is to be compared. Only what is wrong counts: the trial
goes on after an exception that the package may raise.
"""

import faulthandler
import gc
import json
import os
import shutil
import sys
import threading
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyarrow
import pyarrow.compute
import resched

# If the process hangs, it says where, shortly before the soak ends it.
faulthandler.dump_traceback_later(50, exit=False)

# Columns of jobs that an ingest leaves as they are.
KEPT_NUMBERS = ["priority_number", "scheduling_class", "nice"]
# A lie without a number of its call is carried out at so many calls; a wrong answer always.
OFTEN = 10
OPTIONS = {"assume": True, "robust": "off", "progress": False}


class OwnError(Exception):
    """Raised by what is given to the package."""


class OwnEnd(BaseException):
    """The same, but nothing that a program handles."""


class Unspeakable(Exception):
    """An exception whose text is an exception."""

    def __str__(self):
        raise OwnError("no text")


EXCEPTIONS = {own.__name__: own for own in (OwnError, OwnEnd, Unspeakable)}
# What was raised here, and may come out again.
raised = []


def say(**said):
    print(json.dumps(said, default=str), flush=True)


def own_error(name):
    import builtins

    error = (EXCEPTIONS.get(name) or getattr(builtins, name))("own")
    raised.append(error)
    return error


def chain(error):
    """An exception, and those that it came from."""
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


def note(error, where, more=()):
    """Judges an exception."""
    kinds = [type(own).__name__ for own in chain(error)]
    try:
        text = str(error)
    except OwnError:
        text = "no text"
    if "PanicException" in kinds:
        say(wrong="a panic comes out", text=f"{where}: {kinds}: {text[:600]}")
    elif isinstance(error, resched.DefectError):
        say(wrong="a defect", text=f"{where}: {text[:600]}")
    elif not (
        isinstance(error, (resched.ReschedError, TypeError, ValueError, OverflowError, *more)) or any(error is own for own in raised)
    ):
        say(wrong="another exception", text=f"{where}: {kinds}: {text[:600]}")


def tried(where, call, more=()):
    """The result of a call of the package, or None after an exception that is judged."""
    try:
        return call()
    except BaseException as error:
        note(error, where, more)
        return None


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def left(known, where):
    """Whatever is in the folder now, and was not before, is left by a call that failed."""
    more = sorted(set(os.listdir(".")) - known)
    if more:
        say(wrong="something is left", text=f"{where}: {more}")


# ---- data frames ----


def plain(kind):
    """The type of Arrow for the name of a type."""
    name, _, rest = kind.removesuffix(")").partition("(")
    words = [word.strip() for word in rest.split(",")] if rest else []
    if name.startswith("decimal"):
        return getattr(pyarrow, name)(*map(int, words))
    if name in ("list", "large_list"):
        return {"list": pyarrow.list_, "large_list": pyarrow.large_list}[name](pyarrow.string())
    if name == "bool":
        return pyarrow.bool_()
    if name == "struct":
        return pyarrow.struct([("x", pyarrow.string())])
    if name == "map":
        return pyarrow.map_(pyarrow.string(), pyarrow.string())
    if name == "interval":
        return pyarrow.month_day_nano_interval()
    return getattr(pyarrow, name)(*words)


def fitting(value, kind):
    """A value as the type takes it, or None if it takes none that is like it."""
    shapes = {"list": lambda: [str(value)] if value != [] else [], "struct": lambda: {"x": str(value)}, "map": lambda: [("k", str(value))]}
    shapes["large_list"] = shapes["list"]
    try:
        if value is None:
            return None
        if kind in shapes:
            return shapes[kind]()
        own = plain(kind)
        if pyarrow.types.is_decimal(own):
            made = Decimal(str(value))
        elif pyarrow.types.is_floating(own):
            made = float(value)
        elif "binary" in kind:
            made = str(value).encode()
        elif "string" in kind:
            made = str(value)
        elif pyarrow.types.is_boolean(own):
            made = bool(value)
        else:
            made = int(value)
        pyarrow.array([made], own)
        return made
    except (ArithmeticError, TypeError, ValueError, NotImplementedError):
        return None


def array(kind, values):
    texts = pyarrow.array([None if value is None else str(value) for value in values], pyarrow.string())
    size = len(values)
    if kind == "dictionary":
        return texts.dictionary_encode()
    if kind == "dictionary of null":
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array([place % 2 for place in range(size)], pyarrow.int8()), ["a", None])
    if kind == "false dictionary":
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array([place + 7 for place in range(size)], pyarrow.int32()), ["a"], safe=False)
    if kind == "false string":
        offsets = b"".join((2 * place).to_bytes(4, sys.byteorder) for place in range(size + 1))
        return pyarrow.StringArray.from_buffers(size, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"a\xff" * size))
    if kind == "run_end_encoded":
        return pyarrow.compute.run_end_encode(array("int64", values))
    if kind == "union":
        return pyarrow.UnionArray.from_sparse(pyarrow.array([0] * size, pyarrow.int8()), [array("int64", values)])
    if kind == "interval":
        return pyarrow.nulls(size, plain(kind))
    if kind == "null":
        return pyarrow.nulls(size)
    return pyarrow.array([fitting(value, kind) for value in values], plain(kind))


class Bare:
    """An object that has nothing but a stream. What its stream raises may come out."""

    def __init__(self, hand_out):
        self.hand_out = hand_out

    def __arrow_c_stream__(self, requested_schema=None):
        try:
            return self.hand_out()
        except BaseException as error:
            raised.append(error)
            raise


def table_of(own):
    arrays = [array(column["type"], column["values"]) for column in own["columns"]]
    table = pyarrow.Table.from_arrays(arrays, names=[column["name"] for column in own["columns"]])
    size = -(-table.num_rows // own["chunks"]) or 1
    return pyarrow.Table.from_batches(table.to_batches(max_chunksize=size), table.schema) if own["chunks"] > 1 else table


def reader(table, batches):
    return pyarrow.RecordBatchReader.from_batches(table.schema, iter(batches))


def failing(table):
    yield from table.to_batches()
    raise own_error("OwnError")


def exchanged(table):
    """The batches with other columns than the schema says: texts for numbers and numbers for texts."""
    swap = lambda column: (
        pyarrow.array(["x"] * len(column)) if not pyarrow.types.is_string(column.type) else pyarrow.nulls(len(column), "int64")
    )
    return [pyarrow.record_batch([swap(column) for column in batch.columns], batch.schema.names) for batch in table.to_batches()]


def with_null(table):
    """Structs of which the last is null, although there are values below it."""
    mask = pyarrow.array([row == table.num_rows - 1 for row in range(table.num_rows)])
    whole = table.combine_chunks()
    columns = [column.chunk(0) if column.num_chunks else pyarrow.nulls(0, column.type) for column in whole.columns]
    return pyarrow.StructArray.from_arrays(columns, fields=list(table.schema), mask=mask)


def source_of(table, name):
    """An object that hands a table out as the case says."""
    structs = lambda own: Bare(pyarrow.chunked_array([own]).__arrow_c_stream__)
    if name == "table":
        return table
    if name == "bare":
        return Bare(table.__arrow_c_stream__)
    if name == "reader":
        return reader(table, table.to_batches())
    if name in ("polars", "pandas"):
        library = __import__(name)
        own = library.from_arrow(table) if name == "polars" else table.to_pandas()
        return Bare(own.__arrow_c_stream__)
    if name == "fails":
        return reader(table, failing(table))
    if name == "another schema":
        return reader(table, exchanged(table))
    if name == "fewer columns":
        return reader(table, [batch.select(range(batch.num_columns - 1)) for batch in table.to_batches()])
    if name == "structs":
        return structs(table.to_struct_array().combine_chunks())
    if name == "structs with null":
        return structs(with_null(table))
    if name == "numbers":
        return structs(pyarrow.array([1, None]))
    if name == "raises":
        return Bare(lambda: (_ for _ in ()).throw(OwnError("own")))
    if name == "nothing":
        return Bare(lambda: None)
    if name == "a text":
        return Bare(lambda: "stream")
    if name == "another capsule":
        return Bare(table.schema.__arrow_c_schema__)
    if name == "a used stream":
        capsule = table.__arrow_c_stream__()
        pyarrow.RecordBatchReader._import_from_c_capsule(capsule).read_all()
        return Bare(lambda: capsule)
    return {"a dictionary": table.to_pydict, "a number": lambda: 7, "no stream": object}[name]()


def exact(column):
    """The numbers of a column as whole numbers, instants and durations in ms; other values as texts, which no number is."""
    kind = column.type
    if pyarrow.types.is_date32(kind):
        return [None if own is None else own * 86_400_000 for own in column.cast("int32").to_pylist()]
    if pyarrow.types.is_temporal(kind) and not pyarrow.types.is_interval(kind):
        parts = {"us": 1000, "ns": 1_000_000}.get(getattr(kind, "unit", "ms"), 1)
        scale = 1000 if getattr(kind, "unit", "ms") == "s" else 1
        ticks = column.cast("int32" if pyarrow.types.is_time32(kind) else "int64").to_pylist()
        # Nobody says which of its neighbours an instant between two milliseconds becomes.
        return [None if own is None or own % parts else own // parts * scale for own in ticks]
    return [whole(own) for own in column.to_pylist()]


def whole(value):
    if isinstance(value, (int, float, Decimal)):
        return int(value) if value == value and abs(value) != float("inf") and value == int(value) else str(value)
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        return str(value)


def frames(case):
    try:
        tables = {name: table_of(own) for name, own in case["frames"].items()}
        given = {name: source_of(tables[name], own["source"]) for name, own in case["frames"].items()}
    except Exception as error:
        # The table cannot be made, or another library does not take it.
        return say(skipped=f"no such frame: {type(error).__name__}")
    except BaseException as error:
        return say(skipped=f"no such frame: {type(error).__name__}")
    known = set(os.listdir("."))
    options = {name: case[name] for name in ("system", "dated", "name")}
    trace = tried("from_frames", lambda: resched.from_frames(**{"jobs": None, **given}, **options, out="T"))
    if trace is None:
        return left(known, "from_frames")
    read = {name: len(trace.tables[name]) for name in trace.info["rows"] if name in trace.tables}
    rows = {name: trace.info["rows"][name] for name in read}
    counts = {name: table.num_rows for name, table in tables.items()}
    made = {
        "rows": rows,
        "read": read,
        "skipped": trace.info.get("skipped", {}),
        "given": counts,
        "numbers": numbers(trace, tables["jobs"]),
    }
    say(made=made)
    tried("the trace, opened again", lambda: resched.open("T"))
    tried("verify", lambda: resched.verify("T"))
    known = set(os.listdir("."))
    for policy in ("fifo", "batch-fifo"):
        if tried(policy, lambda policy=policy: resched.replay("T", policy=policy, out="R", check=True, **OPTIONS)) is not None:
            return tried("report", lambda: resched.report("R", out="P", format="tables"))
        left(known, policy)
    return None


def numbers(trace, jobs):
    """Numbers that an ingest leaves as they are: the column, the job, what was given, and what is there."""
    read = pyarrow.table(trace.jobs)
    found = []
    for column in KEPT_NUMBERS:
        if jobs.schema.names.count(column) != 1 or jobs.schema.names.count("job_id") != 1:
            continue
        there = dict(zip(read["job_id"].to_pylist(), read[column].to_pylist(), strict=True))
        ids = [str(own) for own in jobs["job_id"].to_pylist()]
        found += [[column, own, value, there[own]] for own, value in zip(ids, exact(jobs[column]), strict=True) if own in there]
    return [row for row in found if row[2] is not None]


# ---- policies ----


def serve_slots(offer):
    for job in offer.jobs:
        while offer.free("map") and offer.launch_map(job):
            pass
        while offer.free("reduce") and offer.launch_reduce(job):
            pass


def serve_containers(offer):
    for job in offer.jobs:
        for ask in ("am", "failed-map", "reduce", "map"):
            while offer.asked(job, ask) and offer.fits(ask) and (near := offer.nearest(job, ask)) is not None:
                offer.grant(job, ask, near)


class Slots(resched.HadoopPolicy):
    def heartbeat(self, offer):
        serve_slots(offer)


class Containers(resched.HadoopPolicy):
    system = "yarn"

    def heartbeat(self, offer):
        serve_containers(offer)


class Starts(resched.BatchPolicy):
    def begin(self):
        self.tasks = []

    def task_waits(self, task, view):
        if task not in self.tasks:
            self.tasks.append(task)

    def schedule(self, offer):
        for task in list(self.tasks):
            offer.start(task)
            if offer.waiting(task) == 0:
                self.tasks.remove(task)


class Decides(resched.BatchPolicy):
    def decide(self, now, free, jobs):
        return len(jobs)


HONEST = {"heartbeat": {"slots": Slots, "yarn": Containers}, "schedule": {"batch": Starts}, "decide": {"batch": Decides}}
VIEWS = (resched._native.HadoopOffer, resched._native.BatchOffer)
kept = []
# The replays that go on inside one another.
depth = 0


class Odd:
    """A value that does other things than it should when it is asked what it is."""

    def __init__(self, kind):
        self.kind = kind

    def __len__(self):
        return 2**62 if self.kind == "length" else 1

    def __getitem__(self, place):
        raise IndexError

    def __index__(self):
        use_late()
        raise own_error("OwnError" if self.kind == "index" else "OwnEnd")

    def __bool__(self):
        use_late()
        if self.kind == "truth":
            raise own_error("OwnError")
        return True

    def __str__(self):
        return 7 if self.kind == "text" else "odd"


def value_of(own, view=None):
    """The value that a case describes."""
    if isinstance(own, list):
        return [tuple(value_of(cell, view) for cell in row) if isinstance(row, list) else value_of(row, view) for row in own]
    if not isinstance(own, dict):
        return own
    key, value = next(iter(own.items()))
    if key == "reference":
        return reference(value, own["place"], view)
    if key == "array":
        import numpy

        shape = {"two": (2, 2)}.get(value, 3)
        return numpy.zeros(shape, numpy.int64 if value == "two" else value)
    return {"big": lambda: 2**value, "float": lambda: float(value), "range": lambda: range(value), "odd": lambda: Odd(value)}[key]()


def reference(what, place, view):
    """The number of something that the view shows, or else any small number."""
    try:
        if what == "node":
            numbers = view.nodes
        elif what == "job":
            numbers = view.jobs
        elif what == "task":
            numbers = [task for job in view.jobs for kind in ("map", "reduce") for task in view.tasks(job, kind)]
        else:
            numbers = [run.run for job in view.jobs for kind in ("map", "reduce") for run in view.runs(job, kind)]
    except Exception:
        numbers = []
    numbers = list(numbers) or list(range(8))
    return numbers[int(place * len(numbers))]


def use_late():
    """Uses views after their time, or in the wrong place."""
    for view in kept[-3:]:
        for name in ("now", "nodes", "jobs", "version", "free", "latest"):
            tried(f"{name} of a kept view", lambda name=name, view=view: getattr(view, name), (RuntimeError, AttributeError))


class Garbage:
    """It uses the view when Python collects it, which may be in the midst of a call of the package."""

    def __init__(self, view):
        self.view, self.itself = view, self

    def __del__(self):
        for name in ("now", "jobs", "nodes"):
            tried(f"{name} in `__del__`", lambda name=name: getattr(self.view, name, None), (RuntimeError,))


class Lies:
    """What a policy does at some calls of its methods."""

    def __init__(self, case, base):
        self.case, self.base, self.calls = case, base, Counter()

    def policy(self):
        hooks = {lie["hook"] for lie in self.case["lies"]}
        attributes = {name: value_of(value) for name, value in self.case["attributes"].items()}
        return type("Liar", (self.base,), {hook: self.method(hook) for hook in hooks} | attributes | {"__module__": __name__})

    def method(self, hook):
        honest = getattr(self.base, hook)
        mine = [lie for lie in self.case["lies"] if lie["hook"] == hook]

        def method(own, *arguments):
            self.calls[hook] += 1
            view = next((one for one in arguments if isinstance(one, VIEWS)), kept[-1] if kept else None)
            for lie in mine:
                if lie["at"] == self.calls[hook] or (lie["at"] is None and (self.calls[hook] <= OFTEN or lie["do"] == "return")):
                    if lie["do"] == "return":
                        return value_of(lie["value"], view)
                    getattr(self, lie["do"])(lie, view)
                    if not lie["goes_on"]:
                        return None
            return honest(own, *arguments)

        return method

    def call(self, lie, view):
        more = (RuntimeError, AttributeError, *([TimeoutError] if "seconds" in self.case["attributes"] else []))
        arguments = [value_of(own, view) for own in lie["arguments"]]

        def ask():
            found = getattr(view, lie["method"])
            return found(*arguments) if callable(found) else setattr(view, lie["method"], arguments)

        try:
            ask()
        except BaseException as error:
            note(error, f"{lie['method']} in `{lie['hook']}`", more)
            raised.append(error)
            if not lie["goes_on"]:
                raise

    def __getattr__(self, name):
        # `raise` is no name that a method can be defined with.
        if name == "raise":
            return self.fail
        raise AttributeError(name)

    def fail(self, lie, view):
        raise own_error(lie["exception"])

    def keep(self, lie, view):
        kept.append(view)

    def late(self, lie, view):
        use_late()

    def slow(self, lie, view):
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            pass

    def thread(self, lie, view):
        others = [threading.Thread(target=tried, args=("a view on another thread", lambda: view.now, (RuntimeError, AttributeError)))]
        [other.start() for other in others]
        [other.join() for other in others]

    def garbage(self, lie, view):
        gc.disable()
        for _ in range(5):
            Garbage(view)
        gc.set_threshold(1)
        gc.enable()
        tried("jobs beside garbage", lambda: getattr(view, "jobs", None), (RuntimeError,))
        gc.set_threshold(700)

    def nested(self, lie, view):
        global depth
        if depth >= 2:
            return
        depth += 1
        calls = {
            "replay": lambda: resched.replay("T", policy="fifo", **OPTIONS),
            "same": lambda: resched.replay("T", policy=self.policy(), **OPTIONS),
            "open": lambda: len(resched.open("T").jobs),
            "policies": lambda: resched.policies(),
            "frames": lambda: resched.from_frames(pyarrow.table({"job_id": ["a"], "submit": [0]}), out=f"F{depth}", force=True),
        }
        tried(f"{lie['call']} in a hook", calls[lie["call"]])
        for folder in ("F1", "F2"):
            shutil.rmtree(folder, ignore_errors=True)
        depth -= 1


def policy(case):
    make_trace(case)
    honest = HONEST[case["decision"]][case["engine"]]
    replay = lambda own: resched.replay("T", policy=own, out="R", seed=case["seed"], **OPTIONS)
    before = honest_bytes(replay, honest)
    known = set(os.listdir("."))
    lies = Lies(case, honest)
    if tried("replay", lambda: replay(lies.policy())) is None:
        left(known, "replay")
    else:
        tried("the run, opened again", lambda: resched.verify("R"))
        shutil.rmtree("R")
        left(known, "replay")
    use_late()
    kept.clear()
    gc.collect()
    after = honest_bytes(replay, honest)
    if before != after:
        same = lambda name: before.get(name) == after.get(name)
        say(wrong="other bytes after a lie", text=str([name for name in sorted({*before, *after}) if not same(name)]))


def honest_bytes(replay, own):
    """The bytes of a replay under an honest policy."""
    if tried("an honest replay", lambda: replay(own)) is None:
        return {}
    found = tree("R")
    shutil.rmtree("R")
    return found


def make_trace(case):
    """The trace of the jobs of a case, in the folder `T`."""
    if "hosts" in case:
        resched.ingest("in", out="T")
        return
    lines = ["; MaxProcs: 64", "; UnixStartTime: 1700000000"]
    for number, (submit, run, size, requested) in enumerate(case["jobs"], 1):
        lines.append(f"{number} {submit} -1 {run} {size} -1 -1 {size} {requested} -1 1 {number % 3} 1 1 1 -1 -1 -1")
    Path("jobs.swf").write_text("\n".join(lines) + "\n")
    resched.ingest("jobs.swf", out="T")


# ---- agents ----


def agent(case):
    try:
        from resched.gym import SchedulingEnv
    except ModuleNotFoundError as error:
        return say(skipped=f"this Python has no package `{error.name}`")
    make_trace(case)
    before = tried("an honest episode", lambda: episode(SchedulingEnv("T")))
    env = tried("SchedulingEnv", lambda: SchedulingEnv("T", **{name: value_of(value) for name, value in case["options"].items()}))
    if env is not None:
        seen = None
        for name, *arguments in case["steps"]:
            # A step without an episode is an error of its own.
            seen = tried(name, lambda name=name, rest=arguments, seen=seen: step(env, name, rest, seen), (RuntimeError,)) or seen
        tried("close", env.close)
    if tried("an honest episode", lambda: episode(SchedulingEnv("T"))) != before:
        say(wrong="another episode after wrong steps", text=str(before)[:500])
    return None


def step(env, name, arguments, seen):
    if name == "reset":
        seen, _ = env.reset(seed=1, options={key: value_of(value) for key, value in arguments[0].items()})
    elif name == "close":
        return env.close()
    elif name == "answer":
        return env._stepper.answer(arguments[0])
    elif name == "next":
        return env._seen(env._stepper.next())[0]
    else:
        allowed = [place for place, own in enumerate(seen["action_mask"]) if own] if seen else [0]
        action = {"first": allowed[0], "wait": allowed[-1]}.get(arguments[0]) if isinstance(arguments[0], str) else None
        seen = env.step(value_of(arguments[0]) if action is None else action)[0]
    if not env.observation_space.contains(seen):
        say(wrong="an observation outside its space", text=str(seen)[:1000])
    return seen


def episode(env):
    """An episode of an agent that starts the first candidate that may start."""
    seen, info = env.reset(seed=1)
    over = False
    while not over:
        seen, _, over, _, info = env.step(int(seen["action_mask"].argmax()))
    env.close()
    return info["summary"]


if __name__ == "__main__":
    own = json.loads(Path(sys.argv[1]).read_text())
    {"frames": frames, "policy": policy, "agent": agent}[own["kind"]](own)
