import math

import numpy as np
import pytest

from aapi.approximation import LinearPolicy
from aapi.approximation.linear_policy import draw_action
from aapi.approximation.temperature_bounds import empty_rounded
from aapi.environments import cartpole
from aapi.features import Fourier, Tiles
from aapi.kernels.linalg import aligned_zeros
from aapi.kernels.random import streams

PROBLEM = cartpole()
BASES = {
    "fourier": Fourier(2).basis(PROBLEM.low, PROBLEM.high),
    "tiles": Tiles(2, 3).basis(PROBLEM.low, PROBLEM.high),
}


def random_policy(basis, *, span=False, differences=3, actions=2, runs=1, constant=0.0, seed=0):
    random = np.random.default_rng(seed)
    index = random.standard_normal((runs, actions, basis.num_features))
    room = aligned_zeros(runs, basis.num_features, differences * actions)
    rows = differences * actions
    room[:, :, :rows] = 0.3 * random.standard_normal((runs, basis.num_features, rows))
    return LinearPolicy(index, np.full(runs, constant), room, span)


def expected(policy, basis, observation):
    """Probabilities and temperature in plain NumPy."""
    psi, actions = basis(observation), policy.index.shape[1]
    products = psi @ policy.differences[0]
    norms = []
    for s in range(policy.differences.shape[2] // actions):
        of = products[s * actions : (s + 1) * actions]
        norms.append((of.max() - of.min()) / 2 if policy.span else abs(of).max())
    heat = policy.constant[0] + math.sqrt(sum(norm**2 for norm in norms))
    scores = policy.index[0] @ psi
    if heat == 0.0:
        return (scores == scores.max()) / (scores == scores.max()).sum(), heat
    weights = np.exp((scores - scores.max()) / heat)
    return weights / weights.sum(), heat


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("arguments", [{}, {"span": True}, {"actions": 5}, {"differences": 0, "constant": 3.0}])
def test_probabilities_and_temperatures_of_a_linear_policy(basis, arguments):
    policy = random_policy(basis, **arguments)
    observations = np.random.default_rng(1).uniform(PROBLEM.low, PROBLEM.high, (30, 4))
    probabilities = policy.probabilities(basis, observations[None])[0]
    temperature = policy.temperature(basis, observations[None])[0]
    for t, observation in enumerate(observations):
        wanted, heat = expected(policy, basis, observation)
        assert probabilities[t] == pytest.approx(wanted, abs=1e-12)
        assert temperature[t] == pytest.approx(heat, rel=1e-12)


@pytest.mark.parametrize("actions", [2, 3, 6])
def test_actions_are_drawn_with_their_probabilities_though_half_are_drawn_without_a_temperature(actions):
    basis, draws = BASES["fourier"], 40_000
    policy = random_policy(basis, actions=actions, seed=actions)
    observation = np.array([0.3, -0.2, 0.05, 0.4])
    rooms = [np.empty(basis.num_features), np.empty(basis.num_features), np.empty(actions)]
    rooms += [np.empty(policy.differences.shape[2]), empty_rounded(*policy.differences.shape[1:])]
    stream = streams(5, [0])[0]
    drawn = [
        draw_action(basis, policy.index[0], 0.0, policy.differences[0], False, stream, *rooms, observation)
        for _ in range(draws)
    ]
    wanted = policy.probabilities(basis, observation[None, None])[0, 0]
    assert min(wanted) > 0.005  # else there is nothing to see
    shares = np.bincount(drawn, minlength=actions) / draws
    assert abs(shares - wanted).max() < 4.0 / math.sqrt(draws) * 0.5


def test_a_policy_without_an_index_is_uniform_and_at_temperature_zero_ties_share():
    basis = BASES["fourier"]
    size = basis.num_features
    blank = LinearPolicy(np.zeros((1, 2, size)), np.zeros(1), aligned_zeros(1, size, 0), False)
    assert blank.probabilities(basis, np.zeros((1, 1, 4))).tolist() == [[[0.5, 0.5]]]
    greedy = random_policy(basis).greedy()
    assert sorted(greedy.probabilities(basis, np.full((1, 1, 4), 0.1))[0, 0]) == [0.0, 1.0]


def test_the_temperature_neither_overflows_nor_vanishes():
    basis = BASES["fourier"]
    plain = random_policy(basis)
    observation = np.full((1, 1, 4), 0.1)
    for power in (-900, 900):
        scaled = LinearPolicy(plain.index * 2.0**power, plain.constant, plain.differences * 2.0**power, False)
        assert (scaled.probabilities(basis, observation) == plain.probabilities(basis, observation)).all()
