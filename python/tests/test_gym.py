"""The environments for reinforcement learning."""

from __future__ import annotations

import gc
import pickle
import threading
import warnings

import numpy as np
import pytest
import resched

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402
from resched.gym import REWARDS, SchedulingEnv, VectorSchedulingEnv  # noqa: E402


def fifo(observation):
    """The first candidate that may start; else wait."""
    return int(np.argmax(observation["action_mask"]))


def played(env, choose=fifo, **options):
    """Play an episode. Return the sum of its rewards and the last info."""
    observation, info = env.reset(**options)
    total, over = 0.0, False
    while not over:
        observation, reward, over, truncated, info = env.step(choose(observation))
        assert not truncated
        total += reward
    return total, info


@pytest.mark.parametrize("jobs", [None, 30])
def test_gymnasiums_own_checker_passes(swf, jobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*not within the observation space.*render.*")
        check_env(SchedulingEnv(swf, jobs=jobs), skip_render_check=True)


@pytest.mark.parametrize("reward", REWARDS)
def test_the_sum_of_the_rewards_is_the_metric(swf, reward):
    total, info = played(SchedulingEnv(swf, reward=reward))
    assert total == pytest.approx(-info[reward], abs=1e-6)
    found = {"mean_completion": "mean_completion_ms", "mean_waiting": "mean_waiting_ms", "makespan": "makespan_ms"}
    if reward in found:
        assert -total == pytest.approx(info["summary"][found[reward]], rel=1e-9)


def test_fifo_by_steps_is_fifo_of_the_registry(swf):
    # Waiting for the first job that does not fit is FIFO; taking the first that fits is FIFO with `skip`.
    def strict(observation):
        return 0 if observation["action_mask"][0] else len(observation["action_mask"]) - 1

    _, info = played(SchedulingEnv(swf), strict)
    run = resched.replay(swf, policy="fifo", robust="off")[0]
    for name in ("mean_completion_ms", "p95_completion_ms", "mean_waiting_ms", "makespan_ms"):
        assert info["summary"][name] == run.summary[name]


def test_a_reference_is_a_replay_of_the_jobs_of_the_episode(swf):
    env = SchedulingEnv(swf, jobs=30)
    with pytest.raises(RuntimeError, match="call `reset`"):
        env.reference("fifo")

    def strict(observation):
        return 0 if observation["action_mask"][0] else len(observation["action_mask"]) - 1

    _, info = played(env, strict, seed=3)

    def metrics(summary):
        return {name: value for name, value in summary.items() if name not in ("policy", "params")}

    assert metrics(env.reference("fifo")) == metrics(info["summary"])
    assert env.reference("easy")["mean_waiting_ms"] <= info["summary"]["mean_waiting_ms"]
    with pytest.raises(resched.RequestError, match="did you mean `easy`"):
        env.reference("eas")


def test_the_same_seed_gives_the_same_bytes(swf):
    def seen(env, seed):
        observation, info = env.reset(seed=seed)
        found = [info["start"]]
        for _ in range(50):
            observation, reward, over, _, _ = env.step(fifo(observation))
            found += [reward, *(array.tobytes() for array in observation.values())]
            if over:
                break
        return found

    one, other = SchedulingEnv(swf, jobs=40), pickle.loads(pickle.dumps(SchedulingEnv(swf, jobs=40)))
    assert seen(one, 7) == seen(other, 7)
    assert seen(one, 7)[0] != seen(one, 8)[0]


def test_an_action_that_is_not_allowed_waits_or_is_an_error(swf):
    env = SchedulingEnv(swf)
    observation, _ = env.reset(seed=1)
    masked = int(np.argmin(observation["action_mask"]))
    assert not env.action_masks()[masked]
    assert env.step(masked)[4]["masked"]
    env = SchedulingEnv(swf, strict=True)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="not allowed"):
        env.step(masked)


def test_parts_of_a_trace_are_not_mixed(swf):
    train, test = SchedulingEnv(swf, jobs=20, split="train"), SchedulingEnv(swf, jobs=20, split="test")
    assert train.last + 20 <= test.first + 80
    assert train.last < test.first
    with pytest.raises(ValueError, match="start: expected"):
        test.reset(options={"start": 0})
    with pytest.raises(ValueError, match="jobs: the part"):
        SchedulingEnv(swf, jobs=399, split="test")


def test_a_vector_is_its_environments_side_by_side(swf):
    vector = VectorSchedulingEnv(3, swf, jobs=25)
    envs = [SchedulingEnv(swf, jobs=25) for _ in range(3)]
    seen, _ = vector.reset(seed=5)
    alone = [env.reset(seed=5 + place)[0] for place, env in enumerate(envs)]
    over = [False] * 3
    for _ in range(80):
        for place in range(3):
            for name in alone[place]:
                assert np.array_equal(seen[name][place], alone[place][name])
        actions = np.array([fifo(own) for own in alone])
        seen, rewards, terminated, truncated, _ = vector.step(actions)
        for place, env in enumerate(envs):
            if over[place]:
                alone[place], _ = env.reset()
                over[place] = False
                assert rewards[place] == 0
            else:
                alone[place], reward, over[place], _, _ = env.step(actions[place])
                assert rewards[place] == reward
        assert list(terminated) == over
        assert not truncated.any()
    vector.close()


def test_an_episode_that_is_dropped_ends_its_thread(swf):
    def threads():
        with open("/proc/self/status", encoding="utf-8") as file:
            return int(next(line.split()[1] for line in file if line.startswith("Threads")))

    before = threads()
    for _ in range(5):
        env = SchedulingEnv(swf)
        env.reset()
        env.step(0)
        del env
    gc.collect()
    for _ in range(100):
        if threads() <= before:
            break
        threading.Event().wait(0.05)
    assert threads() <= before


def test_a_step_without_an_episode_says_so(swf):
    env = SchedulingEnv(swf)
    with pytest.raises(RuntimeError, match="no episode has begun"):
        env._stepper.step(0)
    played(env)
    with pytest.raises(RuntimeError, match="over"):
        env._stepper.step(0)


@pytest.mark.parametrize(("option", "value"), [("reward", "speed"), ("split", "half"), ("candidates", 0)])
def test_wrong_options_are_named(swf, option, value):
    with pytest.raises(ValueError, match=f"{option}: expected"):
        SchedulingEnv(swf, **{option: value})
