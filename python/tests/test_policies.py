"""Policies in Python wherever a policy can be named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import resched
from conftest import POLICIES, ROOT
from policies import Keeper
from resched import BatchPolicy, Choice, Float, HadoopPolicy, Int


class Counts(HadoopPolicy):
    """Counts what it is told, and reports it."""

    period = 5_000
    heard: dict[str, int] = {}

    def begin(self):
        Counts.heard = {}

    def count(self, what):
        Counts.heard[what] = Counts.heard.get(what, 0) + 1

    def job_submitted(self, job, view):
        self.count("submitted")
        assert view.is_active(job)

    def job_finished(self, job, view):
        self.count("finished")

    def task_started(self, started, view):
        self.count("started")
        assert started.kind in ("map", "reduce")
        assert view.job_of(started.task) in view.jobs
        part, fraction, at = view.progress(started.run)
        assert part == ("map" if started.kind == "map" else "copy")
        assert 0 <= fraction <= 1 and at <= view.now

    def task_finished(self, ended, view):
        self.count(ended.outcome)

    def task_waits(self, task, view):
        self.count("again")

    def tick(self, view):
        self.count("tick")
        view.report("running", float(view.all_running("map")))

    def heartbeat(self, offer):
        for kind in ("map", "reduce"):
            for job in offer.jobs:
                while offer.free(kind) > 0:
                    if not (offer.launch_map(job) if kind == "map" else offer.launch_reduce(job)):
                        break


class Tuned(BatchPolicy):
    """Declares parameters of all kinds."""

    number = Float(0.5, low=0, high=1, meaning="a share")
    word = Choice("first", words=["first", "last"], meaning="which end")
    window_ms = Int(None, low=0, high=10, auto=True, unit="ms", meaning="a time; auto: none")
    seen: list[object] = []

    def begin(self):
        Tuned.seen = [self.number, self.word, self.window_ms]
        self.queue = []

    def task_waits(self, task, view):
        self.queue.append(task)

    def schedule(self, offer):
        for task in list(self.queue):
            offer.start(task)
            if offer.waiting(task) == 0:
                self.queue.remove(task)


def test_every_hook_of_rust_is_there():
    """The names of the trait of the engine are those of the class, beside what is an attribute or for Rust only."""
    attributes = {"system", "is_oracle", "ramps_reduces", "period", "calculator", "phase", "draws"}
    for engine, policy in (("hadoop", HadoopPolicy), ("batch", BatchPolicy)):
        source = (ROOT / "crates" / "sim" / "src" / engine / "policy.rs").read_text()
        trait = source.split("pub trait Policy {")[1].split("\n}")[0]
        rust_only = {"check", "declines_where_nothing_fits", "follows_output", "has_limits"}
        rust = set(re.findall(r"^    fn ([a-z_]+)\(", trait, re.MULTILINE)) - attributes - rust_only
        assert rust == set(policy._hooks) - {"decide"}
        assert all(callable(getattr(policy, name)) for name in policy._hooks)


def test_every_hook_of_yarn_is_called():
    run = resched.replay("traces/dress-mapreduce.toml", policy=Keeper, check=True, robust="off")[0]
    assert run.summary["jobs_finished"] == 20
    heard = Keeper.heard
    assert all(count > 0 for count in heard.values()), heard
    assert heard["completed"] >= run.summary["tasks"]


def test_containers_are_for_yarn_only(history):
    class Slots(Keeper):
        system = "slots"

    with pytest.raises(resched.PolicyViolation, match='asks for containers, but its `system` is "slots"'):
        resched.replay(history, policy=Slots, robust="off")


@pytest.mark.parametrize("name", ["AnyMap", "Shuffled"])
def test_draws_follow_from_the_seed(history, swf, name):
    trace = history if name == "AnyMap" else swf

    def starts(seed):
        run = resched.replay(trace, policy=f"{POLICIES}:{name}", seed=seed, check=True, robust="off")[0]
        return (Path(run.path) / "attempts.parquet").read_bytes()

    assert starts(1) == starts(1)
    assert starts(1) != starts(2)


def test_every_hook_is_called(history):
    run = resched.replay(history, policy=Counts, check=True, robust="off", decisions=True)[0]
    heard = Counts.heard
    assert heard["submitted"] == heard["finished"] == 15
    assert heard["started"] == run.summary["tasks"] == heard["SUCCESS"]
    assert heard["tick"] > 10
    assert {"running"} == set(run.tables["decisions"].to_polars()["name"])


def test_parameters_of_all_kinds(swf):
    resched.replay(swf, policy=Tuned, robust="off")
    assert Tuned.seen == [0.5, "first", None]
    run = resched.replay(swf, policy=Tuned(number=0.25, word="last", window_ms=7), robust="off")[0]
    assert Tuned.seen == [0.25, "last", 7]
    assert run.label == "test_policies:Tuned:number=0.25,word=last,window_ms=7"
    with pytest.raises(TypeError, match="has no parameter `speed`; it has: number, word, window_ms"):
        Tuned(speed=1)
    listed = resched.policies(f"{POLICIES}:Delay").data
    assert listed[0]["parameters"][0]["key"] == "D"
    assert listed[0]["title"].startswith("Fair sharing with delay scheduling")


def test_a_run_notes_the_code(history, tmp_path):
    file = tmp_path / "mine.py"
    text = POLICIES.read_text()
    file.write_text(text)

    def hash_of():
        run = resched.replay(history, policy=f"{file}:NaiveFair", out=tmp_path / "R", resume=True, robust="off")[0]
        return run.params["python.sha256"], run.summary["wall_ms"]

    first, _ = hash_of()
    assert hash_of() == (first, None), "the same code is not replayed again"
    file.write_text(text + "\n# changed\n")
    other, took = hash_of()
    assert other != first
    assert took is not None


SWEEP = """
name = "mine"
workload = "{root}/traces/sample-history.toml"
seeds = 2
baseline = "fifo"
metric = "mean_completion"
[variants.fifo]
[variants.mine]
policy = "{policies}:Delay"
D = [0, 8]
"""


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def test_sweeps_are_the_same_in_this_process_and_on_dask(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "sweep.toml").write_text(SWEEP.format(root=ROOT, policies=POLICIES))
    resched.sweep(tmp_path / "sweep.toml", out=tmp_path / "A")
    # The tasks are processes of their own, which load the class from its file.
    resched.sweep(tmp_path / "sweep.toml", out=tmp_path / "B", engine="dask", python=sys.executable)
    assert content(tmp_path / "A") == content(tmp_path / "B")


def test_size_explain_diff_and_reports_take_policies_in_python(history, tmp_path):
    found = resched.size(
        "traces/sample-history.toml", policy=f"{POLICIES}:NaiveFair", metric="mean(completion)", below="5min", seeds=2, robust="off"
    )
    assert found["verdict"] == "smallest"
    assert found["size"] <= 12
    runs = resched.replay(history, policy=["fifo", f"{POLICIES}:Delay"], out=tmp_path / "R", decisions=True, robust="off")
    assert "locality" in str(resched.explain(runs[1]))
    assert "Delay" in str(resched.diff(*runs))
    assert resched.report(runs, out=tmp_path / "P", format="html,svg").files


def test_results_show_themselves_with_a_chart(history):
    shown = resched.replay(history, policy=["fifo", "fair"])._repr_html_()
    assert "sooner than fifo" in shown
    assert "<svg" in shown
    # A notebook shows the columns side by side, whatever its font.
    table = shown[: shown.index("</table>")]
    assert table.count("<tr>") == 3
    assert table.count("<th>") * 2 == table.count("<td>")
    assert "<td>fair</td>" in table


def test_the_command_that_comes_with_the_package_runs_policies_in_python(tmp_path):
    command = [sys.executable, "-m", "resched", "replay", "traces/sample-history.toml", "--policy", f"{POLICIES}:Fifo"]
    done = subprocess.run([*command, "--out", tmp_path / "R"], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "policies.py:Fifo" in done.stdout
    wrong = subprocess.run([*command[:-1], f"{POLICIES}:None", "--out", tmp_path / "R"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "has no class `None`" in wrong.stderr
