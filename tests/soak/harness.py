"""Runs resched under limits, and runs the trials of the soak by turns.

A part is a class with a name, `make(rng)`, which makes a case that JSON can hold, and `judge(case, room)`, which raises `Wrong` if a
promise is broken, or `Skipped` if the case shows nothing. `smaller(case)` gives smaller cases, the smallest first.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import traceback
from pathlib import Path

# No trial needs as much: its worlds have a few hundred tasks.
MOST_MB = 1000
# Seconds that a process may take. A normal one takes less than one.
LONGEST = 60
# Shrinking may take this many seconds for each failure.
SHRINKING = 60


class Wrong(Exception):
    """A promise is broken. `kind` groups failures with one cause."""

    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


def finds(kind, judge):
    """Whether a judgement finds this falsehood, and no other. Prints which."""
    try:
        judge()
    except Wrong as wrong:
        print(f"{'found' if wrong.kind == kind else 'WRONG KIND'}: {kind}{'' if wrong.kind == kind else f', but it says {wrong}'}")
        return wrong.kind == kind
    print(f"NOT FOUND: {kind}")
    return False


class Skipped(Exception):
    """The case shows nothing, for the reason in the text. With `always`, no case of the part would, and no further one is made."""

    def __init__(self, text, always=False):
        super().__init__(text)
        self.always = always


class Ran:
    """The outcome of a process."""

    def __init__(self, args, code, out, err, seconds, memory):
        self.args, self.code, self.out, self.err = args, code, out, err
        self.seconds, self.memory = seconds, memory

    def __str__(self):
        return f"resched {' '.join(map(str, self.args))}: exit {self.code} after {self.seconds:.1f} s: {self.err[-600:]}"

    def lines(self):
        """The JSON objects of the output, one a line."""
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]


class Room:
    """The folder of one trial, in which resched runs."""

    def __init__(self, binary, figures):
        self.path = Path(tempfile.mkdtemp(prefix="resched-soak-"))
        self.binary, self.figures = binary, figures

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name, content):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8", errors="surrogatepass")
        return path

    def start(self, *args, environment=None, program=None):
        """Starts resched, or another program, in a session of its own, so that all its processes can be ended. `environment` is added to
        that of the soak.
        """
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        process = subprocess.Popen(
            [program or self.binary, *map(str, args)],
            cwd=self.path,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=os.environ | (environment or {}),
            start_new_session=True,
        )
        return process, out, err

    def any(self, *args, longest=LONGEST, environment=None, program=None):
        """Runs resched, or another program. Panics, signals, other exit statuses than 0 to 2, and more time or memory than allowed, are
        wrong.
        """
        process, out, err = self.start(*args, environment=environment, program=program)
        ran = waited(args, process, out, err, longest)
        self.figures.add(ran)
        if ran.seconds >= longest:
            raise Wrong("hang", f"no end after {longest} s: {ran}")
        if "panicked at" in ran.err or ran.code not in (0, 1, 2):
            raise Wrong("panic", str(ran))
        if ran.memory > MOST_MB:
            raise Wrong("memory", f"{ran.memory} MB: {ran}")
        return ran

    def ok(self, *args, **more):
        """Runs resched, which must succeed."""
        ran = self.any(*args, **more)
        if ran.code != 0:
            raise Wrong(f"{args[0]} fails", str(ran))
        return ran

    def tree(self, name):
        """The bytes of all files below a folder, by path."""
        root = self.path / name
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def waited(args, process, out, err, longest):
    """Waits for a process, and ends it when its time is over."""
    begun = time.monotonic()
    timer = threading.Timer(longest, end, [process])
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    texts = []
    for file in (out, err):
        file.seek(0)
        texts.append(file.read().decode(errors="replace"))
        file.close()
    return Ran(args, process.returncode, *texts, time.monotonic() - begun, usage.ru_maxrss // 1024)


def end(process):
    """Ends a process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Figures:
    """What is counted of a part."""

    def __init__(self):
        self.trials = self.failures = self.skipped = self.processes = 0
        self.seconds = self.slowest = 0.0
        self.memory = 0
        self.reasons = {}
        # Whether no further trial would show anything.
        self.is_over = False

    def add(self, ran):
        self.processes += 1
        self.slowest = max(self.slowest, ran.seconds)
        self.memory = max(self.memory, ran.memory)

    def skip(self, reason):
        self.skipped += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1


