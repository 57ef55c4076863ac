"""The exceptions of the package. Each has the text that the command line prints, with what to do."""

from __future__ import annotations

import re

__all__ = [
    "DefectError",
    "ForkError",
    "Interrupted",
    "PolicyError",
    "PolicyViolation",
    "RequestError",
    "ReschedError",
    "TraceError",
]


class ReschedError(Exception):
    """Something went wrong. All exceptions of the package are of this class.

    Attributes
    ----------
    policy : str or None
        The policy that it is about.
    time_ms : int or None
        When it happened on the simulated clock, ms.
    """

    @property
    def policy(self) -> str | None:
        """The policy that it is about, if it is about one."""
        found = re.match(r"policy `([^`]+)`", str(self))
        return found[1] if found else None

    @property
    def time_ms(self) -> int | None:
        """When it happened on the simulated clock, ms."""
        found = re.match(r"policy `[^`]+` at (-?\d+) ms", str(self))
        return int(found[1]) if found else None


class RequestError(ReschedError, ValueError):
    """The request was wrong: an unknown policy, a value out of its range, a file that is not there (exit status 2)."""


class TraceError(ReschedError, OSError):
    """A trace, a run or another file is damaged, or cannot be read or written."""


class PolicyError(ReschedError):
    """A policy left tasks waiting for ever."""


class PolicyViolation(PolicyError):
    """A policy asked for something that is not allowed, or raised an exception, which is then the cause of this one."""


class Interrupted(ReschedError):
    """The call was stopped before it was done."""


class ForkError(ReschedError, RuntimeError):
    """The process was forked off one that had used resched already."""


class DefectError(ReschedError, RuntimeError):
    """Resched contradicts itself. Please report it."""
