"""Scheduling environments for reinforcement learning, of any trace or workload.

    env = resched.gym.SchedulingEnv("traces/sample-slurm/T", jobs=256, reward="mean_waiting", split="train")

A step is a decision: start one of the first ``candidates`` waiting tasks, or wait. An agent that waits is asked again when something
happens, after a minute at the latest.

The rewards of an episode add up to minus the metric that you choose. So use no discount (γ = 1) if the return is to be that metric.

An observation is a dictionary of arrays of ``float32`` from 0 to 1. Times and counts marked (log) are logarithms, as shares of those of
30 days and of a million units.

``jobs`` (candidates × 7)
    A row for each candidate: how long its job has waited (log), its waiting units (log), and the processor and the memory of a unit as
    shares of the cluster's. Then its estimated run time (log), the share of its units that run, and its place in the queue. A row of zeros
    stands for no candidate. The estimated run time is what its user requested. If the trace does not say that, it is the logged run time,
    which no scheduler knows.
``cluster`` (3)
    The free processor and the free memory as shares, and the time to the next estimated end (log).
``backlog`` (2)
    All waiting units (log), and their processor as a share of ten times the cluster's.
``action_mask`` (candidates + 1, ``int8``)
    Which actions are allowed: 1 or 0. The last action, to wait, always is.
"""

from __future__ import annotations

import json
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from . import _native
from ._call import text
from ._results import Source

__all__ = ["REWARDS", "SPLITS", "SchedulingEnv", "VectorSchedulingEnv"]

FEATURES = 7

REWARDS = {
    "mean_completion": "the mean time from arrival to end, ms",
    "mean_waiting": "the mean time from arrival to the first start, ms",
    "mean_slowdown": "the mean of completion by run time; jobs below 10 s count as 10 s long",
    "makespan": "the time from the first arrival to the last end, ms",
}
"""The metrics that an environment can reward, and what they mean."""

SPLITS = {"all": (0.0, 1.0), "train": (0.0, 0.6), "validation": (0.6, 0.8), "test": (0.8, 1.0)}
"""The parts of a trace: where each begins and ends, as shares of its jobs in order of submission."""

Observation = dict[str, NDArray[Any]]


