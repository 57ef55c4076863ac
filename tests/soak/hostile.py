"""Damaged bytes in sources, tables, configurations and files of rules.

Shows: no command panics, hangs, is ended by a signal, takes much memory, or has another exit status than 0, 1 or 2.
"""

import json
from pathlib import Path

import seals
import worlds
from harness import Skipped

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# Folders of small inputs: each source is a file of its own.
SOURCES = [
    "text-history",
    "jhist",
    "rumen",
    "rumen-topology",
    "spark",
    "sacct",
    "swf",
    "swim",
    "gwf",
    "kueue-workloads",
    "pbs",
    "lsf",
    "gridengine",
    "sls",
    "sls-nodes",
    "yarn-apps",
    "google2011",
    "google2019",
    "alibaba2017",
    "alibaba2018",
    "conf",
]
SAMPLES = ["traces/sample-history", "traces/sample-spark", "traces/sample-slurm"]
# What a hostile writer would try in the place of a number or a name.
WORDS = [
    b"-1",
    b"0",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"1e308",
    b"NaN",
    b"",
    b"\x00",
    b"\xff\xfe",
    b'"',
    b"{",
    b"]]",
    b"..",
    b"/",
    b"\n",
    b"=" * 50,
    b"4294967296",
    b"0.0000001",
    b"true",
    b"[[[[[[[[",
    "\u202e".encode(),
]
MOST_BYTES = 60_000
# The names that a site gives to these seeds.
SITE_NAMES = {"capacity.xml": "capacity-scheduler.xml", "fair-mr1.xml": "fair-scheduler.xml", "fair-yarn.xml": "fair-scheduler.xml"}


class Part:
    name = "hostile"

    def __init__(self, binary):
        self.registry = worlds.Registry(binary)
        seeds = REPOSITORY / "fuzz" / "seeds"
        self.sources = [path for name in SOURCES for path in files(seeds / name)] + [
            path for name in SAMPLES for path in files(REPOSITORY / name)
        ]
        self.files = {kind: files(seeds / kind) for kind in ("cluster", "sweep", "workload", "site", "queues")}

    def make(self, rng):
        kind = rng.choice(["source", "source", "tables", "tables", "run", "cluster", "sweep", "workload", "site", "queues", "rules"])
        own = {"kind": kind, "changes": changes(rng), "policy": self.registry.draw(rng, self.registry.policies)}
        if kind == "source":
            own["file"] = str(rng.choice(self.sources).relative_to(REPOSITORY))
        elif kind in self.files and self.files[kind]:
            own["file"] = str(rng.choice(self.files[kind]).relative_to(REPOSITORY))
        own["place"] = rng.random()
        # Whether the list of files and the seal are taken away, as in a trace of another tool.
        own["unsealed"] = rng.random() < 0.8
        return own

    def judge(self, case, room):
        getattr(self, case["kind"])(case, room)

    def smaller(self, case):
        for fewer in worlds.halves(case["changes"]):
            yield case | {"changes": fewer}

    def damaged(self, case):
        path = REPOSITORY / case["file"]
        return damage(path.read_bytes()[:MOST_BYTES], case["changes"]), path.name

    def source(self, case, room):
        data, name = self.damaged(case)
        room.write(f"S/{name}", data)
        use(room, room.any("ingest", "S", "--out", "T"), case)

    def tables(self, case, room):
        """A table of a trace, or its manifest."""
        room.ok("ingest", REPOSITORY / "traces/sample-history", "--out", "T", "--counters")
        spoil(room, room.path / "T", "trace.json", case)
        use(room, room.any("inspect", "T", "--json"), case)
        room.any("verify", "T")
        room.any("anonymise", "T", "--out", "A")

    def run(self, case, room):
        """A table of a run, or its `run.json`."""
        room.ok("ingest", REPOSITORY / "traces/sample-history", "--out", "T")
        room.ok("replay", "T", "--assume", "--policy", "fair", "--policy", "fifo", "--robust", "off", "--out", "R", "--decisions")
        spoil(room, room.path / "R/fair", "run.json", case)
        room.any("report", "R", "--out", "P", "--format", "svg,html,tables", "--only", "gantt")
        room.any("explain", "R/fair", "--json")
        room.any("verify", "R")

    def cluster(self, case, room):
        data, _ = self.damaged(case)
        room.write("c.toml", data)
        room.ok("ingest", REPOSITORY / "traces/sample-history", "--out", "T")
        replay(room, case, "--cluster", "c.toml")

    def sweep(self, case, room):
        data, _ = self.damaged(case)
        room.write("s.toml", data)
        room.any("sweep", "s.toml", "--out", "S", "--dry-run", "--most-cells", 200)

    def workload(self, case, room):
        data, _ = self.damaged(case)
        room.write("w.toml", data)
        room.any("generate", "w.toml", "--out", "W", "--most-tasks", 20000)

    def site(self, case, room):
        data, name = self.damaged(case)
        room.write(f"site/{SITE_NAMES.get(name, name)}", data)
        room.any("site", "show", "site")
        room.any("site", "show", "site", "--json")
        room.ok("ingest", REPOSITORY / "traces/sample-history", "--out", "T")
        replay(room, case, "--site-conf", "site")

    def queues(self, case, room):
        data, _ = self.damaged(case)
        room.write("q.toml", data)
        room.ok("ingest", REPOSITORY / "traces/sample-history", "--out", "T")
        for policy in ("fair:allocations=q.toml", "capacity:queues=q.toml", "yarn-fair:queues=q.toml", "yarn-capacity:queues=q.toml"):
            replay(room, case | {"policy": policy})

    def rules(self, case, room):
        """Rules for making tasks, from a trace that needs them."""
        text = b"[memory]\nmaps_mb = 1024\n[locality]\nreplication = 3\n"
        room.write("r.toml", damage(text, case["changes"]))
        room.write("swim.tsv", "job0\t0\t0\t1000000\t1000000\t1000\njob1\t5\t5\t100000000\t1000\t1000\n")
        room.any("ingest", "swim.tsv", "--tasks", "r.toml", "--out", "T")


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def changes(rng):
    """What is done to the bytes: a place as a share of them, and what comes there."""
    kinds = ["flip", "word", "cut", "copy", "number"]
    return [
        [rng.choice(kinds), rng.random(), rng.random(), rng.randrange(256), rng.randrange(len(WORDS))]
        for _ in range(rng.choice([1, 1, 2, 5, 20]))
    ]


