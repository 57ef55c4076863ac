"""Histories in an object store that fails at some request.

Shows: `ingest s3://…` gives the tables of the same files in a folder, or ends with an error that names the address, without a trace and
with nothing hidden beside it. A store whose objects change meanwhile gives the tables of one version or an error, never a mixture.
"""

import hashlib
import json

import stand_in
import worlds
from harness import Wrong

BUCKET, PREFIX = "logs", "history"
# The kinds of failures. The first shows that the stand-in is a store as resched needs it.
FAULTS = [
    "none",
    "cut",
    "reset",
    "reset midway",
    "500",
    "503",
    "404",
    "403",
    "too short",
    "too long",
    "whole object",
    "other range",
    "changed",
    "damaged list",
    "page by page",
    "slow",
]
# An entry that is hard to pack, so that an object has several ranges.
NOISE = 200


class Part:
    name = "store"

    def __init__(self, binary):
        pass

    def make(self, rng):
        return {
            "logs": [[rng.choice([1, 20, 900, 3000]), rng.random() < 0.3] for _ in range(rng.randint(1, 4))],
            "fault": rng.choice(FAULTS),
            # At which request it fails first, how many requests fail, and after which part of the body.
            "at": rng.choice([0, 1, 2, 3, 5, rng.randrange(12)]),
            "times": rng.choice([1, 1, 2, 5, 1000]),
            "place": rng.random(),
            "merge": rng.random() < 0.5,
            "over": rng.random() < 0.3,
            "seed": rng.randrange(1000),
        }

    def smaller(self, case):
        for logs in worlds.halves(case["logs"]):
            yield case | {"logs": logs}
        for place, (lines, packed) in enumerate(case["logs"]):
            if lines > 1:
                yield case | {"logs": case["logs"][:place] + [[lines // 2, packed]] + case["logs"][place + 1 :]}

    def judge(self, case, room):
        first, second = ({name: log for name, log in version(case, number)} for number in (0, 1))
        more = ["--merge"] if case["merge"] else []
        expected = [self.local(room, f"{PREFIX}-{number}", files, more) for number, files in enumerate((first, second))]
        if case["over"]:
            room.ok("ingest", f"{PREFIX}-1", "--out", "S")
        before = room.tree("S") if case["over"] else {}
        objects, later = ({f"{PREFIX}/{name}": data for name, data in files.items()} for files in (first, second))
        with stand_in.store(BUCKET, objects, stand_in.Fault.of(case), later) as server:
            args = ["ingest", f"s3://{BUCKET}/{PREFIX}", *more, "--out", "S", *(["--force"] if case["over"] else [])]
            ran = room.any(*args, environment=server.environment())
        if ran.code == 0:
            found = tables(room.tree("S"))
            if found != expected[0] and not (case["fault"] == "changed" and found == expected[1]):
                raise Wrong("other tables than from a folder", f"{case['fault']}: {ran} after {server.requests} requests")
            return
        if case["fault"] in ("none", "page by page", "slow"):
            raise Wrong("a sound store is refused", str(ran))
        if f"s3://{BUCKET}" not in ran.err:
            raise Wrong("an error without the address", str(ran))
        left = {name for name in room.tree(".") if not name.startswith(PREFIX) and name.split("/")[0] not in ("L0", "L1")}
        if left != {f"S/{name}" for name in before} or (room.tree("S") if case["over"] else {}) != before:
            raise Wrong("what an error leaves behind", f"{sorted(left)}: {ran}")

    def local(self, room, folder, files, more):
        """The tables of the same files in a folder."""
        for name, data in files.items():
            room.write(f"{folder}/{name}", data)
        out = f"L{folder[-1]}"
        room.ok("ingest", folder, *more, "--out", out)
        return tables(room.tree(out))


def tables(tree):
    """The bytes of all tables. The manifest names its sources, which are in different places."""
    return {name: data for name, data in tree.items() if name != "trace.json"}


def version(case, number):
    """The objects: logs of Spark applications, some of which roll over. Another version has other times."""
    for place, (lines, rolls) in enumerate(case["logs"]):
        data = log(f"app-{place}", lines, number, case["seed"])
        if rolls:
            cut = data.index(b"\n", len(data) // 2) + 1
            yield f"eventlog_v2_app-{place}/events_1_app-{place}", data[:cut]
            yield f"eventlog_v2_app-{place}/events_2_app-{place}", data[cut:]
        else:
            yield f"app-{place}", data


def log(name, lines, number, seed):
    events = [
        {"Event": "SparkListenerLogStart", "Spark Version": "4.0.0"},
        {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": name, "Timestamp": 1000, "User": "ann"},
        {"Event": "SparkListenerExecutorAdded", "Timestamp": 1000, "Executor ID": "1", "Executor Info": {"Host": "h1", "Total Cores": 4}},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1000, "Stage Infos": [], "Stage IDs": [0]},
    ]
    for task in range(lines):
        launch = 1000 + task + 7 * number
        info = {"Task ID": task, "Index": task, "Attempt": 0, "Launch Time": launch, "Executor ID": "1", "Host": "h1", "Locality": "ANY"}
        own = {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask"}
        noise = hashlib.sha256(f"{seed} {name} {task}".encode()).hexdigest() * (NOISE // 64)
        end = {"Task End Reason": {"Reason": "Success"}, "Task Info": info | {"Finish Time": launch + 1000}, "Noise": noise}
        events.append(own | end)
    events.append({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 90_000, "Job Result": {"Result": "JobSucceeded"}})
    return "".join(json.dumps(event) + "\n" for event in events).encode()
