"""Sweeps whose plan and cells lie in an object store that fails at some request.

Shows: each command of such a sweep succeeds, or ends with an error that names the address. After an error, the same command succeeds as
soon as the store works again. At the end, the tables, the figures and the cells have the bytes of a sweep in a folder, and the store holds
nothing else. What a store damages, exchanges or loses is never merged, even if the store reported success. Nothing hidden is left here.

resched asks a store only to get and to put whole objects: a sweep neither lists a store nor puts on a condition.
"""

import json
import random
from urllib.parse import quote, unquote

import hostile
import stand_in
import sweeps
import worlds
from harness import Wrong

BUCKET = "sweeps"
PREFIXES = ["mine", "mine/", "a/b/c", "", "with space", "a+b", quote("ä"), "50%25"]
# The kinds of failures, by what they concern. "kept" means that the store has the object, although it does not say so.
READS = ["cut", "too short", "too long", "damaged", "other object"]
WRITES = ["kept, 500", "kept, reset", "half", "lost"]
BOTH = ["none", "reset", "reset midway", "500", "503", "404", "403", "409", "slow"]
# A store that reports success for what it does not keep. Only a reader can find it.
LIES = ["half", "lost"]
# A request that fails in these ways is tried again, up to 4 times.
PASSING = ["reset", "500", "503", "kept, 500", "kept, reset"]
TRIES = 4
METHODS = [["GET"], ["PUT"], ["GET", "PUT"]]


class Part:
    name = "store_sweeps"

    def __init__(self, binary):
        pass

    def make(self, rng):
        fault = rng.choice(READS + WRITES + BOTH)
        return {
            "sweep": sweeps.sweep(rng),
            "workload": worlds.workload(rng),
            "prefix": rng.choice(PREFIXES),
            "in_steps": rng.random() < 0.6,
            "precise": rng.random() < 0.3,
            "fault": fault,
            "methods": METHODS[0] if fault in READS else METHODS[1] if fault in WRITES else rng.choice(METHODS),
            "at": rng.choice([0, 1, 2, 3, rng.randrange(40)]),
            "times": rng.choice([1, 1, 2, 5, 1000]),
            "place": rng.random(),
            # The share of the cells that are in the store before, and of these, the share that is damaged.
            "there": rng.choice([0.0, 0.0, 0.5, 1.0]),
            "spoilt": rng.choice([0.0, 0.3]),
            "changes": hostile.changes(rng),
            "seed": rng.randrange(1 << 30),
        }

    def smaller(self, case):
        for entries in worlds.halves(case["workload"]["jobs"]):
            yield case | {"workload": case["workload"] | {"jobs": entries}}
        for names in worlds.halves(list(case["sweep"]["variants"])):
            variants = {name: case["sweep"]["variants"][name] for name in names}
            yield case | {"sweep": case["sweep"] | {"variants": variants}}
        for key, simple in [("world", {}), ("seeds", 1)]:
            if case["sweep"][key] != simple:
                yield case | {"sweep": case["sweep"] | {key: simple}}
        for key, simple in [("prefix", "mine"), ("there", 0.0), ("spoilt", 0.0), ("precise", False), ("in_steps", False)]:
            if case[key] != simple:
                yield case | {key: simple}

    def judge(self, case, room):
        rng = random.Random(case["seed"])
        more = ["--precision", "5%", "--most-seeds", 5] if case["precise"] and not case["in_steps"] else []
        whole = sweeps.undisturbed(case, room, *more)
        address = f"s3://{BUCKET}/{case['prefix']}"
        commands = self.in_steps(whole, address, rng) if case["in_steps"] else self.at_once(address, more)
        (room.path / "tmp").mkdir()
        with stand_in.store(BUCKET, self.before(case, whole, rng), stand_in.Fault.of(case)) as server:
            environment = server.environment() | {"TMPDIR": str(room.path / "tmp")}
            for args in commands:
                ran = room.any(*args, environment=environment)
                check(case, room, ran, whole)
                if ran.code != 0:
                    server.heal()
                    if case["fault"] not in LIES:
                        room.ok(*args, environment=environment)
            server.heal()
            if case["fault"] in LIES:
                # A command did not learn what the store lost. So all of them run again.
                for args in commands:
                    room.ok(*args, environment=environment)
            check_here(room, whole)
            sweeps.compare("other results than in a folder", tables(whole), tables(room.tree("S")))
            check_there(case, room, server.objects, whole)

    def at_once(self, address, more):
        return [["sweep", "sweep.toml", "--out", "S", "--results", address, "--threads", 2, *more], ["verify", "S"]]

    def in_steps(self, whole, address, rng):
        """The plan, its cells in chunks in any order, on machines that know the address or the folder, and the merge."""
        places = [address, f"{address.rstrip('/')}/sweep.json", "S"]
        chunks = [
            ["sweep", "cell", "--manifest", rng.choice(places), "--index", start, "--count", count, "--threads", 2]
            for start, count in sweeps.chunks(len(json.loads(whole["sweep.json"])["cells"]), rng)
        ]
        plan = ["sweep", "plan", "sweep.toml", "--out", "S", "--results", address]
        return [plan, *chunks, ["sweep", "merge", "S"], ["verify", "S"]]

    def before(self, case, whole, rng):
        """The objects that are in the store before: some cells, whole or damaged."""
        objects = {}
        for name, data in cells(whole).items():
            if rng.random() < case["there"]:
                spoilt = rng.random() < case["spoilt"]
                objects[key(case, name)] = hostile.damage(data, case["changes"]) if spoilt else data
        return objects


