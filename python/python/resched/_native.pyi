"""The native module. Use the names of the package instead."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import final

__all__ = [
    "__version__",
    "call",
    "main",
    "set_program",
    "metrics",
    "run_info",
    "runs_in",
    "trace_info",
    "read",
    "tables",
    "commands",
    "from_frames",
    "RawTable",
    "HadoopOffer",
    "BatchOffer",
    "Stepper",
    "Attempt",
    "AttemptEnded",
    "ContainerChanged",
    "RunEnded",
]

__version__: str

def call(args: Sequence[str | PathLike[str]], progress: Callable[[str, int, int], object] | None = None) -> tuple[str, str, list[str]]:
    """Carry out a command. Return what it printed, what people would read in place of JSON, and its messages."""

def main(args: Sequence[str]) -> int:
    """Run the command line with the arguments of a program, of which the first is its name. Return the exit status."""

def set_program(words: Sequence[str]) -> None:
    """Set the program and its first arguments that start resched again."""

def commands() -> str:
    """The commands of the command line with their arguments, as JSON."""

def from_frames(
    out: str | PathLike[str],
    name: str,
    system: str | None,
    dated: bool,
    force: bool,
    jobs: object,
    tasks: object | None,
    attempts: object | None,
    splits: object | None,
    nodes: object | None,
) -> tuple[str, list[str], int | None]:
    """Make a trace of data frames. Return its marker as JSON, what looks like a mistake in them, and their span in ms."""

def metrics(folders: Sequence[str | PathLike[str]], names: Sequence[str]) -> tuple[list[list[float | None]], list[str]]:
    """Metrics of runs, on the jobs that count in all of them: a list for each run, `None` where a metric is not known. Then their units."""

def run_info(folder: str | PathLike[str]) -> str:
    """The marker of a run as JSON."""

def runs_in(folder: str | PathLike[str]) -> list[PathLike[str]]:
    """The runs in a folder, in the order in which they were asked for."""

def trace_info(folder: str | PathLike[str]) -> str:
    """The marker of a trace as JSON."""

def read(folder: str | PathLike[str], table: str) -> RawTable:
    """Read a table of a trace or a run."""

def tables(folder: str | PathLike[str]) -> list[str]:
    """The names of the tables of a trace or a run."""

_Step = tuple[bool, int, list[bytes], tuple[int, int, float, int], tuple[int, str] | None]

@final
class Stepper:
    """A trace whose jobs an agent schedules, one decision at a time."""

    def __new__(cls, trace: str | PathLike[str], candidates: int, seed: int, assume: bool) -> Stepper:
        """Open a trace or a workload file for agents that see so many candidates."""
    @property
    def jobs(self) -> int:
        """How many jobs the trace has."""
    def reset(self, first: int, count: int) -> _Step:
        """Begin an episode of so many jobs from one on, and go to its first decision."""
    def step(self, action: int) -> _Step:
        """Start a candidate by its place, or wait if there is none at it, and go to the next decision."""
    def answer(self, action: int) -> None:
        """Answer a decision, and do not wait for the next one."""
    def next(self) -> _Step:
        """Wait for the next decision."""
    def reference(self, policy: str, first: int, count: int) -> str:
        """Replay so many jobs from one on under a policy. Return its summary as JSON."""
    def close(self) -> None:
        """End the episode."""

@final
class RawTable:
    """A table in memory."""

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
    def head(self, rows: int) -> list[list[str]]:
        """The first rows, as text for people."""
    def __len__(self) -> int:
        """The number of rows."""
    def __arrow_c_schema__(self) -> object:
        """Hand out the schema."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand out the table as a new stream."""
    def _addresses(self, column: str) -> list[list[int]]:
        """The addresses of the buffers of a column, one list for each batch: a test shows by them that nothing is copied."""

@final
class Attempt:
    """An attempt at a task, on a node."""

    @property
    def run(self) -> int:
        """Its number while it is on a node."""

    @property
    def task(self) -> int:
        """The number of its task."""

    @property
    def kind(self) -> str:
        """The kind of its task: `map` or `reduce`."""

    @property
    def attempt(self) -> int:
        """How many attempts at the task there were before."""

    @property
    def node(self) -> int:
        """The node where it runs."""

    @property
    def start(self) -> int:
        """When it was started, ms."""

    @property
    def backup(self) -> bool:
        """Whether the task was already running then."""

    @property
    def level(self) -> str:
        """How near to its input a map runs: `node`, `rack` or `off`."""

