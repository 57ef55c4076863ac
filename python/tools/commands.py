"""Makes ``resched/_commands.py`` from the commands of the command line, so that both have the same names, defaults and texts.

python tools/commands.py            # writes the file
python tools/commands.py --check    # fails if it would change
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from resched import _native

TARGET = Path(__file__).parent.parent / "python" / "resched" / "_commands.py"

# What a function returns, and how it is made of what the command printed.
RESULTS = {
    "ingest": "Trace",
    "generate": "Trace",
    "scale": "Trace",
    "anonymise": "Trace",
    "replay": "Replays",
    "report": "Report",
}

# Commands without a function, and why.
LEFT_OUT = {
    "completions": "it is for a shell",
    "demo": "it is a tour of the command line",
    "gate": "its answer is an exit status: use the command",
    "help": "Python has `help`",
    "man": "it is for a terminal",
    "new-policy": "it makes files for people to edit: use the command",
    "site": "its answer is a text for people: use the command",
}

# Arguments that no function has, and why.
NO_ARGUMENTS = {
    "json": "a function returns objects",
    "csv": "a function returns objects",
    "help": "Python has `help`",
    "version": "`resched.__version__`",
}

# Arguments that one function does not have, and why.
NOT_HERE = {
    ("ingest", "split"): "it makes several traces: use the command, and open each",
    ("ingest", "suggest"): "it prints a text for people: use the command",
    ("policies", "all"): "the result has all of each policy",
}

# Arguments that the command needs only beside those that a function has.
REQUIRED = {("ingest", "out")}

# Arguments whose defaults differ, and why.
DEFAULTS = {
    ("replay", "out"): ("None", "Without a folder, the runs are kept as long as the result lives."),
}

# Values that are whole numbers, and those that may also be numbers.
WHOLE = {"N", "SEED", "K", "SEEDS", "RETRIES", "WORKERS", "CHUNK", "MOST_SEEDS", "PIXELS"}
NUMBERS = {"SHARE", "FACTOR", "PERCENT", "VALUE", "C", "BYTES", "AMOUNT", "TIME"}
PATHS = {"DIR", "TRACE", "RUN", "FILE", "PATH", "PROGRAM", "BASELINE", "WORKLOAD", "TRACE|RUN", "RUN|TRACE"}
SOURCES = {"TRACE", "RUN", "BASELINE", "TRACE|WORKLOAD.toml", "TRACE|RUN", "RUN|TRACE"}


def value_type(argument: dict[str, Any]) -> str:
    """The type of one value."""
    (name,) = argument["value"]
    if name == "POLICY":
        return "PolicyLike"
    if name in SOURCES and argument["id"] != "out":
        return "Source"
    if name in PATHS or ".toml" in name or ".json" in name:
        return "StrPath"
    if name in WHOLE:
        return "int"
    return "str | float" if name in NUMBERS else "str"


def argument_type(argument: dict[str, Any]) -> str:
    """The type of an argument."""
    if not argument["takes_values"]:
        return "bool"
    one = value_type(argument)
    return f"{one} | Iterable[{one}]" if argument["many"] else one


def default(command: str, argument: dict[str, Any]) -> str | None:
    """The default of an argument as Python writes it; ``None``: it must be given."""
    if (command, argument["id"]) in DEFAULTS:
        return DEFAULTS[command, argument["id"]][0]
    if not argument["takes_values"]:
        return "False"
    if argument["required"] or (command, argument["id"]) in REQUIRED:
        return None
    if not argument["default"]:
        return "None"
    (text,) = argument["default"]
    number = value_type(argument) in {"int", "str | float"} and re.fullmatch(r"-?\d+(\.\d+)?", text)
    return text if number else json.dumps(text)


def name_of(argument: dict[str, Any]) -> str:
    """The name of an argument in Python: that of the option."""
    name = (argument["option"] or argument["id"]).replace("-", "_")
    return f"{name}_" if name in {"from", "global", "class"} else name


def described(text: str) -> str:
    """A help text as a docstring has it."""
    text = re.sub(r"\s+", " ", text or "").strip()
    text = re.sub(r" ?\[default: [^]]*\]", "", text)
    text = text.replace("\\", "\\\\").replace("`", "``")
    return text if text.endswith((".", ":")) else text + "."


def is_here(command: str, argument: str) -> bool:
    """Whether a function has an argument of its command."""
    return argument not in NO_ARGUMENTS and (command, argument) not in NOT_HERE


def function(command: dict[str, Any]) -> str:
    """The function of a command."""
    name = command["name"]
    arguments = [own for own in command["arguments"] if is_here(name, own["id"])]
    places = [own for own in arguments if own["option"] is None]
    options = [own for own in arguments if own["option"] is not None]
    # What must be given comes first, in the order of the help.
    options.sort(key=lambda own: default(name, own) is not None)

    def parameter(own: dict[str, Any]) -> str:
        given = default(name, own)
        kind = argument_type(own)
        if given == "None":
            kind += " | None"
        return f"    {name_of(own)}: {kind}" + ("" if given is None else f" = {given}") + ",\n"

    result = RESULTS.get(name, "Result")
    lines = [f"def {name}(\n", *map(parameter, places)]
    lines += ["    *,\n", *map(parameter, options), "    progress: bool | Progress = True,\n", f") -> {result}:\n"]
    summary = described(command["about"])
    body = [f'"""{summary}', "", "Parameters", "----------"]
    for own in [*places, *options]:
        given = default(name, own)
        body.append(f"{name_of(own)} : {argument_type(own)}" + ("" if given in {None, "None"} else f", default {given}"))
        text = described(own["help"])
        if (name, own["id"]) in DEFAULTS:
            text += " " + DEFAULTS[name, own["id"]][1]
        body += textwrap.wrap(text, 96, initial_indent="    ", subsequent_indent="    ")
    body += [
        "progress : bool or callable, default True",
        "    Whether to show bars, or what to call with ``(label, done, total)``.",
    ]
    body += ["", "Returns", "-------", result, f"    {RETURNS[result]}", '"""']
    lines.append(textwrap.indent("\n".join(body), "    ") + "\n")
    given = ", ".join(f"{name_of(own)}={name_of(own)}" for own in options)
    positional = [name_of(own) if not own["many"] else f"*listed({name_of(own)})" for own in places]
    lines.append(f"    return {BUILDERS[result]}({json.dumps(name)}, [{', '.join(positional)}], dict({given}), progress)\n")
    return "".join(lines)


RETURNS = {
    "Trace": "The trace in ``out``.",
    "Replays": "The runs, one for each policy.",
    "Report": "The files of the report.",
    "Result": "What the command found; ``str`` of it is what the command prints.",
}
BUILDERS = {"Trace": "made_trace", "Replays": "made_replays", "Report": "made_report", "Result": "made_result"}

HEAD = '''"""The commands of the command line as functions. ``tools/commands.py`` makes this file; do not edit it."""

from __future__ import annotations

from collections.abc import Iterable

from ._call import Progress
from ._results import (
    PolicyLike,
    Replays,
    Report,
    Result,
    Source,
    StrPath,
    Trace,
    listed,
    made_replays,
    made_report,
    made_result,
    made_trace,
)

'''


def made() -> str:
    """The text of the file."""
    commands = [own for own in json.loads(_native.commands()) if own["name"] not in LEFT_OUT]
    names = sorted(own["name"] for own in commands)
    listed = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
    return HEAD + listed + "".join(f"\n\n{function(command)}" for command in commands)


def main() -> int:
    """Write the file, or check it."""
    text = made()
    if "--check" in sys.argv:
        if TARGET.read_text() != text:
            print(f"{TARGET} is not what the commands say; run python tools/commands.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
