"""Finds the policy that a text such as ``mine.py:MyPolicy`` names. The native module calls these functions."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import platform
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from .policy import Parameter, Policy

_versions: dict[str, tuple[type[Policy], int]] = {}
"""The class that each name stands for, and how often that has changed: a cell of a notebook may define a class anew."""

_named: dict[str, type[Policy]] = {}
"""Classes that were given as such, by the texts that stand for them: they may be of no module that can be imported."""


def entry(name: str) -> dict[str, Any]:
    """Describe the class that a name stands for."""
    cls = find(name)
    known = _versions.get(name)
    version = known[1] if known and known[0] is cls else (known[1] + 1 if known else 0)
    _versions[name] = (cls, version)
    lines = (inspect.getdoc(cls) or "").strip().splitlines()
    return {
        "class": cls,
        "version": version,
        "title": lines[0].strip() if lines and cls.__doc__ else cls.__name__,
        "source": f"Python, {name.partition(':')[0]}",
        "system": cls._system(),
        "oracle": bool(getattr(cls, "oracle", False)),
        "identity": identity(cls),
        "parameters": [parameter._describe(key) for key, parameter in parameters(cls).items()],
    }


def find(name: str) -> type[Policy]:
    """Find the class that ``file.py:Class`` or ``module:Class`` names."""
    if name in _named:
        return _named[name]
    place, _, wanted = name.partition(":")
    module = _file(place) if place.endswith(".py") else _module(place)
    cls = getattr(module, wanted, None)
    if cls is None:
        policies = [key for key, value in vars(module).items() if _is_policy(value)]
        listed = ", ".join(policies) if policies else "none"
        raise LookupError(f"{place} has no class `{wanted}`; policies in it: {listed}")
    if not _is_policy(cls):
        raise TypeError(f"`{wanted}` is not a subclass of resched.HadoopPolicy or resched.BatchPolicy")
    return cls  # type: ignore[no-any-return]


def _is_policy(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Policy) and value.__module__ != Policy.__module__


def _module(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise LookupError(f"there is no policy and no Python module `{name}`") from None
        raise


def _file(text: str) -> ModuleType:
    path = Path(text).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"{text}: there is no such file")
    # A name of its own, so that two files of one name do not meet.
    name = "resched_policy_" + hashlib.sha256(str(path).encode()).hexdigest()[:16]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    known = sys.modules.get(name)
    if known is not None and vars(known).get("__resched_sha256__") == digest:
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{text}: Python cannot load this file")
    module = importlib.util.module_from_spec(spec)
    vars(module)["__resched_sha256__"] = digest
    vars(module)["__resched_text__"] = text
    # Dataclasses and pickles look a module up while it is executed.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    for drawn in ("random", "time", "secrets"):
        if isinstance(vars(module).get(drawn), ModuleType):
            warnings.warn(
                f"{text} imports `{drawn}`: a replay is the same again only if a policy takes chance and time from its view",
                stacklevel=2,
            )
    return module


def identity(cls: type[Policy]) -> dict[str, str]:
    """What the code of a class is: a run of other code is another run."""
    try:
        source = inspect.getsource(sys.modules[cls.__module__])
    except (OSError, TypeError, KeyError):
        try:
            source = inspect.getsource(cls)
        except (OSError, TypeError):
            source = repr(sorted(_code_of(cls)))
    return {
        "python.sha256": hashlib.sha256(source.encode()).hexdigest(),
        "python.version": platform.python_version(),
    }


def _code_of(cls: type) -> list[tuple[str, str]]:
    functions = ((name, getattr(value, "__code__", None)) for name, value in vars(cls).items())
    return [(name, code.co_code.hex() + repr(code.co_consts)) for name, code in functions if code is not None]


def name_of(cls: type[Policy]) -> str:
    """The text that stands for a class from now on, in this process."""
    module = sys.modules.get(cls.__module__)
    text = vars(module).get("__resched_text__") if module else None
    name = f"{text or cls.__module__}:{cls.__name__}"
    if text is None:
        _named[name] = cls
    return name


def parameters(cls: type[Policy]) -> dict[str, Parameter[Any]]:
    """The parameters that a class and its bases declare, in their order."""
    found: dict[str, Parameter[Any]] = {}
    for base in reversed(cls.__mro__):
        found.update((key, value) for key, value in vars(base).items() if isinstance(value, Parameter))
    return found


def make(cls: type[Policy], texts: dict[str, str]) -> tuple[Policy, dict[str, Any]]:
    """Make a policy from the texts of its parameters. Return it with the methods that it overrides."""
    declared = parameters(cls)
    policy = cls(**{key: declared[key]._read(text) for key, text in texts.items() if key in declared})
    policy.begin()
    hooks = {name: getattr(policy, name) for name in cls._hooks if _overrides(cls, name)}
    return policy, hooks


def _overrides(cls: type[Policy], name: str) -> bool:
    for base in cls.__mro__:
        if name in vars(base):
            return base.__module__ != Policy.__module__
    return False
