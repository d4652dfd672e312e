import itertools
from collections import deque
from fractions import Fraction

import gymnasium
import numpy as np
import pytest

from aapi.environments import continuing_taxi, taxi
from aapi.mdp import policy_values, solve

MAP = ["R .|. . G", ". .|. . .", ". . . . .", ".|. .|. .", "Y|. .|B ."]
STEPS = {"up": (-1, 0), "left": (0, -1), "down": (1, 0), "right": (0, 1)}
RANKS = {"red": (0, 0), "green": (0, 4), "yellow": (4, 0), "blue": (4, 3)}


def drive(cell, move):
    """Where a move leads, read off the map."""
    (row, column), (down, right) = cell, STEPS[move]
    if right and 0 <= column + right <= 4 and MAP[row][2 * column + right] == "|":
        return cell
    return (row + down, column + right) if 0 <= row + down <= 4 and 0 <= column + right <= 4 else cell


def ways(start):
    """The number of moves from a cell to all others, by breadth-first search."""
    far, queue = {start: 0}, deque([start])
    while queue:
        cell = queue.popleft()
        for move in STEPS:
            after = drive(cell, move)
            if after not in far:
                far[after] = far[cell] + 1
                queue.append(after)
    return far


def described(mdp, state):
    cell, ride = mdp.state_names[state].split(" from ")
    passenger, home = ride.split(" to ")
    return tuple(map(int, cell.strip("()").split(","))), passenger, home


def test_the_model_is_what_the_description_says():
    mdp = continuing_taxi()
    number = {described(mdp, x): x for x in range(mdp.num_states)}
    assert len(number) == mdp.num_states == 500
    for (cell, passenger, home), x in number.items():
        for a, action in enumerate(mdp.action_names):
            reward, after = 0, {(cell, passenger, home): 1.0}
            if action in STEPS:
                after = {(drive(cell, action), passenger, home): 1.0}
            elif action == "pick up" and RANKS.get(passenger) == cell:
                after = {(cell, "the taxi", home): 1.0}
            elif action == "drop off" and passenger == "the taxi" and RANKS[home] == cell:
                reward, after = 20, {(cell, *ride): 1 / 16 for ride in itertools.product(RANKS, RANKS)}
            else:
                reward = -10
            expected = np.zeros(500)
            for state, chance in after.items():
                expected[number[state]] += chance
            assert (mdp.transitions[[6 * x + a]].toarray()[0] == expected).all()
            assert mdp.rewards[x, a] == reward


def test_the_optimum_is_a_fare_for_the_mean_way():
    pairs = [ways(a)[b] for a, b in itertools.product(RANKS.values(), repeat=2)]
    gain = Fraction(20) / (2 + 2 * Fraction(sum(pairs), len(pairs)))  # to the passenger, in, home, and out
    solution = solve(continuing_taxi())
    assert solution.gain == pytest.approx(float(gain), abs=1e-12)
    assert solution.gains_upper.max() < gain + 1e-9


def test_the_map_is_that_of_gymnasium():
    ours, theirs = continuing_taxi(), taxi()
    places = {described(ours, x)[:1] + described(ours, x)[1:]: x for x in range(500)}
    names = {"taxi": "the taxi"}
    for x, name in enumerate(theirs.state_names):
        cell, ride = name.split(" from ")
        passenger, home = ride.split(" to ")
        if passenger == home:
            continue  # where their rides have ended
        state = (tuple(map(int, cell.strip("()").split(","))), names.get(passenger, passenger), home)
        for move in STEPS:
            a, b = ours.action_names.index(move), theirs.action_names.index(move)
            row = theirs.transitions[[6 * x + b]].toarray()[0]
            after = theirs.state_names[row.argmax()].split(" from ")[0]
            (there,) = ours.transitions[[6 * places[state] + a]].indices
            assert described(ours, there)[0] == tuple(map(int, after.strip("()").split(",")))


def test_the_environment_starts_anywhere_and_follows_the_optimum():
    env = gymnasium.make("aapi/Taxi-v0").unwrapped
    starts = [described(env.model, env.reset(seed=seed)[0]) for seed in range(600)]
    assert {cell for cell, _, _ in starts} == set(itertools.product(range(5), repeat=2))
    assert {ride for _, *ride in map(tuple, starts) for ride in [tuple(ride)]} == set(itertools.product(RANKS, RANKS))
    solution = solve(env.model)
    state, _ = env.reset(seed=0)
    rewards = np.zeros(40_000)
    for step in range(len(rewards)):
        state, rewards[step], *_ = env.step(int(solution.policy[state]))
    batches = rewards.reshape(100, -1).mean(axis=1)
    assert batches.mean() == pytest.approx(solution.gain, abs=4 * batches.std() / 10)


def test_driving_at_random_loses():
    mdp = continuing_taxi()
    assert policy_values(mdp, np.full((500, 6), 1 / 6)).gains[mdp.initial_state] < -3
