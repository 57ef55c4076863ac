"""Write a scheduler of your own in Python.

Subclass :class:`HadoopPolicy` for maps and reduces on a Hadoop cluster, or :class:`BatchPolicy` for a production trace. The engine calls
the methods that you override, with a view of the cluster that hides the future. Name the class wherever a policy can be named, as
``"mine.py:MyPolicy"``, ``"mine.py:MyPolicy:D=3"``, or by the class or an object of it.

A job, a task and a node are whole numbers, which the view gives you; ask it about them. A view can be used in the method that got it only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

if TYPE_CHECKING:
    from ._arrays import Arrays, Waiting
    from ._native import Attempt, AttemptEnded, BatchOffer, ContainerChanged, HadoopOffer, RunEnded

__all__ = ["BatchPolicy", "Bool", "Choice", "File", "Float", "HadoopPolicy", "Int", "Parameter", "Policy"]

V = TypeVar("V")


class Parameter(Generic[V]):
    """A parameter of a policy, declared in its class. An object has the value under the same name."""

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
    """A whole number from ``low`` to ``high``, both included. With ``auto``, ``None`` is a value, too: the policy chooses."""

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
    """A number from ``low`` to ``high``, both included. With ``auto``, ``None`` is a value, too: the policy chooses."""

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
    """``True`` or ``False``; written ``true`` or ``false``."""

    _kind = "boolean"

    def __init__(self, default: bool, *, meaning: str) -> None:
        super().__init__(default, meaning=meaning)

    def _write(self, value: Any) -> str:
        return "true" if value else "false"

    def _parse(self, text: str) -> bool:
        return text == "true"


class Choice(Parameter[str]):
    """One of some words."""

    _kind = "choice"

    def __init__(self, default: str, *, words: list[str] | tuple[str, ...], meaning: str) -> None:
        super().__init__(default, meaning=meaning, words=list(words))

    def _parse(self, text: str) -> str:
        return text


class File(Parameter[str]):
    """The path of a file; empty if there is none."""

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
        The parameters that are not to have their defaults. An object is used to name a policy with its values; each replay makes a new
        one, so that no replay depends on another one.

    Attributes
    ----------
    seconds : float or None
        The longest that one call of a method may take. A method that takes longer is interrupted, and the replay ends with
        :class:`resched.PolicyViolation`. ``None``: no limit.
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
        """Prepare for a replay: make what the policy keeps, such as its queues. The parameters have their values by then."""

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
    """A scheduling policy for a Hadoop cluster. You must write :meth:`heartbeat`; override what else you need.

    Attributes
    ----------
    system : str
        What it schedules: ``"slots"`` of MapReduce 1, or containers of ``"yarn"``.
    period : int or None
        How often :meth:`tick` is called, ms; ``None``: never.
    oracle : bool
        Whether it is a reference that knows what no scheduler can.
    ramps_reduces : bool
        Whether it decides by itself when the reduces of a job may start.
    calculator : str or None
        Under YARN, the resources that it counts: ``"memory"``, or ``"dominant"``, which adds virtual cores; ``None``: as the cluster file
        says.
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

    def heartbeat(self, offer: HadoopOffer) -> None:
        """Answer the heartbeat of a node with a free slot: launch the tasks that it should run."""
        raise NotImplementedError

    def job_submitted(self, job: int, view: HadoopOffer) -> None:
        """Take note that a job has arrived."""

    def job_finished(self, job: int, view: HadoopOffer) -> None:
        """Take note that a job has succeeded or failed."""

    def task_waits(self, task: int, view: HadoopOffer) -> None:
        """Take note that a task waits again, after an attempt failed or was lost."""

    def task_started(self, started: Attempt, view: HadoopOffer) -> None:
        """Take note that an attempt was launched."""

    def task_finished(self, ended: AttemptEnded, view: HadoopOffer) -> None:
        """Take note of how an attempt ended."""

    def node_lost(self, node: int, view: HadoopOffer) -> None:
        """Take note that the master has given up a node."""

    def tick(self, view: HadoopOffer) -> None:
        """Do what is due every :attr:`period`; ``view.kill`` and ``view.report`` can be called here."""

    def tick_from(self, due: int) -> int:
        """Return the first multiple of :attr:`period`, at ``due`` or later, at which :meth:`tick` does anything, ms."""
        return due

    def skips_idle_ticks(self, view: HadoopOffer) -> bool:
        """Whether ticks may be left out while nothing happens: the last two changed nothing, and the next ones would do the same."""
        return False

    def restless(self, view: HadoopOffer) -> bool:
        """Whether the policy needs every heartbeat of a node with a free slot, even if no waiting task fits there."""
        return False

    def counts_heartbeats(self, view: HadoopOffer) -> bool:
        """Whether the policy needs every heartbeat of every node."""
        return False

    def declines(self, view: HadoopOffer) -> bool:
        """Whether all heartbeats would now come to nothing."""
        return False

    def container_changed(self, container: ContainerChanged, view: HadoopOffer) -> None:
        """Take note that the resource manager of YARN has learned that a container runs or has ended."""

    def headroom(self, job: int, view: HadoopOffer) -> int:
        """Return the memory that a job could still get, MB, as YARN reports it to its application master."""
        return view.free_in_all[1]

    def may_use(self, node: int, view: HadoopOffer) -> bool:
        """Whether a heartbeat of a node could change anything while containers are asked for."""
        return view.reservation(node) is not None or view.has_room(node)


class BatchPolicy(Policy):
    """A scheduling policy for production traces. Write :meth:`schedule`, or :meth:`decide` for a policy on arrays.

    Attributes
    ----------
    period : int or None
        How often :meth:`tick` is called while there are jobs, ms; ``None``: never.
    phase : int
        How long after each multiple of the period the tick comes, ms.
    draws : bool
        Whether other seeds (``view.seed``) lead to other decisions.
    window : int
        The most rows that :meth:`decide` gets.
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

    def schedule(self, offer: BatchOffer) -> None:
        """Start the tasks that should run; something has changed, and tasks wait."""
        raise NotImplementedError

    def decide(self, now: int, free: tuple[int, int], jobs: Waiting) -> Any:
        """Choose the rows of ``jobs`` to start: ``None``, a number of rows from the front, or an array of rows.

        Parameters
        ----------
        now : int
            The simulated clock, ms.
        free : tuple of int
            The free processor and memory of all machines.
        jobs : Waiting
            What waits, in order of submission: arrays that must not be kept.
        """
        raise NotImplementedError

    def job_submitted(self, job: int, view: BatchOffer) -> None:
        """Take note that a job has arrived."""

    def job_finished(self, job: int, view: BatchOffer) -> None:
        """Take note that all tasks of a job have ended."""

    def task_waits(self, task: int, view: BatchOffer) -> None:
        """Take note that units of a task wait."""

    def task_finished(self, ended: RunEnded, view: BatchOffer) -> None:
        """Take note of how an instance or a gang ended."""

    def nodes_changed(self, view: BatchOffer) -> None:
        """Take note that what the machines offer has changed."""

    def tick(self, view: BatchOffer) -> None:
        """Do what is due every :attr:`period`; ``view.report`` can be called here."""

    def skips_idle_ticks(self, view: BatchOffer) -> bool:
        """Whether ticks may be left out until something happens: the last one changed nothing, and the next ones would do the same."""
        return False

    def alarm(self) -> int | None:
        """When :meth:`schedule` is to be called although nothing happens, ms; ``None``: never."""
        return None
