"""The example notebooks run from their sources, and the notebook of a report runs with the package and without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import resched
from conftest import ROOT

NOTEBOOKS = ["compare_policies", "own_policy", "tune_with_bounds"]
OUT = Path(os.environ.get("RESCHED_NOTEBOOKS", ROOT / "notebooks-out"))


def python_with_tools():
    """Executing needs jupytext, nbconvert and ipykernel."""
    pytest.importorskip("jupytext")
    pytest.importorskip("nbconvert")
    return sys.executable


def outputs(path):
    cells = json.loads(Path(path).read_text())["cells"]
    return [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_examples_are_executed(name):
    made = OUT / f"{name}.ipynb"
    python = python_with_tools()
    make = ["-m", "jupytext", "--to", "ipynb", "--set-kernel", "python3", "--output", made, f"examples/{name}.py"]
    execute = ["-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", made]
    for command in (make, execute):
        done = subprocess.run([python, *map(str, command)], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2_000:]
    shown = outputs(made)
    assert not [output for output in shown if output["output_type"] == "error"]
    assert any("text/html" in output.get("data", {}) for output in shown)


@pytest.mark.parametrize("with_package", [True, False])
def test_the_notebook_of_a_report_runs_with_the_package_and_without(tmp_path, with_package):
    python = python_with_tools()
    pytest.importorskip("matplotlib")
    resched.replay("traces/sample-history.toml", policy=["fifo", "fair"], out=tmp_path / "R", robust="off")
    resched.report(tmp_path / "R", out=tmp_path / "P", format="notebook")
    environment = dict(os.environ)
    if not with_package:
        # A package of that name that is not there.
        hidden = tmp_path / "hidden" / "resched"
        hidden.mkdir(parents=True)
        (hidden / "__init__.py").write_text("raise ModuleNotFoundError('hidden', name='resched')\n")
        environment["PYTHONPATH"] = str(hidden.parent)
    command = ["-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb", "report.ipynb"]
    done = subprocess.run([python, *command], cwd=tmp_path / "P", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert outputs(tmp_path / "P" / "done.ipynb")


def test_the_learning_example_runs():
    pytest.importorskip("gymnasium")
    done = subprocess.run([sys.executable, "examples/learn.py", "--quick"], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert "against FIFO" in done.stdout


@pytest.fixture(scope="module", autouse=True)
def folder_of_notebooks():
    OUT.mkdir(parents=True, exist_ok=True)
    yield
    for left in ROOT.glob("*.ipynb"):
        shutil.move(left, OUT / left.name)


def test_interrupting_a_notebook_stops_the_call_and_leaves_the_kernel_alive(tmp_path):
    pytest.importorskip("ipykernel")
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(ROOT))
    try:

        def run(code, interrupt=False):
            """Run a cell, interrupt it if that is asked for, and return what it showed."""
            client.execute(code)
            shown = ""
            while True:
                message = client.get_iopub_msg(timeout=60)
                kind, content = message["msg_type"], message["content"]
                if kind == "stream":
                    shown += content["text"]
                    if interrupt and "begun" in shown:
                        interrupt = False
                        manager.interrupt_kernel()
                if kind == "error":
                    shown += content["ename"]
                if kind == "status" and content["execution_state"] == "idle":
                    return shown

        long = (
            "import resched, threading\n"
            "threading.Timer(0.5, lambda: print('begun', flush=True)).start()\n"
            "for _ in range(1_000):\n"
            f"    resched.replay('traces/delay-locality.toml', policy='fair', out={str(tmp_path / 'R')!r}, force=True)\n"
        )
        assert "KeyboardInterrupt" in run(long, interrupt=True)
        again = "print(len(resched.replay('traces/sample-history.toml', policy='fifo', robust='off')))"
        assert run(again) == "1\n"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
