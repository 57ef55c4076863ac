"""Writes the accounting logs of made jobs, as PBS, Torque, LSF and Grid Engine would, and what a reader must find in them.

The jobs come first, as plain values. Each log is then written from them by the rules of its system, and `expected.json` has the values
themselves. So no number in it was read from a log.

    python3 make.py
"""

import json
import random
import time
from pathlib import Path

HERE = Path(__file__).parent
ZERO = 1_795_838_400  # 2026-11-28 04:00:00 UTC
GIB = 1 << 30


def made_jobs(seed, shared):
    """Jobs of 1 to 4 nodes with 4 or 16 cores each. With `shared`, all are on one node."""
    draw = random.Random(seed)
    jobs = []
    for number in range(101, 141):
        nodes = 1 if shared else draw.choice([1, 1, 1, 2, 4])
        submit = ZERO + (number - 101) * 61 + draw.randrange(60)
        tries, at = [], submit + draw.choice([0, 7, 600])
        for again in range(draw.choice([0, 0, 0, 0, 1])):
            tries.append((at, at + 30 + draw.randrange(300), "given-back"))
            at = tries[-1][1] + 45
        if number % 19 == 0:
            tries = []
        elif number % 17 != 0:
            tries.append((at, at + 60 + draw.randrange(4_000), draw.choice(["SUCCESS", "SUCCESS", "FAILED", "KILLED"])))
        jobs.append({
            "number": number,
            "task": 3 if number % 11 == 0 else 0,
            "user": draw.choice(["ann", "bob", "cho"]),
            "account": draw.choice(["chem", "bio"]),
            "queue": draw.choice(["batch", "long"]),
            "name": draw.choice(["run", "a b", "x=1"]),
            "submit": submit,
            "deleted": submit + 900 if number % 17 == 0 and not tries else None,
            "tries": tries,
            "nodes": nodes,
            "cores": draw.choice([4, 16]),
            "memory": draw.choice([4, 32]) * GIB,
            "gpus": draw.choice([0, 0, 2]),
            "limit": draw.choice([3_600, 90_000]),
            "hosts": [f"n{(number + n) % 8 + 1:02}" for n in range(nodes)],
        })
    return jobs


def expected(job, job_id, per_core=False):
    ended = [one for one in job["tries"] if one[2] != "given-back"]
    end, outcome = (ended[0][1], ended[0][2]) if ended else (job["deleted"], "KILLED" if job["deleted"] else "INCOMPLETE")
    return {
        "id": job_id,
        "user": job["user"],
        "queue": job["queue"],
        "group": job["account"],
        "name": job["name"],
        "submit": job["submit"] * 1_000,
        "finish": end and end * 1_000,
        "outcome": outcome,
        "limit": job["limit"] * 1_000,
        "instances": job["nodes"],
        "cpu": job["cores"] * 1_000,
        "memory": job["memory"],
        "gpus": job["gpus"],
        "tries": [[one[0] * 1_000, one[1] * 1_000, "EVICTED" if one[2] == "given-back" else one[2]] for one in job["tries"]],
        "hosts": sorted(job["hosts"]) if job["tries"] else [],
    }


def clock(seconds):
    hours, rest = divmod(seconds, 3_600)
    return f"{hours:02}:{rest // 60:02}:{rest % 60:02}"


def stamp(at):
    return time.strftime("%m/%d/%Y %H:%M:%S", time.gmtime(at))


