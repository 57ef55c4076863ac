"""Policies that do what they may not get an error that names it, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import resched
from resched import BatchPolicy, HadoopPolicy

KEPT = []


class LaunchesTwice(HadoopPolicy):
    def heartbeat(self, offer):
        for job in offer.jobs:
            task = offer.find_map(job)
            if task is not None and offer.free("map") > 1:
                offer.launch(task)
                offer.launch(task)


class OverCapacity(HadoopPolicy):
    def heartbeat(self, offer):
        for job in offer.jobs:
            while (task := offer.find_map(job)) is not None:
                offer.launch(task)


class SwallowsTheError(HadoopPolicy):
    def heartbeat(self, offer):
        try:
            for job in offer.jobs:
                while (task := offer.find_map(job)) is not None:
                    offer.launch(task)
        except resched.PolicyViolation:
            pass


class UnknownNode(HadoopPolicy):
    def heartbeat(self, offer):
        offer.room(10_000, "map")


class FutureJob(HadoopPolicy):
    def heartbeat(self, offer):
        offer.submit(max(offer.jobs, default=0) + 1)


class Raises(HadoopPolicy):
    def job_submitted(self, job, view):
        raise ZeroDivisionError(f"job {job}")

    def heartbeat(self, offer):
        pass


class Sleeps(HadoopPolicy):
    def heartbeat(self, offer):
        pass


class Writes(HadoopPolicy):
    def heartbeat(self, offer):
        offer.now = 0


class Keeps(HadoopPolicy):
    def job_submitted(self, job, view):
        KEPT.append(view)

    def heartbeat(self, offer):
        for kind in ("map", "reduce"):
            for job in offer.jobs:
                if kind == "map":
                    while offer.free(kind) and offer.launch_map(job):
                        pass
                else:
                    while offer.free(kind) and offer.launch_reduce(job):
                        pass


class Exits(HadoopPolicy):
    def heartbeat(self, offer):
        raise SystemExit(3)


class NeverReturns(HadoopPolicy):
    seconds = 0.2

    def heartbeat(self, offer):
        while True:
            pass


class GoesOn(HadoopPolicy):
    """Catches the interruption, and returns."""

    seconds = 0.2

    def heartbeat(self, offer):
        try:
            while True:
                pass
        except TimeoutError:
            pass


class NeverDecides(BatchPolicy):
    seconds = 0.2

    def decide(self, now, free, jobs):
        while True:
            pass


class TooMuch(BatchPolicy):
    def task_waits(self, task, view):
        self.task = task

    def schedule(self, offer):
        while True:
            offer.start_on(self.task, [(0, 1)])


class StartsNothing(BatchPolicy):
    def schedule(self, offer):
        pass


class DecidesNothing(BatchPolicy):
    def decide(self, now, free, jobs):
        return None


class WrongRow(BatchPolicy):
    def decide(self, now, free, jobs):
        return [len(jobs)]


class TwiceTheSame(BatchPolicy):
    def decide(self, now, free, jobs):
        return [0, 0]


class NoAnswer(BatchPolicy):
    def decide(self, now, free, jobs):
        return "all"


class EndlessAnswer(BatchPolicy):
    def decide(self, now, free, jobs):
        return range(10**12)


class ManyPlaces(TooMuch):
    def schedule(self, offer):
        offer.start_on(self.task, range(10**12))


class TicksBackwards(Sleeps):
    period = 3000

    def tick_from(self, due):
        return due - 1


class WritesArrays(BatchPolicy):
    def decide(self, now, free, jobs):
        jobs.submit[0] = 0


HADOOP = [
    (LaunchesTwice, resched.PolicyViolation, "launches .*, but it does not wait"),
    (OverCapacity, resched.PolicyViolation, "launches .*, but the node has no room for it"),
    (SwallowsTheError, resched.PolicyViolation, "launches .*, but the node has no room for it"),
    (UnknownNode, resched.PolicyViolation, "names node 10000, which it was not given"),
    (FutureJob, resched.PolicyViolation, "names job [0-9]+, which it was not given"),
    (Raises, resched.PolicyViolation, "ZeroDivisionError: job 0 in `job_submitted`"),
    (Sleeps, resched.PolicyError, "nothing has started or ended since .*although [0-9]+ tasks wait"),
    (NeverReturns, resched.PolicyViolation, r"`heartbeat` took longer than 0.2 s \(`seconds`\)"),
    (GoesOn, resched.PolicyViolation, r"`heartbeat` took longer than 0.2 s \(`seconds`\)"),
    (TicksBackwards, resched.PolicyViolation, "ValueError: expected [0-9]+ ms or later, found [0-9]+ in `tick_from`"),
    (Writes, resched.PolicyViolation, "AttributeError: .*now.*not writable"),
]
BATCH = [
    (TooMuch, resched.PolicyViolation, "which does not wait|wrong number|another number|no room"),
    (StartsNothing, resched.PolicyViolation, "starts nothing more, although [0-9]+ units wait"),
    (DecidesNothing, resched.PolicyViolation, "starts nothing more, although [0-9]+ units wait"),
    (NeverDecides, resched.PolicyViolation, r"`decide` took longer than 0.2 s \(`seconds`\)"),
    (WrongRow, resched.PolicyViolation, "answers with row [0-9]+, but there are"),
    (TwiceTheSame, resched.PolicyViolation, "answers twice with row 0"),
    (EndlessAnswer, resched.PolicyViolation, "answers with row [0-9]+, but there are|answers twice with row 0"),
    (ManyPlaces, resched.PolicyViolation, "TypeError"),
    (NoAnswer, resched.PolicyViolation, "expected None, a number of rows, or an array"),
    (WritesArrays, resched.PolicyViolation, "read-only"),
]


def refused(trace, policy, error, text, folder):
    with pytest.raises(error, match=text) as caught:
        resched.replay(trace, policy=policy, out=folder / "R", robust="off")
    assert type(caught.value) is error
    assert policy.__name__ in str(caught.value)
    assert caught.value.policy.endswith(policy.__name__)
    assert caught.value.time_ms is not None
    assert os.listdir(folder) == [], "something is left"
    return caught.value


@pytest.mark.parametrize(("policy", "error", "text"), HADOOP)
def test_hadoop(history, tmp_path, policy, error, text):
    refused(history, policy, error, text, tmp_path)


@pytest.mark.parametrize(("policy", "error", "text"), BATCH)
def test_batch(swf, tmp_path, policy, error, text):
    refused(swf, policy, error, text, tmp_path)


def test_the_exception_of_a_policy_is_the_cause(history, tmp_path):
    caught = refused(history, Raises, resched.PolicyViolation, "ZeroDivisionError", tmp_path)
    assert isinstance(caught.__cause__, ZeroDivisionError)
    assert caught.__cause__.__traceback__.tb_frame.f_code.co_name == "job_submitted"


def test_a_limit_must_be_a_time(history):
    class Negative(NeverReturns):
        seconds = -1

    with pytest.raises(resched.ReschedError, match="seconds: expected a number above 0, found -1"):
        resched.replay(history, policy=Negative, robust="off")


@pytest.mark.parametrize("period", [0, -1, 2**63 - 1])
def test_a_period_must_be_a_time(history, period):
    with pytest.raises(resched.RequestError, match=f"period: expected None or 1..[0-9]+ ms, found {period}"):
        resched.replay(history, policy=type("Ticks", (Sleeps,), {"period": period, "__module__": __name__}), robust="off")


def run_alone(script, *arguments):
    """Runs a script in a Python of its own, which must end well: it would otherwise wait for ever."""
    ended = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


def test_a_limit_holds_while_ctypes_is_imported(history):
    run_alone(
        """
