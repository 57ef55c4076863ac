"""Random small sweeps, and forged results of cells and plans.

Shows: a sweep that is planned, replayed cell by cell in any order and merged has the same bytes as one that is run at once. A cell whose
bytes changed, or that belongs to another cell, is never merged, and the next run makes it again. A forger who knows how to seal a file
can write numbers that are merged, as docs/how-to/check-result.md says; but no forged byte makes resched panic, hang or grow.
"""

import json
import random

import hostile
import replays
import seals
import worlds
from harness import Skipped, Wrong

POLICIES = ["fifo", "fair", "delay", "naive-fair", "yarn-fifo", "yarn-capacity", "capacity"]
WORLD = {
    "nodes": [2, 4],
    "map_slots": [1, 3],
    "slowstart": [0.05, 1.0],
    "heartbeat": [1000, 3000],
    "speedup": [1, 2.0],
    "remote_penalty": [1.0, 2.0],
}


class Part:
    name = "sweeps"

    def __init__(self, binary):
        pass

    def make(self, rng):
        return {
            "sweep": sweep(rng),
            "workload": worlds.workload(rng),
            "forgery": rng.choice(["none", "flip", "swap", "reseal", "plan", "foreign plan"]),
            "changes": hostile.changes(rng),
            "seed": rng.randrange(1 << 30),
        }

    def smaller(self, case):
        for entries in worlds.halves(case["workload"]["jobs"]):
            yield case | {"workload": case["workload"] | {"jobs": entries}}
        for changes in worlds.halves(case["changes"]):
            yield case | {"changes": changes}

    def judge(self, case, room):
        whole = undisturbed(case, room)
        rng = random.Random(case["seed"])
        self.in_steps(room, rng)
        compare("a sweep in steps", whole, room.tree("steps"))
        self.forge(case, room, rng)
        forged = case["forgery"] in ("reseal", "plan", "foreign plan")
        merged = room.any("sweep", "merge", "steps", "--force")
        if case["forgery"] in ("flip", "swap") and merged.code == 0 and changed(whole, room.tree("steps"), "cells/"):
            raise Wrong("a damaged cell is merged", str(merged))
        again = room.any("sweep", "sweep.toml", "--out", "steps", "--threads", 2, "--force")
        if not forged:
            if again.code != 0:
                raise Wrong("a damaged sweep is not made again", str(again))
            compare("a sweep after damage", whole, room.tree("steps"))
        room.any("verify", "steps")

    def in_steps(self, room, rng):
        """The plan, its cells in chunks in any order, and the merge."""
        room.ok("sweep", "plan", "sweep.toml", "--out", "steps")
        cells = len(json.loads((room.path / "steps/sweep.json").read_text())["cells"])
        for start, count in chunks(cells, rng):
            room.ok("sweep", "cell", "--manifest", "steps", "--index", start, "--count", count, "--threads", 1)
        room.ok("sweep", "merge", "steps")

    def forge(self, case, room, rng):
        cells = sorted((room.path / "steps/cells").glob("*.parquet"))
        one, other = rng.choice(cells), rng.choice(cells)
        kind = case["forgery"]
        if kind == "flip":
            one.write_bytes(hostile.damage(one.read_bytes(), case["changes"]))
        elif kind == "swap":
            data = one.read_bytes(), other.read_bytes()
            one.write_bytes(data[1])
            other.write_bytes(data[0])
        elif kind == "reseal":
            data = hostile.damage(one.read_bytes(), case["changes"])
            one.write_bytes(seals.resealed_cell(one.stem, data) if len(data) > 100 else data)
        elif kind in ("plan", "foreign plan"):
            self.forge_plan(room.path / "steps/sweep.json", kind, case, rng)

    def forge_plan(self, path, kind, case, rng):
        """A plan with other bytes, or with the settings of two cells exchanged, under a seal that fits."""
        text = path.read_bytes()
        if kind == "foreign plan":
            path.write_bytes(hostile.damage(text, case["changes"]))
            return
        fields = json.loads(text)
        one, other = rng.choice(fields["cells"]), rng.choice(fields["cells"])
        field = rng.choice(["id", "policy", "seed", "variant", "settings", "world", "source", "cluster"])
        one[field], other[field] = other[field], one[field]
        if rng.random() < 0.3:
            one[field] = rng.choice([-1, 2**63, "../../x", "", None, [], {"a": 1}])
        path.write_bytes(seals.sealed(fields))


def sweep(rng):
    """A sweep file, as nested dictionaries."""
    variants = {name: {} for name in rng.sample(POLICIES, rng.randint(1, 3))}
    if "delay" in variants:
        variants["delay"] = {"D": rng.choice([[0, 4], {"from": 1, "to": 8, "steps": 3}])}
    return {
        "name": "soak",
        "workload": "workload.toml",
        "assume": True,
        "seeds": rng.randint(1, 3),
        "metric": rng.choice(["mean_completion", "makespan"]),
        "metrics": rng.sample(["p95(waiting) where queue = 'adhoc'", "count()", "sum(slot_time) / sum(tasks)"], 1),
        "world": {key: WORLD[key] for key in rng.sample(list(WORLD), rng.randint(0, 2))},
        "variants": variants,
    }


def undisturbed(case, room, *more):
    """The files of the sweep, run at once in a folder."""
    room.write("workload.toml", worlds.toml(case["workload"]))
    room.write("sweep.toml", worlds.toml(case["sweep"]))
    ran = room.any("sweep", "sweep.toml", "--out", "whole", "--threads", 1, *more)
    if ran.code == 2:
        raise Skipped("refused: " + " ".join(ran.err.split()[:12]))
    if ran.code != 0 and replays.STALL in ran.err:
        # Two nodes have room for few masters. `replays` looks into stalls.
        raise Skipped("a replay stalls")
    if ran.code != 0:
        raise Wrong("a sweep fails", str(ran))
    return room.tree("whole")


def chunks(cells, rng):
    """The first cell and the number of cells of each chunk, in any order."""
    chunk = rng.randint(1, max(1, cells // 2))
    starts = list(range(0, cells, chunk))
    rng.shuffle(starts)
    return [(start, min(chunk, cells - start)) for start in starts]


def changed(whole, found, prefix):
    """Whether a file of a cell is not as it was."""
    return any(own != found.get(name) for name, own in whole.items() if name.startswith(prefix))


def compare(kind, whole, found):
    """All bytes but those of the plan's copy of its own place."""
    differ = sorted(name for name in whole.keys() | found.keys() if whole.get(name) != found.get(name))
    if differ:
        raise Wrong(kind, f"{differ[:8]}")
