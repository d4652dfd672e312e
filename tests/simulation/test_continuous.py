import math

import gymnasium
import numpy as np
import pytest
from experience import rollout, uniform

from aapi.batch import simulator
from aapi.environments import cartpole
from aapi.features import Tiles
from aapi.kernels.random import streams

PROBLEM = cartpole()


def test_gymnasiums_own_cartpole_at_15_degrees_falls_as_soon_at_random():
    env = gymnasium.make("CartPole-v1").unwrapped
    env.theta_threshold_radians = math.radians(15.0)
    env.reset(seed=0)
    lengths, actions = [0], np.random.default_rng(0).integers(2, size=60_000).tolist()
    for action in actions:
        lengths[-1] += 1
        if env.step(action)[2]:
            env.reset()
            lengths.append(0)
    assert np.mean(lengths[:-1]) == pytest.approx(24.63, abs=0.9)  # three standard errors


def test_pushing_at_random_earns_about_minus_six_in_episodes_of_about_25_steps():
    # Two million steps give −6.16 and 24.63 steps.
    runs, steps = 20, 5000
    simulation = simulator(PROBLEM, Tiles(2, 3))(range(runs))
    data = rollout(simulation, uniform(simulation), steps)
    assert data.rewards.mean() == pytest.approx(-6.16, abs=0.2)
    ends = (data.rewards < 1.0).sum()
    assert runs * steps / ends == pytest.approx(24.63, abs=0.6)
    # After an end comes a fresh start, and its reward counts the steps of the episode.
    run, t = np.argwhere(data.rewards < 1.0)[0]
    assert run == 0
    assert data.rewards[run, t] == t + 1 - 200
    assert (abs(data.states[run, t + 1]) <= 0.05).all()


def test_an_episode_ends_after_200_steps_at_the_latest():
    state, stream = np.zeros(5), streams(0, [0])[0]
    state[4] = 198.0
    assert PROBLEM.step(state, 1, stream) == 1.0
    assert state[4] == 199.0
    assert PROBLEM.step(state, 0, stream) == 0.0
    assert state[4] == 0.0
    assert (abs(state[:4]) <= 0.05).all()
