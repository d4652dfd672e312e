import math

import gymnasium
import numpy as np
import pytest

from aapi import environments
from aapi.environments import (
    chain,
    cliff_walking,
    combination_lock,
    double_loop,
    from_table,
    frozen_lake,
    garnet,
    inventory,
    maintenance,
    n_model,
    rooms,
    routing,
    six_arms,
    tandem_queue,
    taxi,
    trap_grid,
    windy_grid,
)  # fmt: skip
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.registry.problems import ON_VECTORS, PROBLEMS


@pytest.mark.parametrize(
    ("mdp", "gain"),
    [
        (chain(), 3.6768),
        (chain(3, 0.1), 0.2 * 0.19 + 0.81 * 9.2),
        (double_loop(), 2 / 5),
        (double_loop(12), 2 / 12),
        (combination_lock(), 1 / 10),
        (combination_lock(30, 5, seed=3), 1 / 30),
        (six_arms(), 6000.0),
        (six_arms(4), 800.0),
        (windy_grid(), 1 / 16),
        (windy_grid(8), 1 / 8),
        (rooms(10, 2, slip=0.0), 1 / 19),
        (rooms(11, 4, slip=0.0), 1 / 21),
        (cliff_walking(), -1.0),
        (cliff_walking(goal=100.0), (100.0 - 13.0) / 13.0),
    ],
    ids=str,
)
def test_known_optima(mdp, gain):
    assert solve(mdp).gain == pytest.approx(gain, rel=1e-12)


def test_maintenance_by_renewal():
    # A control limit: repair at that level or above. What is earned and lost between repairs, over how long it takes.
    levels, best = 10, -math.inf
    for limit in range(1, levels):
        earned, days, chance = 0.0, 0.0, 1.0  # of arriving at a level without a failure
        end_cost = 0.0
        for wear in range(limit):
            fails = 0.05 * wear / (levels - 2)
            leaves = fails + (1.0 - fails) * 0.3
            earned += chance * (1.0 - (wear / (levels - 1)) ** 2) / leaves
            days += chance / leaves
            end_cost += chance * fails / leaves * 8.0
            chance *= (1.0 - fails) * 0.3 / leaves
        end_cost += chance * (8.0 if limit == levels - 1 else 1.0)
        best = max(best, (earned - end_cost) / (days + 1.0))
    assert solve(maintenance()).gain == pytest.approx(best, rel=1e-12)


def test_inventory_by_hand():
    mdp = inventory(capacity=2, max_order=1, demand=1.0)
    none, one = math.exp(-1), 1 - math.exp(-1)
    assert mdp.transitions.toarray()[:2] == pytest.approx(np.array([[1, 0, 0], [one, none, 0]]))
    assert mdp.rewards[0] == pytest.approx([0.0, 4 * one - 0.1 * none - 5])
    waits = inventory(capacity=2, max_order=1, demand=1.0, lead_time=1)
    assert waits.num_states == 6
    assert waits.state_names[1] == "0 in stock, 1"
    # What is ordered today is not there today.
    assert waits.transitions.toarray()[:2] == pytest.approx(np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]))


def test_queues_are_those_of_birth_and_death():
    # Always fast: two queues, of which the second is M/M/1 in front of an almost unlimited room.
    mdp = routing(30, arrivals=0.2)
    always = np.zeros(mdp.num_states, dtype=np.int64)
    load = 0.2 / 0.35
    assert policy_values(mdp, always).gains[0] == pytest.approx(-load / (1 - load), rel=1e-5)
    mdp = tandem_queue(60, arrivals=0.1)
    fast = np.full(mdp.num_states, 2)
    first, second = 0.1 / 0.4, 0.1 / 0.3  # Burke: the second queue is M/M/1, too
    numbers = first / (1 - first), second / (1 - second)
    expected = 0.1 * 5 - 0.05 * numbers[0] - 0.15 * numbers[1] - 0.2
    assert policy_values(mdp, fast).gains[0] == pytest.approx(expected, rel=1e-9)
    mdp = n_model(60)
    help_two = np.ones(mdp.num_states, dtype=np.int64)
    # Kind 2 alone has the shared server; kind 1 overflows, .16 against .12.
    ratio = 0.16 / 0.12
    weights = ratio ** np.arange(61)
    weights /= weights.sum()
    expected = -3 * (weights @ np.arange(61)) - 10 * 0.16 * weights[-1] - 0.6 / 0.4
    assert policy_values(mdp, help_two).gains[0] == pytest.approx(expected, rel=1e-9)


def test_traps_hold():
    mdp = trap_grid(8)
    rows = mdp.transitions.toarray().reshape(64, 4, 64)
    traps = np.flatnonzero(mdp.rewards[:, 0] == 0.01)
    assert len(traps) == 12
    assert (rows[traps, :, traps] >= 0.9).all()
    assert mdp.rewards[-1].tolist() == [1.0] * 4
    assert (rows[-1, :, 0] == 1.0).all()


