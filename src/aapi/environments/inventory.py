"""Inventory of one good: how much to order, with demand that is lost if it is not met."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, TypeAlias

from aapi.checks import at_least, finite
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Stock: TypeAlias = tuple[int, ...]  # what is in stock, and what was ordered, the oldest order first

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
