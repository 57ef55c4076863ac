"""Runs the missing cells of a sweep on a Dask cluster.

    python dask_driver.py --resched PATH --sweep DIR [--scheduler ADDRESS] [--workers N] [--chunk N] [--retries N]

DIR holds sweep.json and is seen by every worker under the same path; so is PATH, the program. Without --scheduler a cluster of
N workers is started on this machine. A cell is `resched sweep cell`; what is on disk is done, so this may be stopped and started
at any time. Exit status 1 if a cell is missing at the end.
"""

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys


def die_with_parent():
    """A cell ends with the worker that runs it, so that no orphan works on beside its second try."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def run(resched, sweep, index, count):
    """Replays `count` cells from `index` on; those that are done are passed over by the program."""
    command = [resched, "sweep", "cell", "--manifest", sweep, "--index", str(index), "--count", str(count)]
    done = subprocess.run(command, preexec_fn=die_with_parent, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"cells {index} to {index + count - 1}: {done.stderr.strip()}")
    return index


def missing(sweep, cells):
    done = set(os.listdir(os.path.join(sweep, "cells")))
    return [number for number, cell in enumerate(cells) if cell["id"] + ".parquet" not in done]


def chunks(numbers, size):
    """Runs of neighbours, `size` long at most: cells of one world stand together and share it."""
    found = []
    for number in numbers:
        if found and found[-1][0] + found[-1][1] == number and found[-1][1] < size:
            found[-1][1] += 1
        else:
            found.append([number, 1])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resched", required=True)
    parser.add_argument("--sweep", required=True)
    parser.add_argument("--scheduler")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--chunk", type=int, default=1)
    parser.add_argument("--retries", type=int, default=3)
    options = parser.parse_args()

    from dask.distributed import Client, LocalCluster, as_completed

    with open(os.path.join(options.sweep, "sweep.json"), encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    os.makedirs(os.path.join(options.sweep, "cells"), exist_ok=True)
    todo = missing(options.sweep, cells)
    print(f"dask: {len(todo)} of {len(cells)} cells to do", file=sys.stderr)
    if todo:
        cluster = None
        if options.scheduler is None:
            cluster = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
        with Client(options.scheduler or cluster) as client:
            futures = [
                client.submit(run, options.resched, options.sweep, index, count, retries=options.retries, pure=False)
                for index, count in chunks(todo, options.chunk)
            ]
            for number, future in enumerate(as_completed(futures), start=1):
                if future.status == "error":
                    print(f"dask: {future.exception()}", file=sys.stderr)
                if number % 100 == 0:
                    print(f"dask: {number} of {len(futures)} tasks done", file=sys.stderr)
        if cluster is not None:
            cluster.close()
    left = missing(options.sweep, cells)
    if left:
        print(f"dask: {len(left)} cells are missing; run the sweep again", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
