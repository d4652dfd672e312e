"""Tables and weights are one and the same where the features of a vector say which state it is."""

import numpy as np
import pytest

from aapi.approximation import Linear, Tabular
from aapi.environments import ergodic
from aapi.errors import InvalidInput
from aapi.features import OneHot
from aapi.features.basis import own_vectors
from aapi.kernels.random import streams

STATES, ACTIONS, RUNS, STEPS = 5, 3, 2, 300
TABLES = Tabular(OneHot()(ergodic(STATES, ACTIONS)), ACTIONS)
WEIGHTS = Linear(own_vectors(STATES), ACTIONS)
RANDOM = np.random.default_rng(0)
VISITED = RANDOM.integers(STATES, size=(RUNS, STEPS + 1)).astype(np.int32)
VECTORS = np.eye(STATES)[VISITED]
TAKEN = RANDOM.integers(ACTIONS, size=(RUNS, STEPS)).astype(np.int32)
Q = RANDOM.normal(size=(RUNS, STATES, ACTIONS))


def both():
    yield TABLES, VISITED
    yield WEIGHTS, VECTORS


@pytest.mark.parametrize("temperature", [0.0, 0.7, np.array([0.3, 2.0])], ids=["zero", "number", "of each run"])
def test_policies(temperature):
    tables, weights = (space.softmax(Q, temperature) for space, _ in both())
    tabulated, computed = TABLES.probabilities(tables, VISITED), WEIGHTS.probabilities(weights, VECTORS)
    assert computed == pytest.approx(tabulated, abs=1e-14)
    found = [
        space.action_probabilities(policy, states[:, :-1], TAKEN)
        for (space, states), policy in zip(both(), (tables, weights), strict=True)
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-14)
    likeliest = [
        space.probabilities(space.most_likely(policy), states)
        for (space, states), policy in zip(both(), (tables, weights), strict=True)
    ]
    assert (likeliest[0] == likeliest[1]).all()
    heats = [space.temperatures(temperature, RUNS, states) for space, states in both()]
    assert (heats[0] == heats[1]).all()
    joined = [
        space.probabilities(space.join([policy, policy]), np.concatenate([states, states]))
        for (space, states), policy in zip(both(), (tables, weights), strict=True)
    ]
    assert joined[1] == pytest.approx(joined[0], abs=1e-14)
    assert (joined[0][RUNS:] == tabulated).all()


def test_values_and_uniform_policies():
    assert (TABLES.values(Q, VISITED) == WEIGHTS.values(Q, VECTORS)).all()
    for space, states in both():
        assert (space.probabilities(space.uniform(RUNS), states) == 1 / ACTIONS).all()
        assert space.zeros(RUNS).shape == space.shape(RUNS) == (RUNS, STATES, ACTIONS)


@pytest.mark.parametrize("ridge", [0.0, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_regressions(ridge, weighted):
    targets = RANDOM.normal(size=(RUNS, STEPS - 10))  # of all steps but the last ones
    weights = RANDOM.uniform(0.1, 3.0, targets.shape) if weighted else None
    tables, fitted = (space.fit(states[:, :-1], TAKEN, targets, ridge, weights) for space, states in both())
    assert fitted == pytest.approx(tables, abs=1e-12)


@pytest.mark.parametrize("trace", [0.0, 0.6])
def test_projected_equations(trace):
    rewards = RANDOM.normal(size=(RUNS, STEPS))
    found = [
        list(space.equations(states[:, :-1], TAKEN, rewards, states[:, 1:], space.softmax(Q, 0.8), trace))
        for space, states in both()
    ]
    for tables, weights in zip(*found, strict=True):
        assert type(tables) is type(weights)
        for name, array in tables._asdict().items():
            assert np.asarray(weights._asdict()[name]) == pytest.approx(np.asarray(array), abs=1e-10), name


@pytest.mark.parametrize("norm", ["sup", "span"])
@pytest.mark.parametrize("keep_first", [False, True])
def test_sampled_surprise(norm, keep_first):
    """The same differences are kept, and the same are drawn."""
    heats = []
    for space, states in both():
        stream = streams(3, range(RUNS))
        surprise, random = space.surprise(RUNS, norm, 4, None), np.random.default_rng(1)
        heats.append([])
        for k in range(1, 61):  # more than the reservoir of 40 holds
            q_hat, prediction = random.normal(size=(2, RUNS, STATES, ACTIONS))
            surprise = surprise.add(k, q_hat, prediction, 1.0 + 0.1 * k, stream)
            heat = surprise.sampled_root(0.5, 4, keep_first)
            heats[-1].append(space.temperatures(heat, RUNS, states))
    assert np.array(heats[1]) == pytest.approx(np.array(heats[0]), rel=1e-12)
    assert np.ptp(heats[0], axis=0).min() > 0.0


def test_actions_are_drawn_alike():
    """With two actions: of more, the best is laid at the bottom of [0, 1) in one of them, and tables keep the order."""
    random = np.random.default_rng(2)
    q = random.normal(size=(1, STATES, 2))
    q.sort(axis=2)
    q = q[:, :, ::-1]  # the first action is the best, as far as the order goes
    draws = []
    for space, states in (
        (Tabular(OneHot()(ergodic(STATES, 2)), 2), np.arange(STATES)),
        (Linear(own_vectors(STATES), 2), np.eye(STATES)),
    ):
        act = space.actor(space.softmax(q, 1.5), streams(7, [0])[0])
        draws.append([act(states[i % STATES]) for i in range(2000)])
    assert draws[0] == draws[1]
    assert set(draws[0]) == {0, 1}


def test_what_does_not_fit_is_refused_in_one_line():
    for space, _ in both():
        for wrong in (np.zeros((RUNS, STATES, ACTIONS + 1)), np.zeros((STATES, ACTIONS)), 0.0):
            with pytest.raises(InvalidInput, match=r"a guess must return an array of shape \(2, 5, 3\)") as error:
                space.check(wrong, RUNS, "a guess")
            assert "\n" not in str(error.value)
    with pytest.raises(InvalidInput, match="counts need countable states, and these are observation vectors"):
        WEIGHTS.require_countable("counts need")
    TABLES.require_countable("counts need")
