"""Learn a scheduler: a linear rule that chooses the next job, found by an evolution strategy with NumPy only.

    python examples/learn.py            # two minutes on two cores
    python examples/learn.py --quick    # a few seconds, to see that it works

It learns on 6 workloads and is measured on 20 others, beside FIFO, shortest job first, and EASY backfilling. The intervals are of the mean
of the paired differences, by Student's t.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars
import resched
from resched.gym import FEATURES, SchedulingEnv

JOBS, PROCESSORS = 150, 64


def workload(seed: int, folder: Path) -> resched.Trace:
    """Jobs of a machine with 64 processors: mostly small and short, some wide and long; users ask for more time than they need."""
    rng = np.random.default_rng(seed)
    submit = np.cumsum(rng.exponential(45_000, JOBS)).astype(int)
    width = np.minimum(2 ** rng.integers(0, 6, JOBS), PROCESSORS)
    run = np.clip(rng.lognormal(math.log(120_000), 1.3, JOBS), 5_000, 7_200_000).astype(int)
    asked = (run * rng.uniform(1.1, 4.0, JOBS)).astype(int)
    ids = [f"job_{number:04}" for number in range(JOBS)]
    jobs = polars.DataFrame({"job_id": ids, "submit": submit, "requested_time": asked})
    tasks = polars.DataFrame(
        {"job_id": ids, "task_id": ids, "instances": width, "gang": [True] * JOBS, "cpu_request": [1_000] * JOBS}
    )
    attempts = polars.DataFrame({"job_id": ids, "task_id": ids, "start": submit, "finish": submit + run})
    node = polars.DataFrame({"host": ["machine"], "cpu": [PROCESSORS * 1_000], "memory": [1 << 40]})
    return resched.from_frames(jobs, tasks, attempts, nodes=node, out=folder / f"T{seed}", system="batch")


def play(env: SchedulingEnv, choose) -> float:
    """Play an episode. Return the mean waiting time, s."""
    observation, _ = env.reset(options={"start": 0})
    over, total = False, 0.0
    while not over:
        observation, reward, over, _, _ = env.step(choose(observation))
        total -= reward
    return total / 1_000


def fifo(observation) -> int:
    """The first job, or wait for it."""
    return 0 if observation["action_mask"][0] else len(observation["action_mask"]) - 1


def shortest(observation) -> int:
    """The job that asks for the least time, of those that fit."""
    allowed = observation["action_mask"][:-1].astype(bool)
    return int(np.argmin(np.where(allowed, observation["jobs"][:, 4], np.inf)))


def scorer(weights):
    """The job with the highest score, of those that fit; or wait, if that has a higher one."""

    def choose(observation) -> int:
        allowed = observation["action_mask"][:-1].astype(bool)
        scores = np.where(allowed, observation["jobs"] @ weights[:FEATURES], -np.inf)
        best = int(np.argmax(scores))
        waits = weights[FEATURES] + weights[FEATURES + 1] * observation["cluster"][0]
        return best if scores[best] > waits else len(allowed)

    return choose


def learn(envs: list[SchedulingEnv], rounds: int, pairs: int) -> np.ndarray:
    """Search for weights by antithetic pairs of steps, on all workloads."""
    rng = np.random.default_rng(0)
    # It begins as FIFO that skips what does not fit: whoever stands first scores most, and waiting scores least.
    mean = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, -3.0, 0.0])
    width = 0.5
    base = np.array([play(env, scorer(mean)) for env in envs])

    def cost(weights) -> float:
        return float(np.mean([play(env, scorer(weights)) / usual for env, usual in zip(envs, base)]))

    for _ in range(rounds):
        steps = rng.standard_normal((pairs, mean.size))
        costs = np.array([[cost(mean + width * step), cost(mean - width * step)] for step in steps])
        ranks = costs.ravel().argsort().argsort().reshape(costs.shape) / (costs.size - 1) - 0.5
        mean = mean - 1.2 * width * ((ranks[:, 0] - ranks[:, 1]) @ steps) / pairs * 2
        width *= 0.93
    return mean


def interval(differences: np.ndarray) -> tuple[float, float, float]:
    """The mean of paired differences, and its 95 % interval (Student's t for 20 pairs; close enough for 4)."""
    t = {4: 3.182, 20: 2.093}[differences.size]
    half = t * differences.std(ddof=1) / math.sqrt(differences.size)
    return differences.mean(), differences.mean() - half, differences.mean() + half


def main() -> None:
    """Learn, then measure on workloads that were not seen."""
    quick = "--quick" in sys.argv
    learned_on, held_out = (2, 4) if quick else (6, 20)
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        envs = [SchedulingEnv(workload(seed, folder), reward="mean_waiting") for seed in range(learned_on)]
        weights = learn(envs, *((2, 3) if quick else (14, 8)))
        names = ["waited", "units", "processor", "memory", "estimate", "running", "place", "wait", "wait × free"]
        print("weights:", ", ".join(f"{name} {weight:+.2f}" for name, weight in zip(names, weights)))
        found: dict[str, list[float]] = {"FIFO": [], "shortest job first": [], "EASY": [], "learned": []}
        for seed in range(1_000, 1_000 + held_out):
            trace = workload(seed, folder)
            env = SchedulingEnv(trace, reward="mean_waiting")
            found["FIFO"].append(play(env, fifo))
            found["shortest job first"].append(play(env, shortest))
            found["learned"].append(play(env, scorer(weights)))
            easy = resched.replay(trace, policy="easy", robust="off", progress=False)[0]
            found["EASY"].append(easy.summary["mean_waiting_ms"] / 1_000)
    learned = np.array(found["learned"])
    print(f"mean waiting on {held_out} workloads that were not learned on: learned {learned.mean():.1f} s")
    for name in ("FIFO", "EASY", "shortest job first"):
        other = np.array(found[name])
        mean, low, high = interval(learned - other)
        print(f"  against {name} ({other.mean():.1f} s): {mean:+.1f} s, 95 % interval {low:+.1f} to {high:+.1f} s")


if __name__ == "__main__":
    main()
