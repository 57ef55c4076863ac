"""Shows that `checks_batch` finds false rows: each one is put into the tables of a true replay of a list of Slurm.

python tests/soak/false_schedules.py PATH-OF-RESCHED
"""

import copy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import checker  # noqa: E402
import checks_batch  # noqa: E402
import slurm  # noqa: E402
from harness import Figures, Room, finds  # noqa: E402

# A node with everything and one with nothing, a partition on the first, one on both, and one whose jobs are alone.
NODES = [
    {"first": 0, "count": 1, "cpus": 4, "memory_mb": 2000, "gpus": 1, "features": ["fast"], "weight": 1},
    {"first": 1, "count": 1, "cpus": 8, "memory_mb": 16000, "gpus": 0, "features": [], "weight": 5},
]
PARTITION = {"groups": [0, 1], "tier": 1, "max_time": None, "default_time": None, "exclusive": False, "qos": None}


def job(number, **more):
    own = {"id": str(number), "raw": number, "user": "ann", "partition": "both", "qos": "normal", "priority": 1, "submit": 0, "eligible": 0}
    own |= {
        "limit": None,
        "tasks": 1,
        "each": 1,
        "nodes": None,
        "exclusive": False,
        "gpus": 0,
        "memory_mb": 1,
        "licenses": 0,
        "features": "",
    }
    return own | {"hosts": ["n00"], "after": [], "tries": [{"submit": 0, "wait": 0, "run": 100, "state": "COMPLETED"}]} | more


def many():
    """A site with limits, and a job for each rule."""
    partitions = {"both": PARTITION, "first": PARTITION | {"groups": [0]}, "alone": PARTITION | {"groups": [1], "exclusive": True}}
    site = {"groups": NODES, "partitions": partitions, "memory": True, "licenses": 1}
    site |= {"qos": {"normal": {}, "high": {"jobs_of_user": 1}}, "settings": {"AccountingStorageEnforce": "limits"}}
    twice = [{"submit": 0, "wait": 0, "run": 5, "state": "FAILED"}, {"submit": 200, "wait": 0, "run": 7, "state": "COMPLETED"}]
    jobs = [
        job(1, partition="first", qos="high"),
        job(2, qos="high"),
        job(3, submit=1, after=["1"]),
        job(4, submit=1, tries=twice),
        job(5, submit=1, eligible=300),
        *[job(number, submit=1000, memory_mb=900) for number in (6, 7, 8)],
        *[job(number, submit=2000, each=2) for number in (9, 10, 11)],
        *[job(number, submit=3000, gpus=1) for number in (12, 13)],
        *[job(number, submit=4000, licenses=1) for number in (14, 15)],
        job(16, submit=5000, nodes=1),
        job(17, submit=6000, partition="alone", hosts=["n01"]),
        job(18, submit=6000),
    ]
    return site, jobs, "slurm:scheduler=builtin"


def few(policy):
    """One machine of one processor, and jobs that follow each other."""
    site = {"groups": [NODES[0] | {"cpus": 1}], "partitions": {"both": PARTITION | {"groups": [0]}}, "memory": False, "licenses": 0}
    return site | {"qos": {"normal": {}}, "settings": {}}, [job(number, submit=number) for number in (1, 2, 3)], policy


