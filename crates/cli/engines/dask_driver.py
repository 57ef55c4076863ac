"""Runs tasks of resched on a Dask cluster. `resched … --engine dask` starts this program.

    python -c THIS_TEXT [--scheduler ADDRESS] [--workers N] [--retries N]

The first line of standard input is JSON: {"program": [path, ...], "folder": where it runs, "tasks": [[argument, ...], ...],
"last": [argument, ...]}. All workers must see these paths. "last" stands at the end of every task. Standard input stays open as
long as resched runs. When it ends, so does this program.

Without --scheduler, a cluster is started in this process. It runs N tasks at once and nobody else can use it. A task that runs
again skips what is done, so you can stop and start this program at any time. The exit status is 1 if a task failed.
"""

import sys

# `python -c` looks into the current folder first, which may hold files of the names below.
sys.path[:] = [path for path in sys.path if path]

import argparse
import json
import os
import subprocess
import tempfile
import threading


def run(program, folder, args):
    # The task ends when its standard input ends, so it does not outlive its worker and run on beside its second try.
    with subprocess.Popen(
        [*program, *args], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as task:
        told = task.stderr.read().decode(errors="replace").strip()
    if task.returncode != 0:
        raise RuntimeError(f"{' '.join(args)}: {told or f'exit status {task.returncode}'}")


def tell(text):
    try:
        os.write(sys.stderr.fileno(), f"dask: {text}\n".encode())
    except OSError:
        pass  # Nobody reads it.


def end_with_resched():
    # Not `sys.stdin`: Python cannot end while a thread reads it.
    while os.read(0, 65536):
        pass
    os._exit(1)


def cluster_of_this_process(workers):
    """A cluster without ports for tasks: its parts talk within the process. What Dask serves over HTTP is empty, and only for this
    machine."""
    import dask
    from dask.distributed import LocalCluster

    dask.config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []})
    own = "127.0.0.1:0"
    return LocalCluster(
        n_workers=1,
        threads_per_worker=workers,
        processes=False,
        protocol="inproc://",
        dashboard_address=None,
        worker_dashboard_address=own,
        scheduler_kwargs={"dashboard": False, "dashboard_address": own},
        local_directory=tempfile.gettempdir(),
        # The work is done by other processes, which Dask does not measure.
        memory_limit=0,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scheduler")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--retries", type=int, default=3)
    options = parser.parse_args()

    plan = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=end_with_resched, daemon=True).start()

    from dask.distributed import Client, as_completed

    tasks = plan["tasks"]
    cluster = cluster_of_this_process(options.workers) if options.scheduler is None else None
    failed = 0
    with Client(options.scheduler or cluster) as client:
        futures = [
            client.submit(run, plan["program"], plan["folder"], args + plan["last"], retries=options.retries, pure=False)
            for args in tasks
        ]
        for number, future in enumerate(as_completed(futures), start=1):
            if future.status == "error":
                failed += 1
                tell(future.exception())
            if number % 100 == 0:
                tell(f"{number} of {len(tasks)} tasks done")
    if cluster is not None:
        cluster.close()
    if failed:
        tell(f"{failed} of {len(tasks)} tasks failed; run the same command again")
        sys.exit(1)


if __name__ == "__main__":
    main()
