"""IMED-RL against a slow one in plain Python and SciPy, step by step."""

import math

import numpy as np
import pytest
import reference
from scipy.optimize import minimize_scalar

import aapi
from aapi.batch import simulator
from aapi.environments import ergodic, garnet
from aapi.errors import InvalidInput
from aapi.kernels.random import streams
from aapi.simulation import transition_tables

SEED = 3


def bias(P, r, skeleton):
    """φ of the optimal policy among the actions of the skeleton, φ(0) = 0, by value iteration."""
    phi = np.zeros(len(r))
    for _ in range(1_000_000):
        values = np.where(skeleton, r + P @ phi, -np.inf).max(axis=1)
        change = 0.5 * (values - phi)
        phi = phi + change
        if np.ptp(change) < 1e-14:
            return phi - phi[0]
    raise AssertionError


def divergence(values, weights, target, highest):
    """K_inf, by SciPy."""
    if weights @ values >= target:
        return 0.0
    most = 1 / (highest - target)
    found = minimize_scalar(
        lambda place: -(weights @ np.log1p(-place * (values - target))),
        bounds=(0.0, most * (1 - 1e-5)), method="bounded", options={"xatol": 1e-12 * most},
    )  # fmt: skip
    return -found.fun


def imed_rl(mdp, steps, width):
    """The steps, and Q after them."""
    world = reference.World(mdp, transition_tables(mdp), streams(SEED, [0])[0])
    S, A = mdp.num_states, mdp.num_actions
    low, spread = mdp.rewards.min(), np.ptp(mdp.rewards)
    seen = {(x, a): [] for x in range(S) for a in range(A)}
    taken = []
    for _ in range(steps):
        number = np.array([[len(seen[x, a]) for a in range(A)] for x in range(S)])
        P, r = np.full((S, A, S), 1 / S), np.full((S, A), 0.5)
        for (x, a), pairs in seen.items():
            for reward, y in pairs:
                r[x, a] += reward
                P[x, a, y] += 1
        P, r = P / (number + 1)[:, :, None], r / (number + 1)
        most = number.max(axis=1, keepdims=True)
        phi = bias(P, r, number >= np.log(np.maximum(most, 1)) ** 2)
        q, x = r + P @ phi, world.x
        index = []
        for a in range(A):
            values = np.array([0.5 + phi[y] for y in range(S)] + [reward + phi[y] for reward, y in seen[x, a]])
            weights = np.array([1 / S] * S + [1.0] * number[x, a]) / (number[x, a] + 1)
            evidence = divergence(values, weights, q[x].max(), 1 + phi.max())
            n = number[x, a]
            index.append(n * evidence / width**2 + math.log(n) if n else -math.inf)
        u, chosen = world.stream.uniform(), None
        for ties, a in enumerate(np.flatnonzero(np.array(index) == min(index)), start=1):
            if u * ties < 1:
                chosen = a
                u *= ties
            else:
                u = (u * ties - 1) / (ties - 1)
        # The action was drawn; `World` takes the successor.
        world.stream.uniform, uniform = forced(world.stream), world.stream.uniform
        step = world.step(np.eye(A)[chosen])
        world.stream.uniform = uniform
        seen[step[:2]].append(((step[2] - low) / spread, world.x))
        taken.append(step)
    return taken, q


def forced(stream):
    """Random numbers, of which the first was used already: any will do, where one action has all probability."""
    rest = iter([0.0])

    def uniform():
        for value in rest:
            return value
        return type(stream).uniform(stream)

    return uniform


@pytest.mark.parametrize(("mdp", "width"), [(ergodic(4, 3), 1.0), (garnet(5, 2, 3), 0.7)])
def test_the_same_steps_as_the_reference(monkeypatch, mdp, width):
    monkeypatch.setattr("aapi.learners.imed_rl.ACCURACY", 1e-12)
    expected, _ = imed_rl(mdp, 400, width)
    session = aapi.learners.Session(aapi.IMEDRL(width=width), simulator(mdp, None, SEED)([0]), 400)
    (phase,) = session.play(400)
    data = phase.data
    assert list(zip(data.states[0], data.actions[0], data.rewards[0], strict=True)) == expected
    assert len(set(expected)) == mdp.num_states * mdp.num_actions


def test_q_is_that_of_the_model(monkeypatch):
    monkeypatch.setattr("aapi.learners.imed_rl.ACCURACY", 1e-12)
    mdp = ergodic(4, 2)
    _, q = imed_rl(mdp, 201, 1.0)  # before its last step
    session = aapi.learners.Session(aapi.IMEDRL(), simulator(mdp, None, SEED)([0]), 200)
    (phase,) = session.play(200)
    assert phase.q_hat[0] == pytest.approx(q, abs=1e-7)


def test_threads_and_chunks_change_nothing():
    one = aapi.run(aapi.IMEDRL(), ergodic(6, 2), 5000, 7, 2)
    two = aapi.run(aapi.IMEDRL(), ergodic(6, 2), 5000, 7, 2, threads=2, chunk=3)
    assert (one.cumulated == two.cumulated).all()


def test_it_earns_nearly_the_optimum_of_an_ergodic_problem():
    result = aapi.run(aapi.IMEDRL(), ergodic(10, 2), 50_000, 6, threads=2)
    assert result.average_reward[:, -1].mean() > 0.985 * result.optimal_gain


def test_wrong_arguments_are_named():
    with pytest.raises(InvalidInput, match=r"width must be a finite number larger than 0, not 0\.0"):
        aapi.run(aapi.IMEDRL(width=0.0), ergodic(4, 2), 100)
    with pytest.raises(InvalidInput, match=r"was seen, beyond reward_high, 0\.1: give the range of all rewards"):
        aapi.run(aapi.IMEDRL(reward_high=0.1), ergodic(4, 2), 100)
    with pytest.raises(InvalidInput, match="keeps tables of states × states, too large for 10000 states: take psrl"):
        aapi.run(aapi.IMEDRL(), aapi.environments.deep_sea(100), 100)
