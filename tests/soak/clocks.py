"""Logs whose clock goes backwards, jumps ahead, or stands still at some line.

Shows: such a log is read, damaged times are counted and not printed as negative spans, and what is left can be replayed and reported.
"""

import datetime
import json
import re
from pathlib import Path

import replays
import worlds
from harness import Skipped, Wrong

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# How the clock of a source is written: the times in a line, and whether they are texts.
MILLIS = re.compile(rb"(?<![0-9])1[0-9]{12}(?![0-9])")
DATES = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")
SAMPLES = {"traces/sample-history": MILLIS, "traces/sample-spark": MILLIS, "traces/sample-slurm/sacct.txt": DATES}
JUMPS = [1, 500, 60_000, 3_600_000, 86_400_000, 400 * 86_400_000, 40 * 366 * 86_400_000]


class Part:
    name = "clocks"

    def __init__(self, binary):
        self.registry = worlds.Registry(binary)

    def make(self, rng):
        racks = worlds.hosts(rng)
        return {
            "sample": rng.choice([*SAMPLES, "rumen", "swf"]),
            "hosts": racks,
            "jobs": worlds.jobs(rng, racks),
            "seed": rng.randrange(1000),
            # From a place of the log on, by how many ms the clock is wrong.
            "jumps": [[rng.random(), rng.choice([1, -1]) * rng.choice(JUMPS)] for _ in range(rng.randint(1, 4))],
            "policies": [
                self.registry.draw(rng, self.registry.hadoop()),
                self.registry.draw(rng, self.registry.batch(), speculation=False),
            ],
        }

    def smaller(self, case):
        for jumps in worlds.halves(case["jumps"]):
            yield case | {"jumps": jumps}
        for jobs in worlds.halves(case["jobs"]):
            yield case | {"jobs": jobs}
        for policies in worlds.halves(case["policies"]):
            yield case | {"policies": policies}

    def judge(self, case, room):
        self.write(case, room)
        ran = room.any("ingest", "S", "--out", "T")
        if ran.code != 0:
            raise Skipped("refused: " + " ".join(ran.err.split()[:10]))
        inspected = json.loads(room.ok("inspect", "T", "--json").out)
        negative = [found for found in spans(inspected) if found[1] < 0]
        if negative:
            raise Wrong("a negative span", f"{negative[:3]}")
        self.replay(case, room)

    def replay(self, case, room):
        hadoop = case["sample"] in ("traces/sample-history", "rumen")
        policy = case["policies"][0] if hadoop else case["policies"][-1]
        more = [] if hadoop else ["--nodes", 8, "--cores", 64]
        ran = room.any(
            "replay",
            "T",
            "--policy",
            policy,
            "--assume",
            "--check",
            "--robust",
            "off",
            "--json",
            "--threads",
            1,
            "--seed",
            case["seed"],
            *more,
            "--out",
            "R",
        )
        replays.check_ended(case | {"cluster": {}}, ran)
        replays.judge_runs(room, ran.lines())
        ran = room.any("report", "R", "T", "--out", "P", "--format", "svg,tables", "--only", "gantt")
        # A jump may lie in each attempt of the log: then nothing can be compared with what really ran.
        if ran.code != 0 and "no observed attempts" not in ran.err:
            raise Wrong("report fails", str(ran))

    def write(self, case, room):
        if case["sample"] == "rumen":
            # Each object of a job is a line, so the clock jumps between jobs and between the tasks of one job.
            text = "\n".join(json.dumps(worlds.rumen_job(job, case["hosts"])) for job in case["jobs"])
            room.write("S/trace.json", jumped(text.encode(), MILLIS, case["jumps"]))
            room.write("S/topology.json", json.dumps(worlds.topology(case["hosts"])))
        elif case["sample"] == "swf":
            rows = [[own["number"], own["submit"] // 1000, 3, 60, 2, -1, -1, 2, 90, -1, 1, 1, 1, -1, 1, -1, -1, -1] for own in case["jobs"]]
            for place, jump in case["jumps"]:
                for row in rows[int(place * len(rows)) :]:
                    row[1] += jump // 1000
            room.write("S/log.swf", "".join(" ".join(map(str, row)) + "\n" for row in rows))
        else:
            path = REPOSITORY / case["sample"]
            for own in [path] if path.is_file() else sorted(path.iterdir()):
                if own.is_file():
                    room.write(f"S/{own.name}", jumped(own.read_bytes(), SAMPLES[case["sample"]], case["jumps"]))


def jumped(data, pattern, jumps):
    """The log with its times moved from each place on."""

    def moved(match):
        shift = sum(jump for place, jump in jumps if match.start() >= place * len(data))
        return shifted(match.group(), shift)

    return pattern.sub(moved, data)


def shifted(text, shift):
    if b"T" not in text:
        return str(int(text) + shift).encode()
    date = datetime.datetime.fromisoformat(text.decode()) + datetime.timedelta(milliseconds=shift)
    return date.isoformat(timespec="seconds").encode()


def spans(value, path=""):
    """The numbers of an inspection that are lengths of time."""
    if isinstance(value, dict):
        for key, own in value.items():
            yield from spans(own, f"{path}.{key}")
    elif isinstance(value, list):
        for own in value:
            yield from spans(own, path)
    elif isinstance(value, (int, float)) and re.search(r"span|duration|length|time_ms|_ms$", path):
        yield path, value