class SchedulingEnv(gymnasium.Env[Observation, np.int64]):
    """An environment in which an agent schedules the jobs of a trace.

    Parameters
    ----------
    trace : path or Trace
        A trace, or a workload file.
    jobs : int, optional
        How many jobs an episode has, one after the other. Without it: all jobs of the part of the trace. The first job is drawn.
    candidates : int
        How many waiting tasks the agent sees: the first ones in order of submission.
    reward : str
        The metric: see :data:`REWARDS`.
    reward_scale : float
        A factor for all rewards.
    split : str
        The part of the trace: see :data:`SPLITS`. Before a part, there is a gap of ``jobs`` jobs, at most a quarter of the part.
    seed : int
        The seed with which a workload file is generated.
    assume : bool
        Whether sizes of machines that the trace does not give may be assumed.
    strict : bool
        Whether an action that is not allowed is an error. Otherwise the agent waits, and ``info["masked"]`` is true.

    Raises
    ------
    ValueError
        There is no such metric or part, or the part has fewer jobs than an episode.
    RequestError
        There is no such trace, or it does not say how large its machines are (``assume``).
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        trace: Source,
        *,
        jobs: int | None = None,
        candidates: int = 32,
        reward: str = "mean_completion",
        reward_scale: float = 1.0,
        split: str = "all",
        seed: int = 1,
        assume: bool = False,
        strict: bool = False,
    ) -> None:
        if reward not in REWARDS:
            raise ValueError(f"reward: expected one of {', '.join(REWARDS)}, found `{reward}`")
        if split not in SPLITS:
            raise ValueError(f"split: expected one of {', '.join(SPLITS)}, found `{split}`")
        self._made: dict[str, Any] = {"trace": text(trace), "jobs": jobs, "candidates": candidates, "reward": reward}
        self._made |= {"reward_scale": reward_scale, "split": split, "seed": seed, "assume": assume, "strict": strict}
        self._stepper = _native.Stepper(text(trace), candidates, seed, assume)
        self.candidates, self.reward, self.reward_scale, self.strict = candidates, reward, reward_scale, strict
        self.first, self.last = _part(self._stepper.jobs, split, jobs)
        self.jobs = self.last - self.first if jobs is None else jobs
        self.action_space: spaces.Discrete = spaces.Discrete(candidates + 1)
        self.observation_space = spaces.Dict(  # type: ignore[assignment]
            {
                "jobs": spaces.Box(0.0, 1.0, (candidates, FEATURES), np.float32),
                "cluster": spaces.Box(0.0, 1.0, (3,), np.float32),
                "backlog": spaces.Box(0.0, 1.0, (2,), np.float32),
                "action_mask": spaces.MultiBinary(candidates + 1),
            }
        )
        self._mask: NDArray[np.int8] = np.zeros(candidates + 1, np.int8)
        self._paid, self._start, self._count = 0.0, self.first, 0

    def __reduce__(self) -> tuple[Any, ...]:
        # The same environment, with no episode begun.
        return _remade, (self._made,)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode. Return the first observation, and a dictionary with ``start``, the number of its first job.

        Parameters
        ----------
        seed : int, optional
            The seed that decides where this episode and the next ones begin.
        options : dict, optional
            ``start``: the number of the first job, in order of submission. ``jobs``: how many jobs the episode has.
        """
        super().reset(seed=seed)
        options = options or {}
        count = int(options.get("jobs", self.jobs))
        latest = self.last - count
        if count < 1 or latest < self.first:
            raise ValueError(f"jobs: expected 1 to {self.last - self.first} in this part of the trace, found {count}")
        start = int(options["start"]) if "start" in options else int(self.np_random.integers(self.first, latest + 1))
        if not self.first <= start <= latest:
            raise ValueError(f"start: expected {self.first} to {latest}, which this part of the trace holds, found {start}")
        self._paid, self._start, self._count = 0.0, start, count
        observation, _, _, info = self._seen(self._stepper.reset(start, count))
        return observation, info | {"start": start}

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Start a candidate, or wait. Return observation, reward, whether the episode is over, ``False``, and a dictionary.

        The dictionary has ``action_mask``, ``now`` (the simulated clock, ms) and ``masked`` (whether the action was not allowed). At the
        end of an episode, it also has the metric under its name, ``left_waiting`` (how many units never start) and ``summary`` (metrics as
        those of ``replay``).

        Parameters
        ----------
        action : int
            The place of a candidate, from 0, or ``candidates`` to wait. Of the candidate, as many units start as there is room for.
        """
        masked = self._check(int(action))
        observation, reward, over, info = self._seen(self._stepper.step(int(action)))
        return observation, reward, over, False, info | {"masked": masked}

    def reference(self, policy: str) -> dict[str, Any]:
        """Replay the jobs of the episode under a policy of resched. Return its metrics, as those of ``summary`` at the end of an episode.

        So you see what is good in this episode: compare your agent with ``"fifo"`` and ``"easy"``.

        Parameters
        ----------
        policy : str
            A policy for production traces, such as ``"easy"`` or ``"easy:depth=50"``.

        Raises
        ------
        RuntimeError
            No episode has begun.
        RequestError
            There is no such policy.
        """
        if not self._count:
            raise RuntimeError("no episode has begun; call `reset`")
        summary: dict[str, Any] = json.loads(self._stepper.reference(policy, self._start, self._count))
        return summary

    def close(self) -> None:
        """End the episode."""
        self._stepper.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are allowed. MaskablePPO of sb3-contrib calls this method."""
        return self._mask.astype(bool)

    def _check(self, action: int) -> bool:
        masked = not (0 <= action <= self.candidates and self._mask[action])
        if masked and self.strict:
            raise ValueError(f"action {action} is not allowed; the mask of the observation says which are")
        return masked

    def _seen(self, step: _native._Step) -> tuple[Observation, float, bool, dict[str, Any]]:
        over, now, (jobs, cluster, backlog, mask), costs, end = step
        # Each step has arrays of its own, so that they can be kept.
        self._mask = np.frombuffer(mask, np.int8).copy()
        observation: Observation = {
            "jobs": np.frombuffer(jobs, np.float32).reshape(self.candidates, FEATURES).copy(),
            "cluster": np.frombuffer(cluster, np.float32).copy(),
            "backlog": np.frombuffer(backlog, np.float32).copy(),
            "action_mask": self._mask,
        }
        cost = float(costs[list(REWARDS).index(self.reward)])
        if self.reward != "makespan":
            cost /= self._count
        reward, self._paid = (self._paid - cost) * self.reward_scale, cost
        info: dict[str, Any] = {"action_mask": self._mask, "now": now}
        if end is not None:
            left, summary = end
            info |= {"left_waiting": left, "summary": json.loads(summary), self.reward: cost}
        return observation, reward, over, info


