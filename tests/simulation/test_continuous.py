import math

import gymnasium
import numpy as np
import pytest

from aapi.environments import cartpole
from aapi.features import Fourier, Tiles
from aapi.simulation import ContinuousSimulation, LinearPolicy
from aapi.approximation.linear_policy import aligned_zeros, draw_action
from aapi.kernels.random import streams

PROBLEM = cartpole()
GRID = np.array([10**9])
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
    rooms.append(np.empty(policy.differences.shape[2]))
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
    basis = BASES["tiles"]
    runs, steps = 20, 5000
    simulation = ContinuousSimulation(PROBLEM, basis, 0, range(runs), GRID)
    uniform = LinearPolicy(
        np.zeros((runs, 2, basis.num_features)), np.zeros(runs), aligned_zeros(runs, basis.num_features, 0), False
    )
    data = simulation.rollout(uniform, steps)
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


def test_the_temperature_neither_overflows_nor_vanishes():
    basis = BASES["fourier"]
    plain = random_policy(basis)
    observation = np.full((1, 1, 4), 0.1)
    for power in (-900, 900):
        scaled = LinearPolicy(plain.index * 2.0**power, plain.constant, plain.differences * 2.0**power, False)
        assert (scaled.probabilities(basis, observation) == plain.probabilities(basis, observation)).all()