def test_garnet_with_few_rewards():
    mdp = garnet(50, 3, 4, seed=7, num_rewards=2)
    assert np.sort(mdp.rewards.ravel()).tolist() == [0.0] * 148 + [1.0] * 2
    assert (mdp.transitions != garnet(50, 3, 4, seed=7).transitions).nnz == 0


def test_tables_of_gymnasium_begin_anew_where_episodes_end():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    mdp = from_table(env)
    rows = mdp.transitions.toarray().reshape(16, 4, 16)
    assert rows[14, 2, 0] == 1.0  # the goal, on the right
    assert mdp.rewards[14, 2] == 1.0
    assert rows[4, 2, 0] == 1.0  # a hole
    assert solve(mdp).gain == pytest.approx(1 / 6)
    assert solve(from_table("FrozenLake-v1", is_slippery=False)).gain == pytest.approx(1 / 6)
    with pytest.raises(InvalidInput, match="has no P: a model needs the table P and initial_state_distrib"):
        from_table(gymnasium.make("CartPole-v1"))


def test_gains_of_tables_are_those_of_episodes():
    # Renewal: the best ratio of reward to length; its policy's episodes, solved by first-step equations.
    for mdp, env in ((frozen_lake(4), gymnasium.make("FrozenLake-v1")), (taxi(), gymnasium.make("Taxi-v4"))):
        table, first = env.unwrapped.P, env.unwrapped.initial_state_distrib
        policy = solve(mdp).policy
        count = len(table)
        goes_on, reward = np.zeros((count, count)), np.zeros(count)
        for state in range(count):
            for probability, successor, paid, ended in table[state][policy[state]]:
                goes_on[state, successor] += probability * (not ended)
                reward[state] += probability * paid
        starts = set(np.flatnonzero(first))
        while more := {int(y) for x in starts for y in np.flatnonzero(goes_on[x])} - starts:
            starts |= more
        keep = sorted(starts)
        matrix = np.eye(len(keep)) - goes_on[np.ix_(keep, keep)]
        totals = np.linalg.solve(matrix, np.stack([reward[keep], np.ones(len(keep))], axis=1))
        earned, length = first[keep] @ totals
        assert solve(mdp).gain == pytest.approx(earned / length, rel=1e-9)


@pytest.mark.parametrize("word", [word for word in PROBLEMS if word not in ON_VECTORS])
def test_every_word_is_a_function_whose_models_have_names(word):
    make = vars(environments)[word.replace("-", "_")]
    mdp, again = make().dynamics, make().dynamics
    assert isinstance(mdp, FiniteMDP)
    assert make.__doc__
    assert (again.rewards == mdp.rewards).all()
    assert (again.transitions != mdp.transitions).sum() == 0


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (chain, {"num_states": 1}, "num_states must be at least 2, not 1"),
        (chain, {"slip": 1.0}, "slip must lie strictly between 0 and 1, not 1.0"),
        (double_loop, {"length": 1}, "length must be at least 2, not 1"),
        (combination_lock, {"num_actions": 1}, "num_actions must be at least 2, not 1"),
        (six_arms, {"num_arms": 7}, "num_arms must be at most 6, not 7"),
        (rooms, {"num_rooms": 3}, "num_rooms must be 2 or 4, not 3"),
        (rooms, {"slip": 1.0}, "slip must be below 1, not 1.0"),
        (windy_grid, {"num_actions": 5}, "num_actions must be 4 or 8, not 5"),
        (windy_grid, {"slip": -0.1}, "slip must be a finite number at least 0, not -0.1"),
        (trap_grid, {"size": 2}, "size must be at least 3, not 2"),
        (frozen_lake, {"size": 5}, "size must be 4 or 8, not 5"),
        (taxi, {"rain": 1.0}, "rain must be below 1, not 1.0"),
        (cliff_walking, {"slippery": 2}, "slippery must be 0 or 1, not 2"),
        (tandem_queue, {"arrivals": 0.5}, "arrivals must be at most 0.3, for events are one at a time, not 0.5"),
        (routing, {"arrivals": 0.6}, "arrivals must be at most 0.5, for events are one at a time, not 0.6"),
        (n_model, {"capacity": 0}, "capacity must be at least 1, not 0"),
        (inventory, {"demand": 0.0}, "demand must be a finite number larger than 0, not 0.0"),
        (maintenance, {"num_levels": 2}, "num_levels must be at least 3, not 2"),
        (garnet, {"num_rewards": 81}, "num_rewards must be at most the number of pairs, 80, not 81"),
    ],
)
def test_bad_sizes_are_named(make, arguments, message):
    with pytest.raises(InvalidInput) as error:
        make(**arguments)
    assert str(error.value) == message