def falsehoods_of_many(rows, jobs, attempts):
    """The kind of failure that each must cause, and what is done to the rows."""
    yield ("a wait before the job is eligible", lambda: move(rows[5], rows[4]["start"]))
    yield ("a start before its wait", lambda: rows[1].update(queued=rows[1]["start"] + 1))
    yield ("a start before the job that it depends on has ended", lambda: move(rows[3], rows[1]["finish"] - 1))
    yield ("the tries of a task", lambda: rows[2].update(finish=rows[2]["finish"] + 1))
    yield ("jobs that are left out", lambda: (jobs.remove(named(jobs, "16")), attempts.remove(rows[16])))
    yield ("a task that never ended", lambda: attempts.remove(rows[16]))
    yield (
        "tries that are missing",
        lambda: attempts.remove(max((row for row in attempts if row["task_id"] == "4"), key=lambda row: row["start"])),
    )
    yield ("the processors of a task", lambda: rows[1].update(cpu_request=0))
    yield ("a machine that is not there", lambda: rows[16].update(host="n99"))
    yield ("memory", lambda: [rows[number].update(host="n00") for number in (6, 7, 8)])
    yield ("processors", lambda: [rows[number].update(host="n00") for number in (9, 10, 11)])
    yield ("generic resources", lambda: move(rows[13], rows[12]["start"]))
    yield ("licences", lambda: move(rows[15], rows[14]["start"]))
    yield ("a machine outside of the partition", lambda: rows[1].update(host="n01"))
    yield ("another number of machines", lambda: rows[16].update(host=None))
    yield ("a job beside one that has its machine for itself", lambda: (move(rows[18], rows[17]["start"]), rows[18].update(host="n01")))
    yield ("a limit", lambda: move(rows[2], rows[1]["start"]))
    yield ("the parts of a second at which jobs start", lambda: move(rows[16], rows[16]["start"] + 1))


def falsehoods_of_few(rows, jobs, attempts):
    yield ("a start that passes the queue", lambda: exchange(rows[2], rows[3]))
    yield ("the first of the queue waits though it fits", lambda: move(rows[3], rows[3]["start"] + 1))


def falsehoods_of_main_loop(rows, jobs, attempts):
    yield ("a job before another of its partition", lambda: exchange(rows[2], rows[3]))


def named(jobs, name):
    return next(own for own in jobs if own["job_id"] == name)


def move(row, start):
    row.update(finish=start + row["finish"] - row["start"], start=start, queued=min(row["queued"], start))


def exchange(one, other):
    starts = one["start"], other["start"]
    move(one, starts[1])
    move(other, starts[0])


def main(binary):
    worlds = [
        (many(), falsehoods_of_many),
        (few("batch-fifo"), falsehoods_of_few),
        (few("slurm:scheduler=builtin,priority=basic"), falsehoods_of_main_loop),
    ]
    return max(judge(binary, world, falsehoods) for world, falsehoods in worlds)


def judge(binary, world, falsehoods):
    """Accepts a true replay, and puts each falsehood into a copy of it. Returns 1 if one is not found."""
    site, jobs, policy = world
    room, rows_of = Room(str(Path(binary).resolve()), Figures()), checker.rows
    case = {
        "site": site,
        "jobs": jobs,
        "columns": slurm.NEEDED + slurm.OPTIONAL + ["ElapsedRaw", "NodeList"],
        "epoch": True,
        "steps": False,
    }
    try:
        room.write("jobs.txt", slurm.listed(case))
        slurm.write_site(site, room)
        room.ok("ingest", "jobs.txt", "--out", "T")
        room.ok("replay", "T", "--policy", policy, "--site-conf", "conf", "--assume", "--robust", "off", "--out", "R")
        (folder,) = [path.parent for path in (room.path / "R").glob("*/run.json")]
        trace, own = checker.Trace(room.path / "T"), checks_batch.Site(site)
        read = {table: checker.rows(folder, table) for table in ("jobs", "attempts")}
        checks_batch.judge_all(trace, [folder], own)
        kinds = len(list(falsehoods(*copies(read))))
        return max(
            0 if finds_number(number, read, falsehoods, lambda: checks_batch.judge_all(trace, [folder], own)) else 1 for number in range(kinds)
        )
    finally:
        checker.rows = rows_of
        room.close()


def copies(read):
    """The first row of each job by its number, and all rows."""
    tables = copy.deepcopy(read)
    rows = {}
    for row in sorted(tables["attempts"], key=lambda row: row["attempt"]):
        rows.setdefault(int(row["job_id"]), row)
    return rows, tables["jobs"], tables["attempts"]


def finds_number(number, read, falsehoods, judged):
    rows, jobs, attempts = copies(read)
    kind, change = list(falsehoods(rows, jobs, attempts))[number]
    change()
    checker.rows = lambda folder, table: {"jobs": jobs, "attempts": attempts}[table]
    return finds(kind, judged)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
