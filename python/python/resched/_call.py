"""Carries out commands: arguments in, progress shown, warnings passed on."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from . import _native, _program

_log = logging.getLogger("resched")

Progress = Callable[[str, int, int], object]
"""A function that is called now and then with ``(label, done, total)``: what goes on, how much of it is done, and how much there is. A
``total`` of 0: that is not known. If it raises an exception, the work stops."""


class ReschedWarning(UserWarning):
    """The category of warnings: each has the text of a warning that the command line would print."""


def words(command: str, arguments: Iterable[Any], options: dict[str, Any]) -> list[str]:
    """Write a command as the command line has it."""
    written = command.split()
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            written.append(option)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for one in value:
                written += [option, text(one)]
        else:
            written += [option, text(value)]
    rest = [text(one) for one in arguments if one is not None]
    return [*written, "--", *rest] if rest else written


def text(value: Any) -> str:
    """A value as the command line writes it: a path, a policy, a number."""
    from .policy import Policy

    if isinstance(value, Policy):
        return value._text()
    if isinstance(value, type) and issubclass(value, Policy):
        return value()._text()
    path = getattr(value, "path", None)
    if path is not None and not isinstance(value, os.PathLike):
        return str(os.fspath(path))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def run(args: list[str], progress: bool | Progress = True) -> tuple[str, str]:
    """Carry out a command. Return what it printed, and what people would read in place of JSON.

    Its warnings are of :class:`ReschedWarning`; its other messages go to the logger ``resched``.
    """
    _program.announce()
    shown = _Bars() if progress is True else None
    report = shown.report if shown else (None if isinstance(progress, bool) else progress)
    try:
        printed, said, messages = _native.call(args, report)
    finally:
        if shown:
            shown.close()
    for message in messages:
        if message.startswith("warning: "):
            warnings.warn(message.removeprefix("warning: "), ReschedWarning, stacklevel=_depth())
        else:
            _log.info(message)
    return printed, said


def _depth() -> int:
    """How far up the caller of the package is."""
    depth, frame = 1, sys._getframe(1)
    package = os.path.dirname(__file__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        depth, frame = depth + 1, frame.f_back
    return depth


class _Bars:
    """Bars of tqdm in a notebook or on a terminal, if tqdm is there; nothing otherwise."""

    def __init__(self) -> None:
        self.bars: dict[str, Any] = {}
        self.make: Any = None
        if sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
            try:
                from tqdm.auto import tqdm
            except ModuleNotFoundError:
                return
            self.make = tqdm

    def report(self, label: str, done: int, total: int) -> None:
        if self.make is None:
            return
        bar = self.bars.get(label)
        if bar is None:
            bar = self.bars[label] = self.make(total=total or None, desc=label, leave=False)
        bar.total = total or None
        bar.update(done - bar.n)

    def close(self) -> None:
        for bar in self.bars.values():
            bar.close()
