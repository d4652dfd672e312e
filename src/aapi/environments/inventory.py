"""Inventory of one good: how much to order, with demand that is lost if it is not met."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from aapi.checks import at_least, finite
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.array_types import Integers
    from aapi.mdp import FiniteMDP

Stock: TypeAlias = tuple[int, ...]  # what is in stock, and what was ordered, the oldest order first

MOST_PAIRS = 1000  # states up to which all (s, S) are tried
PRICE, COST, FIXED, HOLDING = 4.0, 2.0, 3.0, 0.1


def inventory(capacity: int = 20, max_order: int = 10, demand: float = 4.0, lead_time: int = 0) -> FiniteMDP:
    """Order 0 … max_order pieces a day; a day's demand is Poisson(`demand`), and what is not in stock is not sold.

    A piece costs 2 and sells for 4, an order costs 3 besides, a piece costs .1 for a night in stock, and there is room
    for `capacity`: what does not fit when it arrives is lost. Orders arrive before that day's demand, or `lead_time`
    days later.

    Communicating, not ergodic: without orders the stock stays empty.
    """
    at_least(1, capacity=capacity, max_order=max_order)
    at_least(0, lead_time=lead_time)
    finite(0.0, strictly=True, demand=demand)
    chances = [math.exp(-demand)]
    for pieces in range(1, capacity):
        chances.append(chances[-1] * demand / pieces)

    def outcomes(stock: Stock, order: int) -> Iterator[tuple[float, Stock, float]]:
        arrived, *coming = *stock[1:], order
        there = min(stock[0] + arrived, capacity)
        paid = COST * order + FIXED * (order > 0)
        for sold in range(there + 1):
            chance = chances[sold] if sold < there else max(1.0 - math.fsum(chances[:there]), 0.0)
            yield chance, (there - sold, *coming), PRICE * sold - HOLDING * (there - sold) - paid

    orders = range(max_order + 1)
    states: list[Stock] = list(itertools.product(range(capacity + 1), *[orders] * lead_time))
    return tabulate(
        states, [f"order {a}" for a in orders], outcomes, start=states[0], coordinates=states,
        names=lambda x: f"{x[0]} in stock" + "".join(f", {pieces}" for pieces in x[1:]),
    )  # fmt: skip


def inventory_rules(mdp: FiniteMDP) -> dict[str, Integers]:
    """The best base stock, and the best (s, S): all are tried, each evaluated exactly.

    The position is what is in stock and on order. Base stock S orders up to S every day; (s, S) does so where the
    position is s or less, and is left out where the model has more than 1000 states. Orders are cut to what is allowed.
    """
    from aapi.mdp import policy_values

    places = cast("Integers", mdp.coordinates)  # which the models of this file have
    position, most = places.sum(axis=1), mdp.num_actions - 1

    def order(s: int, up_to: int) -> Integers:
        return np.where(position <= s, np.clip(up_to - position, 0, most), 0)

    def gain(rule: tuple[int, int]) -> float:
        return float(policy_values(mdp, order(*rule)).gains[mdp.initial_state])

    levels = range(int(position.max()) + 1)
    _, base = max(((up_to, up_to) for up_to in levels), key=gain)
    rules = {f"base stock {base}": order(base, base)}
    if mdp.num_states <= MOST_PAIRS:
        s, up_to = max(((s, up_to) for up_to in levels for s in range(up_to)), key=gain)
        rules[f"({s}, {up_to})"] = order(s, up_to)
    return rules
