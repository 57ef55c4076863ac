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
    """Something went wrong. All exceptions of the package are of this class. The message is what the command line prints."""

    @property
    def policy(self) -> str | None:
        """The policy that it is about; ``None``: it is not about a policy."""
        found = re.match(r"policy `([^`]+)`", str(self))
        return found[1] if found else None

    @property
    def time_ms(self) -> int | None:
        """When it happened on the simulated clock, ms; ``None``: that is not known."""
        found = re.match(r"policy `[^`]+` at (-?\d+) ms", str(self))
        return int(found[1]) if found else None


class RequestError(ReschedError, ValueError):
    """The request was wrong: an unknown policy, a value out of its range, a file that does not exist."""


class TraceError(ReschedError, OSError):
    """A trace, a run or another file is damaged, or cannot be read or written."""


class PolicyError(ReschedError):
    """A policy left tasks waiting, and nothing started or ended any more."""


class PolicyViolation(PolicyError):
    """A policy asked for something that is not allowed, raised an exception, or took too long.

    An exception of the policy is the ``__cause__`` of this one.
    """


class Interrupted(ReschedError):
    """The call was stopped before it was done."""


class ForkError(ReschedError, RuntimeError):
    """The process was forked off one that had used resched. Start processes with ``multiprocessing.get_context("spawn")``."""


class DefectError(ReschedError, RuntimeError):
    """A defect of resched stopped the work, or a replay broke a rule that always holds. Please report it."""
