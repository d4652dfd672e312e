"""Jack's car rental (Sutton and Barto, Reinforcement Learning, 2018, example 4.2), without discounting."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.checks import at_least
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers

REQUESTS, RETURNS = (3.0, 4.0), (3.0, 2.0)  # cars a day that are asked for and brought back, at either place
RENT, MOVING = 10.0, 2.0


def car_rental(max_cars: int = 20, max_moves: int = 5) -> FiniteMDP:
    """Move up to max_moves cars overnight between two places, at 2 each; a car that is rented out earns 10.

    A state is the number of cars at either place in the evening, 0 … max_cars. Customers ask for Poisson(3) and
    Poisson(4) cars a day, Poisson(3) and Poisson(2) are brought back and can be rented out the day after. What does not
    fit leaves the business, and no more cars are moved than are there. Rewards are means, given state and action.

    Unichain and aperiodic under every policy. The example discounts by .9; λ_* is the average earned a day.
    """
    at_least(1, max_cars=max_cars)
    at_least(0, max_moves=max_moves)
    days = [_day(max_cars, asked, brought) for asked, brought in zip(REQUESTS, RETURNS, strict=True)]
    moves = range(-max_moves, max_moves + 1)
    states = list(itertools.product(range(max_cars + 1), repeat=2))
    transitions = np.zeros((len(states), len(moves), len(states)))
    rewards = np.zeros((len(states), len(moves)))
    for x, (first, second) in enumerate(states):
        for a, wanted in enumerate(moves):
            moved = min(wanted, first) if wanted > 0 else -min(-wanted, second)
            morning = min(first - moved, max_cars), min(second + moved, max_cars)
            rows, rented = zip(*((day[0][n], day[1][n]) for day, n in zip(days, morning, strict=True)), strict=True)
            transitions[x, a] = np.outer(*rows).ravel()
            rewards[x, a] = RENT * sum(rented) - MOVING * abs(moved)
    return FiniteMDP(
        transitions, rewards, state_names=[f"{first} and {second} cars" for first, second in states],
        action_names=[_move_name(moved) for moved in moves], coordinates=states,
        initial_state=(max_cars // 2) * (max_cars + 2),
    )  # fmt: skip


def car_rental_rules(mdp: FiniteMDP) -> dict[str, Integers]:
    """Moving no car; and two rules of one number, of which all values are tried, each evaluated exactly.

    Balance: half of what the first place has more than the second, beyond a difference, is moved. At most L at the
    first: what is above L goes to the second.
    """
    from aapi.mdp import policy_values

    places = cast("Integers", mdp.coordinates)  # which the models of this file have
    (first, second), most = places.T, mdp.num_actions // 2
    largest = int(places.max())

    def balance(target: int) -> Integers:
        half = np.trunc((first - second - target) / 2).astype(np.int64)
        return np.asarray(most + np.clip(half, -most, most))

    def relieve(limit: int) -> Integers:
        return np.asarray(most + np.clip(first - limit, 0, most))

    def gain(policy: Integers) -> float:
        return policy_values(mdp, policy).gain

    target = max(range(-largest, largest + 1), key=lambda number: gain(balance(number)))
    limit = max(range(largest + 1), key=lambda number: gain(relieve(number)))
    return {
        "no moves": np.full(mdp.num_states, most),
        f"balance at a difference of {target}": balance(target),
        f"at most {limit} at the first": relieve(limit),
    }


def _day(max_cars: int, asked: float, brought: float) -> tuple[Array, Array]:
    """Of one place, by the cars in the morning: the chances of each number in the evening, and the mean rented out."""
    requests, returns = _poisson(asked, max_cars), _poisson(brought, max_cars)
    evening, rented = np.zeros((max_cars + 1, max_cars + 1)), np.zeros(max_cars + 1)
    for morning in range(max_cars + 1):
        for out, chance in enumerate(_at_most(requests, morning)):
            rented[morning] += chance * out
            left = morning - out
            evening[morning, left:] += chance * _at_most(returns, max_cars - left)
    return evening, rented


def _poisson(mean: float, most: int) -> Array:
    chances = [math.exp(-mean)]
    for number in range(1, most + 1):
        chances.append(chances[-1] * mean / number)
    return np.array(chances)


def _at_most(chances: Array, most: int) -> Array:
    """The distribution of the smaller of a number and `most`."""
    return np.append(chances[:most], max(1.0 - math.fsum(chances[:most]), 0.0))


def _move_name(moved: int) -> str:
    if moved == 0:
        return "no move"
    return f"{moved} to the second" if moved > 0 else f"{-moved} to the first"