import sys, time, resched

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "ctypes":
            time.sleep(0.5)

class Late(resched.HadoopPolicy):
    seconds = 0.1
    def heartbeat(self, offer):
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            pass

sys.meta_path.insert(0, Slow())
try:
    resched.replay(sys.argv[1], policy=Late, robust="off", progress=False)
except resched.PolicyViolation:
    pass
""",
        history.path,
    )


def test_a_finaliser_may_use_the_view(history):
    run_alone(
        """
import gc, sys, resched

class Garbage:
    def __init__(self, view):
        self.view, self.itself = view, self
    def __del__(self):
        try:
            self.view.jobs
        except RuntimeError:
            pass

class Collects(resched.HadoopPolicy):
    def begin(self):
        self.left = 100

    def collect(self, view):
        gc.disable()
        # Short tuples come from a store; once it is empty, the next one is made, and garbage is collected then.
        kept = [tuple([None] * length) for length in range(20) for _ in range(2_001)]
        Garbage(view)
        gc.set_threshold(1)
        gc.enable()
        view.jobs
        gc.set_threshold(700)
        self.left -= 1

    def heartbeat(self, offer):
        if self.left:
            self.collect(offer)
        for job in offer.jobs:
            while offer.free("map") and offer.launch_map(job):
                pass
            while offer.free("reduce") and offer.launch_reduce(job):
                pass