def damage(data, all_changes):
    data = bytearray(data)
    for kind, place, other, byte, word in all_changes:
        at = int(place * len(data))
        length = int(other * 40)
        if kind == "flip" and data:
            data[min(at, len(data) - 1)] = byte
        elif kind == "word":
            data[at : at + length // 8] = WORDS[word]
        elif kind == "cut":
            del data[at : at + length * length // 10]
        elif kind == "copy":
            data[at:at] = data[int(other * at) : at][:4000]
        elif kind == "number":
            number(data, at, WORDS[word])
    return bytes(data)


def number(data, at, word):
    """Puts a word in the place of the next number."""
    start = next((place for place in range(at, len(data)) if chr(data[place]).isdigit()), None)
    if start is not None:
        end = next((place for place in range(start, len(data)) if not chr(data[place]).isdigit()), len(data))
        data[start:end] = word


def spoil(room, folder, marker, case):
    """Damages one file of a folder. Without its hashes, the damage reaches the readers of tables."""
    chosen = sorted(path for path in folder.rglob("*") if path.is_file())
    path = chosen[int(case["place"] * len(chosen))]
    if case["unsealed"]:
        unseal(folder / marker)
    path.write_bytes(damage(path.read_bytes(), case["changes"]))


def unseal(path):
    """Takes the list of files and the seal away. A run without a seal is refused, so its marker is sealed anew."""
    fields = json.loads(path.read_text())
    fields.pop("seal", None)
    if path.name == "trace.json":
        fields.pop("files", None)
        path.write_text(json.dumps(fields))
    else:
        fields["files"] = {}
        path.write_bytes(seals.sealed(fields))


def use(room, ran, case):
    """Replays and reports what was read."""
    if ran.code != 0:
        raise Skipped("the damaged input is refused")
    room.any("inspect", "T")
    if replay(room, case).code == 0:
        room.any("report", "R", "T", "--out", "P", "--format", "svg,html,tables", "--only", "gantt")


def replay(room, case, *more):
    return room.any(
        "replay",
        "T",
        "--assume",
        "--robust",
        "off",
        "--policy",
        case["policy"],
        "--policy",
        "fifo",
        "--check",
        "--json",
        "--nodes",
        4,
        *more,
        "--out",
        "R",
    )
