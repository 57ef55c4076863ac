#!/usr/bin/env python3
"""Writes docs/answers.md: what resched answers on real traces, and how sure each answer is.

    docs/answers.py target/release/resched ../shared > docs/answers.md

It needs Python 3 alone. For each trace it runs `ingest`, `calibrate` and `validate` where the trace has observed attempts, and then `replay`
of two policies, as docs/how-sure.md advises, and reads their JSON.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

BINARY, SHARED = sys.argv[1], pathlib.Path(sys.argv[2])
HADOOP, BATCH = ["fifo", "fair"], ["batch-fifo", "easy"]
G2011 = "traces/hadoop-mapreduce-2011/gridmix"
G2014 = "traces/hadoop-common-2014/gridmix"
MUMAK = "traces/hadoop-mapreduce-2011/mumak/19-jobs"
# Our own real runs are in the repository.
OURS = pathlib.Path(__file__).resolve().parent.parent / "traces"
SLURM, SPARK = OURS / "slurm", OURS / "spark"


def site(run):
    """The option that gives the configuration of a run of Slurm."""
    return ["--site-conf", SLURM / run / "conf"]


# The name, the sources, the policies, and the options that its machines need.
TRACES = [
    ("gridmix `trace_3m`", [f"{G2011}/trace_3m.json.gz"], HADOOP, []),
    ("gridmix `trace_5m`", [f"{G2011}/trace_5m.json.gz"], HADOOP, []),
    ("gridmix `trace_10m`", [f"{G2011}/trace_10m.json.gz"], HADOOP, []),
    ("gridmix `3m_stream_trace`", [f"{G2011}/3m_stream_trace.json.gz"], HADOOP, []),
    ("mumak `19-jobs`", [f"{MUMAK}.trace.json.gz", f"{MUMAK}.topology.json.gz"], HADOOP, ["--slots", "2+2"]),
    ("`.jhist` of Dr. Elephant", ["traces/dr-elephant/history"], ["yarn-capacity", "yarn-fair"], []),
    ("SWIM, a day of Facebook in 2009", ["traces/swim/FB-2009_samples_24_times_1hr_0.tsv"], HADOOP, ["--slots", "4+2"]),
    ("NASA iPSC 1993", ["traces/swf/NASA-iPSC-1993-3.1-cln.swf.gz"], BATCH, []),
    ("HPC2N (excerpt)", ["traces/swf/HPC2N-excerpt-accasim-workload.swf"], BATCH, ["--nodes", "120", "--cores", "2"]),
    ("our Slurm under `sched/builtin`", [SLURM / "fifo/sacct.txt.gz"], ["slurm:scheduler=builtin", "slurm"], site("backfill")),
    ("our Slurm under backfill", [SLURM / "backfill/sacct.txt.gz"], ["slurm", "slurm:reservations=1"], site("backfill")),
    ("our Slurm under EASY", [SLURM / "easy/sacct.txt.gz"], ["slurm", "slurm:scheduler=builtin"], site("easy")),
    ("the same, by textbook algorithms", [SLURM / "fifo/sacct.txt.gz"], BATCH, []),
    ("our Spark with fair pools", [SPARK / "fair/eventlog.json.gz"], ["spark", "spark:mode=fifo"], ["--site-conf", SPARK / "conf"]),
    ("Google 2011 (a slice)", ["traces/google2011"], ["batch-fifo", "batch-fair"], ["--assume"]),
]


def run(*words):
    """The lines of JSON that a command prints, or why it refuses."""
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["failed"])[-1]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], None


def percent(share):
    return "–" if share is None else f"{100 * share:+.1f} %".replace("-", "−")


def model_error(trace, out, options):
    """The error of the mean completion time of the replay of the likely scheduler, and the options that calibration adds."""
    cluster = out / "cluster.toml"
    _, problem = run("calibrate", trace, "--out", cluster)
    fitted = [] if problem else ["--cluster", cluster]
    found, problem = run("validate", trace, *fitted, *options, "--json")
    if problem or not found:
        return "nothing observed", fitted
    best = next((own for own in found if own.get("guess")), found[0])
    errors = best.get("quantities") or best.get("errors", {})
    error = errors.get("completion_ratio_of_means", errors.get("mean_completion", best["errors"].get("completion_mean_signed")))
    error = error.get("relative") if isinstance(error, dict) else error
    validation = out / "validation.json"
    validation.write_text("".join(json.dumps(own) + "\n" for own in found))
    return f"{percent(error)} (`{best['label']}`)", [*fitted, "--validation", validation]


def line(name, sources, policies, options):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        trace = out / "trace"
        _, problem = run("ingest", *[SHARED / source for source in sources], "--out", trace)
        if problem:
            return f"| {name} | – | – | – | refused: {problem[:150]} |"
        error, fitted = model_error(trace, out, options)
        words = [word for policy in policies for word in ("--policy", policy)]
        done, problem = run("replay", trace, *words, *fitted, *options, "--out", out / "runs", "--json")
        if problem and fitted:
            done, problem = run("replay", trace, *words, *options, "--out", out / "runs", "--json")
        if problem:
            return f"| {name} | – | – | {error} | refused: {problem.replace(folder, '')[:200]} |"
        base, own = done
        sign = own.get("sign") or {}
        means = [row["mean_completion_ms"] for row in (base, own)]
        change = percent(means[1] / means[0] - 1) if all(means) else "–"
        held = f"{sign['holds']} of {sign['of']}" if sign.get("of") else "nothing that changes a time is open" if own["grade"] == "measured" else "–"
        against = "; ".join(turned["says"] for turned in sign.get("turned_by", []))
        held += f"; not {against}" if against else ""
        facts = own["validity"]
        reasons = sorted({fact["about"] for fact in facts if fact["grade"] == own["grade"]}) if own["grade"] != "measured" else []
        grade = own["grade"] + (f" ({', '.join(reasons)})" if reasons else "")
        return f"| {name} | `{policies[1]}` against `{policies[0]}`: {change} | {held} | {error} | {grade} |"


print("""# Answers on real traces

Would the second policy complete jobs sooner on average than the first? This page shows what `resched replay` answers on real traces, and
how sure each answer is.

| column | shows |
|---|---|
| answer | the change of the mean completion time |
| the sign holds in variants | in how many variants of the open data the change keeps its sign ([how](how-sure.md#does-the-sign-hold)) |
| model error | the error of the mean completion time, when the trace is replayed under the scheduler that probably ran it |
| grade | the grade of the answer, with the facts that decide it ([how](how-sure.md#what-decides-the-answer)) |

The script `docs/answers.py` makes this page. It uses the cluster file that `calibrate` fits, if it can fit one.

| trace | answer | the sign holds in variants | model error | grade |
|---|---|---|---|---|""")
for row in TRACES:
    print(line(*row), flush=True)
print("""
Read a row from the right. If the grade is *assumed*, give the values that its facts name, and ask again. If the model error is as large as
the change, the trace cannot decide between the two policies.""")
