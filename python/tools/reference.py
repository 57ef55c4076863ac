"""Makes ``docs/reference/python/`` from the docstrings and signatures of the package. It reads the sources, and imports none of them.

python3 python/tools/reference.py            # writes the pages
python3 python/tools/reference.py --check    # fails if one would change
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, TARGET = ROOT / "python" / "python" / "resched", ROOT / "docs" / "reference" / "python"
COMMAND = "python3 python/tools/reference.py"
GENERATED = f"Generated from the docstrings by `{COMMAND}`; do not edit."

# The first lines of each page; the others have those of their module.
README = "All names of the package `resched` for Python. [resched in Python](../../python.md) shows how to use them."
FUNCTIONS = """The functions of `resched`, such as `resched.replay`. Most are [commands](../../commands.md), with the same names, defaults
and texts.

* An option that a text names, such as `--site-conf`, is the argument `site_conf`. Where a text says to repeat an option, give a list.
* Each function may raise [`RequestError`](errors.md#requesterror) or [`TraceError`](errors.md#traceerror). A function that replays may also
  raise [`PolicyError`](errors.md#policyerror) or [`PolicyViolation`](errors.md#policyviolation).
* The types `StrPath`, `Source`, `PolicyLike` and `Progress` are at the end of this page."""
RESULTS = "The objects that the [functions](functions.md) return: traces, runs, tables and answers."
VIEW = """What a policy of your own sees, and the calls by which it starts tasks. The methods of [policies](policies.md) get these objects.

A call that is not allowed ends the replay with [`PolicyViolation`](errors.md#policyviolation), even if the policy catches the exception."""
ERRORS = "The exceptions of the package, and the category of its warnings. All are names of `resched`, such as `resched.PolicyViolation`."

# Each page: its title, its first lines, and the names that it describes.
PAGES = {
    "functions.md": ("Functions of Python", FUNCTIONS, "StrPath Source PolicyLike Progress"),
    "results.md": ("Results and tables", RESULTS, "Trace Run Replays Report Result Tables Table Metrics Comparison"),
    "policies.md": ("Policies in Python", "policy.py", "HadoopPolicy BatchPolicy Waiting Policy Parameter Int Float Bool Choice File"),
    "view.md": ("What a policy sees", VIEW, "HadoopOffer BatchOffer Attempt AttemptEnded ContainerChanged RunEnded"),
    "gym.md": ("Environments for learning", "gym.py", "SchedulingEnv VectorSchedulingEnv REWARDS SPLITS"),
    "errors.md": (
        "Exceptions",
        ERRORS,
        "ReschedError RequestError TraceError PolicyError PolicyViolation Interrupted ForkError DefectError ReschedWarning",
    ),
}
# Bases whose members are shown with those of the class.
MERGED = {"Said", "Folder"}

# All names of all modules. Where Python and the native module have the same name, that of Python counts.
NODES: dict[str, ast.AST] = {}
NOTES: dict[str, str] = {}
TREES = {file.name: ast.parse(file.read_text(encoding="utf-8")) for file in [*PACKAGE.glob("*.pyi"), *sorted(PACKAGE.glob("*.py"))]}
for file, tree in TREES.items():
    for node in ast.walk(tree):
        node.source = (PACKAGE / file).read_text(encoding="utf-8")
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", node)
        NODES[name := getattr(target, "id", getattr(target, "name", ""))] = node
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            NOTES[name] = after.value.value


PUBLIC = next(ast.literal_eval(node.value) for node in TREES["__init__.py"].body if ast.unparse(node).startswith("__all__"))
NAMES = {page: names.split() for page, (_, _, names) in PAGES.items()}
NAMES["functions.md"][:0] = [name for name in PUBLIC if isinstance(NODES.get(name), ast.FunctionDef)]
PLACES = {name: f"{page}#{name.lower()}" for page, names in NAMES.items() for name in names}
if missing := set(PUBLIC) - set(PLACES) - {"__version__", "errors"}:
    raise SystemExit(f"{', '.join(missing)}: on no page; PAGES in tools/reference.py says what is on which")


def linked(name: str) -> str:
    """A name as code, with a link to where it is described."""
    return f"[`{name}`]({PLACES[name]})" if name in PLACES else f"`{name}`"


def inline(text: str) -> str:
    """A paragraph of a docstring as Markdown."""
    text = re.sub(r":\w+:`(?:resched\.)?([^`]+)`", lambda found: linked(found[1]), " ".join(text.split())).replace("``", "`")
    parts = text.split("`")
    parts[::2] = [re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"`\g<0>`", part) for part in parts[::2]]

    def page(found: re.Match[str]) -> str:
        return f"[{Path(found[1]).stem.replace('-', ' ')}]({os.path.relpath(ROOT / found[1], TARGET)}{found[2] or ''})"

    return re.sub(r"`(docs/[\w/-]+\.md)(#[\w-]+)?`", page, "`".join(parts))


def entries(text: str) -> list[tuple[str, str]]:
    """The lines that are not indented, each with the indented ones below it."""
    return re.findall(r"^(\S.*)\n((?:    .*\n)*)", text.strip("\n") + "\n", re.MULTILINE)


def prose(text: str) -> str:
    """Paragraphs, indented code and words with their meanings, as Markdown."""
    made = []
    for block in re.split(r"\n\n+", text):
        if block.startswith("    "):
            made.append(f"```python\n{inspect.cleandoc(block)}\n```")
        elif "\n    " in block:
            made.append("\n".join(f"* {inline(word)}: {inline(meaning)}" for word, meaning in entries(block)))
        else:
            made.append(inline(block))
    return "\n\n".join(made)


def sections(name: str, node: ast.AST) -> dict[str, str]:
    """The parts of a docstring of NumPy's style. The first has no heading."""
    text = NOTES.get(name) if isinstance(node, (ast.Assign, ast.AnnAssign)) else ast.get_docstring(node)
    if not text:
        raise SystemExit(f"{name} needs a docstring")
    first, *rest = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    return {"": first.strip("\n")} | dict(zip(rest[::2], rest[1::2], strict=True))


def table(head: str, rows: list[list[str]]) -> str:
    """A table, if it has rows."""
    every = [head.split(), ["---"] * len(head.split()), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in every) if rows else ""


def coded(text: str) -> str:
    """A type as docstrings give it, without its default."""
    text = re.sub(r", (optional|default .*)$", "", text)
    return linked(text) if re.fullmatch(r"[\w.]+", text) else f"`{text}`" if re.search(r"[|\[]", text) else text


def signature(node: ast.FunctionDef, name: str) -> str:
    """A function as it is called, as the source has it."""
    header = "\n".join(node.source.splitlines()[node.lineno - 1 : node.body[0].lineno - 1])
    header = re.sub(r"^\s*def \w+", name, inspect.cleandoc(header).removesuffix(":"))
    header = header.removesuffix(" -> None") if node.name == "__init__" else header
    return re.sub(r"\bself(,\s*|(?=\)))", "", header, count=1)


def member(node: ast.FunctionDef) -> str:
    """The same on one line, as code; a property as an attribute."""
    text = re.sub(r",?\s*\)", ")", re.sub(r"\(\s+", "(", " ".join(signature(node, node.name).split())))
    return f"`{text.replace('() ->', ':', 1) if node.decorator_list else text}`"


def parameters(doc: dict[str, str], node: ast.FunctionDef) -> str:
    """The parameters of a function with their types and defaults."""
    own, rows = node.args, []
    usual = dict(zip([arg.arg for arg in own.args][::-1], own.defaults[::-1], strict=False))
    usual |= {arg.arg: default for arg, default in zip(own.kwonlyargs, own.kw_defaults, strict=True) if default}
    for head, meaning in entries(doc.get("Parameters", "")):
        name, _, kind = head.partition(" : ")
        default = f"`{ast.get_source_segment(node.source, usual[name])}`" if name in usual else "" if "*" in name else "required"
        rows.append([f"`{name}`", coded(kind), default, inline(meaning)])
    return table("parameter type default meaning", rows)


def outcomes(doc: dict[str, str]) -> list[str]:
    """What is returned, and what is raised."""
    found = [(head, *entry) for head in ("Returns", "Raises") for entry in entries(doc.get(head, ""))]
    return [f"**{head}** {' or '.join(linked(own) for own in name.split(' or '))}: {inline(meaning)}" for head, name, meaning in found]


def members(node: ast.ClassDef) -> list[tuple[str, ast.FunctionDef]]:
    """The methods and properties of a class and of its merged bases, each with the comment above its group."""
    found = [own for base in node.bases if ast.unparse(base) in MERGED for own in members(NODES[ast.unparse(base)])]
    lines = node.source.splitlines()
    for own in (own for own in node.body if isinstance(own, ast.FunctionDef)):
        comments = [text[6:] for text in lines[node.lineno : own.lineno] if re.match(r"    # \w", text)]
        if not own.name.startswith("_") or (own.name.startswith("__") and own.name != "__init__" and ast.get_docstring(own)):
            found.append((comments[-1] if comments else "", own))
    return found


def function(name: str, node: ast.FunctionDef) -> list[str]:
    """The section of a function."""
    doc = sections(name, node)
    return [prose(doc[""]), f"```python\n{signature(node, f'resched.{name}')}\n```", parameters(doc, node), *outcomes(doc)]


def described(name: str, node: ast.ClassDef) -> list[str]:
    """The section of a class."""
    doc, bases = sections(name, node), [re.sub(r"^(Parameter)\[.*", r"\1", ast.unparse(base)) for base in node.bases]
    shown = [linked(base) for base in bases if base not in MERGED | {"Generic[V]"}]
    made = [prose(doc[""]), f"Base: {', '.join(shown)}." if shown else ""]
    start = [own for own in node.body if getattr(own, "name", "") == "__init__"]
    if start and ("Parameters" in doc or "Parameter" in bases):
        made += [f"```python\n{signature(start[0], name)}\n```", parameters(doc, start[0])]
    parts = [sections(base, NODES[base]) for base in bases if base in MERGED] + [doc]
    attributes = [(*head.split(" : "), text) for part in parts for head, text in entries(part.get("Attributes", ""))]
    rows = [[f"`{own.replace(', ', '`, `')}`", coded(kind), inline(text)] for own, kind, text in attributes]
    made += [*outcomes(doc), table("attribute type meaning", rows)]
    every = [(group, own, sections(f"{name}.{own.name}", own)) for group, own in members(node)]
    for group in dict.fromkeys(group for group, *_ in every):
        made.append(f"### {name}: {group[:1].lower()}{group[1:]}" if group else "")
        made.append(table("member meaning", [[member(own), inline(doc[""])] for of, own, doc in every if of == group]))
    for _, own, doc in every:
        inner = [parameters(doc, own), *outcomes(doc)]
        made += [f"### {name}: parameters of `{own.name}`", *inner] if any(inner) else []
    return made


def constant(name: str, node: ast.Assign | ast.AnnAssign) -> list[str]:
    """The section of a type, or of a dictionary."""
    if isinstance(node.value, ast.Dict):
        rows = [[f"`{own}`", str(value)] for own, value in ast.literal_eval(node.value).items()]
        return [prose(sections(name, node)[""]), table("key value", rows)]
    return [f"`{ast.unparse(node.value)}`", prose(sections(name, node)[""])]


def page(file: str) -> str:
    """A page."""
    title, begins, _ = PAGES[file]
    made = [f"# {title}", GENERATED, prose(ast.get_docstring(TREES[begins]) or "") if begins in TREES else begins]
    for name in NAMES[file]:
        node = NODES[name]
        section = function if isinstance(node, ast.FunctionDef) else described if isinstance(node, ast.ClassDef) else constant
        made += [f"## `{name}`", *section(name, node)]
    return "\n\n".join(part for part in made if part) + "\n"


def sentence(text: str) -> str:
    """The first sentence of a text."""
    return re.split(r"(?<=\.)\s+(?=[A-Z`\[])", text.partition("\n\n")[0])[0]


def overview(pages: dict[str, str]) -> str:
    """The page that lists the others and all names."""
    has = [[f"[{PAGES[file][0]}]({file})", sentence(text.split("\n\n", 2)[2])] for file, text in pages.items()]
    every = sorted(PLACES.items(), key=lambda own: own[0].lower())
    rows = [[f"[`{name}`]({place})", sentence(prose(sections(name, NODES[name])[""]))] for name, place in every]
    return (
        "\n\n".join(["# Python reference", GENERATED, README, table("page has", has), "## All names", table("name meaning", rows)]) + "\n"
    )


def main() -> int:
    """Write the pages, or check them."""
    pages = {file: page(file) for file in PAGES}
    pages["README.md"] = overview(pages)
    there = {path.name: path.read_text(encoding="utf-8") for path in TARGET.glob("*.md")}
    if "--check" in sys.argv:
        stale = sorted(file for file in {**pages, **there} if pages.get(file) != there.get(file))
        if stale:
            print(f"{', '.join(stale)} in {TARGET}: not what the docstrings say; run {COMMAND}", file=sys.stderr)
        return 1 if stale else 0
    TARGET.mkdir(parents=True, exist_ok=True)
    for file in there.keys() - pages.keys():
        (TARGET / file).unlink()
    for file, text in pages.items():
        (TARGET / file).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
