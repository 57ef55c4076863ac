"""Write a scheduler of your own in Python.

Subclass :class:`HadoopPolicy` for maps and reduces on a Hadoop cluster, or :class:`BatchPolicy` for a production trace. The engine calls
the methods that you override, and no others. They get a view of the cluster that hides the future.

You can name the class wherever a policy is named: as ``"mine.py:MyPolicy"``, ``"mine.py:MyPolicy:D=3"``, or by the class or an object of
it.

Jobs, tasks and nodes are whole numbers that the view gives you. A method may use its view only until it returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

if TYPE_CHECKING:
    from ._arrays import Arrays, Waiting
    from ._native import Attempt, AttemptEnded, BatchOffer, ContainerChanged, HadoopOffer, RunEnded

__all__ = ["BatchPolicy", "Bool", "Choice", "File", "Float", "HadoopPolicy", "Int", "Parameter", "Policy"]

V = TypeVar("V")


class Parameter(Generic[V]):
    """A parameter of a policy, declared in its class: ``D = Int(24, low=0, meaning="…")``. An object has its value: ``self.D``.

    This is the base of the classes below. Do not use it by itself.

    Parameters
    ----------
    default : value
        The value if none is given. ``None`` stands for ``auto``, and needs ``auto=True``.
    meaning : str
        What the parameter means. ``resched policies`` shows it.
    unit : str
        The unit of the value, such as ``ms`` or ``heartbeats``.
    auto : bool
        Whether the value may also be ``auto``. Then the object has ``None``, and the policy chooses.
    """

    _kind = ""

    def __init__(self, default: V | None, *, meaning: str, unit: str = "", auto: bool = False, **rest: Any) -> None:
        self.default = default
        self.meaning = meaning
        self.unit = unit
        self.auto = auto
        self.rest = rest
        self.key = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.key = name

    @overload
    def __get__(self, instance: None, owner: type) -> Parameter[V]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> V: ...
    def __get__(self, instance: object | None, owner: type) -> Parameter[V] | V:
        if instance is None:
            return self
        value: Any = vars(instance).get(self.key, self.default)
        return value  # type: ignore[no-any-return]

    def __set__(self, instance: object, value: V) -> None:
        vars(instance)[self.key] = value

    def _describe(self, key: str) -> dict[str, Any]:
        if self.default is None and not self.auto:
            raise ValueError(f"{key}: expected a default; None stands for `auto`, which needs auto=True")
        return {
            "key": key,
            "kind": self._kind,
            "default": self._write(self.default),
            "auto": self.auto,
            "unit": self.unit,
            "meaning": self.meaning,
            **self.rest,
        }

    def _write(self, value: Any) -> str:
        return "auto" if value is None else str(value)

    def _read(self, text: str) -> V | None:
        return None if self.auto and text == "auto" else self._parse(text)

    def _parse(self, text: str) -> V:
        raise NotImplementedError


class Int(Parameter[int]):
    """A whole number from ``low`` to ``high``, both included."""

    _kind = "integer"

    def __init__(
        self,
        default: int | None,
        *,
        low: int = -(2**63),
        high: int = 2**63 - 1,
        meaning: str,
        unit: str = "",
        auto: bool = False,
    ) -> None:
        super().__init__(default, meaning=meaning, unit=unit, auto=auto, low=low, high=high)

    def _parse(self, text: str) -> int:
        return int(text)


class Float(Parameter[float]):
    """A number from ``low`` to ``high``, both included."""

    _kind = "number"

    def __init__(
        self,
        default: float | None,
        *,
        low: float = -1.7e308,
        high: float = 1.7e308,
        meaning: str,
        unit: str = "",
        auto: bool = False,
    ) -> None:
        super().__init__(default, meaning=meaning, unit=unit, auto=auto, low=float(low), high=float(high))

    def _parse(self, text: str) -> float:
        return float(text)


class Bool(Parameter[bool]):
    """``True`` or ``False``. In a text such as ``"mine.py:MyPolicy:strict=true"``, write ``true`` or ``false``."""

    _kind = "boolean"

    def __init__(self, default: bool, *, meaning: str) -> None:
        super().__init__(default, meaning=meaning)

    def _write(self, value: Any) -> str:
        return "true" if value else "false"

    def _parse(self, text: str) -> bool:
        return text == "true"


class Choice(Parameter[str]):
    """One of the ``words``."""

    _kind = "choice"

    def __init__(self, default: str, *, words: list[str] | tuple[str, ...], meaning: str) -> None:
        super().__init__(default, meaning=meaning, words=list(words))

    def _parse(self, text: str) -> str:
        return text


class File(Parameter[str]):
    """The path of a file. An empty text stands for no file."""

    _kind = "file"

    def __init__(self, default: str = "", *, meaning: str) -> None:
        super().__init__(default, meaning=meaning)

    def _parse(self, text: str) -> str:
        return text


class Policy:
    """What :class:`HadoopPolicy` and :class:`BatchPolicy` have in common. Do not subclass it by itself.

    Parameters
    ----------
    **values
        Values of parameters, by name. The other parameters have their defaults. The object only names the policy with its values: each
        replay makes a new object, so that no replay depends on another one.

    Attributes
    ----------
    seconds : float or None
        The longest time that one call of a method may take, in seconds; ``None``: no limit. A method that takes longer is interrupted, and
        the replay ends with :class:`PolicyViolation`.
    """

    seconds: float | None = None

    _hooks: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **values: Any) -> None:
        from ._load import parameters

        declared = parameters(type(self))
        for key, value in values.items():
            if key not in declared:
                known = ", ".join(declared) or "none"
                raise TypeError(f"{type(self).__name__} has no parameter `{key}`; it has: {known}")
            setattr(self, key, value)
        self._given = dict(values)

    def begin(self) -> None:
        """Prepare for a replay: make what the policy keeps, such as its queues. The parameters already have their values."""

    @classmethod
    def _system(cls) -> str | None:
        raise TypeError("expected a subclass of resched.HadoopPolicy or resched.BatchPolicy")

    def _text(self) -> str:
        """The policy as the command line writes it."""
        from ._load import name_of, parameters

        declared = parameters(type(self))
        pairs = [f"{key}={declared[key]._write(value)}" for key, value in self._given.items()]
        return name_of(type(self)) + (":" + ",".join(pairs) if pairs else "")


class HadoopPolicy(Policy):
    """A scheduling policy for a Hadoop cluster. You must write :meth:`heartbeat`. Override other methods if you need them.

    The engine leaves out heartbeats that cannot matter, such as those of a node where no waiting task fits: see :meth:`restless`. Once
    nothing has started, ended or arrived for a day, it also leaves out most other heartbeats and ticks.

    Attributes
    ----------
    system : str
        What it schedules: ``"slots"`` of MapReduce 1, or containers of ``"yarn"``.
    period : int or None
        How often :meth:`tick` is called, ms; ``None``: never.
    oracle : bool
        Whether ``resched policies`` marks it as an oracle: a reference that knows what no real scheduler can know.
    ramps_reduces : bool
        Whether it decides by itself when the reduces of a job may start. Then the slow-start of the cluster file does not hold.
    calculator : str or None
        Under YARN, the resources that it counts: ``"memory"``, or ``"dominant"`` for memory and virtual cores; ``None``: those that the
        cluster file names.
    """

    system: str = "slots"
    period: int | None = None
    oracle: bool = False
    ramps_reduces: bool = False
    calculator: str | None = None

    _hooks = (
        "job_submitted",
        "job_finished",
        "task_waits",
        "task_started",
        "task_finished",
        "node_lost",
        "tick",
        "tick_from",
        "before_tick",
        "skips_idle_ticks",
        "restless",
        "counts_heartbeats",
        "declines",
        "container_changed",
        "headroom",
        "may_use",
        "heartbeat",
    )

    @classmethod
    def _system(cls) -> str | None:
        return cls.system

    # The decision

    def heartbeat(self, offer: HadoopOffer) -> None:
        """Answer the heartbeat of a node with a free slot or room for a container: launch the tasks that it should run."""
        raise NotImplementedError

    # What happens

    def job_submitted(self, job: int, view: HadoopOffer) -> None:
        """Take note that a job has arrived."""

    def job_finished(self, job: int, view: HadoopOffer) -> None:
        """Take note that a job has succeeded or failed. It is no longer in ``view.jobs``."""

    def task_waits(self, task: int, view: HadoopOffer) -> None:
        """Take note that a task waits again: its attempt failed or was killed, or the output of a map was lost."""

    def task_started(self, started: Attempt, view: HadoopOffer) -> None:
        """Take note that an attempt was launched, by this policy or as a backup."""

    def task_finished(self, ended: AttemptEnded, view: HadoopOffer) -> None:
        """Take note of how an attempt ended, as the master has learned it."""

    def node_lost(self, node: int, view: HadoopOffer) -> None:
        """Take note that the master has given up a node. The ends of its attempts were reported before."""

    # Ticks

    def tick(self, view: HadoopOffer) -> None:
        """Do what is due every :attr:`period`. Only here, you can call ``view.kill`` and ``view.report``."""

    def before_tick(self, view: HadoopOffer) -> None:
        """Do what must be carried out before :meth:`tick` is called. You can call ``view.kill`` and ``view.report`` as there."""

    def tick_from(self, due: int) -> int:
        """Return the first multiple of :attr:`period`, at ``due`` or later, at which :meth:`tick` does anything, ms.

        By default, this is ``due``.
        """
        return due

    def skips_idle_ticks(self, view: HadoopOffer) -> bool:
        """Whether ticks may be left out while nothing happens. By default, they may not.

        Return ``True`` only if nothing changed between the last two ticks, and the next ticks would do the same.
        """
        return False

    # Heartbeats that are left out

    def restless(self, view: HadoopOffer) -> bool:
        """Whether the policy needs every heartbeat of a node with a free slot, even if no waiting task fits there. By default, no."""
        return False

    def counts_heartbeats(self, view: HadoopOffer) -> bool:
        """Whether the policy needs every heartbeat of every node, also of nodes without a free slot. By default, no."""
        return False

    def declines(self, view: HadoopOffer) -> bool:
        """Whether the policy would now launch nothing on any node and change nothing that it keeps.

        Then the engine leaves out heartbeats until something happens or time passes, and asks again. By default, a policy declines if
        nothing waits to be placed, the run records no reasons, and it needs no further heartbeats.
        """
        return False

    # Under YARN only

    def container_changed(self, container: ContainerChanged, view: HadoopOffer) -> None:
        """Take note that the resource manager has learned that a container runs or has ended."""

    def headroom(self, job: int, view: HadoopOffer) -> int:
        """Return the memory that a job could still get, MB. YARN reports it to the application master of the job.

        By default, this is the free memory of all nodes.
        """
        return view.free_in_all[1]

    def may_use(self, node: int, view: HadoopOffer) -> bool:
        """Whether a heartbeat of a node could change anything while containers are asked for. The engine leaves out the others.

        By default, it could if the node is kept for a request, or has room for the smallest container.
        """
        return view.reservation(node) is not None or view.has_room(node)


class BatchPolicy(Policy):
    """A scheduling policy for production traces. You must write either :meth:`schedule` or :meth:`decide`, which gets arrays of NumPy.

    Attributes
    ----------
    period : int or None
        How often :meth:`tick` is called while there are jobs, ms; ``None``: never.
    phase : int
        How long after each multiple of the period the tick comes, ms.
    draws : bool
        Whether another seed leads to other decisions. Then tests of how sure an answer is also vary the seed.
    window : int
        The largest number of rows that :meth:`decide` gets.
    """

    period: int | None = None
    phase: int = 0
    draws: bool = False
    window: int = 1024

    _hooks = (
        "job_submitted",
        "job_finished",
        "task_waits",
        "task_finished",
        "task_left",
        "nodes_changed",
        "tick",
        "skips_idle_ticks",
        "alarm",
        "schedule",
        "decide",
    )

    @classmethod
    def _system(cls) -> str | None:
        return None

    def _arrays(self) -> Arrays:
        from ._arrays import Arrays

        return Arrays(self.window)

    # The decision

    def schedule(self, offer: BatchOffer) -> None:
        """Start the tasks that should run. It is called when something has changed and tasks wait."""
        raise NotImplementedError

    def decide(self, now: int, free: tuple[int, int], jobs: Waiting) -> Any:
        """Choose the rows of ``jobs`` to start: ``None``, a number of rows from the front, or an array of rows.

        Of each row, as many units start as there is room for. The method is called again until it starts nothing, or nothing more fits.

        Parameters
        ----------
        now : int
            The simulated clock, ms.
        free : tuple of int
            The free processor and memory of all machines.
        jobs : Waiting
            The tasks that wait, in order of submission. Do not keep these arrays.
        """
        raise NotImplementedError

    # What happens

    def job_submitted(self, job: int, view: BatchOffer) -> None:
        """Take note that a job has arrived."""

    def job_finished(self, job: int, view: BatchOffer) -> None:
        """Take note that all tasks of a job have ended."""

    def task_waits(self, task: int, view: BatchOffer) -> None:
        """Take note that units of a task wait, for the first time or again. Other units of it may be waiting already."""

    def task_finished(self, ended: RunEnded, view: BatchOffer) -> None:
        """Take note of how an instance or a gang ended. If it is tried again, :meth:`task_waits` is called next."""

    def task_left(self, task: int, view: BatchOffer) -> None:
        """Take note that a task has left its machines that was evicted some time ago (``holds`` of ``offer.evict``)."""

    def nodes_changed(self, view: BatchOffer) -> None:
        """Take note that the resources of the machines have changed."""

    # Ticks and alarms

    def tick(self, view: BatchOffer) -> None:
        """Do what is due every :attr:`period`. Only here, you can call ``view.report``."""

    def skips_idle_ticks(self, view: BatchOffer) -> bool:
        """Whether ticks may be left out until something happens. By default, they may not.

        Return ``True`` only if the last tick changed nothing, and the next ticks would do the same.
        """
        return False

    def alarm(self) -> int | None:
        """When :meth:`schedule` is to be called although nothing happens, ms; ``None``: never. Times that are over do not count."""
        return None
