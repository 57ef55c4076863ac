"""Runs tasks of resched on a Dask cluster. `resched … --engine dask` writes and starts this program.

    python dask_driver.py TASKS.json [--scheduler ADDRESS] [--workers N] [--retries N]

TASKS.json: {"program": path, "folder": where it runs, "tasks": [[argument, ...], ...]}. All workers must see these paths.
Without --scheduler, a cluster of N workers is started on this machine. A task that runs again skips what is done, so you can
stop and start this program at any time. The exit status is 1 if a task failed.
"""

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys


def die_with_parent():
    """Ends a task with its worker. Otherwise a lost task could run on beside its second try."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def run(program, folder, args):
    done = subprocess.run([program, *args], cwd=folder, preexec_fn=die_with_parent, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(args)}: {done.stderr.strip()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks")
    parser.add_argument("--scheduler")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--retries", type=int, default=3)
    options = parser.parse_args()

    from dask.distributed import Client, LocalCluster, as_completed

    with open(options.tasks, encoding="utf-8") as file:
        plan = json.load(file)
    tasks = plan["tasks"]
    cluster = None
    if options.scheduler is None:
        cluster = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
    failed = 0
    with Client(options.scheduler or cluster) as client:
        futures = [
            client.submit(run, plan["program"], plan["folder"], args, retries=options.retries, pure=False)
            for args in tasks
        ]
        for number, future in enumerate(as_completed(futures), start=1):
            if future.status == "error":
                failed += 1
                print(f"dask: {future.exception()}", file=sys.stderr)
            if number % 100 == 0:
                print(f"dask: {number} of {len(tasks)} tasks done", file=sys.stderr)
    if cluster is not None:
        cluster.close()
    if failed:
        print(f"dask: {failed} of {len(tasks)} tasks failed; run the same command again", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