@final
class AttemptEnded:
    """How an attempt at a task ended."""

    @property
    def task(self) -> int:
        """The number of its task."""

    @property
    def job(self) -> int:
        """The number of its job."""

    @property
    def kind(self) -> str:
        """The kind of its task: `map` or `reduce`."""

    @property
    def attempt(self) -> int:
        """How many attempts at the task there were before."""

    @property
    def node(self) -> int:
        """The node where it ran."""

    @property
    def level(self) -> str:
        """How near to its input a map ran: `node`, `rack` or `off`."""

    @property
    def start(self) -> int:
        """When it was started, ms."""

    @property
    def finish(self) -> int:
        """When it ended, ms."""

    @property
    def outcome(self) -> str:
        """How the master counts its end: `SUCCESS`, `FAILED`, `KILLED` and the other words of ``docs/reference/tables.md``."""

    @property
    def output_bytes(self) -> int | None:
        """The bytes that a map wrote, if they are known."""

@final
class ContainerChanged:
    """A container of YARN that runs now, or has ended."""

    @property
    def job(self) -> int:
        """The number of its job."""

    @property
    def task(self) -> int | None:
        """The task that runs in it; `None` for the application master."""

    @property
    def kind(self) -> str | None:
        """The kind of that task: `map` or `reduce`; `None` for the application master."""

    @property
    def node(self) -> int:
        """The node where it is."""

    @property
    def size(self) -> tuple[int, int]:
        """Its virtual cores and memory, MB."""

    @property
    def state(self) -> str:
        """Its new state: `running` or `completed`."""

@final
class RunEnded:
    """How an instance or a gang of a task ended."""

    @property
    def run(self) -> int:
        """The number of the run. A later run may get the same number."""

    @property
    def task(self) -> int:
        """The number of its task."""

    @property
    def attempt(self) -> int:
        """How many tries of the task there were before."""

    @property
    def instances(self) -> int:
        """How many instances ran: 1, or those of a gang."""

    @property
    def node(self) -> int | None:
        """The machine; `None` for a gang on several."""

    @property
    def queued(self) -> int:
        """When it began to wait, ms."""

    @property
    def start(self) -> int:
        """When it was started, ms."""

    @property
    def finish(self) -> int:
        """When it ended, ms."""

    @property
    def outcome(self) -> str:
        """How it ended: `SUCCESS`, `FAILED`, `LOST`, `EVICTED` and the other words of ``docs/reference/tables.md``."""

