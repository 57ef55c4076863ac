"""Shows that the checker finds false rows: each one is put into the tables of a true replay, which the checker accepts.

python tests/soak/false_rows.py PATH-OF-RESCHED
"""

import copy
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import checker  # noqa: E402
import worlds  # noqa: E402
from harness import Figures, Room, finds  # noqa: E402


def first(rows, **wanted):
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def falsehoods(jobs, attempts, printed):
    """The kind of failure that each must cause, and what is done to the rows."""
    done = first(attempts, kind="map", outcome="SUCCESS")
    reduce = first(attempts, kind="reduce", outcome="SUCCESS")
    job = first(jobs, job_id=done["job_id"])
    yield ("rows of run.json", lambda: attempts.pop())
    yield ("an attempt before its job's submission", lambda: done.update(start=job["submit"] - 1))
    yield ("a job ends before its attempts", lambda: job.update(finish=done["finish"] - 1))
    yield ("the times of an attempt", lambda: done.update(finish=done["start"] - 1))
    yield ("an attempt twice", lambda: attempts.__setitem__(attempts.index(reduce), copy.copy(done)))
    yield ("a task that was never done", lambda: done.update(outcome="KILLED"))
    yield ("slots", lambda: [row.update(host=done["host"]) for row in attempts])
    yield (
        "a start on a node that is down",
        lambda: (job.update(finish=2_000_000), done.update(host="h01", start=1_000_001, finish=1_006_001)),
    )
    yield ("a reduce before its slow-start", lambda: reduce.update(start=first(jobs, job_id=reduce["job_id"])["launch"]))
    yield ("the time of a map", lambda: done.update(finish=done["finish"] - 2))
    yield ("the distance of a map", lambda: done.update(locality=None if done["locality"] else "off"))
    yield ("printed mean_completion_ms", lambda: printed.update(mean_completion_ms=printed["mean_completion_ms"] + 1))
    yield ("printed jobs_finished", lambda: printed.update(jobs_finished=0))
    yield ("printed locality", lambda: printed.update(locality=None))


def world():
    """Jobs of maps and reduces on three nodes, one of which goes down after the last job has ended."""
    rng = random.Random(7)
    racks = {"h00": "r0", "h01": "r0", "h02": "r1"}
    jobs = [worlds.job(rng, number, 0, list(racks)) for number in range(1, 4)]
    for job in jobs:
        for task in job["maps"] + job["reduces"]:
            task["tries"] = [{"start": 3000, "finish": 9000, "outcome": "SUCCESS", "host": "h00"}]
        job["reduces"] = [job["maps"][0] | {"places": []}]
        job["setup"] = False
    cluster = {
        "nodes": {"map_slots": 2, "reduce_slots": 1},
        "jobs": {"slowstart": 1.0},
        "heartbeat": {"interval": 1000},
        "outages": [{"host": "h01", "from": 1_000_000}],
    }
    return {"hosts": racks, "jobs": jobs, "cluster": cluster}


def main(binary):
    room = Room(str(Path(binary).resolve()), Figures())
    try:
        worlds.write_world(world(), room)
        (printed,) = room.ok(
            "replay", "T", "--policy", "fifo", "--cluster", "cluster.toml", "--check", "--robust", "off", "--json", "--out", "R"
        ).lines()
        return judge(room, printed)
    finally:
        room.close()


def judge(room, printed):
    trace, folder = checker.Trace(room.path / "T"), room.path / "R/fifo"
    read = {table: checker.rows(folder, table) for table in ("jobs", "attempts")}
    counted = {job["job_id"] for job in read["jobs"] if checker.counts(job)}
    started = checker.starts(read["jobs"], read["attempts"])
    checker.judge(trace, folder, printed, counted, started)
    failures = 0
    for number in range(len(list(falsehoods(*copy.deepcopy((read["jobs"], read["attempts"], printed)))))):
        jobs, attempts, said = copy.deepcopy((read["jobs"], read["attempts"], printed))
        kind, change = list(falsehoods(jobs, attempts, said))[number]
        change()
        checker.rows = lambda folder, table: {"jobs": jobs, "attempts": attempts}[table]
        failures += 0 if finds(kind, lambda: checker.judge(trace, folder, said, counted, started)) else 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
