"""Writes a made table for each map in `traces/maps`, in the columns of the real set, and the jobs that it was written from.

    python3 make.py
"""

import csv
import datetime
import json
import random
from pathlib import Path
from zoneinfo import ZoneInfo

HERE = Path(__file__).parent
ZERO = 1_750_000_000  # 15 June 2025: summer time where there is one


def made_jobs(seed):
    draw = random.Random(seed)
    jobs = []
    for number in range(1, 13):
        submit = ZERO + number * 37
        start = submit + draw.choice([0, 5, 900])
        jobs.append({
            "id": str(1_000 + number), "user": draw.choice(["11", "12"]), "queue": draw.choice(["1", "2"]), "submit": submit,
            "start": start, "end": start + draw.randrange(60, 9_000), "limit": draw.choice([60, 1_440]) * 60,
            "outcome": draw.choice(["SUCCESS", "FAILED", "KILLED"]), "nodes": draw.choice([1, 2, 4]),
            "cores": draw.choice([8, 16]), "gpus": draw.choice([0, 4]), "gigabytes": draw.choice([2, 8]),
        })
    return jobs


def local(at, zone, ending=""):
    return datetime.datetime.fromtimestamp(at, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S") + ending


SLURM = {"SUCCESS": "COMPLETED", "FAILED": "FAILED", "KILLED": "CANCELLED"}


def hosts(job, prefix):
    return [f"{prefix}{(int(job['id']) + n) % 7}" for n in range(job["nodes"])]


def pm100(job):
    total = job["cores"] * job["nodes"]
    return {
        "job_id": job["id"], "user_id": job["user"], "group_id": "9", "partition": job["queue"], "qos": "normal", "priority": 5,
        "job_state": SLURM[job["outcome"]], "submit_time": local(job["submit"], "UTC", "+00:00"),
        "eligible_time": local(job["submit"], "UTC", "+00:00"), "start_time": local(job["start"], "UTC", "+00:00"),
        "end_time": local(job["end"], "UTC", "+00:00"), "time_limit": job["limit"] // 60, "num_nodes_req": job["nodes"],
        "num_nodes_alloc": job["nodes"], "num_cores_req": total, "num_cores_alloc": total, "num_gpus_req": job["gpus"] * job["nodes"],
        "num_gpus_alloc": job["gpus"] * job["nodes"], "mem_req": job["gigabytes"] * job["nodes"], "mem_alloc": 1,
        "nodes": str([int(host[4:]) for host in hosts(job, "node")]), "power_consumption": "[1, 2, 3]",
    }, {"memory": job["gigabytes"] * 10**9, "hosts": job["nodes"]}


def fdata(job):
    return {
        "jid": job["id"], "usr": job["user"], "jnam": "j", "jobenv_req": job["queue"], "pri": 127,
        "exit state": {"SUCCESS": "completed", "FAILED": "failed", "KILLED": "cancelled"}[job["outcome"]],
        "adt": local(job["submit"], "Asia/Tokyo"), "sdt": local(job["start"], "Asia/Tokyo"), "edt": local(job["end"], "Asia/Tokyo"),
        "elpl": job["limit"], "nnumr": job["nodes"], "cnumr": job["cores"] * job["nodes"], "avgpcon": 1.5,
    }, {"gpus": 0}


def adastra(job):
    return {
        "job_id": job["id"], "user_id": job["user"], "priority": 1, "job_state": SLURM[job["outcome"]], "run_time": job["end"] - job["start"],
        "submit_time": local(job["submit"], "Europe/Paris"), "start_time": local(job["start"], "Europe/Paris"),
        "end_time": local(job["end"], "Europe/Paris"), "time_limit": job["limit"], "num_nodes_alloc": job["nodes"],
        "nodes": str(hosts(job, "x2002c1s0b")),
    }, {"cpu": 64_000, "gpus": 8, "hosts": job["nodes"], "queue": None}


def kestrel(job):
    zone = datetime.timezone(datetime.timedelta(hours=-7))
    show = lambda at: datetime.datetime.fromtimestamp(at, zone).strftime("%Y-%m-%dT%H:%M:%S")
    return {
        "job_id": job["id"], "account": "acct", "user": job["user"], "partition": job["queue"], "job_state": SLURM[job["outcome"]],
        "submit_time": show(job["submit"]), "start_time": show(job["start"]), "end_time": show(job["end"]), "wallclock_req": job["limit"],
        "nodes_required": job["nodes"], "processors_req": job["cores"] * job["nodes"], "wall_time": 1,
    }, {"gpus": 0}


def lassen(job):
    zone = "America/Los_Angeles"
    return {
        "allocation_id": 1, "primary_job_id": job["id"], "secondary_job_id": 0, "hashed_user_id": job["user"],
        "job_submit_time": local(job["submit"], zone, ".5"), "begin_time": local(job["start"], zone), "end_time": local(job["end"], zone),
        "time_limit": job["limit"], "exit_status": {"SUCCESS": 0, "FAILED": 1, "KILLED": 143}[job["outcome"]], "num_nodes": job["nodes"],
    }, {"id": job["id"] + ".0", "submit": job["submit"] * 1_000 + 500, "cpu": 40_000, "gpus": 4, "queue": None}


def aurora(job):
    outcome = "FAILED" if job["outcome"] == "KILLED" else job["outcome"]
    return {
        "JOB_NAME": job["id"] + ".aurora", "USERNAME_GENID": job["user"], "QUEUE_NAME": job["queue"],
        "QUEUED_TIMESTAMP": local(job["submit"], "UTC"), "START_TIMESTAMP": local(job["start"], "UTC"),
        "END_TIMESTAMP": local(job["end"], "UTC"), "WALLTIME_SECONDS": f"{job['limit']}.0", "RUNTIME_SECONDS": 1,
        "NODES_REQUESTED": job["nodes"], "CORES_REQUESTED": job["cores"] * job["nodes"],
        "EXIT_STATUS": {"SUCCESS": 0, "FAILED": 1}[outcome], "LOCATION": "x1,x2",
    }, {"id": job["id"] + ".aurora", "gpus": 0, "outcome": outcome}


def in2p3(job):
    return {
        "JobID": job["id"], "User": job["user"], "Partition": job["queue"], "State": SLURM[job["outcome"]],
        "Submit": local(job["submit"], "Europe/Paris"), "Start": local(job["start"], "Europe/Paris"),
        "End": local(job["end"], "Europe/Paris"), "Timelimit": f"{job['limit'] // 86_400}-{job['limit'] % 86_400 // 3_600:02}:00:00",
        "ReqCPUS": job["cores"], "ReqMem": f"{job['gigabytes']}G",
    }, {"instances": 1, "memory": job["gigabytes"] << 30, "gpus": 0}


def supercloud(job):
    total = job["cores"] * job["nodes"]
    tres = f"1={total},2={job['gigabytes'] * job['nodes'] * 1_024},4={job['nodes']}"
    tres += f",1001={job['gpus'] * job['nodes']}" if job["gpus"] else ""
    return {
        "id_job": job["id"], "id_user": job["user"], "partition": job["queue"], "priority": 7, "constraints": "xeon-g6",
        "state": {"SUCCESS": 3, "FAILED": 5, "KILLED": 6}[job["outcome"]], "time_submit": job["submit"], "time_eligible": 0,
        "time_start": job["start"], "time_end": job["end"], "timelimit": job["limit"] // 60, "cpus_req": total, "nodes_alloc": job["nodes"],
        "tres_req": tres, "tres_alloc": tres, "nodelist": ",".join(hosts(job, "r1-n")), "mem_req": 9223372036854779808,
    }, {"memory": job["gigabytes"] << 30, "hosts": job["nodes"]}


def philly(job):
    zone = "America/Los_Angeles"
    where = [{"ip": host, "gpus": [f"gpu{n}" for n in range(job["gpus"])]} for host in hosts(job, "m")]
    half = (job["start"] + job["end"]) // 2
    return {
        "jobid": job["id"], "user": job["user"], "vc": job["queue"],
        "status": {"SUCCESS": "Pass", "FAILED": "Failed", "KILLED": "Killed"}[job["outcome"]],
        "submitted_time": local(job["submit"], zone),
        "attempts": [
            {"start_time": local(job["start"], zone), "end_time": local(half, zone), "detail": where},
            {"start_time": local(half, zone), "end_time": local(job["end"], zone), "detail": where},
        ],
    }, {"cpu": None, "limit": None, "hosts": job["nodes"]}


def helios(job):
    zone = "Asia/Shanghai"
    return {
        "job_id": job["id"], "user": job["user"], "vc": job["queue"], "gpu_num": job["gpus"] * job["nodes"],
        "cpu_num": job["cores"] * job["nodes"], "node_num": job["nodes"], "state": SLURM[job["outcome"]],
        "submit_time": local(job["submit"], zone), "start_time": local(job["start"], zone), "end_time": local(job["end"], zone),
        "duration": job["end"] - job["start"], "queue": job["start"] - job["submit"],
    }, {"limit": None}


def main():
    rows = {}
    for number, (name, write) in enumerate({
        "pm100": pm100, "fdata-fugaku": fdata, "adastra": adastra, "kestrel": kestrel, "lassen": lassen, "aurora": aurora,
        "in2p3-2024": in2p3, "mit-supercloud": supercloud, "philly": philly, "helios": helios,
    }.items()):
        jobs = made_jobs(number)
        table, rows[name] = [], []
        for job in jobs:
            row, other = write(job)
            table.append(row)
            rows[name].append({
                "id": job["id"], "user": job["user"], "queue": job["queue"], "submit": job["submit"] * 1_000, "start": job["start"] * 1_000,
                "finish": job["end"] * 1_000, "limit": job["limit"] * 1_000, "outcome": job["outcome"], "instances": job["nodes"],
                "cpu": job["cores"] * 1_000, "memory": None, "gpus": job["gpus"], "hosts": 0, **other,
            })
        if name == "philly":
            (HERE / f"{name}.json").write_text(json.dumps(table, indent=1) + "\n")
            continue
        # That of the book is bundled beside its map.
        bundled = HERE.parents[4] / "traces" / "maps" / "helios-made.csv"
        with (bundled if name == "helios" else HERE / f"{name}.csv").open("w", newline="") as out:
            writer = csv.DictWriter(out, table[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
    lines = [f' "{name}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in of) + "\n ]" for name, of in rows.items()]
    (HERE / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
