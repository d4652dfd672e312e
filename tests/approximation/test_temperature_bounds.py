import math

import numpy as np
import pytest
from approximation.test_linear_policy import PROBLEM, random_policy

from aapi.approximation.linear_policy import draw_action
from aapi.approximation.temperature_bounds import bound_root_sum, empty_rounded, round_differences
from aapi.features import Fourier, Radial
from aapi.kernels.random import streams

BASES = {
    "fourier": Fourier(3).basis(PROBLEM.low, PROBLEM.high),
    "radial": Radial(50).basis(PROBLEM.low, PROBLEM.high),
}


def some_observations(count, seed=1):
    return np.random.default_rng(seed).uniform(PROBLEM.low, PROBLEM.high, (count, 4))


def bounds(policy, basis, observations):
    features, actions = basis(observations), policy.index.shape[1]
    differences = policy.differences[0]
    rounded, products = empty_rounded(*differences.shape), np.empty(differences.shape[1])
    round_differences(differences, rounded)
    work = np.empty(basis.num_features)
    return np.array([bound_root_sum(row, rounded, actions, policy.span, products, work) for row in features]).T


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("arguments", [{}, {"span": True}, {"actions": 5}, {"differences": 30}])
@pytest.mark.parametrize("power", [0, -120, 120])
def test_the_temperature_lies_between_its_bounds_which_are_close(basis, arguments, power):
    policy = random_policy(basis, **arguments)
    policy.differences[:] *= 2.0**power
    observations = some_observations(200)
    exact = policy.temperature(basis, observations[None])[0]
    low, high = bounds(policy, basis, observations)
    assert (low < exact).all()
    assert (exact < high).all()
    assert np.median((high - low) / exact) < 0.1


@pytest.mark.parametrize("power", [-900, -400, 400, 900])
def test_weights_whose_squares_are_no_numbers_have_no_bounds(power):
    basis = BASES["fourier"]
    policy = random_policy(basis)
    policy.differences[:] *= 2.0**power
    low, high = bounds(policy, basis, some_observations(3))
    assert (low == -math.inf).all()
    assert (high == math.inf).all()


def test_features_of_any_size_have_bounds_unless_they_are_no_numbers():
    basis, observations = BASES["fourier"], np.zeros((4, 4))
    observations[1:, 1] = 1e50, math.nan, math.inf
    policy = random_policy(basis)
    low, high = bounds(policy, basis, observations)
    assert np.isfinite(low).tolist() == np.isfinite(high).tolist() == [True, True, False, False]
    exact = policy.temperature(basis, observations[None, :2])[0]
    assert (low[:2] < exact).all()
    assert (exact < high[:2]).all()


def drawn(policy, basis, observations, rounded):
    actions = policy.index.shape[1]
    rooms = [np.empty(basis.num_features), np.empty(basis.num_features), np.empty(actions)]
    rooms += [np.empty(policy.differences.shape[2]), rounded]
    stream = streams(5, [0])[0]
    weights = policy.index[0], policy.constant[0], policy.differences[0], policy.span
    return [draw_action(basis, *weights, stream, *rooms, observation) for observation in observations]


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("arguments", [{}, {"span": True}, {"actions": 3}, {"constant": 2.0}, {"differences": 30}])
def test_bounds_change_no_action(basis, arguments):
    policy, observations = random_policy(basis, **arguments), some_observations(5000)
    exact = drawn(policy, basis, observations, None)
    assert min(np.bincount(exact)) > 50
    assert drawn(policy, basis, observations, empty_rounded(0, 0)) == exact
    assert drawn(policy, basis, observations, empty_rounded(*policy.differences.shape[1:])) == exact
