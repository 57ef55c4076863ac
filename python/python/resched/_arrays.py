"""The arrays that a policy in the batch form gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.int64]

_COLUMNS = ("job", "task", "submit", "units", "cpu", "memory", "estimate", "user", "queue", "cum_cpu", "cum_memory")


def _column(name: str) -> Any:
    """The column of that name, from the first row on."""

    def column(self: Waiting) -> Column:
        shown: Column = self._shown[name][self._rows]
        return shown

    return property(column)


class Waiting:
    """The tasks that wait, a row for each, in order of submission. Each column is a read-only array of ``int64``.

    Attributes
    ----------
    job, task : numpy.ndarray
        The numbers of the job and the task.
    submit : numpy.ndarray
        When the job was submitted, ms.
    units : numpy.ndarray
        How many units of the task wait.
    cpu, memory : numpy.ndarray
        What a unit of the task needs: an instance, or a whole gang.
    estimate : numpy.ndarray
        How long the next unit runs at most, ms: what its user requested, or else the logged run time.
    user, queue : numpy.ndarray
        The user and the queue as codes: equal users have equal codes.
    cum_cpu, cum_memory : numpy.ndarray
        What the units of all rows up to this one need together, plus ``base_cpu`` and ``base_memory``. So many rows from the front fit:
        ``jobs.cum_cpu.searchsorted(jobs.base_cpu + free[0], side="right")``.
    base_cpu, base_memory : int
        The numbers that the sums begin with.
    count : int
        How many rows there are.
    """

    __slots__ = ("_shown", "_rows", "base_cpu", "base_memory", "count")

    def __init__(self, shown: dict[str, Any], first: int, count: int, base_cpu: int, base_memory: int) -> None:
        self._shown = shown
        self._rows = slice(first, first + count)
        self.count = count
        self.base_cpu = base_cpu
        self.base_memory = base_memory

    def __len__(self) -> int:
        return self.count

    job = _column("job")
    task = _column("task")
    submit = _column("submit")
    units = _column("units")
    cpu = _column("cpu")
    memory = _column("memory")
    estimate = _column("estimate")
    user = _column("user")
    queue = _column("queue")
    cum_cpu = _column("cum_cpu")
    cum_memory = _column("cum_memory")


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

    def frame(self, first: int, count: int, base_cpu: int, base_memory: int) -> Waiting:
        """The rows from ``first`` on."""
        return Waiting(self.shown, first, count, base_cpu, base_memory)
