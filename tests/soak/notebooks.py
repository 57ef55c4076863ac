"""Notebooks of reports with names that try to become code.

Shows: each cell of code is Python, the names of runs and folders are literals in it, and the folders are where it says. If this Python has
polars, the cells run that draw nothing, end well, and do nothing that a name asks for.
"""

import ast
import importlib.util
import json
import subprocess
import sys

import replays
import worlds
from harness import LONGEST, Wrong

# What a hostile writer would try: each would leave a file `pwned` if it became code.
NAMES = [
    "open('pwned','w')",
    "'); open('pwned','w') #",
    '"); open("pwned","w") #',
    "'''\nopen('pwned','w')\n'''",
    '"""\nopen("pwned","w")\n"""',
    "{open('pwned','w')}",
    "\\",
    "\\'; open('pwned','w') #",
    "\\N{BULLET}\\x41\\u0041",
    "%load_ext x\n!touch pwned",
    "a\nb\tc",
    "\u202egnp.exe",
    "\u2028open('pwned','w')\u2029",
    "\u0007\u001b[2J",
    "é😀",
    "<script>alert(1)</script>",
    "](javascript:x)",
    "$(touch pwned)`touch pwned`",
    " ",
    "~",
    "-x",
]
LONGEST_NAME = 100


class Part:
    name = "notebooks"

    def __init__(self, binary):
        self.registry = worlds.Registry(binary)

    def make(self, rng):
        racks = worlds.hosts(rng, 3)
        name = lambda: "".join(rng.choice(NAMES) for _ in range(rng.choice([1, 1, 2])))
        jobs = [job | {"user": name(), "queue": name(), "name": name()} for job in worlds.jobs(rng, racks, most=4)]
        return {
            "hosts": racks,
            "jobs": jobs,
            "folders": [folder_name(name()) for _ in range(2)],
            "trace": folder_name(name()),
            "policies": sorted({self.registry.draw(rng, self.registry.hadoop()) for _ in range(2)}),
            "seed": rng.randrange(1000),
        }

    def smaller(self, case):
        for key in ("jobs", "policies", "folders"):
            for fewer in worlds.halves(case[key]):
                yield case | {key: fewer}
        for place in range(len(case["folders"])):
            yield case | {"folders": case["folders"][:place] + ["R"] + case["folders"][place + 1 :]}

    def judge(self, case, room):
        worlds.write_jobs(case["jobs"], case["hosts"], room, "T")
        (room.path / "T").rename(room.path / f"in-{case['trace']}")
        folders = []
        for place, folder in enumerate(case["folders"]):
            folders.append(f"{place}{folder}")
            policies = [part for policy in case["policies"] for part in ("--policy", policy)]
            more = ["--assume", "--robust", "off", "--threads", 1, "--seed", case["seed"] + place]
            ran = room.any("replay", f"./in-{case['trace']}", *policies, *more, "--out", f"./{folders[-1]}")
            replays.check_ended(case | {"cluster": {}}, ran)
        room.ok("report", *[f"./{folder}" for folder in folders], f"./in-{case['trace']}", "--out", "P", "--format", "notebook,tables")
        before = set(room.tree("."))
        cells = json.loads((room.path / "P/report.ipynb").read_text())["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in code]
        for source in sources:
            parsed(source)
        check_literals(sources[0], room)
        if importlib.util.find_spec("polars"):
            drawn = [bool(cell["metadata"].get("tags")) for cell in code]
            run_cells([source for source, figure in zip(sources, drawn) if not figure], room)
        more = set(room.tree(".")) - before
        if more:
            raise Wrong("a name became code", f"{sorted(more)}")


def folder_name(name):
    """A name that a folder can have."""
    return name.replace("/", "_").replace("\0", "_")[:LONGEST_NAME]


def parsed(source):
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise Wrong("a cell that is no Python", f"{error}: {source[:500]}") from error


def check_literals(source, room):
    """The cell that names the runs only assigns literals, and the folders of the runs are there."""
    values = {}
    for statement in parsed(source).body:
        is_literal = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        if not is_literal:
            raise Wrong("a cell of names that does more", source[:500])
        try:
            values[statement.targets[0].id] = ast.literal_eval(statement.value)
        except ValueError as error:
            raise Wrong("a cell of names that does more", source[:500]) from error
    away = [path for path in values["RUNS"].values() if not (room.path / "P" / path).is_dir()]
    if away:
        raise Wrong("a run that is not where the notebook looks", f"{away}")


def run_cells(sources, room):
    """Runs the cells in a Python of their own, in the folder of the report."""
    command = [sys.executable, "-c", "\n".join(sources)]
    ended = subprocess.run(command, cwd=room.path / "P", capture_output=True, text=True, timeout=LONGEST, check=False)
    if ended.returncode != 0:
        raise Wrong("a notebook that does not run", ended.stderr[-1500:])
