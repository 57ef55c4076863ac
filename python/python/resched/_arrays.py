"""The arrays that a policy in the batch form gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.int64]

_COLUMNS = ("job", "task", "submit", "units", "cpu", "memory", "estimate", "user", "queue")


class Waiting:
    """What waits, a row for each task, in order of submission. Each column is a read-only array of ``int64``.

    Attributes
    ----------
    job, task : numpy.ndarray
        The numbers of the job and the task.
    submit : numpy.ndarray
        When the job was submitted, ms.
    units : numpy.ndarray
        How many units of the task wait.
    cpu, memory : numpy.ndarray
        What a unit needs.
    estimate : numpy.ndarray
        How long the next unit runs at most, ms, as its user estimates.
    user, queue : numpy.ndarray
        The user and the queue as codes: equal users have equal codes.
    """

    __slots__ = ("_arrays", "_first", "_last", "count")

    count: int

    def __init__(self, arrays: Arrays, first: int, count: int) -> None:
        self._arrays = arrays
        self._first = first
        self._last = first + count
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getattr__(self, name: str) -> Column:
        if name not in _COLUMNS:
            raise AttributeError(f"expected one of {', '.join(_COLUMNS)}, found `{name}`")
        column: Column = self._arrays.shown[name][self._first : self._last]
        return column


class Arrays:
    """The columns behind :class:`Waiting`. The engine writes to them; a policy gets views that cannot be written to."""

    def __init__(self, window: int) -> None:
        try:
            import numpy
        except ModuleNotFoundError:
            raise ModuleNotFoundError("a policy with `decide` needs NumPy; install it: pip install numpy") from None
        self.window = window
        self.shown: dict[str, Any] = {}
        for name in _COLUMNS:
            column = numpy.zeros(2 * window, dtype=numpy.int64)
            setattr(self, name, column)
            shown = column.view()
            shown.setflags(write=False)
            self.shown[name] = shown

    def frame(self, first: int, count: int) -> Waiting:
        """The rows from ``first`` on."""
        return Waiting(self, first, count)
