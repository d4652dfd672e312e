import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from aapi.environments.observations import observations_of
from aapi.errors import InvalidInput, TooLarge

FINITE = {
    "Discrete": (spaces.Discrete(4, start=-2), [-2, -1, 0, 1]),
    "MultiDiscrete": (
        spaces.MultiDiscrete([2, 3], start=[1, -1]),
        [np.array(pair) for pair in itertools.product([1, 2], [-1, 0, 1])],
    ),
    "MultiBinary": (spaces.MultiBinary((2, 1)), [np.array([[a], [b]]) for a in (0, 1) for b in (0, 1)]),
    "Tuple": (
        spaces.Tuple((spaces.Discrete(2), spaces.MultiBinary(1))),
        [(a, np.array([b], dtype=np.int8)) for a in (0, 1) for b in (0, 1)],
    ),
    "Dict": (
        spaces.Dict(b=spaces.Discrete(2), a=spaces.Discrete(3, start=7)),
        [{"a": a, "b": b} for b in (0, 1) for a in (7, 8, 9)],
    ),
}


@pytest.mark.parametrize("name", FINITE)
def test_states_number_all_observations_in_order(name):
    space, everything = FINITE[name]
    assert all(space.contains(observation) for observation in everything)
    observations = observations_of(space)
    assert observations.num_states == len(everything)
    assert [observations.state(observation) for observation in everything] == list(range(len(everything)))


def test_what_is_not_in_a_space_is_no_state():
    observations = observations_of(spaces.MultiDiscrete([2, 3], start=[1, -1]))
    for pair in ([0, 0], [3, 0], [1, -2], [1, 2]):
        with pytest.raises(InvalidInput, match="is not in its space"):
            observations.state(pair)


def test_vectors_hold_the_numbers_in_the_order_of_the_space():
    space = spaces.Dict(
        z=spaces.Tuple((spaces.Discrete(3, start=5), spaces.MultiBinary(2), spaces.Box(0, 255, (), np.uint8))),
        a=spaces.Box(-1.0, 2.0, (2, 2)),
    )
    observations = observations_of(space)
    assert observations.low == (5.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0, -1.0)
    assert observations.high == (7.0, 1.0, 1.0, 255.0, 2.0, 2.0, 2.0, 2.0)
    assert observations.counts == (3, 2, 2, 256, 0, 0, 0, 0)
    seen = {
        "z": (6, np.array([1, 0], dtype=np.int8), np.array(9, np.uint8)),
        "a": np.array([[0.0, 0.5], [1.0, 2.0]], np.float32),
    }
    vector = observations.vector(seen)
    assert vector.dtype == np.float64
    assert vector.tolist() == [6.0, 1.0, 0.0, 9.0, 0.0, 0.5, 1.0, 2.0]


def test_continuous_observations_have_no_states():
    with pytest.raises(InvalidInput, match=r"observation\[1\] is continuous: take fourier, tiles or radial"):
        _ = observations_of(spaces.Tuple((spaces.Discrete(2), spaces.Box(0.0, 1.0, (1,))))).num_states


@pytest.mark.parametrize("size", [30, 20_000])
def test_too_many_states_are_refused(size):
    with pytest.raises(TooLarge, match="too many for one-hot features: take tiles or radial"):
        _ = observations_of(spaces.MultiBinary(size)).num_states


@pytest.mark.parametrize(
    "space", [spaces.Text(5), spaces.Sequence(spaces.Discrete(2)), spaces.Tuple((spaces.Text(3),))]
)
def test_other_spaces_are_refused_by_name(space):
    with pytest.raises(InvalidInput, match="not supported: they may be Box, Discrete, MultiDiscrete or MultiBinary"):
        observations_of(space)


def test_blackjack_is_a_tuple():
    env = gymnasium.make("Blackjack-v1")
    observations = observations_of(env.observation_space)
    assert observations.num_states == 32 * 11 * 2
    assert observations.state((31, 10, 1)) == 703
