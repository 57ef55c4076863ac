"""Docstrings, the README's Python lines, the generated functions and the types."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import resched
from conftest import ROOT

PACKAGE = ROOT / "python"


def test_docstrings_run(tmp_path):
    found = doctest.testmod(resched, extraglobs={"folder": tmp_path}, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 2
    assert found.failed == 0


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/python.md"])
def test_the_python_lines_of_pages_run(page, tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    # What they write goes to a folder of its own, beside the bundled files.
    (tmp_path / "traces").symlink_to(ROOT / "traces")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_functions_are_those_of_the_command_line():
    done = subprocess.run([sys.executable, PACKAGE / "tools" / "commands.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_reference_is_fresh():
    done = subprocess.run([sys.executable, PACKAGE / "tools" / "reference.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_style_is_that_of_ruff():
    pytest.importorskip("ruff")
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run([sys.executable, "-m", "ruff", *command, "."], cwd=PACKAGE, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_function_says_what_it_does():
    for name in resched.__all__:
        value = getattr(resched, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            assert inspect.getdoc(value), name


def test_types_are_complete_and_those_of_the_module():
    pytest.importorskip("mypy")
    strict = subprocess.run([sys.executable, "-m", "mypy"], cwd=PACKAGE, capture_output=True, text=True)
    assert strict.returncode == 0, strict.stdout
    stubs = subprocess.run([sys.executable, "-m", "mypy.stubtest", "resched._native"], capture_output=True, text=True, cwd=Path("/"))
    assert stubs.returncode == 0, stubs.stdout
