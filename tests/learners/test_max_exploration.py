"""Bounds on how many steps may be explorations."""

import gymnasium
import numpy as np
import pytest
from commands import run

import aapi
from aapi.environments import deep_sea, river_swim
from aapi.errors import InvalidInput
from aapi.exploration import Discovery, UniformShare
from aapi.learners import Exploring


def explored_so_far(algorithm, env, steps, seed=0):
    """The number of steps taken and of those explored, after each stretch."""
    agent = aapi.Agent(algorithm, env, seed=seed)
    found = []
    for _ in range(steps // 40):
        agent.learn(40)
        found.append((agent.num_steps, agent.explored_steps))
    return np.array(found), agent


@pytest.mark.parametrize("share", [0.02, 0.2])
@pytest.mark.parametrize("copies", [1, 3])
def test_at_no_time_is_more_explored_than_the_share(share, copies):
    def make():
        return gymnasium.make("aapi/DeepSea-v0", size=8)

    env = make() if copies == 1 else gymnasium.vector.SyncVectorEnv([make] * copies)
    found, agent = explored_so_far(aapi.AAPI(max_exploration=share), env, 6000)
    assert (found[:, 1] <= share * found[:, 0]).all()
    assert agent.explored_steps > 0.5 * share * agent.num_steps
    assert agent.explored_cost >= 0.0
    assert aapi.Agent(aapi.AAPI(), env).learn(6000).explored_steps > agent.explored_steps


@pytest.mark.parametrize(("most", "least"), [(300, 290), (0, 0)])
def test_a_number_of_steps_is_not_exceeded(most, least):
    _, agent = explored_so_far(aapi.AAPI(max_exploration=most), gymnasium.make("aapi/DeepSea-v0", size=8), 6000)
    assert least <= agent.explored_steps <= most


def test_runs_side_by_side_are_bounded_each():
    learner = Exploring(
        aapi.GreedyAPI(phase_length=200, evaluate=aapi.evaluation.MonteCarlo(horizon=20)), (UniformShare(0.5),)
    )
    free = aapi.run(learner, river_swim(), num_steps=8000, num_runs=3)
    bounded = aapi.run(Exploring(learner.learner, (UniformShare(0.5),), 0.1), river_swim(), num_steps=8000, num_runs=3)
    assert (bounded.explored <= 800).all()
    assert (free.explored > 1200).all()
    assert bounded.explored.min() > 500


def test_no_bound_changes_no_bit():
    results = [aapi.run(aapi.AAPI(max_exploration=most), deep_sea(5), 4000, 2) for most in (None, 1e9)]
    assert results[0].rewards.tobytes() == results[1].rewards.tobytes()


@pytest.mark.parametrize("most", [-0.1, 2.5, float("nan")])
def test_wrong_bounds_are_said(most):
    with pytest.raises(InvalidInput, match="max_exploration"):
        Exploring(aapi.AAPI(exploration=()), (Discovery(),), most).check()


def test_the_commands_take_a_bound(capsys):
    status, out, _ = run(capsys, "run", "deep-sea", "--size", "5", "--steps", "3000", "--max-exploration", "0.05")
    assert status == 0
    assert "explored" in out
    status, _, err = run(capsys, "train", "CartPole-v1", "--steps", "300", "--max-exploration", "0.05")
    assert status == 2
    assert "vectors" in err
    status, _, err = run(capsys, "run", "deep-sea", "--algorithm", "psrl", "--max-exploration", "0.05")
    assert status == 2
    assert "psrl has none" in err
