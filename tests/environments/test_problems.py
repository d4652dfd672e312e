import numpy as np
import pytest

from aapi.environments import access_control, deep_sea, ergodic, garnet, river_swim
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP, induced_chain

PROBLEMS = [ergodic, deep_sea, river_swim, access_control, garnet]


@pytest.mark.parametrize("make", PROBLEMS)
def test_every_problem_is_a_model_by_default(make):
    mdp = make()
    assert isinstance(mdp, FiniteMDP)
    assert make.__doc__
    again = make()
    assert (again.transitions != mdp.transitions).sum() == 0
    assert (again.rewards == mdp.rewards).all()


def test_ergodic_by_hand():
    mdp = ergodic(3, 2)
    t = 1 / 30
    assert mdp.transitions.tolist() == pytest.approx(
        np.array(
            [
                [[0, 0.5, 0.5], [0, 0.5, 0.5]],
                [[0.9 + t, t, t], [1 / 3, 1 / 3, 1 / 3]],
                [[t, 0.9 + t, t], [1 / 3, 1 / 3, 1 / 3]],
            ]
        )
    )
    assert mdp.rewards.tolist() == [[1, 1], [0, 0], [0, 0]]


def test_deep_sea_by_hand():
    mdp = deep_sea(2)
    # (0,0) (0,1) (1,0) (1,1) are 0 1 2 3; left and right of each.
    assert mdp.transitions.indices.tolist() == [2, 3, 2, 3, 0, 1, 0, 1]
    assert mdp.rewards.tolist() == [[0, 3], [0, 3], [0, -1], [0, -1]]
    assert mdp.state_names == ("(0,0)", "(0,1)", "(1,0)", "(1,1)")
    assert mdp.action_names == ("left", "right")


def test_river_swim_by_hand():
    mdp = river_swim(3)
    assert mdp.transitions.toarray().tolist() == [
        [1, 0, 0],
        [0.4, 0.6, 0],
        [1, 0, 0],
        [0.05, 0.6, 0.35],
        [0, 1, 0],
        [0, 0.4, 0.6],
    ]
    assert mdp.rewards.tolist() == [[0.005, 0], [0, 0], [0, 1]]


def test_access_control_by_hand():
    mdp = access_control(1, 0.25)
    assert mdp.num_states == 8
    # No server free: accepting is rejecting; the busy server is free next with probability 1/4.
    assert mdp.transitions[0].tolist() == [[0.1875] * 4 + [0.0625] * 4] * 2
    assert mdp.rewards[:4].tolist() == [[0, 0]] * 4
    # One free: rejecting keeps it, accepting takes it and earns 1, 2, 4 or 8.
    assert mdp.transitions[5].tolist() == [[0] * 4 + [0.25] * 4, [0.1875] * 4 + [0.0625] * 4]
    assert mdp.rewards[4:].tolist() == [[0, 1], [0, 2], [0, 4], [0, 8]]
    assert mdp.initial_state == 4


def test_garnet_has_the_branching_it_was_asked_for():
    mdp = garnet(50, 3, 4, seed=7)
    assert (np.diff(mdp.transitions.indptr) == 4).all()
    different = garnet(50, 3, 4, seed=8)
    assert (different.transitions != mdp.transitions).sum() > 0
    assert garnet(5, 2, 5).transitions.shape == (5, 2, 5)
    assert (np.diff(garnet(9, 2, 1).transitions.indptr) == 1).all()
    # Every state is a successor equally often: 50 states × 3 actions × 4, within six standard deviations.
    counts = np.bincount(garnet(50, 200, 4).transitions.indices, minlength=50)
    assert abs(counts - 800).max() < 6 * 800**0.5


def test_what_is_said_to_be_ergodic_is():
    random = np.random.default_rng(0)
    for mdp in (ergodic(4, 2), ergodic(7, 3)):
        for _ in range(20):
            chain = induced_chain(mdp, random.integers(mdp.num_actions, size=mdp.num_states))
            assert (len(chain.recurrent_classes), len(chain.transient_states), chain.period) == (1, 0, 1)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (ergodic, {"num_states": 2}, "num_states must be at least 3, not 2"),
        (ergodic, {"num_actions": 0}, "num_actions must be at least 1, not 0"),
        (ergodic, {"num_states": 5.5}, "num_states must be a whole number, not 5.5"),
        (deep_sea, {"size": 1}, "size must be at least 2, not 1"),
        (river_swim, {"num_states": 1}, "num_states must be at least 2, not 1"),
        (access_control, {"num_servers": 0}, "num_servers must be at least 1, not 0"),
        (access_control, {"free_probability": 1.0}, "free_probability must lie strictly between 0 and 1, not 1.0"),
        (garnet, {"num_states": 3, "branching": 4}, "branching must be at most the number of states, 3, not 4"),
        (garnet, {"seed": -1}, "seed must be at least 0, not -1"),
    ],
)
def test_bad_sizes_are_named(make, arguments, message):
    with pytest.raises(InvalidInput) as error:
        make(**arguments)
    assert str(error.value) == message