def _remade(made: dict[str, Any]) -> SchedulingEnv:
    return SchedulingEnv(made.pop("trace"), **made)


def _part(all_jobs: int, split: str, jobs: int | None) -> tuple[int, int]:
    """The jobs of a part of a trace, with a gap before it."""
    low, high = SPLITS[split]
    first, last = round(low * all_jobs), round(high * all_jobs)
    gap = min(jobs or 0, (last - first) // 4) if first > 0 else 0
    if last - first - gap < (jobs or 1):
        raise ValueError(f"jobs: the part `{split}` has {last - first - gap} of {all_jobs} jobs; ask for fewer, or for another part")
    return first + gap, last


class VectorSchedulingEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Several environments side by side, each on a thread of its own.

    Parameters
    ----------
    num_envs : int
        How many environments.
    trace : path or Trace
        A trace, or a workload file.
    **options
        The other parameters of :class:`SchedulingEnv`.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(self, num_envs: int, trace: Source, **options: Any) -> None:
        self.envs = [SchedulingEnv(trace, **options) for _ in range(num_envs)]
        self.num_envs = num_envs
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._over = [False] * num_envs

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in each environment. With one ``seed``, the environments get this seed and the next ones."""
        seeds = [None if seed is None else seed + place for place in range(self.num_envs)] if not isinstance(seed, list) else seed
        begun = [env.reset(seed=own, options=options) for env, own in zip(self.envs, seeds, strict=True)]
        self._over = [False] * self.num_envs
        return _stacked([own for own, _ in begun]), _joined([info for _, info in begun])

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take a step in each environment. An environment whose episode is over begins the next one instead."""
        masked = [False] * self.num_envs
        # All replays go on at once, and are waited for one after the other.
        for place, env in enumerate(self.envs):
            if not self._over[place]:
                masked[place] = env._check(int(actions[place]))
                env._stepper.answer(int(actions[place]))
        seen = []
        for place, env in enumerate(self.envs):
            if self._over[place]:
                observation, info = env.reset()
                seen.append((observation, 0.0, False, info))
            else:
                observation, reward, over, info = env._seen(env._stepper.next())
                seen.append((observation, reward, over, info | {"masked": masked[place]}))
        self._over = [over for _, _, over, _ in seen]
        return (
            _stacked([observation for observation, _, _, _ in seen]),
            np.array([reward for _, reward, _, _ in seen]),
            np.array(self._over),
            np.zeros(self.num_envs, bool),
            _joined([info for _, _, _, info in seen]),
        )

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are allowed, a row for each environment."""
        return np.stack([env.action_masks() for env in self.envs])

    def close_extras(self, **_: Any) -> None:
        """End all episodes."""
        for env in self.envs:
            env.close()


def _stacked(observations: list[Observation]) -> Observation:
    return {name: np.stack([own[name] for own in observations]) for name in observations[0]}


def _joined(infos: list[dict[str, Any]]) -> dict[str, Any]:
    """The infos of all: for each name an array of values, and one that says who has it, as Gymnasium has them."""
    joined: dict[str, Any] = {}
    for place, info in enumerate(infos):
        for name, value in info.items():
            kind: Any = object if isinstance(value, (dict, np.ndarray)) else type(value)
            values = joined.setdefault(name, np.zeros(len(infos), kind if kind in (bool, int, float) else object))
            values[place] = value
            joined.setdefault(f"_{name}", np.zeros(len(infos), bool))[place] = True
    return joined
