"""The same policy in Rust and in Python makes the same tables."""

from __future__ import annotations

from pathlib import Path

import pytest
import resched
from conftest import POLICIES


def tables(run):
    """The bytes of each table of a run."""
    return {path.relative_to(run.path): path.read_bytes() for path in sorted(Path(run.path).rglob("*.parquet"))}


def assert_same(trace, theirs, ours, **options):
    runs = resched.replay(trace, policy=[theirs, f"{POLICIES}:{ours}"], robust="off", decisions=True, **options)
    first, second = map(tables, runs)
    assert len(first) > 2
    assert list(first) == list(second)
    for name in first:
        assert first[name] == second[name], f"{name} of {ours} is not that of {theirs}"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("fifo", "Fifo"),
        ("fifo:pad_fraction=0.2", "Fifo:pad_fraction=0.2"),
        ("naive-fair", "NaiveFair"),
        ("delay:D=12", "Delay:D=12"),
        ("delay:D=0", "Delay:D=0"),
        ("fifo+late", "Fifo+late"),
    ],
)
@pytest.mark.parametrize("workload", ["traces/sample-history.toml", "traces/delay-locality.toml"])
def test_hadoop(theirs, ours, workload):
    assert_same(workload, theirs, ours)


def test_containers():
    assert_same("traces/sample-history.toml", "yarn-fifo", "YarnFifo", assume=True)
    assert_same("traces/dress-mapreduce.toml", "yarn-fifo", "YarnFifo")


@pytest.mark.parametrize(("theirs", "ours"), [("easy", "Easy"), ("easy:priority=true", "Easy:priority=true")])
def test_batch(swf, theirs, ours):
    assert_same(swf, theirs, ours)


def test_the_policies_differ(swf):
    """The comparison above can fail."""
    runs = resched.replay(swf, policy=["fifo", "easy"], robust="off")
    assert tables(runs[0]) != tables(runs[1])


def test_arrays(swf):
    assert_same(swf, "fifo", "ArrayFifo")


@pytest.mark.parametrize(("theirs", "ours"), [("fifo", "Fifo"), ("naive-fair", "NaiveFair"), ("yarn-fifo", "YarnFifo")])
def test_on_1545_nodes(nineteen, theirs, ours, tmp_path):
    trace = resched.ingest(nineteen / "mumak" / "19-jobs.trace.json.gz", out=tmp_path / "T")
    assert_same(trace, theirs, ours, assume=True)


class Sums(resched.BatchPolicy):
    """Compares the sums of needs with those of the columns; starts rows from the middle."""

    def decide(self, now, free, jobs):
        import numpy

        for need, sums, base in ((jobs.cpu, jobs.cum_cpu, jobs.base_cpu), (jobs.memory, jobs.cum_memory, jobs.base_memory)):
            assert numpy.array_equal(numpy.cumsum(need * jobs.units) + base, sums)
        assert (numpy.diff(jobs.task) > 0).all()
        return numpy.flatnonzero(jobs.cpu <= free[0])[::-1][:1]


def test_the_sums_of_needs_are_those_of_the_columns(swf):
    run = resched.replay(swf, policy=Sums, robust="off", check=True)[0]
    assert run.summary["jobs_finished"] == 400
