"""Long calls: signals, threads, forks, progress, and objects that are dropped."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import pytest
import resched
from conftest import POLICIES, ROOT


def script(text, folder):
    """Start a program that uses the package. It prints `ready` when it can be interrupted."""
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert program.stdout.readline() == "ready\n"
    return program


LONG = f"""
    import resched, sys, threading
    trace = resched.generate({str(ROOT / "traces/delay-locality.toml")!r}, out="T", progress=False)
    threading.Timer(0.3, lambda: print("ready", flush=True)).start()
    try:
        for _ in range(1_000):
            resched.replay(trace, policy=["fair"], out="R", force=True, robust="full", progress=False)
    except KeyboardInterrupt:
        print("interrupted")
        print(sorted(name for name in __import__("os").listdir(".") if name not in ("T", "R")))
        # The package still works.
        print(len(resched.replay(trace, policy="fifo", out="S", robust="off")))
"""


def test_ctrl_c_raises_keyboard_interrupt_and_leaves_nothing(tmp_path):
    program = script(LONG, tmp_path)
    begun = time.monotonic()
    program.send_signal(signal.SIGINT)
    said, _ = program.communicate(timeout=60)
    assert said == "interrupted\n[]\n1\n"
    assert time.monotonic() - begun < 20
    left = [name for _, folders, files in os.walk(tmp_path) for name in folders + files if name.startswith(".")]
    assert left == [], "something under construction was left"


def test_ctrl_c_ends_a_hook_that_never_returns(tmp_path):
    text = f"""
        import resched, threading
        class Spins(resched.HadoopPolicy):
            def heartbeat(self, offer):
                while True:
                    pass
        threading.Timer(0.5, lambda: print("ready", flush=True)).start()
        try:
            resched.replay({str(ROOT / "traces/sample-history.toml")!r}, policy=Spins, out="R", robust="off", progress=False)
        except KeyboardInterrupt:
            print("interrupted", __import__("os").listdir("."))
    """
    program = script(text, tmp_path)
    program.send_signal(signal.SIGINT)
    said, _ = program.communicate(timeout=60)
    assert said == "interrupted []\n"


def test_calls_on_other_threads_go_on_while_one_works(history, tmp_path):
    spinning, stop = threading.Event(), threading.Event()
    failed = []

    def spin():
        try:
            while not stop.is_set():
                resched.replay(history, policy=f"{POLICIES}:NaiveFair", robust="off", progress=False)
                spinning.set()
        except BaseException as error:
            failed.append(error)
            spinning.set()

    thread = threading.Thread(target=spin)
    thread.start()
    assert spinning.wait(60)
    try:
        run = resched.replay(history, policy="fifo", out=tmp_path / "R", robust="off")[0]
        resched.inspect(history)
        resched.explain(run)
        resched.diff(run, resched.replay(history, policy="fair", out=tmp_path / "S", robust="off")[0])
        resched.report(run, out=tmp_path / "P", format="tables")
        resched.verify(history)
        assert len(run.jobs) == 15
        assert run.metrics("mean(completion)")["mean(completion)"] > 0
    finally:
        stop.set()
        thread.join(60)
    assert not failed
    assert not thread.is_alive()


def child(queue, path):
    try:
        queue.put(len(resched.replay(path, policy="fifo", robust="off", progress=False)))
    except resched.ForkError as error:
        queue.put(str(error))


@pytest.mark.parametrize("way", ["spawn", "fork"])
def test_a_forked_process_is_refused_and_a_spawned_one_works(history, way):
    resched.inspect(history)
    context = multiprocessing.get_context(way)
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        process = context.Process(target=child, args=(queue, history.path))
        process.start()
    found = queue.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0
    assert found == 1 if way == "spawn" else 'get_context("spawn")' in found


def test_progress_is_reported_and_its_exception_stops_the_call(tmp_path):
    seen = []
    resched.replay("traces/delay-locality.toml", policy="fair", out=tmp_path / "R", progress=lambda *at: seen.append(at))
    for label, done, total in seen:
        assert isinstance(label, str)
        assert 0 <= done <= total or total == 0

    def refuse(label, done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        for _ in range(100):
            resched.replay("traces/delay-locality.toml", policy="fair", out=tmp_path / "S", progress=refuse)


def test_a_dropped_result_takes_its_folder_along(history):
    runs = resched.replay(history, policy="fifo", robust="off")
    run = runs[0]
    folder = run.path
    del runs
    assert os.path.isdir(folder), "a run keeps its folder"
    jobs = run.jobs
    del run
    assert not os.path.exists(folder)
    assert len(jobs) == 15


def test_no_file_stays_open(history):
    def opened():
        return len(os.listdir("/proc/self/fd"))

    for _ in range(2):
        resched.replay(history, policy="fifo", robust="off")
    before = opened()
    for _ in range(5):
        resched.replay(history, policy="fifo", robust="off")
        with pytest.raises(resched.RequestError):
            resched.replay(history, policy="none")
    assert opened() == before


def test_warnings_of_the_command_are_warnings_of_python(tmp_path):
    (tmp_path / "pools.toml").write_text("[pools.never]\nmin_maps = 3\n")
    with pytest.warns(resched.ReschedWarning) as caught:
        resched.replay("traces/sample-history.toml", policy=f"fair:allocations={tmp_path}/pools.toml", robust="off")
    assert caught[0].filename == __file__
    assert not str(caught[0].message).startswith("warning")


def test_errors_are_those_of_the_command(tmp_path):
    with pytest.raises(resched.RequestError, match="did you mean `delay`"):
        resched.replay("traces/sample-history.toml", policy="dely")
    with pytest.raises(ValueError, match="seed"):
        resched.replay("traces/sample-history.toml", policy="fifo", seed="x")
    trace = resched.generate("traces/sample-history.toml", out=tmp_path / "T")
    with open(os.path.join(trace.path, "jobs.parquet"), "r+b") as file:
        file.truncate(100)
    with pytest.raises(resched.TraceError, match="jobs.parquet"):
        resched.replay(trace, policy="fifo")
    with pytest.raises(resched.RequestError, match="no such trace"):
        resched.open(tmp_path / "nothing")


def test_importing_takes_no_large_library():
    text = "import sys, resched; print([name for name in ('numpy', 'polars', 'pandas', 'pyarrow', 'tqdm') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