resched.replay(sys.argv[1], policy=Collects, robust="off", progress=False)
""",
        history.path,
    )


def test_a_limit_holds_for_the_command_line(history, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import resched\n\nclass Mine(resched.HadoopPolicy):\n    seconds = 0.2\n\n"
        "    def heartbeat(self, offer):\n        while True:\n            pass\n"
    )
    words = ["replay", history.path, "--policy", f"{file}:Mine", "--out", tmp_path / "R", "--robust", "off"]
    command = [sys.executable, "-m", "resched", *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "`heartbeat` took longer than 0.2 s" in ended.stderr


def test_a_view_cannot_be_used_after_its_call(history):
    KEPT.clear()
    resched.replay(history, policy=Keeps, robust="off")
    with pytest.raises(RuntimeError, match="used after its call"):
        _ = KEPT[0].now


def test_what_ends_a_program_passes_through(history, tmp_path):
    with pytest.raises(SystemExit) as caught:
        resched.replay(history, policy=Exits, out=tmp_path / "R", robust="off")
    assert caught.value.code == 3


def test_a_class_that_is_no_policy_is_refused(history, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    pass\n")
    with pytest.raises(resched.RequestError, match="`Mine` is not a subclass of resched.HadoopPolicy"):
        resched.replay(history, policy=f"{file}:Mine")
    with pytest.raises(resched.RequestError, match="has no class `Other`"):
        resched.replay(history, policy=f"{file}:Other")
    with pytest.raises(resched.RequestError, match="there is no such file"):
        resched.replay(history, policy=f"{tmp_path}/none.py:Mine")
    file.write_text("class Mine(:\n")
    with pytest.raises(resched.RequestError, match="SyntaxError"):
        resched.replay(history, policy=f"{file}:Mine")


def test_values_are_checked_as_those_of_the_registry(history, swf, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import resched\n"
        "class Mine(resched.HadoopPolicy):\n"
        "    D = resched.Int(3, low=0, high=9, meaning='heartbeats')\n"
        "    def heartbeat(self, offer):\n"
        "        pass\n"
    )
    with pytest.raises(resched.RequestError, match="D: expected 0..9, found `10`"):
        resched.replay(history, policy=f"{file}:Mine:D=10")
    with pytest.raises(resched.RequestError, match="has no parameter `d`.*did you mean `D`"):
        resched.replay(history, policy=f"{file}:Mine:d=1")
    with pytest.raises(resched.RequestError, match="schedules Hadoop's maps and reduces"):
        resched.replay(swf, policy=f"{file}:Mine")
