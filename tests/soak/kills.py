"""Commands that are ended by a signal at a random moment.

Shows: after SIGTERM and SIGINT, nothing hidden is left, and what is there is the earlier result or nothing. After any signal, the same
command again gives the same bytes as a run that nobody disturbed, with nothing hidden beside them.
"""

import os
import shutil
import signal
import time

import worlds
from harness import Wrong, waited

SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT}
SWEEP = """name = "soak"
workload = "workload.toml"
assume = true
seeds = 2
[variants.fifo]
[variants.delay]
D = [0, 4]
"""


class Part:
    name = "kills"

    def __init__(self, binary):
        pass

    def make(self, rng):
        racks = worlds.hosts(rng)
        return {
            "command": rng.choice(["ingest", "tables", "replay", "sweep", "report", "anonymise"]),
            "seed": rng.randrange(1000),
            "moments": [rng.random() for _ in range(3)],
            "signals": [rng.choice(list(SIGNALS)) for _ in range(3)],
            "over": rng.random() < 0.4,
            "hosts": racks,
            "jobs": worlds.jobs(rng, racks, most=30),
            "workload": worlds.workload(rng),
        }

    def judge(self, case, room):
        args = self.prepare(case, room)
        undisturbed = self.finish(room, args)
        whole = room.tree("new")
        if not case["over"]:
            shutil.rmtree(room.path / "new")
            (room.path / "new").mkdir()
        killed = False
        for share, name in zip(case["moments"], case["signals"]):
            ran = self.disturb(room, args, share * undisturbed, name)
            # SIGKILL leaves no time to clean up. The next run that ends does it.
            killed = name == "KILL" or killed and ran.code != 0
            if not killed and ran.code != 0:
                check_left(ran, room.tree("new"), whole if case["over"] else {})
        self.finish(room, args)
        compare("other bytes after a signal", whole, room.tree("new"))

    def smaller(self, case):
        for place in range(len(case["moments"])):
            if len(case["moments"]) > 1:
                yield case | {key: case[key][:place] + case[key][place + 1 :] for key in ("moments", "signals")}
        for jobs in worlds.halves(case["jobs"]):
            yield case | {"jobs": jobs}

    def prepare(self, case, room):
        """The command, with what it reads."""
        worlds.write_jobs(case["jobs"], case["hosts"], room, "T")
        room.write("workload.toml", worlds.toml(case["workload"]))
        room.write("sweep.toml", SWEEP)
        room.write("key", "a key of sixteen bytes")
        (room.path / "new").mkdir()
        replay = ["--assume", "--policy", "fifo", "--policy", "fair", "--robust", "quick"]
        if case["command"] == "tables":
            tables(room, case["seed"])
        if case["command"] == "report":
            room.ok("replay", "T", *replay, "--out", "R")
        return {
            "ingest": ["ingest", "T-in", "--out", "new/X"],
            "tables": ["ingest", "tables", "--partition-bytes", 300000, "--threads", 1, "--out", "new/X"],
            "replay": ["replay", "T", *replay, "--decisions", "--out", "new/X"],
            "sweep": ["sweep", "sweep.toml", "--out", "new/X"],
            "report": ["report", "R", "--out", "new/X"],
            "anonymise": ["anonymise", "T", "--key", "key", "--out", "new/X"],
        }[case["command"]]

    def finish(self, room, args):
        """Runs the command to its end, and returns how long it took."""
        begun = time.monotonic()
        room.ok(*args)
        hidden = [name for name in room.tree("new") if is_hidden(name)]
        if hidden:
            raise Wrong("hidden files after a run", f"{args[0]}: {hidden}")
        return time.monotonic() - begun

    def disturb(self, room, args, moment, name):
        process, out, err = room.start(*args)
        time.sleep(moment)
        # It is our own process, and not yet waited for, so its id is still its own.
        os.kill(process.pid, SIGNALS[name])
        ran = waited(args, process, out, err, 60)
        room.figures.add(ran)
        if ran.code not in (0, 130, -SIGNALS[name]) or "panicked" in ran.err:
            raise Wrong("exit status after a signal", f"{name}: {ran}")
        return ran


def check_left(ran, left, earlier):
    """Nothing hidden is left but the work of a resumable ingest, and the earlier result is whole or replaced."""
    hidden = [path for path in left if is_hidden(path) and ".ingest-" not in path]
    if hidden:
        raise Wrong("hidden files after a signal", f"{ran}: {hidden}")
    # A sweep writes its folder file by file. Its list then knows both contents.
    if earlier and ran.args[0] != "sweep":
        compare("an earlier result is damaged by a signal", earlier, {path: own for path, own in left.items() if not is_hidden(path)})


def tables(room, seed):
    """Task events of Google in several files."""
    for part in range(4):
        lines = []
        for row in range(4000):
            at, event = 1_000_000 * (part * 4000 + row), [0, 1, 4, 4][part]
            lines.append(f"{at},,{(row * 7919 + seed) % 997},{row % 13},{row % 50},{event},user,1,9,0.125,0.1,0.1,0\n")
        room.write(f"tables/part-{part}", "".join(lines))


def is_hidden(name):
    return any(part.startswith(".") for part in name.split("/"))


def compare(kind, expected, found):
    differ = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    if differ:
        raise Wrong(kind, f"{differ[:8]}")