def pbs(jobs, torque):
    """Records in the order of their times. PBS Professional names chunks, Torque nodes."""
    status = {"SUCCESS": "0", "FAILED": "1", "KILLED": "271"}
    lines = []
    for job in jobs:
        index = f"[{job['task']}]" if job["task"] else ""
        job_id = f"{job['number']}{index}.server"
        name = job["name"] if torque else f'"{job["name"]}"' if " " in job["name"] else job["name"]
        account = job["account"] if torque else f'"{job["account"]}"'
        head = (
            f"user={job['user']} group=users account={account} jobname={name} queue={job['queue']} "
            f"ctime={job['submit']} qtime={job['submit']} etime={job['submit']} "
        )
        gigabytes = job["memory"] // GIB
        if torque:
            gpus = f":gpus={job['gpus']}" if job["gpus"] else ""
            request = f"Resource_List.mem={gigabytes * job['nodes']}gb Resource_List.nodes={job['nodes']}:ppn={job['cores']}{gpus} "
            where = "+".join(f"{host}/{core}" for host in job["hosts"] for core in range(job["cores"]))
        else:
            gpus = f":ngpus={job['gpus']}" if job["gpus"] else ""
            chunk = f"{job['nodes']}:ncpus={job['cores']}:mem={gigabytes}gb{gpus}"
            request = f"Resource_List.ncpus={job['nodes'] * job['cores']} Resource_List.place=scatter Resource_List.select={chunk} "
            where = "+".join(f"{host}/1*{job['cores']}" for host in job["hosts"])
        request += f"Resource_List.walltime={clock(job['limit'])} "
        lines.append((job["submit"], f"Q;{job_id};queue={job['queue']}"))
        for start, end, how in job["tries"]:
            run = f"{head}start={start} exec_host={where} {request}"
            lines.append((start, f"S;{job_id};{run}"))
            if how == "given-back":
                lines.append((end, f"R;{job_id};" + ("" if torque else f"{run}session=1 end={end} Exit_status=-11")))
                continue
            used = f"resources_used.cput={clock(end - start)} resources_used.mem=1024kb resources_used.walltime={clock(end - start)}"
            lines.append((end, f"E;{job_id};{run}session=1 end={end} Exit_status={status[how]} {used}"))
        if job["deleted"]:
            lines.append((job["deleted"], f"D;{job_id};requestor={job['user']}@login"))
    lines.append((ZERO, "L;license;floating license hour:1 day:1 month:1 max:1"))
    lines.append((ZERO, "Q;999[].server;queue=batch"))
    return "".join(f"{stamp(at)};{line}\n" for at, line in sorted(lines))


def text(value):
    return '"' + value.replace('"', '""') + '"'


def lsf(jobs, version):
    """A line for each try, in the order of the ends. Version 7 has no fields behind the description."""
    lines = []
    for job in jobs:
        slots = job["nodes"] * job["cores"]
        asked = f"span[ptile={job['cores']}] rusage[mem={job['memory'] >> 20}"
        asked += f",ngpus_physical={job['gpus']}.00]" if job["gpus"] else "]"
        tries = job["tries"] or ([(0, job["deleted"], "KILLED")] if job["deleted"] else [])
        for start, end, how in tries:
            state, reason = {"SUCCESS": (64, 0), "FAILED": (32, 0), "KILLED": (32, 14), "given-back": (32, 11)}[how]
            where = [f"{job['cores']}*{host}" for host in job["hosts"]] if version == "10.1" else [
                host for host in job["hosts"] for _ in range(job["cores"])
            ]
            where = where if start else []
            words = [text("JOB_FINISH"), text(version), end, job["number"], 500, 33554438, slots, job["submit"], 0, 0, start]
            words += [text(word) for word in (job["user"], job["queue"], asked, "", "", "login", "/home", "", "", "", "job")]
            words += [1, text("login"), len(where), *map(text, where), state, "60.0", text(job["name"]), text('echo "a"')]
            words += [float(end - start) if start else -1.0, 0.0, *[-1] * 17, text(""), text(job["account"]), 0, slots]
            words += [text(""), text(""), job["task"], 1024, 0, *[text("")] * 4, 0, text(""), reason, text(""), -1]
            words += [*[text("")] * 4, -1, text(""), text(""), 16, text(""), 0, text(""), text("")]
            if version == "10.1":
                words += [2, 1032, text("0"), 1033, text("0"), 0, 0, job["limit"], 2048, text(f"select[type == local] {asked}")]
                words += [text(""), -1, text(""), -1, 0, text(""), 0, 0, text(""), 1, text(""), 0, text(""), "0.0"]
                words += ["0.00"] * 4 + [len(where), *map(text, where), -1, 0, 0, 0]
            lines.append((end, " ".join(map(str, words))))
    return "".join(f"{line}\n" for _, line in sorted(lines))


