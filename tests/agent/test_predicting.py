"""Predictions for one observation and for a batch."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector.utils import concatenate, create_empty_array

import aapi
from aapi.errors import InvalidInput

ENVS = ["Box", "Bytes", "Scalar", "Discrete", "MultiDiscrete", "Grid", "MultiBinary", "Board", "Tuple", "Dict"]


def learnt(env, **more):
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make(f"little/{env}-v0"), **more)
    return agent.learn(150)


def several(agent, number=40):
    """Observations one by one, and as a batch."""
    space = agent.observation_space
    each = [space.sample() for _ in range(number)]
    return each, concatenate(space, each, create_empty_array(space, number))


@pytest.mark.parametrize("env", ENVS)
def test_a_batch_has_the_actions_that_its_observations_have_one_by_one(env):
    first, second = learnt(env), learnt(env)
    each, batch = several(first)
    chosen = first.predict(batch, deterministic=True)
    assert chosen.tolist() == [second.predict(one, deterministic=True) for one in each]
    drawn = first.predict(batch)
    assert drawn.tolist() == [second.predict(one) for one in each]
    assert set(drawn.tolist()) <= {3, 4}
    np.testing.assert_array_equal(first.probabilities(batch), [first.probabilities(one) for one in each])


@pytest.mark.parametrize("features", [aapi.features.Fourier(order=2), lambda o: np.append(o, 1.0)])
def test_features_take_batches_too(features):
    first, second = learnt("Box", features=features), learnt("Box", features=features)
    each, batch = several(first)
    assert first.predict(batch).tolist() == [second.predict(one) for one in each]
    assert first.predict(batch, True).tolist() == [second.predict(one, True) for one in each]


def test_what_was_learnt_since_is_in_predictions():
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make("little/Discrete-v0"))
    assert [agent.predict(x, True) for x in range(-2, 2)] == [3, 3, 3, 3]  # nothing is known, and the first is taken
    agent.learn(500)
    assert [agent.predict(x, True) for x in range(-2, 2)] == [3, 3, 4, 4]
    assert [agent.probabilities(x).tolist() for x in range(-2, 2)] == agent.policy[0].tolist()


def test_one_observation_of_a_batch_is_a_batch_of_one():
    agent = learnt("Discrete")
    assert isinstance(agent.predict(0), int)
    assert isinstance(agent.predict(np.int64(0)), int)
    assert agent.predict(np.array(0)) in (3, 4)
    assert agent.predict([0], deterministic=True).shape == (1,)
    assert agent.predict(np.empty(0, dtype=int)).shape == (0,)


@pytest.mark.parametrize(
    ("env", "batch", "message"),
    [
        ("Discrete", [0, 5], "observation 1 of the batch is not in its space"),
        ("Discrete", [0.0, 1.0], "whole numbers, and the batch is of floats"),
        ("Discrete", [[0], [1]], "cannot be read"),
        ("Box", [[0.0, 0.0], [np.nan, 0.0]], "observation 1 of the batch holds a number that is not finite"),
        ("Box", [[0.0], [1.0]], r"a batch of 2 observations has numbers of shape \(2, 2\) here, not float64 of shape"),
        ("Box", [0.0], r"an observation has 2 numbers, not the shape \(1,\)"),
        ("Tuple", (np.zeros(2, int), np.zeros((3, 2), int)), "a batch of 2 observations has numbers of shape"),
    ],
)
def test_what_is_no_batch_is_said(env, batch, message):
    with pytest.raises(InvalidInput, match=message):
        learnt(env).predict(batch)


def test_a_batch_obeys_masks():
    agent = learnt("Discrete")
    batch = np.array([-2, 1, 0, 1])
    allowed = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    for deterministic in (False, True):
        assert agent.predict(batch, deterministic, mask=allowed).tolist() == [3, 4, 3, 4]
        assert agent.predict(batch, deterministic, mask=[0, 1]).tolist() == [4] * 4
    assert agent.probabilities(batch, mask=allowed).tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    with pytest.raises(InvalidInput, match="forbids every action"):
        agent.predict(batch, mask=0 * allowed)


def test_tables_that_know_masks_obey_them_in_batches():
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make("Taxi-v3" if "Taxi-v4" not in gymnasium.registry else "Taxi-v4"))
    agent.learn(600)
    states = np.flatnonzero(agent.simulation.masks.table.sum(axis=1) < 6)
    allowed = agent.simulation.masks.table[states]
    rows = np.arange(len(states))
    for deterministic in (False, True):
        assert allowed[rows, agent.predict(states, deterministic)].all()
    assert agent.predict(states, True).tolist() == [agent.predict(int(x), True) for x in states]