class Soak:
    """Runs the parts by turns, and keeps the smallest case of each kind of failure."""

    def __init__(self, binary, seed, out):
        self.binary, self.seed, self.out = binary, seed, out
        self.figures, self.kept = {}, {}

    def run(self, parts, seconds):
        """The part that has used the least time comes next."""
        self.figures = {part.name: Figures() for part in parts}
        until = time.monotonic() + seconds
        while time.monotonic() < until and (able := [part for part in parts if not self.figures[part.name].is_over]):
            part = min(able, key=lambda part: self.figures[part.name].seconds)
            self.trial(part, self.figures[part.name])

    def trial(self, part, figures):
        number = figures.trials
        case = part.make(random.Random(f"{self.seed}/{part.name}/{number}"))
        begun = time.monotonic()
        figures.trials += 1
        try:
            self.judge(part, case)
        except Skipped as skipped:
            figures.skip(str(skipped))
            figures.is_over = skipped.always
        except Wrong as wrong:
            figures.failures += 1
            self.keep(part, number, case, wrong)
        figures.seconds += time.monotonic() - begun

    def judge(self, part, case):
        room = Room(self.binary, self.figures.get(part.name, Figures()))
        try:
            part.judge(case, room)
        except (Wrong, Skipped):
            raise
        except Exception as error:
            # A table that the checker cannot read may be wrong itself, and a soak of hours goes on.
            raise Wrong(f"the checker ends with {type(error).__name__}", traceback.format_exc()) from error
        finally:
            room.close()

    def keep(self, part, number, case, wrong):
        """Keeps a failure if it is the first or the smallest of its kind. Only the first is made smaller."""
        key = (part.name, wrong.kind)
        if key not in self.kept:
            case, wrong = self.shrunk(part, case, wrong)
        size = len(json.dumps(case))
        if size >= self.kept.get(key, size + 1):
            return
        self.kept[key] = size
        place = self.out / f"{part.name}-{''.join(c if c.isalnum() else '-' for c in wrong.kind)}.json"
        note = {"part": part.name, "seed": self.seed, "trial": number, "wrong": str(wrong)[:4000], "case": case}
        self.out.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(note, indent=1))
        print(f"{part.name}, trial {number}: {str(wrong)[:1500]}\n  kept as {place}", flush=True)

    def shrunk(self, part, case, wrong):
        """The smallest case with the same kind of failure that halving finds."""
        until = time.monotonic() + SHRINKING
        progress = True
        while progress:
            progress = False
            for smaller in part.smaller(case):
                if time.monotonic() > until:
                    return case, wrong
                again = self.failure(part, smaller)
                if again is not None and again.kind == wrong.kind:
                    case, wrong, progress = smaller, again, True
                    break
        return case, wrong

    def failure(self, part, case):
        """How a case fails, or None."""
        try:
            self.judge(part, case)
        except Wrong as wrong:
            return wrong
        except Skipped:
            return None
        return None

    def table(self):
        heads = ["part", "trials", "processes", "skipped", "failures", "seconds", "slowest s", "most MB"]
        rows = [
            [name, own.trials, own.processes, own.skipped, own.failures, f"{own.seconds:.0f}", f"{own.slowest:.1f}", own.memory]
            for name, own in self.figures.items()
        ]
        widths = [max(len(str(row[column])) for row in [heads, *rows]) for column in range(len(heads))]
        lines = ["  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)) for row in [heads, *rows]]
        for name, own in self.figures.items():
            lines += [f"{name}: skipped {count}: {reason}" for reason, count in sorted(own.reasons.items())]
        # A process begins as a copy of this one, so its memory is never less.
        lines.append(f"(this program itself: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB)")
        return "\n".join(lines)


def halves(items):
    """Shorter lists: without each half, without each quarter, and so on down to single items."""
    step = len(items) // 2
    while step > 0:
        for start in range(0, len(items), step):
            left = items[:start] + items[start + step :]
            if left:
                yield left
        step //= 2