def check(case, room, ran, whole):
    """How a command may end while the store fails."""
    if ran.code == 0 and ran.args[1] in ("merge", "sweep.toml"):
        sweeps.compare(f"other results than in a folder, {case['fault']}", tables(whole), tables(room.tree("S")))
    if ran.code != 0:
        check_error(case, ran)
    check_here(room, whole)


def check_error(case, ran):
    if case["fault"] in ("none", "slow"):
        raise Wrong("a sound store is refused", str(ran))
    if case["fault"] in PASSING and case["times"] <= TRIES:
        raise Wrong("a fault that passes ends a command", str(ran))
    # `verify` lists what is damaged.
    if f"s3://{BUCKET}" not in ran.err + (ran.out if ran.args[0] == "verify" else ""):
        raise Wrong("an error without the address", str(ran))


def check_here(room, whole):
    """The folder of the sweep has no cells, and every table and figure that it has is the right one. Nothing hidden is left."""
    hidden = sorted(str(path.relative_to(room.path)) for path in room.path.rglob("*") if path.name.startswith("."))
    hidden += sorted(room.tree("tmp"))
    if hidden:
        raise Wrong("hidden files are left", f"{hidden[:8]}")
    found = room.tree("S")
    if cells(found):
        raise Wrong("cells beside the plan", f"{sorted(cells(found))[:8]}")
    own = tables(found)
    sweeps.compare("a wrong table is left", {name: data for name, data in tables(whole).items() if name in own}, own)


def check_there(case, room, objects, whole):
    """The store has the cells and the plan, which is that of the folder but for the address of the results."""
    plan = room.tree("S")["sweep.json"]
    expected = {key(case, name): data for name, data in cells(whole).items()} | {key(case, "sweep.json"): plan}
    sweeps.compare("other objects in the store", expected, objects)
    fields, local = json.loads(plan), json.loads(whole["sweep.json"])
    differ = sorted(name for name in fields.keys() | local.keys() if fields.get(name) != local.get(name))
    if differ != ["results", "seal"]:
        raise Wrong("another plan than in a folder", f"{differ}")


def key(case, name):
    """The key of the object for a file of the sweep."""
    return f"{unquote(case['prefix']).strip('/')}/{name}".lstrip("/")


def cells(tree):
    return {name: data for name, data in tree.items() if name.startswith("cells/")}


def tables(tree):
    """What a merge writes. The plans differ, because one names the store."""
    return {name: data for name, data in tree.items() if name != "sweep.json" and not name.startswith("cells/")}
