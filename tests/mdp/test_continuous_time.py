"""Continuous time: closed forms of queues, a simulation with clocks, and bad input."""

import math

import numpy as np
import pytest

from aapi.errors import InvalidInput
from aapi.mdp import CTMDP, SMDP, solve


def birth_and_death(births, deaths, reward_rates, **more):
    """One action; births[i] from i to i + 1, deaths[i] from i to i − 1."""
    size = len(births)
    rates = np.zeros((size, 1, size))
    for i in range(size - 1):
        rates[i, 0, i + 1], rates[i + 1, 0, i] = births[i], deaths[i + 1]
    return CTMDP(rates, np.asarray(reward_rates, dtype=float)[:, None], **more)


@pytest.mark.parametrize("rate", [None, 7.0])
def test_mean_number_in_a_queue_with_room(rate):
    load, room = 0.8, 9  # M/M/1/N
    model = birth_and_death([1.6] * (room + 1), [2.0] * (room + 1), -np.arange(room + 1))
    weights = load ** np.arange(room + 1)
    expected = -(weights @ np.arange(room + 1)) / weights.sum()
    assert solve(model.to_model(rate)).gain == pytest.approx(expected, rel=1e-12)


def test_erlang_loss():
    servers, arrivals, service = 6, 5.0, 1.5  # M/M/c/c: a customer who finds all busy is lost, and costs 1
    load = arrivals / service
    lost = load**servers / math.factorial(servers) / sum(load**k / math.factorial(k) for k in range(servers + 1))
    size = servers + 1
    rates, lumps = np.zeros((size, 1, size)), np.zeros((size, 1, size))
    for busy in range(size):
        rates[busy, 0, min(busy + 1, servers)] += arrivals
        if busy:
            rates[busy, 0, busy - 1] = busy * service
    lumps[servers, 0, servers] = -1.0
    model = CTMDP(rates, np.zeros((size, 1)), lump_rewards=lumps)
    assert model.fastest == max(arrivals, 6 * service, arrivals + 5 * service)
    assert solve(model.to_model()).gain == pytest.approx(-arrivals * lost, rel=1e-12)


def random_smdp(seed=3):
    rng = np.random.default_rng(seed)
    shape = (5, 3)
    return rng.dirichlet(np.ones(5), shape), rng.normal(size=shape), rng.uniform(0.2, 3.0, shape)


def clocks(transitions, rewards, times, policy, rng, jumps=60_000, batches=30):
    """The reward per unit of time, stays drawn from gamma distributions, and its standard error over batches."""
    x, ratios = 0, np.zeros((batches, 2))
    for i in range(jumps):
        a = policy[x]
        ratios[i * batches // jumps] += rewards[x, a], rng.gamma(2.0, times[x, a] / 2.0)
        x = rng.choice(len(policy), p=transitions[x, a])
    means = ratios[:, 0] / ratios[:, 1]
    return ratios[:, 0].sum() / ratios[:, 1].sum(), means.std(ddof=1) / math.sqrt(batches)


def test_semi_markov_agrees_with_clocks():
    given = random_smdp()
    solution = solve(SMDP(*given).to_model())
    mean, error = clocks(*given, solution.policy, np.random.default_rng(0))
    assert error < 0.02
    assert solution.gain == pytest.approx(mean, abs=3.0 * error)
    assert solve(SMDP(*given).to_model(0.1)).gain == pytest.approx(solution.gain, rel=1e-9)


def test_rates_are_exponential_stays():
    transitions, rewards, times = random_smdp()
    transitions[:, :, :] *= 1.0 - np.eye(5)[:, None, :]
    transitions /= transitions.sum(axis=2, keepdims=True)
    by_rates = CTMDP(transitions / times[:, :, None], rewards / times)
    assert solve(by_rates.to_model()).gain == pytest.approx(solve(SMDP(transitions, rewards, times).to_model()).gain)


def test_an_action_that_does_not_exist_is_not_taken():
    transitions, rewards, times = random_smdp()
    allowed = np.ones((5, 3), dtype=bool)
    allowed[:, 2] = False
    rewards[:, 2] = 1e6  # would be best by far
    transitions[:, 2] = 0.0  # and need not even be a distribution
    few = SMDP(transitions[:, :2], rewards[:, :2], times[:, :2])
    assert solve(SMDP(transitions, rewards, times, allowed=allowed).to_model()).gain == pytest.approx(
        solve(few.to_model()).gain
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CTMDP(-np.ones((2, 1, 2)), np.zeros((2, 1))), "rates must be finite numbers at least 0, not -1.0"),
        (lambda: CTMDP(np.ones((2, 1, 3)), np.zeros((2, 1))), r"rates must have the shape \(2, 1, 2\)"),
        (lambda: CTMDP(np.ones((2, 1, 2)), [0.0]), r"reward_rates must have the shape \(states, actions\)"),
        (lambda: CTMDP(np.ones((2, 1, 2)), [[0.0], [np.nan]]), "reward_rates must be finite numbers"),
        (lambda: CTMDP(np.ones((2, 1, 2)), np.zeros((2, 1))).to_model(0.5), "rate must be at least 1.*not 0.5"),
        (lambda: CTMDP(np.ones((2, 1, 2)), np.zeros((2, 1)), allowed=[[True], [False]]), "no action .* in state 1"),
        (lambda: SMDP(np.ones((1, 1, 1)), [[0.0]], [[0.0]]), "sojourn_times must be larger than 0, not 0"),
        (lambda: SMDP(np.full((2, 1, 2), 0.5), [[0], [0]], [[1], [1]]).to_model(9.0), "step must be at most 2"),
        (lambda: SMDP(np.ones((2, 1, 2)), np.zeros((2, 1)), np.ones((2, 1))), "sum to 2"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