def gridengine(jobs, unit, as_json=False):
    """A line for each try. `unit` is the number of its times in a second."""
    lines = []
    for job in jobs:
        gpus = f",gpu={job['gpus'] // 2}" if job["gpus"] else ""
        memory = job["memory"] // job["cores"]
        pe = "smp" if job["cores"] > 1 else "NONE"
        category = f"-u {job['user']} -l h_rt={job['limit']},h_vmem={memory}{gpus} -pe {pe} {job['cores']}"
        tries = job["tries"] or ([(0, 0, "KILLED")] if job["deleted"] else [])
        for start, end, how in tries:
            failed, status = {"SUCCESS": (0, 0), "FAILED": (0, 1), "KILLED": (100, 137), "given-back": (25, 0)}[how]
            used = end - start
            if as_json:
                lines.append((end, json.dumps({
                    "job_number": job["number"], "task_number": job["task"], "start_time": start * unit, "end_time": end * unit,
                    "owner": job["user"], "group": "users", "account": "sge", "qname": job["queue"], "hostname": job["hosts"][0],
                    "project": job["account"], "department": "defaultdepartment", "slots": job["cores"], "granted_pe": pe,
                    "job_name": job["name"], "priority": 0, "submission_time": job["submit"] * unit, "category": category,
                    "failed": failed, "exit_status": status, "usage": {"usage": {"cpu": float(used)}},
                })))
                continue
            fields = [job["queue"], job["hosts"][0], "users", job["user"], job["name"], job["number"], "sge", 0]
            fields += [job["submit"] * unit, start * unit, end * unit, failed, status, used, *[0] * 17, job["account"]]
            fields += ["defaultdepartment", pe, job["cores"], job["task"], f"{used}.000000", "0.000000", "0.000000", category]
            fields += ["0.000000", "NONE", "1048576.000000", 0, 0]
            if unit > 1:
                fields += ["NONE", "NONE", 1, 1, "login", "/home", "qsub%20-l%20a", "1.0", 0]
            lines.append((end, ":".join(map(str, fields))))
    head = "" if as_json else "# Version: 9\n#\n"
    return head + "".join(f"{line}\n" for _, line in sorted(lines))


def most_in_use(tries):
    """The most processors that are in use at once on any host, looked at whenever a try starts."""
    return max(
        sum(cores for begin, end, host, cores in tries if host == place and begin <= start < end)
        for start, _, place, _ in tries
    )


def main():
    jobs, shared = made_jobs(1, False), made_jobs(2, True)
    pbs_id = lambda job: f"{job['number']}[{job['task']}].server" if job["task"] else f"{job['number']}.server"
    lsf_id = lambda job: f"{job['number']}[{job['task']}]" if job["task"] else str(job["number"])
    grid_id = lambda job: f"{job['number']}.{job['task']}" if job["task"] else str(job["number"])
    rows = {}
    for name, log, which, of in [
        ("pbspro", pbs(jobs, False), jobs, pbs_id),
        ("torque", pbs(jobs, True), jobs, pbs_id),
        ("lsf-10.1", lsf(jobs, "10.1"), jobs, lsf_id),
        ("lsf-7.06", lsf(jobs, "7.06"), jobs, lsf_id),
        ("sge", gridengine(shared, 1), shared, grid_id),
        ("uge", gridengine(shared, 1_000), shared, grid_id),
        ("ocs.jsonl", gridengine(shared, 1_000_000, True), shared, grid_id),
    ]:
        (HERE / name).write_text(log)
        rows[name] = [expected(job, of(job)) for job in which]
        ran = [row for row in rows[name] if row["tries"] or row["outcome"] != "INCOMPLETE"]
        if not name.startswith(("pbs", "tor")):
            # Those who wait have no line.
            rows[name] = [row for row in ran if row["tries"] and row["tries"][-1][2] != "EVICTED" or row["finish"] or row["tries"]]
        for row in rows[name]:
            if name in ("sge", "uge", "ocs.jsonl"):
                # A request is for each slot.
                row["gpus"] = row["cpu"] // 1_000 if row["gpus"] else 0
            if name == "lsf-7.06":
                row["limit"] = None
            if name in ("sge", "uge", "ocs.jsonl") and not row["tries"]:
                row["finish"] = None
            if not row["tries"] and row["outcome"] == "INCOMPLETE" or name in ("pbspro", "torque") and not row["tries"]:
                # Only `Q`, and perhaps `D`: neither has what the job asked for.
                row.update(user=None, group=None, name=None, limit=None, instances=None, cpu=None, memory=None, gpus=0)
    for name, of in rows.items():
        tries = [(*one[:2], host, row["cpu"] // 1_000) for row in of for one in row["tries"] for host in row["hosts"]]
        rows[name] = {"jobs": of, "largest": most_in_use(tries)}
    lines = ["{"]
    for name, of in rows.items():
        lines += [f' "{name}": {{"largest": {of["largest"]}, "jobs": [', ",\n".join(f"  {json.dumps(row)}" for row in of["jobs"]), " ]},"]
    lines[-1] = " ]}"
    (HERE / "expected.json").write_text("\n".join(lines) + "\n}\n")


main()