@final
class HadoopOffer:
    """A Hadoop cluster during a replay, as a policy sees it: `view` in every method of a policy, and `offer` in `heartbeat`.

    Jobs, tasks, nodes and runs are whole numbers. Times are ms of the simulated clock. These words have a fixed meaning:

    `kind`
        `map` or `reduce`.
    `reach`
        How far from its input a map may run: `node`, `rack`, `any`, or `off-rack` (anywhere, but near maps are not tried first).
    `level`
        How near to its input a map runs: `node`, `rack` or `off`.
    `ask`
        A request for containers of YARN: `am` (the application master), `failed-map`, `reduce` or `map`. Resources of YARN are pairs of
        virtual cores and memory, MB.
    """

    # Clock and nodes
    @property
    def now(self) -> int:
        """The simulated clock, ms."""

    @property
    def version(self) -> int:
        """Grows with every change of the cluster that a policy could see. While it stays the same, only time has passed."""

    @property
    def heartbeat_interval(self) -> int:
        """The time between two heartbeats of a node, ms."""

    @property
    def nodes(self) -> list[int]:
        """The numbers of all nodes."""

    @property
    def node_count(self) -> int:
        """How many nodes there are, with those that the master has given up."""

    @property
    def live_nodes(self) -> int:
        """How many nodes the master has not given up."""

    @property
    def rack_count(self) -> int:
        """How many racks there are."""

    def is_live(self, node: int) -> bool:
        """Whether the master has not given up a node."""

    def rack(self, node: int) -> int:
        """The number of the rack of a node."""

    def slots(self, kind: str) -> int:
        """How many tasks of a kind fit side by side on all nodes that the master has not given up."""

    def node_slots(self, node: int, kind: str) -> int:
        """How many tasks of a kind fit side by side on a node."""

    def room(self, node: int, kind: str) -> int:
        """How many more tasks of a kind a node has room for."""

    def nodes_with_room(self, kind: str) -> int:
        """How many nodes have room for a task of a kind."""

    # Jobs
    @property
    def jobs(self) -> tuple[int, ...]:
        """The jobs that have arrived and not ended, in order of submission."""

    def next_ready(self, kind: str, after: int | None = None) -> int | None:
        """The first job after `after`, or of all, of which a task of a kind could be launched now; `None` if there is none."""

    def is_active(self, job: int) -> bool:
        """Whether a job has not ended."""

    def submit(self, job: int) -> int:
        """When a job was submitted, ms."""

    def user(self, job: int) -> str:
        """Who submitted a job."""

    def queue(self, job: int) -> str:
        """The queue that a job was submitted to."""

    def priority(self, job: int) -> str:
        """The priority of a job: `VERY_HIGH`, `HIGH`, `NORMAL`, `LOW` or `VERY_LOW`."""

    def desired(self, job: int, kind: str) -> int:
        """How many tasks of a kind a job has."""

    def ready(self, job: int, kind: str) -> int:
        """How many tasks of a kind of a job could be launched now. Reduces count only once they may start, and under YARN only tasks that
        are asked for.
        """

    def waiting(self, job: int, kind: str) -> int:
        """How many tasks of a kind of a job wait."""

    def running(self, job: int, kind: str) -> int:
        """How many attempts of a kind of a job run."""

    def backups(self, job: int, kind: str) -> int:
        """How many of these attempts are backups: their tasks were already running when they were launched."""

    def finished(self, job: int, kind: str) -> int:
        """How many tasks of a kind of a job are done."""

    def reduces_may_start(self, job: int) -> bool:
        """Whether enough maps of a job are done for its reduces to start."""

    def has_unplaced_maps(self, job: int) -> bool:
        """Whether a map of a job waits whose input has no known place."""

    # Tasks and attempts
    def tasks(self, job: int, kind: str) -> list[int]:
        """The tasks of a kind of a job."""

    def waiting_maps(self, job: int) -> list[int]:
        """The maps of a job that wait."""

    def job_of(self, task: int) -> int:
        """The job of a task."""

    def kind(self, task: int) -> str:
        """The kind of a task."""

    def waits(self, task: int) -> bool:
        """Whether a task is not done and does not run."""

    def input_bytes(self, task: int) -> int | None:
        """The bytes that a map reads, if they are known."""

    def replicas(self, task: int) -> list[int]:
        """The nodes that hold the input of a map; empty if no place is known."""

    def runs(self, job: int, kind: str) -> list[Attempt]:
        """The attempts of a job and a kind that are on nodes, in order of their tasks."""

    def progress(self, run: int) -> tuple[str, float, int]:
        """The progress of an attempt at the latest heartbeat of its node: the part of its work (`map`, `copy`, `sort` or `reduce`), the
        share of that part that is done, and when that was, ms.
        """

    # Sums over all jobs
    def all_ready(self, kind: str) -> int:
        """How many tasks of a kind could be launched now, over all jobs."""

    def all_remaining(self, kind: str) -> int:
        """How many tasks of a kind are unfinished, over all jobs. Reduces count only once they may start."""

    def all_running(self, kind: str) -> int:
        """How many attempts of a kind run, over all jobs."""

    def all_reported(self, kind: str) -> int:
        """How many attempts of a kind ran at the latest heartbeats of their nodes."""

    def desired_with_reduces(self, kind: str) -> int:
        """How many tasks of a kind the active jobs with reduces have."""

    # The offer of a node, in `heartbeat` only
    @property
    def node(self) -> int:
        """The node that sent the heartbeat."""

    def free(self, kind: str) -> int:
        """How many more tasks of a kind the node has room for."""

    def reported(self, kind: str) -> int:
        """How many attempts of a kind the node reported as running. Launches do not change this number."""

    def find_map(self, job: int, reach: str = "any") -> int | None:
        """The map of a job that the node should run, no farther from its input than `reach`; `None` if there is none."""

    def find_reduce(self, job: int) -> int | None:
        """The reduce of a job that the node should run; `None` if there is none."""

    def level(self, task: int) -> str:
        """How near to its input a map would run here: `node`, `rack` or `off`."""

    def launch(self, task: int) -> None:
        """Launch a task on the node. It must wait, be allowed to start, and fit."""

    def launch_map(self, job: int, reach: str = "any") -> str | None:
        """Find a map as `find_map` does and launch it. Return how near to its input it runs; `None` if there is none."""

    def launch_reduce(self, job: int) -> bool:
        """Find a reduce as `find_reduce` does and launch it. Return whether there was one."""

    def launch_backup(self, task: int) -> None:
        """Launch another attempt at a task that runs elsewhere. The first attempt to succeed wins, and the others are killed."""

    # Containers, under YARN only
    @property
    def total(self) -> tuple[int, int]:
        """The resources of all nodes that the master has not given up."""

    @property
    def free_in_all(self) -> tuple[int, int]:
        """The free resources of all nodes together."""

    @property
    def container_sizes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The sizes of the smallest and the largest container."""

    def demand(self, ask: str) -> tuple[int, int]:
        """The size of the container for a request."""

    def all_asked(self, ask: str) -> int:
        """How many requests `ask` of all jobs are outstanding."""

    def asked(self, job: int, ask: str) -> int:
        """How many requests `ask` of a job are outstanding."""

    def reserved(self, job: int, ask: str) -> int:
        """How many nodes are kept for requests `ask` of a job."""

    def master(self, job: int) -> str:
        """The state of the application master of a job: `waiting` for its container, `allocated`, `running` or `finished`."""

    def held(self, job: int) -> tuple[int, int]:
        """The resources of the containers of a job, with its application master's."""

    def locations(self, job: int) -> int:
        """How many hosts and racks the requests for maps of a job have ever named."""

    def placed_requests(self, job: int) -> int:
        """The sum of the outstanding requests of a job for maps on hosts and in racks."""

    def has_room(self, node: int) -> bool:
        """Whether a node has room for the smallest container."""

    def reservation(self, node: int) -> tuple[int, str] | None:
        """The job and the request for which a node is kept; `None`: it is not."""

    # The offer of a node under YARN, in `heartbeat` only
    def nearest(self, job: int, ask: str) -> str | None:
        """How near to its data the node could serve a request `ask` of a job: `node`, `rack` or `any`; `None` if it cannot."""

    def fits(self, ask: str) -> bool:
        """Whether a container for a request fits on the node."""

    def has_master(self, job: int) -> bool:
        """Whether the application master of a job runs. A backup needs one. On slots, every job has one."""

    def grant(self, job: int, ask: str, reach: str = "any") -> None:
        """Serve a request of a job with a container on the node. `reach` is how near it is to count as: what `nearest` says, or farther."""

    def reserve(self, job: int, ask: str) -> None:
        """Keep the node for a request of a job that does not fit now, until `unreserve` or the end of the job."""

    def unreserve(self) -> None:
        """Keep the node no longer."""

    # Kills and reports, in `tick` only
    def kill(self, run: int) -> None:
        """Kill a running attempt at the next heartbeat of its node; its task waits again."""

    def report(self, name: str, value: float, job: int | None = None) -> None:
        """Report a number about a job, or about all, to those who read the run. It changes nothing."""

    # Draws and reasons
    def random(self, purpose: str, *entity: int) -> float:
        """A random number from 0 up to 1. It follows from the seed of the replay, what it is for, and the numbers that identify the
        decision, such as a job and the instant.
        """

    @property
    def wants_reasons(self) -> bool:
        """Whether the run records why jobs are passed over (`decisions=True`)."""

    def pass_over(self, job: int, kind: str, reason: str, other: int | None = None) -> None:
        """Say why a job is passed over, for `explain`. `reason` is a word of ``docs/reference/tables.md#reasons``; with `reserve`, `other`
        is the job for which places are kept.
        """

    @property
    def view(self) -> HadoopOffer:
        """The view of the offer: the same object."""

