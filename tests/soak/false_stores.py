"""Shows that the part `store_sweeps` finds broken promises: each one is put beside a true run, which the part accepts.

python tests/soak/false_stores.py PATH-OF-RESCHED
"""

import json
import random
import sys
from pathlib import Path
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import seals  # noqa: E402
import store_sweeps  # noqa: E402
import worlds  # noqa: E402
from harness import Figures, Room, finds  # noqa: E402


class FalseRoom(Room):
    """A room in which `change` falsifies what a command did, while the store runs."""

    change = None

    def any(self, *args, environment=None, **more):
        ran = super().any(*args, environment=environment, **more)
        if self.change and environment:
            self.bucket = f"{environment['AWS_ENDPOINT']}/{store_sweeps.BUCKET}"
            self.change(ran)
        return ran

    def put(self, key, data):
        urlopen(Request(f"{self.bucket}/{key}", data, method="PUT")).close()


def falsehoods(room):
    """The kind of failure that each must cause, how the store fails, and what is falsified after each command."""
    yield ("hidden files are left", "none", lambda ran: room.write("S/.half", ""))
    yield ("hidden files are left", "403", lambda ran: room.write("tmp/half", ""))
    yield ("cells beside the plan", "none", lambda ran: room.write("S/cells/00.parquet", ""))
    yield ("an error without the address", "403", lambda ran: setattr(ran, "err", "error: no"))
    yield ("a sound store is refused", "slow", lambda ran: setattr(ran, "code", 1))
    yield ("a fault that passes ends a command", "kept, 500", lambda ran: setattr(ran, "code", 1))
    yield ("a wrong table is left", "403", lambda ran: room.write("S/results.csv", ""))
    yield ("other results than in a folder, none", "none", lambda ran: lacks(room, ran))
    yield ("other results than in a folder, none", "none", lambda ran: exchange(room, ran))
    yield ("other objects in the store", "none", lambda ran: room.put("mine/half", b""))
    yield ("sweep fails", "403", lambda ran: ran.args[1] == "cell" and room.put(f"mine/cells/{ids(room)[0]}.parquet", b""))


def lacks(room, ran):
    """A merge forgets a table."""
    if ran.args[1] == "merge":
        (room.path / "S/summary.csv").unlink()


def exchange(room, ran):
    """A cell has the bytes of another, under a seal that fits, and is merged."""
    if ran.args[1] == "plan":
        first, *_, last = ids(room)
        data = (room.path / f"whole/cells/{last}.parquet").read_bytes()
        room.put(f"mine/cells/{first}.parquet", seals.resealed_cell(first, data))


def ids(room):
    return [cell["id"] for cell in json.loads((room.path / "S/sweep.json").read_text())["cells"]]


def case(fault):
    """Two policies with two seeds. The store fails at the first object that is put there, if it does."""
    rng = random.Random(3)
    workload = worlds.workload(rng)
    sweep = {"name": "soak", "workload": "workload.toml", "assume": True, "seeds": 2, "variants": {"fifo": {}, "fair": {}}}
    store = {"prefix": "mine", "fault": fault, "methods": ["PUT"], "at": 0, "times": 1, "place": 0.5, "there": 0.0, "spoilt": 0.0}
    return {"workload": workload, "sweep": sweep | {"world": {}}, "in_steps": True, "precise": False, "changes": [], "seed": 1} | store


def judged(binary, fault, number=None):
    """Judges a run; the falsehood of that number comes into it."""
    room = FalseRoom(binary, Figures())
    try:
        if number is not None:
            room.change = list(falsehoods(room))[number][2]
        store_sweeps.Part(binary).judge(case(fault), room)
    finally:
        room.close()


def found(binary, number, kind, fault):
    return finds(kind, lambda: judged(binary, fault, number))


def main(binary):
    binary = str(Path(binary).resolve())
    every = list(falsehoods(None))
    for fault in {fault for _, fault, _ in every}:
        judged(binary, fault)
    results = [found(binary, number, kind, fault) for number, (kind, fault, _) in enumerate(every)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
