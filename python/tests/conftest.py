"""The traces of the tests, made by the package itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import resched

ROOT = Path(__file__).resolve().parents[2]
POLICIES = ROOT / "python" / "tests" / "policies.py"


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    """Paths of the bundled files are those of the README."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def history(tmp_path_factory):
    """The trace of the bundled workload."""
    return resched.generate(ROOT / "traces" / "sample-history.toml", out=tmp_path_factory.mktemp("made") / "T")


@pytest.fixture(scope="session")
def swf(tmp_path_factory):
    """A list of jobs of a batch cluster: 400 jobs, 64 processors, estimates that are too long."""
    folder = tmp_path_factory.mktemp("swf")
    lines = ["; MaxProcs: 64", "; UnixStartTime: 1700000000"]
    state, submit = 12345, 0
    for number in range(1, 401):
        state = (state * 1103515245 + 12345) % 2**31
        submit += state % 90
        size, run = 1 + state // 7 % 48, 30 + state // 11 % 900
        lines.append(f"{number} {submit} -1 {run} {size} -1 -1 {size} {run + state // 13 % 600} -1 1 {number % 7} 1 1 1 -1 -1 -1")
    path = folder / "jobs.swf"
    path.write_text("\n".join(lines) + "\n")
    return resched.ingest(path, out=folder / "T")


@pytest.fixture(scope="session")
def nineteen():
    """The history of 19 jobs on 1,545 nodes, if the shared files are here."""
    shared = Path(os.environ.get("RESCHED_SHARED", ROOT.parent / "shared"))
    found = shared / "traces" / "hadoop-mapreduce-2011"
    if not found.is_dir():
        if os.environ.get("RESCHED_REQUIRE_SHARED"):
            pytest.fail(f"{found} is required, and it is not here")
        pytest.skip("set RESCHED_SHARED to the folder of shared traces")
    return found
