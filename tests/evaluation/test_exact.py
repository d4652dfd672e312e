"""Exact Q-functions by kernels, against those of aapi.mdp."""

import numpy as np
import pytest
from experience import random_policies

from aapi.environments import deep_sea, ergodic, garnet, river_swim
from aapi.evaluation import batched_q_values, exact_q_values
from aapi.mdp import FiniteMDP, policy_values


@pytest.mark.parametrize(
    "mdp", [ergodic(6, 3), garnet(40, 3, 4), deep_sea(5), garnet(250, 3, 3), garnet(600, 2, 3)], ids=str
)
def test_gains_and_values(mdp):
    policies = random_policies(0, (3, mdp.num_states, mdp.num_actions), sharpness=3)
    gains, q_values, failed = batched_q_values(mdp, policies)
    assert not failed.any()
    for k, policy in enumerate(policies):
        exact = policy_values(mdp, policy)
        assert gains[k] == pytest.approx(exact.gains, abs=1e-9)
        assert q_values[k] == pytest.approx(exact.q_values, abs=1e-7 * np.abs(exact.q_values).max())


@pytest.mark.parametrize("size", [2, 300])
def test_policies_with_several_classes_take_more_care(size):
    """With action 0 a state is never left, with action 1 all lead on round a circle; a reward in state 0 alone."""
    transitions = np.zeros((size, 2, size))
    transitions[np.arange(size), 0, np.arange(size)] = 1.0
    transitions[np.arange(size), 1, (np.arange(size) + 1) % size] = 1.0
    rewards = np.zeros((size, 2))
    rewards[0] = 1.0
    stay, go = np.zeros((2, size, 2))
    stay[:, 0] = go[:, 1] = 1.0
    mdp = FiniteMDP(transitions, rewards)
    _, _, failed = batched_q_values(mdp, np.array([stay, go]))
    assert failed[0]
    gains, q_values = exact_q_values(mdp, np.array([stay, go, stay]))
    assert gains[0] == pytest.approx(np.eye(size)[0])
    assert gains[1] == pytest.approx(1.0 / size)
    assert (gains[2], q_values[2].tolist()) == (pytest.approx(gains[0]), q_values[0].tolist())


def test_values_that_are_too_large_are_left_out():
    mdp = river_swim(60)
    policy = np.zeros((1, 60, 2))
    policy[:, :, 1] = 1.0
    policy[0, ::2] = [0.5, 0.5]
    _, _, failed = batched_q_values(mdp, policy)
    gains, _ = exact_q_values(mdp, policy)
    assert gains[0] == pytest.approx(policy_values(mdp, policy[0]).gains, abs=1e-9)
    assert failed.shape == (1,)
