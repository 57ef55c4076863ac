"""The folders of ``resched new-policy`` work as they come: their tests pass, and their sweeps rank the policy."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import resched


def run(*args, folder):
    """Run a module of Python in a folder, with the package of this test."""
    package = str(Path(resched.__file__).parent.parent)
    settings = os.environ | {"PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run([sys.executable, "-m", *args], cwd=folder, env=settings, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize("kind", ["slots", "containers", "requests"])
def test_a_new_policy_runs_as_it_comes(kind, tmp_path):
    if kind == "requests":
        pytest.importorskip("numpy")
    run("resched", "new-policy", "shortest-job", f"--{kind}", folder=tmp_path)
    folder = tmp_path / "shortest-job"
    assert "2 passed" in run("pytest", "-q", "-p", "no:cacheprovider", folder=folder)
    if kind == "requests":
        run("resched", "ingest", "jobs.swf", "--out", "trace", folder=folder)
    ranked = run("resched", "sweep", "sweep.toml", "--out", "results", folder=folder)
    sweep = tomllib.loads((folder / "sweep.toml").read_text())
    for value in sweep["variants"]["shortest-job"]["patience"]:
        assert f"shortest-job (patience = {value})" in ranked
