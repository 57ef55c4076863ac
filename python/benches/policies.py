"""How much slower a policy in Python is than the same one in Rust, and a replay from Python than the command.

    python python/benches/policies.py [NINETEEN_JOBS_TRACE]

Prints ratios of one run: the least processor time of three rounds by turns, the whole call included.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import resched

TESTS = Path(__file__).resolve().parents[1] / "tests" / "policies.py"
MILLION = int(os.environ.get("JOBS", 1_000_000))


class Drain(resched.BatchPolicy):
    """First come, first served, on arrays: as many from the front as fit."""

    def decide(self, now, free, jobs):
        return int(jobs.cum_cpu.searchsorted(jobs.base_cpu + free[0], side="right"))


def million(folder: Path) -> resched.Trace:
    """So many jobs of one processor, on a machine that they keep busy and seldom wait for."""
    rng = np.random.default_rng(1)
    submit = np.cumsum(rng.integers(0, 60, MILLION))
    run = rng.integers(1_000, 60_000, MILLION)
    ids = pl.Series([f"j{number}" for number in range(MILLION)])
    jobs = pl.DataFrame({"job_id": ids, "submit": submit, "requested_time": run})
    tasks = pl.DataFrame({"job_id": ids, "task_id": ids, "cpu_request": np.full(MILLION, 1_000)})
    attempts = pl.DataFrame({"job_id": ids, "task_id": ids, "start": submit, "finish": submit + run})
    nodes = pl.DataFrame({"host": ["machine"], "cpu": [1_024_000], "memory": [1 << 40]})
    return resched.from_frames(jobs, tasks, attempts, nodes=nodes, out=folder / "million", system="batch")


def processor() -> float:
    """The processor time of this process and of those that it waited for, s."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(works: dict[str, object], rounds: int = 3) -> dict[str, tuple[float, float]]:
    """The least processor time and the least time of each, s."""
    least = {name: (float("inf"), float("inf")) for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            before, begun = processor(), time.perf_counter()
            work()
            used, took = processor() - before, time.perf_counter() - begun
            least[name] = (min(least[name][0], used), min(least[name][1], took))
    return least


def main() -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)

        def replay(trace, policy, **options):
            out = folder / "R"
            return lambda: resched.replay(trace, policy=policy, out=out, robust="off", threads=1, progress=False, **options)

        if len(sys.argv) > 1:
            trace = resched.ingest(sys.argv[1], out=folder / "J19", progress=False)
            ours, theirs = f"{TESTS}:Fifo", "fifo"
            found = measured({"rust": replay(trace, theirs, assume=True), "python": replay(trace, ours, assume=True)})
            (rust, _), (python, _) = found["rust"], found["python"]
            print(f"FIFO on 19 jobs: Rust {rust:.2f} s, Python {python:.2f} s, {python / rust:.1f} times")
        trace = million(folder)
        command = [Path(sys.executable).parent / "resched", "replay", trace.path, "--policy", "fifo", "--out", folder / "C"]
        command += ["--robust", "off", "--threads", "1"]
        found = measured(
            {
                "command": lambda: subprocess.run(command, check=True, capture_output=True),
                "rust": replay(trace, "fifo"),
                "arrays": replay(trace, Drain),
            }
        )
        (command_s, command_wall), (rust, rust_wall), (arrays, _) = found["command"], found["rust"], found["arrays"]
        print(f"{MILLION:,} jobs, FIFO: the command {command_s:.2f} s ({command_wall:.2f} s of time)")
        print(f"  the same from Python {rust:.2f} s, {100 * (rust / command_s - 1):+.1f} % ({rust_wall:.2f} s of time)")
        print(f"  on arrays in Python {arrays:.2f} s, {arrays / rust:.1f} times")


if __name__ == "__main__":
    main()