@final
class BatchOffer:
    """The machines of a production trace during a replay, as a policy sees them: `view` in every method of a policy, `offer` in `schedule`.

    Jobs, tasks, machines and runs are whole numbers. Times are ms of the simulated clock. Resources are pairs of processor and memory:
    thousandths of a core and bytes, or thousandths of the units of the trace. A unit of a task is one instance, or the whole gang if its
    instances start together.
    """

    # Clock and machines
    @property
    def now(self) -> int:
        """The simulated clock, ms."""

    @property
    def trace_time(self) -> int:
        """Now on the clock of the trace, ms."""

    @property
    def total(self) -> tuple[int, int]:
        """The processor and memory of all machines."""

    @property
    def free(self) -> tuple[int, int]:
        """The free processor and memory of all machines."""

    @property
    def nodes(self) -> list[int]:
        """The numbers of all machines."""

    def node_name(self, node: int) -> str:
        """The name of a machine."""

    def offers(self, node: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """What a machine offers, and how much of that is free: pairs of processor and memory."""

    def free_of(self, node: int) -> tuple[int, int]:
        """The free processor and memory of a machine."""

    # Jobs
    def job_id(self, job: int) -> str:
        """The id of a job in the trace."""

    def user(self, job: int) -> str:
        """Who submitted a job; empty if it is not known."""

    def queue(self, job: int) -> str:
        """The queue that a job was submitted to; empty if it is not known."""

    def group(self, job: int) -> str:
        """The larger work that a job is a part of, such as a Spark application; empty if it is not known."""

    def priority(self, job: int) -> int:
        """The priority of a job; higher is served first."""

    def submit(self, job: int) -> int:
        """When a job was submitted, ms."""

    def requested_time(self, job: int) -> int | None:
        """The longest run time that was requested for a job, ms."""

    # Tasks
    @property
    def all_waiting(self) -> int:
        """How many units of all tasks wait."""

    def job_of(self, task: int) -> int:
        """The job of a task."""

    def unit(self, task: int) -> tuple[int, int]:
        """The processor and memory of a unit of a task: an instance, or a whole gang."""

    def units(self, task: int) -> int:
        """How many units a task has."""

    def is_gang(self, task: int) -> bool:
        """Whether the instances of a task start together."""

    def waiting(self, task: int) -> int:
        """How many units of a task wait."""

    def running(self, task: int) -> int:
        """How many units of a task run."""

    def estimate(self, task: int) -> int:
        """The estimated longest run time of the next start of a task, ms: what was requested for its job, or else the logged run time."""

    def preferred(self, task: int) -> list[int]:
        """The machines that a task prefers; empty if it does not matter where it runs."""

    # Starts and evictions, in `schedule` only
    def start(self, task: int, most: int | None = None) -> int:
        """Start up to `most` units of a task, as far as there is room. Return how many it started."""

    @property
    def latest(self) -> list[int]:
        """The runs that the latest `start` started."""

    def start_on(self, task: int, places: Sequence[tuple[int, int]]) -> int:
        """Start a unit of a task on these machines: pairs of a machine and the number of instances there. Return its run."""

    def evict(self, run: int, again: bool = True, keeps: bool | int | None = None, holds: int = 0) -> None:
        """End a run so that others get its machines, after it has held them for `holds` ms.

        Its task then waits `again`, or has ended for good. `keeps` says what is kept of its work: none, all (`True`), or what was done by
        the last checkpoint, of which there is one after so many ms of work.
        """

    # Reports, in `tick` only
    def report(self, name: str, value: float, job: int | None = None) -> None:
        """Report a number about a job, or about all, to those who read the run. It changes nothing."""

    # Draws and reasons
    @property
    def seed(self) -> int:
        """The seed of all draws."""

    def random(self, purpose: str, *entity: int) -> float:
        """A random number from 0 up to 1. It follows from the seed of the replay, what it is for, and the numbers that identify the
        decision, such as a task and the instant.
        """

    @property
    def wants_reasons(self) -> bool:
        """Whether the run records why jobs are passed over (`decisions=True`)."""

    def pass_over(self, task: int, reason: str, other: int | None = None) -> None:
        """Say why the job of a task is passed over, for `explain`. `reason` is a word of ``docs/reference/tables.md#reasons``; `other` is
        the job that it is about.
        """

    @property
    def view(self) -> BatchOffer:
        """The view of the offer: the same object."""
